#pragma once

#include "adapters/loop/loop_system.hpp"
#include "base/journal.hpp"
#include "config/defaults.hpp"
#include "config/settings.hpp"
#include "messages/actors.hpp"

#include <caf/expected.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

class secure_context;

struct mesh_member_options {
  /// Who this node is, and the key that proves it.
  std::shared_ptr<const secure_context> context;

  /// At the root: the names of all nodes by rank, its own first; else none.
  std::vector<std::string> names;

  /// Elsewhere: the root's name, and where it takes lanes.
  std::string root_name;
  std::vector<node_address> root_addresses;

  uint32_t radix = defaults::tree_radix;

  /// The interfaces to use; none: all that are fit.
  std::vector<std::string> networks;

  /// The kinds of lanes to have, see `read_lane_kinds`; none: all.
  std::vector<std::string> lanes;

  /// Where to take lanes; 0: at any port.
  uint16_t port = 0;

  /// What holds for the node and networks, above what the environment sets
  /// (`TROUPE_...`); what nobody has set has its default.
  site_settings settings;

  journal log;
};

/// What makes a process a member of a DVM: its NODE, which knows the others,
/// and its NETWORKS, which reach them. For the thread of the loop, or for any
/// while nobody is in `run`. A library of its own, `troupe_mesh`: OpenSSL comes
/// with it.
class mesh_member {
public:
  /// @param loop Must outlive the member.
  /// @returns why the node can be no member, in a sentence with the remedy.
  static caf::expected<std::unique_ptr<mesh_member>>
  start(loop_system& loop, mesh_member_options options);

  /// Ends without a word to the others; see `leave_mesh`.
  ~mesh_member();

  mesh_member(const mesh_member&) = delete;
  mesh_member& operator=(const mesh_member&) = delete;

  /// Waits for its user (`mesh_user_actor`) before it begins.
  const node_actor& node() const noexcept {
    return node_;
  }

  uint32_t rank() const noexcept {
    return rank_;
  }

  const std::string& name() const noexcept {
    return name_;
  }

  uint64_t incarnation() const noexcept {
    return incarnation_;
  }

  /// The user that its certificate says it belongs to.
  std::optional<uint32_t> user() const noexcept {
    return user_;
  }

private:
  mesh_member() = default;

  uint32_t rank_ = 0;
  std::string name_;
  uint64_t incarnation_ = 0;
  std::optional<uint32_t> user_;
  node_actor node_;
};

/// Keeps the memory of this process from other processes of its user, and from
/// core files: to be called before a key is read or made.
void hide_memory();

} // namespace troupe
