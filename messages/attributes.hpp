#pragma once

#include "messages/data_type.hpp"

#include <string_view>

namespace troupe {

/// The keys of the Standard's attributes, under their names in C without
/// `PMIX_`: `attr::job_size` is `"pmix.job.size"`.
/// Source: attributes.def.
namespace attr {

#define TROUPE_ATTRIBUTE(name, c_name, key, type)                              \
  inline constexpr std::string_view name = key;
#include "messages/attributes.def"
#undef TROUPE_ATTRIBUTE

} // namespace attr

/// What is known of an attribute.
struct attribute {
  /// Name in C, such as `PMIX_JOB_SIZE`.
  std::string_view c_name;

  /// Key on the wire, such as `pmix.job.size`.
  std::string_view key;

  /// Type of its value; `undef` where the type varies.
  data_type type;
};

/// Finds an attribute by its name in C; null if no release knows it.
const attribute* attribute_named(std::string_view c_name);

/// Finds the first attribute with `key`; null if no release knows it. A few
/// keys have two names.
const attribute* attribute_of(std::string_view key);

/// All attributes, in the order of their names in C.
/// @param count Receives their number.
const attribute* all_attributes(size_t& count);

} // namespace troupe
