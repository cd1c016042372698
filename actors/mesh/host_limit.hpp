#pragma once

#include "messages/attributes.hpp"
#include "messages/value.hpp"

#include <caf/expected.hpp>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// What PMIX_HOST says of one node.
struct host_limit {
  std::string name;

  /// The most slots to take; absent: all.
  std::optional<uint32_t> slots;
};

/// The values of some attributes: names with commas between, `n1,n2:4`.
/// @returns `bad_param` for what is no node, with the remedy.
caf::expected<std::vector<host_limit>> parse_hosts(
  const std::vector<info>& infos,
  std::initializer_list<std::string_view> keys = {attr::host, attr::add_host});

} // namespace troupe
