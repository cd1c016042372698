#include "tools/local_node.hpp"

#include "actors/mesh/host/mesh_host.hpp"
#include "adapters/hwloc/allowed_processors.hpp"
#include "adapters/hwloc/topology.hpp"
#include "adapters/log/fd_writer.hpp"
#include "adapters/log/local_time.hpp"
#include "adapters/log/logger.hpp"
#include "adapters/log/output_sink.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "adapters/process/children.hpp"
#include "adapters/process/cleaner.hpp"
#include "adapters/process/command_runner.hpp"
#include "adapters/process/daemon_memory.hpp"
#include "adapters/process/descriptors.hpp"
#include "adapters/process/orphan_guard.hpp"
#include "adapters/process/process_launcher.hpp"
#include "adapters/spool/spool.hpp"
#include "adapters/wire/uri.hpp"
#include "base/supervisor.hpp"
#include "messages/status.hpp"
#include "runtime/node_streams.hpp"
#include "tools/output_options.hpp"
#include "tools/remote_shell.hpp"

#include <caf/actor_registry.hpp>
#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <unistd.h>

#include <filesystem>

namespace troupe {

caf::expected<site_hooks> read_hooks(const std::vector<std::string>& settings) {
  auto result = site_hooks{};
  for (const auto& x : settings) {
    const auto end = x.find('=');
    const auto name = x.substr(0, end);
    auto* hook = name == "checkpoint"  ? &result.checkpoint
                 : name == "restart"   ? &result.restart
                 : name == "provision" ? &result.provision
                                       : nullptr;
    if (hook == nullptr || end == std::string::npos)
      return make_error(status::bad_param,
                        "--hook \"" + x
                          + "\" is none; write checkpoint=COMMAND, "
                            "restart=COMMAND or provision=COMMAND");
    auto words = split_words(x.substr(end + 1), "--hook " + name);
    if (!words)
      return std::move(words.error());
    *hook = std::move(*words);
  }
  return result;
}

namespace {

/// The environment that jobs inherit.
std::vector<std::string> inherited_environment() {
  auto result = std::vector<std::string>{};
  for (auto** x = environ; *x != nullptr; ++x) {
    const auto variable = std::string_view{*x};
    if (variable != daemon_variable
        && !wire::is_hostile_variable(variable.substr(0, variable.find('='))))
      result.emplace_back(variable);
  }
  return result;
}

/// What a host knows that is still to come.
output_formatter::hosts
host_of(const std::shared_ptr<const output_formatter::hosts>& known) {
  return [known](const proc_id& proc) {
    return *known ? (*known)(proc) : std::string{};
  };
}

/// Who cannot take a single connection would let everybody wait.
caf::error check_descriptors() {
  const auto now = current_descriptors();
  const auto need = now.in_use + now.reserve + 1;
  if (need <= now.limit)
    return {};
  return make_error(status::sys_limits_files,
                    "the limit of open files (ulimit -n) is "
                      + std::to_string(now.limit) + ", and "
                      + std::to_string(need)
                      + " are needed before the first process; raise its hard "
                        "value (ulimit -Hn)");
}

loop_system::settings loop_settings(const journal& log) {
  auto result = loop_system::settings{};
  result.print = [log](const auto& line) {
    log(severity::warning, std::string{line});
  };
  return result;
}

} // namespace

local_node::local_node(const local_node_options& options)
  : orphan_guard_(options.guard),
    log_(
      open_log({"troupe", options.log_level, options.log_json, STDERR_FILENO})),
    loop_(loop_settings(log_)),
    out_(std::make_shared<fd_writer>(
      loop_.loop(), STDOUT_FILENO,
      [this, tell = options.on_unwritten](const std::string& why) {
        if (tell)
          tell(out_->error(), why);
        else
          log_(severity::warning, unwritten_notice(why));
      })),
    err_(std::make_shared<fd_writer>(loop_.loop(), STDERR_FILENO)) {
  sink_ = loop_.actors().spawn(output_sink,
                               output_sink_settings{options.output, out_, err_,
                                                    host_of(hosts_),
                                                    options.output_is_shared});
}

host_actor local_node::make_host(const host_context& context, dvm_part* part,
                                 const local_node_options& options,
                                 const sensor_settings& sensors) {
  auto& sys = loop_.actors();
  auto launch = process_launcher_settings{};
  launch.log = log_;
  if (orphan_guard_)
    launch.mark = orphan_guard_->mark();
  launch.window = options.window;
  pmi1_ = std::make_unique<pmi1::service>(loop_.loop(), sys, log_);
  launch.serve_pmi1 = [this](const proc_id& proc, unique_fd fd) {
    pmi1_->serve(proc, std::move(fd));
  };
  launcher_ = sys.spawn(process_launcher, &loop_.loop(), launch);
  sys.registry().put(memory_source, sys.spawn(memory_gauges));
  auto work = mesh_host_options{};
  work.server = context.server;
  work.hostname = context.hostname;
  slots_ = static_cast<uint32_t>(allowed_processors().size());
  work.slots = slots_;
  work.processors = slots_;
  work.environment = inherited_environment();
  work.session_directory = context.session_directory;
  work.working_directory = working_directory_;
  work.descriptors = std::make_shared<descriptor_budget>(current_descriptors);
  work.with_pmi1 = true;
  work.wall_clock = wall_clock;
  work.show_time = [](int64_t at) { return local_time(at); };
  work.on_hosts = [hosts = hosts_](output_formatter::hosts known) {
    *hosts = std::move(known);
  };
  work.hooks = hooks_;
  work.log = log_;
  if (part != nullptr && !member_ && !part->nodes.empty())
    work.slots = part->nodes.front().slots.value_or(slots_);
  if (part != nullptr)
    work.on_terminate = std::move(part->on_terminate);
  if (member_) {
    work.rank = member_->rank();
    work.incarnation = member_->incarnation();
    work.nodes = std::move(part->nodes);
    work.on_fenced = std::move(part->on_fenced);
    work.on_duty = std::move(part->on_duty);
    work.on_member = std::move(part->on_member);
  }
  const auto keep_alive = [&](const char* what) {
    auto how = supervision{};
    how.what = what;
    how.log = log_;
    return how;
  };
  const auto processors = supervise<topology_actor>(
    sys, [&sys, pool = &loop_.pool()] { return sys.spawn(topology, pool); },
    keep_alive("reader of the topology"));
  const auto cleaning = supervise<cleaner_actor>(
    sys, [&sys, pool = &loop_.pool()] { return sys.spawn(cleaner, pool); },
    keep_alive("cleaner of left files"));
  if (!hooks_.checkpoint.empty() || !hooks_.provision.empty())
    commands_ =
      sys.spawn(command_runner, &loop_.loop(), inherited_environment());
  auto streams = node_streams_options{};
  streams.node = work.rank;
  streams.input = launcher_;
  streams.hostname = context.hostname;
  streams.log = log_;
  streams.on_unwritten = [this] { lacks_output_ = true; };
  streams_ = std::make_shared<node_streams>(loop_, std::move(streams));
  desk_ = streams_->desk();
  host_ =
    spawn_mesh_host(sys, std::move(work),
                    {launcher_, processors, cleaning, sink_, commands_, desk_});
  sensors_ =
    std::make_unique<node_sensors>(loop_, context.hostname, sensors, log_);
  caf::anon_send(host_, sensors_->desk());
  return host_;
}

/// An actor whose state others rely on cannot be started anew: without it this
/// process ends, and a DVM has lost a node. Source: docs/decisions/0003.
void local_node::watch_actors() {
  auto watched = std::vector<caf::actor_addr>{
    host_.address(), launcher_.address(), desk_.address(),
    node_->server().address(), node_->events().address()};
  if (member_)
    watched.push_back(member_->node().address());
  // It may run for the first time when this is being destroyed.
  guard_ =
    loop_.actors().spawn([this, watched, is_over = is_over_](
                           caf::event_based_actor* self) -> caf::behavior {
      self->set_down_handler([this, is_over](const caf::down_msg& what) {
        if (*is_over || !what.reason
            || what.reason == caf::exit_reason::user_shutdown)
          return;
        has_failed_ = true;
        log_(severity::error, "a part of this daemon has failed ("
                                + caf::to_string(what.reason)
                                + "): it ends, with all that it runs");
        loop_.stop();
      });
      if (!*is_over)
        for (const auto& x : watched)
          self->monitor(x);
      return {[](caf::unit_t) {
        // It only watches.
      }};
    });
}

caf::expected<std::unique_ptr<local_node>>
local_node::start(local_node_options options) {
  auto failure = std::error_code{};
  const auto here = std::filesystem::current_path(failure).string();
  if (failure)
    return make_error(status::job_wdir_not_found,
                      "the working directory cannot be used: "
                        + failure.message() + "; change to another one (cd)");
  if (!options.guard)
    options.guard = orphan_guard::start();
  auto result = std::unique_ptr<local_node>{new local_node{options}};
  result->working_directory_ = here;
  auto sensors = sensor_settings{};
  if (auto err = apply_settings(sensors, options.sensors))
    return err;
  auto hooks = read_hooks(options.hooks);
  if (!hooks)
    return std::move(hooks.error());
  result->hooks_ = std::move(*hooks);
  auto monitors = monitor_settings{};
  if (auto err = apply_settings(monitors, options.monitors))
    return err;
  if (auto err = node_monitors::check(monitors))
    return err;
  auto* part = options.dvm ? &*options.dvm : nullptr;
  if (part != nullptr && part->member.context) {
    part->member.log = [node = result.get(), log = result->log_](
                         severity level, const std::string& line) {
      if (!node->mesh_is_given_up_ || level == severity::error)
        log(level, line);
    };
    auto member = mesh_member::start(result->loop_, std::move(part->member));
    if (!member)
      return std::move(member.error());
    result->member_ = std::move(*member);
    // Programs that embed a member ask all nodes for a name, and wait for one
    // that has no gateway.
    auto handles = remoting_options{};
    handles.log = result->log_;
    result->remoting_ =
      remoting::start(result->loop_, *result->member_, std::move(handles));
  }
  auto serve = server_node_options{};
  serve.id = std::move(options.id);
  serve.hostname = std::move(options.hostname);
  serve.spans_nodes = result->member_ != nullptr;
  serve.node_id = result->member_ ? result->member_->rank() : 0;
  serve.host_orders_events = true;
  serve.make_spool = [](loop_system& loop, const std::string& directory) {
    return spawn_spool(loop.actors(), loop.pool(), directory);
  };
  serve.monitors = std::move(monitors);
  if (result->remoting_)
    serve.gateway = result->remoting_->gateway();
  serve.launcher = [node = result.get()] { return node->launcher_; };
  serve.security = options.security;
  serve.share_memory = options.share_memory;
  serve.log = result->log_;
  serve.out = result->out_;
  serve.err = result->err_;
  if (!options.directory.empty())
    serve.system_directory = std::move(options.directory);
  serve.own_file = std::move(options.own_file);
  if (!options.tools)
    serve.tools.clear();
  else if (options.system_server)
    serve.tools.push_back(rendezvous_kind::system);
  auto node = server_node::start(
    result->loop_, std::move(serve), [&](const host_context& context) {
      return result->make_host(context, part, options, sensors);
    });
  if (!node)
    return node.error();
  result->node_ = std::move(*node);
  if (options.guard)
    options.guard->set_directory(result->session_directory());
  else
    result->log_(severity::warning,
                 "there is no process left for a guard: if this one is killed, "
                 "its jobs go on; raise ulimit -u");
  result->pmi1_->set_server(result->node_->server());
  caf::anon_send(result->host_, result->node_->server(),
                 result->node_->events());
  caf::anon_send(result->host_, result->node_->usage_monitor());
  if (result->member_) {
    // The node begins once it has its user.
    caf::anon_send(result->host_, result->member_->node());
    caf::anon_send(result->member_->node(), mesh_user_actor{result->host_});
  }
  result->watch_actors();
  if (auto err = check_descriptors())
    return err;
  return result;
}

void local_node::control(job_control_request request,
                         std::function<void()> done) {
  loop_.actors().spawn([host = host_, request = std::move(request),
                        done = std::move(done)](caf::event_based_actor* self) {
    auto who = requester{};
    who.role = peer_role::launcher_with_identity;
    who.creds = {::geteuid(), ::getegid()};
    self->request(host, caf::infinite, std::move(who), request)
      .then([done](const info_result&) { done(); },
            [done](const caf::error&) { done(); });
  });
}

local_node::~local_node() {
  *is_over_ = true;
  caf::anon_send_exit(guard_, caf::exit_reason::kill);
  // The launcher first: it takes what still runs with it.
  caf::anon_send_exit(launcher_, caf::exit_reason::user_shutdown);
  if (pmi1_)
    pmi1_->set_server({});
  loop_.actors().registry().erase(memory_source);
  caf::anon_send_exit(commands_, caf::exit_reason::user_shutdown);
  sensors_.reset();
  node_.reset();
  remoting_.reset();
  member_.reset();
  streams_.reset();
  caf::anon_send_exit(sink_, caf::exit_reason::user_shutdown);
}

} // namespace troupe
