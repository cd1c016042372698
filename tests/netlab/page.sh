# The page of a DVM over nodes whose networks fail: what it tells, and what a browser shows.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "PAGE-1"
lab 3 2
need_dvm n1:2,n2:2,n3:2
background n1 troupe page --dvm "$dvm_name" >"$TROUPE_WORK/page.out" 2>"$TROUPE_WORK/page.err"
eventually 20 grep -q '#' "$TROUPE_WORK/page.out" || {
  failed "PAGE-1" "a page"
  cat "$TROUPE_WORK/page.err"
  finish
}
address=$(head -n 1 "$TROUPE_WORK/page.out")

# links: a line `NODE NODE STATE [NETWORK]...` for each connection, with the networks that
# fail.
links() {
  within 20 "$netlab" exec n1 /usr/bin/python3 -c '
import json, sys, urllib.request
at, _, key = sys.argv[1].partition("#")
request = urllib.request.Request(at + "state", headers={"Authorization": "Bearer " + key})
with urllib.request.urlopen(request, timeout=15) as answer:
    found = json.load(answer)
names = {x["rank"]: x["name"] for x in found["nodes"].values()}
for x in found["links"].values():
    print(names[x["a"]], names[x["b"]], x["state"],
          *(y["name"] for y in x["networks"] if not y["usable"]))' "$address" </dev/null
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

chromium=
for name in chromium chromium-browser google-chrome; do
  chromium=$(command -v "$name") && break
done
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

page=$(processes n1 troupe-page)
check "PAGE-1" "the page is told to end" kill "$page"
check "PAGE-1" "and does" eventually 10 ended "$page"
check "PAGE-1" "down" dvm_down
check "PAGE-1" "nothing is left" nothing_after 10 n1 n2 n3
finish
