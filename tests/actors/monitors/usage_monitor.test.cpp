// The use of resources, from the request of a process to the answer and to the
// updates.

#include "actors/monitors/usage_monitor.hpp"

#include "actors/monitors/defaults.hpp"
#include "actors/monitors/usage_request.hpp"
#include "messages/attributes.hpp"
#include "messages/custom_monitor.hpp"
#include "messages/monitor.hpp"
#include "tests/fixtures/node.hpp"
#include "tests/test.hpp"

#include <algorithm>
#include <map>

using namespace troupe;
using namespace troupe::fixtures;
using namespace std::chrono_literals;

namespace {

using infos = std::vector<info>;

info make(std::string_view key, value x = {}) {
  return {std::string{key}, 0, std::move(x)};
}

value names(const std::vector<std::string>& xs) {
  auto elements = std::vector<value>{};
  for (const auto& x : xs)
    elements.push_back(value::string(x));
  return value::array(data_type::string, std::move(elements));
}

monitor_request of(std::string_view key, infos fields = {},
                   infos directives = {}, status code = status::success) {
  return {make(key, value::infos(std::move(fields))), code,
          std::move(directives)};
}

constexpr auto of_procs = attr::monitor_proc_resource_usage;

/// Fewer than two processes may have by default.
constexpr size_t most_updates = defaults::usage_monitors_per_client + 2;

/// Two processes of a job run here, another one elsewhere.
struct fixture : deterministic {
  std::shared_ptr<usage_script> play = std::make_shared<usage_script>();
  usage_actor means = spawn_usage(sys, play);
  usage_monitor_actor uut;
  node here{*this, [this](monitor_desk_options& x) {
              auto options = usage_monitor_options{};
              options.server = {"server", 0};
              options.hostname = "n0";
              options.node_id = 3;
              options.owner = {our_uid, 0};
              options.usage = means;
              options.host = x.host;
              uut = spawn_usage_monitor(sys, std::move(options));
              x.server = {"server", 0};
              x.hostname = "n0";
              x.owner = {our_uid, our_uid};
              x.limits.updates = most_updates;
              x.usage = uut;
              x.is_enabled = true;
            }};
  peer_ptr first;
  peer_ptr second;

  fixture() {
    here.add_job("job", 3);
    consume_messages();
    first = connect(0);
    second = connect(1);
    table({{"job", 0}, {"job", 1}});
    play->answer = [](const sample_usage& x) { return sample(x); };
  }

  ~fixture() override {
    end(uut);
    end(means);
  }

  peer_ptr connect(uint32_t rank) {
    auto result = here.connect("job", rank);
    consume_messages();
    here.ask<ack>(
      result, register_events_request{
                {status::monitor_resusage_update, status::proc_aborted}, {}});
    consume_messages();
    return result;
  }

  /// What the host says runs here: process number 100 + rank.
  void table(const std::vector<proc_id>& procs) {
    auto elements = std::vector<value>{};
    for (const auto& x : procs) {
      auto proc = proc_info{};
      proc.proc = x;
      proc.pid = 100 + x.rank;
      proc.state = static_cast<uint8_t>(proc_state::connected);
      elements.push_back({data_type::proc_info, box<proc_info>{proc}});
    }
    here.host_play->query.infos = {
      make(attr::query_local_proc_table,
           value::array(data_type::proc_info, std::move(elements))),
      make(attr::query_namespaces, value::string("job,other"))};
  }

  static usage_samples sample(const sample_usage& x) {
    auto result = usage_samples{};
    result.taken = 1700000000;
    for (const auto pid : x.pids) {
      auto proc = proc_stats{};
      proc.pid = pid;
      proc.cmd = "prog";
      proc.state = 'R';
      proc.time = {2, 500000};
      proc.rss = 12.5;
      proc.pss = x.pss ? 6.25 : 0;
      proc.num_threads = 4;
      result.procs.push_back(proc);
    }
    if (x.node) {
      result.node = node_stats{};
      result.node->load_average = 1.5;
    }
    if (x.disks) {
      result.disks.emplace_back();
      result.disks[0].disk = "sda";
      result.disks[0].num_reads_completed = 11;
    }
    if (x.nets) {
      result.nets.emplace_back();
      result.nets[0].interface_name = "eth0";
      result.nets[0].num_bytes_sent = 12;
    }
    return result;
  }

