#include "adapters/local/connection.hpp"

#include "adapters/local/connection_output.hpp"
#include "adapters/local/connection_requests.hpp"
#include "adapters/local/frame_socket.hpp"
#include "adapters/local/local_service.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/loop_event.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "adapters/process/children.hpp"
#include "adapters/process/process_probe.hpp"
#include "adapters/wire/pushes.hpp"
#include "base/watches.hpp"
#include "config/defaults.hpp"
#include "messages/status.hpp"

#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace troupe {

namespace defaults {

/// Turns of reading (L8) that a connection takes before a silent process is
/// said to be silent.
inline constexpr size_t monitor_read_turns = 64;

} // namespace defaults

namespace {

/// How much memory the place where frames are written keeps.
constexpr size_t max_idle_capacity = size_t{64} << 10;

/// What may wait for more that is to be sent.
constexpr size_t max_held = size_t{16} << 10;

enum class phase : uint8_t {
  /// The server has not decided.
  waiting,

  /// The peer went before the server decided.
  abandoned,

  /// Requests go to the session.
  serving,

  /// What is queued is being sent, nothing else happens.
  closing,

  /// The socket is closed.
  gone,
};

struct connection_state {
  static inline const char* name = "connection";

  phase now = phase::waiting;
  std::shared_ptr<local_service> service;
  std::optional<frame_socket> socket;
  wire::dialect dialect;
  admission::place place;

  /// Bytes of a message that is not whole; absent until the peer is served.
  std::optional<unfinished_messages::message> unfinished;

  /// Number of the peer's socket; 0: unknown.
  uint64_t inode = 0;

  /// Description of the peer for the log.
  std::string peer;

  /// The peer as the server knows it, once it is served.
  proc_id proc;

  /// Lines in the log with the same source are counted together.
  std::string source;

  /// The server, which outlives us, and the session.
  watches watched;

  /// Takes the peer's requests; from the server.
  client_actor session;

  /// Where frames are written before they are sent.
  std::string out;

  connection_output output;

  /// When the last heartbeat came, see `frame_socket::turn`.
  uint64_t beat_turn = 0;

  /// Absent until the peer is served.
  std::optional<connection_requests> requests;

  /// Sends what waits for more when all actors have had their turn.
  std::optional<loop_event> end_of_turn;

  std::function<void()> on_gone;

  /// Tells who comes back from another thread that we are still here.
  std::shared_ptr<int> alive = std::make_shared<int>();

