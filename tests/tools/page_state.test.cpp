// What the page shows of what a DVM answers.

#include "tools/page_state.hpp"

#include "base/make_info.hpp"
#include "messages/attributes.hpp"
#include "tests/test.hpp"

#include <nlohmann/json.hpp>

using namespace troupe;

namespace {

using nlohmann::json;

const auto one_job = json::parse(R"([
  {"nspace": "d@1", "state": "running", "cmd": "app", "procs": 3, "nodes": 2}])");

json process(uint32_t rank, const std::string& state, bool connected = false) {
  return {{"nspace", "d@1"},    {"rank", rank},
          {"node", rank % 2},   {"host", rank % 2 == 0 ? "a" : "b"},
          {"pid", 100u + rank}, {"cpus", ""},
          {"state", state},     {"connected", connected},
          {"exit", 0u},         {"cmd", "app"}};
}

json three(const std::string& last = "running") {
  return json::array(
    {process(0, "starting"), process(1, "running", true), process(2, last)});
}

event event_about(status code, proc_id whose, const std::string& text = {},
                  int32_t exit_code = 0) {
  auto result = event{};
  result.code = code;
  result.source = {"", rank_undef};
  result.infos = {
    make_info(attr::event_affected_proc, value::of_proc(std::move(whose))),
    make_info(attr::exit_code, value::integer(exit_code))};
  if (!text.empty())
    result.infos.push_back(
      make_info(attr::event_text_message, value::string(text)));
  return result;
}

std::string at(const page_state& x, const char* part, const char* name,
               const char* key) {
  const auto* found = x.item(part, name);
  if (found == nullptr)
    return "no item";
  const auto i = found->find(key);
  if (i == found->end())
    return "no member";
  return i->is_string() ? i->get<std::string>() : i->dump();
}

std::string state_of(const page_state& x, const char* rank) {
  return at(x, "ranks", rank, "state");
}

json wait(uint64_t age_ms, json missing, uint64_t others = 0) {
  return json::array({{{"kind", "fence"},
                       {"job", "d@1"},
                       {"id", "fence:d@1#3"},
                       {"participants", json::array({"d@1:*"})},
                       {"size", 3u},
                       {"joined", 2u},
                       {"missing", std::move(missing)},
                       {"others", others},
                       {"unknown", 0u},
                       {"age_ms", age_ms},
                       {"at_least", false}}});
}

} // namespace

CAF_TEST(PAGE-1 only what has changed is told) {
  auto x = page_state{};
  CAF_CHECK(x.take_change().empty());
  const auto nodes = json::parse(R"([
    {"rank": 0, "name": "a", "state": "live", "slots": 4, "procs": 2},
    {"rank": 1, "name": "b", "state": "live", "slots": 4, "procs": 1}])");
  x.take_nodes(nodes);
  auto change = x.take_change();
  CAF_CHECK_EQUAL(change.at("nodes").size(), 2u);
  CAF_CHECK_EQUAL(change, x.whole());
  x.take_nodes(nodes);
  CAF_CHECK(x.take_change().empty());
  auto fewer = nodes;
  fewer.erase(0);
  fewer[0]["state"] = "lost";
  x.take_nodes(fewer);
  change = x.take_change();
  CAF_CHECK_EQUAL(change.size(), 1u);
  CAF_CHECK(change.at("nodes").at("0").is_null());
  CAF_CHECK_EQUAL(change.at("nodes").at("1").at("state").dump(), "\"lost\"");
  CAF_CHECK_EQUAL(x.whole().at("nodes").size(), 1u);
}

CAF_TEST(PAGE-1 jobs count how far their processes are) {
  auto x = page_state{};
  x.take_jobs(one_job, three(), 1000);
  CAF_CHECK_EQUAL(state_of(x, "d@1:0"), "starting");
  CAF_CHECK_EQUAL(state_of(x, "d@1:1"), "connected");
  CAF_CHECK_EQUAL(state_of(x, "d@1:2"), "running");
  CAF_CHECK_EQUAL(at(x, "ranks", "d@1:1", "host"), "b");
  CAF_CHECK_EQUAL(at(x, "jobs", "d@1", "counts"),
                  R"({"connected":1,"ended":0,"failed":0,"lost":0,)"
                  R"("running":1,"starting":1})");
}

