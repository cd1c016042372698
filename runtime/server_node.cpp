#include "runtime/server_node.hpp"

#include "actors/events/event_cache.hpp"
#include "actors/monitors/monitor_desk.hpp"
#include "actors/monitors/usage_monitor.hpp"
#include "actors/server.hpp"
#include "actors/supervisor.hpp"
#include "adapters/files/file_checker.hpp"
#include "adapters/log/fd_writer.hpp"
#include "adapters/log/log_sink.hpp"
#include "adapters/process/usage.hpp"
#include "adapters/wire/uri.hpp"

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

/// A namespace must not hold a dot: older clients end it there.
std::string server_nspace(std::string hostname) {
  std::replace(hostname.begin(), hostname.end(), '.', '-');
  return "troupe-" + hostname + "-" + std::to_string(::getpid());
}

} // namespace

server_node::server_node(loop_system& loop, server_node_options options)
  : loop_(loop), options_(std::move(options)) {
  if (options_.hostname.empty())
    options_.hostname = node_name();
  if (options_.id.nspace.empty())
    options_.id.nspace = server_nspace(options_.hostname);
  if (!options_.log)
    options_.log = [](severity, const std::string&) {};
}

caf::error server_node::open_directory() {
  if (!options_.session_directory.empty())
    return {};
  auto made = session_directory::create(options_.system_directory);
  if (!made)
    return made.error();
  session_ = std::move(*made);
  options_.session_directory = session_->path();
  return {};
}

void server_node::spawn_actors(const host_factory& make_host) {
  auto& sys = loop_.actors();
  host_ = make_host({loop_, options_.id, options_.hostname,
                     options_.session_directory, options_.log});
  auto events = event_cache_options{};
  events.host = host_;
  events.log.ring_size = options_.event_cache_size;
  events.log.server = options_.id;
  events.host_orders_events = options_.host_orders_events;
  events.lines = options_.log;
  if (options_.make_spool)
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
  sample.events = events_;
  sample.desk = [this] { return monitors_; };
  usage_monitor_ = spawn_usage_monitor(sys, std::move(sample));
  files_ = std::make_unique<file_checking>(loop_);
  auto kinds = node_monitors_options{};
  kinds.server = options_.id;
  kinds.hostname = options_.hostname;
  kinds.settings = options_.monitors;
  kinds.host = host_;
  kinds.logs = logs_;
  if (options_.launcher)
    kinds.launcher = options_.launcher();
  kinds.log = options_.log;
  kinds_ = std::make_unique<node_monitors>(loop_, std::move(kinds));
  auto watch = monitor_desk_options{};
  watch.host = host_;
  watch.events = events_;
  watch.files = files_->checker();
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
  watch.log = options_.log;
  monitors_ = spawn_monitor_desk(sys, std::move(watch));
  auto serve = server_options{};
  serve.id = options_.id;
  serve.hostname = options_.hostname;
  serve.owner = owner;
  serve.spans_nodes = options_.spans_nodes;
  serve.pid = static_cast<uint32_t>(::getpid());
  serve.log = options_.log;
  registered_ = serve.registered;
  server_ = spawn_server(sys, std::move(serve),
                         {host_, events_, logs_, usage_, monitors_});
  kinds_->set_server(server_);
}

caf::error server_node::listen() {
  auto where = listener_options{};
  where.server = options_.id;
  where.security = options_.security;
  where.log = options_.log;
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
  if (options_.tools.empty())
    return {};
  auto files = rendezvous_options{};
  files.uri = listener_->uris().front();
  files.hostname = node_name();
  files.session_directory = options_.session_directory;
  files.system_directory = options_.system_directory;
  for (const auto kind : options_.tools) {
    files.kinds = {kind};
    auto published = rendezvous_files::publish(files);
    if (published) {
      rendezvous_.push_back(std::move(*published));
      continue;
    }
    const auto code = status_of(published.error());
    const auto is_taken =
      code == status::exists || code == status::no_permissions;
    if (!is_taken || !options_.may_lack_files)
      return published.error();
    options_.log(severity::warning, "tools do not find this server by a file: "
                                      + reason_of(published.error()));
  }
  return {};
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
  return result;
}

server_node::~server_node() {
  rendezvous_.clear();
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
}

const local_statistics& server_node::statistics() const {
  return listener_->statistics();
}

std::string server_node::uri() const {
  return wire::to_string(listener_->uris().front());
}

} // namespace troupe
