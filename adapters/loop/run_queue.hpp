#pragma once

#include "adapters/loop/loop_event.hpp"

#include <caf/actor_control_block.hpp>
#include <caf/execution_unit.hpp>
#include <caf/fwd.hpp>

#include <chrono>
#include <deque>
#include <mutex>
#include <unordered_set>
#include <vector>

namespace troupe {

class event_loop;

/// The actors of a system that have begun and not ended. CAF only counts them,
/// so it can neither end those that refer to each other nor those that keep a
/// promise; with this list a system can. Safe on any thread.
class actor_roster {
public:
  void add(caf::abstract_actor* x);

  /// Has to come before `x` is destroyed; no effect if not listed.
  void remove(caf::abstract_actor* x);

  /// Lists everybody. No thread may be ending actors meanwhile.
  std::vector<caf::strong_actor_ptr> all() const;

private:
  mutable std::mutex mutex_;
  std::unordered_set<caf::abstract_actor*> actors_; // guarded by mutex_
};

/// Runs actors on the thread of an event loop: the queue of those that have
/// mail. CAF queues an actor once however much mail it has, so the queue is
/// never longer than the number of actors.
///
/// An actor that is woken by a callback of the loop runs in the same pass. All
/// together run for one `turn`, each for at most `messages_per_job` messages;
/// then the sockets are looked at. What other threads queued joins at the
/// begin of a turn, so that busy actors cannot keep it waiting.
class run_queue : public caf::execution_unit {
public:
  /// Messages an actor may handle before the next one has its turn.
  static constexpr size_t messages_per_job = 32;

  /// @param roster Gets the actors that begin.
  run_queue(caf::actor_system& sys, event_loop& loop, actor_roster& roster);

  /// Drops what is left.
  ~run_queue() override;

  /// Queues `job`, an actor of another system where that has it run, and takes
  /// over one reference to it. Safe on any thread.
  void post(caf::resumable* job);

  void exec_later(caf::resumable* job) override {
    post(job);
  }

  /// Runs jobs without the loop until none is left or `deadline` has passed.
  /// Nobody may be in `event_loop::run`.
  void run_until(std::chrono::steady_clock::time_point deadline);

  /// Ends every actor that has begun, and those that their end wakes or spawns.
  /// Comes to an end also with actors that keep themselves busy. Nobody may be
  /// in `event_loop::run`.
  void kill_all();

private:
  void run_turn();
  bool take_posted() noexcept;
  caf::resumable* pop();
  void run(caf::resumable* job);
  void kill(caf::resumable* job);

  event_loop& loop_;
  actor_roster& roster_;
  std::deque<caf::resumable*> jobs_; // of the thread of the loop
  bool is_running_jobs_ = false;
  bool is_turn_due_ = false;

  std::mutex mutex_;
  std::vector<caf::resumable*> posted_; // guarded by mutex_
  loop_event ready_;
};

} // namespace troupe
