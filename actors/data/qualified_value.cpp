#include "actors/data/qualified_value.hpp"

#include "messages/attributes.hpp"
#include "messages/value_inspect.hpp"

#include <caf/binary_serializer.hpp>

#include <algorithm>

namespace troupe {

namespace {

bool is_qualifier(const info& x) {
  return (x.flags & info_qualifier) != 0;
}

const info* info_of(const value& x) {
  const auto* entry = std::get_if<box<info>>(&x.data);
  return entry != nullptr ? &**entry : nullptr;
}

/// The info that holds key and value; null if it is missing.
const info* primary_of(const value& posted) {
  if (const auto* array = posted.array())
    for (const auto& x : array->elements)
      if (const auto* entry = info_of(x);
          entry != nullptr && !is_qualifier(*entry))
        return entry;
  return nullptr;
}

/// The same bytes for the same qualifiers, in whatever order.
std::string fingerprint(const value& posted) {
  auto xs = std::vector<std::pair<std::string, std::vector<char>>>{};
  for (const auto& x : posted.array()->elements)
    if (const auto* entry = info_of(x);
        entry != nullptr && is_qualifier(*entry)) {
      auto bytes = std::vector<char>{};
      caf::binary_serializer sink{nullptr, bytes};
      auto copy = entry->val;
      static_cast<void>(sink(copy));
      xs.emplace_back(entry->key, std::move(bytes));
    }
  std::sort(xs.begin(), xs.end());
  auto result = std::string{};
  for (const auto& [key, bytes] : xs) {
    result += key;
    result += '\0';
    result += std::to_string(bytes.size()) + ":";
    result.append(bytes.begin(), bytes.end());
  }
  return result;
}

} // namespace

std::string storage_key(const std::string& key, const value& val) {
  if (key != attr::qualified_value)
    return key;
  const auto* primary = primary_of(val);
  return primary != nullptr ? qualified_prefix(primary->key) + fingerprint(val)
                            : key;
}

std::string_view posted_key(std::string_view stored) {
  const auto& mark = attr::qualified_value;
  const auto is_qualified = stored.size() > mark.size()
                            && stored.substr(0, mark.size()) == mark
                            && stored[mark.size()] == '\0';
  return is_qualified ? mark : stored;
}

std::string qualified_prefix(std::string_view key) {
  auto result = std::string{attr::qualified_value};
  result += '\0';
  result += key;
  result += '\0';
  return result;
}

const value* match_qualifiers(const value& posted,
                              const std::vector<info>& wanted) {
  const auto* primary = primary_of(posted);
  if (primary == nullptr)
    return nullptr;
  const auto has = [&](const info& x) {
    const auto& all = posted.array()->elements;
    return std::any_of(all.begin(), all.end(), [&](const value& y) {
      const auto* entry = info_of(y);
      return entry != nullptr && is_qualifier(*entry) && entry->key == x.key
             && entry->val == x.val;
    });
  };
  return std::all_of(wanted.begin(), wanted.end(), has) ? &primary->val
                                                        : nullptr;
}

std::vector<info> qualifiers_of(const std::vector<info>& xs) {
  auto result = std::vector<info>{};
  std::copy_if(xs.begin(), xs.end(), std::back_inserter(result), is_qualifier);
  return result;
}

} // namespace troupe
