#pragma once

#include "adapters/local/listener.hpp"
#include "adapters/local/packed_frames.hpp"
#include "adapters/local/unfinished_messages.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "adapters/sockets/local_log.hpp"

namespace troupe {

class event_loop;

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
