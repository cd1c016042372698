#include "runtime/runtime.hpp"

#include "actors/events/environment_host.hpp"
#include "actors/io/streams_host.hpp"
#include "actors/mesh/remoting/member_node.hpp"
#include "adapters/log/local_time.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/process/process_pipes.hpp"
#include "adapters/spool/spool.hpp"
#include "config/defaults.hpp"
#include "messages/memory_source.hpp"
#include "runtime/loop_wait.hpp"
#include "runtime/node_sensors.hpp"
#include "runtime/node_streams.hpp"
#include "runtime/own_loop.hpp"
#include "runtime/server_node.hpp"

#include <caf/actor_cast.hpp>
#include <caf/actor_registry.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>

namespace troupe {

namespace {

/// Whether a descriptor is open, if there is any; it does not block from then
/// on.
caf::error prepare(int fd) {
  if (fd < 0)
    return {};
  const auto flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
    return make_error(status::bad_param,
                      "descriptor " + std::to_string(fd)
                        + " of a process is not open: give an end of a pipe,"
                          " or -1");
  return {};
}

} // namespace

class runtime::implementation {
public:
  /// With a loop and a thread of its own.
  explicit implementation(const runtime_options& options)
    : own(std::make_unique<loop_system>(loop_settings(options))), loop(*own) {
    // nop
  }

  explicit implementation(loop_system& x) : loop(x) {
    // nop
  }

  ~implementation() {
    stop();
  }

  void run() {
    if (own)
      thread = start_quiet_thread([this] { loop.run(); });
  }

  void stop() {
    if (thread.joinable()) {
      loop.stop();
      thread.join();
    }
    is_stopped = true;
    sensors.reset();
    environment = nullptr;
    around = nullptr;
    streams_host = nullptr;
    host = nullptr;
    node.reset();
    streams.reset();
    pipes.reset();
  }

  static caf::error has_been_stopped() {
    return make_error(status::init,
                      "the runtime has been stopped; start another one");
  }

  /// Asks the server and waits.
  template <class Answer, class Request>
  caf::expected<Answer> ask(Request request) {
    return ask_actor<Answer>(server, std::move(request));
  }

  /// The same of any actor.
  template <class Answer, class Handle, class... Request>
  caf::expected<Answer> ask_actor(const Handle& whom, Request... request) {
    return ask_within<Answer>(caf::infinite, whom, std::move(request)...);
  }

  /// The same for a time.
  template <class Answer, class Limit, class Handle, class... Request>
  caf::expected<Answer> ask_within(Limit limit, const Handle& whom,
                                   Request... request) {
    if (loop.loop().in_loop_thread())
      return make_error(status::would_block,
                        "this waits for the runtime and must not be called on"
                        " its thread: send the server a message instead");
    if (is_stopped)
      return has_been_stopped();
    auto result = caf::expected<Answer>{caf::error{}};
    auto self = caf::scoped_actor{loop.actors()};
    auto reply = self->request(whom, limit, std::move(request)...);
    if (auto why = await_mail(self, loop))
      return why;
    reply.receive([&](Answer& x) { result = std::move(x); },
                  [&](caf::error& err) { result = std::move(err); });
    return result;
  }

  /// Tells what stands between the server and its host, if anything does.
  template <class Request>
  void tell_around(const Request& request) {
    for (const auto& x : {streams_host, around})
      if (x)
        caf::anon_send(x, request);
  }

  /// Waits for what the processes of a job have written, as long as that is
  /// reasonable.
  void drain(const std::string& nspace) {
    const auto limit = caf::timespan{defaults::io_end_wait};
    ask_within<ack>(limit, writer, io_job_over{nspace});
    ask_within<ack>(limit, desk, io_job_over{nspace});
    caf::anon_send(writer, troupe::deregister_nspace{nspace});
  }

  template <class Request>
  caf::error tell(Request request) {
    auto outcome = ask<ack>(std::move(request));
    return outcome ? caf::error{} : std::move(outcome.error());
  }

  std::unique_ptr<loop_system> own;
  loop_system& loop;
  std::atomic<bool> is_stopped = false;
  journal log;
  std::shared_ptr<process_pipes> pipes;
  std::unique_ptr<node_streams> streams;
  std::unique_ptr<server_node> node;
  host_actor host;

  // What embedders ask for, also when this has been stopped: then requests to
  // them fail.
  server_actor server;
  event_cache_actor events;
  monitor_desk_actor monitors;
  io_desk_actor desk;
  process_pipes_actor writer;
  proc_id id;
  std::string uri;

  /// Serves pulls and pushes, unless the host does.
  caf::actor streams_host;
  caf::actor around;

