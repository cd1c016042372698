// What a daemon that embeds the runtime gets at: each actor by its handle, a
// loop of its own, the disk for events, and the truth about events that nobody
// carries.

#include "actors/mesh/partial_host.hpp"
#include "adapters/wire/uri.hpp"
#include "messages/attributes.hpp"
#include "runtime/runtime.hpp"
#include "tests/adapters/link/scripted_server.hpp"

#include <caf/scoped_actor.hpp>

#include <unistd.h>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

constexpr auto long_enough = std::chrono::seconds{60};
constexpr auto an_event = static_cast<status>(-4711);
const auto first = proc_id{"job", 0};

template <class T>
T value_of(caf::expected<T> x) {
  if (!x)
    CAF_FAIL(reason_of(x.error()));
  return std::move(*x);
}

register_nspace job_of(uint32_t size, std::vector<uint32_t> here) {
  auto result = register_nspace{};
  result.nspace = first.nspace;
  result.owner = {::getuid(), ::getgid()};
  result.local_ranks = std::move(here);
  result.infos = {{std::string{attr::job_size}, 0, value::uint32(size)}};
  return result;
}

/// A daemon without a resource manager, and processes that connect to it.
struct embedded {
  explicit embedded(runtime_options options = {}, uint32_t job_size = 1) {
    options.tools = false;
    rt = value_of(runtime::start(std::move(options), [](caf::actor_system& x) {
      return spawn_partial_host(x, {});
    }));
    CAF_REQUIRE(!rt->register_nspace(job_of(job_size, {0})));
  }

  status connect(client& x) const {
    auto how = link_settings{};
    how.uri = value_of(wire::parse_uri(rt->uri()));
    how.self = first;
    return x.connect(how);
  }

  /// The answer of an actor of the runtime.
  template <class Answer, class Handle, class... Ts>
  caf::expected<Answer> ask(const Handle& whom, Ts... what) {
    auto result = caf::expected<Answer>{caf::sec::none};
    caf::scoped_actor me{rt->actors()};
    me->request(whom, long_enough, std::move(what)...)
      .receive([&](Answer& x) { result = std::move(x); },
               [&](caf::error& why) { result = std::move(why); });
    return result;
  }

  std::unique_ptr<runtime> rt;
};

/// The answer to a process that raises an event.
status raise(embedded& daemon, data_range range, std::vector<info> infos = {}) {
  const auto session = value_of(daemon.rt->session(first));
  const auto answer =
    daemon.ask<ack>(session, notify_request{an_event, range, std::move(infos)});
  return answer ? status::success : status_of(answer.error());
}

} // namespace

CAF_TEST(C12.7 an embedder has the session of each process and hears its end) {
  embedded daemon;
  CAF_CHECK_EQUAL(status_of(daemon.rt->session(first).error()),
                  status::not_found);
  client process;
  CAF_REQUIRE(daemon.connect(process) == status::success);
  const auto session = value_of(daemon.rt->session(first));
  caf::scoped_actor me{daemon.rt->actors()};
  me->monitor(session);
  // It takes what the process may ask, and events for it.
  CAF_CHECK(daemon.ask<get_result>(
    session,
    get_request{{"job", rank_wildcard}, {}, std::string{attr::job_size}}));
  auto news = event_batch{};
  news.events.push_back(std::make_shared<const troupe::event>(
    troupe::event{an_event, {"job", 7}, data_range::local, {}}));
  caf::anon_send(session, news);
  CAF_CHECK(process.eventually([&] { return process.events.size() == 1; }));
  process.uut->close();
  me->receive([&](const caf::down_msg& x) { CAF_CHECK(x.source == session); },
              caf::after(long_enough) >> [] { CAF_FAIL("no end"); });
  CAF_CHECK_EQUAL(status_of(daemon.rt->session(first).error()),
                  status::not_found);
}

