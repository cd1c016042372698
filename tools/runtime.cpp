#include "tools/runtime.hpp"

#include "actors/event_cache.hpp"
#include "actors/local_host.hpp"
#include "actors/server.hpp"
#include "adapters/hwloc/allowed_processors.hpp"
#include "adapters/hwloc/topology.hpp"
#include "adapters/log/fd_writer.hpp"
#include "adapters/log/log_sink.hpp"
#include "adapters/log/logger.hpp"
#include "adapters/log/output_sink.hpp"
#include "adapters/process/cleaner.hpp"
#include "adapters/process/process_launcher.hpp"
#include "adapters/process/usage.hpp"
#include "adapters/wire/uri.hpp"
#include "config/defaults.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace troupe {

namespace {

/// The environment that jobs inherit.
std::vector<std::string> inherited_environment() {
  auto result = std::vector<std::string>{};
  for (auto** x = environ; *x != nullptr; ++x) {
    const auto variable = std::string_view{*x};
    if (!wire::is_hostile_variable(variable.substr(0, variable.find('='))))
      result.emplace_back(variable);
  }
  return result;
}

/// A namespace must not hold a dot: older clients end it there.
std::string server_nspace(std::string hostname) {
  std::replace(hostname.begin(), hostname.end(), '.', '-');
  return "troupe-" + hostname + "-" + std::to_string(::getpid());
}

loop_system::settings loop_settings(const journal& log) {
  auto result = loop_system::settings{};
  result.print = [log](const auto& line) {
    log(severity::warning, std::string{line});
  };
  return result;
}

} // namespace

runtime::runtime(const runtime_options& options)
  : log_(
    open_log({"troupe", options.log_level, options.log_json, STDERR_FILENO})),
    loop_(loop_settings(log_)),
    hostname_(node_name()), id_{server_nspace(hostname_), 0},
    out_(std::make_shared<fd_writer>(loop_.loop(), STDOUT_FILENO)),
    err_(std::make_shared<fd_writer>(loop_.loop(), STDERR_FILENO)) {
  // nop
}

caf::error runtime::listen(const runtime_options& options) {
  auto& sys = loop_.actors();
  auto session = session_directory::create(system_tmpdir());
  if (!session)
    return session.error();
  session_ = std::move(*session);

  sink_ =
    sys.spawn(output_sink, output_sink_settings{options.output, out_, err_});
  auto launch = process_launcher_settings{};
  launch.log = log_;
  launcher_ = sys.spawn(process_launcher, &loop_.loop(), launch);
  auto work = local_host_options{};
  work.server = id_;
  work.hostname = hostname_;
  work.slots = static_cast<uint32_t>(allowed_processors().size());
  work.environment = inherited_environment();
  work.session_directory = session_->path();
  work.working_directory = std::filesystem::current_path().string();
  work.log = log_;
  host_ = spawn_local_host(sys, std::move(work),
                           {launcher_, sys.spawn(topology, &loop_.pool()),
                            sys.spawn(cleaner, &loop_.pool()), sink_});
  events_ = spawn_event_cache(sys, host_, defaults::event_cache_size);

  auto serve = server_options{};
  serve.id = id_;
  serve.hostname = hostname_;
  serve.owner = {::geteuid(), ::getegid()};
  serve.pid = static_cast<uint32_t>(::getpid());
  serve.log = log_;
  const auto registered = serve.registered;
  auto logs = log_sink_settings{};
  logs.out = out_;
  logs.err = err_;
  server_ = spawn_server(sys, std::move(serve),
                         {host_, events_,
                          sys.spawn(log_sink, &loop_.pool(), std::move(logs)),
                          sys.spawn(usage, &loop_.pool())});
  caf::anon_send(host_, server_, events_);

  auto where = listener_options{};
  where.server = id_;
  where.security = options.security;
  where.log = log_;
  where.awaited = [registered](uint32_t uid) {
    return registered->awaited_of(uid);
  };
  where.registered = [registered] { return registered->total; };
  auto listening = listener::start(loop_, server_, std::move(where));
  if (!listening)
    return listening.error();
  listener_ = std::move(*listening);

  auto setup = wire::client_setup{};
  setup.uri = listener_->uris().front();
  setup.security_mode = to_string(options.security.mechanism);
  setup.hostname = hostname_;
  setup.server_tmpdir = session_->path();
  setup.system_tmpdir = system_tmpdir();
  auto environment = client_environment{};
  for (const auto& [name, val] : wire::client_environment(setup))
    if (name != "PMIX_NAMESPACE" && name != "PMIX_RANK")
      environment.variables.push_back(name + "=" + val);
  caf::anon_send(server_, std::move(environment));

  if (options.tools) {
    auto files = rendezvous_options{};
    if (options.system_server)
      files.kinds.push_back(rendezvous_kind::system);
    files.uri = listener_->uris().front();
    files.hostname = hostname_;
    files.session_directory = session_->path();
    auto published = rendezvous_files::publish(files);
    if (!published)
      return published.error();
    rendezvous_.emplace(std::move(*published));
  }
  return {};
}

caf::expected<std::unique_ptr<runtime>>
runtime::start(const runtime_options& options) {
  auto result = std::unique_ptr<runtime>{new runtime{options}};
  if (auto err = result->listen(options))
    return err;
  return result;
}

runtime::~runtime() {
  rendezvous_.reset();
  if (listener_)
    listener_->stop_accepting();
  // The launcher first: it takes what still runs with it.
  caf::anon_send_exit(launcher_, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(server_, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(events_, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(host_, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(sink_, caf::exit_reason::user_shutdown);
  listener_.reset();
}

const local_statistics& runtime::statistics() const {
  return listener_->statistics();
}

std::string runtime::uri() const {
  return wire::to_string(listener_->uris().front());
}

} // namespace troupe
