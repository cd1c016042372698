// The session of a connected process: it passes requests on, in the name of
// whom the server found the process to be.

#include "actors/server/client.hpp"

#include "actors/groups/group_keys.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/node.hpp"
#include "tests/test.hpp"

#include <caf/send.hpp>

#include <set>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

struct fixture : deterministic {
  node uut{*this};
  peer_ptr client;

  fixture() {
    uut.add_job("job", 2);
    consume_messages();
    client = uut.connect("job", 1);
    consume_messages();
  }

  template <class T, class Request>
  pending<T> ask(Request x) {
    auto result = uut.ask<T>(client, std::move(x));
    consume_messages();
    return result;
  }

  /// Makes a request that is the host's business and checks what it sees.
  template <class T, class Request>
  void check_host(const std::string& name, Request x) {
    CAF_MESSAGE(name);
    uut.host_play->requests.clear();
    CAF_CHECK_EQUAL(ask<T>(std::move(x))->code, status::success);
    CAF_REQUIRE_EQUAL(uut.host_play->requests.size(), 1u);
    const auto& [who, what] = uut.host_play->requests.front();
    CAF_CHECK_EQUAL(what, name);
    CAF_CHECK(who.proc == (proc_id{"job", 1}));
    CAF_CHECK_EQUAL(who.creds.uid, our_uid);
    CAF_CHECK_EQUAL(who.index, client->accepted.index);
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(client_tests, fixture)

CAF_TEST(X12 requests go to the host in the name of the process) {
  check_host<ack>("abort", abort_request{1, std::nullopt, {}});
  check_host<ack>("publish", publish_request{our_uid, {}});
  check_host<lookup_result>("lookup", lookup_request{our_uid, {}, {}});
  check_host<ack>("unpublish", unpublish_request{our_uid, {}, {}});
  check_host<spawn_result>("spawn", spawn_request{});
  check_host<info_result>("job control", job_control_request{});
  check_host<info_result>("monitor", monitor_request{});
  check_host<info_result>("allocation", allocation_request{});
  check_host<info_result>("session control", session_control_request{});
  check_host<ack>("resource block", resource_block_request{});
  check_host<get_credential_result>("get credential", get_credential_request{});
  check_host<info_result>("validate credential", validate_credential_request{});
  check_host<info_result>("fabric register", fabric_register_request{});
  check_host<info_result>("fabric update", fabric_update_request{});
  check_host<io_pull_result>("io pull", io_pull_request{});
  check_host<ack>("io deregister", io_deregister_request{});
  check_host<ack>("io push", io_push_request{});
}

CAF_TEST(I6 I18 LIM14 big input reaches the host in pieces and in order) {
  const auto push = [&](size_t size) {
    return ask<ack>(io_push_request{{{"job", 0}}, {}, std::string(size, 'x')})
      ->code;
  };
  auto& seen = uut.host_play->requests;
  CAF_CHECK_EQUAL(push(size_t{64} << 10), status::success);
  CAF_CHECK_EQUAL(seen.size(), 1u);
  CAF_CHECK_EQUAL(push((size_t{1} << 20) + 1), status::success);
  CAF_CHECK_EQUAL(seen.size(), 1u + 17u);
  CAF_CHECK_EQUAL(push(1), status::success);
  CAF_CHECK_EQUAL(seen.size(), 1u + 17u + 1u);
  // A piece that is refused is the last.
  uut.host_play->others = status::unreach;
  CAF_CHECK_EQUAL(push(size_t{1} << 20), status::unreach);
  CAF_CHECK_EQUAL(seen.size(), 1u + 17u + 1u + 1u);
}

CAF_TEST(X3 who writes another user than its own is refused) {
  const auto stranger = our_uid + 1;
  const auto x = ask<ack>(publish_request{stranger, {}});
  CAF_CHECK_EQUAL(x->code, status::no_permissions);
  CAF_CHECK(x->reason.find("job:1") != std::string::npos);
  CAF_CHECK_EQUAL(ask<lookup_result>(lookup_request{stranger, {}, {}})->code,
                  status::no_permissions);
  CAF_CHECK_EQUAL(ask<ack>(unpublish_request{0, {}, {}})->code,
                  status::no_permissions);
  CAF_CHECK(uut.host_play->requests.empty());
}

CAF_TEST(F4.38 what the host does not support is said so) {
  uut.host_play->others = status::not_supported;
  CAF_CHECK_EQUAL(ask<info_result>(monitor_request{})->code,
                  status::not_supported);
  CAF_CHECK_EQUAL(
    ask<device_distances_result>(device_distances_request{})->code,
    status::not_supported);
}

CAF_TEST(F4.38 a heartbeat is taken without an answer) {
  caf::anon_send(client->session, heartbeat{});
  consume_messages();
  CAF_CHECK_EQUAL(ask<ack>(commit_request{})->code, status::success);
}

CAF_TEST(F4.37 an event goes to the connection) {
  caf::anon_send(client->session,
                 batch_of({status::proc_aborted, {"job", 0}, {}, {}}));
  consume_messages();
  CAF_REQUIRE_EQUAL(client->wire->events.size(), 1u);
  CAF_CHECK_EQUAL(client->wire->events[0].code, status::proc_aborted);
}

// -- groups ------------------------------------------------------------------

CAF_TEST(G7 G8 whoever serves a request sees members and no group) {
  const auto other = uut.connect("job", 0);
  consume_messages();
  const auto members = std::make_shared<const std::vector<proc_id>>(
    std::vector<proc_id>{{"job", 1}, {"job", 0}});
  caf::anon_send(client->session, group_known{"g", members});
  consume_messages();
  // One names the group, the other its members: it is the same fence.
  const auto x = uut.fence(client, {{"g", rank_wildcard}});
  consume_messages();
  CAF_CHECK(x->is_pending());
  const auto y = uut.fence(other, {{"job", 0}, {"job", 1}});
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(y->code, status::success);
  // A value is found under both names.
  uut.commit(other, {post(scope::global, "key", "of zero")});
  consume_messages();
  const auto z = uut.get(client, {"g", 1}, "key");
  consume_messages();
  CAF_REQUIRE_EQUAL(z->code, status::success);
  auto names = std::set<proc_id>{};
  for (const auto& block : z->value.blocks)
    for (const auto& entry : block.entries)
      if (entry.key == "key")
        names.insert(block.proc);
  CAF_CHECK((names == std::set<proc_id>{{"g", 1}, {"job", 0}}));
  CAF_CHECK_EQUAL(uut.host_play->asked.size(), 0u);
}

CAF_TEST(G7 G45 a group that cannot be named is refused before anybody sees it) {
  const auto members = std::make_shared<const std::vector<proc_id>>(
    std::vector<proc_id>{{"job", 1}});
  caf::anon_send(client->session, group_known{"g", members});
  caf::anon_send(client->session, group_known{"left", nullptr});
  consume_messages();
  const auto refused = [&](const proc_id& named, status code) {
    const auto infos =
      std::vector<info>{with(attr::event_custom_range, value::of_proc(named))};
    CAF_CHECK_EQUAL(ask<ack>(fence_request{{named}, {}})->code, code);
    CAF_CHECK_EQUAL(ask<get_result>(get_request{named, {}, "key"})->code, code);
    CAF_CHECK_EQUAL(ask<ack>(publish_request{our_uid, infos})->code, code);
    CAF_CHECK_EQUAL(ask<ack>(notify_request{{}, {}, infos})->code, code);
    CAF_CHECK_EQUAL(ask<ack>(register_events_request{{}, infos})->code, code);
    CAF_CHECK_EQUAL(ask<info_result>(monitor_request{infos[0], {}, {}})->code,
                    code);
    CAF_CHECK_EQUAL(ask<info_result>(job_control_request{{named}, {}})->code,
                    code);
  };
  refused({"g", 1}, status::bad_param);
  refused({"left", 0}, status::invalid_namespace);
  CAF_CHECK(uut.host_play->requests.empty());
}

CAF_TEST(G36 an event that concerns no group is an event like any other) {
  const auto other = uut.connect("job", 0);
  consume_messages();
  CAF_CHECK_EQUAL(
    uut.ask<ack>(other, register_events_request{{status::group_left}, {}})
      ->code,
    status::operation_in_progress);
  consume_messages();
  // What only servers say is taken out of it.
  const auto x =
    ask<ack>(notify_request{status::group_left,
                            data_range::nspace,
                            {with(group_keys::round, value::uint64(3)),
                             with("app.note", value::string("bye"))}});
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_REQUIRE_EQUAL(other->wire->events.size(), 1u);
  const auto& infos = other->wire->events[0].infos;
  CAF_CHECK(find(infos, "app.note") != nullptr);
  CAF_CHECK(find(infos, group_keys::round) == nullptr);
  // An invitation that nobody knows is over, whatever the event says of it.
  const auto late =
    ask<ack>(notify_request{status::group_left,
                            data_range::nspace,
                            {with(group_keys::invitation, value::uint64(4))}});
  CAF_CHECK_EQUAL(late->code, status::not_a_member);
  CAF_CHECK_EQUAL(other->wire->events.size(), 1u);
  // What handlers decided about nothing goes to nobody.
  const auto y =
    ask<ack>(notify_request{status::group_verdict, data_range::nspace, {}});
  CAF_CHECK(y->code != status::success);
  CAF_CHECK(!y->is_pending());
  CAF_CHECK_EQUAL(other->wire->events.size(), 1u);
}

CAF_TEST(MND-SMALL only the runtime tells others what has become of a process) {
  const auto raise = [&](status code, data_range range,
                         std::vector<info> infos = {}) {
    return ask<ack>(notify_request{code, range, std::move(infos)})->code;
  };
  const auto targets = [](std::vector<proc_id> procs) {
    return std::vector<info>{
      with(attr::event_custom_range, value::procs(std::move(procs)))};
  };
  for (const auto code :
       {status::proc_aborted, status::job_end, status::event_node_down})
    for (const auto range :
         {data_range::session, data_range::global, data_range::undef})
      CAF_CHECK_EQUAL(raise(code, range), status::no_permissions);
  CAF_CHECK_EQUAL(raise(status::proc_aborted, data_range::custom,
                        targets({{"job", 1}, {"other", 0}})),
                  status::no_permissions);
  // As Open MPI tells its own job of a failure.
  CAF_CHECK_EQUAL(raise(status::proc_term_wo_sync, data_range::local),
                  status::success);
  CAF_CHECK_EQUAL(raise(status::proc_aborted, data_range::nspace),
                  status::success);
  CAF_CHECK(
    raise(status::proc_aborted, data_range::custom, targets({{"job", 0}}))
    != status::no_permissions);
  // What is its own it may tell to all.
  CAF_CHECK_EQUAL(raise(static_cast<status>(-4711), data_range::session),
                  status::success);
}

CAF_TEST(G12 who has registered for a code is known) {
  const auto other = uut.connect("job", 0);
  consume_messages();
  uut.ask<ack>(other, register_events_request{{status::group_left}, {}});
  // A default handler does not count.
  uut.ask<ack>(client, register_events_request{});
  consume_messages();
  const auto listeners = [&](status code) {
    return request<event_listeners>(
             uut.events,
             find_listeners{code, {{"job", 1}, {"job", 0}, {"far", 0}}})
      .procs;
  };
  CAF_CHECK(
    (listeners(status::group_left) == std::vector<proc_id>{{"job", 0}}));
  CAF_CHECK(listeners(status::group_invited).empty());
  caf::anon_send(other->session,
                 deregister_events_request{{status::group_left}});
  consume_messages();
  CAF_CHECK(listeners(status::group_left).empty());
}

CAF_TEST(X35 a session ends with its connection) {
  const auto before = sys.registry().running();
  client->wire->session = nullptr;
  const auto session = client->session;
  client->session = nullptr;
  caf::anon_send(session, connection_lost{});
  consume_messages();
  CAF_CHECK_EQUAL(uut.host_play->lost.size(), 1u);
  CAF_CHECK(sys.registry().running() < before);
  // A request that comes too late is answered all the same.
  const auto late = fixtures::ask<ack>(sys, session, commit_request{});
  consume_messages();
  CAF_CHECK_EQUAL(late->code, status::unreach);
}

CAF_TEST(X35 what a session asked is answered although it has ended) {
  uut.host_play->holds = true;
  // A fence with a process of another node: the host is asked.
  auto job = register_nspace{};
  job.nspace = "wide";
  job.owner = {our_uid, our_uid};
  job.local_ranks = {0};
  job.infos = {with(attr::job_size, value::uint32(2))};
  uut.tell<ack>(std::move(job));
  uut.host_play->holds = false;
  consume_messages();
  client = uut.connect("wide", 0);
  consume_messages();
  uut.host_play->holds = true;
  const auto x = uut.fence(client);
  consume_messages();
  CAF_CHECK(x->is_pending());
  uut.lose(client);
  consume_messages();
  uut.host_play->release();
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
}

CAF_TEST(a request to close goes to the connection) {
  caf::anon_send(client->session, close_connection{"enough"});
  consume_messages();
  CAF_CHECK((client->wire->closed == std::vector<std::string>{"enough"}));
  CAF_CHECK_EQUAL(uut.host_play->lost.size(), 1u);
}

CAF_TEST_FIXTURE_SCOPE_END()
