#pragma once

#include "actors/control/checkpoint_round.hpp"
#include "actors/control/cleanup_request.hpp"
#include "messages/actors.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// What processes have registered to be removed when their job is over.
class cleanup_book {
public:
  /// @returns `out_of_resource` if the job has registered too much.
  caf::error add(const std::string& nspace, std::vector<cleanup_path> paths);

  /// The paths of a job, which are forgotten.
  std::vector<cleanup_path> take(const std::string& nspace);

  /// All paths, which are forgotten.
  std::vector<cleanup_path> take_all();

private:
  std::map<std::string, cleanup_list> jobs_;
};

/// What a server keeps of its processes' job control requests, whatever its
/// host does with them.
/// Source: RFC0015: checkpoint methods are registered "with the local server";
/// PMIx Standard v5, PMIX_REGISTER_CLEANUP, which OpenPMIx keeps likewise.
class local_declarations {
public:
  /// What is left of a request for the host.
  struct remainder {
    /// None: nothing is.
    std::vector<info> directives;

    /// Whether the server has kept all of it, so that a host that does not
    /// take it is no refusal.
    bool is_kept = false;
  };

  /// @param uid The user whose files may be removed: that of the server.
  local_declarations(std::shared_ptr<cleanup_book> book, uint32_t uid);

  /// Keeps what is for the server. A request to checkpoint that does not say
  /// how gets the first method that a target has registered.
  /// @returns why the request is refused; then nothing is kept.
  caf::expected<remainder> take(const requester& who,
                                const job_control_request& request);

  /// The answer to a query for checkpoint methods or whether a job can be
  /// preempted, of the process that PMIX_PROCID names, or else of the
  /// requester.
  /// @returns nothing if a key is another.
  std::optional<std::vector<info>> answer(const requester& who,
                                          const query& question) const;

  void proc_ended(const proc_id& proc);

  void job_ended(const std::string& nspace);

private:
  const checkpoint_method* method_for(const requester& who,
                                      std::vector<proc_id> targets) const;

  std::shared_ptr<cleanup_book> book_;
  uint32_t uid_;
  checkpoint_methods methods_;

  /// The method that each process prefers.
  std::map<proc_id, checkpoint_method> first_;
};

/// A HOST before that of an embedding daemon: keeps what is for the local
/// server, see `local_declarations`; everything else goes to the other host.
/// Takes `deregister_nspace` as well: what the job leaves is removed. Ends with
/// the other host, and that with it.
/// @param desk Knows the streams of this node, for queries; may be missing.
host_actor spawn_local_control(caf::actor_system& sys, host_actor host,
                               cleaner_actor cleaner,
                               std::shared_ptr<cleanup_book> book, uint32_t uid,
                               io_desk_actor desk = {});

} // namespace troupe
