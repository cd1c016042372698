#pragma once

#include "adapters/local/listener.hpp"
#include "adapters/local/unfinished_messages.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "adapters/sockets/local_log.hpp"
#include "adapters/wire/dialect.hpp"
#include "messages/data.hpp"
#include "messages/event.hpp"

#include <caf/error.hpp>
#include <caf/expected.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

class event_loop;

/// Keeps the frames of the events that were sent last for the next peer: most
/// events are for many, and most peers speak the same dialect.
class event_frames {
public:
  /// Dialects to remember.
  static constexpr size_t max_entries = 4;

  /// The longest frames to remember, in bytes.
  static constexpr size_t max_bytes = size_t{64} << 10;

  struct frames {
    /// One after the other.
    std::string bytes;

    /// Where each event ends in `bytes`; one that cannot be written takes
    /// none.
    std::vector<size_t> ends;

    /// Why events could not be written.
    std::vector<caf::error> failures;
  };

  std::shared_ptr<const frames> of(const event_batch& x,
                                   const wire::dialect& d);

private:
  struct entry {
    event_batch events;
    wire::dialect dialect;
    std::shared_ptr<const frames> packed;
  };

  std::deque<entry> entries_; // the oldest first
};

/// Keeps the packed data of jobs for the next client of the same job: all of
/// them ask for it when they start, most in the same dialect.
class job_info_cache {
public:
  /// Jobs and dialects to remember.
  static constexpr size_t max_entries = 8;

  /// The longest payload to remember, in bytes.
  static constexpr size_t max_payload = size_t{8} << 20;

  /// The payload of the reply that carries `info`.
  caf::expected<std::shared_ptr<const std::string>>
  packed(const std::shared_ptr<const job_info>& info, const wire::dialect& d);

private:
  struct entry {
    std::weak_ptr<const job_info> info;
    wire::dialect dialect;
    std::shared_ptr<const std::string> payload;
  };

  std::deque<entry> entries_; // the oldest first
};

/// What a listener and its connections share. For the thread of the loop only.
struct local_service {
  local_service(loop_system& sys, server_actor server, listener_options x);

  event_loop& loop;
  thread_pool& pool;

  /// Reads long messages. One thread, so that whoever sends many takes no more
  /// than one processor, and of its own: no look at a file keeps it waiting.
  /// Closed with the listener.
  thread_pool readers;
  caf::actor_system& actors;

  /// Empty once the listener is gone.
  server_actor server;

  listener_options options;
  local_statistics statistics;
  local_log log;
  job_info_cache job_infos;
  event_frames frames_of_events;
  unfinished_messages unfinished;
};

} // namespace troupe
