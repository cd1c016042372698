# The C interface of I/O forwarding: tools that pull the output of processes and
# push their input, under our daemon.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

build io_pulls io_pushes
start_trouped
export IO_SERVER=$trouped_uri IO_DAEMON=$trouped_pid
limit=60

# pulls CASE, pushes CASE ...
pulls() { within "$((limit * slow))" ./io_pulls "$@"; }
pushes() { within "$((limit * slow))" ./io_pushes "$@"; }

# deregister: libraries of 4.2 print what was on its way.
deregister() { pulls deregister >printed; }

# unhandled: what no function takes is on our standard output and error.
unhandled() {
  pulls unhandled >out 2>err && [ "$(wc -c <out)" -eq 320000 ] \
    && [ "$(wc -c <err)" -eq 80000 ] && sort -cu out && sort -cu err
}

# from_input: a pipe is pushed, and read no faster than it is taken.
from_input() {
  ./io_pushes pattern 20000000 | pushes stdin 20000000 1000
}

# crowded: one tool pulls without end while others get theirs.
crowded() {
  pulls many >many.out 2>&1 &
  local crowd=$!
  pulls process && pulls namespace
  local outcome=$?
  wait "$crowd" || outcome=1
  cat many.out
  return $outcome
}

[ -z "${TROUPE_LIBRARY_IDENTIFIER:-}" ] || export IO_OWN=yes

check "I6 I15" "the output of one process" pulls process
check "I6 IO-3" "the output of a namespace, each end once" pulls namespace
check "I2 I5 203" "two pulls that share a stream" pulls masks
check "I8 IO-5" "what was there before the pull" pulls tail
check "I11" "deregistered in the middle" deregister
# OpenPMIx's library ends a subscription before it tells.
[ -z "${IO_OWN:-}" ] \
  || check "I11" "what is kept together comes before the end" pulls kept
check "I18 193" "a handler that sleeps holds the process up" pulls slow
grep 'memory' "$TROUPE_WORK/output"
check "I18 IO-1 IO-2" "the oldest is dropped, and counted" pulls oldest
tail -n 1 "$TROUPE_WORK/output"
check "I18 IO-1 IO-2" "the newest is dropped, and counted" pulls newest
tail -n 1 "$TROUPE_WORK/output"
check "I6" "what no function takes" unhandled
check "I6" "what is wrong is refused" pulls refused
check "I6" "what is required is acted upon or refused" pulls required
check "LIM14 I18" "pulls without end are refused, and others get theirs" crowded
tail -n 1 "$TROUPE_WORK/output"
check "I9" "bytes for nowhere and nobody are refused, and disturb nobody" pushes wrong
check "I9 I18 202" "pushes that are not waited for" pushes pieces
check "I6 197" "the last bytes end the input" pushes complete
check "I18 202" "our own standard input" from_input
grep 'memory' "$TROUPE_WORK/output"
check "I6 197" "20 MB to one process" pushes whole
check "I6 196" "20 MB to three" pushes all

stop_trouped >/dev/null 2>&1
clean "I17" "nothing is left"
finish
