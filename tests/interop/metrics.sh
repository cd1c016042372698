# Metrics of a daemon: where they are told and to whom, what they say, what they cost;
# promtool and a real Prometheus read them; and the alert rules and the dashboard speak
# of what there is.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/interop/metrics_tools.sh"

port=$(free_port)
packaging=$TROUPE_SOURCE/packaging
page=$TROUPE_SOURCE/docs/metrics.md

# -- what is told ----------------------------------------------------------------

start_trouped --metrics "127.0.0.1:$port"
metrics() { fetch "http://127.0.0.1:$port/metrics" "$@"; }
check_match "OBS-1" "by default the format of Prometheus" \
  '^text/plain; version=0\.0\.4; charset=utf-8$' "$(metrics | head -n 1)"
check_match "OBS-1" "OpenMetrics for who asks for it" \
  '^application/openmetrics-text; version=1\.0\.0; charset=utf-8$' \
  "$(metrics 'application/openmetrics-text;version=1.0.0,*/*;q=0.1' | head -n 1)"
check_equal "OBS-1" "which has an end" "# EOF" \
  "$(metrics application/openmetrics-text | tail -n 1)"
sample() { metrics | sample_of "$@"; }
check_equal "OBS-1" "the release is told" 1 "$(sample 'troupe_build_info{version="[^"]*"}')"
check_equal "OBS-1" "no job yet" 0 "$(sample troupe_jobs_started_total)"
check_match "OBS-1" "a page that is none" ' 404 ' \
  "$(raw "$port" 'GET /secrets HTTP/1.1\r\n\r\n' | head -n 1)"

in_it() { within "$((60 * slow))" troupe run --dvm "pid:$trouped_pid" --oversubscribe "$@"; }
check "OBS-1" "a job that ends well" in_it -n 2 true
check "OBS-1" "and one that does not" status 1 in_it -n 1 false
jobs_are() { [ "$(sample troupe_jobs_ended_total)/$(sample troupe_jobs_failed_total)" = "$1" ]; }
check "OBS-1" "two jobs are over, of which one has failed" eventually 10 jobs_are 2/1
check_match "OBS-1" "its queues have bounds" '^[1-9][0-9]*$' \
  "$(sample 'troupe_queue_bound{queue="host.calls",unit="calls"}')"
check_match "OBS-1" "so does output that waits for its readers" '^[0-9]+ [1-9][0-9]*$' \
  "$(sample 'troupe_queue_fill{queue="streams.waiting",unit="bytes"}') $(
    sample 'troupe_queue_bound{queue="streams.waiting",unit="bytes"}')"
looked() { [ "$(sample troupe_loop_latency_seconds_count)" -ge 2 ]; }
check "OBS-1" "the loop is looked at" eventually 10 looked

# names FILE...: names of metrics in files, without what histograms add.
names() {
  grep -ohE '\b(troupe|process)_[a-z_]+' "$@" \
    | grep -E '_' | sed -E 's/^(troupe_loop_latency_seconds)_(bucket|count|sum)$/\1/' \
    | grep -vE '^troupe_alerts(_test)?$' | sort -u
}
families() { metrics | sed -n 's/^# TYPE \([a-z_]*\) .*/\1/p' | sort; }
check_equal "OBS-1" "docs/metrics.md has all that is told" "" \
  "$(comm -23 <(families) <(names "$page"))"
sources() {
  grep -ohE '"(troupe|process)_[a-z_]+"' "$TROUPE_SOURCE"/adapters/metrics/node_metrics.cpp \
    "$TROUPE_SOURCE"/adapters/metrics/gauge_metrics.def | tr -d '"' | sort -u
}
check_equal "OBS-1" "and nothing that is not" "" "$(comm -13 <(sources) <(names "$page"))"
check_equal "OBS-1" "nor has it less" "" "$(comm -23 <(sources) <(names "$page"))"
check_equal "OBS-5" "rules and dashboard speak of nothing else" "" \
  "$(comm -23 <(names "$packaging"/prometheus/*.yml "$packaging"/grafana/*.json) \
    <(names "$page"))"

