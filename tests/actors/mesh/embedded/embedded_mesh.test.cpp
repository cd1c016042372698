// Groups and streams where a resource manager's host stands behind Troupe's
// mesh.

#include "actors/mesh/embedded/embedded_mesh.hpp"

#include "messages/attributes.hpp"
#include "messages/status.hpp"
#include "tests/fixtures/deterministic.hpp"
#include "tests/fixtures/doubles.hpp"
#include "tests/fixtures/outcome.hpp"
#include "tests/test.hpp"

#include <caf/actor_cast.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

info entry(std::string_view key, value x) {
  return {std::string{key}, 0, std::move(x)};
}

/// A job with two processes on this node, and on no other.
register_nspace job_here(const std::string& nspace = "job") {
  auto result = register_nspace{};
  result.nspace = nspace;
  result.local_ranks = {0, 1};
  result.infos.push_back(
    entry(attr::node_info_array,
          value::infos({entry(attr::hostname, value::string("a")),
                        entry(attr::nodeid, value::uint32(0))})));
  for (uint32_t rank = 0; rank < 2; ++rank)
    result.infos.push_back(entry(
      attr::proc_data, value::infos({entry(attr::rank, value::rank(rank)),
                                     entry(attr::nodeid, value::uint32(0))})));
  return result;
}

order_group_entry say(uint64_t round, std::vector<proc_id> participants) {
  auto result = order_group_entry{};
  result.entry.group = {"grp", 7, 1};
  result.entry.participants = std::move(participants);
  result.entry.what = group_time_up{group_operation::construct, round};
  result.hosts = {0};
  return result;
}

struct fixture : deterministic {
  std::shared_ptr<host_script> host = std::make_shared<host_script>();

  /// What the server is given.
  std::shared_ptr<std::vector<group_entry_ordered>> entries =
    std::make_shared<std::vector<group_entry_ordered>>();
  caf::actor server;
  caf::actor uut;

  void start(bool has_group) {
    server =
      sys.spawn([entries = entries](caf::event_based_actor*) -> caf::behavior {
        return {[entries](const group_entry_ordered& x) {
          entries->push_back(x);
          return ack{};
        }};
      });
    auto options = embedded_mesh_options{};
    options.host = spawn_host(sys, host);
    options.offers.group = has_group;
    uut =
      caf::actor_cast<caf::actor>(spawn_embedded_mesh(sys, std::move(options)));
    caf::anon_send(uut, caf::actor_cast<server_actor>(server),
                   event_cache_actor{});
    caf::anon_send(uut, job_here());
    consume_messages();
  }

  ~fixture() override {
    caf::anon_send_exit(uut, caf::exit_reason::kill);
    caf::anon_send_exit(server, caf::exit_reason::kill);
    consume_messages();
  }

