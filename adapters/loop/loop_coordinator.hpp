#pragma once

#include "adapters/loop/loop_clock.hpp"
#include "adapters/loop/printer.hpp"
#include "adapters/loop/run_queue.hpp"

#include <caf/scheduler/abstract_coordinator.hpp>

#include <chrono>

namespace troupe {

class event_loop;

/// Makes an event loop the scheduler and the clock of an actor system, which
/// then has no threads of its own. All that CAF offers keeps working, from
/// other threads too, except what blocks: on the thread of the loop it would
/// wait for itself. That includes CAF's groups, whose end blocks.
class loop_coordinator : public caf::scheduler::abstract_coordinator {
public:
  /// How long actors may go on working off their mail when the system stops.
  static constexpr auto grace = std::chrono::milliseconds{100};

  /// @param print Gets what actors print; on the thread of the loop.
  loop_coordinator(caf::actor_system& sys, event_loop& loop, line_sink print);

  /// Makes this the scheduler of the system that is built from `cfg`.
  static void load(caf::actor_system_config& cfg, event_loop& loop,
                   line_sink print);

  void start() override;

  /// Lets actors work off their mail, then drops all timeouts and ends all
  /// actors: handles that are left refer to dead ones. No thread may be in
  /// `event_loop::run` or use the system; prints how many scoped actors and
  /// others do so all the same.
  void stop() override;

  void init(caf::actor_system_config& cfg) override;

  void enqueue(caf::resumable* job) override {
    queue_.post(job);
  }

  caf::actor_clock& clock() noexcept override {
    return clock_;
  }

  bool detaches_utility_actors() const override {
    return false;
  }

private:
  line_sink print_;
  actor_roster roster_;
  loop_clock clock_; // Outlives the queue, whose actors cancel timeouts.
  run_queue queue_;
};

} // namespace troupe