CAF_TEST(PAGE-2 the end of a process is shown by its event and stays) {
  auto x = page_state{};
  x.take_jobs(one_job, three(), 1000);
  x.take_change();
  x.take_event(event_about(status::proc_aborted_by_sig, {"d@1", 2},
                           "killed by signal 9", 137),
               1100);
  CAF_CHECK_EQUAL(state_of(x, "d@1:2"), "failed");
  CAF_CHECK_EQUAL(at(x, "ranks", "d@1:2", "exit"), "137");
  CAF_CHECK_EQUAL(at(x, "ranks", "d@1:2", "words"), "killed by signal 9");
  // An answer that was on its way.
  x.take_jobs(one_job, three(), 1200);
  CAF_CHECK_EQUAL(state_of(x, "d@1:2"), "failed");
  x.take_jobs(one_job, three("failed"), 1300);
  CAF_CHECK_EQUAL(state_of(x, "d@1:2"), "failed");
  CAF_CHECK_EQUAL(at(x, "ranks", "d@1:2", "words"), "killed by signal 9");
  // Another life in its place.
  auto again = three();
  again[2]["pid"] = 500u;
  x.take_jobs(one_job, again, 1400);
  CAF_CHECK_EQUAL(state_of(x, "d@1:2"), "running");
  CAF_CHECK_EQUAL(at(x, "ranks", "d@1:2", "words"), "no member");
}

CAF_TEST(PAGE-2 a process that fails is shown without its event as well) {
  auto x = page_state{};
  x.take_jobs(one_job, three(), 1000);
  x.take_jobs(one_job, three("failed"), 1200);
  CAF_CHECK_EQUAL(state_of(x, "d@1:2"), "failed");
}

CAF_TEST(PAGE-1 a job that is over stays with the end of its processes) {
  auto x = page_state{};
  x.take_jobs(one_job, three(), 1000);
  x.take_event(event_about(status::proc_aborted, {"d@1", 2}), 1100);
  x.take_event(
    event_about(status::job_end, {"d@1", rank_wildcard}, "rank 2 failed", 7),
    1200);
  CAF_CHECK_EQUAL(at(x, "jobs", "d@1", "state"), "over");
  CAF_CHECK_EQUAL(at(x, "jobs", "d@1", "ended"), "1200");
  CAF_CHECK_EQUAL(at(x, "jobs", "d@1", "exit"), "7");
  CAF_CHECK_EQUAL(at(x, "jobs", "d@1", "reason"), "rank 2 failed");
  CAF_CHECK_EQUAL(state_of(x, "d@1:1"), "ended");
  CAF_CHECK_EQUAL(state_of(x, "d@1:2"), "failed");
  // An answer that was on its way, and the next ones.
  x.take_jobs(one_job, three(), 1300);
  x.take_jobs(json::array(), json::array(), 1400);
  CAF_CHECK_EQUAL(at(x, "jobs", "d@1", "state"), "over");
  CAF_CHECK_EQUAL(at(x, "jobs", "d@1", "ended"), "1200");
  CAF_CHECK_EQUAL(state_of(x, "d@1:2"), "failed");
}

CAF_TEST(PAGE-5 of the jobs that are over the last are kept) {
  auto x = page_state{};
  const auto most = defaults::page_jobs_over;
  for (size_t i = 0; i <= most; ++i) {
    auto jobs = one_job;
    auto procs = json::array({process(0, "running")});
    jobs[0]["nspace"] = procs[0]["nspace"] = "d@" + std::to_string(i);
    x.take_jobs(jobs, procs, 1000);
  }
  x.take_jobs(json::array(), json::array(), 2000);
  CAF_CHECK_EQUAL(x.whole().at("jobs").size(), most);
  CAF_CHECK_EQUAL(x.whole().at("ranks").size(), most);
  CAF_CHECK(x.item("jobs", "d@0") == nullptr);
  CAF_CHECK(x.item("ranks", "d@0:0") == nullptr);
}

