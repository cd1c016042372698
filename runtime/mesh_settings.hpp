#pragma once

#include "actors/mesh/members/node.hpp"
#include "adapters/networks/networks.hpp"
#include "config/settings.hpp"

#include <caf/expected.hpp>

namespace troupe {

/// What the environment sets, and over it what a host does: daemons that embed
/// a mesh need not look.
/// @returns `bad_param` in a sentence, see `site_settings::apply_environment`.
caf::expected<site_settings> with_environment(const site_settings& of_host);

/// Gives a node of a mesh what the site has set.
void apply_settings(const site_settings& site, node_options& to);

/// Gives the networks of a node what the site has set.
void apply_settings(const site_settings& site, networks_options& to);

} // namespace troupe
