#include "c_api/group_directives.hpp"

#include "messages/attributes.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace troupe::c_api {

namespace {

/// Yes or no; present without a value is yes.
constexpr auto switches = std::array{attr::group_assign_context_id,
                                     attr::group_ft_collective,
                                     attr::group_leader,
                                     attr::group_local_only,
                                     attr::group_notify_termination,
                                     attr::group_optional};

/// A number that is not negative.
constexpr auto numbers =
  std::array{attr::group_bootstrap, attr::group_local_cid, attr::timeout};

/// Processes, one at least.
constexpr auto lists =
  std::array{attr::group_add_members, attr::group_final_membership_order,
             attr::group_membership};

template <class Array>
bool holds(const Array& xs, const std::string& key) {
  return std::find(xs.begin(), xs.end(), std::string_view{key}) != xs.end();
}

bool is_switch(const value& x) {
  return x.type == data_type::undef || x.type == data_type::string
         || x.number<int64_t>().has_value();
}

bool is_sound(const info& x) {
  if (holds(switches, x.key))
    return is_switch(x.val);
  if (holds(numbers, x.key))
    return x.val.number<uint64_t>().has_value();
  if (holds(lists, x.key))
    return !procs_of(x.val).empty();
  if (x.key == attr::group_info)
    return !infos_of(x.val).empty();
  return true;
}

} // namespace

caf::error fault_of_directives(const std::vector<info>& directives) {
  for (const auto& x : directives)
    if (!is_sound(x))
      return make_error(status::bad_param,
                        x.key + " has a value that it cannot have");
  return caf::none;
}

} // namespace troupe::c_api