# -- who asks ---------------------------------------------------------------------

check_match "OBS-3" "what cannot be read is refused" ' 400 ' \
  "$(raw "$port" 'what?\r\n\r\n' | head -n 1)"
check_match "OBS-3" "so is what is too long" ' 431 ' \
  "$(raw "$port" "GET / HTTP/1.1\\r\\nX: $(printf '%010000d' 0)" | head -n 1)"
check_match "OBS-3" "and whoever wants to write" ' 405 ' \
  "$(raw "$port" 'DELETE /metrics HTTP/1.1\r\n\r\n' | head -n 1)"
before=$(descriptors "$trouped_pid")
check "OBS-3" "hundreds who say nothing keep nobody out" \
  among_silent "$port" 300 'troupe_build_info'
few_more() { [ "$(descriptors "$trouped_pid")" -le "$((before + 20))" ]; }
check "OBS-3" "and have few descriptors" eventually 10 few_more
check "OBS-3" "noise does no harm" noise "$port" 500
# Ten times a second, and one at the begin and at the end.
few_answers() {
  local most
  most=$(without_end "$port" 2 8) && echo "$most answers in 2 s" \
    && [ "$most" -ge 1 ] && [ "$most" -le 22 ]
}
check "OBS-3" "who scrapes without end is answered now and then" few_answers
check_equal "OBS-3" "it is told as before" 2 "$(sample troupe_jobs_ended_total)"
only_here() { ss -tlnH "sport = :$port" | awk '{print $4}' | sort | xargs; }
check_equal "OBS-3" "nobody else can ask" "127.0.0.1:$port" "$(only_here)"

# -- what it costs ------------------------------------------------------------------

loads() { grep -q "$2" "/proc/$1/maps"; }
check "OBS-4" "what writes metrics is loaded by who tells them" \
  loads "$trouped_pid" libtroupe_metrics
check_equal "OBS-4" "and by nobody at the start" "" \
  "$(readelf -d "$TROUPE_BIN/troupe" "$TROUPE_BIN/trouped" | grep -i prometheus)"
check "OBS-3" "it ends as others do" stop_trouped

start_trouped
check "OBS-4" "one that tells none loads nothing" status 1 \
  loads "$trouped_pid" 'libtroupe_metrics\|libprometheus'
stop_trouped

# -- where they are told ---------------------------------------------------------

start_trouped --set metrics.port="$port"
check_match "OBS-1" "a port that is set is the node's own" \
  "^(127\.0\.0\.1:$port|127\.0\.0\.1:$port \[::1\]:$port)$" "$(only_here)"
stop_trouped
start_trouped --set metrics.port="$port" --set metrics.local=false
check_match "OBS-1" "or everybody's" "(0\.0\.0\.0|\*):$port" "$(only_here)"
check_match "OBS-1" "whose daemon cannot have a taken one, and goes on" \
  'metrics cannot be told: .*port' "$(
    within 20 trouped --set metrics.port="$port" --report-uri >other 2>other.log &
    eventually 10 grep -q tcp other && kill "$!"
    wait
    cat other.log)"
check_match "OBS-1" "if it was told to by name it does not start" \
  '^trouped: metrics cannot be told: .*port' \
  "$(within 20 trouped --metrics "127.0.0.1:$port" 2>&1 | tail -n 1)"
stop_trouped
start_trouped --set metrics.port="$port" --metrics off
check_equal "OBS-1" "off is nowhere" "" "$(only_here)"
stop_trouped
check_match "OBS-1" "what is no place is named, with what to write" \
  '"n1:9466" is no place for metrics; write ADDRESS:PORT' \
  "$(within 20 trouped --metrics n1:9466 2>&1)"
check_equal "OBS-4" "a job of its own tells none, whatever is set" "there" \
  "$(TROUPE_METRICS_PORT=$port job -n 1 sh -c "echo there; ss -tlnH 'sport = :$port'")"

# -- promtool and Prometheus -------------------------------------------------------

