#include "runtime/mesh_settings.hpp"

#include <unistd.h>

#include <algorithm>

namespace troupe {

caf::expected<site_settings> with_environment(const site_settings& of_host) {
  auto result = site_settings{};
  if (auto err = result.apply_environment(environ))
    return err;
  result.apply(of_host);
  return result;
}

void apply_settings(const site_settings& site, node_options& to) {
  site.give(setting_id::networks_direct_peers, to.direct_peers);
  site.give(setting_id::networks_window, to.session.window);
}

void apply_settings(const site_settings& site, networks_options& to) {
  site.give(setting_id::networks_own_progress, to.own_progress);
  site.give(setting_id::networks_half_open, to.limits.half_open);
  to.limits.half_open_per_address =
    std::min(to.limits.half_open_per_address, to.limits.half_open);
  site.give(setting_id::networks_handshake_time, to.limits.handshake_time);
}

} // namespace troupe
