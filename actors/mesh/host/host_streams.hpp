#pragma once

#include "actors/io/input_spread.hpp"
#include "actors/io/outlets.hpp"
#include "actors/io/output_formatter.hpp"
#include "actors/io/stream_readers.hpp"
#include "actors/io/stream_spread.hpp"
#include "actors/jobs/dvm_jobs.hpp"
#include "actors/mesh/exchange/host_calls.hpp"
#include "actors/mesh/host/host_actors.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// The standard streams of jobs, as far as they concern other nodes, or whoever
/// started or reads them: between the I/O DESK of a node and the other hosts.
/// The rules are in `stream_spread`, `stream_readers`, `outlets` and
/// `input_spread`. Part of a MESH HOST.
class host_streams {
public:
  /// Whether processes of a job run on this node.
  using runs_here = std::function<bool(const std::string& nspace)>;

  /// @param self The MESH HOST, whose messages it carries on.
  /// @param places Shared with whoever marks output with hosts.
  /// @param jobs   The jobs of the DVM, at the root.
  host_streams(mesh_host_actor::pointer self, const mesh_host_options& options,
               const host_actors& actors, host_calls& calls,
               std::shared_ptr<const job_locations> places, dvm_jobs& jobs,
               runs_here is_here);

  host_streams(const host_streams&) = delete;
  host_streams& operator=(const host_streams&) = delete;

  stream_spread& spread() {
    return spread_;
  }

  outlets& outputs() {
    return outlets_;
  }

  /// The hosts of processes, for the thread of the MESH HOST only.
  output_formatter::hosts hosts() const;

  // -- jobs --

  /// A process or tool of this node wants a job.
  void spawn(const requester& who, spawn_request& request,
             completion<spawn_result> done);

  /// A job begins, here or elsewhere.
  void begin(const prepare_share& order);

  /// A job is over everywhere.
  /// @param then Comes once whoever started it has everything, and other sinks
  ///             have, too, or have had the time.
  void end(const std::string& nspace, std::function<void()> then);

  // -- readers: processes and tools of this node that ask for output --

  caf::result<io_pull_result> pull(const requester& who,
                                   io_pull_request& request);

  caf::result<ack> deregister(const requester& who,
                              const io_deregister_request& request);

  /// Ends what a requester reads, which is gone.
  void drop_readers(const requester& who);

  // -- input --

  /// For processes of any node.
  void give(io_input what, completion<io_input_taken> done) {
    inputs_.give(std::move(what), done);
  }

  void push(const requester& who, io_push_request& request,
            completion<ack> done);

  /// For processes of this node, from another.
  void take_input(uint32_t from, io_input& what,
                  completion<io_input_taken> done);

  // -- at the root --

  /// The jobs that a requester may watch, of those that it names.
  caf::expected<nspace_list> watchable(const requester& who,
                                       const io_pull_request& request) const;

  /// Input for a requester of a node that is not the origin.
  void push_at_root(const requester& who, io_push_request& request,
                    completion<ack> done);

private:
  class spread_effects;
  class outlet_effects;

  void subscribe(io_subscription what, const output_sink_actor& sink,
                 completion<uint64_t> then);
  void unsubscribe(uint64_t subscription);
  output_sink_actor make_sink(tool_output_options options);
  void watch(stream_readers::watch x);
  void tell_standing(completion<ack> done);
  void end_reader(const stream_readers::reader& x);
  void end_reader(uint64_t number);
  void ask_what_to_watch(uint64_t number, const requester& who,
                         io_pull_request request,
                         completion<io_pull_result> done);
  void locate_each(const std::vector<std::string>& nspaces,
                   std::function<void(std::vector<std::string>&)> then);
  void begin_reader(uint64_t number, const std::vector<std::string>& nspaces,
                    const completion<io_pull_result>& done);
  void push(io_push_request& request, input_spread::targets targets,
            completion<ack> done);
  input_spread::effects means_of_input();

  mesh_host_actor::pointer self_;
  const mesh_host_options& options_;
  const host_actors& actors_;
  host_calls& calls_;
  std::shared_ptr<const job_locations> places_;
  dvm_jobs& jobs_;
  runs_here runs_here_;
  stream_spread spread_;
  stream_readers readers_;
  outlets outlets_;
  input_spread inputs_;
};

} // namespace troupe
