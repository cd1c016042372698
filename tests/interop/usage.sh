# The use of resources: what processes are told of it is what the kernel says.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

export PATH=$TROUPE_BIN:$PATH
cd "$TROUPE_WORK" || exit 1
build usage

check "M27" "CPU time and memory of a process are those that the kernel tells" \
  job -n 2 ./usage self
grep 'the kernel says' "$TROUPE_WORK/output"
check "M27" "processes of a job, the node, its disks and networks" \
  job -n 3 ./usage job
check "M27" "updates come as events until they are cancelled" \
  job -n 2 ./usage updates
grep 'updates' "$TROUPE_WORK/output"

check "M27 109" "updates have the range that is asked for" \
  job -n 3 ./usage range

# Daemons of other nodes, all on this machine: the remote shell runs its command
# here, whatever the node is called.
cat >here.sh <<'END'
#!/bin/sh
shift
exec "$@"
END
chmod +x here.sh
troupe up --name usage --remote-shell "$PWD/here.sh" --host a:2,b:2 \
  >up 2>up.err </dev/null &
dvm=$!
if eventually 30 grep -qx "DVM ready" up; then
  check "M27" "processes of other nodes, and the nodes" \
    within $((20 * slow)) troupe run --dvm usage -n 4 ./usage nodes 3
  grep 'runs on' "$TROUPE_WORK/output"
else
  cat up.err
  failed "M27" "a DVM of three daemons"
fi
within $((20 * slow)) troupe down --dvm usage >/dev/null 2>&1
wait "$dvm"

clean "M27" "nothing is left"
finish
