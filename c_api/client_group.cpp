// Groups: construct, destruct, leave; invitations.

#include "c_api/group_book.hpp"
#include "c_api/library_core.hpp"
#include "c_api/request.hpp"
#include "messages/group.hpp"

#include <cstring>

using namespace troupe;
using namespace troupe::c_api;

namespace {

/// Whether a group's name has an end and is not too long.
bool is_group_name(const char* x) {
  return x != nullptr && *x != '\0'
         && ::strnlen(x, PMIX_MAX_NSLEN + 1) <= PMIX_MAX_NSLEN;
}

caf::expected<group_construct_request>
make_construct(const library& lib, const char* grp, const pmix_proc_t* procs,
               size_t nprocs, const pmix_info_t* infos, size_t ninfo) {
  if (!is_group_name(grp))
    return make_error(status::bad_param);
  auto directives = to_infos(infos, ninfo);
  if (!directives)
    return std::move(directives.error());
  // Those who add themselves later name nobody.
  // Source: OpenPMIx 6, PMIX_GROUP_BOOTSTRAP.
  if (nprocs == 0 && find(*directives, attr::group_bootstrap) == nullptr)
    return make_error(status::bad_param);
  auto members = to_procs(procs, nprocs);
  if (!members)
    return std::move(members.error());
  for (auto& x : *members)
    if (x.nspace.empty())
      x.nspace = lib.proc().nspace;
  return group_construct_request{grp, std::move(*members),
                                 std::move(*directives)};
}

/// All ranks of those that stand for a whole namespace.
std::vector<proc_id> expand(const library& lib,
                            const std::vector<proc_id>& xs) {
  auto result = std::vector<proc_id>{};
  for (const auto& x : xs) {
    auto size = std::optional<uint32_t>{};
    if (x.rank == rank_wildcard)
      lib.store()->get({x, attr::job_size}, {},
                       [&](const value& y) { size = y.number<uint32_t>(); });
    if (size && *size <= rank_valid_max)
      for (uint32_t rank = 0; rank < *size; ++rank)
        result.push_back({x.nspace, rank});
    else
      result.push_back(x);
  }
  return result;
}

/// Notes the group and lists what the caller is told of it.
std::vector<info> enter(const library& lib, const std::string& id,
                        const std::vector<proc_id>& asked,
                        const group_construct_result& x) {
  auto members = x.members.empty() ? expand(lib, asked) : x.members;
  auto result = x.infos;
  if (find(result, attr::group_context_id) == nullptr && x.context_id)
    result.push_back(
      {std::string{attr::group_context_id}, 0, value::size(*x.context_id)});
  if (find(result, attr::group_membership) == nullptr)
    result.push_back(
      {std::string{attr::group_membership}, 0, value::procs(members)});
  lib.core()->groups->add(id, std::move(members));
  return result;
}

caf::expected<group_destruct_request> make_destruct(const library& lib,
                                                    const char* grp,
                                                    const pmix_info_t* infos,
                                                    size_t ninfo) {
  if (!is_group_name(grp))
    return make_error(status::bad_param);
  auto directives = to_infos(infos, ninfo);
  if (!directives)
    return std::move(directives.error());
  auto members = lib.core()->groups->members(grp);
  if (!members)
    return make_error(status::not_found);
  return group_destruct_request{grp, std::move(members),
                                std::move(*directives)};
}

caf::expected<group_leave_request>
make_leave(const char* grp, const pmix_info_t* infos, size_t ninfo) {
  if (!is_group_name(grp))
    return make_error(status::bad_param);
  auto directives = to_infos(infos, ninfo);
  if (!directives)
    return std::move(directives.error());
  return group_leave_request{grp, std::move(*directives)};
}

/// The group is over for us, if the server says so.
pmix_status_t exit_group(const library& lib, const std::string& id,
                         const caf::expected<ack>& x) {
  const auto core = lib.core();
  if (x && core)
    core->groups->remove(id);
  return code_of(x);
}

} // namespace

pmix_status_t PMIx_Group_construct(const char grp[], const pmix_proc_t procs[],
                                   size_t nprocs,
                                   const pmix_info_t directives[], size_t ndirs,
                                   pmix_info_t** results, size_t* nresults) {
  const auto& lib = library::instance();
  if (const auto code = lib.check_blocking(); code != PMIX_SUCCESS)
    return code;
  clear(results, nresults);
  TROUPE_TAKE(x, make_construct(lib, grp, procs, nprocs, directives, ndirs));
  const auto limit = limit_of(x->directives);
  const auto asked = x->procs;
  const auto y = lib.ask_and_wait<group_construct_result>(std::move(*x), limit);
  if (!y)
    return to_c(y.error());
  return give_infos(PMIX_SUCCESS, enter(lib, grp, asked, *y), results,
                    nresults);
}

