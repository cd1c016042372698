// Monitors from the request to the alert: a session, the desk, the log of
// events, and the process that hears of it.

#include "actors/monitors/monitor_desk.hpp"

#include "actors/monitors/defaults.hpp"
#include "adapters/node_store/shared_job_memory.hpp"
#include "adapters/node_store/store_access.hpp"
#include "messages/attributes.hpp"
#include "messages/custom_monitor.hpp"
#include "messages/monitor.hpp"
#include "tests/fixtures/node.hpp"
#include "tests/test.hpp"

#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <unistd.h>

#include <map>
#include <utility>

using namespace troupe;
using namespace troupe::fixtures;
using namespace std::chrono_literals;

namespace {

using infos = std::vector<info>;

/// What there is in the file system.
struct file_script {
  std::map<std::string, file_stamp> files;
  std::vector<check_files> asked;
};

file_checker_actor::behavior_type checker(file_checker_actor::pointer,
                                          std::shared_ptr<file_script> play) {
  return {
    [play](check_files& x) {
      auto result = file_stamps{};
      for (const auto& path : x.paths) {
        const auto i = play->files.find(path);
        result.stamps.emplace_back();
        if (i != play->files.end())
          result.stamps.back() = i->second;
        else
          result.stamps.back().state = file_state::missing;
      }
      play->asked.push_back(std::move(x));
      return result;
    },
    [](get_gauges) { return gauge_list{}; },
    [](deadline) {},
  };
}

/// What monitors of a kind of the test's own were told.
struct kind_script {
  status code = status::success;

  /// Whether they never say that they have begun.
  bool is_silent = false;
  std::vector<start_monitor> started;
  monitor_user_actor user;
  size_t stops = 0;
  size_t ends = 0;

  /// When they look; null: they say nothing of it.
  std::shared_ptr<monitor_looks> looks;
};

struct kind_state {
  std::shared_ptr<kind_script> play;

  ~kind_state() {
    if (play)
      ++play->ends;
  }
};

monitor_actor::behavior_type
kind_behavior(monitor_actor::stateful_pointer<kind_state> self,
              const std::shared_ptr<kind_script>& play) {
  self->state.play = play;
  return {
    [self, play](start_monitor& x,
                 monitor_user_actor& user) -> caf::result<ack> {
      play->started.push_back(std::move(x));
      play->user = std::move(user);
      if (play->is_silent)
        return self->make_response_promise<ack>();
      if (play->code != status::success)
        return make_error(play->code, "no");
      return ack{};
    },
    [play](stop_monitor) { ++play->stops; },
  };
}

double seconds_in(const infos& xs, std::string_view key) {
  const auto* x = find(xs, std::string{key});
  CAF_REQUIRE(x != nullptr);
  const auto* number = std::get_if<double>(&x->data);
  CAF_REQUIRE(number != nullptr);
  return *number;
}

struct reaction {
  react_to_alert what;
  infos directives;
};

struct fixture : deterministic {
  std::shared_ptr<file_script> disk = std::make_shared<file_script>();
  std::shared_ptr<kind_script> kind = std::make_shared<kind_script>();
  std::vector<reaction> reactions;

  /// What the check of reactions says.
  caf::error objection;
  file_checker_actor files = sys.spawn(checker, disk);
  node uut{*this, [this](monitor_desk_options& x) {
             x.is_enabled = true;
             x.owner = {our_uid, our_uid};
             x.check = [this](const requester&, const infos&) {
               return objection;
             };
             x.files = files;
             x.make_kind =
               [this](const std::string& name) -> caf::expected<made_monitor> {
               if (name != "queue")
                 return make_error(status::not_supported, "no kind " + name);
               return made_monitor{sys.spawn(kind_behavior, kind), kind->looks};
             };
             x.react = [this](react_to_alert what, const infos& directives) {
               reactions.push_back({std::move(what), directives});
             };
           }};
  peer_ptr first;
  peer_ptr second;

  fixture() {
    uut.add_job("job", 3);
    consume_messages();
    first = connect(0);
    second = connect(1);
    file("/a");
  }

  ~fixture() override {
    kind->user = nullptr;
    end(files);
  }

  peer_ptr connect(uint32_t rank) {
    auto result = uut.connect("job", rank);
    consume_messages();
    uut.ask<ack>(result, register_events_request{
                           {status::monitor_heartbeat_alert,
                            status::monitor_file_alert, status::proc_aborted},
                           {}});
    consume_messages();
    return result;
  }

  void file(const std::string& path, uint64_t size = 1) {
    auto x = file_stamp{};
    x.state = file_state::regular;
    x.size = size;
    x.inode = 1;
    x.keeps_access_time = true;
    disk->files[path] = x;
  }