  /// Between the server and the host, if the node is watched.
  std::unique_ptr<node_sensors> sensors;
  caf::actor environment;
  std::thread thread;
};

runtime::runtime(std::unique_ptr<implementation> x)
  : implementation_(std::move(x)) {
  // nop
}

runtime::~runtime() = default;

caf::expected<std::unique_ptr<runtime>>
runtime::start(runtime_options options, const host_maker& make_host) {
  auto where = std::make_unique<implementation>(options);
  return start(std::move(where), std::move(options), make_host);
}

caf::expected<std::unique_ptr<runtime>>
runtime::start(loop_system& loop, runtime_options options,
               const host_maker& make_host) {
  return start(std::make_unique<implementation>(loop), std::move(options),
               make_host);
}

caf::expected<std::unique_ptr<runtime>>
runtime::start(std::unique_ptr<implementation> result, runtime_options options,
               const host_maker& make_host) {
  auto serve = server_node_options{};
  serve.id = std::move(options.id);
  serve.hostname = std::move(options.hostname);
  serve.session_directory = std::move(options.session_directory);
  serve.log =
    options.log ? std::move(options.log) : [](severity, const std::string&) {};
  if (auto err = node_monitors::check(options.monitors))
    return err;
  serve.monitors = std::move(options.monitors);
  if (auto err = serve.settings.apply_environment(environ))
    return err;
  serve.settings.apply(options.settings);
  const auto settings = serve.settings;
  // The host monitors, unless it refuses to (RFC0015, "Monitoring"; A18).
  serve.enable_monitoring = false;
  serve.monitoring_fallback = true;
  if (options.spool_events)
    serve.make_spool = [](loop_system& loop, const std::string& directory) {
      return spawn_spool(loop.actors(), loop.pool(), directory);
    };
  if (options.munge)
    serve.security.mechanism = security_mechanism::munge;
  if (!options.tools)
    serve.tools.clear();
  else if (options.system_server)
    serve.tools.push_back(rendezvous_kind::system);
  // Of a loop that has remoting.
  auto& sys = result->loop.actors();
  serve.gateway =
    caf::actor_cast<gateway_actor>(sys.registry().get(gateway_source));
  if (const auto self = member_of(sys.node()); serve.gateway && self)
    serve.node_id = self->rank;
  auto node = server_node::start(
    result->loop, std::move(serve), [&](const host_context& x) {
      auto& sys = x.loop.actors();
      result->log = x.log;
      auto waiting = size_t{defaults::io_window_total};
      settings.give(setting_id::streams_waiting, waiting);
      result->pipes =
        std::make_shared<process_pipes>(sys, x.loop.loop(), waiting);
      result->streams = std::make_unique<node_streams>(
        x.loop,
        node_streams_options{0, result->pipes->writer(), {}, settings, x.log});
      result->writer = result->pipes->writer();
      result->desk = result->streams->desk();
      result->host = make_host(sys);
      auto inner = result->host;
      if (options.sensors) {
        result->sensors = std::make_unique<node_sensors>(
          x.loop, x.hostname, *options.sensors, x.log);
        inner = spawn_environment_host(sys, inner, result->sensors->desk());
        result->environment = caf::actor_cast<caf::actor>(inner);
      }
      if (options.around_host) {
        inner = options.around_host(x.loop, inner, x.log);
        result->around = caf::actor_cast<caf::actor>(inner);
      }
      if (!options.serve_streams)
        return inner;
      const auto show_time = [](int64_t at) { return local_time(at); };
      auto outer =
        spawn_streams_host(sys, {std::move(inner), result->desk, show_time});
      result->streams_host = caf::actor_cast<caf::actor>(outer);
      return outer;
    });
  if (!node)
    return node.error();
  result->node = std::move(*node);
  result->server = result->node->server();
  result->events = result->node->events();
  result->monitors = result->node->monitors();
  result->id = result->node->id();
  result->uri = result->node->uri();
  for (const auto& [name, kind] : options.monitor_kinds)
    if (auto err = result->node->add_monitor_kind(name, kind))
      return err;
  for (const auto& x :
       {result->streams_host, result->around, result->environment})
    if (x)
      caf::anon_send(x, result->server, result->events);
  if (result->around && result->streams_host)
    caf::anon_send(result->around, result->desk,
                   caf::actor_cast<host_actor>(result->streams_host));
  result->run();
  return std::unique_ptr<runtime>{new runtime{std::move(result)}};
}

caf::error runtime::register_nspace(struct register_nspace what) {
  auto& x = *implementation_;
  caf::anon_send(x.desk, node_streams::job_of(what, x.log));
  x.tell_around(what);
  return x.tell(std::move(what));
}

caf::error runtime::deregister_nspace(const std::string& nspace) {
  implementation_->drain(nspace);
  implementation_->tell_around(troupe::deregister_nspace{nspace});
  return implementation_->tell(troupe::deregister_nspace{nspace});
}

caf::error runtime::register_client(const proc_id& proc, credentials owner) {
  const auto what = troupe::register_client{proc, owner};
  if (implementation_->streams_host)
    caf::anon_send(implementation_->streams_host, what);
  return implementation_->tell(what);
}

caf::error runtime::deregister_client(const proc_id& proc) {
  return implementation_->tell(troupe::deregister_client{proc});
}

caf::expected<std::vector<std::string>>
runtime::setup_fork(const proc_id& proc) {
  auto x = implementation_->ask<client_environment>(troupe::setup_fork{proc});
  if (!x)
    return std::move(x.error());
  return std::move(x->variables);
}

void runtime::proc_ended(const proc_id& proc, proc_state state) {
  caf::anon_send(server(), troupe::proc_ended{proc, state});
}

void runtime::notify(event what, std::vector<proc_id> targets) {
  caf::anon_send(events(), deliver_event{std::move(what), std::move(targets)});
}

caf::error runtime::add_sensor(sensor_offer offer, const sensor_actor& sensor) {
  auto& x = *implementation_;
  if (x.is_stopped)
    return implementation::has_been_stopped();
  if (!x.sensors)
    return make_error(status::not_supported,
                      "nothing is watched: start the runtime with "
                      "runtime_options::sensors");
  auto outcome = x.ask_actor<ack>(x.sensors->desk(), std::move(offer), sensor);
  return outcome ? caf::error{} : std::move(outcome.error());
}

caf::error runtime::forward(const process_streams& what) {
  for (const auto fd : {what.in, what.out, what.err, what.diag})
    if (auto why = prepare(fd))
      return why;
  auto& x = *implementation_;
  auto ends = std::make_shared<process_ends>();
  ends->proc = what.proc;
  ends->pid = what.pid;
  ends->in = unique_fd{what.in};
  ends->out = unique_fd{what.out};
  ends->err = unique_fd{what.err};
  ends->diag = unique_fd{what.diag};
  // A loop that is not ours may come to it when this has been stopped.
  const auto is_kept = !x.is_stopped
                       && x.loop.loop().post(
                         [pipes = std::weak_ptr{x.pipes}, desk = x.desk, ends] {
                           if (const auto to = pipes.lock())
                             to->add(std::move(*ends), desk);
                         });
  if (is_kept)
    return {};
  return implementation::has_been_stopped();
}

caf::error runtime::deliver(process_output what) {
  auto& x = *implementation_;
  auto outcome = x.ask_actor<ack>(x.desk, std::move(what));
  return outcome ? caf::error{} : std::move(outcome.error());
}

caf::expected<uint64_t> runtime::subscribe(io_subscription what,
                                           output_sink_actor sink) {
  auto& x = *implementation_;
  auto outcome =
    x.ask_actor<io_pull_result>(x.desk, std::move(what), std::move(sink));
  if (!outcome)
    return std::move(outcome.error());
  return outcome->subscription;
}

caf::expected<io_input_taken> runtime::give_input(io_input what) {
  auto& x = *implementation_;
  if (x.streams_host)
    return x.ask_actor<io_input_taken>(x.streams_host, std::move(what));
  return x.ask_actor<io_input_taken>(x.desk, std::move(what));
}

const io_desk_actor& runtime::streams() const {
  return implementation_->desk;
}

caf::actor_system& runtime::actors() {
  return implementation_->loop.actors();
}

const server_actor& runtime::server() const {
  return implementation_->server;
}

const event_cache_actor& runtime::events() const {
  return implementation_->events;
}

const monitor_desk_actor& runtime::monitors() const {
  return implementation_->monitors;
}

const host_actor& runtime::host() const {
  return implementation_->host;
}

caf::expected<group_list> runtime::groups() {
  return implementation_->ask<group_list>(list_groups{});
}

caf::expected<group_tracker_actor> runtime::group(const group_key& which) {
  return implementation_->ask<group_tracker_actor>(find_group{which});
}

caf::expected<client_actor> runtime::session(const proc_id& proc) {
  return implementation_->ask<client_actor>(find_session{proc});
}

const proc_id& runtime::id() const {
  return implementation_->id;
}

std::string runtime::uri() const {
  return implementation_->uri;
}

void runtime::stop() {
  implementation_->stop();
}

} // namespace troupe
