#include "adapters/metrics/metrics_module.hpp"

#include "adapters/metrics/metrics_text.hpp"

#include <exception>

extern "C" __attribute__((visibility("default"))) bool
troupe_write_metrics_1(const std::vector<troupe::metric_family>& families,
                       bool is_open_metrics, std::string& to) {
  try {
    to += troupe::metrics_text(families, is_open_metrics);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}