if ! command -v promtool >/dev/null; then
  skip "OBS-1 OBS-5" "promtool and Prometheus" "there is no promtool; scripts/setup"
  clean "OBS-1" "nothing is left"
  finish
fi
check "OBS-5" "promtool: the rules are right" \
  promtool check rules "$packaging/prometheus/troupe_alerts.yml"
check "OBS-5" "promtool: each rule fires when it should and only then" \
  promtool test rules "$packaging/prometheus/troupe_alerts_test.yml"
check_equal "OBS-5" "no rule is without a test" \
  "$(sed -n 's/^ *- alert: //p' "$packaging/prometheus/troupe_alerts.yml" | sort)" \
  "$(sed -n 's/^ *- alertname: //p' "$packaging/prometheus/troupe_alerts_test.yml" | sort -u)"
check "OBS-5" "promtool: so is the configuration" \
  promtool check config "$packaging/prometheus/prometheus.yml"
check "OBS-5" "the dashboard is JSON with queries in its panels" /usr/bin/python3 -c '
import json, sys
panels = json.load(open(sys.argv[1]))["panels"]
queries = [t["expr"] for x in panels for t in x.get("targets", [])]
assert len(queries) >= 30, len(queries)
assert len({x["id"] for x in panels}) == len(panels)
places = [x["gridPos"] for x in panels]
assert all(p["x"] + p["w"] <= 24 for p in places)
for i, p in enumerate(places):
    for q in places[:i]:
        assert p["y"] >= q["y"] + q["h"] or q["y"] >= p["y"] + p["h"] \
            or p["x"] >= q["x"] + q["w"] or q["x"] >= p["x"] + p["w"], (p, q)
' "$packaging/grafana/troupe.json"

start_trouped --metrics "127.0.0.1:$port"
clean_metrics() {
  metrics | tail -n +2 >told && grep -q '^troupe_build_info' told || return
  promtool check metrics <told
}
check "OBS-1" "promtool: there is nothing to complain of" clean_metrics
check_equal "OBS-1" "not even a hint" "" "$(cat "$TROUPE_WORK/output")"
in_it -n 2 true >/dev/null 2>&1

web=$(free_port)
cat >prometheus.yml <<END
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: ["$packaging/prometheus/troupe_alerts.yml"]
scrape_configs:
  - job_name: troupe
    static_configs: [{targets: ["127.0.0.1:$port"]}]
END
prometheus --config.file=prometheus.yml --storage.tsdb.path=data \
  --web.listen-address="127.0.0.1:$web" --log.level=error >prometheus.log 2>&1 &
prometheus_pid=$!
# asked QUERY: its value, as Prometheus says.
asked() { query "http://127.0.0.1:$web" "$1"; }
is_up() { [ "$(asked 'up{job="troupe"}')" = 1 ]; }
check "OBS-1" "a Prometheus scrapes it" eventually 60 is_up
check_equal "OBS-1" "and reads what promtool has read" "$(families | wc -l)" \
  "$(asked 'count(count by (__name__) ({job="troupe", __name__!~"up|ALERTS.*|scrape_.*|.*_(count|sum)"}))')"
check_match "OBS-1" "all of it" '^[1-9][0-9]+$' \
  "$(asked 'scrape_samples_scraped{job="troupe"} > 50')"
check_equal "OBS-1" "jobs" 1 "$(asked troupe_jobs_ended_total)"
ok_rules() {
  [ "$(rules "http://127.0.0.1:$web" | sort | uniq -c | awk '{print $1, $2}')" \
    = "$(grep -c ' - alert: ' "$packaging/prometheus/troupe_alerts.yml") ok" ]
}
check "OBS-5" "it evaluates all rules" eventually 30 ok_rules
kill -9 "$trouped_pid"
wait "$trouped_pid" 2>/dev/null
is_down() { [ "$(asked 'up{job="troupe"}')" = 0 ]; }
check "OBS-5" "and notices that the daemon is gone" eventually 20 is_down
kill "$prometheus_pid"
wait "$prometheus_pid" 2>/dev/null
rm -rf data
finish
