# Messages that nobody finishes.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

strangers=$programs/strangers.py

# start_job COMMAND...: in the background; sets server, port, nspace.
start_job() {
  rm -f place
  troupe run -n 1 "$@" >job.out 2>job.log </dev/null &
  server=$!
  eventually 20 test -s place || {
    failed "" "a job starts"
    cat job.log
    finish
  }
  read -r port nspace server_name <place
}
tell='uri=$PMIX_SERVER_URI41; name=${uri%%;*}
  echo "${uri##*:} $PMIX_NAMESPACE ${name%.*}" >new; mv new place'

# -- messages that nobody finishes ----------------------------------------------

if [ -n "${TROUPE_SANITIZER:-}" ]; then
  skip "MND-A6" "half messages" "a sanitizer's memory is not counted"
else
  cat >halves.sh <<SH
$tell
exec /usr/bin/python3 "$strangers" halves "\${PMIX_SERVER_URI41##*:}" 8 33554431
SH
  start_job sh halves.sh
  first=$(rss "$server")
  largest=$first
  is_cut_off() {
    local now
    now=$(rss "$server")
    [ "${now:-0}" -le "$largest" ] || largest=$now
    grep -q 'not whole within 30000 ms' job.log
  }
  eventually 45 is_cut_off
  grown=$(((largest - first) >> 10))
  echo "$grown MiB more at most"
  check "MND-A6" "eight messages of 32 MiB of which a byte is missing take 128 MiB at most" \
    test "$grown" -lt 128
  check_match "MND-A6" "each has half a minute" \
    'served as .*a message was not whole within 30000 ms' "$(cat job.log)"
  kill -TERM "$server"
  wait "$server" 2>/dev/null
fi
clean "MND-A6" "nothing is left"
finish
