#pragma once

#include "actors/io/output_formatter.hpp"
#include "adapters/link/link.hpp"
#include "messages/actors.hpp"

#include <caf/fwd.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace troupe {

/// The hosts of processes, as the output that a DVM sends says, for marks on
/// it.
class told_hosts {
public:
  void note(const proc_id& proc, const std::vector<info>& infos);

  /// @param table Is looked at when a line is marked.
  static output_formatter::hosts lookup(std::shared_ptr<told_hosts> table);

private:
  std::map<proc_id, std::string> hosts_;
};

/// Passes the output that a DVM sends to a tool on to a sink, as fast as that
/// takes it: the DVM sends more when the sink has what came before, and with
/// the DVM, if need be, the process waits. From one that sends all the same
/// nothing is read while too much waits for the sink.
/// Source: I18; guarantees 5.7. For the thread of the loop only.
class output_intake {
public:
  /// @param hosts Gets the hosts that output names.
  output_intake(caf::actor_system& sys, output_sink_actor sink,
                std::shared_ptr<told_hosts> hosts);

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

  /// Calls back once the sink has all that was taken; in the order of calls.
  void when_idle(std::function<void()> done);

  /// How far each stream has been taken by the sink.
  const std::map<std::pair<proc_id, io_channels>, uint64_t>& offsets() const;

private:
  struct state;

  std::shared_ptr<state> state_;
  caf::actor feeder_;
};

} // namespace troupe
