#pragma once

#include "actors/data/get_options.hpp"
#include "actors/data/packed_ranks.hpp"
#include "messages/collective.hpp"
#include "messages/data.hpp"
#include "messages/proc_id.hpp"
#include "messages/spawn.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace troupe {

/// The data of processes in the memory of one of them: of its job, of other
/// jobs that it has heard of, and what it posts itself. Answers PMIx_Get where
/// that needs nobody else. Safe on any thread.
///
/// Everything from outside has its bounds already when it comes here: values
/// are no larger than the message that brought them.
class process_store {
public:
  /// What a key is looked up for; it lives where whoever looks it up has it.
  struct target {
    const proc_id& proc;

    /// Absent: everything that is known of the process.
    std::optional<std::string_view> key;
  };

  // -- who we are --

  void set_self(proc_id self, std::string hostname);

  // -- what comes from the server --

  /// Takes the data of a job. The job level and ranks are replaced key by key.
  /// @param more Data of ranks that come after those; null: there are none.
  void add_job(job_info x, std::unique_ptr<packed_ranks> more = nullptr);

  /// The same for a job that was spawned.
  void add_job(const spawn_result& x);

  /// Takes data of processes that were asked for; the wildcard rank stands for the
  /// job. What a process has posted is kept until it is forgotten.
  void add(const proc_data& x);

  /// Forgets what was fetched of what a process has posted; of all of a job, if
  /// the rank is the wildcard.
  void forget(const proc_id& proc);

  /// Forgets a namespace.
  void forget_job(const std::string& nspace);

  // -- what the process posts --

  /// Posts a key; it travels with the next commit unless its scope is
  /// `internal`.
  void put(scope visible_to, std::string_view key, value x);

  /// Takes a key back from those of a scope, its values with qualifiers as well:
  /// from this process at once, from others with the next commit. A key that they
  /// were not to see stays so. Source: OpenPMIx 7, PMIX_DEL_GLOBAL.
  /// @param can_tell Whether the server understands that a key is taken back.
  /// @returns `not_supported` if it does not, and has the key already.
  status take_back(scope visible_to, const std::string& key, bool can_tell);

  /// Whether this process has taken its key back from those of this node and the
  /// server has not heard of it: nobody else is to be asked for it.
  bool has_taken_back(const target& x) const;

  /// Keeps a value for this process only. Source: `PMIx_Store_internal`.
  void store(const proc_id& proc, std::string key, value x);

  /// What has become of a key since the last commit; it lives as long as the store
  /// is locked.
  struct news {
    /// As `storage_key` says.
    std::string_view name;

    /// Null: it is taken back.
    const value* val = nullptr;

    /// Local, remote or global: who is to see that.
    scope whose = scope::undef;
  };

  /// Calls `use` with what has been posted since the last commit, what is taken
  /// back first, while the store is locked; not if there is nothing.
  /// @param use Says whether that has been committed now.
  /// @returns false if it has not: then `take_commit` has it.
  template <class F>
  bool commit(F use) {
    const auto guard = std::lock_guard{mutex_};
    if (!has_news_)
      return true;
    const auto& all = list_news();
    if (!all.empty() && !use(all))
      return false;
    note_commit();
    return true;
  }

  /// The same, for the server.
  commit_request take_commit();

  // -- lookups --

  /// Calls `use` with the value, while the store is locked.
  /// @returns `success`, or `not_found`.
  template <class F>
  status get(const target& x, const get_options& options, F use) const {
    if (is_nowhere(x, options))
      return status::not_found;
    const auto guard = std::lock_guard{mutex_};
    if (const auto* found = find(x, options)) {
      use(*found);
      return status::success;
    }
    if (const auto made = make(x, options)) {
      use(*made);
      return status::success;
    }
    return status::not_found;
  }

  /// Whether a namespace is known.
  bool knows(const std::string& nspace) const;

  /// The processes of a namespace on a node; an empty namespace means all, an
  /// empty node ours.
  /// @returns nothing if the namespace or its peers on that node are not known.
  std::optional<std::vector<proc_id>> peers(const std::string& node,
                                            const std::string& nspace) const;

  /// The nodes of a namespace, comma separated; nothing if not known.
  std::optional<std::string> nodes(const std::string& nspace) const;

