#pragma once

#include "c_api/group_directives.hpp"
#include "c_api/library.hpp"
#include "messages/attributes.hpp"

#include <pmix.h>

#include <cstring>
#include <vector>

namespace troupe::c_api {

/// The directives of a call about a group, once its name is in order: it has an
/// end, is not too long, and is no namespace.
/// Source: RFC0033, "Critical Note"; requirements, G9, G15.
inline caf::expected<std::vector<info>>
to_group_directives(const library& lib, const char* grp,
                    const pmix_info_t* infos, size_t ninfo) {
  if (grp == nullptr || *grp == '\0'
      || ::strnlen(grp, PMIX_MAX_NSLEN + 1) > PMIX_MAX_NSLEN)
    return make_error(status::bad_param,
                      "the name of a group has 1 to 255 bytes");
  if (lib.proc().nspace == grp)
    return make_error(status::bad_param,
                      "the name of a group is that of a namespace");
  auto result = to_infos(infos, ninfo);
  if (result)
    if (auto fault = fault_of_directives(*result))
      return fault;
  return result;
}

/// What the caller has posted, committed or not, is for the other members: the
/// server has it before the call. Source: OpenPMIx 6, PMIx_Group_construct.
inline void post_for_members() {
  PMIx_Commit();
}

} // namespace troupe::c_api
