#pragma once

#include "adapters/lane/authority.hpp"
#include "adapters/loop/timer.hpp"
#include "tools/dvm_options.hpp"
#include "tools/local_node.hpp"
#include "tools/node_starter.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace troupe {

/// A DVM whose root is this process: the node that we are on, and daemons on
/// others, which it has started and which end with it.
class dvm_root {
public:
  struct settings {
    dvm_plan plan;
    dvm_options options;

    /// The DVM's name, which begins the names of its jobs; empty: made from the
    /// node's name and the process's number.
    std::string name;

    /// Whether it is there for one job, and goes with it.
    bool is_for_a_job = false;

    local_node_options node;

    /// Vouches for the nodes; none: made for this DVM, and gone with it.
    std::optional<authority> vouching;

    /// Whether the daemons have to be started; else they come by themselves.
    bool launches = true;

    /// Where the root takes lanes; 0: at any port.
    uint16_t port = 0;

    /// All nodes are members. Called once, if at all.
    std::function<void()> on_ready;

    /// There will be no DVM, for this reason. What has been started ends with
    /// `end`. Called once, if at all.
    std::function<void(const std::string&)> on_failed;

    /// A tool wants the DVM to end.
    std::function<void()> on_terminate;
  };

  /// Begins to start the daemons; the rest happens in the loop of `node()`.
  /// @returns why this node cannot be a root, in a sentence.
  static caf::expected<std::unique_ptr<dvm_root>> start(settings x);

  ~dvm_root();

  dvm_root(const dvm_root&) = delete;
  dvm_root& operator=(const dvm_root&) = delete;

  local_node& node() {
    return *node_;
  }

  const std::string& name() const {
    return settings_.name;
  }

  /// How many nodes there are to be, this one among them, and how many are
  /// members now.
  size_t all_nodes() const {
    return settings_.plan.nodes.size();
  }

  size_t present_nodes() const {
    return live_.count(0) > 0 ? live_.size() : live_.size() + 1;
  }

  /// Slots of all nodes. Known once the DVM is ready.
  uint32_t slots() const;

  /// Ends all jobs, then all daemons, then calls `done`, in bounded time.
  void end(std::function<void()> done);

private:
  explicit dvm_root(settings x) : settings_(std::move(x)) {
    // nop
  }

  caf::error make_node();
  caf::error make_member(mesh_member_options& x);
  void ask_addresses(int attempts);
  void start_daemons(const std::vector<node_address>& contacts);
  void on_outcome(const node_outcome& x);
  void on_member(const member_changed& x);
  void look_whether_ready();
  void show_members();
  void fail(const std::string& reason);
  void leave();
  void await_shells();
  void finish();

  settings settings_;
  std::optional<authority> authority_;
  std::unique_ptr<local_node> node_;
  std::unique_ptr<node_starter> starter_;

  std::unique_ptr<timer> limit_;
  std::vector<uint32_t> slots_;
  std::set<uint32_t> joined_;
  std::set<uint32_t> live_;
  bool is_ready_ = false;
  bool has_failed_ = false;
  bool is_ending_ = false;
  std::function<void()> done_;
};

/// The name of a DVM if nobody gives it one.
std::string default_dvm_name();

/// @returns `bad_param` in a sentence if it cannot be one.
caf::error check_dvm_name(const std::string& name);

} // namespace troupe