CAF_TEST(C12.7 an embedder has the log of events and the monitors and streams) {
  embedded daemon;
  client process;
  CAF_REQUIRE(daemon.connect(process) == status::success);
  CAF_REQUIRE(process.uut->call(register_events_request{{an_event}, {}}));
  const auto heard = value_of(daemon.ask<event_listeners>(
    daemon.rt->events(), find_listeners{an_event, {first}}));
  CAF_CHECK(heard.procs == std::vector<proc_id>{first});
  CAF_CHECK(daemon.ask<ack>(
    daemon.rt->events(),
    deliver_event{{an_event, {}, data_range::nspace, {}}, {first}}));
  CAF_CHECK(process.eventually([&] { return process.events.size() == 1; }));

  const auto gauges =
    value_of(daemon.ask<gauge_list>(daemon.rt->monitors(), get_gauges{}));
  CAF_CHECK(!gauges.gauges.empty());
  const auto streams =
    value_of(daemon.ask<io_list>(daemon.rt->streams(), list_io{}));
  CAF_CHECK(streams.streams.empty());
  const auto known = value_of(
    daemon.ask<server_statistics>(daemon.rt->server(), get_statistics{}));
  CAF_CHECK(known.connections > 0);
}

CAF_TEST(C12.7 an embedder has the actor of each group and hears its end) {
  embedded daemon;
  client process;
  CAF_REQUIRE(daemon.connect(process) == status::success);
  CAF_CHECK(value_of(daemon.rt->groups()).groups.empty());
  CAF_CHECK_EQUAL(status_of(daemon.rt->group({"pair", 0, 1}).error()),
                  status::not_found);
  CAF_REQUIRE(process.uut->call(group_construct_request{"pair", {first}, {}}));
  const auto all = value_of(daemon.rt->groups()).groups;
  CAF_REQUIRE(all.size() == 1);
  CAF_CHECK_EQUAL(all[0].group.id, "pair");
  const auto group = value_of(daemon.rt->group(all[0].group));
  caf::scoped_actor me{daemon.rt->actors()};
  me->monitor(group);
  const auto how =
    value_of(daemon.ask<group_status>(group, get_group_status{}));
  CAF_CHECK(how.phase == group_phase::complete);
  CAF_CHECK(how.members == std::vector<proc_id>{first});
  CAF_REQUIRE(process.uut->call(group_destruct_request{"pair", {}, {}}));
  me->receive([&](const caf::down_msg& x) { CAF_CHECK(x.source == group); },
              caf::after(long_enough) >> [] { CAF_FAIL("no end"); });
}

CAF_TEST(C12.8 what nobody carries beyond the node is not said to have gone) {
  embedded daemon{{}, 2}; // The other process is on another node.
  client process;
  CAF_REQUIRE(daemon.connect(process) == status::success);
  CAF_CHECK_EQUAL(raise(daemon, data_range::nspace), status::not_supported);
  CAF_CHECK_EQUAL(raise(daemon, data_range::session), status::not_supported);
  CAF_CHECK_EQUAL(raise(daemon, data_range::global), status::not_supported);
  CAF_CHECK_EQUAL(raise(daemon, data_range::rm), status::not_supported);
  const auto to = [](uint32_t rank) {
    return std::vector<info>{{std::string{attr::event_custom_range}, 0,
                              value::procs({{"job", rank}})}};
  };
  CAF_CHECK_EQUAL(raise(daemon, data_range::custom, to(1)),
                  status::not_supported);
  CAF_CHECK_EQUAL(raise(daemon, data_range::custom, to(rank_wildcard)),
                  status::not_supported);
  // These stay here.
  CAF_CHECK_EQUAL(raise(daemon, data_range::local), status::success);
  CAF_CHECK_EQUAL(raise(daemon, data_range::custom, to(0)), status::success);
}

CAF_TEST(C12.8 whoever is here gets an event that goes no further) {
  embedded daemon{{}, 3};
  CAF_REQUIRE(
    !daemon.rt->register_client({"job", 1}, {::getuid(), ::getgid()}));
  client process;
  CAF_REQUIRE(daemon.connect(process) == status::success);
  client other;
  auto how = link_settings{};
  how.uri = value_of(wire::parse_uri(daemon.rt->uri()));
  how.self = proc_id{"job", 1};
  CAF_REQUIRE(other.connect(how) == status::success);
  CAF_REQUIRE(other.uut->call(register_events_request{{an_event}, {}}));
  CAF_CHECK_EQUAL(raise(daemon, data_range::nspace), status::not_supported);
  CAF_CHECK(other.eventually([&] { return other.events.size() == 1; }));
}

CAF_TEST(C12.8 an event of a job that is all here has reached all) {
  embedded daemon; // One process in all.
  client process;
  CAF_REQUIRE(daemon.connect(process) == status::success);
  CAF_CHECK_EQUAL(raise(daemon, data_range::nspace), status::success);
  CAF_CHECK_EQUAL(raise(daemon, data_range::session), status::not_supported);
}

