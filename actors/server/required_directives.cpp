#include "actors/server/required_directives.hpp"

#include "actors/data/get_options.hpp"

#include <algorithm>
#include <iterator>

namespace troupe {

caf::error check_directives(const publish_request& x, next_host next) {
  const auto is_directive = [](const info& y) {
    return (y.flags & info_required) != 0 && is_reserved_key(y.key);
  };
  auto told = std::vector<info>{};
  std::copy_if(x.infos.begin(), x.infos.end(), std::back_inserter(told),
               is_directive);
  return check_required(pmix_call::publish, told, next);
}

caf::error check_directives(const query_request& x, next_host next) {
  for (const auto& y : x.queries)
    if (auto why = check_required(pmix_call::query_info, y.qualifiers, next))
      return why;
  return {};
}

} // namespace troupe
