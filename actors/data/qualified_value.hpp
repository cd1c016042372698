#pragma once

#include "messages/value.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

// Values of one key that differ by their qualifiers. They are posted under
// PMIX_QUALIFIED_VALUE as an array of infos: key and value, then the
// qualifiers. Source: OpenPMIx 4.2, PMIX_QUALIFIED_VALUE and
// PMIX_INFO_QUALIFIER.

namespace troupe {

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

} // namespace troupe
