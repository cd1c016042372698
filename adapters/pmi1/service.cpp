#include "adapters/pmi1/service.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/pmi1/command.hpp"
#include "base/watches.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

namespace troupe::pmi1 {

namespace {

struct pmi1_settings {
  /// The process at the other end: it inherited the socket, so there is no
  /// doubt.
  proc_id proc;

  server_actor server;
  journal log;

  /// Called when the socket is closed; may be empty.
  std::function<void()> on_gone;
};

struct pmi1_connection_state {
  static inline const char* name = "pmi1-connection";

  event_loop* loop = nullptr;
  pmi1_settings settings;
  unique_fd fd;

  /// Gone when the socket is closed.
  std::unique_ptr<fd_watch> watch;

  command_reader reader;
  spawn_builder spawn;

  watches watched;

  /// Takes the requests; empty until the server has accepted.
  client_actor session;

  /// The data of the process's job.
  std::shared_ptr<const job_info> job;

  /// Whether an answer is owed: until then no command is taken.
  bool is_busy = true;

  bool finalized = false;
  bool is_over = false;
};

using pmi1_connection_ptr =
  connection_actor::stateful_pointer<pmi1_connection_state>;

/// Sends an answer. One that the process leaves unread ends the connection.
void reply(pmi1_connection_ptr self, const std::string& line);

/// Takes the commands that have come in.
void go_on(pmi1_connection_ptr self);

/// Closes the socket and ends the actor.
/// @param why For the log; empty for an orderly end.
void leave(pmi1_connection_ptr self, const std::string& why = {});

// -- commands of the process -------------------------------------------------

/// Tells the process whether something could be done.
void reply_outcome(pmi1_connection_ptr self, std::string_view name,
                   const caf::error& err, std::string_view failed = "-1") {
  if (!err) {
    reply(self, format(name, {{"rc", "0"}, {"msg", "success"}}));
    return;
  }
  const auto code = to_string(status_of(err));
  reply(self, format(name, {{"rc", failed}, {"msg", code}}));
}

/// A number of the job's data, or of the process's.
std::string number_in(const std::vector<key_value>& entries,
                      std::string_view key, const char* otherwise) {
  for (const auto& x : entries)
    if (x.key == key)
      if (const auto number = x.val.number<uint32_t>())
        return std::to_string(*number);
  return otherwise;
}

const std::vector<key_value>& own_entries(const pmi1_connection_state& state) {
  static const auto none = std::vector<key_value>{};
  if (state.job)
    for (const auto& x : state.job->ranks)
      if (x.rank == state.settings.proc.rank)
        return x.entries;
  return none;
}

const std::vector<key_value>& job_entries(const pmi1_connection_state& state) {
  static const auto none = std::vector<key_value>{};
  return state.job ? state.job->entries : none;
}

// -- start and end -----------------------------------------------------------

void on_init(pmi1_connection_ptr self, const command& x) {
  const auto is_ours = x.number("pmi_version").value_or(1) == 1;
  reply(self, format("response_to_init", {{"pmi_version", "1"},
                                          {"pmi_subversion", "1"},
                                          {"rc", is_ours ? "0" : "-1"}}));
}

void on_get_maxes(pmi1_connection_ptr self, const command&) {
  reply(self, format("maxes", {{"kvsname_max", std::to_string(max_kvsname)},
                               {"keylen_max", std::to_string(max_key)},
                               {"vallen_max", std::to_string(max_value)}}));
}

void on_get_appnum(pmi1_connection_ptr self, const command&) {
  reply(self, format("appnum", {{"appnum", number_in(own_entries(self->state),
                                                     attr::appnum, "0")}}));
}

void on_get_my_kvsname(pmi1_connection_ptr self, const command&) {
  reply(self,
        format("my_kvsname", {{"kvsname", self->state.settings.proc.nspace}}));
}

void on_get_universe_size(pmi1_connection_ptr self, const command&) {
  reply(self,
        format("universe_size", {{"size", number_in(job_entries(self->state),
                                                    attr::univ_size, "-1")}}));
}

void on_finalize(pmi1_connection_ptr self, const command&) {
  const auto acknowledge = [=] {
    self->state.finalized = true;
    reply(self, format("finalize_ack"));
    go_on(self);
  };
  self->request(self->state.session, caf::infinite, finalize_request{})
    .then([=](ack) { acknowledge(); },
          [=](const caf::error&) { acknowledge(); });
}

/// Not answered: the process waits to be ended.
void on_abort(pmi1_connection_ptr self, const command& x) {
  auto request = abort_request{};
  request.exit_status = x.number("exitcode").value_or(1);
  self->request(self->state.session, caf::infinite, std::move(request))
    .then([](ack) {},
          [=](const caf::error& err) { leave(self, reason_of(err)); });
}

// -- data --------------------------------------------------------------------

void on_put(pmi1_connection_ptr self, const command& x) {
  const auto* key = x.find("key");
  const auto* val = x.find("value");
  if (key == nullptr || key->empty() || key->size() > max_key_length) {
    reply(self, format("put_result", {{"rc", "-1"}, {"msg", "no_key"}}));
    return;
  }
  auto request = commit_request{};
  auto& block = request.blocks.emplace_back();
  block.visible_to = scope::global;
  block.entries.push_back(
    {*key, value::string(val != nullptr ? *val : std::string{})});
  self->request(self->state.session, caf::infinite, std::move(request))
    .then(
      [=](ack) {
        reply_outcome(self, "put_result", {});
        go_on(self);
      },
      [=](const caf::error& err) {
        reply_outcome(self, "put_result", err);
        go_on(self);
      });
}

/// A text of the result that can stand in an answer; null if there is none.
const std::string* text_in(const get_result& x, const std::string& key) {
  for (const auto& block : x.blocks)
    for (const auto& entry : block.entries)
      if (entry.key == key)
        if (const auto* text = entry.val.text();
            text != nullptr && is_printable(*text))
          return text;
  return nullptr;
}

/// The key of the job's data that means the same. Source: PMIx Standard v5,
/// PMIX_ANL_MAP.
std::string reserved_key(const std::string& key) {
  return key == "PMI_process_mapping" ? std::string{attr::anl_map} : key;
}

/// Which process has put a key does not matter: keys are a job's.
void on_get(pmi1_connection_ptr self, const command& x) {
  const auto* asked = x.find("key");
  const auto* job = x.find("kvsname");
  const auto not_found = [self] {
    reply(self, format("get_result", {{"rc", "-1"},
                                      {"msg", "key_not_found"},
                                      {"value", "unknown"}}));
  };
  if (asked == nullptr || asked->empty() || asked->size() > max_key_length
      || (job != nullptr && job->size() > max_nspace_length)) {
    not_found();
    return;
  }
  const auto key = reserved_key(*asked);
  auto request = get_request{};
  request.target = {job != nullptr ? *job : self->state.settings.proc.nspace,
                    rank_undef};
  request.directives.push_back(
    {std::string{attr::immediate}, 0, value::boolean(true)});
  request.key = key;
  self->request(self->state.session, caf::infinite, std::move(request))
    .then(
      [=](const get_result& y) {
        if (const auto* text = text_in(y, key))
          reply(self,
                format("get_result",
                       {{"rc", "0"}, {"msg", "success"}, {"value", *text}}));
        else
          not_found();
        go_on(self);
      },
      [=](const caf::error&) {
        not_found();
        go_on(self);
      });
}

/// Clients of our time do not list keys.
void on_getbyidx(pmi1_connection_ptr self, const command&) {
  reply(self, format("getbyidx_results",
                     {{"rc", "-2"}, {"reason", "no_more_keyvals"}}));
}

void on_barrier_in(pmi1_connection_ptr self, const command&) {
  auto request = fence_request{};
  request.procs.push_back({self->state.settings.proc.nspace, rank_wildcard});
  request.directives.push_back(
    {std::string{attr::collect_data}, 0, value::boolean(true)});
  self->state.loop->pace().on_urgent(std::chrono::steady_clock::now());
  self->request(self->state.session, caf::infinite, std::move(request))
    .then(
      [=](ack) {
        reply(self, format("barrier_out"));
        go_on(self);
      },
      // An answer could only say that all have come.
      [=](const caf::error& err) { leave(self, reason_of(err)); });
}

// -- names -------------------------------------------------------------------

/// The range in which names are known: as far as jobs of this launcher can
/// connect to each other.
info name_range() {
  return {std::string{attr::range},
          0,
          {data_type::data_range, static_cast<uint64_t>(data_range::session)}};
}

void on_publish_name(pmi1_connection_ptr self, const command& x) {
  const auto* service = x.find("service");
  const auto* port = x.find("port");
  if (service == nullptr || service->empty() || port == nullptr) {
    reply(self, format("publish_result", {{"rc", "1"}, {"msg", "no_name"}}));
    return;
  }
  auto request = publish_request{::geteuid(), {}};
  request.infos.push_back({*service, 0, value::string(*port)});
  request.infos.push_back(name_range());
  self->request(self->state.session, caf::infinite, std::move(request))
    .then(
      [=](ack) {
        reply_outcome(self, "publish_result", {});
        go_on(self);
      },
      [=](const caf::error& err) {
        reply_outcome(self, "publish_result", err, "1");
        go_on(self);
      });
}

void on_lookup_name(pmi1_connection_ptr self, const command& x) {
  const auto* service = x.find("service");
  auto request = lookup_request{
    ::geteuid(), {service != nullptr ? *service : ""}, {name_range()}};
  self->request(self->state.session, caf::infinite, std::move(request))
    .then(
      [=](const lookup_result& y) {
        const auto* port =
          y.found.empty() ? nullptr : y.found.front().val.text();
        if (port != nullptr && is_printable(*port))
          reply(self,
                format("lookup_result",
                       {{"rc", "0"}, {"msg", "success"}, {"port", *port}}));
        else
          reply_outcome(self, "lookup_result", make_error(status::not_found),
                        "1");
        go_on(self);
      },
      [=](const caf::error& err) {
        reply_outcome(self, "lookup_result", err, "1");
        go_on(self);
      });
}

void on_unpublish_name(pmi1_connection_ptr self, const command& x) {
  const auto* service = x.find("service");
  if (service == nullptr || service->empty()) {
    reply(self, format("unpublish_result", {{"rc", "1"}, {"msg", "no_name"}}));
    return;
  }
  auto request = unpublish_request{::geteuid(), {*service}, {name_range()}};
  self->request(self->state.session, caf::infinite, std::move(request))
    .then(
      [=](ack) {
        reply_outcome(self, "unpublish_result", {});
        go_on(self);
      },
      [=](const caf::error& err) {
        reply_outcome(self, "unpublish_result", err, "1");
        go_on(self);
      });
}

// -- spawn -------------------------------------------------------------------

void on_spawn(pmi1_connection_ptr self, const command& x) {
  auto request = self->state.spawn.add(x);
  if (!request) {
    reply_outcome(self, "spawn_result", request.error());
    return;
  }
  if (!*request) {
    self->state.is_busy = false; // More programs follow.
    return;
  }
  self->request(self->state.session, caf::infinite, std::move(**request))
    .then(
      [=](const spawn_result&) {
        reply_outcome(self, "spawn_result", {});
        go_on(self);
      },
      [=](const caf::error& err) {
        reply_outcome(self, "spawn_result", err);
        go_on(self);
      });
}

/// A command and what it does.
struct command_entry {
  std::string_view name;
  void (*run)(pmi1_connection_ptr, const command&);
};

constexpr command_entry commands[] = {
  {"init", on_init},
  {"get_maxes", on_get_maxes},
  {"get_appnum", on_get_appnum},
  {"get_my_kvsname", on_get_my_kvsname},
  {"get_universe_size", on_get_universe_size},
  {"put", on_put},
  {"get", on_get},
  {"getbyidx", on_getbyidx},
  {"barrier_in", on_barrier_in},
  {"publish_name", on_publish_name},
  {"lookup_name", on_lookup_name},
  {"unpublish_name", on_unpublish_name},
  {"spawn", on_spawn},
  {"abort", on_abort},
  {"finalize", on_finalize},
};

/// Does what a command says; sets `is_busy` if the answer comes later.
void handle(pmi1_connection_ptr self, const command& x) {
  for (const auto& [name, run] : commands)
    if (x.name == name) {
      run(self, x);
      return;
    }
  leave(self, "unknown command " + x.name.substr(0, 64));
}

// -- the connection ----------------------------------------------------------

/// Bytes to take in one pass of the loop.
constexpr size_t chunk_size = size_t{16} << 10;

void on_readable(pmi1_connection_ptr self) {
  auto& state = self->state;
  std::array<char, chunk_size> chunk;
  const auto got =
    ::recv(state.fd.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
  if (got > 0) {
    state.reader.push({chunk.data(), static_cast<size_t>(got)});
    go_on(self);
  } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
    leave(self);
  }
}

/// The server has accepted: fetches what is known of the job.
void begin(pmi1_connection_ptr self, client_actor session) {
  auto& state = self->state;
  if (state.is_over) {
    // The session must not outlive its peer.
    self->send(session, connection_lost{false});
    self->quit();
    return;
  }
  state.session = std::move(session);
  state.watched.add(self, state.session);
  self->request(state.session, caf::infinite, job_info_request{})
    .then(
      [=](job_info_reply& x) {
        self->state.job = std::move(x.info);
        self->state.is_busy = false;
        go_on(self);
      },
      [=](const caf::error& err) { leave(self, reason_of(err)); });
}

void ask_server(pmi1_connection_ptr self) {
  auto request = connect_request{};
  request.role = peer_role::client;
  request.claimed_proc = self->state.settings.proc;
  // It is a process that we started.
  request.actual = {::geteuid(), ::getegid()};
  self
    ->request(self->state.settings.server, caf::infinite, std::move(request),
              caf::actor_cast<connection_actor>(self))
    .then([=](const connect_accepted&,
              client_actor& session) { begin(self, std::move(session)); },
          [=](const caf::error& err) {
            leave(self, reason_of(err));
            self->quit(); // No session is there whose end would end us.
          });
}

/// Serves a process that speaks PMI-1: its commands become requests of a
/// session, one at a time, as the protocol has it. Ends with the socket.
/// Source: MPICH, PMI version 1.1.
connection_actor::behavior_type
pmi1_connection(pmi1_connection_ptr self, event_loop* loop,
                const std::shared_ptr<unique_fd>& fd,
                const std::shared_ptr<pmi1_settings>& settings) {
  auto& state = self->state;
  state.loop = loop;
  state.settings = std::move(*settings);
  state.fd = std::move(*fd);
  state.watch = std::make_unique<fd_watch>(*loop, state.fd.get(),
                                           [=] { on_readable(self); });
  self->set_down_handler(
    [=](const caf::down_msg&) { leave(self, "its session ended"); });
  self->set_exit_handler([=](const caf::exit_msg& x) {
    leave(self);
    self->quit(x.reason);
  });
  ask_server(self);
  return {
    [](const event_batch&) {
      // PMI-1 has no events.
    },
    // Nor output.
    [](const io_delivery&) { return ack{}; },
    [](read_now) { return unread{}; },
    [self](const close_connection& x) { leave(self, x.reason); },
  };
}

void reply(pmi1_connection_ptr self, const std::string& line) {
  auto& state = self->state;
  if (!state.fd)
    return;
  state.is_busy = false;
  const auto sent = ::send(state.fd.get(), line.data(), line.size(),
                           MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(line.size()))
    leave(self, "it does not read its answers");
}

void go_on(pmi1_connection_ptr self) {
  auto& state = self->state;
  while (state.fd && !state.is_busy) {
    auto got = state.reader.next();
    if (!got) {
      leave(self, reason_of(got.error()));
      return;
    }
    if (!*got)
      break;
    state.is_busy = true;
    handle(self, **got);
  }
  if (!state.watch)
    return;
  if (state.is_busy)
    state.watch->disable_read();
  else
    state.watch->enable_read();
}

void leave(pmi1_connection_ptr self, const std::string& why) {
  auto& state = self->state;
  if (std::exchange(state.is_over, true))
    return;
  if (!why.empty() && state.settings.log)
    state.settings.log(severity::warning, "PMI-1 connection of "
                                            + to_string(state.settings.proc)
                                            + " closed: " + why);
  state.watch.reset();
  state.fd.reset();
  if (const auto on_gone = std::move(state.settings.on_gone))
    on_gone();
  if (!state.session)
    return; // The server's answer ends us.
  self->send(state.session, connection_lost{state.finalized});
  // We may be in a callback of the loop, where `quit` would go unnoticed.
  caf::anon_send_exit(self, caf::exit_reason::user_shutdown);
}

} // namespace

// -- the service -------------------------------------------------------------

service::service(event_loop& loop, caf::actor_system& actors, journal log)
  : loop_(loop), actors_(actors), log_(std::move(log)),
    alive_(std::make_shared<service*>(this)) {
  // nop
}

service::~service() {
  alive_.reset();
  for (const auto& [id, connection] : connections_)
    caf::anon_send_exit(connection, caf::exit_reason::user_shutdown);
}

void service::serve(const proc_id& proc, unique_fd fd) {
  const auto id = ++last_id_;
  auto& x = silent_[id];
  x.proc = proc;
  x.fd = std::move(fd);
  x.watch =
    std::make_unique<fd_watch>(loop_, x.fd.get(), [this, id] { begin(id); });
  x.watch->enable_read();
}

/// The process has said something, or its socket is closed.
void service::begin(uint64_t id) {
  const auto node = silent_.extract(id);
  if (node.empty())
    return;
  auto& x = node.mapped();
  x.watch.reset();
  auto first = '\0';
  const auto got = ::recv(x.fd.get(), &first, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR) || !server_)
    return;
  auto settings = pmi1_settings{};
  settings.proc = std::move(x.proc);
  settings.server = server_;
  settings.log = log_;
  settings.on_gone = [id, alive = std::weak_ptr{alive_}] {
    if (const auto self = alive.lock())
      (*self)->connections_.erase(id);
  };
  connections_[id] = actors_.spawn(
    pmi1_connection, &loop_, std::make_shared<unique_fd>(std::move(x.fd)),
    std::make_shared<pmi1_settings>(std::move(settings)));
}

} // namespace troupe::pmi1
