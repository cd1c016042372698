# The wall clock is set by hours and years while jobs run: nothing is early, nothing
# is late, and tools find their servers.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/interop/faked_clock.sh"

export TROUPE_SLOW=$slow
cd "$TROUPE_WORK" || exit 1

# -- files ---------------------------------------------------------------------

# If the clock is set, processes seem to be started later, or earlier, since their
# age counts from the start of the machine; times of files stay. The same is seen
# if those are set instead.
host=$(hostname)
troupe up --name clocks --system-server >up.out 2>up.err </dev/null &
dvm_pid=$!
check "MND-X70" "a DVM" eventually 30 grep -qx "DVM ready" up.out
for clock in "3 hours" "10 years"; do
  for way in "" " ago"; do
    find "$TMPDIR" -exec touch -h -d "$clock$way" {} +
    check "MND-X70" "files of $clock$way: troupe finds the DVM" \
      within "$((20 * slow))" troupe nodes --dvm clocks
    check "MND-X70" "files of $clock$way: by its process, too" \
      within "$((20 * slow))" troupe ps --dvm "pid:$dvm_pid"
    inode=$(stat -c %i "$TMPDIR/pmix.sys.$host")
    troupe run -n 1 true
    check_equal "MND-X70" "files of $clock$way: another launcher removes none" \
      "$inode" "$(stat -c %i "$TMPDIR/pmix.sys.$host")"
  done
done
check "MND-X70" "down" within "$((20 * slow))" troupe down --dvm clocks
ended "$dvm_pid" || eventually 10 ended "$dvm_pid" || kill "$dvm_pid"
wait "$dvm_pid"
check_equal "MND-X70" "it ends well" 0 $?

# -- while jobs run --------------------------------------------------------------

need_faked_clock "MND-X70"
build fences monitors event_flow
mapfile -t options < <(in_faked_job)
# set_about COMMAND...: meanwhile the clock is set about.
set_about() {
  local outcome=0 jumper
  jumping 60 &
  jumper=$!
  "$@" || outcome=$?
  kill "$jumper"
  wait "$jumper" 2>/dev/null
  jump +0
  return "$outcome"
}
faked_job() {
  within "$((30 * slow))" "${faked[@]}" troupe run --oversubscribe "${options[@]}" "$@"
}
moves() { # The programs do see it.
  local first
  first=$(faked_job -n 1 date +%Y) && jump +10y && [ "$(faked_job -n 1 date +%Y)" = \
    $((first + 10)) ]
}
check "MND-X70" "the clock of a job can be set" moves
check "MND-X70" "a fence takes the time that it may take" \
  set_about faked_job -n 3 ./fences times_out
check "MND-X70 P-H1" "monitors are neither early nor late" \
  set_about faked_job -n 3 ./monitors beats
check "MND-X70 P-H1" "who beats is not accused" \
  set_about faked_job -n 2 ./monitors steady 3
mkdir files
check "MND-X70" "files that are monitored" \
  set_about faked_job -n 2 ./monitors files "$PWD/files"
check "MND-X70" "who registers late hears what was before, in order" \
  set_about faked_job -n 3 ./event_flow late 2000
asks() {
  local outcome=0 pid launcher
  timeout --kill-after=5 $((60 * slow)) "${faked[@]}" \
    troupe run -n 1 sleep 60 >/dev/null 2>&1 &
  pid=$!
  eventually 10 pgrep -P "$pid" -x troupe || return 1
  launcher=$(pgrep -P "$pid" -x troupe)
  eventually 10 troupe ps --dvm "pid:$launcher" || outcome=1
  for _ in 1 2 3 4 5 6 7 8; do
    within "$((10 * slow))" "${faked[@]}" troupe ps --dvm "pid:$launcher" || outcome=1
  done
  kill "$launcher"
  wait "$pid"
  return "$outcome"
}
check "MND-X70" "tools ask meanwhile" set_about asks
ends() {
  local start=$SECONDS
  status 124 faked_job --timeout 3 -n 1 sleep 60 && [ $((SECONDS - start)) -ge 3 ] \
    && [ $((SECONDS - start)) -le $((8 * slow)) ]
}
check "MND-X70" "a job ends after the time that it may take" set_about ends
rm -rf files
clean "MND-X70" "nothing is left"
finish
