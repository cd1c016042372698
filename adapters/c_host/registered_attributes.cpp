#include "adapters/c_host/registered_attributes.hpp"

#include "base/directives.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace troupe {

bool registered_attributes::add(std::string function,
                                std::vector<std::string> names) {
  names.erase(std::remove(names.begin(), names.end(), "N/A"), names.end());
  const auto guard = std::lock_guard{mutex_};
  return functions_.emplace(std::move(function), std::move(names)).second;
}

std::vector<info>
registered_attributes::describe(const std::vector<info>& qualifiers) const {
  const auto guard = std::lock_guard{mutex_};
  auto result = std::vector<info>{};
  for (const auto& x : qualifiers) {
    if (x.key == attr::host_functions && !functions_.empty()) {
      auto all = std::string{};
      for (const auto& [function, names] : functions_)
        all += (all.empty() ? "" : ",") + function;
      result.push_back({x.key, 0, value::string(std::move(all))});
    }
    const auto* wanted =
      x.key == attr::host_attributes ? x.val.text() : nullptr;
    if (wanted == nullptr)
      continue;
    for (const auto& [function, names] : functions_)
      if (!names.empty() && names_function(*wanted, function))
        result.push_back(describe_attributes(
          function, std::vector<std::string_view>{names.begin(), names.end()},
          "acted upon by this host"));
  }
  return result;
}

} // namespace troupe
