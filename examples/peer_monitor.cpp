// A kind of monitors that works with other nodes of a DVM: it stays where it was
// asked for, and has a monitor of another kind made on the node of the process. What
// that one finds it tells; and when the node is lost, it says so, for nobody is left
// there who could. docs/extending.md explains it.
//
//   flags="-std=c++17 -shared -fPIC $(pkg-config --cflags troupe)"
//   c++ $flags peer_monitor.cpp -o peer.so
//   troupe up --host n1,n2 --monitor plugins=$PWD &
//   troupe run --dvm ... --rtos recoverable -n 2 ./a_program &
//   troupe monitor add peer --proc NAMESPACE:1 --set probe=output_silence

#include <caf/all.hpp>

#include <base/monitor_kind.hpp>
#include <messages/actors.hpp>

#include <algorithm>

namespace {

using namespace troupe;

/// A monitor that hears of the alerts of another one.
using peer_monitor_actor = monitor_actor::extend<caf::reacts_to<monitor_alert>>;

struct peer_monitor_state {
  uint64_t number = 0;
  monitor_user_actor user;

  /// On the node of the process.
  monitor_actor probe;
};

using peer_pointer = peer_monitor_actor::stateful_pointer<peer_monitor_state>;

/// The probe is there: has it begin.
void begin(peer_pointer self, const monitor_actor& probe,
           const start_monitor& what, caf::typed_response_promise<ack> reply) {
  self->state.probe = probe;
  self->monitor(probe);
  self->request(probe, caf::infinite, what, monitor_user_actor{self})
    .then([reply](ack x) mutable { reply.deliver(x); },
          [reply](caf::error& why) mutable { reply.deliver(std::move(why)); });
}

caf::result<ack> start(peer_pointer self, const monitor_peers& peers,
                       start_monitor& what, const monitor_user_actor& user) {
  const auto kind = text_setting(what, "probe");
  auto& settings = what.settings;
  settings.erase(std::remove_if(settings.begin(), settings.end(),
                                [](const info& x) {
                                  return x.key == "troupe.monitor.probe";
                                }),
                 settings.end());
  self->state.number = what.number;
  self->state.user = user;
  auto reply = self->make_response_promise<ack>();
  self
    ->request(peers.maker, caf::infinite,
              make_monitor{kind, what.proc, std::nullopt})
    .then([self, what, reply](
            const monitor_actor& probe) { begin(self, probe, what, reply); },
          [reply](caf::error& why) mutable { reply.deliver(std::move(why)); });
  return reply;
}

peer_monitor_actor::behavior_type peer_monitor(peer_pointer self,
                                               const monitor_peers& peers) {
  self->set_down_handler([self](const caf::down_msg& x) {
    const auto is_lost = x.reason == caf::exit_reason::remote_link_unreachable;
    self->send(
      self->state.user,
      monitor_alert{self->state.number,
                    is_lost ? "its node is lost" : "nobody watches it any more",
                    {}});
  });
  return {
    [self, peers](start_monitor& what,
                  monitor_user_actor& user) -> caf::result<ack> {
      try {
        return start(self, peers, what, user);
      } catch (const std::exception& x) {
        return make_error(status::bad_param, x.what());
      }
    },
    [self](stop_monitor what) {
      self->send(self->state.probe, what);
      self->quit();
    },
    [self](const monitor_alert& x) { self->send(self->state.user, x); },
  };
}

} // namespace

TROUPE_MONITOR_PLUGIN(kinds) {
  kinds["peer"] = [](caf::actor_system& sys,
                     const monitor_peers& peers) -> monitor_actor {
    return sys.spawn(peer_monitor, peers);
  };
}
