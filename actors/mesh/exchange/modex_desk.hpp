#pragma once

#include "actors/data/job_locations.hpp"
#include "messages/host.hpp"

#include <caf/expected.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace troupe {

/// Gets data of processes on other nodes, on demand: finds the node, asks it
/// once for however many wait for the same, and tells all of them.
/// Source: PMIx Standard v5, "Direct modex"; guarantees, section 7, "modex".
class modex_desk {
public:
  using completion = std::function<void(caf::expected<get_result>)>;

  struct effects {
    /// Asks the server of a node, this one among them.
    std::function<void(uint32_t rank, direct_modex what,
                       std::chrono::nanoseconds limit, completion then)>
      ask;

    /// Makes `places` know a job; an error if there is none.
    std::function<void(const std::string& nspace,
                       std::function<void(const caf::error&)> then)>
      locate;
  };

  /// @param places Where jobs run; outlives this.
  modex_desk(const job_locations& places, effects out)
    : places_(places), out_(std::move(out)) {
    // nop
  }

  /// Data of a process, or with the wildcard rank of its job.
  void get(direct_modex what, completion then);

  /// What is under way.
  size_t open() const {
    return open_.size();
  }

private:
  /// Process, key and `question_number`.
  using key = std::tuple<proc_id, std::string, uint64_t>;

  struct question {
    direct_modex what;
    std::vector<completion> waiting;

    /// Nodes that may be asked for the data of a job.
    std::vector<uint32_t> nodes;
  };

  void ask(const key& k);
  void finish(const key& k, caf::expected<get_result> result);

  const job_locations& places_;
  effects out_;
  std::map<key, question> open_;
};

} // namespace troupe
