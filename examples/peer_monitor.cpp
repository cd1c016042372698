// A kind of monitors that works with other nodes of a DVM: it stays where it was
// asked for, and has a monitor of another kind made on the node of the process. What
// that one finds it tells; and when the node is lost, it says so, for nobody is left
// there who could. docs/extending.md explains it.
//
//   flags="-std=c++17 -shared -fPIC $(pkg-config --cflags troupe)"
//   c++ $flags peer_monitor.cpp -o peer.so
//   troupe up --host n1,n2 --monitor plugins=$PWD &
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
  start_monitor what;
  monitor_user_actor user;

  /// On the node of the process. What nobody holds ends.
  monitor_actor probe;
};

using peer_pointer = peer_monitor_actor::stateful_pointer<peer_monitor_state>;

/// Takes a setting out of the request: the other kind does not know it.
std::string take_setting(start_monitor& from, const std::string& name) {
  auto result = text_setting(from, name);
  auto& xs = from.settings;
  const auto key = std::string{monitor_key_prefix} + name;
  const auto is_it = [&](const info& x) { return x.key == key; };
  xs.erase(std::remove_if(xs.begin(), xs.end(), is_it), xs.end());
  return result;
}

caf::result<ack> start(peer_pointer self, const monitor_peers& peers) {
  auto& what = self->state.what;
  auto question = make_monitor{take_setting(what, "probe"), what.proc, {}};
  auto reply = self->make_response_promise<ack>();
  const auto refuse = [reply](caf::error& why) mutable {
    reply.deliver(std::move(why));
  };
  const auto begin = [self, reply, refuse](const monitor_actor& probe) {
    self->state.probe = probe;
    self->monitor(probe);
    self
      ->request(probe, caf::infinite, self->state.what,
                monitor_user_actor{self})
      .then([reply](ack x) mutable { reply.deliver(x); }, refuse);
  };
  self->request(peers.maker, caf::infinite, std::move(question))
    .then(begin, refuse);
  return reply;
}

peer_monitor_actor::behavior_type peer_monitor(peer_pointer self,
                                               const monitor_peers& peers) {
  self->set_down_handler([self](const caf::down_msg& x) {
    const auto is_lost = x.reason == caf::exit_reason::remote_link_unreachable;
    const auto* why = is_lost ? "its node is lost" : "nobody watches it there";
    self->send(self->state.user,
               monitor_alert{self->state.what.number, why, {}});
  });
  return {
    [self, peers](start_monitor& what,
                  monitor_user_actor& user) -> caf::result<ack> {
      self->state = {std::move(what), std::move(user), {}};
      try {
        return start(self, peers);
      } catch (const std::exception& x) {
        return make_error(status::bad_param, x.what());
      }
    },
    [self](stop_monitor) { self->quit(); }, // The probe ends with it.
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
