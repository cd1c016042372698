#pragma once

#include "actors/data/published_data.hpp"
#include "actors/mesh/exchange/host_calls.hpp"
#include "config/defaults.hpp"

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

/// Published data of a DVM: the root keeps it for all nodes, except for what is
/// to stay on its node.
class dvm_publishing {
public:
  /// @param calls Outlives this.
  dvm_publishing(host_calls& calls, publish_desk::timer later)
    : calls_(calls), call_later_(std::move(later)) {
    // nop
  }

  // -- for processes of this node --

  void publish(const requester& who, publish_request& request,
               completion<ack> done);

  /// What is published for this node, and the rest from the root.
  void look_up(const requester& who, lookup_request& request,
               completion<lookup_result> done);

  void unpublish(const requester& who, unpublish_request& request,
                 completion<ack> done);

  // -- at the root, for processes of all nodes --

  caf::expected<ack> publish_for_all(const requester& who,
                                     const publish_request& request);

  void look_up_for_all(const requester& who, lookup_request& request,
                       completion<lookup_result> done) {
    for_all_.look_up(who, std::move(request), std::move(done), call_later_);
  }

  caf::expected<ack> unpublish_for_all(const requester& who,
                                       const unpublish_request& request);

  // -- ends --

  /// A process is gone, wherever it ran.
  void proc_ended(const proc_id& proc) {
    for_all_.proc_ended(proc);
    here_.proc_ended(proc);
  }

  /// The same for what is published for this node.
  void proc_ended_here(const proc_id& proc) {
    here_.proc_ended(proc);
  }

  /// A job is over everywhere, and at this node.
  void job_ended(const std::string& nspace) {
    for_all_.nspace_ended(nspace);
  }

  void job_ended_here(const std::string& nspace) {
    here_.nspace_ended(nspace);
  }

  /// Lookups that wait for data of this node, and for that of all.
  size_t waiting_here() const {
    return here_.waiting();
  }

  size_t waiting_for_all() const {
    return for_all_.waiting();
  }

private:
  host_calls& calls_;
  publish_desk::timer call_later_;
  publish_desk here_{defaults::posted_bytes_per_process,
                     defaults::waiting_lookups};
  publish_desk for_all_{defaults::posted_bytes_per_process,
                        defaults::waiting_lookups};
};

} // namespace troupe
