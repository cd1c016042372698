#include "tools/local_node.hpp"

#include "actors/control/checkpoint_records.hpp"
#include "actors/mesh/host/mesh_host.hpp"
#include "adapters/files/kept_file.hpp"
#include "adapters/hwloc/allowed_processors.hpp"
#include "adapters/hwloc/topology.hpp"
#include "adapters/log/fd_writer.hpp"
#include "adapters/log/local_time.hpp"
#include "adapters/log/logger.hpp"
#include "adapters/log/output_sink.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "adapters/metrics/metrics_service.hpp"
#include "adapters/process/children.hpp"
#include "adapters/process/cleaner.hpp"
#include "adapters/process/command_runner.hpp"
#include "adapters/process/daemon_memory.hpp"
#include "adapters/process/descriptors.hpp"
#include "adapters/process/orphan_guard.hpp"
#include "adapters/process/process_launcher.hpp"
#include "adapters/spool/spool.hpp"
#include "adapters/wire/uri.hpp"
#include "base/log_levels.hpp"
#include "base/supervisor.hpp"
#include "base/trace_ring.hpp"
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

#include <chrono>
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
    const auto name = variable.substr(0, variable.find('='));
    if (variable != daemon_variable && !is_service_variable(name)
        && !wire::is_hostile_variable(name))
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

/// Since 1970.
int64_t nanoseconds_now() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(system_clock::now().time_since_epoch())
    .count();
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
      open_log({"troupe", options.log_level, options.logs_as, STDERR_FILENO})),
    loop_(loop_settings(log_)), service_(loop_.loop()),
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
  launch.log = about(log_, log_subject::jobs);
  if (orphan_guard_)
    launch.mark = orphan_guard_->mark();
  launch.window = options.window;
  pmi1_ = std::make_unique<pmi1::service>(
    loop_.loop(), sys, about(log_, log_subject::connections));
  launch.serve_pmi1 = [this](const proc_id& proc, unique_fd fd) {
    pmi1_->serve(proc, std::move(fd));
  };
  options.settings.give(setting_id::streams_waiting, launch.total_window);
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
  if (checkpoints_) {
    work.checkpoints = checkpoints_->take_found();
    work.keep_checkpoints = [to = checkpoints_](std::string content,
                                                std::function<void()> then) {
      to->keep(std::move(content), std::move(then));
    };
  }
  work.log = about(log_, log_subject::nodes);
  work.trace = trace_;
  work.owner = ::geteuid();
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
  streams.settings = options.settings;
  streams.log = about(log_, log_subject::io);
  streams.on_unwritten = [this] { lacks_output_ = true; };
  streams_ = std::make_shared<node_streams>(loop_, std::move(streams));
  desk_ = streams_->desk();
  sys.registry().put(stream_source, desk_);
  host_ =
    spawn_mesh_host(sys, std::move(work),
                    {launcher_, processors, cleaning, sink_, commands_, desk_});
  sensors_ = std::make_unique<node_sensors>(loop_, context.hostname, sensors,
                                            about(log_, log_subject::events));
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
  if (!options.checkpoints.empty()) {
    auto kept =
      kept_file::open(options.checkpoints, result->loop_.pool(), result->log_);
    if (!kept)
      return std::move(kept.error());
    result->checkpoints_ = std::move(*kept);
    // The next checkpoint would take the place of what is there.
    const auto& found = result->checkpoints_->found();
    if (!found.empty())
      if (const auto why = checkpoint_records{}.load(found))
        return make_error(status::bad_param, options.checkpoints + ": "
                                               + reason_of(why)
                                               + "; name another file");
  }
  auto monitors = monitor_settings{};
  if (auto err = apply_settings(monitors, options.monitors))
    return err;
  if (auto err = node_monitors::check(monitors))
    return err;
  auto* part = options.dvm ? &*options.dvm : nullptr;
  if (part != nullptr && part->member.context) {
    part->member.log =
      only_if(about(result->log_, log_subject::nodes),
              [node = result.get()](severity x) {
                return !node->mesh_is_given_up_ || x == severity::error;
              });
    part->member.settings = options.settings;
    auto member = mesh_member::start(result->loop_, std::move(part->member));
    if (!member)
      return std::move(member.error());
    result->member_ = std::move(*member);
    // Programs that embed a member ask all nodes for a name, and wait for one
    // that has no gateway.
    auto handles = remoting_options{};
    handles.log = about(result->log_, log_subject::nodes);
    result->remoting_ =
      remoting::start(result->loop_, *result->member_, std::move(handles));
  }
  result->trace_ = std::make_shared<trace_ring>(
    nanoseconds_now, result->member_ ? result->member_->rank() : 0);
  result->trace_->echo_to(result->log_);
  auto serve = server_node_options{};
  serve.id = std::move(options.id);
  serve.hostname = std::move(options.hostname);
  serve.spans_nodes = result->member_ != nullptr;
  serve.node_id = result->member_ ? result->member_->rank() : 0;
  serve.has_own_host = true;
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
  serve.settings = options.settings;
  serve.log = result->log_;
  serve.trace = result->trace_;
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
  auto& registry = result->loop_.actors().registry();
  registry.put(monitor_source, result->node_->monitors());
  if (result->member_) {
    // The node begins once it has its user.
    caf::anon_send(result->host_, result->member_->node());
    caf::anon_send(result->member_->node(), mesh_user_actor{result->host_});
  }
  result->watch_actors();
  if (auto err = result->tell_metrics(options)) {
    if (options.needs_metrics)
      return err;
    result->log_(severity::warning, reason_of(err));
  }
  if (auto err = check_descriptors())
    return err;
  if (options.is_service)
    result->service_.attach(result->log_);
  return result;
}

/// Tells metrics, if it is to tell some.
caf::error local_node::tell_metrics(const local_node_options& options) {
  auto where = metrics_place_of(options.metrics, options.settings);
  if (!where)
    return std::move(where.error());
  if (!*where)
    return {};
  auto failure = std::error_code{};
  auto what = metrics_options{};
  what.program = std::filesystem::read_symlink("/proc/self/exe", failure);
  what.where = std::move(**where);
  what.host = host_;
  what.version = TROUPE_VERSION;
  what.dvm = id().nspace;
  const auto place = to_string(what.where);
  auto started = metrics_service::start(loop_, std::move(what));
  if (!started)
    return std::move(started.error());
  metrics_ = std::move(*started);
  log_(severity::info, "metrics are told at http://" + place + "/metrics");
  return {};
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
  metrics_.reset();
  caf::anon_send_exit(guard_, caf::exit_reason::kill);
  // The launcher first: it takes what still runs with it.
  caf::anon_send_exit(launcher_, caf::exit_reason::user_shutdown);
  if (pmi1_)
    pmi1_->set_server({});
  // Remoting takes back its own.
  for (const auto name : {memory_source, stream_source, monitor_source})
    loop_.actors().registry().erase(name);
  caf::anon_send_exit(commands_, caf::exit_reason::user_shutdown);
  sensors_.reset();
  node_.reset();
  // With the directory of the session, whose guard ends meanwhile.
  if (orphan_guard_ && orphan_guard_.use_count() == 1)
    orphan_guard_->dismiss_if_alone();
  remoting_.reset();
  member_.reset();
  streams_.reset();
  caf::anon_send_exit(sink_, caf::exit_reason::user_shutdown);
}

} // namespace troupe