CAF_TEST(PAGE-5 of very many processes some are left out and counted) {
  auto x = page_state{};
  auto procs = json::array();
  for (uint32_t i = 0; i < defaults::page_ranks + 5; ++i)
    procs.push_back(process(i, "running"));
  x.take_jobs(one_job, procs, 1000);
  CAF_CHECK_EQUAL(x.whole().at("ranks").size(), defaults::page_ranks);
  CAF_CHECK_EQUAL(at(x, "dvm", "dvm", "left_out"), "5");
  x.take_dvm({{"name", "dvm"}});
  CAF_CHECK_EQUAL(at(x, "dvm", "dvm", "left_out"), "5");
}

CAF_TEST(PAGE-1 a connection is as bad as the worse of its ends says) {
  auto x = page_state{};
  auto nodes = json::parse(R"([
    {"rank": 0, "name": "a", "duty": "active", "epoch": 2, "gauges": [
       {"name": "host.collectives", "value": 3, "unit": "calls"},
       {"name": "host.calls", "value": 95, "unit": "calls", "bound": 100},
       {"name": "root.jobs", "value": 2, "unit": "jobs", "bound": 100}],
     "peers": [{"rank": 1, "name": "b", "connected": true, "resent": 1,
       "waiting_bytes": 10, "lanes": [
         {"network": "net0", "usable": true, "round_trip_ns": 120000},
         {"network": "net1", "usable": true, "round_trip_ns": 300000}]}]},
    {"rank": 1, "name": "b", "duty": "active", "epoch": 2, "gauges": [],
     "peers": [{"rank": 0, "name": "a", "connected": true, "resent": 0,
       "waiting_bytes": 5, "lanes": [
         {"network": "net0", "usable": true, "round_trip_ns": 150000},
         {"network": "net1", "usable": true, "round_trip_ns": 200000}]}]},
    {"rank": 2, "trouble": "it does not answer"}])");
  const auto state = [&] { return at(x, "links", "0-1", "state"); };
  x.take_networks(nodes);
  CAF_CHECK_EQUAL(state(), "well");
  CAF_CHECK_EQUAL(at(x, "links", "0-1", "waiting"), "15");
  CAF_CHECK_EQUAL(at(x, "links", "0-1", "networks"),
                  R"([{"name":"net0","round_trip_us":150,"usable":true},)"
                  R"({"name":"net1","round_trip_us":300,"usable":true}])");
  CAF_CHECK_EQUAL(at(x, "duties", "0", "collectives"), "3");
  CAF_CHECK_EQUAL(at(x, "duties", "0", "full"),
                  R"([{"bound":100,"name":"host.calls","unit":"calls",)"
                  R"("value":95}])");
  CAF_CHECK_EQUAL(at(x, "duties", "2", "trouble"), "it does not answer");
  auto again = nodes;
  again[0]["peers"][0]["resent"] = 2u;
  x.take_networks(again);
  CAF_CHECK_EQUAL(state(), "failing");
  x.take_networks(again);
  CAF_CHECK_EQUAL(state(), "well");
  again[1]["peers"][0]["lanes"][1]["usable"] = false;
  x.take_networks(again);
  CAF_CHECK_EQUAL(state(), "failing");
  again[1]["peers"][0]["lanes"][0]["usable"] = false;
  x.take_networks(again);
  CAF_CHECK_EQUAL(state(), "down");
  again.erase(1);
  again[0]["peers"][0]["connected"] = false;
  x.take_networks(again);
  CAF_CHECK_EQUAL(state(), "down");
}

