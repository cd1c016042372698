# What a daemon in C keeps of events of the environment, which handlers get which
# events, and what a daemon and a process hear of the other who breaks the protocol.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

cc=${TROUPE_CC:-cc}
compile_host() {
  "$cc" -std=gnu11 -Wall -Wextra -I"$TROUPE_SOURCE/c_api/include" -o event_host \
    "$programs/event_host.c" -L"$TROUPE_LIB" -lpmix -lpthread -Wl,-rpath,"$TROUPE_LIB" \
    ${TROUPE_SANITIZER:+-fsanitize=$TROUPE_SANITIZER}
}
check "C1.1" "the daemon builds" compile_host

check_equal "E9 E10 E44" "a host sets the size of the ring" \
  "3 events from 8 on, 7 missed" "$(within 60 ./event_host ring 10 3 2>&1)"
check_equal "E9 E44" "which is 512 if it says nothing" \
  "512 events from 89 on, 88 missed" "$(within 60 ./event_host ring 600 2>&1)"
check_equal "E10" "and may be more" \
  "600 events from 1 on, 0 missed" "$(within 60 ./event_host ring 600 1000 2>&1)"
check_equal "E10" "or nothing" \
  "0 events from 0 on, 0 missed" "$(within 60 ./event_host ring 10 0 2>&1)"

check_equal "E5 E6 A7 A8" "handlers get the events of their level" \
  "code: 1 of the job, 1 of the environment
job: 1 of the job, 0 of the environment
environment: 0 of the job, 1 of the environment
default: 1 of the job, 0 of the environment
default environment: 0 of the job, 1 of the environment" \
  "$(within 60 ./event_host levels 2>&1)"

cat >breaks.py <<'END'
from raw_peer import Peer
peer = Peer()
peer.send(b"\xff" * 64)
try:
    peer.answer()
except (EOFError, ConnectionError):
    pass
END
hears_faults() {
  PYTHONPATH=$programs within 60 ./event_host faults /usr/bin/python3 breaks.py | tee faults
  [ "${PIPESTATUS[0]}" -eq 0 ]
}
check "E39 50" "a host hears of who breaks the protocol and of who goes" hears_faults
check_equal "E39" "whom and why, without targets" \
  "breaks: PMIX_ERR_COMM_FAILURE hosted:0, sent what cannot be read
breaks and goes: PMIX_ERR_LOST_CONNECTION hosted:0
goes: PMIX_ERR_LOST_CONNECTION hosted:1" "$(sed 's/\(read\): .*/\1/' faults)"

# lied_to CASE: what a process says whose server lies, or not.
lied_to() {
  limit=60 job -n 1 env "LD_LIBRARY_PATH=$TROUPE_LIB" /usr/bin/python3 \
    "$programs/hostile_server.py" "$1" ./event_host garbled 2>&1
}
check_equal "E56" "a server that can be understood is no event" \
  "heard: nothing
none: exited 0" "$(lied_to none)"
check_match "E56 49" "what a process cannot read is an event" \
  '^heard: PMIX_ERR_COMM_FAILURE .*PACK' "$(lied_to event-noise@1)"
finish
