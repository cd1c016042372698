// Requests of a peer on their way to its session, and the answers back.

#include "adapters/local/connection_state.hpp"
#include "adapters/loop/memory_reserve.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "adapters/wire/long_request.hpp"
#include "adapters/wire/replies.hpp"
#include "messages/denial.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <memory>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace troupe {

namespace {

using phase = connection_state::phase;

/// Requests from here on are read on a thread: as many elements as fit into less
/// take no millisecond.
constexpr size_t long_request = size_t{16} << 10;

/// While memory is short, longer requests are refused: what is short ends waits
/// and gives memory back.
constexpr size_t short_request = size_t{4} << 10;

// -- answers -----------------------------------------------------------------

caf::error write_body(connection_state& state, const ack& x) {
  wire::encode_reply(x, state.dialect, state.out);
  return caf::none;
}

caf::error write_body(connection_state& state, const job_info_reply& x) {
  if (!x.info)
    return make_error(status::not_found, "the server knows nothing of the job");
  const auto payload = state.service->job_infos.packed(x.info, state.dialect);
  if (!payload)
    return payload.error();
  state.out += **payload;
  return caf::none;
}

template <class T>
caf::error write_body(connection_state& state, const T& x) {
  return wire::encode_reply(x, state.dialect, state.out);
}

void write_status(connection_state& state, uint32_t tag, status code) {
  const auto start = wire::begin_frame(state.out, tag);
  wire::encode_status(code, state.dialect, state.out);
  if (wire::end_frame(state.out, start))
    state.out.resize(start); // Cannot happen: a status is a few bytes.
}

/// A status with why; with nothing else if that cannot be written.
void write_denial(connection_state& state, uint32_t tag,
                  const caf::error& why) {
  const auto start = wire::begin_frame(state.out, tag);
  auto err = wire::encode_denial(status_of(why), explanation_of(why),
                                 state.dialect, state.out);
  if (!err)
    err = wire::end_frame(state.out, start);
  if (err) {
    state.out.resize(start);
    write_status(state, tag, status_of(why));
  }
}

template <class T>
caf::error write_reply(connection_state& state, uint32_t tag, const T& x) {
  const auto start = state.out.size();
  auto err = caf::error{};
  try {
    wire::begin_frame(state.out, tag);
    err = write_body(state, x);
    if (!err)
      err = wire::end_frame(state.out, start);
  } catch (const std::bad_alloc&) {
    refill_memory_reserve();
    err = make_error(status::nomem, "no memory for the answer");
  }
  if (err)
    state.out.resize(start);
  return err;
}

/// Whether an answer still has somebody to go to.
bool takes_answers(const connection_state& state) {
  return state.now == phase::serving;
}

/// Sends the answer to a request. Who raised an event is told after those whom
/// it is for.
template <class Request>
void flush_answer(connection_ptr self) {
  if constexpr (std::is_same_v<Request, io_push_request>)
    control_input(self);
  if constexpr (std::is_same_v<Request, notify_request>)
    flush_later(self);
  else
    flush(self);
}

/// Answers that the request failed.
template <class Request>
void refuse(connection_ptr self, uint32_t tag, const caf::error& why) {
  auto& state = self->state;
  if (!takes_answers(state))
    return;
  close_request(state, tag);
  if constexpr (std::is_same_v<Request, job_info_request>) {
    // That reply has no status: a client that gets one would take it for data.
    drop(self, "no job info for it: " + reason_of(why));
  } else {
    // Source: RFC0015: whoever asks is told the reason for a denial.
    if constexpr (
      std::is_same_v<
        Request,
        job_control_request> || std::is_same_v<Request, monitor_request>)
      write_denial(state, tag, why);
    else
      write_status(state, tag, status_of(why));
    flush_answer<Request>(self);
  }
}

template <class Request, class Reply>
void answer(connection_ptr self, uint32_t tag, const Reply& x) {
  auto& state = self->state;
  if (!takes_answers(state))
    return;
  if (const auto err = write_reply(state, tag, x)) {
    refuse<Request>(self, tag, err);
    return;
  }
  close_request(state, tag);
  flush_answer<Request>(self);
}

// -- requests ----------------------------------------------------------------

/// What the session answers a request with.
template <class Request>
struct reply_to {
  using type = ack;
};

#define TROUPE_REPLY(request, reply)                                           \
  template <>                                                                  \
  struct reply_to<request> {                                                   \
    using type = reply;                                                        \
  };

TROUPE_REPLY(job_info_request, job_info_reply)
TROUPE_REPLY(get_request, get_result)
TROUPE_REPLY(refresh_cache_request, refresh_cache_result)
TROUPE_REPLY(resolve_peers_request, resolve_peers_result)
TROUPE_REPLY(resolve_nodes_request, resolve_nodes_result)
TROUPE_REPLY(lookup_request, lookup_result)
TROUPE_REPLY(spawn_request, spawn_result)
TROUPE_REPLY(connect_procs_request, connect_procs_result)
TROUPE_REPLY(query_request, info_result)
TROUPE_REPLY(job_control_request, info_result)
TROUPE_REPLY(monitor_request, info_result)
TROUPE_REPLY(allocation_request, info_result)
TROUPE_REPLY(session_control_request, info_result)
TROUPE_REPLY(get_credential_request, get_credential_result)
TROUPE_REPLY(validate_credential_request, info_result)
TROUPE_REPLY(fabric_register_request, info_result)
TROUPE_REPLY(fabric_update_request, info_result)
TROUPE_REPLY(device_distances_request, device_distances_result)
TROUPE_REPLY(group_construct_request, group_construct_result)
TROUPE_REPLY(io_pull_request, io_pull_result)

#undef TROUPE_REPLY

/// Asks the session and sends the peer what it answers.
struct dispatcher {
  connection_ptr self;
  uint32_t tag;
  size_t bytes;

