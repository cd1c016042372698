#include "c_api/value_keeper.hpp"

#include "adapters/c_values/convert.hpp"

namespace troupe::c_api {

value_keeper::~value_keeper() {
  for (auto& x : entries_)
    old_.push_back(x.second.shown);
  for (auto* x : old_)
    free_array(x, x != nullptr ? 1 : 0);
}

pmix_value_t* value_keeper::keep(const proc_id& proc, const std::string& key,
                                 const value& x) {
  const auto guard = std::lock_guard{mutex_};
  auto& kept = entries_[{proc, key}];
  if (kept.shown != nullptr && kept.val == x)
    return kept.shown;
  auto code = pmix_status_t{PMIX_SUCCESS};
  auto* fresh = to_c_value(x, code);
  if (fresh == nullptr)
    return nullptr;
  if (kept.shown != nullptr)
    old_.push_back(kept.shown);
  kept = {x, fresh};
  return fresh;
}

} // namespace troupe::c_api