namespace {

/// How many of the events that a job has had before its process came it gets
/// then, each of 64 KiB.
size_t kept_of(size_t count, bool spool) {
  auto options = runtime_options{};
  options.spool_events = spool;
  embedded daemon{std::move(options)};
  for (size_t i = 0; i < count; ++i)
    CAF_REQUIRE(daemon.ask<ack>(
      daemon.rt->events(),
      deliver_event{{an_event,
                     {"job", 1},
                     data_range::nspace,
                     {{"text", 0, value::string(std::string(65536, 'x'))}}},
                    {}}));
  client process;
  CAF_REQUIRE(daemon.connect(process) == status::success);
  CAF_REQUIRE(process.uut->call(register_events_request{{an_event}, {}}));
  auto last = troupe::event{an_event, {"job", 1}, data_range::nspace, {}};
  last.infos.push_back({"last", 0, value::boolean(true)});
  CAF_REQUIRE(daemon.ask<ack>(daemon.rt->events(), deliver_event{last, {}}));
  CAF_REQUIRE(process.eventually([&] {
    return !process.events.empty() && flag(process.events.back().infos, "last");
  }));
  return process.on_loop([&] { return process.events.size() - 1; });
}

} // namespace

CAF_TEST(C12.9 E11 an embedder keeps events on disk unless it does not want to) {
  // 10 MiB, and memory has 4.
  CAF_CHECK_EQUAL(kept_of(160, true), 160u);
  CAF_CHECK(kept_of(160, false) < 80);
}

namespace {

/// What a site says.
site_settings set(const std::vector<std::string>& words) {
  auto result = site_settings{};
  if (auto err = result.apply_words(words, "--set"))
    CAF_FAIL(reason_of(err));
  return result;
}

/// As `kept_of`.
size_t heard_with(const std::vector<std::string>& words, size_t count) {
  auto options = runtime_options{};
  options.settings = set(words);
  embedded daemon{std::move(options)};
  auto what = troupe::event{an_event, {"job", 1}, data_range::nspace, {}};
  what.infos.push_back({"text", 0, value::string(std::string(65536, 'x'))});
  for (size_t i = 0; i < count; ++i)
    CAF_REQUIRE(daemon.ask<ack>(daemon.rt->events(), deliver_event{what, {}}));
  auto last = troupe::event{an_event, {"job", 1}, data_range::nspace, {}};
  last.infos.push_back({"last", 0, value::boolean(true)});
  caf::anon_send(daemon.rt->events(), deliver_event{last, {}});
  client process;
  CAF_REQUIRE(daemon.connect(process) == status::success);
  CAF_REQUIRE(process.uut->call(register_events_request{{an_event}, {}}));
  CAF_REQUIRE(process.eventually([&] {
    return !process.events.empty() && flag(process.events.back().infos, "last");
  }));
  return process.on_loop([&] { return process.events.size() - 1; });
}

/// The bound that a gauge of the event log shows.
uint64_t bound_of(const std::vector<std::string>& words,
                  const std::string& gauge) {
  auto options = runtime_options{};
  options.settings = set(words);
  embedded daemon{std::move(options)};
  const auto all =
    value_of(daemon.ask<gauge_list>(daemon.rt->events(), get_gauges{}));
  for (const auto& x : all.gauges)
    if (x.name == gauge)
      return x.bound;
  return 0;
}

} // namespace

CAF_TEST(E11 E12 settings of an embedder say what is kept for who comes late) {
  // 10 MiB of events.
  CAF_CHECK_EQUAL(heard_with({}, 160), 160u);
  CAF_CHECK(heard_with({"events.disk=0"}, 160) < 80);
  CAF_CHECK_EQUAL(heard_with({"events.disk=0", "events.memory=16M"}, 160),
                  160u);
  CAF_CHECK(heard_with({"events.disk=0", "events.memory=2M"}, 160) < 40);
  CAF_CHECK(heard_with({"events.disk=2M"}, 160) < 120);
  CAF_CHECK(
    heard_with({"events.disk=0", "events.memory=16M", "events.node=2M"}, 160)
    < 40);
}

