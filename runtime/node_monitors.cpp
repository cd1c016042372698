#include "runtime/node_monitors.hpp"

#include "actors/monitors/monitor_kinds.hpp"
#include "actors/monitors/reactions.hpp"
#include "adapters/loop/loop_system.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "adapters/monitor_plugins/plugin_library.hpp"
#include "adapters/monitor_plugins/plugin_monitor.hpp"
#include "adapters/process/command_runner.hpp"
#include "adapters/process/process_probe.hpp"

#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <unistd.h>

#include <chrono>
#include <utility>

namespace troupe {

namespace {

constexpr auto plugin_grace = std::chrono::milliseconds{100};

std::vector<std::string> own_environment() {
  auto result = std::vector<std::string>{};
  for (auto** x = environ; x != nullptr && *x != nullptr; ++x)
    result.emplace_back(*x);
  return result;
}

} // namespace

struct node_monitors::threads {
  std::unique_ptr<thread_pool> pool;
};

node_monitors::node_monitors(loop_system& loop, node_monitors_options options) {
  auto& sys = loop.actors();
  auto environment = options.environment.empty()
                       ? own_environment()
                       : std::move(options.environment);
  probe_ = sys.spawn(process_prober, &loop.pool(), options.launcher);
  commands_ = sys.spawn(command_runner, &loop.loop(), std::move(environment));
  auto react = reactions_options{};
  react.place = {options.server, {::geteuid(), ::getegid()}, options.hostname};
  react.host = options.host;
  react.logs = options.logs;
  react.commands = commands_;
  react.probe = probe_;
  react.log = options.log;
  react.of_site = options.settings.reactions;
  react.server = [to = server_] { return *to; };
  reactions_ = spawn_reactions(sys, std::move(react));
  auto means = monitor_means{};
  means.probe = probe_;
  means.commands = commands_;
  means.daemon_uid = ::geteuid();
  means.log = options.log;
  add_own_kinds(*kinds_, sys, means);
  if (!options.settings.plugins.empty())
    add_plugins(loop, options);
}

void node_monitors::add_plugins(loop_system& loop,
                                const node_monitors_options& options) {
  const auto complain = [&](const std::string& why) {
    if (options.log)
      options.log(severity::warning, why);
  };
  auto found = load_plugins(options.settings.plugins, ::geteuid());
  for (const auto& x : found.complaints)
    complain(x);
  if (found.loaded.empty())
    return;
  auto bounds = thread_pool::limits{};
  bounds.grace = plugin_grace;
  threads_ = std::make_shared<threads>();
  threads_->pool = std::make_unique<thread_pool>(loop.loop(), bounds);
  const auto post = [to = threads_](std::function<void()> work,
                                    std::function<void()> done) {
    return to->pool != nullptr
           && to->pool->post(std::move(work), std::move(done));
  };
  auto& sys = loop.actors();
  for (const auto& x : found.loaded) {
    const auto* const kind = x.kind;
    const auto interval = std::chrono::duration_cast<caf::timespan>(
      std::chrono::duration<double>{kind->interval});
    const auto why = add_plugin_kind(
      *kinds_, sys, kind->name, interval,
      [&sys, post, kind](const start_monitor& request) {
        return sys.spawn(plugin_monitor, work_poster{post}, kind, request);
      },
      options.log);
    if (why)
      complain("monitor plugin " + x.path + ": " + reason_of(why));
  }
}

node_monitors::~node_monitors() {
  if (threads_)
    threads_->pool.reset();
  caf::anon_send_exit(reactions_, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(commands_, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(probe_, caf::exit_reason::user_shutdown);
}

std::function<void(react_to_alert, const std::vector<info>&)>
node_monitors::reactor() const {
  return [to = reactions_](react_to_alert what,
                           const std::vector<info>& directives) {
    what.reactions = reactions_in(directives);
    caf::anon_send(to, std::move(what));
  };
}

caf::error node_monitors::check_request(const requester& who,
                                        const std::vector<info>& directives) {
  return check_reactions(reactions_in(directives), who, ::geteuid());
}

caf::error node_monitors::check(const monitor_settings& settings) {
  auto site = requester{};
  site.creds = {::geteuid(), ::getegid()};
  return check_reactions(settings.reactions, site, ::geteuid());
}

} // namespace troupe
