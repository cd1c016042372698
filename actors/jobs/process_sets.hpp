#pragma once

#include "messages/host.hpp"
#include "messages/spawn.hpp"

#include <caf/error.hpp>
#include <caf/expected.hpp>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace troupe {

/// Why a process set may not have this name, if so: 1 to 255 bytes, and no
/// comma, since names are listed with commas between.
/// Source: PMIX_QUERY_PSET_NAMES as OpenPMIx answers it.
caf::error set_name_refusal(const std::string& name);

/// The process sets of a DVM, as its root keeps them. A set never changes: it
/// keeps its members when they end, and is deleted when the jobs of all of them
/// are over.
/// Source: PMIx Standard v5, "Process Sets".
class process_sets {
public:
  /// @param dvm Namespace of the DVM's server: a set has no name that is, or
  ///            may become, the namespace of a job. Empty: any name will do.
  explicit process_sets(std::string dvm = {}) : dvm_(std::move(dvm)) {
    // nop
  }

  /// Names a set.
  /// @returns `bad_param` for a name or members that cannot be, `exists` if it
  ///          names others, `out_of_resource` if there are too many.
  caf::error define(const define_process_set& what);

  /// Names the sets that the programs of a job name (PMIX_PSET_NAME).
  /// @param app_of The program of each process, by rank.
  /// @returns these sets, or why one of them cannot be: the others stay.
  caf::expected<std::vector<define_process_set>>
  define_of_job(const std::string& nspace, const std::vector<app>& apps,
                const std::vector<uint32_t>& app_of);

  /// @returns the members, or null if there is no such set.
  const std::vector<proc_id>* find(const std::string& name) const;

  /// A job is over.
  /// @returns the sets that are deleted for it.
  std::vector<std::string> job_over(const std::string& nspace);

  std::vector<define_process_set> all() const;

  size_t size() const {
    return sets_.size();
  }

private:
  struct entry {
    std::vector<proc_id> members;

    /// Jobs of members that are not over.
    std::set<std::string> jobs;
  };

  std::string dvm_;
  std::map<std::string, entry> sets_;
};

} // namespace troupe