  bool is_finalized() const noexcept {
    return requests && requests->is_finalized();
  }
};

using connection_ptr = connection_actor::stateful_pointer<connection_state>;

// -- calls between the sections below ----------------------------------------

/// Sends what has been written to `state.out`: now, or in one piece with what
/// the next messages in the mailbox write. Takes requests or not according to
/// how much the peer leaves unread and unanswered.
void flush(connection_ptr self);

/// The same, but not before the end of the turn.
void flush_later(connection_ptr self);

/// Takes requests, unless too many are unanswered or too much is unread.
void update_reading(connection_ptr self);

/// Logs why the peer cannot be served any more, and closes.
void drop(connection_ptr self, const std::string& why);

/// The same for a peer that broke a rule.
void punish(connection_ptr self, const std::string& why);

/// Closes the socket and ends the actor, now or as soon as the server has
/// decided.
void leave(connection_ptr self);

void log(connection_ptr self, const std::string& what,
         severity weight = severity::warning) {
  self->state.service->log.write(self->state.source, weight,
                                 self->state.peer + ": " + what);
}

std::string describe(const identified_peer& x) {
  auto result = "connection of user " + std::to_string(x.actual.uid);
  if (x.greeting.proc)
    result += ", " + to_string(*x.greeting.proc);
  result += ", libpmix " + x.greeting.version.substr(0, 32) + ", ";
  return result + to_string(remote_address(x.socket.get()));
}

// -- output and events -------------------------------------------------------

/// Finds out which events and which output the kernel has taken, and tells the
/// session and whoever waits for it.
void note_taken(connection_ptr self) {
  auto& state = self->state;
  state.output.note_sent(state.socket->bytes_sent());
  if (state.now != phase::serving)
    return;
  if (const auto total = state.output.news_of_events())
    self->send(state.session, events_taken{*total});
}

void send_held(connection_ptr self) {
  auto& state = self->state;
  if (state.out.empty())
    return;
  ++state.service->statistics.writes;
  state.service->statistics.bytes_sent += state.out.size();
  state.socket->send(state.out);
  state.out.clear();
  if (state.out.capacity() > max_idle_capacity)
    state.out.shrink_to_fit();
  note_taken(self);
  update_reading(self);
}

/// Whether there are messages after the one that is being handled.
bool has_mail(connection_ptr self) {
  const auto& mailbox = self->mailbox();
  return !mailbox.closed() && !mailbox.blocked() && !mailbox.empty();
}

void flush(connection_ptr self) {
  // Should nothing come of what is in the mailbox, the end of the turn sends
  // it.
  if (has_mail(self)) {
    flush_later(self);
    return;
  }
  send_held(self);
  update_reading(self);
}

void flush_later(connection_ptr self) {
  auto& state = self->state;
  if (state.out.size() > max_held)
    send_held(self);
  else if (!state.end_of_turn->is_pending())
    state.end_of_turn->fire_now();
  update_reading(self);
}

void update_reading(connection_ptr self) {
  auto& state = self->state;
  const auto& limits = state.service->options.limits;
  if (state.now != phase::serving)
    return;
  if (state.requests->may_read() && state.socket->queued() <= limits.queued
      && state.unfinished->may_grow())
    state.socket->resume();
  else
    state.socket->pause();
}

/// Where in the bytes of the socket ends what has been written.
uint64_t end_of_bytes(const connection_state& state) {
  return state.socket->bytes_sent() + state.socket->queued() + state.out.size();
}

/// Writes output to the place where frames are. What the peer cannot be sent
/// counts as taken: it would not get it the next time either.
void write_output(connection_ptr self, connection_output::piece x) {
  auto& state = self->state;
  const auto start = wire::begin_frame(state.out, wire::tag_output);
  auto err = wire::encode_output(x.what, state.dialect, state.out);
  if (!err)
    err = wire::end_frame(state.out, start);
  if (err) {
    state.out.resize(start);
    log(self, "cannot be sent output: " + reason_of(err));
    x.owed.give(ack{});
    return;
  }
  ++state.service->statistics.pushes;
  state.output.wrote(std::move(x.owed), end_of_bytes(state),
                     state.out.size() - start - wire::frame_header_size);
}

/// Sends as much output as there is room for.
void write_outputs(connection_ptr self) {
  auto& state = self->state;
  const auto room = state.service->options.limits.queued;
  auto is_changed = false;
  while (state.socket->is_open() && state.socket->queued() == 0
         && state.out.size() < room) {
    auto x = state.output.next();
    if (!x)
      break;
    write_output(self, std::move(*x));
    is_changed = true;
    if (state.out.size() >= room)
      send_held(self);
  }
  if (is_changed && state.now == phase::serving)
    flush(self);
}

/// Takes output for the peer. @returns when the kernel has taken it, or
/// `lost_connection`.
caf::result<ack> push_output(connection_ptr self, io_delivery x) {
  auto& state = self->state;
  if (state.now != phase::serving)
    return make_error(status::lost_connection, "the connection is closed");
  auto owed = answer<ack>{self->make_response_promise<ack>()};
  auto promise = owed.promise();
  const auto limit = state.service->options.limits.queued_max;
  state.output.add({std::move(x), std::move(owed)});
  if (state.output.waiting() > limit)
    punish(self, "does not read: limit of " + std::to_string(limit)
                   + " bytes that wait for it (L11)");
  else
    write_outputs(self);
  return promise;
}

/// The peer's program has taken output.
void on_output_credit(connection_ptr self, const wire::frame& x) {
  auto& output = self->state.output;
  const auto total = wire::decode_output_credit(x.payload);
  if (!total)
    punish(self, reason_of(total.error()));
  else if (!output.take_credit(*total))
    punish(self, "says that it has taken " + std::to_string(*total)
                   + " bytes of output; it was sent "
                   + std::to_string(output.written()));
  else
    write_outputs(self);
}

/// Sends events. One that cannot be sent counts as taken: nobody waits for it.
void push_events(connection_ptr self, const event_batch& x) {
  auto& state = self->state;
  if (state.now != phase::serving)
    return;
  const auto frames = state.service->frames_of_events.of(x, state.dialect);
  for (const auto& why : frames->failures)
    log(self, "cannot be sent an event: " + reason_of(why));
  const auto start = end_of_bytes(state);
  state.out += frames->bytes;
  for (const auto end : frames->ends)
    state.output.wrote_event(start + end);
  state.service->statistics.pushes +=
    frames->ends.size() - frames->failures.size();
  flush(self);
  note_taken(self);
}

// -- the server's decision ---------------------------------------------------

connect_request request_of(identified_peer& x) {
  connect_request result;
  result.role = x.greeting.role;
  result.claimed_proc = std::move(x.greeting.proc);
  result.claimed = x.greeting.claimed;
  result.actual = x.actual;
  result.version = wire::parse_release(x.greeting.version);
  result.infos = std::move(x.greeting.infos);
  result.can_share = wire::can_share_memory(x.greeting.version);
  return result;
}

/// Tells a peer of ours how much output may be on its way.
void grant_output_credit(connection_state& state) {
  if (!state.output.is_counted())
    return;
  const auto start = wire::begin_frame(state.out, wire::tag_output_credit);
  wire::encode_output_credit(defaults::io_credit, state.out);
  if (wire::end_frame(state.out, start))
    state.out.resize(start); // Cannot happen: it is a few bytes.
}

/// Tells a peer of ours where it finds the memory that it shares.
void tell_shared_memory(connection_state& state, const std::string& where) {
  if (where.empty())
    return;
  const auto start = wire::begin_frame(state.out, wire::tag_shared_memory);
  state.out += where;
  if (wire::end_frame(state.out, start))
    state.out.resize(start); // Cannot happen: it is a line.
}

connection_requests::effects effects_of(connection_ptr self) {
  auto result = connection_requests::effects{};
  result.is_serving = [=] { return self->state.now == phase::serving; };
  result.flush = [=] { flush(self); };
  result.flush_later = [=] { flush_later(self); };
  result.update_reading = [=] { update_reading(self); };
  result.log = [=](const std::string& what) { log(self, what); };
  result.drop = [=](const std::string& why) { drop(self, why); };
  result.punish = [=](const std::string& why) { punish(self, why); };
  return result;
}

void on_accepted(connection_ptr self, const connect_accepted& x,
                 const client_actor& session, peer_role role) {
  auto& state = self->state;
  if (state.now != phase::waiting) {
    // The session must not outlive its peer.
    self->send(session, connection_lost{false});
    leave(self);
    return;
  }
  state.now = phase::serving;
  state.session = session;
  state.peer += ", served as " + to_string(x.proc);
  state.proc = x.proc;
  state.place.settle();
  state.unfinished.emplace(state.service->unfinished, x.proc.nspace,
                           [=] { update_reading(self); });
  state.requests.emplace(connection_requests::parts{self, *state.service,
                                                    *state.socket,
                                                    state.dialect, state.proc,
                                                    state.session, state.out},
                         effects_of(self));
  ++state.service->statistics.served;
  ++state.service->statistics.connected;
  state.watched.add(self, session);
  const auto form = wire::connect_reply_form_of(role, state.dialect.peer);
  wire::encode_connect_reply(x, form, state.out);
  grant_output_credit(state);
  tell_shared_memory(state, x.shared);
  flush(self);
}

void refuse(connection_ptr self, const std::string& why) {
  if (self->state.now == phase::waiting) {
    ++self->state.service->statistics.refused;
    log(self, why);
    self->state.now = phase::abandoned;
  }
  leave(self);
}

void ask_server(connection_ptr self, connect_request request) {
  const auto role = request.role;
  self
    ->request(self->state.service->server, caf::infinite, std::move(request),
              caf::actor_cast<connection_actor>(self))
    .then(
      [=](const connect_accepted& x, const client_actor& session) {
        on_accepted(self, x, session, role);
      },
      [=](const caf::error& err) {
        refuse(self, "refused by the server: " + reason_of(err));
      });
}

// -- whether it is the process that it says it is ----------------------------

/// The name that a peer claims, and where to look for it.
struct claim {
  connect_request request;
  uint64_t inode = 0;

