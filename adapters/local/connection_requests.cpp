#include "adapters/local/connection_requests.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/memory_reserve.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "adapters/wire/long_request.hpp"
#include "adapters/wire/pushes.hpp"
#include "adapters/wire/replies.hpp"
#include "messages/denial.hpp"

#include <chrono>
#include <new>
#include <type_traits>
#include <utility>
#include <variant>

namespace troupe {

// -- open requests -----------------------------------------------------------

void open_requests::group::close(uint32_t tag) {
  const auto x = sizes.extract(tag);
  if (!x.empty())
    bytes -= x.mapped();
}

void open_requests::add(uint32_t tag, kind what, size_t bytes) {
  tags_.insert(tag);
  if (what == kind::other)
    return;
  auto& x = what == kind::notify ? notifies_ : pushes_;
  x.sizes.emplace(tag, bytes);
  x.bytes += bytes;
}

void open_requests::close(uint32_t tag) {
  tags_.erase(tag);
  notifies_.close(tag);
  pushes_.close(tag);
}

bool open_requests::may_grow() const noexcept {
  return tags_.size() < limits_.in_flight
         && notifies_.sizes.size() < limits_.notifies
         && notifies_.bytes < limits_.notify_bytes
         && pushes_.sizes.size() < limits_.pushes
         && pushes_.bytes < limits_.push_bytes;
}

std::optional<bool> open_requests::news_of_input() const noexcept {
  const auto is_much = pushes_.sizes.size() >= limits_.pushes / 2
                       || pushes_.bytes >= limits_.push_bytes / 2;
  if (is_much == is_input_stopped_ || (!is_much && !pushes_.sizes.empty()))
    return std::nullopt;
  return is_much;
}

// -- kinds of requests -------------------------------------------------------

/// How a request is counted, answered and refused.
enum class connection_requests::manner : uint8_t {
  plain,

  /// Its source is told after those whom the event is for.
  notify,

  /// The peer may be told to push more, or no more.
  push,

  /// The reply has no status: a client that gets one would take it for data.
  job_info,

  /// Whoever asks is told the reason for a denial. Source: RFC0015.
  explained,
};

namespace {

/// Requests from here on are read on a thread: as many elements as fit into less
/// take no millisecond.
constexpr size_t long_request = size_t{16} << 10;

/// While memory is short, longer requests are refused: what is short ends waits
/// and gives memory back.
constexpr size_t short_request = size_t{4} << 10;

void count(local_statistics& counts, const wire::request& x) {
  const auto number = static_cast<size_t>(wire::command_of(x));
  if (std::holds_alternative<wire::unknown_request>(x)
      || number >= counts.requests.size())
    ++counts.unknown_requests;
  else
    ++counts.requests[number];
}

template <class T, class... Ts>
constexpr bool is_one_of = (std::is_same_v<T, Ts> || ...);

/// Whether processes wait for each other by it.
template <class T>
constexpr bool is_meeting =
  is_one_of<T, fence_request, connect_procs_request, disconnect_procs_request,
            group_construct_request, group_destruct_request>;

caf::expected<wire::request> no_memory() {
  return make_error(status::nomem, "no memory to read the message");
}

/// Whether a request is well-formed, but more than we take now.
bool is_too_much(const caf::error& x) {
  const auto code = status_of(x);
  return code == status::out_of_resource || code == status::nomem;
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

} // namespace

/// A request on its way from bytes to a message.
struct connection_requests::incoming {
  /// Reads `memory`. On any thread.
  void decode() {
    try {
      request =
        wire::decode_long_request(std::exchange(memory, {}), size, rules);
    } catch (const std::bad_alloc&) {
      refill_memory_reserve();
    }
  }

  uint32_t tag = 0;
  size_t size = 0;
  wire::dialect rules;
  std::optional<wire::command> asked;

  /// Ends with the payload.
  std::string memory;

  caf::expected<wire::request> request;
};

/// Asks the session and sends the peer the answer.
struct connection_requests::dispatcher {
  connection_requests& all;
  uint32_t tag;
  size_t bytes;

