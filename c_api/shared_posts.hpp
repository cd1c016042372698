#pragma once

#include "actors/data/process_store.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "adapters/node_store/store_access.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace troupe::c_api {

/// What the processes of our job on this node post in the memory that they
/// share with their server. It is mapped when it is used first. Safe on any
/// thread.
class shared_posts {
public:
  /// Where the memory is, from the server that we ask.
  /// @param where As the server tells it; empty: there is none.
  /// @returns false if it is what we have been told before: then nothing changes.
  bool set(std::string where, proc_id self);

  /// What a process of our job has posted for this node.
  /// @returns nothing if it is not there: then the server has to be asked.
  std::optional<value> find(const proc_id& proc, const std::string& key);

  /// Posts what is committed.
  /// @returns `refused` if it has to go to the server.
  store_access::posting post(const std::vector<process_store::news>& xs);

  /// Shows that this process lives.
  /// @returns `done` if the server need not be told.
  store_access::posting beat();

  /// @returns null if there is none, or if we cannot see it.
  std::shared_ptr<store_access> access();

  /// Why we cannot see what the server has told us of, as the system says it; 0: we
  /// can, or there is none.
  int failure();

  /// Takes what we cannot see from descriptors of it.
  /// @returns whether we see it now.
  bool take(const std::vector<unique_fd>& descriptors);

  /// Lets go of memory in which there is nonsense, until we are told of another.
  void give_up();

  /// Whether a process, or a wildcard, is of the job whose memory it is.
  bool is_of_job(const proc_id& proc);

private:
  /// Entries as the store keeps them, with room for the next ones.
  class packed_commit {
  public:
    /// @returns whether all of it can be packed.
    bool pack(const std::vector<process_store::news>& xs);

    /// They live until the next are packed.
    const std::vector<store_entry>& entries() const {
      return entries_;
    }

    /// Keeps no more room than most commits need.
    void trim();

  private:
    std::string bytes_;
    std::vector<size_t> ends_;
    std::vector<store_entry> entries_;
  };

  /// The same with the lock held.
  const std::shared_ptr<store_access>& attached();

  std::mutex mutex_;
  std::string told_;                     // guarded by mutex_
  std::string where_;                    // guarded by mutex_
  proc_id self_;                         // guarded by mutex_
  std::shared_ptr<store_access> access_; // guarded by mutex_
  int failure_ = 0;                      // guarded by mutex_

  /// What we have been told of, if we cannot see it.
  std::optional<store_address> unseen_; // guarded by mutex_

  packed_commit packed_; // guarded by mutex_
};

} // namespace troupe::c_api
