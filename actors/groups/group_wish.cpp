#include "actors/groups/group_wish.hpp"

#include "actors/groups/group_keys.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

bool contains(const std::vector<proc_id>& xs, const proc_id& x) {
  return std::find(xs.begin(), xs.end(), x) != xs.end();
}

bool means_abort(const info& x) {
  if (x.key == group_keys::abort)
    return x.val.truth();
  return x.val.type == data_type::status
         && x.val.number<int32_t>()
              == static_cast<int32_t>(status::group_construct_abort);
}

group_ruling::kind kind_of(const group_wish& x) {
  using kind = group_ruling::kind;
  return x.aborts                  ? kind::aborts
         : !x.replacements.empty() ? kind::replaces
         : x.goes_on               ? kind::goes_on
                                   : kind::nothing;
}

} // namespace

group_wish wish_of(const group_verdict& x, const proc_id& failed) {
  auto result = group_wish{};
  result.aborts = x.outcome == status::group_construct_abort;
  for (const auto& y : x.results) {
    if (means_abort(y)) {
      result.aborts = true;
    } else if (y.key == attr::group_leader) {
      if (const auto* proc = y.val.proc())
        result.leads |= *proc == x.proc;
      else
        result.leads |= y.val.truth();
    } else if (y.key == attr::group_optional) {
      result.goes_on |= y.val.truth();
    } else if (y.key == attr::group_membership) {
      const auto members = procs_of(y.val);
      result.goes_on |= !members.empty() && !contains(members, failed);
    } else if (y.key == attr::group_add_members) {
      for (auto& proc : procs_of(y.val))
        if (proc.rank <= rank_valid_max && !contains(result.replacements, proc))
          result.replacements.push_back(std::move(proc));
    }
  }
  return result;
}

group_ruling rule_on(const std::vector<group_verdict>& verdicts,
                     const proc_id& failed) {
  auto result = group_ruling{};
  for (const auto& x : verdicts) {
    auto wish = wish_of(x, failed);
    const auto what = kind_of(wish);
    if (what > result.what
        || (what == result.what && result.by && x.proc < *result.by))
      result = {what, x.proc, std::move(wish.replacements)};
  }
  return result;
}

} // namespace troupe
