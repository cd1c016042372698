#pragma once

#include "actors/mesh/embedded/mesh_greeting.hpp"
#include "actors/mesh/embedded/registered_map.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <set>

namespace troupe {

namespace defaults {

/// Requests that wait for the mesh of one job.
inline constexpr size_t mesh_waiting_requests = 4096;

} // namespace defaults

/// How the servers of a job find each other: each puts a greeting into the first
/// fence of the whole job that goes through the resource manager's host. Whoever
/// has greeted takes part; they meet once all of these are live members, or
/// after a while without the others. Requests wait for that, for a bounded time.
///
/// A plain class: what it wants done are calls of `effects`, which may come
/// before its own calls return.
class job_meeting {
public:
  /// How far it is.
  enum class phase : uint8_t {
    apart,   ///< the servers have not greeted each other
    joining, ///< they have, and meet
    ready,   ///< requests are carried out
    failed,  ///< requests are refused
  };

  using greetings = std::map<uint32_t, mesh_greeting>;

  /// Gets what the fence brought, without greetings, or why it failed.
  using fence_handler =
    std::function<void(caf::expected<host_collective_result>)>;

  /// Comes once the servers have met, or with why they have not.
  using ready_handler = std::function<void(const caf::error&)>;

  struct effects {
    std::function<void(std::chrono::nanoseconds delay,
                       std::function<void()> then)>
      after;

    /// Lets a node in, with this certificate only.
    std::function<caf::error(uint32_t rank, std::string_view certificate)>
      trust;

    /// Has the host carry out a fence.
    std::function<void(host_collective, fence_handler)> fence;

    /// Makes this node a member of the job's mesh.
    /// @param others By rank, all that take part.
    std::function<void(const greetings& others)> join;

    journal log;
  };

  /// @param where Outlives this.
  job_meeting(const registered_map& where, effects out);

  // -- this node --------------------------------------------------------------

  /// The job has no other node.
  void stay_alone();

  /// Takes part.
  /// @param own Greeting of this node, but for its addresses.
  void begin(mesh_greeting own);

  /// Where this node takes lanes; it greets nobody before it knows.
  void set_addresses(std::vector<node_address> known);

  /// Nothing comes of it: waiting requests are refused.
  void fail(std::string why, severity level = severity::error);

  /// The job is over.
  void leave();

  // -- from the server --------------------------------------------------------

  /// Whether a fence can bring the greeting of this node.
  bool wants(const host_collective& call) const;

  /// Takes such a fence.
  void fence(host_collective call, fence_handler then);

  void when_ready(ready_handler go);

  // -- members ----------------------------------------------------------------

  /// A member is live, or is no more.
  void note_live(uint32_t rank, bool is_live);

  /// Ends the wait if all are there; to be called after `note_live`.
  void check_complete();

  // -- gauges -----------------------------------------------------------------

  phase now() const {
    return now_;
  }

  /// The nodes that take part, and those that are live.
  const std::set<uint32_t>& members() const {
    return members_;
  }

  const std::set<uint32_t>& live() const {
    return live_;
  }

private:
  /// A request that waits.
  struct request {
    uint64_t id = 0;
    ready_handler go;
  };

  struct waiting_fence {
    host_collective call;
    fence_handler then;
  };

  const std::string& nspace() const {
    return where_.map.nspace;
  }

  void log(severity level, const std::string& line) const;
  void release_fences();
  void greet(waiting_fence x);
  void meet(std::vector<mesh_greeting> others);
  void become_member(const greetings& others);
  void set_ready();
  void refuse_waiting();

  const registered_map& where_;
  effects out_;
  phase now_ = phase::apart;

  /// Why requests are refused.
  std::string trouble_;

  mesh_greeting own_;
  bool knows_addresses_ = false;
  bool has_greeted_ = false;
  std::list<waiting_fence> fences_;
  std::set<uint32_t> members_;
  std::set<uint32_t> live_;
  std::list<request> waiting_;
  uint64_t next_waiting_ = 1;
};

} // namespace troupe
