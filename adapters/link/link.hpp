#pragma once

#include "adapters/link/link_socket.hpp"
#include "adapters/loop/fd_watch.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "adapters/wire/frame.hpp"
#include "adapters/wire/pushes.hpp"
#include "adapters/wire/replies.hpp"
#include "adapters/wire/requests.hpp"
#include "messages/event.hpp"
#include "messages/io.hpp"

#include <caf/expected.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace troupe {

namespace defaults {

/// Output that a library holds of a server that does not count what is on its
/// way: then it reads nothing more.
inline constexpr size_t io_held_output = size_t{4} << 20;

} // namespace defaults

class event_loop;

/// Where the outcome of a request may be handed over.
enum class hand_over : uint8_t {
  /// On the thread of the loop only.
  in_loop,

  /// On whatever thread reads the reply: for those that only wake a waiter.
  anywhere,
};

/// Output counts as taken when the last copy of its receipt is gone, on any
/// thread.
using output_receipt = std::shared_ptr<void>;

/// The client's end of a connection to a server: requests go out on the thread
/// that makes them, replies come back by their tag. A thread that waits for an
/// outcome reads the socket itself if nobody else does, so that the answer
/// costs no detour; otherwise the loop reads.
///
/// Every request gets an outcome, once: also if the server is lost
/// (`lost_connection`) or says what cannot be read. Safe on any thread unless a
/// function says otherwise.
/// Source: OpenPMIx wire protocol, life of a connection.
class link : public std::enable_shared_from_this<link> {
public:
  using outcome = caf::expected<wire::reply_body>;

  using on_outcome = std::function<void(outcome)>;

  /// Makes an outcome of the bytes of a reply, on whatever thread has read them.
  using reply_reader = std::function<outcome(std::string_view payload)>;

  /// All run on the thread of the loop.
  struct callbacks {
    /// What came at once.
    std::function<void(event_batch)> on_events;

    /// The server sends more when what it sent has been taken.
    std::function<void(io_delivery, output_receipt)> on_output;

    /// Input is to stop or to go on.
    std::function<void(wire::flow_control)> on_flow_control;

    /// A message could not be read, or not be written.
    std::function<void(const caf::error&)> on_garbled;

    /// The server is gone; called at most once, and not after `close`.
    std::function<void(const caf::error&)> on_lost;
  };

  /// What the loop reads. A thread that waits for an answer reads by itself.
  enum class intake : uint8_t {
    /// All that comes.
    all,

    /// What comes while a request is open.
    answers,

    /// Nothing: the server keeps what it has.
    nothing,
  };

  /// @param peer The connection, from `connect_to_server`.
  link(event_loop& loop, server_connection peer, callbacks handlers);

  /// Nobody may be in a function of the link; on the thread of the loop, or
  /// while that is not running.
  ~link();

  link(const link&) = delete;

  link& operator=(const link&) = delete;

  /// Begins to read. On the thread of the loop, or while that is not running.
  void start();

  /// Sends a request; `done` gets its outcome exactly once.
  /// @param read What makes it of the reply; none: `read_reply`.
  void submit(const wire::request& x, on_outcome done,
              hand_over where = hand_over::in_loop, reply_reader read = {});

  /// Sends a request and waits for its outcome.
  /// @param limit How long to wait; nothing: as long as the server is there.
  outcome call(const wire::request& x,
               std::optional<std::chrono::milliseconds> limit = {},
               reply_reader read = {});

  /// The server has to look at the memory that we share before it looks at what
  /// we ask next: a question that has no other effect goes before that, and what
  /// is asked meanwhile waits for its answer.
  void note_news();

  /// Has it look now, if it has to.
  void tell_news();

  /// Sends a heartbeat.
  caf::error beat();

  /// Whether the server waits until what it sends as output is taken: then
  /// events and answers never wait behind it.
  bool counts_output() const;

  /// Whether the server is one of this library, which says so before the answer to
  /// the first request.
  bool is_of_ours() const {
    return counts_output();
  }

  /// How much there is room for. On the thread of the loop.
  void set_intake(intake x);

  /// Ends the connection: open requests fail with `lost_connection`.
  void close();

  bool is_open() const;

  /// Who the server is.
  const proc_id& server() const {
    return peer_.server;
  }

  /// Where the server is, as tools are told it.
  std::string uri() const {
    return wire::to_string(peer_.uri);
  }

  /// Who we are to it.
  const proc_id& self() const {
    return peer_.self;
  }

  const wire::dialect& rules() const {
    return peer_.rules;
  }

