# Where processes go and which processors they are bound to: beside mpirun on
# this machine for the words that both have, then over several daemons.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

cores=$(lscpu -p=CORE | grep -v '^#' | sort -u | wc -l)
list='s/^Cpus_allowed_list:[[:space:]]*//p'
everything=$(sed -n "$list" /proc/self/status)
cat >where.sh <<'END'
#!/bin/sh
echo "${PMIX_RANK:-$OMPI_COMM_WORLD_RANK}" \
  "$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)"
END
cat >here.sh <<'END'
#!/bin/sh
# Called as a remote shell: HOST COMMAND ARGUMENTS...
shift
exec "$@"
END
cat >hold.sh <<'END'
#!/bin/sh
./where.sh >"$1.new" && mv "$1.new" "$1"
until [ -e over ]; do sleep 0.1; done
END
chmod +x where.sh here.sh hold.sh

# ours WORDS..., theirs WORDS...: `RANK PROCESSORS` of each process, sorted.
ours() {
  within $((30 * slow)) troupe run "$@" ./where.sh </dev/null 2>&1 \
    | sort -n | tr '\n' '|'
}
theirs() {
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    within $((60 * slow)) mpirun "$@" ./where.sh </dev/null 2>&1 \
    | sort -n | tr '\n' '|'
}

# same IDS DESCRIPTION WORDS...: mpirun puts the processes where we do.
same() {
  local ids=$1 description=$2
  shift 2
  check_equal "$ids" "$description, as mpirun does ($*)" "$(theirs "$@")" \
    "$(ours "$@")"
}

# -- beside mpirun -------------------------------------------------------------

if ! command -v mpirun >/dev/null; then
  skip "MAP-1" "the same words for mpirun" "Open MPI is not installed"
else
  same "MAP-1" "one process by default" -n 1
  same "MAP-1" "oversubscribed" --oversubscribe -n $((cores + 1))
  same "MAP-1" "bound to nothing" -n 1 --bind-to none
  same "MAP-1" "bound to what they are mapped by" -n 1 --map-by socket
  same "MAP-3" "overloaded where that is allowed" --oversubscribe \
    -n $((cores + 1)) --map-by core --bind-to core:overload-allowed
  same "MAP-9" "bound to a package" -n 1 --bind-to socket
  same "MAP-9" "bound to a thread" -n 1 --map-by hwthread --bind-to hwthread
fi
if ! command -v mpirun >/dev/null || [ "$cores" -lt 2 ]; then
  skip "MAP-4 MAP-5 MAP-6 MAP-8" "several processors beside mpirun" \
    "Open MPI is not installed, or there is one core"