CAF_TEST(PAGE-1 a network that two nodes had and have no more fails) {
  auto x = page_state{};
  const auto state = [&] { return at(x, "links", "0-1", "state"); };
  const auto both = json::parse(R"([
    {"rank": 0, "name": "a", "peers": [{"rank": 1, "name": "b",
      "connected": true, "lanes": [
        {"network": "net0", "usable": true, "round_trip_ns": 1000},
        {"network": "net1", "usable": true, "round_trip_ns": 1000},
        {"network": "relay", "usable": true, "round_trip_ns": 1000}]}]}])");
  x.take_networks(both);
  CAF_CHECK_EQUAL(state(), "well");
  auto fewer = both;
  auto& peer = fewer[0]["peers"][0];
  peer["lanes"].erase(1);
  x.take_networks(fewer);
  CAF_CHECK_EQUAL(state(), "failing");
  // A way through others may go: it is for those that have no other.
  peer["lanes"].erase(1);
  x.take_networks(fewer);
  CAF_CHECK_EQUAL(state(), "failing");
  CAF_CHECK_EQUAL(at(x, "links", "0-1", "networks"),
                  R"([{"name":"net0","round_trip_us":1,"usable":true},)"
                  R"({"name":"net1","round_trip_us":0,"usable":false}])");
  x.take_networks(both);
  CAF_CHECK_EQUAL(state(), "well");
  x.take_networks(fewer);
  CAF_CHECK_EQUAL(state(), "failing");
  // Whoever comes back may have other networks.
  peer["connected"] = false;
  x.take_networks(fewer);
  CAF_CHECK_EQUAL(state(), "down");
  peer["connected"] = true;
  x.take_networks(fewer);
  CAF_CHECK_EQUAL(state(), "well");
}

CAF_TEST(PAGE-1 groups say who waits for whom) {
  auto x = page_state{};
  x.take_groups(json::parse(R"([
    {"id": "g", "participants": 1, "generation": 2, "phase": "constructing",
     "members": ["d@1:0", "d@1:1"], "leaders": [], "missing": ["d@1:1"],
     "entries": 3}])"));
  CAF_CHECK_EQUAL(at(x, "groups", "g/1/2", "missing"), R"(["d@1:1"])");
  CAF_CHECK_EQUAL(at(x, "groups", "g/1/2", "size"), "2");
  CAF_CHECK_EQUAL(at(x, "groups", "g/1/2", "phase"), "constructing");
  x.take_groups(json::array());
  CAF_CHECK(x.item("groups", "g/1/2") == nullptr);
}

CAF_TEST(PAGE-1 streams have rates) {
  auto x = page_state{};
  auto list = json::parse(R"([
    {"nspace": "d@1", "rank": 0, "stream": "stdout", "begin": 0, "end": 1000,
     "over": false, "sinks": [
       {"name": "tool", "policy": "drop_oldest", "taken": 900, "missed": 40}]},
    {"nspace": "d@1", "rank": 1, "stream": "stderr", "begin": 0, "end": 5,
     "over": true, "sinks": []}])");
  x.take_streams(list, 1000);
  CAF_CHECK_EQUAL(at(x, "streams", "d@1:0/stdout", "rate"), "0");
  list[0]["end"] = 6000u;
  x.take_streams(list, 3000);
  CAF_CHECK_EQUAL(at(x, "streams", "d@1:0/stdout", "rate"), "2500");
  CAF_CHECK_EQUAL(at(x, "streams", "d@1:0/stdout", "missed"), "40");
  CAF_CHECK_EQUAL(at(x, "streams", "d@1:0/stdout", "sinks"),
                  R"(["tool: drop_oldest"])");
  CAF_CHECK_EQUAL(
    x.item("flows", "d@1")->dump(),
    R"({"missed":40,"open":1,"rate":2500,"streams":2,"written":6005})");
  auto many = json::array();
  for (auto i = 0U; i < 2 * defaults::page_streams; ++i) {
    many.push_back(list[0]);
    many.back()["rank"] = i;
    many.back()["end"] = i;
  }
  x.take_streams(many, 4000);
  CAF_CHECK_EQUAL(x.whole().at("streams").size(), defaults::page_streams);
  CAF_CHECK_EQUAL(at(x, "flows", "d@1", "streams"),
                  std::to_string(2 * defaults::page_streams));
}