CAF_TEST(LIM9 LIM10 settings of an embedder are bounds of gauges) {
  CAF_CHECK_EQUAL(bound_of({}, "events.ring"), 512u);
  CAF_CHECK_EQUAL(bound_of({"events.environment=7"}, "events.ring"), 7u);
  CAF_CHECK_EQUAL(bound_of({"events.node=3M"}, "events.memory"), 3u << 20);
  CAF_CHECK_EQUAL(bound_of({}, "events.disk"), uint64_t{4} << 30);
  CAF_CHECK_EQUAL(bound_of({"events.node_disk=3M"}, "events.disk"), 3u << 20);
  // Else what one namespace may have would be cut.
  CAF_CHECK_EQUAL(bound_of({"events.disk=8G"}, "events.disk"),
                  uint64_t{8} << 30);
}

CAF_TEST(LIM15 a setting of an embedder bounds what a process posts) {
  const auto commit = [](const std::vector<std::string>& words) {
    auto options = runtime_options{};
    options.settings = set(words);
    embedded daemon{std::move(options)};
    client process;
    CAF_REQUIRE(daemon.connect(process) == status::success);
    auto request = commit_request{};
    request.blocks.push_back(
      {scope::global, {{"key", value::string(std::string(100'000, 'x'))}}});
    const auto session = value_of(daemon.rt->session(first));
    const auto answer = daemon.ask<ack>(session, std::move(request));
    return answer ? status::success : status_of(answer.error());
  };
  CAF_CHECK_EQUAL(commit({}), status::success);
  CAF_CHECK_EQUAL(commit({"posted.bytes=50000"}), status::out_of_resource);
}

CAF_TEST(C12.4 a runtime on a loop that is there serves beside other actors) {
  loop_system loop;
  auto options = runtime_options{};
  options.tools = false;
  auto rt = value_of(runtime::start(loop, std::move(options), [](auto& x) {
    return spawn_partial_host(x, {});
  }));
  const auto beside =
    loop.actors().spawn([] { return caf::behavior{[](int x) { return x; }}; });
  auto thread = std::thread{[&] { loop.run(); }};
  CAF_CHECK(!rt->register_nspace(job_of(1, {0})));
  CAF_CHECK(&rt->actors() == &loop.actors());
  {
    caf::scoped_actor me{loop.actors()};
    me->request(beside, long_enough, 7)
      .receive([](int x) { CAF_CHECK_EQUAL(x, 7); },
               [](caf::error&) { CAF_FAIL("no answer"); });
  }
  CAF_CHECK(!rt->deregister_nspace("job"));
  loop.stop();
  thread.join();
  rt->stop();
  caf::anon_send_exit(beside, caf::exit_reason::user_shutdown);
}

CAF_TEST(C12.4 what is asked of a loop that nobody runs fails in the end) {
  loop_system loop;
  auto options = runtime_options{};
  options.tools = false;
  auto rt = value_of(runtime::start(loop, std::move(options), [](auto& x) {
    return spawn_partial_host(x, {});
  }));
  CAF_CHECK_EQUAL(status_of(rt->register_nspace(job_of(1, {0}))),
                  status::timeout);
  // It is done when somebody comes.
  auto thread = std::thread{[&] { loop.run(); }};
  CAF_CHECK_EQUAL(status_of(rt->register_nspace(job_of(1, {0}))),
                  status::exists);
  CAF_CHECK(!rt->deregister_nspace("job"));
  loop.stop();
  thread.join();
  rt->stop();
}

CAF_TEST(C12.7 what is asked of a runtime that has been stopped fails) {
  auto options = runtime_options{};
  options.tools = false;
  auto rt = value_of(runtime::start(
    std::move(options), [](auto& x) { return spawn_partial_host(x, {}); }));
  const auto uri = rt->uri();
  rt->stop();
  CAF_CHECK_EQUAL(status_of(rt->register_nspace(job_of(1, {0}))), status::init);
  CAF_CHECK_EQUAL(status_of(rt->deregister_nspace("job")), status::init);
  CAF_CHECK_EQUAL(status_of(rt->register_client(first, {})), status::init);
  CAF_CHECK_EQUAL(status_of(rt->setup_fork(first).error()), status::init);
  CAF_CHECK_EQUAL(status_of(rt->forward({})), status::init);
  CAF_CHECK_EQUAL(status_of(rt->give_input({}).error()), status::init);
  CAF_CHECK_EQUAL(status_of(rt->session(first).error()), status::init);
  CAF_CHECK_EQUAL(status_of(rt->groups().error()), status::init);
  rt->proc_ended(first, proc_state::terminated);
  rt->notify({}, {});
  CAF_CHECK(rt->server() && rt->events() && rt->monitors() && rt->streams());
  CAF_CHECK_EQUAL(rt->uri(), uri);
  rt->stop();
}
