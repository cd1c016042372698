#pragma once

#include "actors/server/registry.hpp"
#include "base/journal.hpp"
#include "base/pass_on.hpp"
#include "messages/connection.hpp"

#include <caf/timespan.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

namespace defaults {

using namespace std::chrono_literals;

/// How long a get without a time-out waits for a key that its process has not
/// posted although it has committed others. Source: OpenPMIx, which programs
/// rely on, waits 2 s.
inline constexpr auto get_wait = 2s;

/// What a process may post in shared memory at least, or there is none: a
/// commit has to meet its bound.
inline constexpr size_t least_shared = size_t{16} << 10;

} // namespace defaults

/// Data of processes and of jobs: what processes of this node post and ask for,
/// what other nodes ask for, and jobs that run on other nodes only.
/// Source: PMIx Standard v5, `PMIx_Commit`, `PMIx_Get`.
class gets {
public:
  struct effects {
    /// Asks the host for data of a process on another node, or of a job.
    std::function<void(direct_modex, completion<get_result>)> ask_host;

    std::function<void(caf::timespan, std::function<void()>)> call_later;
    journal log;
  };

  /// @param bounds How much processes may keep posted; for messages.
  /// @param spans_nodes Whether the host knows jobs that run elsewhere.
  gets(registry& known, const datastore::limits& bounds, bool spans_nodes,
       effects out);

  /// Everything of its own job for a process; that it is in the memory that they
  /// share (`job_in_memory_key`) for one that posts there.
  caf::expected<job_info_reply> job(const requester& who) const;

  /// Keeps what a process posts.
  /// @returns why it is refused, if so.
  caf::error commit(const requester& who, const commit_request& request);

  /// Answers now, or when the key is posted, its process ends, or its time is
  /// up.
  void get(const requester& who, get_request request,
           completion<get_result> reply);

  /// What is here of a process that has posted it for the members of a group,
  /// which ask for a key of it: at once.
  caf::expected<get_result> exchanged(const get_request& request) const;

  /// Makes the memory in which the processes of a namespace post, if they may.
  /// @returns null if they share none.
  std::shared_ptr<job_memory> share(namespace_entry& entry,
                                    const std::string& nspace,
                                    const job_memory_maker& make);

  /// What a process has posted, as it is now; of one of another node, what the
  /// host brings. Source: PMIx Standard v5, PMIX_GET_REFRESH_CACHE.
  void refresh(const proc_id& target, completion<refresh_cache_result> reply);

  /// Data of a local process for another node.
  void answer_modex(const direct_modex& request, completion<get_result> reply);

  /// Keeps what a fence of the host brings of processes of other nodes: all that
  /// they show there.
  void store(std::vector<proc_data> data);

  /// Keeps what members of a group on other nodes had posted when they called.
  void store_exchanged(std::vector<proc_data> data);

  /// What a process posts is with us from now on, and not in shared memory.
  void take_over(const proc_id& proc);

  /// A process does not see the memory that it has been told of: hands it over, or
  /// goes on without.
  /// @param code The number of the system's error.
  /// @param inbox Where it takes it; empty: nowhere.
  /// @returns an error if nothing was handed over although it would take it.
  caf::error note_unseen(const requester& who, int32_t code,
                         const std::string& inbox);

  /// Answers whoever waits for data of `proc` and can be answered now;
  /// everybody if the process is gone.
  void wake(const proc_id& proc);

  /// A connection is over: nobody is there any more to take the answers.
  void forget(uint32_t session);

  /// A job is over.
  void forget(const std::string& nspace);

  /// The first of the namespaces that runs on other nodes, or nowhere, and has
  /// to be fetched.
  std::optional<std::string>
  first_elsewhere(const std::vector<proc_id>& procs) const;

  /// Gets the data of a job of other nodes from its host, once.
  /// @param then Gets an empty error when the namespace is known.
  void fetch(const requester& who, const std::string& nspace,
             std::function<void(const caf::error&)> then);

  /// Gets that wait.
  size_t waiting() const {
    return gets_.size();
  }

  /// Requests of other nodes that wait.
  size_t modexes() const {
    return modexes_.size();
  }

  /// Namespaces that the host has been asked for.
  size_t fetches() const {
    return fetching_.size();
  }

  /// By all processes since the start.
  uint64_t bytes_posted() const;

private:
  /// A get that waits for its key.
  struct waiting_get {
    const proc_id& target() const {
      return request.target;
    }

    requester who;
    get_request request;
    completion<get_result> reply;

    /// Since a fence has overtaken the answer.
    bool asks_again = false;
  };

  /// Another node that waits for data of a local process.
  struct waiting_modex {
    const proc_id& target() const {
      return whose;
    }

    proc_id whose;

    /// The key that it must have posted; absent: any.
    std::optional<std::string> key;
    completion<get_result> reply;
  };

  /// Whether a namespace may run on other nodes only.
  bool may_be_elsewhere(const std::string& nspace) const;

  /// Takes what the server of another node says of its job.
  caf::error add_foreign(const requester& who, const std::string& nspace,
                         const get_result& found);

  caf::expected<get_result> sets_of(const proc_id& proc) const;

  /// See `datastore::age_of`.
  uint64_t age_of(const proc_id& proc) const;

  /// Keeps what the host has found of a process, and wakes who waits for it.
  /// @param age As it was when the host was asked.
  /// @returns false if a fence has overtaken the answer: it is older than what
  ///          came, and nothing of it is kept.
  bool keep(const proc_id& target, uint64_t age, get_result& found);

  /// Replaces what is known of what a process of another node has posted by what
  /// the host brings; without an answer all stays as it is.
  void renew(const proc_id& target, std::vector<info> directives,
             std::function<void()> then);

  /// What is known here of what a process has posted.
  caf::expected<refresh_cache_result> fresh(const proc_id& target) const;

  /// The answer to another node that can be given now; nothing: it may still
  /// come.
  std::optional<caf::expected<get_result>>
  answer_to_node(const proc_id& target, const std::string* key) const;

  void wake_modexes(const proc_id& proc);

  /// Has a process of the namespace, if it shares memory, tell of its next post.
  static void want(const namespace_entry& entry, const std::string& nspace,
                   const proc_id& proc);

  /// Has a process tell of its next post, since somebody waits for it.
  void watch(const proc_id& proc);

  /// Takes that back if nobody does.
  void stop_watching(const proc_id& proc) const;

  /// What a process posts goes by its connection from now on.
  void retire(const namespace_entry& entry, const proc_id& proc,
              const char* why) const;

  uint64_t wait_for(const requester& who, get_request request,
                    bool has_committed, completion<get_result> reply);

  void ask_for_remote(const get_request& request, uint64_t id);

  /// Refuses a get that waits, if it still does.
  void fail(uint64_t id, status code, const std::string& why);

  registry& known_;
  datastore::limits bounds_;
  bool spans_nodes_;
  effects out_;
  std::map<uint64_t, waiting_get> gets_;
  uint64_t next_get_ = 1;
  uint64_t renewals_ = 0;
  std::map<uint64_t, waiting_modex> modexes_;
  uint64_t next_modex_ = 1;

  /// Who waits for the data of a job of other nodes.
  std::map<std::string, std::vector<std::function<void(const caf::error&)>>>
    fetching_;
  uint64_t bytes_posted_ = 0;
};

/// Everything known of a job, the ranks as `pmix.pdata` arrays.
std::vector<key_value> whole_job(const job_info& job);

} // namespace troupe
