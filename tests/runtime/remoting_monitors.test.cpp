// Monitors of daemons that embed the runtime, and have other nodes.

#include "actors/mesh/partial_host.hpp"
#include "messages/attributes.hpp"
#include "runtime/runtime.hpp"
#include "tests/fixtures/three_daemons.hpp"

#include <caf/all.hpp>

#include <unistd.h>

#include <future>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

/// A monitor that says where it is.
monitor_actor::behavior_type placed(monitor_actor::pointer self,
                                    uint32_t rank) {
  return {
    [=](const start_monitor& what, const monitor_user_actor& to) {
      self->send(
        to, monitor_alert{what.number, "node " + std::to_string(rank), {}});
      return ack{};
    },
    [=](stop_monitor) { self->quit(); },
  };
}

using lent_peers = std::promise<monitor_peers>;

/// Each daemon has a server of its node; a monitor of kind `peers` gives away what
/// it may use of other nodes.
struct three_servers : three_daemons {
  std::shared_ptr<lent_peers> lent;

  explicit three_servers(
    std::shared_ptr<lent_peers> x = std::make_shared<lent_peers>())
    : three_daemons([=](auto& daemon, uint32_t rank) {
        auto options = runtime_options{};
        options.tools = false;
        options.monitor_kinds["placed"] =
          [=](caf::actor_system& sys) -> monitor_actor {
          return sys.spawn(placed, rank);
        };
        options.monitor_kinds["peers"] =
          [=](caf::actor_system& sys,
              const monitor_peers& peers) -> monitor_actor {
          x->set_value(peers);
          return sys.spawn(placed, rank);
        };
        daemon.guest = std::shared_ptr<runtime>{value_of(
          runtime::start(*daemon.loop, std::move(options), [](auto& sys) {
            return spawn_partial_host(sys, {});
          }))};
      }),
      lent(std::move(x)) {
    // nop
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(remoting_server_tests, three_servers)

CAF_TEST(C12.4 C11.5 monitors of an embedded runtime have other nodes) {
  const auto have_peers = [&] {
    return nodes[1].remote->remote_spawn<monitor_actor>(0, "monitor.peers",
                                                        long_enough);
  };
  auto made = have_peers();
  while (!made && made.error() == caf::sec::cannot_connect_to_node) {
    std::this_thread::yield();
    made = have_peers();
  }
  value_of(std::move(made));
  const auto peers = lent->get_future().get();
  CAF_CHECK(peers.gateway);
  // Rank 1 of the job is on node 2.
  const auto data = [](std::string_view key, value x) {
    return info{std::string{key}, 0, std::move(x)};
  };
  auto job = register_nspace{};
  job.nspace = "job";
  job.owner = {::getuid(), ::getgid()};
  job.local_ranks = {0};
  job.infos = {data(attr::job_size, value::uint32(2))};
  for (uint32_t rank : {0, 1})
    job.infos.push_back(
      data(attr::proc_data,
           value::infos({data(attr::rank, value::rank(rank)),
                         data(attr::nodeid, value::uint32(2 * rank))})));
  auto& server = *static_cast<runtime*>(nodes[0].guest.get());
  CAF_REQUIRE(!server.register_nspace(std::move(job)));
  auto me = caf::scoped_actor{nodes[0].loop->actors()};
  const auto place_of = [&](const make_monitor& what) {
    auto probe = monitor_actor{};
    me->request(peers.maker, long_enough, what)
      .receive([&](monitor_actor& x) { probe = std::move(x); },
               [](caf::error& e) { CAF_FAIL(reason_of(e)); });
    auto told = std::make_shared<std::promise<std::string>>();
    const auto user = nodes[0].loop->actors().spawn(
      [told](monitor_user_actor::pointer) -> monitor_user_actor::behavior_type {
        return {[told](const monitor_alert& x) { told->set_value(x.reason); }};
      });
    me->request(probe, long_enough, start_monitor{}, user)
      .receive([](ack) {}, [](caf::error& e) { CAF_FAIL(reason_of(e)); });
    auto heard = told->get_future();
    if (heard.wait_for(long_enough) != std::future_status::ready)
      CAF_FAIL("no alert");
    return heard.get();
  };
  CAF_CHECK_EQUAL(place_of({"placed", {}, 2}), "node 2");
  CAF_CHECK_EQUAL(place_of({"placed", {"job", 1}, {}}), "node 2");
  CAF_CHECK_EQUAL(place_of({"placed", {"job", 0}, {}}), "node 0");
}

CAF_TEST_FIXTURE_SCOPE_END()
