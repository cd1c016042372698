#pragma once

#include "adapters/local/frame_socket.hpp"
#include "adapters/local/local_service.hpp"
#include "adapters/wire/dialect.hpp"
#include "messages/actors.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace troupe {

/// Requests of a peer that have not been answered: they bound what is read of
/// it. A plain class. Source: L16.
class open_requests {
public:
  enum class kind : uint8_t {
    other,

    /// A notification: an event log holds its source back.
    notify,

    /// Input for a job.
    push,
  };

  explicit open_requests(const local_limits& limits) : limits_(limits) {
    // nop
  }

  /// Whether `tag` is that of a request without an answer.
  bool has(uint32_t tag) const {
    return tags_.count(tag) != 0;
  }

  /// @param bytes Of the request's payload.
  void add(uint32_t tag, kind what, size_t bytes);

  /// A request has been answered.
  void close(uint32_t tag);

  /// Whether the peer may have one more.
  bool may_grow() const noexcept;

  /// Whether the peer is to push no more input for now (true), or to go on;
  /// nothing if it has been told so.
  std::optional<bool> news_of_input() const noexcept;

  /// The peer has been told.
  void note_input(bool is_stopped) noexcept {
    is_input_stopped_ = is_stopped;
  }

private:
  struct group {
    void close(uint32_t tag);

    std::map<uint32_t, size_t> sizes;
    size_t bytes = 0;
  };

  const local_limits& limits_;
  std::set<uint32_t> tags_;
  group notifies_;
  group pushes_;
  bool is_input_stopped_ = false;
};

/// The requests of a peer on their way to its session, and the answers back: a
/// part of a CONNECTION actor, for a peer that is served.
class connection_requests {
public:
  /// What belongs to the connection, and outlives this.
  struct parts {
    connection_actor::pointer self;
    local_service& service;
    frame_socket& socket;
    const wire::dialect& dialect;

    /// Who the peer is to the server.
    const proc_id& proc;

    /// Takes the requests.
    const client_actor& session;

    /// Where frames are written before they are sent.
    std::string& out;
  };

  struct effects {
    /// Whether answers still have somebody to go to.
    std::function<bool()> is_serving;

    /// Sends what has been written, soon or at the end of the turn.
    std::function<void()> flush;
    std::function<void()> flush_later;

    /// Looks anew whether requests are read.
    std::function<void()> update_reading;

    /// Writes a line about the peer.
    std::function<void(const std::string& what)> log;

    /// Closes the connection of a peer that cannot be served any more, or of
    /// one that broke a rule.
    std::function<void(const std::string& why)> drop;
    std::function<void(const std::string& why)> punish;
  };

  connection_requests(const parts& owner, effects out);

  connection_requests(const connection_requests&) = delete;

  connection_requests& operator=(const connection_requests&) = delete;

  /// Takes a request of the peer.
  void take(const wire::frame& x);

  /// Whether requests may be read: not too many are unanswered, and none is
  /// being read on a thread.
  bool may_read() const noexcept {
    return !is_decoding_ && open_.may_grow();
  }

  /// Whether the peer has asked to leave.
  bool is_finalized() const noexcept {
    return is_finalized_;
  }

private:
  struct incoming;
  struct dispatcher;
  enum class manner : uint8_t;

  void read(const wire::frame& x);
  void read_elsewhere(std::shared_ptr<incoming> x);
  void on_read(incoming& x);
  void refuse_unread(const incoming& x, const caf::error& why);

  template <class Reply>
  void answer(uint32_t tag, manner how, const Reply& x);

  void refuse(uint32_t tag, manner how, const caf::error& why);
  void flush_answer(manner how);
  void control_input();

  template <class Reply>
  caf::error write_reply(uint32_t tag, const Reply& x);

  caf::error write_body(const ack& x);
  caf::error write_body(const job_info_reply& x);

  template <class Reply>
  caf::error write_body(const Reply& x);

  void write_status(uint32_t tag, status code);
  void write_denial(uint32_t tag, const caf::error& why);

  parts owner_;
  effects effects_;
  open_requests open_;

  /// Whether one more is being read on a thread; what comes after it waits.
  bool is_decoding_ = false;

  bool is_finalized_ = false;

  /// Tells who comes back from another thread that this is still here.
  std::shared_ptr<int> alive_ = std::make_shared<int>();
};

} // namespace troupe