  pending<info_result> monitor(const peer_ptr& who, info what,
                               infos directives = {},
                               status code = status::success) {
    auto result = uut.ask<info_result>(
      who, monitor_request{std::move(what), code, std::move(directives)});
    consume_messages();
    return result;
  }

  /// Watches the heartbeats of a process.
  void watch(const peer_ptr& who, uint32_t seconds, const std::string& id = {},
             infos directives = {}, status code = status::success) {
    directives.push_back(
      with(attr::monitor_heartbeat_time, value::uint32(seconds)));
    if (!id.empty())
      directives.push_back(with(attr::monitor_id, value::string(id)));
    CAF_REQUIRE_EQUAL(
      monitor(who, with(attr::monitor_heartbeat), directives, code)->code,
      status::success);
  }

  status cancel(const peer_ptr& who, value id) {
    return monitor(who, with(attr::monitor_cancel, std::move(id)))->code;
  }

  void beat(const peer_ptr& who) {
    caf::anon_send(who->session, heartbeat{});
    consume_messages();
  }

  static std::vector<event>& heard(const peer_ptr& who) {
    return who->wire->events;
  }

  gauge_list gauges() {
    return request<gauge_list>(uut.monitors, get_gauges{});
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(monitor_desk_tests, fixture)

CAF_TEST(M1 M8 M10 108 a silent process is told of with all that is known) {
  watch(first, 2, "mine");
  elapse(1990ms);
  CAF_CHECK(heard(second).empty());
  elapse(30ms);
  CAF_REQUIRE_EQUAL(heard(second).size(), 1u);
  const auto& x = heard(second)[0];
  CAF_CHECK_EQUAL(x.code, status::monitor_heartbeat_alert);
  CAF_CHECK(x.source == (proc_id{"job", 0}));
  CAF_CHECK(x.range == data_range::nspace);
  const auto* affected = find(x.infos, attr::event_affected_proc);
  CAF_REQUIRE(affected != nullptr);
  CAF_REQUIRE(affected->proc() != nullptr);
  CAF_CHECK(*affected->proc() == (proc_id{"job", 0}));
  CAF_CHECK(text(x.infos, attr::monitor_id) == "mine");
}

CAF_TEST(M3 A20 109 the requestor hears of itself as the others do) {
  watch(first, 1);
  elapse(2s);
  CAF_REQUIRE_EQUAL(heard(first).size(), 1u);
  CAF_CHECK_EQUAL(heard(second).size(), 1u);
}

CAF_TEST(LOAD-2 alerts are counted) {
  watch(first, 1, "a");
  watch(first, 2, "b");
  watch(second, 60);
  elapse(5s);
  auto alerts = uint64_t{0};
  for (const auto& x : gauges().gauges)
    if (x.name == "monitors.alerts")
      alerts = x.value;
  CAF_CHECK_EQUAL(alerts, 2u);
}

CAF_TEST(M3 109 a range narrows down who hears) {
  uut.add_job("other", 1);
  consume_messages();
  const auto stranger = uut.connect("other", 0);
  consume_messages();
  uut.ask<ack>(stranger,
               register_events_request{{status::monitor_heartbeat_alert}, {}});
  consume_messages();
  watch(first, 1, "own", {with_range(data_range::proc_local)});
  watch(first, 2, "nspace");
  watch(first, 3, "all", {with_range(data_range::global)});
  watch(first, 4, "one",
        {with_range(data_range::custom),
         with(attr::event_custom_range, value::procs({{"job", 1}}))});
  elapse(5s);
  const auto ids = [](const peer_ptr& who) {
    auto result = std::string{};
    for (const auto& x : heard(who))
      result += *text(x.infos, attr::monitor_id) + " ";
    return result;
  };
  CAF_CHECK_EQUAL(ids(first), "own nspace all ");
  CAF_CHECK_EQUAL(ids(second), "nspace all one ");
  CAF_CHECK_EQUAL(ids(stranger), "all ");
}

CAF_TEST(M14 MON-3 beats keep all monitors of a process quiet) {
  watch(first, 1, "a");
  watch(first, 2, "b");
  for (int i = 0; i < 10; ++i) {
    elapse(900ms);
    beat(first);
  }
  CAF_CHECK(heard(second).empty());
  // As a request, too.
  for (int i = 0; i < 3; ++i) {
    elapse(900ms);
    CAF_CHECK_EQUAL(monitor(first, with(attr::send_heartbeat))->code,
                    status::success);
  }
  CAF_CHECK(heard(second).empty());
  beat(second); // Not its own.
  elapse(1100ms);
  CAF_CHECK_EQUAL(heard(second).size(), 1u);
}

CAF_TEST(MON-3 LIM7 a beat takes as much for 64 monitors as for one) {
  const auto cost = [this] {
    const auto timers = sched.clock().schedule().size();
    caf::anon_send(first->session, heartbeat{});
    const auto messages = consume_messages();
    return std::pair{messages, sched.clock().schedule().size() - timers};
  };
  watch(first, 5);
  const auto one = cost();
  for (int i = 1; i < 64; ++i)
    watch(first, 5);
  CAF_CHECK(cost() == one);
  CAF_CHECK(one.first > 0u);
  CAF_CHECK_EQUAL(one.second, 0u);
}

CAF_TEST(MON-1 113 a beat that waits in the socket is read before the alert) {
  watch(first, 1);
  first->wire->on_read = [this] {
    caf::anon_send(first->session, heartbeat{});
    first->wire->on_read = nullptr;
  };
  elapse(1500ms);
  CAF_CHECK_EQUAL(first->wire->reads, 1u);
  CAF_CHECK(heard(second).empty());
  elapse(1s);
  CAF_CHECK_EQUAL(heard(second).size(), 1u);
  CAF_CHECK(first->wire->reads >= 2u);
}

CAF_TEST(MON-2 113 what we do not read on purpose excuses) {
  watch(first, 1);
  first->wire->unread_bytes = 10;
  elapse(1500ms);
  CAF_CHECK(heard(second).empty());
  elapse(1s);
  CAF_CHECK_EQUAL(heard(second).size(), 1u);
}

CAF_TEST(MON-2 a paused job is not silent) {
  watch(first, 1);
  watch(second, 1);
  caf::anon_send(uut.server, procs_paused{{{"job", rank_wildcard}}, true});
  elapse(1h);
  CAF_CHECK(heard(second).empty());
  caf::anon_send(uut.server, procs_paused{{{"job", 0}}, false});
  elapse(990ms);
  CAF_CHECK(heard(second).empty());
  elapse(1h);
  CAF_CHECK_EQUAL(heard(second).size(), 1u);
}

CAF_TEST(M2 108 an alert has the code that was asked for) {
  watch(first, 1, "", {}, status::proc_aborted);
  elapse(2s);
  CAF_REQUIRE_EQUAL(heard(second).size(), 1u);
  CAF_CHECK_EQUAL(heard(second)[0].code, status::proc_aborted);
}

CAF_TEST(M11 110 one cancels its own monitors by identifier or all) {
  watch(first, 1, "a");
  watch(first, 1, "b");
  watch(second, 1, "a");
  CAF_CHECK_EQUAL(cancel(first, value::string("c")), status::not_found);
  CAF_CHECK_EQUAL(cancel(second, value::string("b")), status::not_found);
  CAF_CHECK_EQUAL(cancel(first, value::string("a")), status::success);
  elapse(1500ms);
  CAF_CHECK_EQUAL(heard(second).size(), 2u);
  beat(first);
  beat(second);
  CAF_CHECK_EQUAL(cancel(first, {}), status::success);
  CAF_CHECK_EQUAL(cancel(second, value::boolean(true)), status::success);
  elapse(10s);
  CAF_CHECK_EQUAL(heard(second).size(), 2u);
  CAF_CHECK_EQUAL(cancel(first, {}), status::success); // There is none.
}

CAF_TEST(112 nobody is told of a process that has gone) {
  watch(first, 1);
  watch(second, 1);
  const auto third = connect(2);
  watch(third, 1);
  CAF_CHECK_EQUAL(gauges().gauges[0].value, 3u);
  uut.lose(first, true);
  uut.end_process({"job", 1});
  elapse(5s);
  CAF_CHECK_EQUAL(gauges().gauges[0].value, 1u);
  for (const auto& x : heard(third))
    CAF_CHECK(x.source == (proc_id{"job", 2}));
  uut.tell<ack>(deregister_nspace{"job"});
  consume_messages();
  CAF_CHECK_EQUAL(gauges().gauges[0].value, 0u);
}

CAF_TEST(112 a process that goes while it is read is not told of) {
  watch(first, 1);
  first->wire->on_read = [this] { uut.lose(first); };
  elapse(5s);
  CAF_CHECK(heard(second).empty());
}

CAF_TEST(LIM7 the 65th monitor of a process is refused) {
  for (int i = 0; i < 64; ++i)
    watch(first, 100);
  const auto x =
    monitor(first, with(attr::monitor_heartbeat),
            {with(attr::monitor_heartbeat_time, value::uint32(1))});
  CAF_CHECK_EQUAL(x->code, status::out_of_resource);
  CAF_CHECK(x->reason.find("job:0") != std::string::npos);
}

CAF_TEST(M4 a request that makes no sense is refused with a reason) {
  const auto x = monitor(first, with(attr::monitor_heartbeat));
  CAF_CHECK_EQUAL(x->code, status::bad_param);
  CAF_CHECK(x->reason.find("PMIX_MONITOR_HEARTBEAT_TIME") != std::string::npos);
}

// -- files -------------------------------------------------------------------

CAF_TEST(M9 M17 a file without signs of life is named) {
  CAF_CHECK_EQUAL(
    monitor(first, with(attr::monitor_file, value::string("/a")),
            {with(attr::monitor_file_check_time, value::uint32(1)),
             with(attr::monitor_id, value::string("f"))})
      ->code,
    status::success);
  for (int i = 2; i < 6; ++i) {
    file("/a", i);
    elapse(1s);
  }
  CAF_CHECK(heard(second).empty());
  elapse(1s);
  CAF_REQUIRE_EQUAL(heard(second).size(), 1u);
  const auto& x = heard(second)[0];
  CAF_CHECK_EQUAL(x.code, status::monitor_file_alert);
  CAF_CHECK(x.source == (proc_id{"job", 0}));
  CAF_CHECK(text(x.infos, attr::monitor_file) == "/a");
  CAF_CHECK(text(x.infos, attr::monitor_id) == "f");
  CAF_CHECK_EQUAL(heard(first).size(), 1u);
  CAF_CHECK_EQUAL(disk->asked[0].who.uid, our_uid);
  CAF_CHECK_EQUAL(cancel(first, value::string("f")), status::success);
  disk->asked.clear();
  elapse(10s);
  CAF_CHECK(disk->asked.empty());
}

CAF_TEST(M19 M23 115 what cannot be monitored is refused when it is asked for) {
  disk->files["/dir"].state = file_state::not_regular;
  disk->files["/secret"].state = file_state::no_permission;
  disk->files["/hung"].state = file_state::timed_out;
  file("/noatime");
  disk->files["/noatime"].keeps_access_time = false;
  file("/relatime");
  disk->files["/relatime"].access_time_is_relative = true;
  const auto ask = [&](const std::string& path, std::string_view sign) {
    return monitor(first, with(attr::monitor_file, value::string(path)),
                   {with(attr::monitor_file_check_time, value::uint32(1)),
                    with(sign, value::boolean(true))});
  };
  CAF_CHECK_EQUAL(ask("/dir", attr::monitor_file_size)->code,
                  status::bad_param);
  CAF_CHECK_EQUAL(ask("/secret", attr::monitor_file_size)->code,
                  status::no_permissions);
  CAF_CHECK_EQUAL(ask("/hung", attr::monitor_file_size)->code, status::timeout);
  const auto no = ask("/noatime", attr::monitor_file_access);
  CAF_CHECK_EQUAL(no->code, status::not_supported);
  CAF_CHECK(no->reason.find("/noatime") != std::string::npos);
  CAF_CHECK_EQUAL(gauges().gauges[0].value, 0u);
  CAF_CHECK_EQUAL(ask("/noatime", attr::monitor_file_modify)->code,
                  status::success);
  const auto remark = ask("/relatime", attr::monitor_file_access);
  CAF_CHECK_EQUAL(remark->code, status::success);
  CAF_CHECK(text(remark->value.infos, attr::event_text_message).has_value());
  // It may come.
  CAF_CHECK_EQUAL(ask("/missing", attr::monitor_file_size)->code,
                  status::success);
  elapse(1100ms);
  CAF_CHECK_EQUAL(heard(second).size(), 3u); // None of them shows a sign.
}

CAF_TEST(M12 M24 118 what is done about an alert is left to the program that
           wants it) {
  watch(first, 1, "a", {with(monitor_reaction_key, value::string("log"))});
  watch(first, 1, "b", {with(attr::monitor_app_control)});
  elapse(2s);
  CAF_CHECK_EQUAL(heard(second).size(), 2u);
  CAF_REQUIRE_EQUAL(reactions.size(), 1u);
  const auto& x = reactions[0];
  CAF_CHECK_EQUAL(x.what.id, "a");
  CAF_CHECK_EQUAL(x.what.kind, "heartbeat");
  CAF_CHECK(x.what.proc == (proc_id{"job", 0}));
  CAF_CHECK(x.what.who.creds.uid == our_uid);
  CAF_CHECK(text(x.directives, monitor_reaction_key) == "log");
}

CAF_TEST(E59 an alert says what is done to the process or its job) {
  const auto on_alert = [](const std::string& what) {
    return with(monitor_reaction_key, value::string(what));
  };
  watch(first, 1, "a", {on_alert("log")});
  watch(first, 1, "b", {on_alert("kill")});
  watch(first, 1, "c", {on_alert("restart:c1")});
  watch(first, 1, "d", {on_alert("kill"), with(attr::monitor_app_control)});
  elapse(2s);
  auto said = std::map<std::string, std::string>{};
  for (const auto& x : heard(second)) {
    auto& of = said[text(x.infos, attr::monitor_id).value_or("")];
    of += flag(x.infos, attr::event_terminate_proc) ? "process" : "";
    of += flag(x.infos, attr::event_terminate_job) ? "job" : "";
  }
  CAF_CHECK((said
             == std::map<std::string, std::string>{
               {"a", ""}, {"b", "process"}, {"c", "job"}, {"d", ""}}));
}

// -- kinds -------------------------------------------------------------------

CAF_TEST(M1 a monitor of a named kind alerts through the desk) {
  const auto queue = with(monitor_kind_key, value::string("queue"));
  const auto x = monitor(first, queue,
                         {with(attr::monitor_id, value::string("q")),
                          with("troupe.monitor.depth", value::uint32(5))});
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_REQUIRE_EQUAL(kind->started.size(), 1u);
  CAF_CHECK(kind->started[0].proc == (proc_id{"job", 0}));
  CAF_CHECK(find(kind->started[0].settings, "troupe.monitor.depth") != nullptr);
  auto alert = monitor_alert{};
  alert.number = kind->started[0].number;
  alert.reason = "too long";
  alert.infos = {with("depth", value::uint32(7))};
  caf::anon_send(kind->user, alert);
  consume_messages();
  CAF_REQUIRE_EQUAL(heard(second).size(), 1u);
  CAF_CHECK(text(heard(second)[0].infos, attr::monitor_id) == "q");
  CAF_CHECK(find(heard(second)[0].infos, "depth") != nullptr);
  CAF_CHECK_EQUAL(cancel(first, value::string("q")), status::success);
  consume_messages();
  CAF_CHECK_EQUAL(kind->stops, 1u);
  CAF_CHECK_EQUAL(kind->ends, 1u);
  caf::anon_send(kind->user, alert); // Too late.
  consume_messages();
  CAF_CHECK_EQUAL(heard(second).size(), 1u);
}

CAF_TEST(M4 a monitor that refuses to start is no monitor) {
  kind->code = status::bad_param;
  const auto queue = with(monitor_kind_key, value::string("queue"));
  CAF_CHECK_EQUAL(monitor(first, queue)->code, status::bad_param);
  CAF_CHECK_EQUAL(gauges().gauges[0].value, 0u);
  const auto strange = with(monitor_kind_key, value::string("strange"));
  CAF_CHECK_EQUAL(monitor(first, strange)->code, status::not_supported);
}

CAF_TEST(C11.5 a monitor that never says that it has begun is given up) {
  kind->is_silent = true;
  const auto queue = with(monitor_kind_key, value::string("queue"));
  const auto x = monitor(first, queue);
  elapse(defaults::monitor_start_time - 1ms);
  CAF_CHECK(x->is_pending());
  elapse(1ms);
  CAF_CHECK_EQUAL(x->code, status::timeout);
  CAF_CHECK_EQUAL(gauges().gauges[0].value, 0u);
  CAF_CHECK_EQUAL(kind->ends, 1u);
  // Others have been served all the time.
  watch(second, 1);
}

CAF_TEST(C11.5 of alerts in a flood the first and the newest are told) {
  const auto queue = with(monitor_kind_key, value::string("queue"));
  CAF_REQUIRE_EQUAL(monitor(first, queue)->code, status::success);
  auto alert = monitor_alert{};
  alert.number = kind->started[0].number;
  alert.reason = std::string(5000, 'x');
  alert.infos.resize(1000);
  for (auto i = 0; i < 99; ++i)
    caf::anon_send(kind->user, alert);
  auto newest = alert;
  newest.reason = "newest";
  caf::anon_send(kind->user, newest);
  consume_messages();
  const auto count = heard(second).size();
  CAF_CHECK(count >= 1 && count < 10);
  CAF_CHECK_EQUAL(*text(heard(second).back().infos, attr::event_text_message),
                  "newest");
  const auto& one = heard(second)[0].infos;
  CAF_CHECK_EQUAL(text(one, attr::event_text_message)->size(),
                  defaults::monitor_reason_bytes);
  CAF_CHECK(one.size() < defaults::monitor_alert_infos + 10);
  // And the next one is told.
  caf::anon_send(kind->user, alert);
  consume_messages();
  CAF_CHECK_EQUAL(heard(second).size(), count + 1);
}

CAF_TEST(M11 a monitor of another process is not cancelled with its own) {
  const auto queue = with(monitor_kind_key, value::string("queue"));
  const auto of_first =
    with(attr::monitor_target_procs, value::procs({{"job", 0}}));
  const auto x = monitor(second, queue, {of_first});
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_REQUIRE_EQUAL(kind->started.size(), 1u);
  CAF_CHECK(kind->started[0].proc == (proc_id{"job", 0}));
  CAF_CHECK(kind->started[0].who.proc == (proc_id{"job", 1}));
  const auto* number = find(x->value.infos, monitor_number_key);
  CAF_REQUIRE(number != nullptr);
  CAF_CHECK_EQUAL(number->number<uint64_t>().value_or(0),
                  kind->started[0].number);
  cancel(first, value{});
  cancel(second, value{});
  CAF_CHECK_EQUAL(kind->stops, 0u);
  const auto by_number = [&] {
    return monitor(second, with(attr::monitor_cancel),
                   {with(monitor_number_key, *number)})
      ->code;
  };
  CAF_CHECK_EQUAL(by_number(), status::success);
  CAF_CHECK_EQUAL(kind->stops, 1u);
  CAF_CHECK_EQUAL(by_number(), status::not_found);
}

CAF_TEST(M4 a process of another user is not monitored) {
  const auto stranger = our_uid + 1;
  uut.add_job("theirs", 1, stranger);
  consume_messages();
  const auto them = uut.connect(node::greeting({"theirs", 0}, stranger));
  consume_messages();
  const auto queue = with(monitor_kind_key, value::string("queue"));
  const auto of_first =
    with(attr::monitor_target_procs, value::procs({{"job", 0}}));
  CAF_CHECK_EQUAL(monitor(them, queue, {of_first})->code,
                  status::no_permissions);
  CAF_CHECK_EQUAL(monitor(first, queue,
                          {with(attr::monitor_target_procs,
                                value::procs({{"job", rank_wildcard}}))})
                    ->code,
                  status::bad_param);
  CAF_CHECK(kind->started.empty());
}

CAF_TEST(M24 a reaction that makes no sense is refused before it is needed) {
  objection = make_error(status::bad_param, "no such reaction");
  const auto queue = with(monitor_kind_key, value::string("queue"));
  CAF_CHECK_EQUAL(monitor(first, queue)->code, status::bad_param);
  CAF_CHECK_EQUAL(
    monitor(first, with(attr::monitor_heartbeat),
            {with(attr::monitor_heartbeat_time, value::uint32(1))})
      ->code,
    status::bad_param);
  CAF_CHECK_EQUAL(gauges().gauges[0].value, 0u);
}

// -- lists -------------------------------------------------------------------

CAF_TEST(M10 the monitors of a node can be listed) {
  watch(first, 1, "a");
  monitor(second, with(attr::monitor_file, value::string("/a")),
          {with(attr::monitor_file_check_time, value::uint32(100))});
  elapse(2s);
  const auto x = uut.ask<info_result>(
    first, query_request{{{{std::string{monitor_list_key}}, {}}}});
  consume_messages();
  CAF_REQUIRE_EQUAL(x->code, status::success);
  const auto list = infos_of(*find(x->value.infos, monitor_list_key));
  CAF_REQUIRE_EQUAL(list.size(), 2u);
  const auto one = infos_of(list[0].val);
  CAF_CHECK(text(one, attr::monitor_id) == "a");
  CAF_CHECK(text(one, monitor_kind_key) == "heartbeat");
  CAF_CHECK(flag(one, monitor_silent_key));
  CAF_CHECK(text(one, monitor_reason_key) == "no heartbeat has come");
  CAF_CHECK_EQUAL(seconds_in(one, monitor_last_key), 2.0);
  CAF_CHECK(find(one, monitor_due_key) == nullptr); // Its next beat arms it.
  const auto other = infos_of(list[1].val);
  CAF_CHECK(text(other, attr::monitor_file) == "/a");
  CAF_CHECK(!flag(other, monitor_silent_key));
  CAF_CHECK(find(other, monitor_last_key) == nullptr); // Not looked at yet.
  CAF_CHECK_EQUAL(seconds_in(other, monitor_due_key), 98.0);
}

CAF_TEST(C11.8 monitors of all kinds say when they heard or looked last) {
  watch(first, 10, "a");
  monitor(second, with(attr::monitor_file, value::string("/a")),
          {with(attr::monitor_file_check_time, value::uint32(2))});
  kind->looks = std::make_shared<monitor_looks>();
  monitor(first, with(monitor_kind_key, value::string("queue")));
  elapse(1500ms);
  const auto now = sys.clock().now().time_since_epoch();
  kind->looks->last = now - 1s;
  kind->looks->next = now + 2500ms;
  kind->looks->is_alarmed = true;
  elapse(1s);
  const auto x = uut.ask<info_result>(
    first, query_request{{{{std::string{monitor_list_key}}, {}}}});
  consume_messages();
  CAF_REQUIRE_EQUAL(x->code, status::success);
  const auto list = infos_of(*find(x->value.infos, monitor_list_key));
  CAF_REQUIRE_EQUAL(list.size(), 3u);
  const auto last = [&](size_t i) {
    return seconds_in(infos_of(list[i].val), monitor_last_key);
  };
  const auto due = [&](size_t i) {
    return seconds_in(infos_of(list[i].val), monitor_due_key);
  };
  CAF_CHECK_EQUAL(last(0), 2.5);
  CAF_CHECK_EQUAL(due(0), 7.5);
  CAF_CHECK_EQUAL(last(1), 0.49); // A tick later.
  CAF_CHECK_EQUAL(due(1), 1.5);
  CAF_CHECK_EQUAL(last(2), 2.0);
  CAF_CHECK_EQUAL(due(2), 1.5);
  CAF_CHECK(flag(infos_of(list[2].val), monitor_silent_key));
  // And each is cancelled by its number.
  for (const auto& entry : list) {
    const auto number =
      *find(infos_of(entry.val), std::string{monitor_number_key});
    CAF_CHECK_EQUAL(monitor(first, with(attr::monitor_cancel),
                            {with(monitor_number_key, number)})
                      ->code,
                    status::success);
  }
  CAF_CHECK_EQUAL(gauges().gauges[0].value, 0u);
}

CAF_TEST(MON-5 beats in memory are no messages and silence is found in time) {
  auto why = std::string{};
  const std::shared_ptr<job_memory> memory =
    make_shared_job_memory(3, {0, 1, 2}, 1 << 20, {}, why);
  CAF_REQUIRE(memory);
  uut.beats->add("job", memory);
  const auto where = parse_store_address(memory->lend(0));
  CAF_REQUIRE(where);
  const auto process = store_access::attach(*where, ::geteuid(), 0);
  CAF_REQUIRE(process);
  using posting = store_access::posting;
  const auto shows = [&] {
    return process->beat([&] {
      const std::chrono::nanoseconds now = sys.clock().now().time_since_epoch();
      return static_cast<uint64_t>(now.count());
    });
  };
  watch(first, 1);
  watch(first, 2);
  for (int i = 0; i < 20; ++i) {
    elapse(400ms);
    CAF_CHECK(shows() == posting::done);
  }
  CAF_CHECK(heard(second).empty());
  elapse(990ms);
  CAF_CHECK(heard(second).empty());
  elapse(30ms);
  CAF_CHECK_EQUAL(heard(second).size(), 1u);
  // It has to say so now, and both watch it again.
  CAF_CHECK(shows() == posting::wanted);
  beat(first);
  CAF_CHECK(shows() == posting::done);
  elapse(990ms);
  CAF_CHECK_EQUAL(heard(second).size(), 1u);
  elapse(1100ms);
  CAF_CHECK_EQUAL(heard(second).size(), 3u);
  // One that is watched no more is not asked for messages.
  CAF_CHECK(shows() == posting::wanted);
  CAF_CHECK_EQUAL(cancel(first, {}), status::success);
  CAF_CHECK(shows() == posting::done);
}

CAF_TEST(C11.7 an actor may have last words when its process has ended) {
  monitor(first, with(monitor_kind_key, value::string("queue")));
  CAF_REQUIRE_EQUAL(kind->started.size(), 1u);
  uut.ask<ack>(second, register_events_request{{status::success}, {}});
  const auto number = kind->started[0].number;
  uut.end_process({"job", 0});
  elapse(500ms);
  CAF_CHECK_EQUAL(gauges().gauges[0].value, 1u);
  caf::anon_send(kind->user, monitor_alert{number, "its node is lost", {}});
  consume_messages();
  CAF_CHECK_EQUAL(reactions.size(), 1u);
  elapse(600ms);
  CAF_CHECK_EQUAL(gauges().gauges[0].value, 0u);
  CAF_CHECK_EQUAL(kind->stops, 1u);
  // One of ours that looks has none.
  kind->looks = std::make_shared<monitor_looks>();
  monitor(second, with(monitor_kind_key, value::string("queue")));
  uut.end_process({"job", 1});
  consume_messages();
  CAF_CHECK_EQUAL(gauges().gauges[0].value, 0u);
}

// -- load --------------------------------------------------------------------

CAF_TEST(LIM7 120 ten thousand monitors share their reminders) {
  auto peers = std::vector<peer_ptr>{};
  uut.add_job("big", 157);
  consume_messages();
  for (uint32_t rank = 0; rank < 157; ++rank)
    peers.push_back(uut.connect("big", rank));
  consume_messages();
  for (const auto& x : peers)
    for (int i = 0; i < 63; ++i)
      watch(x, 1);
  auto messages = size_t{0};
  for (int i = 0; i < 20; ++i) {
    messages += elapse(500ms);
    for (const auto& x : peers)
      caf::anon_send(x->session, heartbeat{});
    consume_messages();
  }
  CAF_CHECK(heard(second).empty());
  // 10 s: reminders, some of them stale, and no message for each monitor.
  CAF_CHECK(messages < 2'000);
}

CAF_TEST_FIXTURE_SCOPE_END()

// -- who monitors ------------------------------------------------------------

namespace {

struct deferring : deterministic {
  std::unique_ptr<node> uut;
  peer_ptr client;

  void start(bool is_enabled, bool is_fallback) {
    uut = std::make_unique<node>(*this, [=](monitor_desk_options& x) {
      x.is_enabled = is_enabled;
      x.is_fallback = is_fallback;
    });
    uut->add_job("job", 1);
    consume_messages();
    client = uut->connect("job", 0);
    consume_messages();
    uut->ask<ack>(
      client, register_events_request{{status::monitor_heartbeat_alert}, {}});
    consume_messages();
  }

  status watch() {
    const auto x = uut->ask<info_result>(
      client,
      monitor_request{with(attr::monitor_heartbeat),
                      status::success,
                      {with(attr::monitor_heartbeat_time, value::uint32(1))}});
    consume_messages();
    return x->code;
  }

  size_t asked() const {
    return uut->host_play->requests.size();
  }

  size_t alerts() {
    elapse(3s);
    return client->wire->events.size();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(monitor_policy_tests, deferring)

CAF_TEST(M7 A18 117 the host is asked unless monitoring is enabled) {
  start(false, false);
  CAF_CHECK_EQUAL(watch(), status::success);
  CAF_CHECK_EQUAL(asked(), 1u);
  CAF_CHECK_EQUAL(uut->host_play->requests[0].second, "monitor");
  CAF_CHECK_EQUAL(alerts(), 0u);
}

CAF_TEST(M5 M7 A18 117 without a host that monitors it is not supported) {
  start(false, false);
  uut->host_play->others = status::not_supported;
  CAF_CHECK_EQUAL(watch(), status::not_supported);
  CAF_CHECK_EQUAL(alerts(), 0u);
}

CAF_TEST(M6 M7 A18 117 a server that monitors by itself asks nobody) {
  start(true, false);
  CAF_CHECK_EQUAL(watch(), status::success);
  CAF_CHECK_EQUAL(asked(), 0u);
  CAF_CHECK_EQUAL(alerts(), 1u);
}

CAF_TEST(M6 A18 a server may do what its host does not) {
  start(false, true);
  uut->host_play->others = status::not_supported;
  CAF_CHECK_EQUAL(watch(), status::success);
  CAF_CHECK_EQUAL(asked(), 1u);
  CAF_CHECK_EQUAL(alerts(), 1u);
}

CAF_TEST(A18 what a host refuses for another reason stays refused) {
  start(false, true);
  uut->host_play->others = status::no_permissions;
  CAF_CHECK_EQUAL(watch(), status::no_permissions);
  CAF_CHECK_EQUAL(alerts(), 0u);
}

CAF_TEST(M11 A18 a host cancels what it monitors) {
  start(false, false);
  const auto x = uut->ask<info_result>(
    client, monitor_request{with(attr::monitor_cancel, value::string("x")),
                            status::success,
                            {}});
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(asked(), 1u);
}

CAF_TEST(A18 what is not known here is for the host) {
  start(true, false);
  uut->host_play->others = status::success;
  const auto x = uut->ask<info_result>(
    client, monitor_request{with("site.monitor"), status::success, {}});
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(asked(), 1u);
}

CAF_TEST_FIXTURE_SCOPE_END()
