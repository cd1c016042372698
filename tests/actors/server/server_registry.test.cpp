// What a host registers one by one: clients, resources, process sets; and what
// it asks on behalf of other nodes.

#include "actors/server/gets.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/node.hpp"
#include "tests/test.hpp"

#include <caf/send.hpp>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

struct fixture : deterministic {
  node uut{*this};

  template <class T, class Request>
  pending<T> tell(Request x) {
    auto result = uut.tell<T>(std::move(x));
    consume_messages();
    return result;
  }

  status add_client(const std::string& nspace, uint32_t rank,
                    uint32_t uid = our_uid) {
    return tell<ack>(register_client{{nspace, rank}, {uid, uid}})->code;
  }

  /// A namespace of two processes here, as the C API registers it.
  void add_nspace(const std::string& nspace, uint32_t size = 2) {
    auto request = register_nspace{};
    request.nspace = nspace;
    request.owner = {our_uid, our_uid};
    for (uint32_t rank = 0; rank < 2; ++rank)
      request.local_ranks.push_back(rank);
    request.infos = {with(attr::job_size, value::uint32(size))};
    request.clients_follow = true;
    CAF_REQUIRE_EQUAL(tell<ack>(std::move(request))->code, status::success);
  }

  peer_ptr connect(const std::string& nspace, uint32_t rank) {
    auto result = uut.connect(nspace, rank);
    consume_messages();
    return result;
  }

  void commit(const peer_ptr& who, std::vector<posted_data> blocks) {
    uut.commit(who, std::move(blocks));
    consume_messages();
  }