  /// The number of the process that we have started under that name.
  uint32_t pid = 0;
};

using claim_ptr = std::shared_ptr<claim>;

void on_checked(connection_ptr self, const claim_ptr& x, holding found) {
  if (found == holding::no)
    refuse(self, "refused: " + to_string(*x->request.claimed_proc)
                   + " was started as process " + std::to_string(x->pid)
                   + ", and this is neither that one nor one that it has "
                     "started");
  else if (self->state.now != phase::waiting)
    leave(self);
  else
    ask_server(self, std::move(x->request));
}

/// Descriptors of a process to look at on the loop; one with more of them is
/// looked at on a thread.
constexpr size_t looked_at = 256;

/// Looks at all of the process and of what it has started.
void check_family(connection_ptr self, const claim_ptr& x) {
  const auto& proc = *x->request.claimed_proc;
  auto variables = std::vector<std::string>{
    "PMIX_NAMESPACE=" + proc.nspace, "PMIX_RANK=" + std::to_string(proc.rank)};
  auto found = std::make_shared<holding>(holding::unknown);
  const auto posted = self->state.service->pool.post(
    [found, pid = x->pid, inode = x->inode, variables = std::move(variables)] {
      *found = family_holds_socket(pid, inode, variables);
    },
    // Held, since its end is the end of what else holds it.
    [self, x, found, held = caf::actor_cast<connection_actor>(self),
     alive = std::weak_ptr<int>{self->state.alive}] {
      if (!alive.expired())
        on_checked(self, x, *found);
    });
  if (!posted)
    refuse(self, "refused: too many wait for a look at their processes");
}

/// What we started under the name that it claims must hold its socket; it may
/// be a script or a debugger that has started the program. Who was started by
/// others is the server's to judge. Source: attack X12.
void check_process(connection_ptr self, connect_request request) {
  const auto& find = self->state.service->options.launcher;
  const auto launcher = find ? find() : process_launcher_actor{};
  // The server refuses other users, with its own words.
  if (!launcher || !request.claimed_proc || self->state.inode == 0
      || request.actual.uid != ::geteuid()) {
    ask_server(self, std::move(request));
    return;
  }
  const auto x =
    std::make_shared<claim>(claim{std::move(request), self->state.inode, 0});
  self->request(launcher, caf::infinite, find_process{*x->request.claimed_proc})
    .then(
      [self, x](const local_process& started) {
        x->pid = started.pid;
        const auto found = holds_socket(x->pid, x->inode, looked_at);
        if (found == holding::no)
          check_family(self, x);
        else
          on_checked(self, x, found);
      },
      [self, x](const caf::error&) {
        // It may be started before the server looks: it is still another.
        x->request.is_not_started = true;
        on_checked(self, x, holding::unknown);
      });
}

// -- the end -----------------------------------------------------------------

bool is_peers_fault(const caf::error& x) {
  const auto code = status_of(x);
  return code != status::lost_connection && code != status::in_errno
         && code != status::nomem;
}

/// The socket has closed.
void on_end(connection_ptr self, const caf::error& why) {
  auto& state = self->state;
  if (why && is_peers_fault(why)) {
    punish(self, reason_of(why));
    return;
  }
  if (state.now == phase::waiting)
    ++state.service->statistics.refused;
  if (why && status_of(why) == status::nomem) {
    drop(self, reason_of(why));
    return;
  }
  if (state.now != phase::closing && !state.is_finalized())
    log(self,
        "ended without PMIx_Finalize"
          + (why ? ": " + reason_of(why) : std::string{}),
        severity::info);
  leave(self);
}

void drop(connection_ptr self, const std::string& why) {
  log(self, "closed: " + why);
  leave(self);
}

void punish(connection_ptr self, const std::string& why) {
  auto& counts = self->state.service->statistics;
  ++counts.violations;
  if (self->state.now == phase::waiting)
    ++counts.refused;
  const auto& tell = self->state.service->options.on_violation;
  if (tell && self->state.now == phase::serving)
    tell(self->state.proc, why);
  drop(self, why);
}

void tell_session(connection_ptr self) {
  auto& state = self->state;
  auto& counts = state.service->statistics;
  --counts.connected;
  if (!state.is_finalized())
    ++counts.lost;
  if (state.session)
    self->send(state.session, connection_lost{state.is_finalized()});
}

void leave(connection_ptr self) {
  auto& state = self->state;
  if (state.now == phase::gone)
    return;
  send_held(self);
  state.socket->close();
  state.end_of_turn->remove();
  if (state.now == phase::waiting) {
    state.now = phase::abandoned;
    return;
  }
  if (state.now != phase::abandoned)
    tell_session(self);
  state.now = phase::gone;
  state.place = {};
  state.unfinished.reset();
  state.session = nullptr;
  state.output.forget();
  if (const auto on_gone = std::move(state.on_gone))
    on_gone();
  // We may be in a callback of the loop, where `quit` would go unnoticed.
  caf::anon_send_exit(self, caf::exit_reason::user_shutdown);
}

void close_in_order(connection_ptr self, const std::string& why) {
  auto& state = self->state;
  if (state.now != phase::serving)
    return;
  if (!why.empty())
    log(self, "closed: " + why, severity::info);
  send_held(self);
  state.now = phase::closing;
  state.output.forget_waiting();
  state.socket->close_when_sent(state.service->options.limits.closing_time);
}

void on_down(connection_ptr self, const caf::down_msg& x) {
  auto& state = self->state;
  if (x.source == state.session) {
    state.session = nullptr;
    close_in_order(self, "its session ended");
  } else if (state.now != phase::gone) {
    if (state.now == phase::waiting)
      state.now = phase::abandoned; // No answer comes any more.
    drop(self, "the server has gone");
  }
}

/// Whether a process has been stopped of those that have a socket; of `started`,
/// if we cannot see who has it. Reads much of `/proc`.
bool has_stopped_holder(uint64_t inode, uint32_t started) {
  auto holders = inode != 0 ? holders_of(inode) : std::vector<uint32_t>{};
  if (holders.empty() && started != 0)
    holders.push_back(started);
  return std::any_of(holders.begin(), holders.end(), [](uint32_t pid) {
    const auto found = probe(pid);
    return found && found->is_stopped;
  });
}

/// Whoever has been stopped cannot send the rest of its message. That need not
/// be the process that we started: it may be one below a script or a debugger, a
/// tool, or a process that a resource manager has started.
/// @param started The process of the peer's name; 0: not ours.
void judge_late(connection_ptr self, uint32_t started) {
  auto is_stopped = std::make_shared<bool>(false);
  const auto posted = self->state.service->pool.post(
    [is_stopped, inode = self->state.inode, started] {
      *is_stopped = has_stopped_holder(inode, started);
    },
    [self, is_stopped, held = caf::actor_cast<connection_actor>(self),
     alive = std::weak_ptr<int>{self->state.alive}] {
      if (alive.expired() || self->state.now != phase::serving)
        return;
      if (*is_stopped)
        self->state.socket->wait_longer();
      else
        self->state.socket->end_late();
    });
  if (!posted)
    self->state.socket->end_late();
}

void on_late(connection_ptr self) {
  if (self->state.now != phase::serving) {
    self->state.socket->end_late();
    return;
  }
  const auto& find = self->state.service->options.launcher;
  const auto launcher = find ? find() : process_launcher_actor{};
  if (!launcher) {
    judge_late(self, 0);
    return;
  }
  self->request(launcher, caf::infinite, find_process{self->state.proc})
    .then([self](const local_process& x) { judge_late(self, x.pid); },
          [self](const caf::error&) { judge_late(self, 0); });
}

// -- the socket --------------------------------------------------------------

void on_heartbeat(connection_ptr self, const wire::frame& x) {
  if (!x.payload.empty()) {
    punish(self, "sent a heartbeat with a payload");
    return;
  }
  auto& state = self->state;
  ++state.service->statistics.heartbeats;
  // Those that have come together say it once.
  if (std::exchange(state.beat_turn, state.socket->turn())
      != state.socket->turn())
    self->send(state.session, heartbeat{});
}

void on_frame(connection_ptr self, const wire::frame& x) {
  auto& state = self->state;
  state.service->statistics.bytes_received +=
    wire::frame_header_size + x.payload.size();
  if (!state.requests)
    punish(self, "sent a request before it was served");
  else if (x.tag == wire::tag_heartbeat)
    on_heartbeat(self, x);
  else if (x.tag == wire::tag_output_credit && state.output.is_counted())
    on_output_credit(self, x);
  else
    state.requests->take(x);
}

void open(connection_ptr self, identified_peer x) {
  auto& state = self->state;
  const auto& limits = state.service->options.limits;
  frame_socket::bounds bounds;
  bounds.message_size = limits.message_size;
  bounds.turn_messages = limits.turn_messages;
  bounds.turn_bytes = limits.turn_bytes;
  bounds.queued_max = limits.queued_max;
  bounds.message_time = limits.message_time;
  bounds.peer_gathers = !wire::is_own_library(x.greeting.version);
  frame_socket::callbacks handlers;
  handlers.on_frame = [=](const wire::frame& y) { on_frame(self, y); };
  handlers.on_end = [=](const caf::error& why) { on_end(self, why); };
  handlers.on_turn = [=](size_t unfinished) {
    if (self->state.now != phase::serving)
      return;
    self->state.unfinished->note(unfinished);
    update_reading(self);
  };
  handlers.on_late = [=] { on_late(self); };
  handlers.on_progress = [=] {
    note_taken(self);
    write_outputs(self);
    update_reading(self);
  };
  state.dialect = wire::dialect_of(x.greeting);
  if (wire::is_own_library(x.greeting.version))
    state.output.count();
  state.place = std::move(x.place);
  state.socket.emplace(state.service->loop, std::move(x.socket), bounds,
                       std::move(handlers));
  state.end_of_turn.emplace(state.service->loop.base(), -1, short{0},
                            [=] { send_held(self); });
  state.socket->resume();
}

/// Source: guarantees 5.9, MON-1 and MON-2.
unread read_all(connection_ptr self) {
  auto& state = self->state;
  if (state.now != phase::serving)
    return {};
  state.socket->read_all(defaults::monitor_read_turns);
  return {state.socket->unread()};
}

connection_actor::behavior_type
connection(connection_ptr self, std::shared_ptr<local_service> service,
           std::shared_ptr<identified_peer> peer,
           std::function<void()> on_gone) {
  self->state.service = std::move(service);
  self->state.on_gone = std::move(on_gone);
  self->set_down_handler([=](caf::down_msg& x) { on_down(self, x); });
  self->set_exit_handler([=](caf::exit_msg& x) {
    if (self->state.now == phase::waiting)
      self->state.now = phase::abandoned; // We do not wait for the answer.
    leave(self);
    self->quit(x.reason);
  });
  self->state.watched.add(self, self->state.service->server);
  self->state.peer = describe(*peer);
  self->state.source = "user " + std::to_string(peer->actual.uid);
  auto request = request_of(*peer);
  self->state.inode = peer->inode;
  open(self, std::move(*peer));
  check_process(self, std::move(request));
  return {
    [self](const event_batch& x) { push_events(self, x); },
    [self](io_delivery& x) { return push_output(self, std::move(x)); },
    [self](read_now) { return read_all(self); },
    [self](const close_connection& x) { close_in_order(self, x.reason); },
  };
}

} // namespace

connection_actor start_connection(std::shared_ptr<local_service> service,
                                  identified_peer peer,
                                  std::function<void()> on_gone) {
  auto& sys = service->actors;
  return sys.spawn(connection, std::move(service),
                   std::make_shared<identified_peer>(std::move(peer)),
                   std::move(on_gone));
}

} // namespace troupe
