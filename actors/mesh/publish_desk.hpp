#pragma once

#include "actors/data/published_data.hpp"

#include <caf/expected.hpp>

#include <chrono>
#include <functional>

namespace troupe {

/// Published data, and the lookups that wait for some.
/// Source: PMIx Standard v5, "Publish/Lookup Operations", PMIX_WAIT.
class publish_desk {
public:
  using completion = std::function<void(caf::expected<lookup_result>)>;

  /// Calls `then` after `delay`.
  using timer = std::function<void(std::chrono::nanoseconds delay,
                                   std::function<void()> then)>;

  /// @param bytes_per_process Largest sum of a publisher's keys and values.
  /// @param lookups Lookups that may wait at a time.
  publish_desk(size_t bytes_per_process, size_t lookups)
    : data_(bytes_per_process), most_lookups_(lookups) {
    // nop
  }

  /// Publishes keys, and answers the lookups that have waited for them.
  status publish(const requester& who, const publish_request& request);

  /// Looks keys up; waits for as many of them as the request says.
  void look_up(const requester& who, lookup_request request, completion then,
               const timer& after);

  /// What of the keys is there now; nothing waits.
  lookup_result look_up_now(const requester& who,
                            const lookup_request& request) {
    return {data_.look_up(who, request)};
  }

  status unpublish(const requester& who, const unpublish_request& request) {
    return data_.unpublish(who, request);
  }

  /// Drops what waits for, or was published by, a process that is gone.
  void proc_ended(const proc_id& proc);

  void nspace_ended(const std::string& nspace) {
    data_.nspace_ended(nspace);
  }

  /// Lookups that wait.
  size_t waiting() const {
    return lookups_.size();
  }

private:
  struct lookup {
    requester who;
    lookup_request request;
    completion then;
  };

  /// Looks up without removing what goes with the first reading, unless enough
  /// is there.
  std::optional<lookup_result> try_look_up(const requester& who,
                                           const lookup_request& request,
                                           size_t enough);

  published_data data_;
  size_t most_lookups_;
  std::map<uint64_t, lookup> lookups_;
  uint64_t next_lookup_ = 1;
};

/// Whether a request is for data that stays on its node.
bool stays_on_node(const std::vector<info>& directives);

} // namespace troupe
