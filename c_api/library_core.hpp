#pragma once

#include "c_api/library.hpp"
#include "c_api/value_keeper.hpp"

#include <caf/actor.hpp>

#include <thread>

namespace troupe::c_api {

class group_book;
class input_pusher;
class output_handlers;

/// What exists between the first init and the last finalize. Virtual is what
/// the server's half calls as well; see `library`.
class library_core {
public:
  /// Starts the loop, and its thread unless the program drives progress.
  explicit library_core(bool external);

  virtual ~library_core();

  library_core(const library_core&) = delete;

  library_core& operator=(const library_core&) = delete;

  /// Ends the loop: what was asked is answered with errors first.
  void shut_down();

  /// Whether the calling thread runs the loop of some core. Costs no lock.
  static bool runs_some_loop() noexcept;

  /// Starts the actor that asks sessions of this process.
  void start_asker();

  /// Runs the loop, or waits for somebody who does, until `is_done`.
  template <class F>
  void drive(F is_done) {
    auto lock = std::unique_lock{drive_mutex_};
    while (!is_done()) {
      if (is_driven_) {
        drive_changed_.wait(lock);
        continue;
      }
      is_driven_ = true;
      lock.unlock();
      run_loop();
      lock.lock();
      is_driven_ = false;
      drive_changed_.notify_all();
    }
  }

  /// Makes those in `drive` look whether they are done.
  virtual void interrupt();

  /// One pass of the loop, unless somebody runs it already.
  void progress();

  const bool is_external;
  loop_system loop;
  const std::shared_ptr<process_store> store =
    std::make_shared<process_store>();

  value_keeper kept;

  /// Handlers of output, once the loop runs.
  std::shared_ptr<output_handlers> outputs;

  /// Who is in which group.
  const std::shared_ptr<group_book> groups;

  /// Every server we are connected to.
  std::vector<std::shared_ptr<link>> links; // guarded by mutex

  // -- of the thread of the loop --
  caf::actor asker_handle; // An actor that nobody refers to is gone.
  caf::event_based_actor* asker = nullptr;
  std::function<void(event_batch)> on_events;
  std::function<void(io_delivery, output_receipt)> on_output;
  std::function<void()> on_server;
  std::shared_ptr<input_pusher> inputs;

  mutable std::mutex mutex;
  proc_id self;             // guarded by mutex
  proc_id server;           // guarded by mutex
  client_actor session;     // guarded by mutex
  std::shared_ptr<link> to; // guarded by mutex

private:
  virtual void run_loop();

  std::thread thread_;
  std::mutex drive_mutex_;
  std::condition_variable drive_changed_;
  bool is_driven_ = false; // guarded by drive_mutex_
};

/// Remembers the connections of this process, so that a forked child can close
/// its copies.
void remember_for_fork(link* x) noexcept;
void forget_for_fork(link* x) noexcept;

} // namespace troupe::c_api
