#pragma once

#include "adapters/lane/key_memory.hpp"
#include "adapters/loop/event_loop.hpp"
#include "tools/member_daemon.hpp"
#include "tools/remote_shell.hpp"

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// A daemon to be started.
struct node_start {
  uint32_t rank = 0;
  std::string host;

  /// The whole command, the remote shell included.
  std::vector<std::string> command;

  /// What its standard input gets, before it is closed.
  secret input;
};

/// What became of it.
struct node_outcome {
  uint32_t rank = 0;
  std::string host;

  /// What the daemon said; nothing if it did not join.
  std::optional<join_answer> joined;

  /// Why not, in one line that names the node.
  std::string failure;
};

/// Starts daemons on other nodes by remote shells, a number of them at a time.
/// For the thread of the loop.
class node_starter {
public:
  struct settings {
    /// Remote shells at a time.
    size_t at_a_time = 64;

    /// How long a daemon has to say that it has joined.
    std::chrono::milliseconds patience{60'000};

    /// Whether remote shells stay as long as their daemons.
    bool stays = false;

    /// Called once for each daemon.
    std::function<void(const node_outcome&)> on_outcome;

    /// A remote shell that stays has ended, after its daemon had joined.
    std::function<void(uint32_t rank)> on_end;
  };

  node_starter(event_loop& loop, settings x);

  /// Ends the remote shells that still run.
  ~node_starter();

  node_starter(const node_starter&) = delete;
  node_starter& operator=(const node_starter&) = delete;

  void start(std::vector<node_start> nodes);

  /// Starts no more; ends the remote shells of daemons that have not joined.
  void give_up();

  /// Whether a remote shell still runs.
  bool is_idle() const {
    return running_.empty();
  }

private:
  struct running;

  void start_more();
  void start_one(node_start x);
  void finish(running& x);

  event_loop& loop_;
  settings settings_;
  std::deque<node_start> waiting_;
  std::vector<std::unique_ptr<running>> running_;
  size_t joining_ = 0;
};

} // namespace troupe
