#pragma once

#include "actors/control/control_steps.hpp"
#include "actors/control/defaults.hpp"

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// A checkpoint that can be started from.
struct checkpoint {
  std::string id;

  /// The job that was saved, and the one that was last started from it.
  std::string nspace;
  std::string latest;

  std::shared_ptr<const recorded_job> job;

  /// Who has saved its state.
  std::set<uint32_t> ranks;

  /// Whether the site's hook saved some of them.
  bool is_by_hook = false;
};

/// The checkpoints of a DVM, by their owner and id. A newer one takes the place
/// of an older one of the same name; beyond a bound the oldest are forgotten.
/// What the processes have written is theirs: this is only how to start again.
/// Source: RFC0015, PMIX_JOB_CTRL_CHECKPOINT, PMIX_JOB_CTRL_RESTART.
class checkpoint_records {
public:
  explicit checkpoint_records(size_t bound = defaults::checkpoints_kept,
                              size_t bytes = defaults::checkpoints_bytes)
    : bound_(bound), most_bytes_(bytes) {
    // nop
  }

  /// Notes a checkpoint that is complete.
  /// @returns the names of those that had to be forgotten for it, oldest first.
  std::vector<std::string> add(checkpoint what);

  /// A checkpoint that this user may start from: of its own, or any for root.
  /// Null if there is none.
  const checkpoint* find(uint32_t uid, const std::string& id) const;

  /// A job was started from it.
  void restarted(uint32_t owner, const std::string& id,
                 const std::string& nspace);

  size_t size() const {
    return all_.size();
  }

  /// Bytes of all of them as they are kept.
  size_t size_bytes() const {
    return size_bytes_;
  }

  /// All of them as bytes, for another DVM.
  std::string save() const;

  /// Takes those of an earlier DVM, none of whose jobs runs any more.
  /// @param bytes Of `save`.
  /// @returns `bad_param` for bytes of something else; then nothing is taken.
  caf::error load(std::string_view bytes);

private:
  struct entry {
    checkpoint what;

    /// As it is kept.
    size_t bytes;
  };

  void append(checkpoint what);
  std::vector<std::string> trim();

  size_t bound_;
  size_t most_bytes_;
  std::deque<entry> all_; // oldest first
  size_t size_bytes_ = 0;
};

/// The environment's line that tells a process what it starts from.
std::string checkpoint_variable(const std::string& id);

/// What starts some ranks of a checkpoint again: the programs, environment and
/// places of then, and the id of the checkpoint as data of the job
/// (PMIX_JOB_CTRL_RESTART) and in the environment of its processes. All ranks
/// that were saved keep their numbers; if these are fewer, they become ranks
/// from 0 in their order, and each finds its old one in its environment.
/// @param ranks           Which; none: all that were saved.
/// @param restart_command What the programs start with if a hook saved them.
/// @returns `not_found` for a rank that was not saved, `not_supported` if a
/// hook
///          saved it and there is none to restore it.
caf::expected<spawn_request>
make_restart(const checkpoint& from, const std::set<uint32_t>& ranks,
             const std::vector<std::string>& restart_command);

} // namespace troupe
