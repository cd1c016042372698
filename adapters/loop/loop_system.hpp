#pragma once

#include <caf/fwd.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace troupe {

class event_loop;
class thread_pool;

/// Everything a process runs on: an event loop, an actor system on that loop,
/// and a thread pool for what blocks. Only the pool has threads, and only while
/// there is work for them. The actor system is built when somebody asks for it: a
/// process that spawns no actor, as most clients, does not pay for one.
///
/// Construct it, spawn actors, call `run`; from then on everything happens on
/// the thread in `run`. To end: tell the root actors to quit, `stop`, destroy.
class loop_system {
public:
  struct settings {
    /// Completes the configuration, when the actor system is built: message
    /// types, modules.
    std::function<void(caf::actor_system_config&, event_loop&)> configure;

    /// Gets what actors and CAF print, line by line; dropped if empty. Must not
    /// throw.
    std::function<void(std::string)> print;

    /// Whether the loop takes nothing of the system before it is needed.
    bool starts_late = false;
  };

  loop_system();

  explicit loop_system(settings x);

  /// Ends in order: the pool, posted tasks, actors (who get a short while to
  /// work off their mail, see `loop_coordinator::stop`), the loop. Waits for no
  /// request, timer or handle. Nobody may be in `run` or use the system; scoped
  /// actors must be gone.
  ~loop_system();

  loop_system(const loop_system&) = delete;

  loop_system& operator=(const loop_system&) = delete;

  /// Runs loop and actors on the calling thread until somebody calls `stop`.
  void run();

  /// Ends `run`; see `event_loop::stop`. Safe on any thread.
  void stop() noexcept;

  event_loop& loop() noexcept {
    return *loop_;
  }

  /// The actor system; builds it at the first call. Safe on any thread.
  caf::actor_system& actors();

  thread_pool& pool() noexcept {
    return *pool_;
  }

private:
  void build();

  settings settings_;
  std::unique_ptr<event_loop> loop_;
  std::unique_ptr<thread_pool> pool_;
  std::once_flag is_built_;
  std::unique_ptr<caf::actor_system_config> config_;
  std::unique_ptr<caf::actor_system> actors_;
};

} // namespace troupe
