// The session of a connected process: it passes requests on, in the name of
// whom the server found the process to be.

#include "actors/client.hpp"

#include "messages/attributes.hpp"
#include "tests/fixtures/node.hpp"
#include "tests/test.hpp"

#include <caf/send.hpp>

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
  const auto x = uut.fence(client, {{"job", 1}});
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
