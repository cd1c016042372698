#pragma once

#include "actors/data/job_locations.hpp"
#include "actors/mesh/embedded/job_meeting.hpp"
#include "actors/mesh/exchange/host_calls.hpp"
#include "messages/actors.hpp"

#include <caf/event_based_actor.hpp>

namespace troupe {

/// The standard streams of a job between its servers: each tells the others what
/// its desk wants, and gets that of each stream once. Part of a JOB MESH, whose
/// promises it makes.
class job_mesh_streams {
public:
  /// The streams of this node.
  struct desk {
    /// None: it has none.
    io_desk_actor actor;

    /// What the desk takes the first node of the job for.
    uint32_t first_node = 0;
  };

  /// Asks the server of another node.
  using asker =
    std::function<void(uint32_t node, host_question, mesh_calls::completion)>;

  /// @param places, meeting Outlive this.
  job_mesh_streams(caf::event_based_actor* self, desk streams,
                   const registered_map& where, const job_locations& places,
                   job_meeting& meeting, asker ask);

  // -- for the desk of this node --

  caf::result<ack> want(io_interest& what);
  caf::result<ack> send(uint32_t node, io_fragment& what);
  caf::result<io_fragment> fetch(io_fetch& what);
  caf::result<io_input_taken> give(io_input& what);

  // -- the same for members --

  void take(uint32_t from, io_interest& what,
            const mesh_calls::answerer& reply);
  void take(uint32_t from, io_fragment& what,
            const mesh_calls::answerer& reply);
  void take(uint32_t from, io_fetch& what, const mesh_calls::answerer& reply);
  void take(uint32_t from, io_input& what, const mesh_calls::answerer& reply);

  /// Tells a new member what this node wants.
  void tell_wanted(uint32_t node);

  void lose_node(uint32_t node);

private:
  const std::string& nspace() const {
    return where_.map.nspace;
  }

  uint32_t rank() const {
    return where_.own;
  }

  const std::set<uint32_t>& live() const {
    return meeting_.live();
  }

  /// Asks the desk for a member.
  template <class T, class... Ts>
  void ask_desk(const mesh_calls::answerer& reply, Ts... xs);

  caf::event_based_actor* self_;
  desk desk_;
  const registered_map& where_;
  const job_locations& places_;
  job_meeting& meeting_;
  asker ask_;

  /// What this node wants of the streams of the others.
  io_interest wanted_;
};

} // namespace troupe
