# A real Prometheus watches a DVM of three nodes: it knows who is there, over which
# networks, and is told of what fails.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/interop/metrics_tools.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "OBS-1 OBS-5"
command -v prometheus >/dev/null || {
  skip "OBS-1 OBS-5" "a Prometheus" "there is no prometheus; scripts/setup"
  finish
}
lab 3 3
# Prometheus asks over the third network, which does not fail.
need_dvm n1:2,n2:2,n3:2 --networks net1,net2 --metrics :9466

sed 's/^\( *for: \).*/\11s/' "$TROUPE_SOURCE/packaging/prometheus/troupe_alerts.yml" \
  >"$TROUPE_WORK/alerts.yml"
cat >"$TROUPE_WORK/prometheus.yml" <<END
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: ["$TROUPE_WORK/alerts.yml"]
scrape_configs:
  - job_name: troupe
    static_configs: [{targets: ["10.203.0.1:9466", "10.203.0.2:9466", "10.203.0.3:9466"]}]
END
background n1 prometheus --config.file="$TROUPE_WORK/prometheus.yml" \
  --storage.tsdb.path="$TROUPE_WORK/data" --web.listen-address=127.0.0.1:9090 \
  --log.level=error >"$TROUPE_WORK/prometheus.log" 2>&1
prometheus_pid=$background_pid

# asked QUERY: the value of the first series, as Prometheus on n1 says.
asked() {
  # shellcheck disable=SC2016
  within 20 "$netlab" exec n1 bash -c "$(declare -f within query)"'
    query http://127.0.0.1:9090 "$1"' - "$1"
}
# says QUERY VALUE: whether it says so.
says() { [ "$(asked "$1")" = "$2" ]; }

check "OBS-1" "it scrapes all three daemons" eventually 60 says 'sum(up{job="troupe"})' 3
check_equal "OBS-1" "each says which node it is" "3" \
  "$(asked 'count(count by (node, rank) (troupe_node_info{dvm="lab"}))')"
check "OBS-1" "three members are live" eventually 10 says 'max(troupe_members{state="live"})' 3
check "OBS-1" "each network has lanes that may be used" \
  eventually 10 says 'count(count by (network) (troupe_lanes_usable{instance="10.203.0.1:9466"} > 0))' 2
check "OBS-1" "with round trips" \
  eventually 10 says 'count(troupe_lane_round_trip_seconds{instance="10.203.0.1:9466"} > 0) >= bool 4' 1
check "OBS-1" "a job on all nodes" mesh_job -n 6 true
check "OBS-1" "is counted at the root" eventually 10 says 'sum(troupe_jobs_ended_total)' 1
clean_everywhere() {
  local node
  for node in n1 n2 n3; do
    # shellcheck disable=SC2016
    "$netlab" exec "$node" bash -c "$(declare -f within fetch)"'
      text=$(fetch http://127.0.0.1:9466/metrics)
      grep -q "^troupe_build_info" <<<"$text" \
        && tail -n +2 <<<"$text" | promtool check metrics' || return
  done
}
check "OBS-1" "promtool has nothing to complain of on any node" clean_everywhere
# Of nodes and networks: what the noise of a busy machine may be is another matter.
quiet() {
  says 'count(ALERTS{alertstate="firing", alertname=~"Troupe(Daemon|Root|Node|Peer|Network).*"})' none
}
check "OBS-5" "no alert fires" eventually 10 quiet

# -- a network -----------------------------------------------------------------

"$netlab" unplug n2 2
check "OBS-5" "a network of a node that is gone is an alert" eventually 30 says \
  'max(ALERTS{alertname="TroupeNetworkDown", alertstate="firing", instance="10.203.0.1:9466", peer="n2", network="net2"})' 1
"$netlab" heal n2 2
check "OBS-5" "which ends with its cause" eventually 60 quiet

# Traffic rides one of the two: to fail over, it has to be the one that goes.
usable="troupe_lanes_usable{instance=\"10.203.0.1:9466\", peer=\"n3\", network!=\"relay\"} > 0"
"$netlab" unplug n3 1
check "OBS-1" "a lane that is lost is no longer counted" eventually 30 says "count($usable)" 1
"$netlab" heal n3 1
check "OBS-1" "until it is there again" eventually 60 says "count($usable)" 2
# It may have gone to the other one meanwhile, as the quicker of the two.
fails_over() {
  local network
  for network in 2 1 2 1; do
    "$netlab" unplug n3 "$network"
    eventually 30 says "count($usable)" 1 || return
    if eventually 5 says \
      'max(troupe_peer_failovers_total{instance="10.203.0.1:9466", peer="n3"}) >= bool 1' 1; then
      "$netlab" heal n3 "$network"
      return
    fi
    "$netlab" heal n3 "$network"
    eventually 60 says "count($usable)" 2 || return
  done
  return 1
}
check "OBS-1" "traffic that leaves a network is counted" fails_over
check "OBS-5" "and all is well again" eventually 60 quiet

# -- a node --------------------------------------------------------------------

kill -9 "$(daemon n3)"
check "OBS-5" "a daemon that is killed is an alert" eventually 30 says \
  'max(ALERTS{alertname="TroupeDaemonDown", alertstate="firing", instance="10.203.0.3:9466"})' 1
check "OBS-5" "and so is the node that the root has lost" eventually 60 says \
  'max(ALERTS{alertname="TroupeNodeLost", alertstate="firing", instance="10.203.0.1:9466"})' 1
check "OBS-1" "which it tells" eventually 10 says \
  'max(troupe_members{instance="10.203.0.1:9466", state="lost"})' 1

check "OBS-1" "down" dvm_down
kill -9 "$prometheus_pid" 2>/dev/null
rm -rf "$TROUPE_WORK/data"
finish
