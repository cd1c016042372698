#pragma once

#include "actors/mesh/exchange/mesh_calls.hpp"
#include "actors/mesh/host/host_actors.hpp"
#include "base/pass_on.hpp"

#include <functional>

namespace troupe {

class connected_tools;
class dvm_jobs;
class dvm_publishing;
class environment_spread;
class event_routes;
class host_streams;
class job_locations;
class job_shares;
class log_desk;
class mesh_collectives;
class mesh_queries;

/// Why a question may not go from one host of a DVM to another, if so: some are
/// for the root alone, others only the root may ask, which decides.
caf::error check_way(const host_question& what, uint32_t from, uint32_t to);

/// Carries out what hosts ask, this one among them. Part of a MESH HOST.
class host_questions {
public:
  /// The other parts of the MESH HOST; they outlive this.
  struct parts {
    const job_locations& places;
    const connected_tools& tools;
    mesh_collectives& collectives;
    event_routes& events;
    environment_spread& environment;
    dvm_publishing& published;
    dvm_jobs& jobs;
    host_streams& streams;
    job_shares& shares;
    mesh_queries& queries;
    log_desk& logs;

    /// Whether this node takes work.
    std::function<bool()> may_work;
  };

  /// @param self The MESH HOST, whose requests it makes.
  host_questions(mesh_host_actor::pointer self,
                 const mesh_host_options& options, const host_actors& actors,
                 parts others);

  host_questions(const host_questions&) = delete;
  host_questions& operator=(const host_questions&) = delete;

  void carry_out(const mesh_calls::member& from, host_question& what,
                 const mesh_calls::answerer& reply);

private:
  struct executor;
  struct root_executor;

  void carry_out_at_root(uint32_t from, ask_root& request,
                         const mesh_calls::answerer& reply);
  caf::expected<ack> take_event(uint32_t from, deliver_event& what);
  void answer_modex(direct_modex& what, completion<get_result> done);

  mesh_host_actor::pointer self_;
  const mesh_host_options& options_;
  const host_actors& actors_;
  parts others_;
};

} // namespace troupe
