#pragma once

#include "config/defaults.hpp"
#include "messages/data.hpp"
#include "messages/status.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

namespace defaults {

/// Posted data of all processes of a namespace.
inline constexpr size_t posted_bytes_per_namespace = size_t{256} << 20;

} // namespace defaults

/// Stands for what a process has posted, in data that a fence brings: it has posted
/// so much that whoever wants it asks for it. The value (uint64) is another one when
/// the process has posted since.
inline constexpr std::string_view posted_digest = "troupe.posted.digest";

/// A directive of questions for posted data: one with another number (uint64) is
/// another question, whose answer must not be older than it.
inline constexpr std::string_view question_number = "troupe.question.number";

/// Keys that processes of one namespace have posted, by rank and scope.
/// Source: PMIx Standard v5, `PMIx_Put`, `PMIx_Commit`, `pmix_scope_t`.
class datastore {
public:
  /// Largest sum of keys and values that one process may keep posted, in bytes,
  /// and of all processes of a namespace. Each value counts once, whoever may
  /// see it.
  struct limits {
    size_t process_bytes = defaults::posted_bytes_per_process;
    size_t namespace_bytes = defaults::posted_bytes_per_namespace;
  };

  /// Gives what a rank has posted elsewhere since it was last asked.
  using news_of = std::function<std::vector<posted_data>(uint32_t rank)>;

  explicit datastore(limits bounds) : bounds_(bounds) {
    // nop
  }

  /// Has the store ask for news before it says or takes anything of a rank.
  /// @param on_growth Hears by how many bytes they let it grow.
  /// @param on_refusal Hears of ranks of whose news some had no room.
  void follow(news_of news, std::function<void(size_t)> on_growth,
              std::function<void(uint32_t)> on_refusal);

  /// Has somebody hear of all data of processes of other nodes that come, and that
  /// all of a process are forgotten.
  void tell_of_remote(
    std::function<void(uint32_t, const std::vector<key_value>&)> on_remote,
    std::function<void(uint32_t)> on_forgotten);

  /// Takes the news of a rank.
  void refresh(uint32_t rank) const;

  /// Merges what `rank` commits: a key posted again replaces the old value, a key
  /// that is taken back is nobody's any more who was to see it.
  /// Keys of the host (`is_given_by_host`) are left out: only it says what they
  /// are, and whoever asks is not to be told otherwise.
  /// @returns `out_of_resource` if a bound would be exceeded; then nothing of
  ///          the commit is kept but the names of its keys. Otherwise
  ///          `success`.
  status commit(uint32_t rank, const std::vector<posted_data>& blocks);

  /// Takes data of a process on another node, all of it visible here.
  void store_remote(uint32_t rank, std::vector<key_value> entries);

  /// The same for what a fence brings, which is all that the process shows to other
  /// nodes: keys that are not among it have been taken back. From now on what was
  /// asked for before is old.
  void store_fenced(uint32_t rank, std::vector<key_value> entries);

  /// The same for what a group brings, which is what the process showed to other
  /// nodes when it called: it may have posted more since, and nothing is forgotten.
  void store_exchanged(uint32_t rank, std::vector<key_value> entries);

  /// Takes what a process has given to a group beside what it posts
  /// (PMIX_GROUP_INFO). It stays whatever fences bring, and when the group is over:
  /// programs ask by its context identifier, which is used once.
  /// Source: Open MPI 5, `ompi_comm_ext_cid_new_block`.
  void store_given(uint32_t rank, std::vector<key_value> entries);

  /// Forgets what has come of a process on another node, but for what it has given
  /// to groups.
  void forget_remote(uint32_t rank);

  /// The same for a fence that brings no more than a digest of what the process
  /// has posted (`posted_digest`).
  /// @returns false if the last one has brought the same: all is kept then.
  bool forget_fenced(uint32_t rank, uint64_t digest);

  /// Forgets all that the former life of a process has posted, here or on
  /// another node.
  void forget_life(uint32_t rank);

  /// How often fences have replaced data of a process on another node, or had them
  /// forgotten: an answer that was asked for at another count is old.
  uint64_t age_of(uint32_t rank) const;

  /// Whether `rank` has committed, if only nothing.
  bool has_committed(uint32_t rank) const;

  /// Whether `rank` has been refused this key since it last posted it: nobody
  /// is to wait for it. Null: any key.
  bool was_refused(uint32_t rank, const std::string* key) const;

  /// What a process on the same node may see of `rank`, by the names that
  /// `storage_key` gives.
  const std::map<std::string, value>& visible_here(uint32_t rank) const;

  /// What `rank` has posted under a name that `storage_key` gives, whoever may see
  /// it; of two values, that of this node. Null: nothing.
  const value* find(uint32_t rank, const std::string& name) const;

  /// What processes on other nodes may see of `rank`.
  std::vector<key_value> visible_elsewhere(uint32_t rank) const;

  /// Whether `rank` has posted so much that whoever wants a key of it gets that
  /// one only: an answer is a message, which has a bound.
  bool is_large(uint32_t rank) const;

  /// Bytes posted by all ranks.
  size_t size_bytes() const {
    return size_bytes_;
  }

private:
  status merge(uint32_t rank, const std::vector<posted_data>& blocks);

  bool has_others(uint32_t rank, const std::vector<key_value>& entries) const;

  void forget_all_of(uint32_t rank);

  struct posted {
    std::map<std::string, value> here;

    /// What of `here` has been given to groups.
    std::set<std::string> given;

    /// What of `here` other nodes see as well.
    std::set<std::string> shared;

    /// What other nodes see, and processes here do not, or not so.
    std::map<std::string, value> elsewhere;
    size_t size_bytes = 0;
  };

  /// Who sees what under a name; null: nothing.
  struct views {
    const value* here = nullptr;
    const value* elsewhere = nullptr;

    /// Whether one value does for both.
    bool is_shared() const;
  };

  static views seen_of(const posted& x, const std::string& name);

  static size_t cost_of(const std::string& name, const views& x);

  static void keep(posted& to, const std::string& name, const views& x);

  limits bounds_;
  news_of news_;
  std::function<void(size_t)> on_growth_;
  std::function<void(uint32_t)> on_refusal_;
  std::function<void(uint32_t, const std::vector<key_value>&)> on_remote_;
  std::function<void(uint32_t)> on_forgotten_;
  std::map<uint32_t, posted> ranks_;

  /// Of processes on other nodes.
  struct fenced {
    uint64_t age = 0;

    /// Absent: the last fence has brought all.
    std::optional<uint64_t> digest;
  };

  std::map<uint32_t, fenced> fenced_;

  /// The keys that ranks have been refused.
  std::map<uint32_t, std::set<std::string>> refused_;
  size_t size_bytes_ = 0;
};

/// What keeping a key and its value costs besides their bytes.
inline constexpr size_t entry_overhead = 128;

/// Roughly how many bytes a value occupies; for bounds, not for allocation.
size_t size_of(const value& x);

/// Cuts what is committed into parts of so many bytes of keys and values; one
/// entry that is larger is a part of its own.
std::vector<commit_request> parts_of(commit_request x, size_t bytes);

} // namespace troupe