  pending<info_result> ask(const peer_ptr& who, monitor_request what) {
    auto result = here.ask<info_result>(who, std::move(what));
    consume_messages();
    return result;
  }

  status cancel(const peer_ptr& who, const std::string& id) {
    return ask(who, {make(attr::monitor_cancel, value::string(id)),
                     status::success,
                     {}})
      ->code;
  }

  static std::vector<event>& heard(const peer_ptr& who) {
    return who->wire->events;
  }

  /// Updates that are told, and how many there may be.
  gauge updates() {
    const auto all = request<gauge_list>(here.monitors, get_gauges{}).gauges;
    const auto i = std::find_if(all.begin(), all.end(), [](const gauge& x) {
      return x.name == "usage.monitors";
    });
    CAF_REQUIRE(i != all.end());
    return *i;
  }

  /// What a list says, by identifier.
  std::map<std::string, infos> list(const peer_ptr& who) {
    const auto x = here.ask<info_result>(
      who, query_request{{{{std::string{monitor_list_key}}, {}}}});
    consume_messages();
    CAF_REQUIRE_EQUAL(x->code, status::success);
    const auto* found = find(x->value.infos, monitor_list_key);
    CAF_REQUIRE(found != nullptr);
    auto result = std::map<std::string, infos>{};
    for (const auto& item : infos_of(*found)) {
      auto entry = infos_of(item.val);
      const auto id = text(entry, attr::monitor_id).value_or("");
      CAF_REQUIRE(result.emplace(id, std::move(entry)).second);
    }
    return result;
  }

  static proc_id proc_in(const infos& xs, std::string_view key) {
    const auto* x = find(xs, key);
    CAF_REQUIRE(x != nullptr);
    CAF_REQUIRE(x->proc() != nullptr);
    return *x->proc();
  }

  static double seconds_in(const infos& xs, std::string_view key) {
    const auto* x = find(xs, key);
    CAF_REQUIRE(x != nullptr);
    const auto* seconds = std::get_if<double>(&x->data);
    CAF_REQUIRE(seconds != nullptr);
    return *seconds;
  }

  /// Ends a monitor as `troupe monitor cancel` does.
  status cancel_number(const peer_ptr& who, const infos& entry) {
    const auto* number = find(entry, monitor_number_key);
    CAF_REQUIRE(number != nullptr);
    return ask(who, {make(attr::monitor_cancel),
                     status::success,
                     {make(monitor_number_key, *number)}})
      ->code;
  }

  /// Asks for updates.
  static infos every(uint32_t seconds, const std::string& id) {
    return {make(attr::monitor_resource_rate, value::uint32(seconds)),
            make(attr::monitor_id, value::string(id))};
  }

  /// The ranks that an answer is of.
  static std::vector<uint32_t> ranks_in(const infos& xs) {
    auto result = std::vector<uint32_t>{};
    for (const auto& x : xs)
      if (x.key == attr::proc_resource_usage) {
        const auto found = infos_of(x.val);
        CAF_REQUIRE(!found.empty());
        CAF_REQUIRE(found[0].key == attr::procid); // Comes first.
        result.push_back(found[0].val.proc()->rank);
      }
    return result;
  }