else
  same "MAP-1" "two processes by default" -n 2
  same "MAP-4" "two processors each" -n 1 --map-by slot:pe=2
  same "MAP-5" "two in each package" -n 2 --map-by ppr:2:socket --bind-to core
  same "MAP-6" "mapped by package and bound to cores" \
    -n 2 --map-by socket --bind-to core
  for slots in "0 1" "1 0" "0:1 0:0" "0-1 1" "0:* 0"; do
    first=${slots% *}
    second=${slots#* }
    printf 'rank 0=%s slot=%s\nrank 1=%s slot=%s\n' \
      "$(hostname)" "$first" "$(hostname)" "$second" >ranks
    check_equal "MAP-8" "a rank file with slot=$first and slot=$second" \
      "$(theirs -n 2 -rf ranks)" "$(ours -n 2 --map-by rankfile:file=ranks)"
  done
fi

# -- refused -------------------------------------------------------------------

# refused IDS TEXT WORDS...: the job is refused with a line that has TEXT.
refused() {
  local ids=$1 text=$2 output outcome=0
  shift 2
  output=$(within $((20 * slow)) troupe run "$@" true 2>&1 </dev/null) \
    || outcome=$?
  check_match "$ids" "refused in words: $*" "^[1-9][0-9]* .*$text" \
    "$outcome $(tr '\n' ' ' <<<"$output")"
}
many=$((cores + 1))
refused "MAP-3" "overload-allowed" --oversubscribe -n $many --bind-to core
refused "MAP-3" "overload-allowed" -n 1 --map-by slot:pe=$many
refused "MAP-11" "foo=3.*pe=N" -n 1 --map-by slot:foo=3
refused "MAP-11" "nonsense.*l3cache" -n 1 --map-by nonsense
refused "MAP-11" "nonsense.*overload-allowed" -n 1 --bind-to core:nonsense
refused "MAP-11" "ppr:N:OBJECT" -n 1 --map-by ppr:2:planet
refused "MAP-8" "no/such/file" -n 1 --map-by rankfile:file=no/such/file
echo "rank 0=$(hostname) slot=99" >ranks
refused "MAP-8" "no processor 99" -n 1 --map-by rankfile:file=ranks
refused "MAP-7" "names 99" -n 1 --map-by pe-list=99
refused "MAP-13" "nolocal" -n 1 --map-by slot:nolocal

# -- other words ---------------------------------------------------------------

last=$((cores - 1))
echo "rank 0=localhost slot=$last" >ranks
check_equal "MAP-7" "a list of processors is all that there is" \
  "$(ours -n 1 --map-by rankfile:file=ranks)" \
  "$(ours -n 1 --map-by "pe-list=$last:ordered")"
report() {
  within $((20 * slow)) troupe run -n 1 --bind-to "$1" true 2>&1 </dev/null
}
check_match "MAP-15" "the binding is told" \
  "^troupe: rank 0 on [^ ]*: bound to cpus [0-9]" "$(report core:report)"
check_match "MAP-15" "and that there is none" \
  "^troupe: rank 0 on [^ ]*: not bound" "$(report none:report)"
check_equal "MAP-5" "so many per core if nobody says how many" $((2 * cores)) \
  "$(within $((20 * slow)) troupe run --map-by ppr:2:core:oversubscribe \
    --bind-to core:overload-allowed echo x </dev/null | wc -l)"

# -- several nodes, all here ---------------------------------------------------

# nodes_of OPTIONS...: `RANK:NODE` of each process.
nodes_of() {
  within $((60 * slow)) troupe run --remote-shell "$PWD/here.sh" "$@" \
    sh -c 'echo "$PMIX_RANK:$PMIX_HOSTNAME"' </dev/null 2>&1 | sort -n | xargs
}
check_equal "MAP-13" "span balances nodes" "0:a 1:a 2:b 3:b" \
  "$(nodes_of --host a:4,b:4 -n 4 --bind-to none --map-by slot:span)"
check_equal "MAP-13" "span counts the objects of each node" "0:a 1:a 2:b 3:b" \
  "$(nodes_of --host a:4,b:4 -n 4 --bind-to none --map-by package:span)"
check_equal "MAP-13" "nolocal leaves out the launcher's node" "0:a 1:a" \
  "$(nodes_of --host "$(hostname):2,a:2" -n 2 --map-by slot:nolocal)"
check_equal "MAP-5" "so many per package of each node" "0:a 1:a 2:b 3:b" \
  "$(nodes_of --host a:4,b:4 --bind-to none --map-by ppr:2:package)"
printf 'b\na\nb\n' >sequence
check_equal "MAP-10" "a sequence of nodes" "0:b 1:a 2:b" \
  "$(nodes_of --host a:2,b:2 --bind-to none --map-by seq:file=sequence)"
printf 'a slots=1 max_slots=2\nb slots=1 max_slots=1\n' >hosts
check_equal "MAP-14" "max_slots is a limit for who oversubscribes" \
  "0:a 1:a 2:b" "$(nodes_of --hostfile hosts --oversubscribe -n 3)"
check_match "MAP-14" "beyond which a job is refused" "raise max_slots" \
  "$(nodes_of --hostfile hosts --oversubscribe -n 4)"

# -- jobs of one DVM -----------------------------------------------------------

if [ "$cores" -lt 2 ]; then
  skip "MAP-2" "two jobs on cores of their own" "this machine has one core"
  finish
fi
alone=$(ours -n 1)
troupe up --name places >up.out 2>up.err </dev/null &
up=$!
check "MAP-2" "a DVM of this node" eventually 30 grep -qx "DVM ready" up.out
holders=
for job in 1 2 3; do
  within $((60 * slow)) troupe run --dvm places -n 1 ./hold.sh "$PWD/at.$job" \
    </dev/null >"job.$job" 2>&1 &
  holders="$holders $!"
  eventually 30 test -e "at.$job"
done
check "MAP-2" "two jobs are bound to cores of their own" \
  sh -c '[ -s at.1 ] && [ -s at.2 ] && [ "$(cat at.1)" != "$(cat at.2)" ]'
[ "$cores" -ne 2 ] || check_equal "MAP-2" "the third has none and is not bound" \
  "0 $everything" "$(cat at.3)"
check_equal "MAP-15" "bindings of all jobs are told" "3" \
  "$(troupe ps --dvm places --json | grep -o '"cpus"' | wc -l)"
touch over
# shellcheck disable=SC2086
wait $holders
check_equal "MAP-2" "when they are over all is free" "$alone" \
  "$(ours --dvm places -n 1)"
check_match "MAP-15" "the binding is told in a DVM" "0 on .*: bound to cpus" \
  "$(within $((20 * slow)) troupe run --dvm places -n 1 --bind-to core:report \
    sleep 1 2>&1 </dev/null)"
check "MAP-2" "the DVM ends" within $((20 * slow)) troupe down --dvm places
wait "$up"

finish
