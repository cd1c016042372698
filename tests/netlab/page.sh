# The page of a DVM over nodes whose networks fail: what it tells, and what a browser shows.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/interop/browser.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "PAGE-1"
cd "$TROUPE_WORK" || exit 1
compile fence_waits
lab 3 2
need_dvm n1:2,n2:2,n3:2
background n1 troupe page --dvm "$dvm_name" >"$TROUPE_WORK/page.out" 2>"$TROUPE_WORK/page.err"
eventually 20 grep -q '#' "$TROUPE_WORK/page.out" || {
  failed "PAGE-1" "a page"
  cat "$TROUPE_WORK/page.err"
  finish
}
address=$(head -n 1 "$TROUPE_WORK/page.out")

# page_get PATH: what the page answers.
page_get() {
  within 40 "$netlab" exec n1 /usr/bin/python3 -c '
import sys, urllib.request
at, _, key = sys.argv[1].partition("#")
request = urllib.request.Request(at + sys.argv[2], headers={"Authorization": "Bearer " + key})
with urllib.request.urlopen(request, timeout=30) as answer:
    print(answer.read().decode())' "$address" "$1" </dev/null
}
# links: a line `NODE NODE STATE [NETWORK]...` for each connection, with the networks that
# fail.
links() {
  page_get state | /usr/bin/python3 -c '
import json, sys
found = json.load(sys.stdin)
names = {x["rank"]: x["name"] for x in found["nodes"].values()}
for x in found["links"].values():
    print(names[x["a"]], names[x["b"]], x["state"],
          *(y["name"] for y in x["networks"] if not y["usable"]))'
}
# link_is NODE NODE STATE [NETWORK]...: whether it is so.
link_is() {
  links >"$TROUPE_WORK/links"
  cat "$TROUPE_WORK/links"
  grep -qx -- "$*" "$TROUPE_WORK/links"
}
soon() { eventually 20 link_is "$@" || link_is "$@"; }
# lane_is_gone NODE NETWORK: neither it nor another node has a lane of it on that.
lane_is_gone() {
  in_dvm net --json | /usr/bin/python3 -c '
import json, sys
name, network = sys.argv[1:]
nodes = json.load(sys.stdin)["nodes"]
sys.exit(any(lane["network"] == network for node in nodes for peer in node.get("peers", [])
             if name in (node.get("name"), peer["name"]) for lane in peer["lanes"]))' "$@"
}

browser() {
  [ -n "$chromium" ] || return 0
  check "PAGE-1" "$1" within $((90 * slow)) "$netlab" exec n1 /usr/bin/python3 \
    "$programs/page_browser.py" "$chromium" "$address" visible "${@:2}"
}
[ -n "$chromium" ] || skip "PAGE-1" "networks in a browser" "chromium is not installed"

check "PAGE-1" "all networks are well" soon n1 n2 well
check "PAGE-1" "to each node" soon n1 n3 well
# A lane that its kernel reports is gone at once: what is gone has to be told all the same.
check "PAGE-1" "a network is taken down" "$netlab" cut n2 2
check "PAGE-1" "the page says which fails" soon n1 n2 failing net2
check "PAGE-1" "the others are well" soon n1 n3 well
browser "as a browser shows" "n1 and n2" failing "net2 fails"
check "PAGE-1" "it is there again" "$netlab" heal n2 2
check "PAGE-1" "and well" soon n1 n2 well
check "PAGE-1" "one falls silent" "$netlab" silence n3 1
check "PAGE-1" "it fails, too" soon n1 n3 failing net1
check "PAGE-1" "no node has a lane on it any more" eventually 30 lane_is_gone n3 net1
check "PAGE-1" "it fails as long as it is silent" soon n1 n3 failing net1
check "PAGE-1" "until it is heard" "$netlab" heal n3 1
check "PAGE-1" "and well" soon n1 n3 well

# -- who has not come to a fence, and where it is ---------------------------------

limit=400 mesh_job -n 4 "$TROUPE_WORK/fence_waits" 2 "$TROUPE_WORK/enter" >job.out 2>&1 </dev/null &
job=$!
names_missing() { in_dvm jobs --waits >waits.out && grep -q 'fence *3 of 4 .*:2 on n3$' waits.out; }
check "PAGE-10" "who does not come to a fence is named with its node" eventually 30 names_missing
cat waits.out
fenced=$(awk '$2 == "fence" { print $1; exit }' waits.out)
page_names_missing() {
  page_get state >state.json && /usr/bin/python3 -c '
import json, sys
found = list(json.load(open("state.json"))["waits"].values())
assert [x["missing"] for x in found] == [[{"proc": sys.argv[1] + ":2", "host": "n3"}]], found
assert (found[0]["joined"], found[0]["size"]) == (3, 4), found' "$fenced"
}
check "PAGE-10" "by the page as well" eventually 20 page_names_missing
[ -z "$chromium" ] || check "PAGE-10" "and in a browser" within $((90 * slow)) "$netlab" exec n1 \
  /usr/bin/python3 "$programs/page_browser.py" "$chromium" "$address" visible \
  "in a fence: 3 of 4, waits for rank 2 on n3 for"
page_get "stack?job=$fenced&rank=2" >stack.json
if command -v eu-stack >/dev/null || command -v gdb >/dev/null; then
  if grep -q ptrace stack.json; then
    skip "PAGE-11" "the stack of a process of another node" "nobody may look at processes here"
  else
    check_match "PAGE-11" "the stack of a process of another node" '"stack".*forget_the_fence' \
      "$(cat stack.json)"
  fi
else
  check_match "PAGE-11" "what takes stacks is not there, and its node says so" \
    '"error".*neither eu-stack nor gdb' "$(cat stack.json)"
fi
check_match "PAGE-11" "a process that is nowhere has none" '"error"' \
  "$(page_get "stack?job=$fenced&rank=77")"
touch enter
wait "$job"
check_equal "PAGE-10" "it comes, and all go on" 0 "$?"
none_waits() { [ "$(in_dvm jobs --waits | wc -l)" = 1 ]; }
check "PAGE-10" "nobody is waited for any more" eventually 20 none_waits

page=$(processes n1 troupe-page)
check "PAGE-1" "the page is told to end" kill "$page"
check "PAGE-1" "and does" eventually 10 ended "$page"
check "PAGE-1" "down" dvm_down
check "PAGE-1" "nothing is left" nothing_after 10 n1 n2 n3
finish