  /// How often the host was asked for something.
  size_t asked_of_host(const std::string& what) {
    const auto& xs = here.host_play->requests;
    return static_cast<size_t>(std::count_if(
      xs.begin(), xs.end(), [&](const auto& x) { return x.second == what; }));
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(usage_monitor_tests, fixture)

CAF_TEST(M27 the processes of a job are sampled once) {
  const auto x = ask(first, of(of_procs));
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK(ranks_in(x->value.infos) == (std::vector<uint32_t>{0, 1}));
  const auto found = infos_of(x->value.infos[1].val);
  CAF_CHECK(number<uint32_t>(found, attr::proc_pid) == 101u);
  CAF_CHECK(text(found, attr::hostname) == "n0");
  CAF_CHECK(text(found, attr::cmd_line) == "prog");
  CAF_CHECK(text(found, attr::proc_os_state) == "R");
  CAF_CHECK(number<uint16_t>(found, attr::proc_num_threads) == 4);
  CAF_REQUIRE(find(found, attr::proc_time) != nullptr);
  CAF_CHECK(*find(found, attr::proc_time)
            == (value{data_type::timeval, timeval_value{2, 500000}}));
  CAF_CHECK(*find(found, attr::proc_rss) == (value{data_type::float_, 12.5}));
  CAF_CHECK(*find(found, attr::proc_pss) == (value{data_type::float_, 6.25}));
  CAF_CHECK(found.back().key == attr::proc_sample_time);
  CAF_CHECK(found.back().val == (value{data_type::time, uint64_t{1700000000}}));
  elapse(10s);
  CAF_CHECK(heard(first).empty());
  CAF_CHECK_EQUAL(play->asked.size(), 1u);
}

CAF_TEST(M27 only the fields that are named are told) {
  const auto x = ask(first, of(of_procs, {make(attr::proc_rss)}));
  CAF_REQUIRE_EQUAL(x->value.infos.size(), 2u);
  const auto found = infos_of(x->value.infos[0].val);
  auto keys = std::vector<std::string>{};
  for (const auto& y : found)
    keys.push_back(y.key);
  CAF_CHECK(keys
            == (std::vector<std::string>{
              std::string{attr::procid}, std::string{attr::proc_pid},
              std::string{attr::hostname}, std::string{attr::proc_rss},
              std::string{attr::proc_sample_time}}));
  CAF_CHECK(!play->asked[0].pss); // It would cost something.
}

CAF_TEST(M27 processes can be named and those elsewhere are the matter of the host) {
  const auto named = [](std::vector<proc_id> xs) {
    return infos{make(attr::monitor_target_procs, value::procs(std::move(xs)))};
  };
  auto x = ask(first, of(of_procs, {}, named({{"job", 1}})));
  CAF_CHECK(ranks_in(x->value.infos) == std::vector<uint32_t>{1});
  CAF_CHECK_EQUAL(asked_of_host("monitor"), 0u);
  x = ask(first, of(of_procs, {}, named({{"job", 1}, {"job", 2}})));
  CAF_CHECK(ranks_in(x->value.infos) == std::vector<uint32_t>{1});
  CAF_CHECK_EQUAL(asked_of_host("monitor"), 1u);
  x = ask(first, of(of_procs, {}, named({{"job", rank_wildcard}})));
  CAF_CHECK_EQUAL(x->value.infos.size(), 2u);
  CAF_CHECK_EQUAL(asked_of_host("monitor"), 2u);
  auto local = named({{"job", rank_wildcard}});
  local.push_back(make(attr::monitor_local_only, value::boolean(true)));
  x = ask(first, of(of_procs, {}, local));
  CAF_CHECK_EQUAL(x->value.infos.size(), 2u);
  CAF_CHECK_EQUAL(asked_of_host("monitor"), 2u);
  x = ask(first, of(of_procs, {}, named({{"job", 77}})));
  CAF_CHECK_EQUAL(x->code, status::not_found);
  CAF_CHECK_EQUAL(asked_of_host("query"), 1u); // Kept for a while,
  here.end_process({"job", 1});
  consume_messages();
  table({{"job", 0}});
  x = ask(first, of(of_procs, {}, named({{"job", 1}})));
  CAF_CHECK_EQUAL(x->code, status::not_found);
  CAF_CHECK_EQUAL(asked_of_host("query"), 2u); // until one of them has ended.
}

CAF_TEST(M27 processes can be named by node and pid) {
  const auto by_pid = [](std::optional<std::string> host, uint32_t node,
                         uint32_t pid) {
    auto x = value::array(
      data_type::node_pid,
      {value{data_type::node_pid, box<node_pid>{node_pid{host, node, pid}}}});
    return infos{make(attr::monitor_target_pids, std::move(x))};
  };
  auto x = ask(first, of(of_procs, {}, by_pid("n0", UINT32_MAX, 101)));
  CAF_CHECK(ranks_in(x->value.infos) == std::vector<uint32_t>{1});
  x = ask(first, of(of_procs, {}, by_pid(std::nullopt, 3, 100)));
  CAF_CHECK(ranks_in(x->value.infos) == std::vector<uint32_t>{0});
  x = ask(first, of(of_procs, {}, by_pid("n0", 0, UINT32_MAX)));
  CAF_CHECK_EQUAL(x->value.infos.size(), 2u);
  // No other processes of the node are anybody's matter.
  x = ask(first, of(of_procs, {}, by_pid("n0", UINT32_MAX, 1)));
  CAF_CHECK_EQUAL(x->code, status::not_found);
  CAF_CHECK_EQUAL(asked_of_host("monitor"), 0u);
  ask(first, of(of_procs, {}, by_pid("n1", UINT32_MAX, 1)));
  CAF_CHECK_EQUAL(asked_of_host("monitor"), 1u);
}

CAF_TEST(M27 a node is told of with its disks and networks) {
  const auto x = ask(first, of(attr::monitor_node_resource_usage));
  CAF_REQUIRE_EQUAL(x->value.infos.size(), 1u);
  CAF_CHECK(x->value.infos[0].key == attr::node_resource_usage);
  const auto found = infos_of(x->value.infos[0].val);
  CAF_CHECK(found[0].key == attr::hostname);
  CAF_CHECK(number<uint32_t>(found, attr::nodeid) == 3u);
  CAF_CHECK(*find(found, attr::node_load_avg)
            == (value{data_type::float_, 1.5}));
  CAF_REQUIRE(find(found, attr::disk_resource_usage) != nullptr);
  CAF_REQUIRE(find(found, attr::network_resource_usage) != nullptr);
  CAF_CHECK(found.back().key == attr::node_sample_time);
  CAF_CHECK_EQUAL(asked_of_host("monitor"), 1u); // For the other nodes.
  ask(first,
      of(attr::monitor_node_resource_usage, {make(attr::node_load_avg)}));
  CAF_CHECK(!play->asked.back().disks);
  CAF_CHECK(!play->asked.back().nets);
}

CAF_TEST(M27 disks and networks are those of this node and can be named) {
  auto x = ask(first, of(attr::monitor_disk_resource_usage, {},
                         {make(attr::monitor_target_disks, names({"sda"}))}));
  CAF_REQUIRE_EQUAL(x->value.infos.size(), 1u);
  auto found = infos_of(x->value.infos[0].val);
  CAF_CHECK(found[0].key == attr::disk_id);
  CAF_CHECK(number<uint64_t>(found, attr::disk_read_completed) == 11u);
  CAF_CHECK(play->asked.back().disk_names == std::vector<std::string>{"sda"});
  x = ask(first, of(attr::monitor_net_resource_usage,
                    {make(attr::network_id, value::string("eth0"))}));
  found = infos_of(x->value.infos[0].val);
  CAF_CHECK(x->value.infos[0].key == attr::network_resource_usage);
  CAF_CHECK(text(found, attr::network_id) == "eth0");
  CAF_CHECK(number<uint64_t>(found, attr::net_sent_bytes) == 12u);
  CAF_CHECK(play->asked.back().net_names == std::vector<std::string>{"eth0"});
  CAF_CHECK_EQUAL(asked_of_host("monitor"), 0u);
  x = ask(first, of(attr::monitor_net_resource_usage, {},
                    {make(attr::monitor_target_nodes, names({"n1"}))}));
  CAF_CHECK_EQUAL(x->code, status::not_found);
  CAF_CHECK_EQUAL(asked_of_host("monitor"), 1u);
  x = ask(first, of(attr::monitor_net_resource_usage, {},
                    {make(attr::monitor_target_nodes, names({"n1", "n0"}))}));
  CAF_CHECK_EQUAL(x->value.infos.size(), 1u);
}

CAF_TEST(M27 updates come as events until they are cancelled) {
  CAF_CHECK_EQUAL(ask(first, of(of_procs, {}, every(3, "mine")))->code,
                  status::success);
  CAF_CHECK_EQUAL(ask(first, of(of_procs, {}, every(3, "mine")))->code,
                  status::exists);
  CAF_CHECK_EQUAL(
    ask(second, of(of_procs, {}, every(1, "mine"), status::proc_aborted))->code,
    status::success);
  elapse(2999ms);
  CAF_CHECK(heard(first).empty());
  elapse(1ms);
  CAF_REQUIRE_EQUAL(heard(first).size(), 1u);
  CAF_CHECK_EQUAL(heard(second).size(), 3u);
  const auto& x = heard(first)[0];
  CAF_CHECK_EQUAL(x.code, status::monitor_resusage_update);
  CAF_CHECK(text(x.infos, attr::monitor_id) == "mine");
  CAF_CHECK(flag(x.infos, attr::event_non_default));
  CAF_CHECK(ranks_in(x.infos) == (std::vector<uint32_t>{0, 1}));
  CAF_CHECK_EQUAL(heard(second)[0].code, status::proc_aborted);
  CAF_CHECK_EQUAL(cancel(first, "none"), status::not_found);
  CAF_CHECK_EQUAL(cancel(first, "mine"), status::success);
  elapse(10s);
  CAF_CHECK_EQUAL(heard(first).size(), 1u);
  CAF_CHECK(heard(second).size() > 3u);
  const auto before = heard(second).size();
  CAF_CHECK_EQUAL(
    ask(second, {make(attr::monitor_cancel), status::success, {}})->code,
    status::success); // All.
  elapse(10s);
  CAF_CHECK_EQUAL(heard(second).size(), before);
}

CAF_TEST(M27 updates go to the range that is asked for) {
  const auto rate = make(attr::monitor_resource_rate, value::uint32(1));
  const auto wide = with_range(data_range::nspace);
  CAF_CHECK_EQUAL(ask(first, of(of_procs, {}, {rate, wide}))->code,
                  status::success);
  elapse(1s);
  CAF_REQUIRE_EQUAL(heard(first).size(), 1u);
  CAF_REQUIRE_EQUAL(heard(second).size(), 1u);
  CAF_CHECK(heard(second)[0].source == (proc_id{"job", 0}));
  CAF_CHECK(ranks_in(heard(second)[0].infos) == (std::vector<uint32_t>{0, 1}));
  ask(first, {make(attr::monitor_cancel), status::success, {}});
  const auto custom = with_range(data_range::custom);
  const auto nobody = ask(first, of(of_procs, {}, {rate, custom}));
  CAF_CHECK_EQUAL(nobody->code, status::bad_param);
  CAF_CHECK(nobody->reason.find("PMIX_EVENT_CUSTOM_RANGE")
            != std::string::npos);
  const auto whom = make(attr::event_custom_range, value::procs({{"job", 1}}));
  CAF_CHECK_EQUAL(ask(first, of(of_procs, {}, {rate, custom, whom}))->code,
                  status::success);
  elapse(1s);
  CAF_CHECK_EQUAL(heard(first).size(), 1u);
  CAF_CHECK_EQUAL(heard(second).size(), 2u);
  // As without a range: the requester alone.
  ask(first, {make(attr::monitor_cancel), status::success, {}});
  ask(first, of(of_procs, {}, {rate, with_range(data_range::proc_local)}));
  elapse(1s);
  CAF_CHECK_EQUAL(heard(first).size(), 2u);
  CAF_CHECK_EQUAL(heard(second).size(), 2u);
}

CAF_TEST(M27 updates end with the connection and are bounded) {
  const auto rate = infos{make(attr::monitor_resource_rate, value::uint32(1))};
  for (size_t i = 0; i < defaults::usage_monitors_per_client; ++i)
    CAF_REQUIRE_EQUAL(ask(first, of(of_procs, {}, rate))->code,
                      status::success);
  const auto refused = ask(first, of(of_procs, {}, rate));
  CAF_CHECK_EQUAL(refused->code, status::out_of_resource);
  CAF_CHECK(refused->reason.find("64") != std::string::npos);
  // Of all, as many as the site has set.
  for (auto i = 0; i < 2; ++i)
    CAF_REQUIRE_EQUAL(ask(second, of(of_procs, {}, rate))->code,
                      status::success);
  const auto full = ask(second, of(of_procs, {}, rate));
  CAF_CHECK_EQUAL(full->code, status::out_of_resource);
  CAF_CHECK(full->reason.find("66") != std::string::npos);
  here.lose(second);
  here.lose(first);
  consume_messages();
  CAF_CHECK_EQUAL(updates().value, 0u);
  CAF_CHECK_EQUAL(updates().bound, most_updates);
  const auto before = play->asked.size();
  elapse(5s);
  CAF_CHECK_EQUAL(play->asked.size(), before);
}

CAF_TEST(M27 what is refused leaves no monitor behind) {
  auto directives =
    infos{make(attr::monitor_resource_rate, value::uint32(1)),
          make(attr::monitor_target_procs, value::procs({{"job", 77}}))};
  CAF_CHECK_EQUAL(ask(first, of(of_procs, {}, directives))->code,
                  status::not_found);
  play->code = status::resource_busy;
  CAF_CHECK_EQUAL(ask(first, of(of_procs, {}, {directives[0]}))->code,
                  status::resource_busy);
  CAF_CHECK_EQUAL(updates().value, 0u);
  CAF_CHECK(list(first).empty());
}

CAF_TEST(C11.10 updates are listed as all monitors are) {
  ask(first, of(of_procs, {}, every(3, "jobs")));
  auto of_node = every(5, "node");
  of_node.push_back(make(attr::monitor_local_only, value::boolean(true)));
  ask(second, of(attr::monitor_node_resource_usage, {}, of_node));
  // One answer is no monitor.
  ask(second, of(of_procs));
  ask(second, {make(attr::monitor_heartbeat),
               status::success,
               {make(attr::monitor_heartbeat_time, value::uint32(60)),
                make(attr::monitor_id, value::string("beats"))}});
  elapse(4s);
  const auto all = list(second);
  CAF_REQUIRE_EQUAL(all.size(), 3u);
  const auto& jobs = all.at("jobs");
  CAF_CHECK(text(jobs, monitor_kind_key) == "proc_resource_usage");
  CAF_CHECK(text(jobs, monitor_target_key) == "job:*");
  CAF_CHECK(text(jobs, attr::hostname) == "n0");
  CAF_CHECK(proc_in(jobs, monitor_requestor_key) == (proc_id{"job", 0}));
  CAF_CHECK(number<uint32_t>(jobs, monitor_interval_key) == 3u);
  CAF_CHECK_EQUAL(seconds_in(jobs, monitor_last_key), 1.0);
  CAF_CHECK_EQUAL(seconds_in(jobs, monitor_due_key), 2.0);
  CAF_CHECK(!flag(jobs, monitor_silent_key));
  const auto& node = all.at("node");
  CAF_CHECK(text(node, monitor_kind_key) == "node_resource_usage");
  CAF_CHECK(text(node, monitor_target_key) == "this node");
  CAF_CHECK(proc_in(node, monitor_requestor_key) == (proc_id{"job", 1}));
  CAF_CHECK_EQUAL(seconds_in(node, monitor_last_key), 4.0); // The answer.
  CAF_CHECK_EQUAL(seconds_in(node, monitor_due_key), 1.0);
  // As others have it.
  CAF_CHECK(proc_in(all.at("beats"), monitor_requestor_key)
            == (proc_id{"job", 1}));
  CAF_CHECK(find(all.at("beats"), monitor_target_key) == nullptr);
  CAF_CHECK_EQUAL(updates().value, 2u);
}

CAF_TEST(C11.10 updates that fail are not said to be told) {
  ask(first, of(of_procs, {}, every(2, "mine")));
  play->code = status::resource_busy;
  elapse(5s);
  CAF_CHECK_EQUAL(seconds_in(list(first).at("mine"), monitor_last_key), 5.0);
  CAF_CHECK(heard(first).empty());
  play->code = status::success;
  elapse(1s);
  CAF_CHECK_EQUAL(seconds_in(list(first).at("mine"), monitor_last_key), 0.0);
  CAF_CHECK_EQUAL(heard(first).size(), 1u);
}

CAF_TEST(C11.10 M11 updates are cancelled by number whoever of the user asks) {
  ask(first, of(of_procs, {}, every(1, "one")));
  ask(first, of(of_procs, {}, every(1, "other")));
  elapse(1s);
  CAF_REQUIRE_EQUAL(heard(first).size(), 2u);
  const auto stranger = our_uid + 1;
  here.add_job("theirs", 1, stranger);
  consume_messages();
  const auto them = here.connect(node::greeting({"theirs", 0}, stranger));
  consume_messages();
  CAF_CHECK(list(them).empty());
  const auto one = list(second).at("one");
  CAF_CHECK_EQUAL(cancel_number(them, one), status::no_permissions);
  CAF_CHECK_EQUAL(cancel_number(second, one), status::success);
  CAF_CHECK_EQUAL(cancel_number(second, one), status::not_found);
  elapse(1s);
  CAF_CHECK_EQUAL(heard(first).size(), 3u);
  CAF_CHECK(text(heard(first).back().infos, attr::monitor_id) == "other");
  CAF_CHECK_EQUAL(list(first).size(), 1u);
  // An identifier that is free can be taken.
  CAF_CHECK_EQUAL(ask(first, of(of_procs, {}, every(1, "one")))->code,
                  status::success);
}

CAF_TEST(C11.10 updates end with their process) {
  ask(first, of(of_procs, {}, every(1, "mine")));
  here.end_process({"job", 0});
  consume_messages();
  CAF_CHECK(list(second).empty());
  CAF_CHECK_EQUAL(updates().value, 0u);
  const auto before = play->asked.size();
  elapse(5s);
  CAF_CHECK_EQUAL(play->asked.size(), before);
}

CAF_TEST(C11.10 what updates are of is said in words) {
  const auto client = requester{{"job", 0}, {}, peer_role::client, {}, 1};
  const auto tool =
    requester{{"tool", 0}, {}, peer_role::tool_with_identity, {}, 1};
  const auto words = [&](std::string_view key, infos directives,
                         const requester& who) {
    const auto request =
      parse_usage_request(of(key, {}, std::move(directives)));
    CAF_REQUIRE(request);
    return target_of(*request, who);
  };
  const auto nodes = make(attr::monitor_target_nodes, names({"a", "b"}));
  CAF_CHECK_EQUAL(words(of_procs, {}, client), "job:*");
  CAF_CHECK_EQUAL(words(of_procs, {}, tool), "all jobs");
  CAF_CHECK_EQUAL(words(of_procs,
                        {make(attr::monitor_target_procs,
                              value::procs({{"x", 1}, {"y", rank_wildcard}})),
                         nodes},
                        tool),
                  "x:1, y:* on a, b");
  CAF_CHECK_EQUAL(
    words(
      of_procs,
      {make(attr::monitor_target_pids,
            value::array(
              data_type::node_pid,
              {value{data_type::node_pid,
                     box<node_pid>{node_pid{"n1", UINT32_MAX, 7}}},
               value{data_type::node_pid,
                     box<node_pid>{node_pid{std::nullopt, 3, UINT32_MAX}}}}))},
      client),
    "pid 7 on n1, all processes on node 3");
  constexpr auto of_node = attr::monitor_node_resource_usage;
  CAF_CHECK_EQUAL(words(of_node, {}, client), "all nodes");
  CAF_CHECK_EQUAL(words(of_node, {nodes}, client), "a, b");
  constexpr auto of_disks = attr::monitor_disk_resource_usage;
  CAF_CHECK_EQUAL(words(of_disks, {}, client), "all disks");
  CAF_CHECK_EQUAL(
    words(of_disks, {make(attr::monitor_target_disks, names({"sda", "sdb"}))},
          client),
    "disk sda, disk sdb");
  CAF_CHECK_EQUAL(words(attr::monitor_net_resource_usage, {nodes}, client),
                  "all networks on a, b");
  // Of much, the beginning.
  auto many = std::vector<std::string>{};
  for (int i = 0; i < 1000; ++i)
    many.push_back("node" + std::to_string(i));
  const auto long_words =
    words(of_node, {make(attr::monitor_target_nodes, names(many))}, client);
  CAF_CHECK(long_words.size() < 300);
  CAF_CHECK_EQUAL(long_words.substr(0, 12), "node0, node1");
  CAF_CHECK_EQUAL(long_words.substr(long_words.size() - 3), "...");
}

CAF_TEST(M27 a request that makes no sense is refused by name) {
  const auto reason_of = [&](monitor_request x) {
    const auto refused = parse_usage_request(x);
    CAF_REQUIRE(!refused);
    CAF_CHECK(status_of(refused.error()) == status::bad_param
              || status_of(refused.error()) == status::not_supported);
    return troupe::reason_of(refused.error());
  };
  const auto bad = [&](std::string_view key, value x) {
    const auto reason = reason_of(of(of_procs, {}, {make(key, std::move(x))}));
    CAF_CHECK_EQUAL(reason.substr(0, 5), "PMIX_");
  };
  bad(attr::monitor_id, value::uint32(1));
  bad(attr::monitor_id, value::string(std::string(512, 'x')));
  bad(attr::monitor_resource_rate, value::string("often"));
  bad(attr::monitor_resource_rate, value::uint64(uint64_t{1} << 40));
  bad(attr::monitor_target_procs, value::uint32(1));
  bad(attr::monitor_target_procs, names({"job"}));
  bad(attr::monitor_target_pids, names({"job"}));
  bad(attr::monitor_target_nodes, value::string("n0"));
  bad(attr::monitor_target_nodes, names({""}));
  bad(attr::monitor_target_nodeids, names({"1"}));
  bad(attr::monitor_target_disks, names(std::vector<std::string>(2000, "sda")));
  CAF_CHECK_EQUAL(
    reason_of({make(of_procs, value::string("all")), status::success, {}})
      .substr(0, 5),
    "PMIX_");
  auto strange = make("site.key", value::uint32(1));
  CAF_CHECK(parse_usage_request(of(of_procs, {}, {strange})));
  strange.flags = info_required;
  CAF_CHECK(reason_of(of(of_procs, {}, {strange})).find("site.key")
            != std::string::npos);
  // Without a value all is wanted, whatever type the array says it has.
  CAF_CHECK(parse_usage_request({make(of_procs), status::success, {}}));
  CAF_CHECK(parse_usage_request(
    {make(of_procs, value::array(data_type::proc, {})), status::success, {}}));
}

CAF_TEST(M27 X41 another node is sampled for without asking on) {
  const auto who =
    requester{{"far", 0}, {our_uid, 0}, peer_role::client, {}, 9};
  auto x = request<info_result>(
    uut, sample_elsewhere{who, of(attr::monitor_node_resource_usage)});
  CAF_CHECK_EQUAL(x.infos.size(), 1u);
  x = request<info_result>(
    uut,
    sample_elsewhere{who, of(of_procs, {},
                             {make(attr::monitor_target_procs,
                                   value::procs({{"job", 1}, {"job", 2}}))})});
  CAF_CHECK(ranks_in(x.infos) == std::vector<uint32_t>{1});
  // X41: the server does not speak for processes of others.
  for (const auto& [asker, what] : here.host_play->requests)
    CAF_CHECK(what != "query" || asker.proc == (proc_id{"server", 0}));
  x = request<info_result>(
    uut, sample_elsewhere{
           who, of(attr::monitor_net_resource_usage, {},
                   {make(attr::monitor_target_nodes, names({"n1"}))})});
  CAF_CHECK(x.infos.empty());
  CAF_CHECK_EQUAL(asked_of_host("monitor"), 0u);
}

CAF_TEST_FIXTURE_SCOPE_END()