CAF_TEST(PAGE-1 monitors have short names) {
  auto x = page_state{};
  x.take_monitors(json::parse(R"([
    {"troupe.monitor.number": 4, "pmix.procid": "d@1:0", "pmix.hname": "a",
     "troupe.monitor.kind": "cpu_progress", "troupe.monitor.silent": true,
     "troupe.monitor.reason": "no CPU time for 20 s"}])"));
  CAF_CHECK_EQUAL(x.item("monitors", "a/4")->dump(),
                  R"({"kind":"cpu_progress","node":"a","process":"d@1:0",)"
                  R"("reason":"no CPU time for 20 s","silent":true})");
}

CAF_TEST(PAGE-1 C11.10 updates on resources are monitors) {
  auto x = page_state{};
  x.take_monitors(json::parse(R"([
    {"troupe.monitor.number": 5, "pmix.procid": "d@1:0", "pmix.hname": "a",
     "troupe.monitor.kind": "disk_resource_usage",
     "troupe.monitor.silent": false, "troupe.monitor.requestor": "d@1:0", "troupe.monitor.target": "disk sda",
     "troupe.monitor.interval": 30}])"));
  CAF_CHECK_EQUAL(x.item("monitors", "a/5")->dump(),
                  R"({"every":30,"kind":"disk_resource_usage","node":"a",)"
                  R"("process":"d@1:0","requestor":"d@1:0","silent":false,)"
                  R"("target":"disk sda"})");
}

