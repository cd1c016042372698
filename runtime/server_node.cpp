#include "runtime/server_node.hpp"

#include "actors/events/event_cache.hpp"
#include "actors/monitors/monitor_desk.hpp"
#include "actors/monitors/usage_monitor.hpp"
#include "actors/server/server.hpp"
#include "adapters/files/file_checker.hpp"
#include "adapters/log/fd_writer.hpp"
#include "adapters/log/log_sink.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "adapters/node_store/shared_job_memory.hpp"
#include "adapters/process/control_groups.hpp"
#include "adapters/process/usage.hpp"
#include "adapters/wire/uri.hpp"
#include "base/log_levels.hpp"
#include "base/supervisor.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

using namespace std::chrono_literals;

/// How often a server looks whether its files are still there: the longest that
/// tools miss it when somebody has removed them.
constexpr auto look_after = 10s;

/// Every so many looks their times are set to now, once an hour: who sweeps a
/// directory goes by days.
constexpr uint32_t looks_per_touch = 360;

/// A namespace must not hold a dot: older clients end it there.
std::string server_nspace(std::string hostname) {
  std::replace(hostname.begin(), hostname.end(), '.', '-');
  return "troupe-" + hostname + "-" + std::to_string(::getpid());
}

/// A namespace keeps as much posted as so many processes may.
constexpr size_t processes_per_namespace = 16;

/// Of the memory there is, one process may keep one part in so many posted.
constexpr size_t parts_of_memory = 128;

/// Where there is little, a namespace may keep one part in so many posted, one
/// process half of that, and a message may be as long: what a process posts is
/// in its own memory, too, and in that of whoever gets it.
constexpr size_t parts_at_most = 8;

/// The shortest that the longest message may be: what starts jobs fits.
constexpr size_t least_message = size_t{1} << 20;

/// How much processes may keep posted: as the site has set, else by the memory
/// there is, and never less than the defaults unless that is too much of it.
/// @param memory `memory_limit`; 0: not known.
datastore::limits posted_limits(const site_settings& site, uint64_t memory) {
  auto result = datastore::limits{};
  if (const auto bytes = site.get(setting_id::posted_bytes); bytes > 0) {
    result.process_bytes = bytes;
    result.namespace_bytes = bytes * processes_per_namespace;
    return result;
  }
  if (memory > 0) {
    const auto share = memory / parts_of_memory;
    const auto most = memory / parts_at_most;
    result.process_bytes =
      std::min(std::max(result.process_bytes, share), most / 2);
    result.namespace_bytes = std::min(
      std::max(result.namespace_bytes, share * processes_per_namespace), most);
  }
  return result;
}

/// Those of the event log that the site has set.
void apply(const site_settings& site, event_cache_options& x) {
  auto& log = x.log;
  site.give(setting_id::events_history, log.per_namespace.holds_history);
  site.give(setting_id::events_memory, log.per_namespace.memory);
  site.give(setting_id::events_disk, log.per_namespace.spool);
  site.give(setting_id::events_backlog, log.per_namespace.backlog);
  site.give(setting_id::events_node, log.node_bytes);
  // What one namespace may have is no more than what all may.
  log.node_spool = std::max(log.node_spool, log.per_namespace.spool);
  site.give(setting_id::events_node_disk, log.node_spool);
  site.give(setting_id::events_environment, log.ring_size);
  site.give(setting_id::events_codes, log.codes_per_client);
  site.give(setting_id::events_stall, log.stall);
  site.give(setting_id::events_disconnect_stalled, x.disconnects_stalled);
}

/// Whether the site wants no events on disk.
bool has_no_disk(const site_settings& site) {
  return site.get(setting_id::events_disk) == 0;
}

/// What local connections may have, as far as memory and the site say.
/// @param memory As above.
local_limits connection_limits(const site_settings& site, uint64_t memory) {
  auto result = local_limits{};
  if (memory > 0) {
    const auto most = memory / parts_at_most;
    result.message_size =
      std::min(result.message_size, std::max(most, least_message));
    result.unfinished_per_namespace =
      std::min(result.unfinished_per_namespace, most);
    result.unfinished_per_node = std::min(result.unfinished_per_node, most * 2);
  }
  if (const auto bytes = site.get(setting_id::connections_message_bytes))
    result.message_size = bytes;
  site.give(setting_id::connections_half_open, result.half_open);
  auto greeting_time = result.greeting_time;
  site.give(setting_id::connections_greeting_time, greeting_time);
  result.set_greeting_time(greeting_time);
  site.give(setting_id::connections_requests, result.in_flight);
  site.give(setting_id::connections_log_lines, result.log_lines);
  return result;
}

monitor_limits limits_of_monitors(const site_settings& site) {
  auto result = monitor_limits{};
  site.give(setting_id::monitors_per_process, result.per_process);
  site.give(setting_id::monitors_node, result.node);
  site.give(setting_id::monitors_updates_per_process,
            result.updates_per_process);
  site.give(setting_id::monitors_updates, result.updates);
  return result;
}

