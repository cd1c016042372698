#pragma once

#include "adapters/link/link.hpp"
#include "messages/actors.hpp"

#include <caf/fwd.hpp>

#include <functional>
#include <map>
#include <memory>
#include <utility>

namespace troupe {

/// Passes the output that a DVM sends to a tool on to a sink, as fast as that
/// takes it: the DVM sends more when the sink has what came before, and with
/// the DVM, if need be, the process waits. From one that sends all the same
/// nothing is read while too much waits for the sink.
/// Source: I18; guarantees 5.7. For the thread of the loop only.
class output_intake {
public:
  output_intake(caf::actor_system& sys, output_sink_actor sink);

  ~output_intake();

  output_intake(const output_intake&) = delete;

  output_intake& operator=(const output_intake&) = delete;

  /// The connection that is read more slowly if need be.
  void attach(std::shared_ptr<link> from);

  /// @param receipt Goes when the sink has the output.
  void take(io_delivery x, output_receipt receipt);

  /// Ends all streams that have not ended; what comes now is not passed on.
  void close();

  /// Whether a stream is at its end.
  bool has_ended(const proc_id& source, io_channels channel) const;

  /// Calls back once the sink has all that was taken.
  void when_idle(std::function<void()> done);

  /// How far each stream has been taken by the sink.
  const std::map<std::pair<proc_id, io_channels>, uint64_t>& offsets() const;

private:
  struct state;

  std::shared_ptr<state> state_;
  caf::actor feeder_;
};

} // namespace troupe