  /// Where the memory is that we share with the server; empty: there is none, or
  /// it has not been told. It comes before the answer to the first request.
  std::string shared_memory() const;

  /// For a forked child: closes the descriptors and touches nothing else.
  void abandon_after_fork() noexcept;

private:
  using clock = std::chrono::steady_clock;

  struct pending {
    wire::command asked = wire::command::job_info;
    on_outcome done;
    hand_over where = hand_over::in_loop;
    reply_reader read{};
  };

  /// Somebody who waits in `call`.
  struct waiter;

  // -- writing --
  caf::error send(std::string bytes);
  caf::error send_in_turn(std::string bytes);
  caf::error send_news();
  void go_on();
  void write_queued();
  uint32_t next_tag();
  caf::error transmit(const wire::request& x, pending* entry);

  // -- reading --
  bool take_reading();
  void give_reading_back();
  void begin_watching();
  void read_in_loop();
  void update_reading();
  void read_for(const waiter& x, std::optional<clock::time_point> deadline,
                std::unique_lock<std::mutex>& lock);
  void await_readable(clock::time_point deadline);
  caf::error receive(bool wait, bool& has_more);
  caf::error take_frames(std::string_view bytes);
  void on_frame(const wire::frame& x);
  void on_reply(const wire::frame& x);
  void on_output(const wire::frame& x);
  void on_flow_control(const wire::frame& x);
  void on_credit(const wire::frame& x);
  void on_shared_memory(const wire::frame& x);
  output_receipt make_receipt(size_t size);
  void take_output(size_t size);
  bool is_full() const;
  void wait_for_room(std::unique_lock<std::mutex>& lock);
  void hand(pending x, outcome y);
  void in_loop(std::function<void()> task);
  void hand_events();
  void keep_in_order(std::function<void()> task);
  bool begin_handing();
  void hand_arrivals();

  /// Runs a task on the thread of the loop, after all that was read before: at
  /// once, if that is the calling thread and nothing waits.
  template <class F>
  void in_order(F task) {
    if (!begin_handing()) {
      keep_in_order(std::move(task));
      return;
    }
    try {
      task();
    } catch (const std::bad_alloc&) {
      hand_arrivals();
      throw;
    }
    hand_arrivals();
  }

  void tell_garbled(const caf::error& why);

  // -- the end --
  void lose(caf::error why, bool tell);

  event_loop& loop_;
  server_connection peer_;
  callbacks handlers_;

  /// Holds the socket; the loop watches this, so that whoever reads can switch
  /// the loop's interest off without waking it.
  unique_fd readiness_;

  std::unique_ptr<fd_watch> reads_;
  std::unique_ptr<fd_watch> writes_;

  /// What was read and is to be told on the thread of the loop, in the order of
  /// arrival, whoever read it.
  std::deque<std::function<void()>> arrivals_; // guarded by mutex_
  bool is_handing_ = false;                    // of the thread of the loop

  std::atomic<intake> intake_{intake::all};

  // These belong to whoever reads. Events are collected until something else
  // comes, or nothing more is there.
  wire::frame_reader reader_;
  event_batch events_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_started_ = false; // guarded by mutex_
  bool is_reading_ = false; // guarded by mutex_
  bool is_open_ = true;     // guarded by mutex_

  /// Whether the last request has been sent.
  bool has_left_ = false;          // guarded by mutex_
  bool is_watching_write_ = false; // guarded by mutex_
  caf::error failure_;             // guarded by mutex_
  std::string queue_;              // guarded by mutex_

  /// Whether the server has news to look at, whether it is asked to, and what
  /// waits until it has.
  bool has_news_ = false;   // guarded by mutex_
  bool is_holding_ = false; // guarded by mutex_
  std::string held_;        // guarded by mutex_

  /// What was queued after more news.
  std::string later_;                             // guarded by mutex_
  std::string shared_memory_;                     // guarded by mutex_
  size_t waiting_ = 0;                            // guarded by mutex_
  std::unordered_map<uint32_t, pending> pending_; // guarded by mutex_
  uint32_t last_tag_ = wire::tag_first_request;   // guarded by mutex_

  /// Payload of output: what has come and is not taken, what has been taken,
  /// and what the server has been told of that.
  size_t output_held_ = 0;    // guarded by mutex_
  uint64_t output_taken_ = 0; // guarded by mutex_
  uint64_t output_told_ = 0;  // guarded by mutex_

  /// How much the server sends ahead; 0: it does not count.
  uint64_t output_window_ = 0; // guarded by mutex_
};

} // namespace troupe