  /// All namespaces that are known.
  std::vector<std::string> nspaces() const;

private:
  using entries = std::map<std::string, value, std::less<>>;

  /// Data of a node, an application or a session.
  struct part {
    entries data;
  };

  struct job {
    entries data;
    std::unordered_map<uint32_t, entries> ranks;

    /// What of those nobody has asked for; null: nothing.
    std::unique_ptr<packed_ranks> packed;

    /// What of those has been fetched and may be posted anew.
    std::unordered_map<uint32_t, entries> fetched;
    std::vector<part> nodes;
    std::vector<part> apps;
    std::vector<part> sessions;
  };

  struct posted {
    value val;

    /// `undef`: it has been taken back from this process.
    scope visible_to = scope::undef;
    bool is_committed = false;

    /// Whether it stands in `fresh_`.
    bool is_fresh = false;

    /// The scopes in which the server has a value of this name, as bits.
    uint8_t told = 0;
  };

  using posts = std::map<std::string, posted, std::less<>>;

  /// What the next commit takes back: from which scopes, as bits, and of a value
  /// with qualifiers itself.
  struct removal {
    uint8_t from = 0;
    value val;
  };

  /// Whether a key of another process is not here for sure; a quick look, which
  /// takes no lock. What neighbours post lies in the memory that they share, so
  /// that most processes never keep any of it.
  bool is_nowhere(const target& x, const get_options& options) const {
    return !has_keys_of_ranks_ && x.key && !is_reserved_key(*x.key)
           && x.proc.rank <= rank_valid_max && x.proc.rank != own_rank_
           && options.qualifiers.empty() && !options.node_info
           && !options.app_info && !options.session_info;
  }

  job& job_of(const std::string& nspace);
  void note_key(std::string_view key);
  void add_entry(job& to, const key_value& x);
  void add_rank(job& to, uint32_t rank, std::vector<key_value> xs);
  static void unpack(const job& x, uint32_t rank);
  static void unpack_all(const job& x);
  static const entries* rank_in(const job& x, uint32_t rank);
  static entries all_of(const job& x, uint32_t rank);
  static const value* find_posted(const job& x, uint32_t rank,
                                  std::string_view key);
  static void add_part(std::vector<part>& to, const value& x,
                       std::string_view id, std::string_view other_id);

  const job* find_job(const std::string& nspace) const;
  const value* find(const target& x, const get_options& options) const;
  const value* find_in_rank(const job& x, const proc_id& proc,
                            std::string_view key, scope wanted) const;
  const value* find_in_level(const job& x, uint32_t rank, std::string_view key,
                             key_level level) const;
  const value* find_anywhere(const job& x, const proc_id& proc,
                             std::string_view key) const;
  const part* node_of(const job& x, uint32_t rank,
                      const get_options& options) const;
  const part* app_of(const job& x, uint32_t rank,
                     const get_options& options) const;
  const part* session_of(const job& x, const get_options& options) const;
  const value* find_with_qualifiers(const target& x,
                                    const get_options& options) const;
  std::optional<value> make(const target& x, const get_options& options) const;
  std::optional<value> make_local_procs(const job& from, const proc_id& whose,
                                        const get_options& options) const;

  posts::iterator place_of_post(std::string_view key, const value& x);
  void sort_fresh();
  const std::vector<news>& list_news();
  void note_commit();

  mutable std::mutex mutex_;
  proc_id self_;                                        // guarded by mutex_
  std::string hostname_;                                // guarded by mutex_
  std::unordered_map<std::string, job> jobs_;           // guarded by mutex_
  posts posted_;                                        // guarded by mutex_
  std::map<std::string, removal, std::less<>> removed_; // guarded by mutex_
  bool has_news_ = false;                               // guarded by mutex_

  /// Whether there is something in `removed_`: most lookups need no more.
  std::atomic<bool> has_removed_{false};

  /// Whether some rank has, or has had, a key that is not reserved, beside what
  /// this process posts; and the rank of `self_`.
  std::atomic<bool> has_keys_of_ranks_{false};
  std::atomic<uint32_t> own_rank_{rank_undef};

  /// What has been posted since the last commit, and room to list it.
  std::vector<posts::iterator> fresh_; // guarded by mutex_
  std::vector<news> news_;             // guarded by mutex_
};

} // namespace troupe
