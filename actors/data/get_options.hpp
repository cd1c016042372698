#pragma once

#include "messages/enums.hpp"
#include "messages/value.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// What PMIx_Get is told beside process and key.
/// Source: PMIx Standard v5, "Get retrieval attributes" and "Accessing
/// information".
struct get_options {
  /// Which level the information belongs to; none: the key says.
  bool node_info = false;
  bool app_info = false;
  bool session_info = false;

  std::optional<std::string> hostname;
  std::optional<uint32_t> node_id;
  std::optional<uint32_t> app_number;
  std::optional<uint32_t> session_id;

  /// Only what is here.
  bool optional = false;

  /// What the server has, without waiting for the process to post it.
  bool immediate = false;

  /// What is here does not count.
  bool refresh = false;

  /// Only what was posted with this scope.
  scope data_scope = scope::undef;

  /// Only a value that was posted with these qualifiers.
  /// Source: OpenPMIx 4.2, PMIX_QUALIFIED_VALUE.
  std::vector<info> qualifiers;

  /// How the value is returned.
  bool static_values = false;
  bool pointer_values = false;

  /// Seconds; 0: no limit.
  uint32_t timeout_s = 0;
};

/// Reads the attributes of PMIx_Get; others are ignored.
get_options get_options_of(const std::vector<info>& directives);

/// Whether the key is defined by the Standard: it begins with `pmix`.
/// Source: PMIx Standard v5, "Reserved keys".
bool is_reserved_key(std::string_view key);

/// Whether the host alone says what a reserved key means: who takes part in a
/// session, job, application or node, and which process is which. Other
/// reserved keys are put by real programs: Open MPI 4 says where it runs and by
/// which processors it is bound (PMIX_HOSTNAME, PMIX_CPUSET), groups what they
/// are called, all of them values with qualifiers. Source: PMIx Standard v5, "Reserved keys".
bool is_given_by_host(std::string_view key);

/// At which level a reserved key is looked up if the caller does not say.
/// Source: PMIx Standard v5, "Accessing information: session, job, application,
/// node level"; OpenPMIx agrees on the keys.
enum class key_level : uint8_t { process, job, app, node, session };

key_level level_of(std::string_view key);

} // namespace troupe
