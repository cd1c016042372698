# A site's day with the packages: in a system of its own they are installed, a DVM is
# started on three nodes as docs/packages.md says, and watched by troupe top, by its page in
# a browser and by a Prometheus as the package configures it while a node fails and comes
# back; then upgraded, removed and purged.
# The nodes are a lab's (tests/netlab); they share the system, and have each a /tmp, a /run
# and a /dev/shm. Browser and Prometheus are those of this machine, on the network of a node.
# Takes root, Debian's mirrors, and the packages. What docs/ show of such a run is kept in
# $TROUPE_WORK/pictures; CONTRIBUTING.md says how it gets there.
. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/interop/browser.sh"
. "$TROUPE_SOURCE/tests/interop/metrics_tools.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"
. "$TROUPE_SOURCE/tests/packages/system.sh"

need_lab "PKG-13"
need_system "PKG-13"
need_packages
need_root
compile_mpi "$programs/mpi_ring.c" "$root/root/tests/mpi_ring"
compile_pmix "$programs/fence_waits.c" "$root/root/tests/fence_waits"
pictures=$TROUPE_WORK/pictures
mkdir -p "$pictures"
ring="size 4: hello right, ring right, allreduce right"

# -- installed -------------------------------------------------------------------

check "PKG-13" "a system that has an MPI" step 1200 install_mpi
files >"$TROUPE_WORK/before"
begin=${EPOCHREALTIME//[!0-9]/}
check "PKG-13" "installed" step 600 install_nodes old
check "PKG-13" "the first job of MPI" step 120 open_mpi
took=$(((${EPOCHREALTIME//[!0-9]/} - begin) / 100000))
echo "from installing to the end of the first MPI job: $((took / 10)).$((took % 10)) s"
check "PKG-13" "from installing to the first MPI job in 60 s" test "$took" -le 600
check "PKG-13" "configured" step 60 configure

# -- three nodes -----------------------------------------------------------------

lab 3 2
for node in n1 n2 n3; do
  # shellcheck disable=SC2016
  check "PKG-13" "$node is laid out" on "$node" bash -c '
    set -e
    mount --bind "$1" "$1"
    mount -t proc proc "$1/proc"
    mount --rbind /sys "$1/sys"
    mount --rbind /dev "$1/dev"
    mount --bind /etc/hosts "$1/etc/hosts"
    mount -t tmpfs -o mode=1777 tmpfs "$1/tmp"
    mount -t tmpfs -o mode=755 tmpfs "$1/run"
    chroot "$1" install -d -o alice -m 700 /run/troupe/alice' - "$root"
done

# as_alice NODE COMMAND...: becomes the command, hers on a node, in the directory of the
# units.
as_alice() {
  local node=$1
  shift
  # shellcheck disable=SC2016
  on "$node" chroot "$root" env -i PATH=/usr/bin:/bin HOME=/home/alice LANG=C.UTF-8 \
    OMPI_MCA_btl_vader_single_copy_mechanism=none TROUPE_MARK="$TROUPE_MARK" \
    setpriv --reuid=alice --regid=alice --init-groups -- \
    sh -c 'cd /var/lib/troupe/alice && exec "$@"' sh "$@"
}
export root
export -f as_alice on
# asking SECONDS COMMAND...: on n1.
asking() {
  local seconds=$1
  shift
  within "$seconds" "${BASH:-bash}" -c "netlab=$netlab; as_alice n1 \"\$@\"" - "$@" </dev/null
}

# serve NODE UNIT: what the unit runs there, again and again as its manager would do, until
# there is /tmp/stop.
serve() {
  local command
  command=$(sed -n 's/^ExecStart=//p' "$root/lib/systemd/system/$2@.service" \
    | sed 's|%i|alice|g; s|%t|/run|g; s|%S|/var/lib|g')
  as_alice "$1" sh -c "until [ -e /tmp/stop ]; do $command; sleep 1; done" \
    </dev/null >>"$TROUPE_WORK/$1.out" 2>&1 &
  disown $! # What is left of it ends with the lab.
}
start() {
  local node
  for node in n1 n2 n3; do
    on "$node" rm -f "$root/tmp/stop"
    : >"$TROUPE_WORK/$node.out"
  done
  serve n1 troupe-root
  serve n2 trouped
  serve n3 trouped
}
# stop: as docs/packages.md says.
stop() {
  local node
  for node in n1 n2 n3; do
    on "$node" touch "$root/tmp/stop"
  done
  asking 60 troupe down --dvm cluster && eventually 30 no_process_on n1 n2 n3
}

# -- how it is watched -----------------------------------------------------------

# top NODE STATE: whether `troupe top` has it so.
top() {
  asking 20 troupe top --dvm cluster --once --json | /usr/bin/python3 -c '
import json, sys
nodes = {x["name"]: x["state"] for x in json.load(sys.stdin)["nodes"]}
print(nodes)
sys.exit(nodes.get(sys.argv[1]) != sys.argv[2])' "$@"
}
# on_page NODE STATE: whether the page has it so.
on_page() {
  within 20 "$netlab" exec n1 /usr/bin/python3 -c '
import json, sys, urllib.request
address, name, state = sys.argv[1:]
at, _, key = address.partition("#")
request = urllib.request.Request(at + "state", headers={"Authorization": "Bearer " + key})
with urllib.request.urlopen(request, timeout=15) as answer:
    found = json.load(answer)["nodes"]
nodes = {x["name"]: x["state"] for x in found.values()}
print(nodes)
sys.exit(nodes.get(name) != state)' "$address" "$@" </dev/null
}
# in_browser IDENTIFIERS DESCRIPTION CHECK [ARGUMENT]...: what one on n1 shows of the page;
# see page_browser.py.
in_browser() {
  [ -z "$chromium" ] || check "$1" "$2" within $((90 * slow)) "$netlab" exec n1 \
    /usr/bin/python3 "$programs/page_browser.py" "$chromium" "$address" "${@:3}"
}
# measured NODE NAME: a sample of its metrics.
measured() {
  within 20 "$netlab" exec "$1" /usr/bin/python3 -c '
import sys, urllib.request
with urllib.request.urlopen("http://127.0.0.1:9466/metrics", timeout=15) as answer:
    sys.stdout.write(answer.read().decode())' </dev/null | sample_of "$2"
}
# members LIVE LOST: whether the root counts them so.
members() {
  local live lost
  live=$(measured n1 'troupe_members{state="live"}')
  lost=$(measured n1 'troupe_members{state="lost"}')
  echo "$live live, $lost lost"
  [ "$live/$lost" = "$1/$2" ]
}
# configure_prometheus: takes the configuration of the package and its rules, with the
# addresses of the nodes filled in and all times short.
configure_prometheus() {
  local from=$root/usr/share/troupe/prometheus to=$TROUPE_WORK/prometheus
  mkdir -p "$to" || return
  sed "s/^\( *[a-z]*_interval: \).*/\11s/
    s/^\( *- targets: \).*/\1['n1:9466', 'n2:9466', 'n3:9466']/" "$from/prometheus.yml" \
    >"$to/prometheus.yml" || return
  sed 's/^\( *for: \).*/\11s/' "$from/troupe_alerts.yml" >"$to/troupe_alerts.yml" || return
  promtool check config "$to/prometheus.yml" || return
  # What was to be filled in has been.
  [ "$(grep -Ec '(scrape|evaluation)_interval: 1s$|targets:.*n1:9466.*n3:9466' \
    "$to/prometheus.yml")" = 3 ]
}
# watch: has a Prometheus of n1 scrape the three nodes.
watch() {
  background n1 prometheus --config.file="$TROUPE_WORK/prometheus/prometheus.yml" \
    --storage.tsdb.path="$TROUPE_WORK/data" --web.listen-address=127.0.0.1:9090 \
    --log.level=error >"$TROUPE_WORK/prometheus.log" 2>&1
  prometheus_pid=$background_pid
}
# by_prometheus IDENTIFIERS DESCRIPTION SECONDS QUERY VALUE: what it says within that time.
by_prometheus() {
  [ -z "$prometheus_pid" ] || check "$1" "$2" eventually "$3" prometheus_says "$4" "$5"
}
prometheus_says() {
  # shellcheck disable=SC2016
  [ "$(within 20 "$netlab" exec n1 bash -c "$(declare -f within query)"'
    query http://127.0.0.1:9090 "$1"' - "$1" </dev/null)" = "$2" ]
}
# on_nodes NODE...: a job has a process on each of them.
on_nodes() {
  # shellcheck disable=SC2016
  [ "$(asking 60 troupe run --dvm cluster --map-by node -n $# sh -c 'echo $PMIX_HOSTNAME' \
    | sort | xargs)" = "$*" ]
}
three() {
  [ "$(asking 120 troupe run --dvm cluster --map-by node --oversubscribe -n 4 \
    -x OMPI_MCA_pml=ob1 -x OMPI_MCA_btl=tcp,self -x OMPI_MCA_btl_tcp_if_include=net1 \
    /root/tests/mpi_ring)" = "$ring" ]
}

start
check "PKG-13" "the DVM of the units is ready" \
  eventually 60 grep -qx 'DVM ready' "$TROUPE_WORK/n1.out"
check "PKG-13" "a job runs on three nodes" on_nodes n1 n2 n3
check "PKG-13" "one of MPI, too" three
as_alice n1 troupe page --dvm cluster </dev/null >"$TROUPE_WORK/page.out" 2>&1 &
disown $!
check "PKG-13" "there is a page" eventually 20 grep -q '#' "$TROUPE_WORK/page.out"
address=$(head -n 1 "$TROUPE_WORK/page.out")
for node in n1 n2 n3; do
  check "PKG-13" "top shows $node" eventually 20 top "$node" live
  check "PKG-13" "the page shows $node" eventually 20 on_page "$node" live
  check_equal "PKG-13" "$node tells metrics" 1 "$(measured "$node" 'troupe_build_info{version="[^"]*"}')"
done
check "PKG-13" "metrics count three members" eventually 20 members 3 0
prometheus_pid=
if command -v prometheus >/dev/null; then
  check "PKG-13" "the package configures a Prometheus" configure_prometheus
  watch
else
  skip "PKG-13" "a Prometheus" "there is no prometheus; scripts/setup"
fi
by_prometheus "PKG-13" "a Prometheus scrapes the three" 60 'sum(up{job="troupe"})' 3
by_prometheus "PKG-13" "which are all live" 20 'max(troupe_members{state="live"})' 3
by_prometheus "PKG-13" "and no alert of nodes fires" 30 \
  'count(ALERTS{alertname=~"Troupe(Daemon|Root|Node).*", alertstate="firing"})' none

# -- what there is to see --------------------------------------------------------

# A job that goes on without a node, and one with a fence to which n3 does not come.
# shellcheck disable=SC2016
asking 900 troupe run --dvm cluster --map-by node --oversubscribe -n 3 --rtos recoverable sh -c '
  echo "line of $PMIX_RANK in $PMIX_NAMESPACE"
  until [ -e /root/tests/end ]; do sleep 0.2; done' >"$TROUPE_WORK/steady.out" 2>&1 &
steady=$!
asking 300 troupe run --dvm cluster --map-by node --oversubscribe -n 3 \
  /root/tests/fence_waits 2 /root/tests/enter >"$TROUPE_WORK/fence.out" 2>&1 &
fence=$!
all_steady() { [ "$(grep -c '^line of [012] in ' "$TROUPE_WORK/steady.out")" = 3 ]; }
check "PKG-13" "a job stays" eventually 60 all_steady
job=$(sed -n 's/^line of 0 in //p' "$TROUPE_WORK/steady.out")
who_waits="in a fence: 2 of 3, waits for rank 2 on n3 for"
[ -n "$chromium" ] || skip "PKG-13" "the page in a browser" "chromium is not installed"
in_browser "PKG-13" "a browser shows three nodes, jobs, and whom a fence waits for" visible \
  "3 of 3 nodes live" "n1: live" "n2: live" "n3: live" "$job" "3 started" "$who_waits"
in_browser "PKG-13" "each process on its node" ranks "rank 0 of $job on n1: running" \
  "rank 1 of $job on n2: running" "rank 2 of $job on n3: running"
in_browser "PKG-13" "that all is well" visible "None: all is well."
in_browser "PKG-13" "a light picture of it" picture "$pictures/page-light.png" light "" \
  "3 of 3 nodes live" "$who_waits"
asking 20 troupe top --dvm cluster --once >"$pictures/top.txt"
check_match "PKG-13" "top prints the nodes" '^ *[0-9]+ +n3 +live ' "$(cat "$pictures/top.txt")"
check_match "PKG-13" "and the processes" "^$job +2 +n3 +[0-9]+ +running " \
  "$(cat "$pictures/top.txt")"
touch "$root/root/tests/enter"
check "PKG-13" "the fence is complete" eventually 30 ended "$fence"
wait "$fence"
check_equal "PKG-13" "and its job ends well" 0 "$?"

# -- a node fails ----------------------------------------------------------------

"$netlab" silence n3 all
check "PKG-13" "top shows a node that has fallen silent" eventually 30 top n3 lost
check "PKG-13" "the page does" eventually 10 on_page n3 lost
check "PKG-13" "and metrics" eventually 10 members 2 1
in_browser "PKG-13" "a browser shows which" visible "2 of 3 nodes live" "n1: live" "n2: live" \
  "n3: lost" "Lost: n3"
in_browser "PKG-13" "what was on it is lost, the others go on" ranks \
  "rank 0 of $job on n1: running" "rank 1 of $job on n2: running" "rank 2 of $job on n3: lost"
in_browser "PKG-13" "in words, too" visible "2 started, 1 lost" "$job: rank 2 lost"
in_browser "PKG-13" "a dark picture of it, with a process" picture "$pictures/page-dark.png" \
  dark "rank 0 of $job " "n3: lost" "$job: rank 2 lost" "line of 0 in $job" "Memory, MB"
by_prometheus "PKG-13" "a Prometheus raises an alert" 30 \
  'max(ALERTS{alertname="TroupeNodeLost", alertstate="firing", instance="n1:9466"})' 1
by_prometheus "PKG-13" "and one that names the node" 30 \
  'max(ALERTS{alertname="TroupeDaemonDown", alertstate="firing", instance="n3:9466"})' 1
touch "$root/root/tests/end"
check "PKG-13" "the job on the others ends when it is done" eventually 30 ended "$steady"
wait "$steady"
check "PKG-13" "others work" on_nodes n1 n2
"$netlab" heal n3 all
check "PKG-13" "its unit brings it back" eventually 120 top n3 live
check "PKG-13" "as the page shows" eventually 10 on_page n3 live
check "PKG-13" "and metrics" eventually 10 members 3 0
check "PKG-13" "jobs run there again" eventually 30 on_nodes n1 n2 n3
in_browser "PKG-13" "as a browser does" visible "3 of 3 nodes live" "n3: live"
by_prometheus "PKG-13" "and the alerts end" 60 \
  'count(ALERTS{alertname=~"TroupeNodeLost|TroupeDaemonDown", alertstate="firing"})' none
[ -z "$prometheus_pid" ] || kill -9 "$prometheus_pid" # stop looks for what runs.

# -- upgraded --------------------------------------------------------------------

check "PKG-13" "upgraded while it is up" step 600 install_nodes new
check "PKG-13" "settings of the site stay" grep -qx 'port = 9466' "$root/etc/troupe/troupe.toml"
check "PKG-13" "the DVM goes on" on_nodes n1 n2 n3
page=$(processes n1 troupe-page)
check "PKG-13" "the page is told to end" kill "$page"
check "PKG-13" "and does" eventually 10 ended "$page"
check "PKG-13" "so does the DVM" stop
start
check "PKG-13" "and starts again, as what is installed now" \
  eventually 60 grep -qx 'DVM ready' "$TROUPE_WORK/n1.out"
check "PKG-13" "jobs run" on_nodes n1 n2 n3

# -- removed ---------------------------------------------------------------------

check "PKG-13" "ended" stop
# left NODE: what is in its directories; a user's folder of sessions stays, empty. That in
# /run is its manager's to remove.
left() {
  on "$1" find "$root/tmp" "$root/dev/shm" -mindepth 1 ! -path "$root/tmp/stop" \
    ! -name "troupe-$(chroot "$root" id -u alice)"
}
for node in n1 n2 n3; do
  check_equal "PKG-13" "nothing is left on $node" "" "$(left "$node")"
done
end_lab
check "PKG-13" "removed, settings stay" step 300 remove_nodes
check "PKG-13" "the site removes what it has made" step 60 unconfigure
check "PKG-13" "purged, with what it needed" step 300 purge_nodes
nothing_but_before "PKG-13"
for node in n1 n2 n3; do sed "s/^/$node | /" "$TROUPE_WORK/$node.out"; done | tail -n 60
rm -rf "$root" "$TROUPE_WORK/data"
finish