  template <class Request>
  void operator()(Request& x) const {
    using reply = typename reply_to<Request>::type;
    self->state.in_flight.insert(tag);
    if constexpr (std::is_same_v<Request, notify_request>) {
      self->state.notifies.emplace(tag, bytes);
      self->state.notify_bytes += bytes;
    }
    if constexpr (std::is_same_v<Request, io_push_request>) {
      // Libraries up to 4.2 say so that the input is over.
      if (x.bytes && x.bytes->empty())
        x.bytes.reset();
      self->state.pushes.emplace(tag, bytes);
      self->state.push_bytes += bytes;
      control_input(self);
    }
    self->request(self->state.session, caf::infinite, std::move(x))
      .then([self = self,
             tag = tag](const reply& y) { answer<Request>(self, tag, y); },
            [self = self, tag = tag](const caf::error& err) {
              refuse<Request>(self, tag, err);
            });
  }

  void operator()(deregister_events_request& x) const {
    self->send(self->state.session, std::move(x));
  }

  void operator()(wire::unknown_request&) const {
    write_status(self->state, tag, status::not_supported);
    flush(self);
  }
};

void count(local_statistics& counts, const wire::request& x) {
  const auto number = static_cast<size_t>(wire::command_of(x));
  if (std::holds_alternative<wire::unknown_request>(x)
      || number >= counts.requests.size())
    ++counts.unknown_requests;
  else
    ++counts.requests[number];
}

/// Answers a request that has more of something than we take.
void refuse_unread(connection_ptr self, uint32_t tag, wire::command asked,
                   const caf::error& why) {
  auto& state = self->state;
  state.service->log.write(state.source, severity::warning,
                           state.peer + ": refused its command "
                             + std::to_string(static_cast<int>(asked)) + ": "
                             + reason_of(why));
  if (asked == wire::command::job_control || asked == wire::command::monitor)
    write_denial(state, tag, why);
  else
    write_status(state, tag, status_of(why));
  flush(self);
}

caf::expected<wire::request> no_memory() {
  return make_error(status::nomem, "no memory to read the message");
}

/// A request on its way from bytes to a message.
struct incoming {
  uint32_t tag = 0;
  size_t size = 0;
  wire::dialect rules;
  std::optional<wire::command> asked;

  /// Ends with the payload.
  std::string memory;