pmix_status_t PMIx_Group_construct_nb(const char grp[],
                                      const pmix_proc_t procs[], size_t nprocs,
                                      const pmix_info_t info[], size_t ninfo,
                                      pmix_info_cbfunc_t cbfunc, void* cbdata) {
  const auto& lib = library::instance();
  if (const auto code = lib.check(); code != PMIX_SUCCESS)
    return code;
  TROUPE_TAKE(x, make_construct(lib, grp, procs, nprocs, info, ninfo));
  const auto id = x->id;
  const auto asked = x->procs;
  return lib.ask<group_construct_result>(
    std::move(*x), [id, asked, cbfunc,
                    cbdata](const caf::expected<group_construct_result>& y) {
      const auto& self = library::instance();
      auto infos = std::vector<troupe::info>{};
      if (y && self.core())
        infos = enter(self, id, asked, *y);
      if (cbfunc != nullptr)
        show_infos(code_of(y), infos, cbfunc, cbdata);
    });
}

pmix_status_t PMIx_Group_destruct(const char grp[], const pmix_info_t info[],
                                  size_t ninfo) {
  const auto& lib = library::instance();
  if (const auto code = lib.check_blocking(); code != PMIX_SUCCESS)
    return code;
  TROUPE_TAKE(x, make_destruct(lib, grp, info, ninfo));
  const auto limit = limit_of(x->directives);
  return exit_group(lib, grp, lib.ask_and_wait<ack>(std::move(*x), limit));
}

pmix_status_t PMIx_Group_destruct_nb(const char grp[], const pmix_info_t info[],
                                     size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                     void* cbdata) {
  const auto& lib = library::instance();
  if (const auto code = lib.check(); code != PMIX_SUCCESS)
    return code;
  TROUPE_TAKE(x, make_destruct(lib, grp, info, ninfo));
  return lib.ask<ack>(std::move(*x), [id = std::string{grp}, cbfunc,
                                      cbdata](const caf::expected<ack>& y) {
    const auto code = exit_group(library::instance(), id, y);
    if (cbfunc != nullptr)
      cbfunc(code, cbdata);
  });
}

pmix_status_t PMIx_Group_leave(const char grp[], const pmix_info_t info[],
                               size_t ninfo) {
  const auto& lib = library::instance();
  if (const auto code = lib.check_blocking(); code != PMIX_SUCCESS)
    return code;
  TROUPE_TAKE(x, make_leave(grp, info, ninfo));
  return exit_group(lib, grp, lib.ask_and_wait<ack>(std::move(*x)));
}

pmix_status_t PMIx_Group_leave_nb(const char grp[], const pmix_info_t info[],
                                  size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                  void* cbdata) {
  const auto& lib = library::instance();
  if (const auto code = lib.check(); code != PMIX_SUCCESS)
    return code;
  TROUPE_TAKE(x, make_leave(grp, info, ninfo));
  return lib.ask<ack>(std::move(*x), [id = std::string{grp}, cbfunc,
                                      cbdata](const caf::expected<ack>& y) {
    const auto code = exit_group(library::instance(), id, y);
    if (cbfunc != nullptr)
      cbfunc(code, cbdata);
  });
}

// Not supported: nobody keeps the book of who accepted; groups are made by
// PMIx_Group_construct.
pmix_status_t PMIx_Group_invite(const char grp[], const pmix_proc_t procs[],
                                size_t nprocs, const pmix_info_t*, size_t,
                                pmix_info_t** results, size_t* nresult) {
  if (const auto code = library::instance().check_blocking();
      code != PMIX_SUCCESS)
    return code;
  clear(results, nresult);
  if (!is_group_name(grp) || procs == nullptr || nprocs == 0)
    return PMIX_ERR_BAD_PARAM;
  return PMIX_ERR_NOT_SUPPORTED;
}

// Not supported: nobody keeps the book of who accepted; groups are made by
// PMIx_Group_construct.
pmix_status_t PMIx_Group_invite_nb(const char grp[], const pmix_proc_t procs[],
                                   size_t nprocs, const pmix_info_t*, size_t,
                                   pmix_info_cbfunc_t, void*) {
  if (const auto code = library::instance().check(); code != PMIX_SUCCESS)
    return code;
  if (!is_group_name(grp) || procs == nullptr || nprocs == 0)
    return PMIX_ERR_BAD_PARAM;
  return PMIX_ERR_NOT_SUPPORTED;
}

// Not supported: nobody keeps the book of who accepted; groups are made by
// PMIx_Group_construct.
pmix_status_t PMIx_Group_join(const char grp[], const pmix_proc_t*,
                              pmix_group_opt_t, const pmix_info_t*, size_t,
                              pmix_info_t** results, size_t* nresult) {
  if (const auto code = library::instance().check_blocking();
      code != PMIX_SUCCESS)
    return code;
  clear(results, nresult);
  return is_group_name(grp) ? PMIX_ERR_NOT_SUPPORTED : PMIX_ERR_BAD_PARAM;
}

// Not supported: nobody keeps the book of who accepted; groups are made by
// PMIx_Group_construct.
pmix_status_t PMIx_Group_join_nb(const char grp[], const pmix_proc_t*,
                                 pmix_group_opt_t, const pmix_info_t*, size_t,
                                 pmix_info_cbfunc_t, void*) {
  if (const auto code = library::instance().check(); code != PMIX_SUCCESS)
    return code;
  return is_group_name(grp) ? PMIX_ERR_NOT_SUPPORTED : PMIX_ERR_BAD_PARAM;
}
