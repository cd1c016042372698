# The examples that Debian packages with libpmix-dev, as they are.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

examples=/usr/share/doc/libpmix-dev/examples
if [ ! -f "$examples/client.c" ]; then
  skip "F6.7" "the packaged examples" "$examples is not there"
  finish
fi

# The package lacks the header that they include; ours stands in.
for name in abi_no_init abi_with_init alloc asyncgroup bad_exit client client2 \
  debugger debuggerd dmodex dynamic fault group group_dmodex group_lcl_cid hello \
  jctrl launcher log nodeinfo pub pubi tool; do
  # shellcheck disable=SC2046
  "${TROUPE_CC:-cc}" -std=gnu11 -D_GNU_SOURCE -w -I "$programs/packaged" \
    -o "$name" "$examples/$name.c" $(pkg-config --cflags --libs pmix) \
    || failed "F6.7" "compiling $name.c"
done

# They end with status 0 even when they fail, and say so in words.
says() {
  local times=$1 wanted=$2
  shift 2
  job "$@" 2>&1 | tee "$TROUPE_WORK/said"
  [ "${PIPESTATUS[0]}" -eq 0 ] || return 1
  ! grep -Ei 'failed|error|wrong' "$TROUPE_WORK/said" \
    && [ "$(grep -Ec -- "$wanted" "$TROUPE_WORK/said")" -eq "$times" ]
}
finalized='PMIx_Finalize successfully completed'

check "F6.7" "hello" says 3 "$finalized" -n 3 ./hello
check "F6.7" "hello, asking the server again" says 3 "$finalized" -n 3 ./hello true
check "F6.7" "client: 1 process" says 1 "$finalized" -n 1 ./client
check "F6.7" "client: 4 processes" says 4 "$finalized" -n 4 ./client
check "F6.7" "client2: arrays of values" says 4 "$finalized" -n 4 ./client2
check "F6.7" "dmodex: direct exchange" says 1 "$finalized" -n 4 ./dmodex
check "F6.7" "pub: publish, lookup and unpublish" \
  says 1 'UNPUBLISH SUCCEEDED' -n 3 ./pub
check_equal "F6.7" "pub: everybody found it" "2" \
  "$(grep -c PUBLISH-LOOKUP "$TROUPE_WORK/said")"
check "F6.7" "pubi: lookup that waits" says 1 'UNPUBLISH SUCCEEDED' -n 3 ./pubi
check "F6.7" "dynamic: spawns two clients" says 4 "$finalized" -n 2 ./dynamic
check "F6.7" "log" says 2 "$finalized" -n 2 ./log
check "F6.7 J34" "jctrl: job control and a monitor" says 2 "$finalized" -n 2 ./jctrl
check "F6.7 G13 G60" "group: three of four processes, a context identifier" \
  says 3 'complete with status .*KEY pmix.grp.ctxid CID [1-9]' -n 4 ./group
check_equal "F6.7 G13" "group: all four end well" 4 \
  "$(grep -c "$finalized" "$TROUPE_WORK/said")"
check "F6.7 G33 G35 G49" "asyncgroup: an invitation to two of three" \
  says 4 "$finalized" -n 4 ./asyncgroup
check_equal "F6.7 G7 G44" "asyncgroup: they meet in a fence of the group" 3 \
  "$(grep -ci 'execut.* fence across group' "$TROUPE_WORK/said")"
check "F6.7 G60" "group_dmodex: data of members, by their context identifier" \
  says 4 'COMPLETE$' -n 4 ./group_dmodex
check "F6.7 G60" "group_lcl_cid: everybody's local context identifier" \
  says 16 'LOCAL CID for rank [0-3] SUCCESS' -n 4 ./group_lcl_cid
check "F6.7" "abi_no_init" says 1 'Provisional\)' -n 1 ./abi_no_init
check "F6.7" "abi_with_init" says 2 'Namespaces:' -n 2 ./abi_with_init

# These fail on purpose, or ask for what nobody has.
check "F6.7" "bad_exit: rank 0 exits without finalize" \
  status 1 job -n 3 ./bad_exit
check "F6.7" "fault: rank 0 exits while the others wait for an event" \
  status 1 job -n 3 ./fault
check_match "F6.7" "nodeinfo: no coordinates, everything else" \
  'Rank 0 is on host' "$(job -n 2 ./nodeinfo 2>&1)"
check_match "F6.7 F4.38" "alloc: the answer is not supported" \
  'Allocation returned status: .*NOT.SUPPORTED' "$(job -n 1 ./alloc 2>&1)"

# What its debugger starts is named without a folder.
PATH=$PWD:$PATH start_trouped --system-server
check_match "F6.7 F4.10" "tool: finds the server and lists namespaces" \
  'ACTIVE NSPACES' "$(within 20 ./tool 2>&1)"
check_match "F6.7 F4.10" "tool: connects by URI" 'ACTIVE NSPACES' \
  "$(within 20 ./tool -u "$trouped_uri" 2>&1)"
# Its client stops in PMIx_Init, and a daemon of it is put beside. What the daemon
# asks the server, and whether the debugger hears of its end, is not looked at.
within 20 ./debugger >debugging 2>&1 </dev/null
check_match "F6.7 SPW-3 SPW-4" "debugger: its client and its daemons are started" \
  'SPAWNED DEBUGGERD' "$(cat debugging)"
check_equal "F6.7 SPW-3 SPW-4" "debugger: none of them is refused" "" \
  "$(grep 'failed to launch' debugging)"
stop_trouped >/dev/null 2>&1

skip "F6.7" "launcher" "asks for 128 slots, which a node of a test has not"
skip "F6.7" "server" "is a server itself and needs OpenPMIx's internals"
skip "F6.7" "pmi1client" "needs pmi.h, which the package lacks"

clean "F5.20" "nothing is left of the examples"
finish
