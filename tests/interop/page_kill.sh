# How soon the page of a DVM shows that a process was killed, in a browser.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/interop/browser.sh"

cd "$TROUPE_WORK" || exit 1
if [ -z "$chromium" ]; then
  skip "PAGE-2" "the page in a browser" "chromium is not installed"
  finish
fi
cat >here.sh <<'END_OF_SHELL'
#!/bin/sh
# Called as a remote shell: HOST COMMAND ARGUMENTS...
shift
exec "$@"
END_OF_SHELL
chmod +x here.sh

troupe up --name kill --node a --host a:4,b:4 --remote-shell "$PWD/here.sh" \
  >up.out 2>up.err </dev/null &
dvm_pid=$!
eventually 30 grep -qx "DVM ready" up.out || { failed "" "a DVM"; cat up.err; finish; }
# shellcheck disable=SC2016
within $((120 * slow)) troupe run --dvm kill -n 4 --rtos recoverable sh -c '
  echo "$PMIX_NAMESPACE"
  until [ -e end ]; do sleep 0.05; done' >job.out 2>&1 </dev/null &
job_pid=$!
all_run() { [ "$(wc -l <job.out)" -eq 4 ]; }
eventually 20 all_run || { failed "" "a job"; cat job.out; finish; }
job=$(head -n 1 job.out)
troupe page --dvm kill >page.out 2>page.err </dev/null &
page=$!
eventually 10 grep -q '#' page.out || { failed "" "a page"; cat page.err; finish; }
browser() {
  within $((90 * slow)) /usr/bin/python3 "$programs/page_browser.py" "$chromium" \
    "$(head -n 1 page.out)" "$@"
}
victim=$(troupe ps --json --dvm kill | /usr/bin/python3 -c '
import json, sys
for x in json.load(sys.stdin)["processes"]:
    if (x["nspace"], x["rank"]) == (sys.argv[1], 2): print(x["pid"])' "$job")
check "PAGE-2" "a killed process is red within a second" \
  browser killed "rank 2 of $job " "$victim" 1000
sed 's/^/     /' "$TROUPE_WORK/output"
check "PAGE-2" "and an alert" browser visible "Alerts" "rank 2 failed"

touch end
wait "$job_pid"
within $((60 * slow)) troupe down --dvm kill >/dev/null 2>&1
wait "$dvm_pid" "$page"
clean "PAGE-2" "nothing is left"
finish
