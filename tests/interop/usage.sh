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

  # Updates are monitors like others: listed with those of all nodes, and cancelled
  # by their numbers.
  timeout --kill-after=5 "$((60 * slow))" troupe run --dvm usage -n 4 \
    ./usage listed "$PWD/stop" >listed 2>listed.err &
  job_pid=$!
  check "C11.10" "all of a job are told" eventually 30 grep -qx told listed
  troupe monitor list --dvm usage >list
  nspace=$(awk 'NR == 2 { sub(/:[0-9]+$/, "", $2); print $2 }' list)
  wanted=
  for rank in 0 1 2 3; do
    wanted+="$nspace:$rank proc_resource_usage mine 1 $nspace:* $nspace:$rank|"
  done
  check_equal "C11.10" "the updates of all nodes are listed" "$wanted" \
    "$(awk 'NR > 1 { print $2, $4, $5, $8, $10, $11 }' list | sort | tr '\n' '|')"
  check_equal "C11.10" "on the nodes of those who asked" "a b" \
    "$(awk 'NR > 1 { print $3 }' list | sort -u | paste -sd ' ')"
  told_lately() {
    troupe monitor list --dvm usage --json >list.json && /usr/bin/python3 - "$slow" <<'END'
import json, sys
monitors = json.load(open("list.json"))["monitors"]
assert len(monitors) == 4, monitors
for x in monitors:
    assert x["troupe.monitor.interval"] == 1, x
    assert x["troupe.monitor.due"] <= 1, x
    assert x["troupe.monitor.last"] <= 5 * int(sys.argv[1]), x
END
  }
  check "C11.10" "with when they were told last, and are due" told_lately
  cancel_all() {
    awk 'NR > 1 { print $1, $2 }' list | {
      while read -r number proc; do
        troupe monitor cancel --dvm usage --proc "$proc" "$number" </dev/null || exit 1
      done
    }
  }
  check "C11.10 M11" "they are cancelled by their numbers" cancel_all
  check_equal "C11.10" "and gone from the list" "0" \
    "$(troupe monitor list --dvm usage | awk 'NR > 1' | wc -l)"
  touch stop
  outcome=0
  wait "$job_pid" || outcome=$?
  cat listed.err
  check_equal "C11.10" "nothing more is told" "0" "$outcome"
else
  cat up.err
  failed "M27" "a DVM of three daemons"
fi
within $((20 * slow)) troupe down --dvm usage >/dev/null 2>&1
wait "$dvm"

clean "M27" "nothing is left"
finish
