# To be sourced after check.sh and jobs.sh: programs whose wall clock is set as the
# script says, by Debian's libfaketime; the clock of the machine stays.

# need_faked_clock IDENTIFIERS: ends the script, saying why, where there is none.
# Sets faked, what to put before a command.
need_faked_clock() {
  local library
  library=$(find /usr/lib* -name libfaketimeMT.so.1 2>/dev/null | head -n 1)
  if [ -z "$library" ] || [ -n "${TROUPE_SANITIZER:-}" ]; then
    skip "$1" "programs whose wall clock is set" \
      "libfaketime is not installed, or a sanitizer has its place"
    finish
  fi
  jump +0
  faked=(env "LD_PRELOAD=$library" "FAKETIME_TIMESTAMP_FILE=$TROUPE_WORK/clock"
    FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1 DONT_FAKE_MONOTONIC=1
    NO_FAKE_STAT=1)
}

# jump WHERE: sets the clock of all of them, as in `+3h`.
jump() {
  echo "$1" >"$TROUPE_WORK/clock.new"
  mv "$TROUPE_WORK/clock.new" "$TROUPE_WORK/clock"
}

# in_faked_job: options that have the processes of a job started so, too.
in_faked_job() {
  local word
  for word in "${faked[@]:1}"; do
    printf '%s\n' -x "$word"
  done
}

# jumping SECONDS: sets it forwards and backwards all the time.
jumping() {
  local end=$((SECONDS + $1)) where
  while [ "$SECONDS" -lt "$end" ]; do
    for where in +3h -3h +10y -10y +0; do
      jump "$where"
      sleep 0.15
    done
  done
}
