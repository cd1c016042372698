#pragma once

#include "actors/monitors/usage_request.hpp"
#include "messages/connection.hpp"

#include <caf/expected.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// Who gets updates on the use of resources, and when. An identifier belongs to
/// its requester (reading A25).
class usage_monitors {
public:
  using time = std::chrono::nanoseconds;

  struct limits {
    size_t per_client = 0;
    size_t all = 0;
  };

  struct entry {
    requester who;

    /// As it came, and understood.
    monitor_request what;
    usage_request request;

    /// When the next sample is due.
    time due{0};

    /// Whether the last one is not through: none begins meanwhile.
    bool is_sampling = false;
  };

  explicit usage_monitors(const limits& bounds) : limits_(bounds) {
    // nop
  }

  /// @param now The first update comes one interval later.
  /// @returns its number; `exists` if the requester has the identifier in use,
  ///          `out_of_resource` names the limit.
  caf::expected<uint64_t> add(requester who, monitor_request what,
                              usage_request request, time now);

  /// @returns how many have ended. @param id None: all of the requester.
  size_t cancel(const proc_id& who, const std::optional<std::string>& id);

  /// Ends one.
  void remove(uint64_t number) {
    entries_.erase(number);
  }

  /// Ends those of a connection.
  void disconnect(uint32_t index);

  /// Those whose sample is due: from now on they are sampling, and due one
  /// interval later. Intervals that have passed meanwhile are skipped.
  std::vector<uint64_t> take_due(time now);

  /// When `take_due` is needed next.
  std::optional<time> next_due() const;

  /// A sample is through.
  void finish(uint64_t number);

  /// Null if it has ended.
  const entry* find(uint64_t number) const;

  size_t size() const noexcept {
    return entries_.size();
  }

private:
  limits limits_;
  std::map<uint64_t, entry> entries_;
  uint64_t next_ = 1;
};

} // namespace troupe
