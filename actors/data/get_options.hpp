#pragma once

#include "messages/enums.hpp"
#include "messages/value.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Values of one key that differ by their qualifiers. They are posted under
// PMIX_QUALIFIED_VALUE as an array of infos: key and value, then the
// qualifiers. Source: OpenPMIx 4.2, PMIX_QUALIFIED_VALUE and
// PMIX_INFO_QUALIFIER.

namespace troupe {

// -- qualified values

/// Where a map of keys keeps a value: under its key; a qualified one under a
/// name that no process can post, so that each set of qualifiers has a place.
std::string storage_key(const std::string& key, const value& val);

/// The key under which what is kept at `stored` travels.
std::string_view posted_key(std::string_view stored);

/// What the names of all qualified values of a key begin with.
std::string qualified_prefix(std::string_view key);

/// The value in what was posted as a qualified value, if it has all of
/// `wanted`; else null.
const value* match_qualifiers(const value& posted,
                              const std::vector<info>& wanted);

/// Finds a value of `key` that has all of `wanted`; null if there is none.
template <class Less>
const value* find_qualified(const std::map<std::string, value, Less>& xs,
                            std::string_view key,
                            const std::vector<info>& wanted) {
  const auto prefix = qualified_prefix(key);
  for (auto i = xs.lower_bound(prefix);
       i != xs.end() && i->first.compare(0, prefix.size(), prefix) == 0; ++i)
    if (const auto* found = match_qualifiers(i->second, wanted))
      return found;
  return nullptr;
}

/// The infos that are marked as qualifiers.
std::vector<info> qualifiers_of(const std::vector<info>& xs);

// -- directives of PMIx_Get

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
};

/// Reads the attributes of PMIx_Get; others are ignored.
get_options get_options_of(const std::vector<info>& directives);

/// Whether the key is defined by the Standard: it begins with `pmix`.
/// Source: PMIx Standard v5, "Reserved keys".
inline bool is_reserved_key(std::string_view key) {
  return key.substr(0, 4) == "pmix";
}

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
