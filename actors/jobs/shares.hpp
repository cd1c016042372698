#pragma once

#include "messages/mesh.hpp"

#include <caf/expected.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace troupe {

/// The shares of this node in jobs: what the root has been told of each, and
/// the end of all of them when the node is fenced.
///
/// The root gets the news of a share one call at a time, and its end after all
/// of its news. A fenced node kills what it runs and tells nobody; it leaves
/// the mesh when nothing runs there any more.
///
/// A plain class: what it wants done are calls of `effects`.
class shares {
public:
  using action = std::function<void()>;

  struct effects {
    /// Tells the root how processes do. `then` comes when the root knows, or is
    /// gone.
    std::function<void(share_progress what, action then)> tell_progress;
    std::function<void(share_ended what, action then)> tell_end;

    /// Processes of this node have ended: before anybody else hears of it.
    std::function<void(const std::vector<proc_ended>& procs)> procs_ended;

    /// Has the processes of a share end.
    std::function<void(const end_share& how)> end;

    /// Forgets a share that the root will never ask for again; `remove` and
    /// `removed` follow.
    std::function<void(const std::string& nspace)> discard;

    /// Completes what this node has asked of others: nobody answers any more.
    action cut_off;

    /// Leaves the mesh, for good.
    std::function<void(const std::string& reason)> leave;
  };

  explicit shares(effects out) : out_(std::move(out)) {
    // nop
  }

  shares(const shares&) = delete;
  shares& operator=(const shares&) = delete;

  bool contains(const std::string& nspace) const {
    return all_.count(nspace) > 0;
  }

  // -- from the root

  void add(const std::string& nspace) {
    all_[nspace];
  }

  /// @returns `not_found` for a job that has no share here.
  caf::expected<ack> end(const end_share& how);

  /// A share is being forgotten.
  /// @returns whether there was one.
  bool remove(const std::string& nspace) {
    return all_.erase(nspace) > 0;
  }

  /// It has been forgotten: nothing of it runs.
  void removed() {
    leave_if_empty();
  }

  // -- from the shares

  void note_progress(share_progress what);

  void note_end(const std::string& nspace);

  /// Calls `then` when the root has heard all that a share has told so far.
  void when_root_knows(const std::string& nspace, action then);

  // -- from the mesh

  /// This node is no member any more: kills all processes, then leaves.
  void fence(const std::string& reason);

  // -- gauges

  size_t size() const {
    return all_.size();
  }

  /// Changes of processes that the root has not been told.
  size_t untold() const;

private:
  struct share {
    std::vector<proc_changed> progress;
    bool is_telling = false;
    bool has_ended = false;
    std::vector<action> once_told;
  };

  share* find(const std::string& nspace);
  void tell(const std::string& nspace);
  void leave_if_empty();

  effects out_;
  std::map<std::string, share> all_; // by namespace
  bool is_fenced_ = false;
  bool is_leaving_ = false;
  std::string fence_reason_;
};

} // namespace troupe
