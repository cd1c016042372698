// Two nodes of a resource manager in one process, over the loopback.

#include "runtime/mesh_daemon.hpp"

#include "actors/mesh/partial_host.hpp"
#include "runtime/mesh_keys.hpp"
#include "runtime/placed_job.hpp"
#include "tests/test.hpp"

#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <future>
#include <utility>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

template <class T>
T need(caf::expected<T> x) {
  if (!x)
    CAF_FAIL(reason_of(x.error()));
  return std::move(*x);
}

host_actor nothing_more(caf::actor_system& sys) {
  return spawn_partial_host(sys, {});
}

/// A node of two; the first is the root, whose addresses the other needs.
mesh_daemon_options options_of(const key_issuer& issuer, uint32_t rank,
                               std::vector<node_address> root = {}) {
  auto result = mesh_daemon_options{};
  const auto key = need(issuer.issue(rank, "node" + std::to_string(rank)));
  result.member.context = need(read_key(key.bytes()));
  result.member.networks = {"lo"};
  if (rank == 0)
    result.member.names = {"node0", "node1"};
  else
    result.member.root_name = "node0";
  result.member.root_addresses = std::move(root);
  result.server.tools = false;
  return result;
}

/// The first of them, a member.
std::unique_ptr<mesh_daemon> start_root(mesh_daemon_options options) {
  auto result = need(mesh_daemon::start(std::move(options), nothing_more));
  if (auto why = result->await_joining())
    CAF_FAIL(reason_of(why));
  return result;
}

caf::behavior doubling() {
  return {[](int32_t x) { return 2 * x; }};
}

} // namespace

CAF_TEST(C12.11 two daemons wait for each other and their actors talk) {
  const auto issuer = need(key_issuer::make("daemons"));
  const auto root = start_root(options_of(issuer, 0));
  CAF_CHECK_EQUAL(root->rank(), 0u);
  CAF_CHECK_EQUAL(status_of(root->await_member("node1", 0ms)), status::timeout);
  const auto other = need(mesh_daemon::start(
    options_of(issuer, 1, need(root->addresses())), nothing_more));
  CAF_CHECK_EQUAL(other->name(), "node1");
  CAF_CHECK(!other->await_joining());
  CAF_CHECK(!root->await_member("node1"));
  CAF_CHECK(!other->await_member("node0"));

  root->remote().publish(root->actors().spawn(doubling), "double");
  const auto far = need(other->remote().remote_lookup<caf::actor>(0, "double"));
  caf::scoped_actor me{other->actors()};
  me->request(far, 60s, int32_t{21})
    .receive([](int32_t x) { CAF_CHECK_EQUAL(x, 42); },
             [](const caf::error& why) { CAF_FAIL(reason_of(why)); });
}

CAF_TEST(C12.11 a daemon serves processes of its node) {
  const auto issuer = need(key_issuer::make("daemons"));
  const auto root = start_root(options_of(issuer, 0));
  auto& rt = root->server();
  const auto job = placed_job{"job", {"prog"}, {0}};
  const auto mine = need(share_of(job, root->rank(), rt.id()));
  CAF_CHECK(!rt.register_nspace(mine.registration));
  CAF_CHECK(rt.setup_fork({"job", 0}));
  CAF_CHECK(!rt.deregister_nspace("job"));
}

CAF_TEST(C12.11 who asks for it hears of members and of the own duty) {
  const auto issuer = need(key_issuer::make("daemons"));
  auto is_active = std::promise<void>{};
  auto has_left = std::promise<void>{};
  auto options = options_of(issuer, 0);
  options.on_duty = [&, told = false](const mesh_duty_changed& x) mutable {
    if (x.now == mesh_duty::active && !std::exchange(told, true))
      is_active.set_value();
  };
  options.on_member = [&, told = false](const member_changed& x) mutable {
    if (x.name == "node1" && x.state == node_state::left
        && !std::exchange(told, true))
      has_left.set_value();
  };
  const auto root = start_root(std::move(options));
  CAF_CHECK(is_active.get_future().wait_for(60s) == std::future_status::ready);
  const auto other = need(mesh_daemon::start(
    options_of(issuer, 1, need(root->addresses())), nothing_more));
  CAF_CHECK(!other->await_joining());
  CAF_CHECK(!root->await_member("node1"));
  caf::scoped_actor me{other->actors()};
  me->request(other->member().node(), 60s, leave_mesh{})
    .receive([](ack) {},
             [](const caf::error& why) { CAF_FAIL(reason_of(why)); });
  CAF_CHECK(has_left.get_future().wait_for(60s) == std::future_status::ready);
  // It is none any more.
  CAF_CHECK_EQUAL(status_of(root->await_member("node1", 0ms)), status::timeout);
}

CAF_TEST(C12.11 the thread of a daemon is not to wait for itself) {
  const auto issuer = need(key_issuer::make("daemons"));
  const auto root = start_root(options_of(issuer, 0));
  const auto asker = root->actors().spawn([&] {
    return caf::behavior{[&](int32_t x) {
      const auto code = x == 0   ? status_of(root->await_joining())
                        : x == 1 ? status_of(root->await_member("node1"))
                                 : status_of(root->addresses().error());
      return code == status::would_block;
    }};
  });
  caf::scoped_actor me{root->actors()};
  for (auto x : {int32_t{0}, int32_t{1}, int32_t{2}})
    me->request(asker, 60s, x)
      .receive([](bool is_so) { CAF_CHECK(is_so); },
               [](const caf::error& why) { CAF_FAIL(reason_of(why)); });
}

CAF_TEST(C12.11 a daemon without a key does not start) {
  const auto outcome = mesh_daemon::start({}, nothing_more);
  CAF_REQUIRE(!outcome);
  CAF_CHECK_EQUAL(status_of(outcome.error()), status::bad_param);
  CAF_CHECK(reason_of(outcome.error()).find("context") != std::string::npos);
}
