#pragma once

#include "adapters/networks/network.hpp"

#include <functional>
#include <memory>

namespace troupe {

/// Runs a network, on the loop of its owner or with a loop and a thread of its
/// own; the owner hears of it on the owner's loop in either case. For the
/// thread of the owner's loop only. Source: requirement O8.
class network_runner {
public:
  /// @param main     The owner's loop.
  /// @param settings `is_member` has to be safe on any thread; the rest is
  ///                 called on the owner's loop.
  /// @param owner    Outlives the runner, and does not destroy it in a call.
  network_runner(event_loop& main,
                 std::shared_ptr<const secure_context> context,
                 network_settings settings, network_owner& owner,
                 bool own_thread);

  /// Cuts all lanes; the owner hears no more.
  ~network_runner();

  network_runner(const network_runner&) = delete;

  network_runner& operator=(const network_runner&) = delete;

  /// Calls `f` on the network's loop, in the order of the calls: at once if
  /// that is the owner's.
  void run(std::function<void(network&)> f);

  /// The network if it is on the owner's loop.
  network* here() const noexcept {
    return here_.get();
  }

private:
  class thread;

  std::unique_ptr<network> here_;
  std::unique_ptr<thread> elsewhere_;
};

} // namespace troupe