CAF_TEST(PAGE-1 the load of a process is its time since the last sample) {
  auto x = page_state{};
  x.take_jobs(one_job, three(), 1000);
  const auto sample = [](int64_t seconds, int64_t microseconds) {
    return std::vector<info>{make_info(
      attr::proc_resource_usage,
      value::infos(
        {make_info(attr::procid, value::of_proc({"d@1", 1})),
         make_info(attr::hostname, value::string("b")),
         make_info(attr::proc_time,
                   {data_type::timeval, timeval_value{seconds, microseconds}}),
         make_info(attr::proc_rss, {data_type::float_, 12.7})}))};
  };
  x.take_usage(sample(10, 0), 1000);
  CAF_CHECK_EQUAL(at(x, "use", "d@1:1", "load"), "0");
  CAF_CHECK_EQUAL(at(x, "use", "d@1:1", "memory_mb"), "12");
  x.take_usage(sample(11, 500'000), 3000);
  CAF_CHECK_EQUAL(at(x, "use", "d@1:1", "load"), "75");
  x.take_usage(
    {make_info(
      attr::node_resource_usage,
      value::infos(
        {make_info(attr::hostname, value::string("b")),
         make_info(attr::node_load_avg, {data_type::float_, 1.5}),
         make_info(attr::node_mem_free, {data_type::float_, 2048.0})}))},
    3000);
  CAF_CHECK_EQUAL(at(x, "node_use", "b", "load"), "1.5");
  CAF_CHECK_EQUAL(at(x, "node_use", "b", "free_mb"), "2048");
  CAF_CHECK_EQUAL(at(x, "use", "d@1:1", "load"), "75");
}

CAF_TEST(PAGE-1 events are a timeline that does not grow) {
  auto x = page_state{};
  x.take_event(event_about(status::proc_aborted_by_sig, {"d@1", 2}, "killed"),
               1000);
  CAF_CHECK_EQUAL(at(x, "events", "1", "name"), "PMIX_ERR_PROC_ABORTED_BY_SIG");
  CAF_CHECK_EQUAL(at(x, "events", "1", "alarm"), "true");
  CAF_CHECK_EQUAL(at(x, "events", "1", "about"), R"(["d@1:2"])");
  CAF_CHECK_EQUAL(at(x, "events", "1", "words"), "killed");
  CAF_CHECK_EQUAL(at(x, "events", "1", "source"), "the resource manager");
  x.take_event(event_about(status::event_proc_terminated, {"d@1", 3},
                           std::string(10'000, 'x')),
               1001);
  CAF_CHECK_EQUAL(at(x, "events", "2", "alarm"), "false");
  CAF_CHECK(at(x, "events", "2", "words").size()
            < defaults::page_event_bytes + 10);
  for (size_t i = 0; i < defaults::page_events; ++i)
    x.take_event(event_about(status::job_start, {"d@2", rank_wildcard}), 1002);
  CAF_CHECK_EQUAL(x.whole().at("events").size(), defaults::page_events);
  CAF_CHECK(x.item("events", "2") == nullptr);
}

CAF_TEST(PAGE-5 answers that are none change nothing) {
  auto x = page_state{};
  for (
    const auto* text :
    {"null", "1", "\"x\"", "{}", "[]", "[1, null, \"x\"]", "[{}]",
     R"([{"rank": "x", "nspace": 3, "peers": 1, "sinks": {}}])",
     R"([{"nspace": "", "peers": [{"lanes": 3}], "gauges": [{"value": -1}]}])"}) {
    const auto y = json::parse(text);
    x.take_dvm(y);
    x.take_nodes(y);
    x.take_jobs(y, y, 1000);
    x.take_jobs(one_job, y, 1000);
    x.take_networks(y);
    x.take_groups(y);
    x.take_streams(y, 1000);
    x.take_monitors(y);
  }
  x.take_usage({make_info("x", {}), make_info(attr::proc_resource_usage, {}),
                make_info(attr::node_resource_usage, value::infos({}))},
               1000);
  x.take_event(event{}, 1000);
  CAF_CHECK(x.item("ranks", "d@1:0") == nullptr);
}

CAF_TEST(PAGE-5 text that is not UTF-8 becomes JSON all the same) {
  const auto text = json_text({{"x", "a\xff"
                                     "b"}});
  CAF_CHECK(json::accept(text));
  CAF_CHECK_EQUAL(text.find('\n'), std::string::npos);
}

CAF_TEST(PAGE-10 a fence shows who is waited for and since when) {
  auto uut = page_state{};
  const auto missing =
    json::array({{{"proc", "d@1:2"}, {"host", "b"}, {"more", "not shown"}}});
  uut.take_waits(wait(2000, missing), 10'000);
  const auto* x = uut.item("waits", "fence:d@1#3");
  CAF_REQUIRE(x != nullptr);
  CAF_CHECK_EQUAL((*x)["joined"], json(2u));
  CAF_CHECK_EQUAL((*x)["size"], json(3u));
  CAF_CHECK_EQUAL((*x)["participants"], json::array({"d@1:*"}));
  CAF_CHECK_EQUAL((*x)["missing"],
                  json::array({{{"proc", "d@1:2"}, {"host", "b"}}}));
  CAF_CHECK_EQUAL((*x)["began"], json(8000));
  uut.take_change();
  // The same, and an answer that took a little longer: nothing is new.
  uut.take_waits(wait(3050, missing), 11'000);
  CAF_CHECK(uut.take_change().empty());
  uut.take_waits(json::array(), 12'000);
  CAF_CHECK(uut.take_change()["waits"]["fence:d@1#3"].is_null());
}

CAF_TEST(PAGE-10 fences that are over soon are not shown) {
  auto uut = page_state{};
  uut.take_waits(wait(defaults::page_wait_least - 1, json::array()), 10'000);
  CAF_CHECK(uut.take_change().empty());
  uut.take_waits(json("no list"), 10'000);
  uut.take_waits(json::array({"x", json::object()}), 10'000);
  CAF_CHECK(uut.take_change().empty());
}
