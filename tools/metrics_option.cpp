#include "tools/metrics_option.hpp"

#include "adapters/metrics/metrics_place.hpp"
#include "messages/status.hpp"

#include <CLI/CLI.hpp>

namespace troupe {

void add_metrics_option(CLI::App& cli, std::string& to) {
  cli
    .add_option(
      "--metrics", to,
      "Tell how the node is at ADDRESS:PORT, by HTTP, in the format of "
      "Prometheus and OpenMetrics; off: do not, whatever the settings "
      "say (docs/metrics.md)")
    ->check([](const std::string& x) {
      const auto place = metrics_place_of(x, {});
      return place ? std::string{} : reason_of(place.error());
    });
}

std::string metrics_for_others(const std::string& option) {
  const auto place = metrics_place_of(option, {});
  return place && *place && !(*place)->is_for_any_node ? std::string{} : option;
}

} // namespace troupe
