#include "runtime/node_monitors.hpp"

#include "actors/monitors/monitor_kinds.hpp"
#include "actors/monitors/reactions.hpp"
#include "adapters/loop/event_loop.hpp"
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

constexpr caf::timespan shortest_interval = std::chrono::milliseconds{10};
constexpr caf::timespan longest_interval = std::chrono::hours{24 * 365};

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

node_monitors::node_monitors(loop_system& loop, node_monitors_options options)
  : loop_(loop), log_(options.log),
    knows_processes_(options.launcher != nullptr) {
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
  peers_.gateway = options.gateway;
  auto make = monitor_maker_options{};
  lent_.most = options.most_lent;
  make.here = lent_;
  make.server = [to = server_] { return *to; };
  make.gateway = options.gateway;
  make.rank = options.rank;
  make.owner = {::geteuid(), ::getegid()};
  peers_.maker = spawn_monitor_maker(sys, std::move(make));
  for (const auto& name : kinds_->names())
    lend(name);
  if (!options.settings.plugins.empty())
    add_plugins(options.settings.plugins);
}

void node_monitors::add_plugins(const std::string& directory) {
  const auto complain = [&](const std::string& why) {
    if (log_)
      log_(severity::warning, why);
  };
  auto found = load_plugins(directory, ::geteuid());
  for (const auto& x : found.complaints)
    complain(x);
  for (const auto& x : found.loaded)
    for (const auto& [name, kind] : x.kinds)
      if (const auto why = add(name, kind))
        complain("monitor plugin " + x.path + ": " + reason_of(why));
}

caf::error node_monitors::add(const std::string& name,
                              const monitor_kind& kind) {
  if (auto why = add_here(name, kind))
    return why;
  lend(name);
  return caf::none;
}

caf::error node_monitors::add_here(const std::string& name,
                                   const monitor_kind& kind) {
  if (const auto* watchers = std::get_if<watcher_kind>(&kind))
    return add_watchers(name, *watchers);
  auto& sys = loop_.actors();
  const auto* alone = std::get_if<0>(&kind);
  if (alone != nullptr && *alone)
    return kinds_->add(name, [&sys, make = *alone] { return make(sys); });
  const auto* spread = std::get_if<2>(&kind);
  if (spread != nullptr && *spread)
    return kinds_->add(name, [&sys, make = *spread, peers = peers_] {
      return make(sys, peers);
    });
  return make_error(status::bad_param,
                    "the monitor kind " + name
                      + " makes no monitors; give it a maker");
}

void node_monitors::lend(const std::string& kind) {
  if (peers_.gateway)
    lend_monitors(loop_.actors(), peers_.gateway, kind, lent_);
}

caf::error node_monitors::add_watchers(const std::string& name,
                                       const watcher_kind& kind) {
  if (!kind.make || kind.interval < shortest_interval
      || kind.interval > longest_interval)
    return make_error(status::bad_param,
                      "the monitor kind " + name
                        + " needs a maker, and an interval of 10 ms to a year");
  const auto shared = std::make_shared<threads>();
  const auto post = [shared](std::function<void()> work,
                             std::function<void()> done) {
    return shared->pool != nullptr
           && shared->pool->post(std::move(work), std::move(done));
  };
  auto& sys = loop_.actors();
  const auto make = [&sys, post, name, kind](const start_monitor& request) {
    return sys.spawn(plugin_monitor, work_poster{post}, name, kind, request);
  };
  if (auto why = add_plugin_kind(
        *kinds_, sys, name, kind.interval, make,
        knows_processes_ ? probe_ : process_probe_actor{}, log_))
    return why;
  auto bounds = thread_pool::limits{};
  bounds.grace = plugin_grace;
  shared->pool = std::make_unique<thread_pool>(loop_.loop(), bounds);
  threads_.push_back(shared);
  return caf::none;
}

node_monitors::~node_monitors() {
  for (const auto& x : threads_)
    x->pool.reset();
  caf::anon_send_exit(peers_.maker, caf::exit_reason::user_shutdown);
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