file_check_limits limits_of_looks(const site_settings& site) {
  auto result = file_check_limits{};
  site.give(setting_id::files_threads, result.threads);
  site.give(setting_id::files_hung_per_user, result.hung_per_user);
  site.give(setting_id::files_patience, result.patience);
  return result;
}

} // namespace

server_node::server_node(loop_system& loop, server_node_options options)
  : loop_(loop), options_(std::move(options)), memory_(memory_limit()) {
  if (options_.hostname.empty())
    options_.hostname = node_name();
  if (options_.id.nspace.empty())
    options_.id.nspace = server_nspace(options_.hostname);
  if (!options_.log)
    options_.log = [](severity, const std::string&) {};
}

caf::error server_node::note(const session_files::report& x) {
  for (const auto& line : x.warnings)
    options_.log(severity::warning, line);
  return x.failure;
}

caf::error server_node::open_directory() {
  auto files = session_files::settings{};
  files.session_directory = options_.session_directory;
  files.system_directory = options_.system_directory;
  files.kinds = options_.tools;
  files.own_name = options_.own_file;
  files.may_lack_files = options_.may_lack_files;
  kept_ = std::make_shared<session_files>(std::move(files));
  if (auto err = note(kept_->open()))
    return err;
  options_.session_directory = kept_->directory();
  return {};
}

void server_node::spawn_actors(const host_factory& make_host) {
  auto& sys = loop_.actors();
  host_ = make_host({loop_, options_.id, options_.hostname,
                     options_.session_directory, options_.log});
  auto events = event_cache_options{};
  events.host = host_;
  events.log.server = options_.id;
  events.host_orders_events = options_.host_orders_events;
  events.lines = about(options_.log, log_subject::events);
  events.log.trace = options_.trace;
  apply(options_.settings, events);
  if (options_.make_spool && !has_no_disk(options_.settings))
    spool_ = options_.make_spool(loop_, options_.session_directory);
  events.spool = spool_;
  events_ = spawn_event_cache(sys, std::move(events));
  auto sinks = log_sink_settings{};
  sinks.out = options_.out
                ? options_.out
                : std::make_shared<fd_writer>(loop_.loop(), STDOUT_FILENO);
  sinks.err = options_.err
                ? options_.err
                : std::make_shared<fd_writer>(loop_.loop(), STDERR_FILENO);
  const auto keep_alive = [&](const char* what) {
    auto how = supervision{};
    how.what = what;
    how.log = options_.log;
    return how;
  };
  logs_ = supervise<log_sink_actor>(
    sys,
    [&sys, pool = &loop_.pool(), sinks = std::move(sinks)] {
      return sys.spawn(log_sink, pool, sinks);
    },
    keep_alive("log sink"));
  usage_ = supervise<usage_actor>(
    sys, [&sys, pool = &loop_.pool()] { return sys.spawn(usage, pool); },
    keep_alive("sampler of memory usage"));
  const auto owner = credentials{::geteuid(), ::getegid()};
  auto sample = usage_monitor_options{};
  sample.server = options_.id;
  sample.hostname = options_.hostname;
  sample.node_id = options_.node_id;
  sample.owner = owner;
  sample.usage = usage_;
  sample.host = host_;
  sample.desk = [this] { return monitors_; };
  usage_monitor_ = spawn_usage_monitor(sys, std::move(sample));
  files_ =
    std::make_unique<file_checking>(loop_, limits_of_looks(options_.settings));
  const auto monitors = limits_of_monitors(options_.settings);
  auto kinds = node_monitors_options{};
  kinds.server = options_.id;
  kinds.hostname = options_.hostname;
  kinds.settings = options_.monitors;
  kinds.host = host_;
  kinds.logs = logs_;
  if (options_.launcher)
    kinds.launcher = options_.launcher();
  kinds.gateway = options_.gateway;
  kinds.rank = options_.node_id;
  kinds.most_lent = monitors.node;
  kinds.log = about(options_.log, log_subject::monitors);
  kinds_ = std::make_unique<node_monitors>(loop_, std::move(kinds));
  auto watch = monitor_desk_options{};
  watch.server = options_.id;
  watch.host = host_;
  watch.events = events_;
  watch.files = files_->checker();
  watch.limits = monitors;
  watch.usage = usage_monitor_;
  watch.is_enabled = options_.enable_monitoring;
  watch.is_fallback = options_.monitoring_fallback;
  watch.spans_nodes = options_.spans_nodes;
  watch.hostname = options_.hostname;
  watch.owner = owner;
  watch.make_kind = [known = kinds_->kinds()](const std::string& kind) {
    return known->make(kind);
  };
  watch.check = node_monitors::check_request;
  watch.react = kinds_->reactor();
  watch.probe = kinds_->probe();
  watch.commands = kinds_->commands();
  const auto beats = std::make_shared<job_beats>();
  watch.beats = beats;
  watch.log = about(options_.log, log_subject::monitors);
  monitors_ = spawn_monitor_desk(sys, std::move(watch));
  auto serve = server_options{};
  serve.id = options_.id;
  serve.hostname = options_.hostname;
  serve.owner = owner;
  serve.spans_nodes = options_.spans_nodes;
  serve.next = options_.has_own_host ? next_host::ours : next_host::foreign;
  serve.pid = static_cast<uint32_t>(::getpid());
  serve.posted = posted_limits(options_.settings, memory_);
  options_.settings.give(setting_id::tools_per_user, serve.tools_per_user);
  options_.settings.give(setting_id::collectives_in_flight,
                         serve.collectives_in_flight);
  options_.settings.give(setting_id::groups_per_namespace,
                         serve.groups_per_namespace);
  if (options_.share_memory)
    serve.make_memory = make_shared_job_memory;
  serve.beats = beats;
  serve.log = about(options_.log, log_subject::server);
  serve.trace = options_.trace;
  registered_ = serve.registered;
  server_ = spawn_server(sys, std::move(serve),
                         {host_, events_, logs_, usage_, monitors_});
  kinds_->set_server(server_);
}