  ~fixture() override {
    for (const auto* nspace : {"job", "early"})
      caf::anon_send(uut.server, deregister_nspace{nspace});
    consume_messages();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(server_registry_tests, fixture)

CAF_TEST(C4.6 a process may connect once it is registered as a client) {
  add_nspace("job");
  CAF_CHECK_EQUAL(connect("job", 0)->code, status::not_found);
  CAF_CHECK_EQUAL(add_client("job", 0), status::success);
  CAF_CHECK_EQUAL(connect("job", 0)->code, status::success);
  CAF_CHECK_EQUAL(connect("job", 1)->code, status::not_found);
}

CAF_TEST(C4.6 clients may be registered before their namespace) {
  CAF_CHECK_EQUAL(add_client("early", 0), status::success);
  add_nspace("early");
  CAF_CHECK_EQUAL(connect("early", 0)->code, status::success);
}

CAF_TEST(C4.6 only the user of the client may connect for it) {
  add_nspace("job");
  add_client("job", 0, 4711);
  CAF_CHECK_EQUAL(connect("job", 0)->code, status::no_permissions);
  CAF_CHECK_EQUAL(add_client("job", 1, our_uid), status::bad_param);
}

CAF_TEST(C4.6 names that are none are refused) {
  CAF_CHECK_EQUAL(add_client("", 0), status::bad_param);
  CAF_CHECK_EQUAL(add_client(std::string(256, 'x'), 0), status::bad_param);
  CAF_CHECK_EQUAL(add_client("job", rank_wildcard), status::bad_param);
  CAF_CHECK_EQUAL(tell<ack>(deregister_client{{"job", 7}})->code,
                  status::not_found);
}

CAF_TEST(C4.6 a fence waits for clients that are not registered yet) {
  add_nspace("job");
  add_client("job", 0);
  const auto first = connect("job", 0);
  const auto fence = uut.fence(first);
  consume_messages();
  CAF_CHECK(fence->is_pending());
  add_client("job", 1);
  const auto second = connect("job", 1);
  uut.fence(second);
  consume_messages();
  CAF_CHECK_EQUAL(fence->code, status::success);
  // All of them are here: the host is not asked.
  CAF_CHECK(uut.host_play->joined.empty());
}

CAF_TEST(C4.6 whoever waits for a client that is let go learns it) {
  add_nspace("job");
  add_client("job", 0);
  add_client("job", 1);
  const auto first = connect("job", 0);
  const auto second = connect("job", 1);
  const auto fence = uut.fence(first);
  consume_messages();
  CAF_CHECK_EQUAL(tell<ack>(deregister_client{{"job", 1}})->code,
                  status::success);
  CAF_CHECK_EQUAL(fence->code, status::lost_connection);
  CAF_CHECK_EQUAL(second->wire->closed.size(), 1u);
  CAF_CHECK_EQUAL(connect("job", 1)->code, status::not_found);
  // It may be started anew.
  CAF_CHECK_EQUAL(add_client("job", 1), status::success);
  CAF_CHECK_EQUAL(connect("job", 1)->code, status::success);
}

CAF_TEST(C4.8 another node gets what a process shows to others) {
  add_nspace("job");
  add_client("job", 0);
  const auto who = connect("job", 0);
  const auto asked = tell<get_result>(direct_modex{{"job", 0}, {}});
  CAF_CHECK(asked->is_pending());
  commit(who,
         {post(scope::remote, "far", "1"), post(scope::local, "near", "2")});
  CAF_REQUIRE_EQUAL(asked->code, status::success);
  CAF_CHECK_EQUAL(text_in(asked->value, "far"), "1");
  CAF_CHECK_EQUAL(text_in(asked->value, "near"), "nothing");
  CAF_CHECK_EQUAL(tell<get_result>(direct_modex{{"job", 0}, {}})->code,
                  status::success);
}

CAF_TEST(C4.8 another node waits for a process that comes later; not for ever) {
  const auto early = tell<get_result>(direct_modex{{"job", 0}, {}});
  const auto never = tell<get_result>(direct_modex{{"nobody", 0}, {}});
  add_nspace("job");
  add_client("job", 0);
  commit(connect("job", 0), {post(scope::global, "k", "v")});
  CAF_CHECK_EQUAL(early->code, status::success);
  CAF_CHECK(never->is_pending());
  elapse(defaults::modex_wait);
  CAF_CHECK_EQUAL(never->code, status::timeout);
}

CAF_TEST(C4.8 another node learns that a process has ended) {
  add_nspace("job");
  add_client("job", 0);
  const auto asked = tell<get_result>(direct_modex{{"job", 0}, {}});
  tell<ack>(deregister_client{{"job", 0}});
  CAF_CHECK_EQUAL(asked->code, status::not_found);
}

CAF_TEST(MND-X61 another node does not wait for a job that is over) {
  add_nspace("job");
  add_client("job", 0);
  const auto asked = tell<get_result>(direct_modex{{"job", 0}, {}});
  CAF_CHECK(asked->is_pending());
  tell<ack>(deregister_nspace{"job"});
  CAF_CHECK_EQUAL(asked->code, status::not_found);
}

CAF_TEST(MND-X60 what the host brings of a process may take its time) {
  add_nspace("job", 4);
  add_client("job", 0);
  const auto who = connect("job", 0);
  // It has posted something, as is known from another get.
  uut.host_play->modex.blocks = {{{"job", 3}, {{"k", value::string("away")}}}};
  uut.get(who, {"job", 3}, "k");
  consume_messages();
  uut.host_play->modex.blocks = {{{"job", 3}, {{"l", value::string("late")}}}};
  uut.host_play->holds = true;
  const auto got = uut.get(who, {"job", 3}, "l");
  consume_messages();
  elapse(2 * defaults::get_wait);
  CAF_CHECK(got->is_pending());
  uut.host_play->release();
  consume_messages();
  CAF_REQUIRE_EQUAL(got->code, status::success);
  CAF_CHECK_EQUAL(text_in(got->value, "l"), "late");
}

CAF_TEST(C4.8 data of a process on another node comes through the host) {
  add_nspace("job", 4);
  add_client("job", 0);
  uut.host_play->modex.blocks = {{{"job", 3}, {{"k", value::string("away")}}}};
  const auto who = connect("job", 0);
  const auto got = uut.get(who, {"job", 3}, "k");
  consume_messages();
  CAF_REQUIRE_EQUAL(got->code, status::success);
  CAF_CHECK_EQUAL(text_in(got->value, "k"), "away");
  const auto other = uut.get(who, {"job", 2}, "k");
  consume_messages();
  CAF_CHECK_EQUAL(other->code, status::not_found);
}

CAF_TEST(C4.10 resources go with the data of later jobs until they are taken) {
  const auto label = std::string{attr::rm_name};
  tell<ack>(register_resources{{with(label, value::string("ours"))}});
  add_nspace("job");
  add_client("job", 0);
  const auto got = uut.get(connect("job", 0), {"job", rank_wildcard}, label);
  consume_messages();
  CAF_REQUIRE_EQUAL(got->code, status::success);
  CAF_CHECK_EQUAL(text_in(got->value, label), "ours");
  tell<ack>(deregister_resources{{with(label)}});
  add_nspace("early");
  add_client("early", 0);
  const auto none =
    uut.get(connect("early", 0), {"early", rank_wildcard}, label);
  consume_messages();
  CAF_CHECK_EQUAL(none->code, status::not_found);
}

CAF_TEST(C4.10 too many resources and sets are refused) {
  auto many = register_resources{};
  for (size_t i = 0; i <= defaults::resources; ++i)
    many.infos.push_back(with("k" + std::to_string(i)));
  CAF_CHECK_EQUAL(tell<ack>(std::move(many))->code, status::out_of_resource);
  for (size_t i = 0; i < defaults::process_sets; ++i)
    tell<ack>(define_process_set{"s" + std::to_string(i), {{"job", 0}}});
  CAF_CHECK_EQUAL(tell<ack>(define_process_set{"more", {{"job", 0}}})->code,
                  status::out_of_resource);
}

CAF_TEST(C4.10 process sets are announced and may be asked for) {
  add_nspace("job");
  add_client("job", 0);
  const auto who = connect("job", 0);
  uut.ask<ack>(who,
               register_events_request{
                 {status::process_set_define, status::process_set_delete}, {}});
  consume_messages();
  CAF_CHECK_EQUAL(tell<ack>(define_process_set{"odd", {{"job", 1}}})->code,
                  status::success);
  CAF_REQUIRE_EQUAL(who->wire->events.size(), 1u);
  const auto& infos = who->wire->events[0].infos;
  CAF_CHECK(text(infos, attr::pset_name) == "odd");
  CAF_CHECK_EQUAL(procs_of(*find(infos, attr::pset_members)).size(), 1u);
  auto query = query_request{};
  query.queries = {{{std::string{attr::query_pset_names}}, {}}};
  const auto names = uut.ask<info_result>(who, query);
  consume_messages();
  CAF_REQUIRE_EQUAL(names->code, status::success);
  CAF_CHECK(text(names->value.infos, attr::query_pset_names) == "odd");
  // The same again is no news.
  CAF_CHECK_EQUAL(tell<ack>(define_process_set{"odd", {{"job", 1}}})->code,
                  status::success);
  CAF_CHECK_EQUAL(who->wire->events.size(), 1u);
  CAF_CHECK_EQUAL(tell<ack>(define_process_set{"a,b", {{"job", 1}}})->code,
                  status::bad_param);
  CAF_CHECK_EQUAL(tell<ack>(delete_process_set{"odd"})->code, status::success);
  CAF_CHECK_EQUAL(who->wire->events.size(), 2u);
  CAF_CHECK_EQUAL(tell<ack>(delete_process_set{"odd"})->code,
                  status::not_found);
  CAF_CHECK_EQUAL(tell<ack>(define_process_set{"", {}})->code,
                  status::bad_param);
}

// -- what reaches the host ---------------------------------------------------

CAF_TEST(C4.10 the host hears once which events of the environment are wanted) {
  constexpr auto hot = static_cast<status>(-240);
  add_nspace("job");
  add_client("job", 0);
  add_client("job", 1);
  const auto first = connect("job", 0);
  const auto second = connect("job", 1);
  const auto requests = [this](const std::string& name) {
    auto n = 0;
    for (const auto& [who, what] : uut.host_play->requests)
      n += what == name ? 1 : 0;
    return n;
  };
  for (const auto& who : {first, second})
    uut.ask<ack>(who, register_events_request{{hot, status::proc_aborted}, {}});
  consume_messages();
  CAF_CHECK_EQUAL(requests("register events"), 1);
  uut.lose(first);
  consume_messages();
  CAF_CHECK_EQUAL(requests("deregister events"), 0);
  uut.lose(second);
  consume_messages();
  CAF_CHECK_EQUAL(requests("deregister events"), 1);
}

CAF_TEST(C4.5 logs that this node cannot write go to the host) {
  add_nspace("job");
  add_client("job", 0);
  const auto who = connect("job", 0);
  auto request = log_request{};
  request.data = {with("site.log", value::string("line"))};
  auto written = uut.ask<ack>(who, request);
  consume_messages();
  CAF_CHECK_EQUAL(written->code, status::success);
  CAF_CHECK_EQUAL(uut.host_play->requests.size(), 1u);
  uut.host_play->others = status::not_supported;
  written = uut.ask<ack>(who, request);
  consume_messages();
  CAF_CHECK_EQUAL(written->code, status::not_supported);
}

CAF_TEST_FIXTURE_SCOPE_END()