  template <class Request>
  static constexpr manner manner_of() {
    if constexpr (std::is_same_v<Request, notify_request>)
      return manner::notify;
    else if constexpr (std::is_same_v<Request, io_push_request>)
      return manner::push;
    else if constexpr (std::is_same_v<Request, job_info_request>)
      return manner::job_info;
    else if constexpr (
      std::is_same_v<
        Request,
        job_control_request> || std::is_same_v<Request, monitor_request>)
      return manner::explained;
    else
      return manner::plain;
  }

  void open(manner how) const {
    using kind = open_requests::kind;
    all.open_.add(tag,
                  how == manner::notify ? kind::notify
                  : how == manner::push ? kind::push
                                        : kind::other,
                  bytes);
    if (how == manner::push)
      all.control_input();
  }

  // Once for each type of answer, not for each request: the compiler takes most
  // of its time with these.
  template <class Reply, class Handle>
  void wait(Handle pending, manner how) const {
    pending.then(
      [&all = all, tag = tag, how](const Reply& y) { all.answer(tag, how, y); },
      [&all = all, tag = tag, how](const caf::error& err) {
        all.refuse(tag, how, err);
      });
  }

  template <class Request>
  void operator()(Request& x) const {
    using reply = wire::answer_to_t<Request>;
    constexpr auto how = manner_of<Request>();
    if constexpr (how == manner::push)
      // Libraries up to 4.2 say so that the input is over.
      if (x.bytes && x.bytes->empty())
        x.bytes.reset();
    open(how);
    const auto& owner = all.owner_;
    if constexpr (is_meeting<Request>)
      owner.service.loop.pace().on_urgent(std::chrono::steady_clock::now());
    wait<reply>(owner.self->request(owner.session, caf::infinite, std::move(x)),
                how);
  }

  void operator()(deregister_events_request& x) const {
    all.owner_.self->send(all.owner_.session, std::move(x));
  }

