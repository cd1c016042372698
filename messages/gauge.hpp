#pragma once

#include "messages/inspect.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

/// How full something is that may grow. Source: guarantees 5.9, LOAD-2.
struct gauge {
  /// Who holds it, and what it is: `server.posted`.
  std::string name;

  uint64_t value = 0;

  /// The most it may hold; 0: bounded by what is counted elsewhere.
  uint64_t bound = 0;

  /// What is counted, such as `bytes`.
  std::string unit;
};

TROUPE_MESSAGE(gauge, x.name, x.value, x.bound, x.unit)

/// Asks an actor how full it is.
struct get_gauges {};

TROUPE_EMPTY_MESSAGE(get_gauges)

struct gauge_list {
  std::vector<gauge> gauges;
};

TROUPE_MESSAGE(gauge_list, x.gauges)

} // namespace troupe
