#pragma once

#include "adapters/process/input_reader.hpp"
#include "messages/io.hpp"

#include <memory>

namespace troupe {

class event_loop;
class thread_pool;

namespace c_api {

/// Forwards our own standard input to processes, a piece at a time: the next
/// one is read when the server has taken the last. For the thread of the loop.
/// Source: PMIx Standard v5, PMIX_IOF_PUSH_STDIN.
class input_forwarder : public std::enable_shared_from_this<input_forwarder> {
public:
  /// @param pattern Targets and directives of every piece.
  input_forwarder(event_loop& loop, thread_pool& pool, io_push_request pattern);

  void start();

private:
  void forward(std::string bytes);

  io_push_request pattern_;
  input_reader reader_;
};

} // namespace c_api

} // namespace troupe