  void operator()(wire::unknown_request&) const {
    all.write_status(tag, status::not_supported);
    all.effects_.flush();
  }
};

connection_requests::connection_requests(const parts& owner, effects out)
  : owner_(owner), effects_(std::move(out)),
    open_(owner.service.options.limits) {
  // nop
}

// -- requests ----------------------------------------------------------------

void connection_requests::take(const wire::frame& x) {
  if (x.tag < wire::tag_first_request)
    effects_.punish("sent tag " + std::to_string(x.tag));
  else if (x.payload.empty())
    effects_.punish("sent an empty request");
  else if (is_finalized_)
    effects_.punish("sent a request after PMIx_Finalize");
  else if (open_.has(x.tag))
    effects_.punish("used tag " + std::to_string(x.tag) + " again");
  else
    read(x);
}

void connection_requests::read(const wire::frame& x) {
  const auto& rules = owner_.dialect;
  const auto size = x.payload.size();
  const auto asked = wire::command_in(x.payload, rules);
  refill_memory_reserve();
  const auto is_refused = is_memory_short() && size > short_request;
  if (is_refused || size < long_request) {
    auto what =
      incoming{x.tag, size, rules,
               asked, {},   is_refused ? no_memory() : decode_here(x, rules)};
    on_read(what);
    return;
  }
  // Until it has been read, and if there is no memory for that.
  auto what = incoming{
    x.tag, size, rules, asked, owner_.socket.give_away(x), no_memory()};
  read_elsewhere(std::make_shared<incoming>(std::move(what)));
}

/// Reads a long request on a thread; those after it wait.
void connection_requests::read_elsewhere(std::shared_ptr<incoming> x) {
  const auto posted = owner_.service.readers.post(
    [x] { x->decode(); },
    [this, x, held = caf::actor_cast<connection_actor>(owner_.self),
     alive = std::weak_ptr<int>{alive_}] {
      if (alive.expired() || !effects_.is_serving())
        return;
      is_decoding_ = false;
      on_read(*x);
      effects_.update_reading();
    });
  if (!posted) {
    x->decode();
    on_read(*x);
    return;
  }
  is_decoding_ = true;
  effects_.update_reading();
}

void connection_requests::on_read(incoming& x) {
  if (!x.request) {
    const auto& why = x.request.error();
    if (is_too_much(why) && x.asked && wire::can_be_refused(*x.asked))
      refuse_unread(x, why);
    else if (status_of(why) == status::nomem)
      effects_.drop(reason_of(why));
    else
      effects_.punish("sent what cannot be read: " + reason_of(why));
    return;
  }
  count(owner_.service.statistics, *x.request);
  if (std::holds_alternative<finalize_request>(*x.request))
    is_finalized_ = true;
  std::visit(dispatcher{*this, x.tag, x.size}, *x.request);
  effects_.update_reading();
}

/// Answers a request that has more of something than we take.
void connection_requests::refuse_unread(const incoming& x,
                                        const caf::error& why) {
  const auto asked = *x.asked;
  effects_.log("refused its command " + std::to_string(static_cast<int>(asked))
               + ": " + reason_of(why));
  if (asked == wire::command::job_control || asked == wire::command::monitor)
    write_denial(x.tag, why);
  else
    write_status(x.tag, status_of(why));
  effects_.flush();
}

// -- answers -----------------------------------------------------------------

template <class Reply>
void connection_requests::answer(uint32_t tag, manner how, const Reply& x) {
  if (!effects_.is_serving())
    return;
  if (const auto err = write_reply(tag, x)) {
    refuse(tag, how, err);
    return;
  }
  open_.close(tag);
  flush_answer(how);
}

/// Answers that the request failed.
void connection_requests::refuse(uint32_t tag, manner how,
                                 const caf::error& why) {
  if (!effects_.is_serving())
    return;
  open_.close(tag);
  if (how == manner::job_info) {
    effects_.drop("no job info for it: " + reason_of(why));
    return;
  }
  if (how == manner::explained)
    write_denial(tag, why);
  else
    write_status(tag, status_of(why));
  flush_answer(how);
}

void connection_requests::flush_answer(manner how) {
  if (how == manner::push)
    control_input();
  if (how == manner::notify)
    effects_.flush_later();
  else
    effects_.flush();
}

/// Tells the peer to push no more input for now, or to go on, if it knows such
/// messages.
void connection_requests::control_input() {
  const auto news = open_.news_of_input();
  if (!news || !wire::knows_flow_control(owner_.dialect.peer))
    return;
  auto& out = owner_.out;
  const auto start = wire::begin_frame(out, wire::tag_flow_control);
  auto what = wire::flow_control{};
  what.source = owner_.proc;
  what.is_stop = *news;
  auto err = wire::encode_flow_control(what, owner_.dialect, out);
  if (!err)
    err = wire::end_frame(out, start);
  if (err) {
    out.resize(start);
    return;
  }
  open_.note_input(*news);
  effects_.flush();
}

template <class Reply>
caf::error connection_requests::write_reply(uint32_t tag, const Reply& x) {
  auto& out = owner_.out;
  const auto start = out.size();
  auto err = caf::error{};
  try {
    wire::begin_frame(out, tag);
    err = write_body(x);
    if (!err)
      err = wire::end_frame(out, start);
  } catch (const std::bad_alloc&) {
    refill_memory_reserve();
    err = make_error(status::nomem, "no memory for the answer");
  }
  if (err)
    out.resize(start);
  return err;
}

caf::error connection_requests::write_body(const ack& x) {
  wire::encode_reply(x, owner_.dialect, owner_.out);
  return caf::none;
}

caf::error connection_requests::write_body(const job_info_reply& x) {
  if (!x.info)
    return make_error(status::not_found, "the server knows nothing of the job");
  const auto payload = owner_.service.job_infos.packed(x.info, owner_.dialect);
  if (!payload)
    return payload.error();
  owner_.out += **payload;
  return caf::none;
}

template <class Reply>
caf::error connection_requests::write_body(const Reply& x) {
  return wire::encode_reply(x, owner_.dialect, owner_.out);
}

void connection_requests::write_status(uint32_t tag, status code) {
  auto& out = owner_.out;
  const auto start = wire::begin_frame(out, tag);
  wire::encode_status(code, owner_.dialect, out);
  if (wire::end_frame(out, start))
    out.resize(start); // Cannot happen: a status is a few bytes.
}

/// Writes a status with why; with nothing else if that cannot be written.
void connection_requests::write_denial(uint32_t tag, const caf::error& why) {
  auto& out = owner_.out;
  const auto start = wire::begin_frame(out, tag);
  auto err = wire::encode_denial(status_of(why), explanation_of(why),
                                 owner_.dialect, out);
  if (!err)
    err = wire::end_frame(out, start);
  if (err) {
    out.resize(start);
    write_status(tag, status_of(why));
  }
}

} // namespace troupe
