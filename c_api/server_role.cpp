#include "c_api/server_role.hpp"

#include "actors/io/io_options.hpp"
#include "actors/io/output_formatter.hpp"
#include "actors/io/tool_output.hpp"
#include "actors/server/client.hpp"
#include "adapters/c_host/c_host.hpp"
#include "adapters/log/local_time.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "adapters/process/cleaner.hpp"
#include "base/answer.hpp"
#include "base/make_info.hpp"
#include "c_api/mesh_hook.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "messages/io_keys.hpp"

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <string>
#include <type_traits>
#include <variant>

namespace troupe::c_api {

namespace {

// -- output ------------------------------------------------------------------

/// Memory for each delivery beside its bytes.
constexpr size_t overhead = 256;

struct own_output_options {
  uint64_t handler = 0;
  bool with_offsets = false;
  output_format format;
};

/// What goes when the program has taken it, on whatever thread that is; then
/// the actor that owes the answer is told on its own.
std::shared_ptr<void> receipt_for(caf::typed_response_promise<ack> promise) {
  auto owed = std::make_shared<answer<ack>>(std::move(promise));
  return {nullptr, [owed](void*) {
            library::instance().post([owed] { owed->give(ack{}); });
          }};
}

output_sink_actor::behavior_type own_output(output_sink_actor::pointer self,
                                            const own_output_options& options) {
  const auto show_time = [](int64_t at) { return local_time(at); };
  auto format = options.with_offsets
                  ? output_formatter{}
                  : output_formatter{options.format, show_time};
  return {
    [self, options, format = std::move(format)](
      io_fragment& what) mutable -> caf::result<ack> {
      auto delivery = io_delivery{};
      delivery.source = what.stream.source;
      delivery.channel = what.stream.channel;
      delivery.handler = options.handler;
      const auto is_end = what.is_end;
      if (options.with_offsets)
        delivery.infos = {make_info(io_offset_key, value::uint64(what.offset))};
      if (what.missed > 0)
        delivery.infos.push_back(
          make_info(io_missed_key, value::uint64(what.missed)));
      delivery.bytes = format.format(std::move(what));
      auto promise = self->make_response_promise<ack>();
      const auto receipt = receipt_for(promise);
      if (!delivery.bytes.empty())
        library::instance().push(delivery, receipt);
      if (is_end) {
        delivery.bytes.clear();
        delivery.infos.push_back(
          make_info(attr::iof_complete, value::boolean(true)));
        library::instance().push(std::move(delivery), receipt);
      }
      return promise;
    },
  };
}

/// The sink of a process or tool of a server, or of the server's own program,
/// which has index 0: see `c_host_settings::make_sink`.
output_sink_actor make_output_sink(caf::actor_system& sys,
                                   const server_actor& server,
                                   const requester& who, uint64_t handler,
                                   const std::vector<info>& directives) {
  const auto format = read_output_format(directives);
  const auto with_offsets = flag(directives, io_offsets_key);
  if (who.index == 0)
    return sys.spawn(own_output,
                     own_output_options{handler, with_offsets,
                                        format ? *format : output_format{}});
  auto options = tool_output_options{};
  options.server = server;
  options.who = who;
  options.handler = handler;
  options.with_offsets = with_offsets;
  options.show_time = [](int64_t at) { return local_time(at); };
  if (format)
    options.format = *format;
  return spawn_tool_output(sys, std::move(options));
}

} // namespace

std::shared_ptr<void> delivered_bytes::add(size_t size) {
  const auto all = size + overhead;
  const auto before = waiting_->fetch_add(all);
  if (before > 0 && before + all > defaults::io_window_total) {
    waiting_->fetch_sub(all);
    return nullptr;
  }
  // A pointer to something: only then it counts as one.
  return {waiting_.get(),
          [waiting = waiting_, all](void*) { waiting->fetch_sub(all); }};
}

std::vector<process_output> outputs_of(const proc_id& source,
                                       io_channels channel, std::string bytes,
                                       const std::vector<info>& infos) {
  auto result = std::vector<process_output>{};
  const auto is_end = bytes.empty() || flag(infos, attr::iof_complete);
  if (!bytes.empty())
    result.push_back({source, channel, std::move(bytes), 0});
  if (is_end)
    result.push_back({source, channel, {}, 0});
  return result;
}

// -- the role ----------------------------------------------------------------

namespace {

struct current_role {
  std::mutex mutex;
  std::shared_ptr<server_role> role; // guarded by mutex
};

/// Never destroyed: nothing ends at exit. A forked child makes its own.
std::atomic<current_role*> holder_of_process{nullptr};

std::atomic<const fork_snapshot*> current_snapshot{nullptr};

/// Runs in a forked child: what belongs to the parent is left alone.
void after_fork() noexcept {
  holder_of_process.store(nullptr);
}

current_role& holder() {
  static const auto is_watched =
    ::pthread_atfork(nullptr, nullptr, after_fork) == 0;
  static_cast<void>(is_watched);
  auto* x = holder_of_process.load();
  if (x != nullptr)
    return *x;
  auto* fresh = new current_role;
  if (holder_of_process.compare_exchange_strong(x, fresh))
    return *fresh;
  delete fresh;
  return *x;
}

/// The server's own end of its session: what comes to it goes to the program.
connection_actor::behavior_type own_connection(connection_actor::pointer self) {
  return {
    [self, taken = uint64_t{0}](const event_batch& what) mutable {
      library::instance().push(what);
      taken += what.events.size();
      self->send(caf::actor_cast<client_actor>(self->current_sender()),
                 events_taken{taken});
    },
    [self](const io_delivery& what) {
      // Answered when the program has taken it: that is how it holds up others.
      auto owed =
        std::make_shared<answer<ack>>(self->make_response_promise<ack>());
      const auto promise = owed->promise();
      library::instance().push(
        what, output_receipt{owed.get(), [owed](void*) { owed->give(ack{}); }});
      return promise;
    },
    [](read_now) { return unread{}; },
    [](const close_connection&) {
      // It ends with the server.
    },
  };
}

/// What the host's handlers get when a client is gone; those that only know the
/// old name, PMIX_ERR_LOST_CONNECTION_TO_CLIENT, by that one.
/// Source: OpenPMIx, PMIX_ERR_LOST_CONNECTION.
void tell_of_loss(const requester& client) {
  auto what = event{};
  what.code = status::lost_connection_to_client;
  what.source = client.proc;
  what.range = data_range::proc_local;
  what.infos = {
    make_info(attr::event_affected_proc, value::of_proc(client.proc))};
  library::instance().push(batch_of(std::move(what)));
}

/// Takes what is for the resource manager to the host's handlers.
bool tell_of_manager_event(const event& what) {
  if (!library::instance().expects_event(what.code))
    return false;
  library::instance().push(batch_of(what));
  return true;
}

/// What the host's handlers get when a client breaks the protocol. Default
/// handlers are not told: Slurm's ends the job step, whatever they are told.
/// Source: RFC0002, "RM-Host Registrations".
void tell_of_violation(const proc_id& server, const proc_id& client,
                       const std::string& why) {
  auto what = event{};
  what.code = status::comm_failure;
  what.source = server;
  what.range = data_range::proc_local;
  what.infos = {make_info(attr::event_non_default, value::boolean(true)),
                make_info(attr::event_affected_proc, value::of_proc(client)),
                make_info(attr::event_text_message, value::string(why))};
  library::instance().push(batch_of(std::move(what)));
}

using reply_to_us = std::shared_ptr<one_answer<wire::reply_body>>;

/// What becomes of a request to our own session; by names of their own, as
/// `answer_to` is.
template <class Reply>
struct give_reply {
  reply_to_us answer;