caf::error server_node::listen() {
  auto where = listener_options{};
  where.server = options_.id;
  where.limits = connection_limits(options_.settings, memory_);
  where.security = options_.security;
  where.log = about(options_.log, log_subject::connections);
  where.launcher = options_.launcher;
  where.on_violation = options_.on_violation;
  where.awaited = [counts = registered_](uint32_t uid) {
    return counts->awaited_of(uid);
  };
  where.registered = [counts = registered_] { return counts->total; };
  auto listening = listener::start(loop_, server_, std::move(where));
  if (!listening)
    return listening.error();
  listener_ = std::move(*listening);

  auto setup = wire::client_setup{};
  setup.uri = listener_->uris().front();
  setup.security_mode = to_string(options_.security.mechanism);
  setup.hostname = options_.hostname;
  setup.server_tmpdir = options_.session_directory;
  setup.system_tmpdir = options_.system_directory;
  for (const auto& [name, val] : wire::client_environment(setup))
    if (name != "PMIX_NAMESPACE" && name != "PMIX_RANK")
      environment_.variables.push_back(name + "=" + val);
  caf::anon_send(server_, environment_);
  return {};
}

caf::error server_node::publish() {
  return note(kept_->publish(listener_->uris().front()));
}

void server_node::look_after_files() {
  const auto found = std::make_shared<session_files::report>();
  const auto is_time_to_touch = ++looks_ % looks_per_touch == 0;
  const auto work = [kept = kept_, found, is_time_to_touch] {
    *found = kept->renew();
    if (is_time_to_touch)
      kept->touch();
  };
  const auto done = [this, weak = std::weak_ptr{alive_}, found] {
    if (weak.expired())
      return;
    const auto trouble = note(*found);
    auto said = trouble ? reason_of(trouble) : std::string{};
    if (!said.empty() && said != said_)
      options_.log(severity::warning,
                   "files by which tools find this server were removed and "
                   "cannot be made anew: "
                     + said);
    said_ = std::move(said);
    next_look_->start(look_after);
  };
  if (!loop_.pool().post(work, done))
    next_look_->start(look_after);
}

caf::expected<std::unique_ptr<server_node>>
server_node::start(loop_system& loop, server_node_options options,
                   const host_factory& make_host) {
  auto result =
    std::unique_ptr<server_node>{new server_node{loop, std::move(options)}};
  if (auto err = result->open_directory())
    return err;
  result->spawn_actors(make_host);
  if (auto err = result->listen())
    return err;
  if (auto err = result->publish())
    return err;
  result->next_look_ = std::make_unique<timer>(
    loop.loop(), [self = result.get()] { self->look_after_files(); });
  if (result->kept_->has_any())
    result->next_look_->start(look_after);
  return result;
}

server_node::~server_node() {
  next_look_.reset();
  alive_.reset();
  kept_->withdraw();
  if (listener_)
    listener_->stop_accepting();
  caf::anon_send_exit(server_, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(monitors_, caf::exit_reason::user_shutdown);
  files_.reset();
  caf::anon_send_exit(usage_monitor_, caf::exit_reason::user_shutdown);
  kinds_.reset();
  caf::anon_send_exit(events_, caf::exit_reason::user_shutdown);
  if (spool_)
    caf::anon_send_exit(spool_, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(host_, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(logs_, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(usage_, caf::exit_reason::user_shutdown);
  listener_.reset();
  kept_->close();
}

const local_statistics& server_node::statistics() const {
  return listener_->statistics();
}

std::string server_node::uri() const {
  return wire::to_string(listener_->uris().front());
}

} // namespace troupe
