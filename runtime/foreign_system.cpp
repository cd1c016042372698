#include "runtime/foreign_system.hpp"

#include "actors/mesh/remoting/member_node.hpp"
#include "actors/mesh/remoting/neighbours.hpp"
#include "adapters/loop/send_home.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/defaults.hpp>
#include <caf/policy/work_sharing.hpp>
#include <caf/policy/work_stealing.hpp>
#include <caf/scheduler/coordinator.hpp>

#include <atomic>
#include <cstdint>

namespace troupe {

namespace {

/// A policy of CAF for a system that has neighbours. All ways by which an actor
/// gets to a worker lead through these functions.
template <class Policy>
class neighbourly : public Policy {
public:
  template <class Coordinator>
  void central_enqueue(Coordinator* self, caf::resumable* job) {
    if (!send_home(job, self->system()))
      Policy::central_enqueue(self, job);
  }

  template <class Worker>
  void internal_enqueue(Worker* self, caf::resumable* job) {
    if (!send_home(job, self->system()))
      Policy::internal_enqueue(self, job);
  }
};

template <class Policy>
class neighbourly_coordinator
  : public caf::scheduler::coordinator<neighbourly<Policy>> {
public:
  using super = caf::scheduler::coordinator<neighbourly<Policy>>;

  using super::super;

  /// Actors are told apart by number and node: two systems without a name would
  /// have actors that are one. CAF's middleman, which comes later, has a name for
  /// its own.
  void init(caf::actor_system_config& cfg) override {
    static auto count = std::atomic<uint64_t>{0};
    name_system(this->system(), {no_rank, ++count});
    super::init(cfg);
  }

protected:
  void start() override {
    add_neighbour(this->system());
    super::start();
  }

  void stop() override {
    remove_neighbour(this->system());
    super::stop();
  }
};

} // namespace

void share_handles(caf::actor_system_config& theirs) {
  theirs.module_factories.emplace_back(
    [](caf::actor_system& sys) -> caf::actor_system::module* {
      namespace standard = caf::defaults::scheduler;
      const auto policy =
        get_or(sys.config(), "scheduler.policy", standard::policy);
      if (policy == caf::atom("sharing"))
        return new neighbourly_coordinator<caf::policy::work_sharing>(sys);
      return new neighbourly_coordinator<caf::policy::work_stealing>(sys);
    });
}

} // namespace troupe