  template <class T, class What>
  pending<T> call(What what) {
    auto result = ask<T>(sys, uut, std::move(what));
    consume_messages();
    return result;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(embedded_mesh_tests, fixture)

CAF_TEST(A38 a host with a group entry conducts groups) {
  start(true);
  CAF_CHECK_EQUAL(call<proc_places>(locate_procs{{{"job", 0}}})->code,
                  status::not_supported);
  CAF_CHECK_EQUAL(
    call<info_result>(host_group{group_operation::construct, "grp", {}, {}})
      ->code,
    status::success);
  CAF_REQUIRE_EQUAL(host->groups.size(), 1u);
  CAF_CHECK_EQUAL(host->groups.front().id, "grp");
}

CAF_TEST(A38 an entry that only says that it does not is asked once) {
  host->group_outcome = status::not_supported;
  start(true);
  CAF_CHECK_EQUAL(
    call<info_result>(host_group{group_operation::construct, "grp", {}, {}})
      ->code,
    status::not_supported);
  CAF_CHECK_EQUAL(call<proc_places>(locate_procs{{{"job", 0}}})->code,
                  status::success);
}

CAF_TEST(A38 GRP-3 the mesh of a job keeps the logs of its groups) {
  start(false);
  const auto places =
    call<proc_places>(locate_procs{{{"job", rank_wildcard}, {"job", 0}}});
  CAF_REQUIRE_EQUAL(places->code, status::success);
  CAF_REQUIRE_EQUAL(places->value.procs.size(), 3u);
  CAF_CHECK((places->value.procs[1].proc == proc_id{"job", 1}));
  CAF_CHECK(places->value.procs[1].node == 0u);
  CAF_CHECK_EQUAL(places->value.here, 0u);
  CAF_CHECK_EQUAL(call<ack>(say(1, {{"job", rank_wildcard}}))->code,
                  status::success);
  // Later ones do not say whose log it is.
  CAF_CHECK_EQUAL(call<ack>(say(2, {}))->code, status::success);
  CAF_REQUIRE_EQUAL(entries->size(), 2u);
  CAF_CHECK(entries->back().hosts == std::vector<uint32_t>{0});
  CAF_CHECK_EQUAL(std::get<group_time_up>(entries->back().entry.what).round,
                  2u);
  caf::anon_send(uut, close_group_log{{"grp", 7, 1}});
  consume_messages();
  CAF_CHECK_EQUAL(call<ack>(say(3, {}))->code, status::not_found);
  CAF_CHECK_EQUAL(entries->size(), 2u);
}

CAF_TEST(A38 processes that the mesh does not reach are refused) {
  start(false);
  CAF_CHECK_EQUAL(call<proc_places>(locate_procs{{{"job", 7}}})->code,
                  status::not_found);
  CAF_CHECK_EQUAL(
    call<proc_places>(locate_procs{{{"job", 0}, {"other", 0}}})->code,
    status::not_supported);
  CAF_CHECK_EQUAL(call<proc_places>(locate_procs{{{"other", 0}}})->code,
                  status::not_supported);
  CAF_CHECK_EQUAL(call<ack>(say(1, {}))->code, status::not_found);
}

CAF_TEST(O12 I6 the mesh of a job passes streams between desks) {
  start(false);
  struct seen {
    size_t met = 0;
    std::vector<io_input> inputs;
  };
  auto here = std::make_shared<seen>();
  auto desk = sys.spawn([here](caf::event_based_actor*) {
    return caf::behavior{[here](const io_mesh_actor&) { ++here->met; },
                         [here](const io_input& x) {
                           here->inputs.push_back(x);
                           return io_input_taken{x.bytes.size(), {}, 2};
                         }};
  });
  caf::anon_send(uut, caf::actor_cast<io_desk_actor>(desk),
                 caf::actor_cast<host_actor>(desk));
  caf::anon_send(uut, job_here("late"));
  consume_messages();
  CAF_CHECK_EQUAL(here->met, 2u);
  const auto input = [](const std::string& nspace, uint32_t rank) {
    return io_input{nspace, {rank}, std::nullopt, "text", false};
  };
  const auto x = call<io_input_taken>(input("late", rank_wildcard));
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(x->value.readers, 2u);
  CAF_REQUIRE_EQUAL(here->inputs.size(), 1u);
  CAF_CHECK((here->inputs[0].ranks == std::vector<uint32_t>{0, 1}));
  // Jobs without a mesh are those of the desk.
  CAF_CHECK_EQUAL(call<io_input_taken>(input("other", 0))->code,
                  status::success);
  CAF_CHECK_EQUAL(here->inputs.size(), 2u);
  // There is nobody else who has output.
  auto want = io_interest{};
  want.nspace = "late";
  want.ranks = {rank_wildcard};
  want.channels = io_channels::stdout_;
  CAF_CHECK_EQUAL(call<ack>(want)->code, status::success);
  CAF_CHECK_EQUAL(call<io_fragment>(io_fetch{})->code, status::not_found);
  auto fragment = io_fragment{};
  fragment.stream.source = {"other", 0};
  const auto sent = ask<ack>(sys, uut, uint32_t{1}, fragment);
  consume_messages();
  CAF_CHECK_EQUAL(sent->code, status::success);
  caf::anon_send(uut, deregister_nspace{"late"});
  consume_messages();
  end(desk);
}

CAF_TEST_FIXTURE_SCOPE_END()