  void operator()(Reply& x) const {
    if constexpr (std::is_same_v<Reply, job_info_reply>)
      (*answer)(wire::reply_body{x.info ? *x.info : job_info{}});
    else
      (*answer)(wire::reply_body{std::move(x)});
  }
};

struct give_failure {
  reply_to_us answer;

  void operator()(caf::error& why) const {
    (*answer)(std::move(why));
  }
};

} // namespace

std::shared_ptr<server_role> server_role::current() {
  auto& h = holder();
  const auto guard = std::lock_guard{h.mutex};
  return h.role;
}

void server_role::set_current(std::shared_ptr<server_role> x) {
  auto& h = holder();
  const auto guard = std::lock_guard{h.mutex};
  h.role.swap(x);
}

caf::expected<std::shared_ptr<server_role>>
server_role::start(library& lib, server_node_options options,
                   const pmix_server_module_t& module, size_t module_size,
                   bool with_mesh) {
  auto result = std::shared_ptr<server_role>{new server_role};
  result->weak_ = result;
  auto host = c_host_settings{};
  host.module = module;
  host.module_size = module_size;
  host.objects = result->objects_;
  host.attributes = result->attributes_;
  result->gate_ = host.gate;
  host.make_sink =
    [&lib, weak = result->weak_](const requester& who, uint64_t handler,
                                 const std::vector<info>& directives) {
      const auto self = weak.lock();
      return make_output_sink(lib.loop().actors(),
                              self ? self->server_ : server_actor{}, who,
                              handler, directives);
    };
  host.on_lost = tell_of_loss;
  host.on_manager_event = tell_of_manager_event;
  // No two servers of a job have the same, on whatever nodes they are.
  auto random = std::random_device{};
  for (auto i = 0; i < 4; ++i)
    result->origin_ += std::to_string(random()) + ".";
  host.origin = result->origin_;
  host.is_met = with_mesh;
  host.log = options.log;
  options.on_violation = [weak = result->weak_](const proc_id& client,
                                                const std::string& why) {
    if (const auto self = weak.lock())
      tell_of_violation(self->id_, client, why);
  };
  const auto settings = options.settings;
  auto node = server_node::start(
    lib.loop(), std::move(options), [&](const host_context& x) -> host_actor {
      const auto offers = offers_of(module);
      auto& sys = x.loop.actors();
      auto streams = node_streams_options{};
      streams.settings = settings;
      streams.log = x.log;
      result->log_ = x.log;
      result->streams_ =
        std::make_unique<node_streams>(x.loop, std::move(streams));
      result->desk_ = result->streams_->desk();
      host.desk = result->desk_;
      auto rm = host_actor{spawn_c_host(sys, std::move(host))};
      if (with_mesh) {
        rm = make_mesh(x.loop, std::move(rm), offers, x.log, settings);
        result->mesh_ = caf::actor_cast<caf::actor>(rm);
      }
      auto control = spawn_local_control(
        sys, std::move(rm), sys.spawn(cleaner, &x.loop.pool()),
        result->cleanup_, ::geteuid(), result->desk_);
      result->control_ = caf::actor_cast<caf::actor>(control);
      return control;
    });
  if (!node)
    return std::move(node.error());
  result->node_ = std::move(*node);
  result->open_session(lib);
  return result;
}

void server_role::open_session(library& lib) {
  id_ = node_->id();
  hostname_ = node_->hostname();
  uri_ = node_->uri();
  publish({node_->environment().variables, {}});
  server_ = node_->server();
  events_ = node_->events();
  if (mesh_)
    caf::anon_send(mesh_, server_, events_);
  auto& sys = lib.loop().actors();
  asker_handle_ = sys.spawn([](caf::event_based_actor*) {
    return caf::behavior{[](deadline) {
      // Keeps it alive; all it gets are answers.
    }};
  });
  // The actor's first turn may come after the first request.
  asker_ = static_cast<caf::event_based_actor*>(
    caf::actor_cast<caf::abstract_actor*>(asker_handle_));
  connection_ = sys.spawn(own_connection);
  auto who = requester{};
  who.proc = id_;
  who.creds = {::geteuid(), ::getegid()};
  session_ = spawn_client(sys, who, server_, node_->events(), node_->host(),
                          connection_, node_->monitors(), next_host::foreign);
}

void server_role::join(library& lib) const {
  if (lib.proc().nspace.empty()) {
    lib.set_self(id_, hostname_, uri_);
    lib.store()->store(id_, std::string{attr::myserver_uri},
                       value::string(uri_));
  }
  lib.set_session(session_, id_);
}

void server_role::ask_session(
  wire::request what, std::shared_ptr<one_answer<wire::reply_body>> answer) {
  if (asker_ == nullptr)
    return;
  std::visit(
    [&](auto& x) {
      using request = std::decay_t<decltype(x)>;
      if constexpr (std::is_same_v<request, wire::unknown_request>) {
        (*answer)(make_error(status::not_supported));
      } else if constexpr (std::is_void_v<wire::answer_to_t<request>>) {
        caf::anon_send(session_, std::move(x));
        (*answer)(wire::reply_body{ack{}});
      } else {
        using reply = wire::answer_to_t<request>;
        asker_
          ->request(caf::actor_cast<caf::actor>(session_), caf::infinite,
                    std::move(x))
          .then(give_reply<reply>{answer}, give_failure{answer});
      }
    },
    what);
}

void server_role::stop() {
  current_snapshot.store(nullptr);
  library::instance().set_session({}, {});
  caf::anon_send_exit(session_, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(connection_, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(asker_handle_, caf::exit_reason::user_shutdown);
  asker_ = nullptr;
  streams_.reset();
  mesh_ = nullptr;
  control_ = nullptr;
  node_.reset();
  remove_all(cleanup_->take_all());
}

void server_role::tell_hosts(const register_nspace& what) const {
  caf::anon_send(desk_, node_streams::job_of(what, log_));
  if (mesh_)
    caf::anon_send(mesh_, what);
}

void server_role::tell_hosts(const deregister_nspace& what) const {
  caf::anon_send(desk_, io_job_over{what.nspace});
  if (mesh_)
    caf::anon_send(mesh_, what);
  if (control_)
    caf::anon_send(control_, what);
}

bool server_role::control_input(const proc_id& source, bool is_stopped,
                                std::function<void()> done) {
  return library::instance().post(
    [gate = gate_, source, is_stopped, done = std::move(done)] {
      gate->set(source, is_stopped);
      done();
    });
}

bool server_role::deliver(std::vector<process_output> what,
                          std::function<void(pmix_status_t)> on_taken) {
  auto size = size_t{0};
  for (const auto& x : what)
    size += x.bytes.size();
  auto room = delivered_.add(size);
  if (!room)
    return false;
  auto reply = std::make_shared<one_answer<ack>>(
    [room = std::move(room), on_taken = std::move(on_taken)](
      const caf::expected<ack>& y) { on_taken(code_of(y)); });
  return library::instance().post(
    [self = weak_, reply, what = std::move(what)]() mutable {
      const auto role = self.lock();
      if (!role || role->asker_ == nullptr)
        return;
      auto& last = what.back();
      for (auto i = size_t{0}; i + 1 < what.size(); ++i)
        role->asker_->request(role->desk_, caf::infinite, std::move(what[i]))
          .then(
            [](ack) {
              // The last is answered after it.
            },
            [](const caf::error&) {
              // So is the last.
            });
      role->asker_->request(role->desk_, caf::infinite, std::move(last))
        .then([reply](ack& y) { (*reply)(std::move(y)); },
              [reply](caf::error& err) { (*reply)(std::move(err)); });
    });
}

const fork_snapshot* server_role::snapshot() noexcept {
  return current_snapshot.load(std::memory_order_acquire);
}

void server_role::publish(fork_snapshot x) {
  snapshots_.push_back(std::make_unique<fork_snapshot>(std::move(x)));
  current_snapshot.store(snapshots_.back().get(), std::memory_order_release);
}

void server_role::add_changes(const std::string& nspace,
                              const std::vector<info>& changes) {
  const auto guard = std::lock_guard{mutex_};
  auto next = *snapshots_.back();
  auto& known = next.changes[nspace];
  known.insert(known.end(), changes.begin(), changes.end());
  publish(std::move(next));
}

void server_role::forget_changes(const std::string& nspace) {
  const auto guard = std::lock_guard{mutex_};
  if (snapshots_.back()->changes.count(nspace) == 0)
    return;
  auto next = *snapshots_.back();
  next.changes.erase(nspace);
  publish(std::move(next));
}

bool raise_from_host(event what) {
  const auto role = server_role::current();
  if (!role)
    return false;
  // P-J2: what went up from here is here already.
  if (take_origin(what.infos, role->origin()))
    return true;
  const auto& lib = library::instance();
  if (what.range == data_range::proc_local || what.source == lib.proc())
    lib.push(batch_of(what));
  if (what.range != data_range::proc_local)
    caf::anon_send(role->events(), deliver_event{std::move(what), {}});
  return true;
}

pmix_status_t ask_session(wire::request what, link::on_outcome done) {
  const auto& lib = library::instance();
  if (!lib.core())
    return PMIX_ERR_INIT;
  if (!lib.session())
    return PMIX_ERR_UNREACH;
  auto answer = std::make_shared<one_answer<wire::reply_body>>(std::move(done));
  const auto is_kept = lib.post([answer, what = std::move(what)]() mutable {
    if (const auto role = server_role::current())
      role->ask_session(std::move(what), answer);
  });
  return is_kept ? PMIX_SUCCESS : PMIX_ERR_INIT;
}

std::shared_ptr<server_role> server_or(pmix_status_t& code) {
  code = PMIX_ERR_INIT;
  if (!library::instance().has_role(role::server))
    return nullptr;
  auto result = server_role::current();
  if (result)
    code = PMIX_SUCCESS;
  return result;
}

} // namespace troupe::c_api
