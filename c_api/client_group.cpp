// Groups: construct, destruct, leave.

#include "c_api/group_book.hpp"
#include "c_api/group_call.hpp"
#include "c_api/group_desk.hpp"
#include "c_api/helpers/failure.hpp"
#include "c_api/library_core.hpp"
#include "c_api/request.hpp"
#include "messages/group.hpp"

#include <algorithm>

using namespace troupe;
using namespace troupe::c_api;

namespace {

/// Whether a caller may name processes without itself. Those who name nobody
/// follow the leaders of a bootstrap, who name them.
/// Source: OpenPMIx 6, PMIX_GROUP_BOOTSTRAP and PMIX_GROUP_ADD_MEMBERS.
bool may_be_apart(const std::vector<proc_id>& procs,
                  const std::vector<info>& directives) {
  return procs.empty() || find(directives, attr::group_bootstrap) != nullptr
         || find(directives, attr::group_add_members) != nullptr;
}

caf::expected<group_construct_request>
make_construct(const library& lib, const char* grp, const pmix_proc_t* procs,
               size_t nprocs, const pmix_info_t* infos, size_t ninfo) {
  auto directives = to_group_directives(lib, grp, infos, ninfo);
  if (!directives)
    return std::move(directives.error());
  auto members = to_procs_of_jobs(lib, procs, nprocs);
  if (!members)
    return std::move(members.error());
  const auto is_self = [self = lib.proc()](const proc_id& x) {
    return matches(x, self);
  };
  if (!may_be_apart(*members, *directives)
      && std::none_of(members->begin(), members->end(), is_self))
    return make_error(status::not_a_member,
                      "the caller is not among the processes of the group");
  return group_construct_request{grp, std::move(*members),
                                 std::move(*directives)};
}

/// Keeps what a member has given to the others, as values of this group only:
/// PMIX_GROUP_CONTEXT_ID tells them apart. The first entry says who it was.
/// Source: OpenPMIx 6.1, PMIX_GROUP_INFO.
void keep_info(process_store& store, uint64_t context_id,
               const std::vector<info>& xs) {
  const auto* proc = find(xs, attr::procid);
  const auto owner = proc != nullptr ? procs_of(*proc) : std::vector<proc_id>{};
  if (owner.size() != 1)
    return;
  for (const auto& x : xs)
    if (x.key != attr::procid)
      store.add(
        {owner.front(),
         {{std::string{attr::qualified_value},
           value::infos({x,
                         {std::string{attr::group_context_id}, info_qualifier,
                          value::size(context_id)}})}}});
}

/// Notes the group and lists what the caller is told of it.
std::vector<info> enter(const library& lib, const std::string& id,
                        const std::vector<proc_id>& asked,
                        const group_construct_result& x) {
  auto members = x.members.empty() ? spell_out(lib, asked) : x.members;
  auto result = std::vector<info>{};
  const auto add = [&](std::string_view key, value y) {
    if (find(x.infos, key) == nullptr)
      result.push_back({std::string{key}, 0, std::move(y)});
  };
  // First: programs for 4 look nowhere else.
  if (x.context_id)
    add(attr::group_context_id, value::size(*x.context_id));
  add(attr::group_id, value::string(id));
  add(attr::group_membership, value::procs(members));
  result.insert(result.end(), x.infos.begin(), x.infos.end());
  const auto store = lib.store();
  for (const auto& y : x.infos) {
    if (!x.context_id || !store)
      break;
    if (y.key == attr::group_info)
      keep_info(*store, *x.context_id, infos_of(y.val));
    else if (y.key == attr::group_info_array)
      for (const auto& z : infos_of(y.val))
        keep_info(*store, *x.context_id, infos_of(z.val));
  }
  if (const auto core = lib.core())
    core->groups->add(id, std::move(members));
  lib.post([] {
    if (auto* desk = group_desk::current())
      desk->follow_members();
  });
  return result;
}

caf::expected<group_destruct_request> make_destruct(const library& lib,
                                                    const char* grp,
                                                    const pmix_info_t* infos,
                                                    size_t ninfo) {
  auto directives = to_group_directives(lib, grp, infos, ninfo);
  if (!directives)
    return std::move(directives.error());
  const auto core = lib.core();
  auto members = core ? core->groups->members(grp) : std::nullopt;
  if (!members)
    return make_error(status::not_found);
  return group_destruct_request{grp, std::move(members),
                                std::move(*directives)};
}

caf::expected<group_leave_request> make_leave(const library& lib,
                                              const char* grp,
                                              const pmix_info_t* infos,
                                              size_t ninfo) {
  auto directives = to_group_directives(lib, grp, infos, ninfo);
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
                                   pmix_info_t** results,
                                   size_t* nresults) try {
  const auto& lib = library::instance();
  if (const auto code = lib.check_blocking(); code != PMIX_SUCCESS)
    return code;
  clear(results, nresults);
  TROUPE_TAKE(x, make_construct(lib, grp, procs, nprocs, directives, ndirs));
  const auto limit = limit_of(x->directives);
  const auto asked = x->procs;
  post_for_members();
  const auto y = lib.ask_and_wait<group_construct_result>(std::move(*x), limit);
  if (!y)
    return to_c(y.error());
  return give_infos(to_c(y->outcome), enter(lib, grp, asked, *y), results,
                    nresults);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Group_construct_nb(const char grp[],
                                      const pmix_proc_t procs[], size_t nprocs,
                                      const pmix_info_t info[], size_t ninfo,
                                      pmix_info_cbfunc_t cbfunc,
                                      void* cbdata) try {
  const auto& lib = library::instance();
  if (const auto code = lib.check(); code != PMIX_SUCCESS)
    return code;
  TROUPE_TAKE(x, make_construct(lib, grp, procs, nprocs, info, ninfo));
  const auto id = x->id;
  const auto asked = x->procs;
  post_for_members();
  return lib.ask<group_construct_result>(
    std::move(*x), [id, asked, cbfunc,
                    cbdata](const caf::expected<group_construct_result>& y) {
      const auto& self = library::instance();
      auto infos = std::vector<troupe::info>{};
      if (y && self.core())
        infos = enter(self, id, asked, *y);
      if (cbfunc != nullptr)
        show_infos(y ? to_c(y->outcome) : to_c(y.error()), infos, cbfunc,
                   cbdata);
    });
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Group_destruct(const char grp[], const pmix_info_t info[],
                                  size_t ninfo) try {
  const auto& lib = library::instance();
  if (const auto code = lib.check_blocking(); code != PMIX_SUCCESS)
    return code;
  TROUPE_TAKE(x, make_destruct(lib, grp, info, ninfo));
  const auto limit = limit_of(x->directives);
  return exit_group(lib, grp, lib.ask_and_wait<ack>(std::move(*x), limit));
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Group_destruct_nb(const char grp[], const pmix_info_t info[],
                                     size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                     void* cbdata) try {
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
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Group_leave(const char grp[], const pmix_info_t info[],
                               size_t ninfo) try {
  const auto& lib = library::instance();
  if (const auto code = lib.check_blocking(); code != PMIX_SUCCESS)
    return code;
  TROUPE_TAKE(x, make_leave(lib, grp, info, ninfo));
  return exit_group(lib, grp, lib.ask_and_wait<ack>(std::move(*x)));
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Group_leave_nb(const char grp[], const pmix_info_t info[],
                                  size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                  void* cbdata) try {
  const auto& lib = library::instance();
  if (const auto code = lib.check(); code != PMIX_SUCCESS)
    return code;
  TROUPE_TAKE(x, make_leave(lib, grp, info, ninfo));
  return lib.ask<ack>(std::move(*x), [id = std::string{grp}, cbfunc,
                                      cbdata](const caf::expected<ack>& y) {
    const auto code = exit_group(library::instance(), id, y);
    if (cbfunc != nullptr)
      cbfunc(code, cbdata);
  });
} catch (...) {
  return status_of_exception();
}
