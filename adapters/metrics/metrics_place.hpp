#pragma once

#include "adapters/loop/unique_fd.hpp"
#include "config/settings.hpp"

#include <caf/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Where a daemon tells its metrics.
struct metrics_place {
  /// Numeric. `0.0.0.0` and `::`: at all addresses of the node.
  std::vector<std::string> addresses;
  uint16_t port = 0;

  /// Whether it is where programs of the node are alone, or all of its
  /// addresses: it can be meant for other nodes, too.
  bool is_for_any_node = false;
};

/// Understands `127.0.0.1:9466`, `[::1]:9466`, `localhost:9466`, and `:9466` or
/// `*:9466` for all addresses of the node.
/// @returns `bad_param` in a sentence with the remedy.
caf::expected<metrics_place> parse_metrics_place(std::string_view text);

/// Where a daemon tells its metrics, if at all.
/// @param option What `--metrics` was given: a place, `off`, or nothing: then it
///               is what the site has set.
caf::expected<std::optional<metrics_place>>
metrics_place_of(const std::string& option, const site_settings& site);

/// Listens there; of several addresses at all that the node has, but at the first in
/// any case.
/// @returns why that cannot be, with address and port.
caf::expected<std::vector<unique_fd>> listen_at(const metrics_place& where);

/// Such as `127.0.0.1:9466`, `*:9466`.
std::string to_string(const metrics_place& x);

} // namespace troupe
