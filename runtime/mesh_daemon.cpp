#include "runtime/mesh_daemon.hpp"

#include "adapters/lane/secure_context.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/loop_system.hpp"
#include "messages/status.hpp"
#include "runtime/job_networks.hpp"
#include "runtime/loop_wait.hpp"
#include "runtime/own_loop.hpp"

#include <caf/actor_system.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

namespace troupe {

namespace {

/// Waiting without end is waiting for so long: clocks have to count it.
constexpr auto longest_patience = std::chrono::hours{24 * 365};

/// What the daemon's thread has heard of the membership, for those who wait.
struct heard_members {
  std::mutex mutex;
  std::condition_variable changed;
  mesh_duty duty = mesh_duty::joining;
  std::string reason;
  std::set<std::string> live;
};

struct member_listeners {
  std::shared_ptr<heard_members> heard;
  std::function<void(const mesh_duty_changed&)> on_duty;
  std::function<void(const member_changed&)> on_member;
};

/// The user of the NODE.
mesh_user_actor::behavior_type listen(mesh_user_actor::pointer,
                                      const member_listeners& to) {
  return {
    [](const member_message&) {
      // Gateways have messages of their own.
    },
    [to](const member_changed& x) {
      {
        const auto guard = std::lock_guard{to.heard->mutex};
        if (x.state == node_state::live)
          to.heard->live.insert(x.name);
        else
          to.heard->live.erase(x.name);
        to.heard->changed.notify_all();
      }
      if (to.on_member)
        to.on_member(x);
    },
    [](const member_fenced&) {
      // It has run nothing that is ours to start again.
    },
    [to](const mesh_duty_changed& x) {
      {
        const auto guard = std::lock_guard{to.heard->mutex};
        to.heard->duty = x.now;
        to.heard->reason = x.reason;
        to.heard->changed.notify_all();
      }
      if (to.on_duty)
        to.on_duty(x);
    },
  };
}

} // namespace

class mesh_daemon::implementation {
public:
  explicit implementation(const runtime_options& options)
    : loop(loop_settings(options)) {
    // nop
  }

  ~implementation() {
    if (thread.joinable()) {
      loop.stop();
      thread.join();
    }
    rt.reset();
    remote.reset();
    member.reset();
  }

  void run() {
    thread = start_quiet_thread([this] { loop.run(); });
  }

  /// Waits for a condition of what was heard; under its lock.
  template <class Predicate>
  caf::error await(std::chrono::nanoseconds patience, const std::string& whom,
                   Predicate is_so) {
    if (loop.loop().in_loop_thread())
      return make_error(status::would_block,
                        "the thread of the daemon must not wait for members:"
                        " use mesh_daemon_options::on_member");
    auto guard = std::unique_lock{heard->mutex};
    const auto is_fenced = [&] { return heard->duty == mesh_duty::fenced; };
    const auto is_over = heard->changed.wait_for(
      guard, std::min<std::chrono::nanoseconds>(patience, longest_patience),
      [&] { return is_fenced() || is_so(); });
    if (!is_over)
      return make_error(status::timeout,
                        whom
                          + " is no member yet: see that its daemon runs,"
                            " and that the nodes reach each other");
    if (is_fenced())
      return make_error(status::unreach,
                        "the DVM has given this node up: " + heard->reason);
    return {};
  }

  loop_system loop;
  std::shared_ptr<heard_members> heard = std::make_shared<heard_members>();
  std::unique_ptr<mesh_member> member;
  std::unique_ptr<remoting> remote;
  std::unique_ptr<runtime> rt;
  std::thread thread;
};

caf::expected<std::unique_ptr<mesh_daemon>>
mesh_daemon::start(mesh_daemon_options options,
                   const runtime::host_maker& make_host) {
  if (!options.member.context)
    return make_error(status::bad_param,
                      "the node has no key: read one into"
                      " mesh_member_options::context (runtime/mesh_keys.hpp)");
  auto x = std::make_unique<implementation>(options.server);
  auto member = mesh_member::start(x->loop, std::move(options.member));
  if (!member)
    return std::move(member.error());
  x->member = std::move(*member);
  options.remote.is_alone = false;
  x->remote = remoting::start(x->loop, *x->member, std::move(options.remote));
  auto listeners = member_listeners{x->heard, std::move(options.on_duty),
                                    std::move(options.on_member)};
  const auto user = x->loop.actors().spawn(listen, std::move(listeners));
  caf::anon_send(x->member->node(), user);
  auto server = std::move(options.server);
  if (server.hostname.empty())
    server.hostname = x->member->name();
  if (!server.around_host)
    server.around_host = job_meshes(options.offers);
  auto rt = runtime::start(x->loop, std::move(server), make_host);
  if (!rt)
    return std::move(rt.error());
  x->rt = std::move(*rt);
  x->run();
  return std::unique_ptr<mesh_daemon>{new mesh_daemon{std::move(x)}};
}

mesh_daemon::mesh_daemon(std::unique_ptr<implementation> x)
  : implementation_(std::move(x)) {
  // nop
}

mesh_daemon::~mesh_daemon() = default;

caf::error mesh_daemon::await_joining(std::chrono::nanoseconds patience) {
  auto& x = *implementation_;
  return x.await(patience, name(),
                 [&] { return x.heard->duty == mesh_duty::active; });
}

caf::error mesh_daemon::await_member(const std::string& name,
                                     std::chrono::nanoseconds patience) {
  auto& x = *implementation_;
  return x.await(patience, name, [&] { return x.heard->live.count(name) > 0; });
}

caf::expected<std::vector<node_address>> mesh_daemon::addresses() {
  auto& x = *implementation_;
  if (x.loop.loop().in_loop_thread())
    return make_error(status::would_block,
                      "the thread of the daemon must not wait: ask the NODE,"
                      " member().node()");
  auto result = caf::expected<std::vector<node_address>>{caf::error{}};
  auto self = caf::scoped_actor{x.loop.actors()};
  auto reply =
    self->request(x.member->node(), caf::infinite, get_mesh_status{});
  if (auto why = await_mail(self, x.loop))
    return why;
  reply.receive([&](mesh_status& y) { result = std::move(y.addresses); },
                [&](caf::error& why) { result = std::move(why); });
  return result;
}

caf::actor_system& mesh_daemon::actors() {
  return implementation_->loop.actors();
}

uint32_t mesh_daemon::rank() const noexcept {
  return implementation_->member->rank();
}

const std::string& mesh_daemon::name() const noexcept {
  return implementation_->member->name();
}

const mesh_member& mesh_daemon::member() const noexcept {
  return *implementation_->member;
}

remoting& mesh_daemon::remote() noexcept {
  return *implementation_->remote;
}

runtime& mesh_daemon::server() noexcept {
  return *implementation_->rt;
}

} // namespace troupe
