#pragma once

#include <caf/expected.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe {

/// Who a node is: what its certificate says and its private key proves.
struct node_identity {
  /// The DVM it belongs to: 1 to 64 letters, digits, `.`, `_` and `-`.
  std::string dvm;

  /// Its number within the DVM.
  uint32_t rank = 0;

  /// Its name within the DVM: 1 to 255 of the same characters.
  std::string name;
};

inline bool operator==(const node_identity& x, const node_identity& y) {
  return x.rank == y.rank && x.dvm == y.dvm && x.name == y.name;
}

inline bool operator!=(const node_identity& x, const node_identity& y) {
  return !(x == y);
}

/// The form that certificates carry and logs show:
/// `troupe:<dvm>/<rank>/<name>`.
std::string to_string(const node_identity& x);

/// Reads what `to_string` writes; anything else is refused with `bad_param`, so
/// that two texts never mean one node.
caf::expected<node_identity> parse_node_identity(std::string_view text);

} // namespace troupe