  caf::expected<wire::request> request;
};

/// Whether a request is well-formed, but more than we take now.
bool is_too_much(const caf::error& x) {
  const auto code = status_of(x);
  return code == status::out_of_resource || code == status::nomem;
}

void on_decoded(connection_ptr self, incoming& x) {
  auto& state = self->state;
  if (!x.request && is_too_much(x.request.error()) && x.asked
      && wire::can_be_refused(*x.asked)) {
    refuse_unread(self, x.tag, *x.asked, x.request.error());
    return;
  }
  if (!x.request && status_of(x.request.error()) == status::nomem) {
    drop(self, reason_of(x.request.error()));
    return;
  }
  if (!x.request) {
    punish(self, "sent what cannot be read: " + reason_of(x.request.error()));
    return;
  }
  count(state.service->statistics, *x.request);
  if (std::holds_alternative<finalize_request>(*x.request))
    state.finalized = true;
  std::visit(dispatcher{self, x.tag, x.size}, *x.request);
  update_reading(self);
}

void decode(incoming& x) {
  try {
    x.request =
      wire::decode_long_request(std::exchange(x.memory, {}), x.size, x.rules);
  } catch (const std::bad_alloc&) {
    refill_memory_reserve();
  }
}

/// Reads a long request on a thread; those after it wait.
void decode_elsewhere(connection_ptr self, std::shared_ptr<incoming> x) {
  auto& state = self->state;
  const auto posted = state.service->readers.post(
    [x] { decode(*x); },
    [self, x, held = caf::actor_cast<connection_actor>(self),
     alive = std::weak_ptr<int>{state.alive}] {
      if (alive.expired() || self->state.now != phase::serving)
        return;
      self->state.is_decoding = false;
      on_decoded(self, *x);
      update_reading(self);
    });
  if (!posted) {
    decode(*x);
    on_decoded(self, *x);
    return;
  }
  state.is_decoding = true;
  update_reading(self);
}

caf::expected<wire::request> decode_here(const wire::frame& x,
                                         const wire::dialect& rules) {
  try {
    return wire::decode_request(x.payload, rules);
  } catch (const std::bad_alloc&) {
    refill_memory_reserve();
    return no_memory();
  }
}

void on_request(connection_ptr self, const wire::frame& x) {
  auto& state = self->state;
  const auto& rules = state.dialect;
  const auto size = x.payload.size();
  const auto asked = wire::command_in(x.payload, rules);
  refill_memory_reserve();
  const auto is_refused = is_memory_short() && size > short_request;
  if (is_refused || size < long_request) {
    auto what =
      incoming{x.tag, size, rules,
               asked, {},   is_refused ? no_memory() : decode_here(x, rules)};
    on_decoded(self, what);
    return;
  }
  // Until it has been read, and if there is no memory for that.
  auto what = incoming{
    x.tag, size, rules, asked, state.socket->give_away(x), no_memory()};
  decode_elsewhere(self, std::make_shared<incoming>(std::move(what)));
}

void on_heartbeat(connection_ptr self, const wire::frame& x) {
  if (!x.payload.empty()) {
    punish(self, "sent a heartbeat with a payload");
    return;
  }
  ++self->state.service->statistics.heartbeats;
  self->send(self->state.session, heartbeat{});
}

} // namespace

void on_frame(connection_ptr self, const wire::frame& x) {
  auto& state = self->state;
  state.service->statistics.bytes_received +=
    wire::frame_header_size + x.payload.size();
  if (state.now == phase::waiting)
    punish(self, "sent a request before it was served");
  else if (x.tag == wire::tag_heartbeat)
    on_heartbeat(self, x);
  else if (x.tag == wire::tag_output_credit && state.counts_output)
    on_output_credit(self, x);
  else if (x.tag < wire::tag_first_request)
    punish(self, "sent tag " + std::to_string(x.tag));
  else if (x.payload.empty())
    punish(self, "sent an empty request");
  else if (state.finalized)
    punish(self, "sent a request after PMIx_Finalize");
  else if (state.in_flight.count(x.tag) != 0)
    punish(self, "used tag " + std::to_string(x.tag) + " again");
  else
    on_request(self, x);
}

} // namespace troupe
