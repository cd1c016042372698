// Groups: construct, destruct, leave, invite, join.

#include "adapters/link/link.hpp"
#include "c_api/group_desk.hpp"
#include "c_api/helpers/failure.hpp"
#include "c_api/library_core.hpp"
#include "c_api/node_groups.hpp"
#include "c_api/request.hpp"
#include "messages/group.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

using namespace troupe;
using namespace troupe::c_api;

namespace {

// -- directives --------------------------------------------------------------

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

/// Faults of the directives of a call about a group: an attribute of groups
/// whose value is of no use to it.
/// Source: requirements, edge case 171.
caf::error fault_of_directives(const std::vector<info>& directives) {
  for (const auto& x : directives)
    if (!is_sound(x))
      return make_error(status::bad_param,
                        x.key
                          + " has a value that it cannot have; give one of its "
                            "type");
  return caf::none;
}

/// The directives of a call about a group, once its name is in order: it has an
/// end, is not too long, and is no namespace.
/// Source: RFC0033, "Critical Note"; requirements, G9, G15.
caf::expected<std::vector<info>> to_group_directives(const library& lib,
                                                     const char* grp,
                                                     const pmix_info_t* infos,
                                                     size_t ninfo) {
  if (grp == nullptr || *grp == '\0'
      || ::strnlen(grp, PMIX_MAX_NSLEN + 1) > PMIX_MAX_NSLEN)
    return make_error(status::bad_param,
                      "the name of a group has to have 1 to 255 bytes "
                      "(PMIX_MAX_NSLEN)");
  if (lib.proc().nspace == grp)
    return make_error(status::bad_param,
                      "group " + std::string{grp}
                        + " has the name of a namespace; choose another");
  auto result = to_infos(infos, ninfo);
  if (result)
    if (auto fault = fault_of_directives(*result))
      return fault;
  return result;
}

/// What the caller has posted, committed or not, is for the other members: the
/// server has it before the call. Source: OpenPMIx 6, PMIx_Group_construct.
void post_for_members() {
  PMIx_Commit();
}

// -- construct, destruct, leave -----------------------------------------------

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
                      "the caller is not among the processes of group "
                        + std::string{grp} + "; add it to them");
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
      store.store(owner.front(), std::string{attr::qualified_value},
                  value::infos({x,
                                {std::string{attr::group_context_id},
                                 info_qualifier, value::size(context_id)}}));
}

/// Notes the group and lists what the caller is told of it.
std::vector<info> enter(const library& lib, const std::string& id,
                        const std::vector<proc_id>& asked,
                        group_construct_result x) {
  auto members =
    x.members.empty() ? spell_out(lib, asked) : std::move(x.members);
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
  const auto core = lib.core();
  if (!core)
    return result;
  core->groups->add(id, std::move(members), x.context_id);
  if (!core->follows_members.exchange(true))
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

/// Asks the server for the end of a group, without waiting.
template <class Request>
pmix_status_t ask_to_exit(const library& lib, std::string id, Request x,
                          pmix_op_cbfunc_t f, void* data) {
  const auto core = lib.core();
  if (!core)
    return PMIX_ERR_INIT;
  core->shared_groups->begin_end(id);
  const auto code = lib.ask<ack>(
    std::move(x), [groups = core->shared_groups, id = std::move(id), f,
                   data](const caf::expected<ack>& y) {
      groups->end();
      const auto outcome = exit_group(library::instance(), id, y);
      if (f != nullptr)
        f(outcome, data);
    });
  if (code != PMIX_SUCCESS)
    core->shared_groups->end();
  return code;
}

/// The server is to read of what all of our job have done without it before it
/// looks at what we ask next.
void note_news(const library& lib, bool is_behind) {
  const auto to = lib.current_link();
  if (!to)
    return;
  to->note_news();
  if (is_behind)
    to->tell_news();
}

/// Makes a group where all of our job meet, if they can.
/// @returns nothing if the server is to be asked.
std::optional<group_construct_result>
construct_here(const library& lib, const library_core& core,
               const group_construct_request& x) {
  // Without a thread of ours nobody would see that the server is lost.
  if (core.is_external || core.groups->members(x.id)) {
    core.shared_groups->begin(x);
    return std::nullopt;
  }
  auto met = core.shared_groups->construct(x);
  if (!met.is_done)
    return std::nullopt;
  note_news(lib, met.is_behind);
  return std::move(met.result);
}

/// Ends a group there.
bool destruct_here(const library& lib, const library_core& core,
                   const group_destruct_request& x) {
  if (core.is_external) {
    core.shared_groups->begin_end(x.id);
    return false;
  }
  const auto met = core.shared_groups->destruct(x);
  if (met.is_done)
    note_news(lib, met.is_behind);
  return met.is_done;
}

} // namespace

pmix_status_t PMIx_Group_construct(const char grp[], const pmix_proc_t procs[],
                                   size_t nprocs,
                                   const pmix_info_t directives[], size_t ndirs,
                                   pmix_info_t** results,
                                   size_t* nresults) try {
  TROUPE_ENTER_BLOCKING(lib)
  clear(results, nresults);
  TROUPE_TAKE(x, make_construct(lib, grp, procs, nprocs, directives, ndirs));
  const auto core = lib.core();
  if (!core)
    return PMIX_ERR_INIT;
  const auto limit = limit_of(x->directives);
  const auto asked = x->procs;
  post_for_members();
  auto y = caf::expected<group_construct_result>{caf::error{}};
  if (auto made = construct_here(lib, *core, *x)) {
    y = std::move(*made);
  } else {
    y = lib.ask_and_wait<group_construct_result>(std::move(*x), limit);
    core->shared_groups->end();
  }
  if (!y)
    return to_c(y.error());
  const auto code = to_c(y->outcome);
  return give_infos(code, enter(lib, grp, asked, std::move(*y)), results,
                    nresults);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Group_construct_nb(const char grp[],
                                      const pmix_proc_t procs[], size_t nprocs,
                                      const pmix_info_t info[], size_t ninfo,
                                      pmix_info_cbfunc_t cbfunc,
                                      void* cbdata) try {
  TROUPE_ENTER(lib)
  TROUPE_TAKE(x, make_construct(lib, grp, procs, nprocs, info, ninfo));
  const auto core = lib.core();
  if (!core)
    return PMIX_ERR_INIT;
  post_for_members();
  const auto answer = [groups = core->shared_groups, id = x->id,
                       asked = x->procs, cbfunc,
                       cbdata](const caf::expected<group_construct_result>& y) {
    groups->end();
    const auto& self = library::instance();
    auto infos = std::vector<troupe::info>{};
    if (y && self.core())
      infos = enter(self, id, asked, *y);
    if (cbfunc != nullptr)
      show_infos(y ? to_c(y->outcome) : to_c(y.error()), infos, cbfunc, cbdata);
  };
  const auto ask = [x = *x, answer] {
    return library::instance().ask<group_construct_result>(x, answer);
  };
  const auto ask_later = [ask, answer] {
    if (const auto code = ask(); code != PMIX_SUCCESS)
      answer(make_error(static_cast<status>(code)));
  };
  if (core->shared_groups->delay(*x, ask_later))
    return PMIX_SUCCESS;
  const auto code = ask();
  if (code != PMIX_SUCCESS)
    core->shared_groups->end();
  return code;
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Group_destruct(const char grp[], const pmix_info_t info[],
                                  size_t ninfo) try {
  TROUPE_ENTER_BLOCKING(lib)
  TROUPE_TAKE(x, make_destruct(lib, grp, info, ninfo));
  const auto core = lib.core();
  if (!core)
    return PMIX_ERR_INIT;
  if (destruct_here(lib, *core, *x))
    return exit_group(lib, grp, ack{});
  const auto limit = limit_of(x->directives);
  const auto y = lib.ask_and_wait<ack>(std::move(*x), limit);
  core->shared_groups->end();
  return exit_group(lib, grp, y);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Group_destruct_nb(const char grp[], const pmix_info_t info[],
                                     size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                     void* cbdata) try {
  TROUPE_ENTER(lib)
  TROUPE_TAKE(x, make_destruct(lib, grp, info, ninfo));
  return ask_to_exit(lib, grp, std::move(*x), cbfunc, cbdata);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Group_leave(const char grp[], const pmix_info_t info[],
                               size_t ninfo) try {
  TROUPE_ENTER_BLOCKING(lib)
  TROUPE_TAKE(x, make_leave(lib, grp, info, ninfo));
  const auto core = lib.core();
  if (!core)
    return PMIX_ERR_INIT;
  const auto limit = limit_of(x->directives);
  core->shared_groups->begin_end(grp);
  const auto y = lib.ask_and_wait<ack>(std::move(*x), limit);
  core->shared_groups->end();
  return exit_group(lib, grp, y);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Group_leave_nb(const char grp[], const pmix_info_t info[],
                                  size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                  void* cbdata) try {
  TROUPE_ENTER(lib)
  TROUPE_TAKE(x, make_leave(lib, grp, info, ninfo));
  return ask_to_exit(lib, grp, std::move(*x), cbfunc, cbdata);
} catch (...) {
  return status_of_exception();
}

// -- by invitation: invite, join ---------------------------------------------

namespace {

/// A call to the desk: gets what becomes of it.
using desk_call = std::function<status(group_desk&, group_desk::on_outcome)>;

bool has_server(const library& lib) {
  return lib.current_link() || lib.session();
}

/// Hears of an outcome once, also if the library is finalized before.
struct receiver {
  explicit receiver(group_desk::on_outcome f) : tell(std::move(f)) {
    // nop
  }

  receiver(const receiver&) = delete;

  receiver& operator=(const receiver&) = delete;

  ~receiver() {
    if (tell)
      tell(PMIX_ERR_UNREACH, {});
  }

  void operator()(pmix_status_t code, const std::vector<info>& infos) {
    if (const auto f = std::exchange(tell, nullptr))
      f(code, infos);
  }

  group_desk::on_outcome tell;
};

/// Makes a call without waiting. Its faults come by the callback, except on the
/// progress thread.
pmix_status_t begin(const library& lib, desk_call call,
                    group_desk::on_outcome done) {
  if (!has_server(lib))
    return PMIX_ERR_UNREACH;
  const auto to = std::make_shared<receiver>(std::move(done));
  const auto pass = [to](pmix_status_t code, const std::vector<info>& infos) {
    (*to)(code, infos);
  };
  if (lib.in_progress_thread()) {
    auto* desk = group_desk::current();
    const auto code = desk != nullptr ? call(*desk, pass) : status::init;
    if (code != status::success)
      to->tell = nullptr;
    return static_cast<pmix_status_t>(code);
  }
  const auto is_kept = lib.post([call = std::move(call), pass] {
    auto* desk = group_desk::current();
    const auto code = desk != nullptr ? call(*desk, pass) : status::unreach;
    if (code != status::success)
      pass(static_cast<pmix_status_t>(code), {});
  });
  if (is_kept)
    return PMIX_SUCCESS;
  to->tell = nullptr;
  return PMIX_ERR_INIT;
}

/// Makes a call and waits for what it comes to.
pmix_status_t await(const library& lib, desk_call call, pmix_info_t** results,
                    size_t* nresults) {
  struct state {
    waiter done;
    std::vector<info> infos;
  };
  const auto shared = std::make_shared<state>();
  const auto code =
    begin(lib, std::move(call),
          [shared](pmix_status_t outcome, const std::vector<info>& infos) {
            shared->infos = infos;
            shared->done.set(outcome);
          });
  if (code != PMIX_SUCCESS)
    return code;
  const auto outcome = shared->done.wait();
  return give_infos(outcome, shared->infos, results, nresults);
}

group_desk::on_outcome to_callback(pmix_info_cbfunc_t f, void* data) {
  return [f, data](pmix_status_t code, const std::vector<info>& infos) {
    if (f != nullptr)
      show_infos(code, infos, f, data);
  };
}

caf::expected<desk_call> make_invite(const library& lib, const char* grp,
                                     const pmix_proc_t* procs, size_t nprocs,
                                     const pmix_info_t* infos, size_t ninfo) {
  auto directives = to_group_directives(lib, grp, infos, ninfo);
  if (!directives)
    return std::move(directives.error());
  if (auto why =
        check_required(pmix_call::group_invite, *directives, next_host::ours))
    return why;
  if (nprocs == 0)
    return make_error(status::bad_param);
  auto whom = to_procs_of_jobs(lib, procs, nprocs);
  if (!whom)
    return std::move(whom.error());
  post_for_members();
  return desk_call{[id = std::string{grp}, whom = std::move(*whom),
                    directives = std::move(*directives)](
                     group_desk& desk, group_desk::on_outcome done) {
    return desk.invite(id, whom, directives, std::move(done));
  }};
}

caf::expected<desk_call> make_join(const library& lib, const char* grp,
                                   const pmix_proc_t* leader,
                                   pmix_group_opt_t opt,
                                   const pmix_info_t* infos, size_t ninfo) {
  auto directives = to_group_directives(lib, grp, infos, ninfo);
  if (!directives)
    return std::move(directives.error());
  if (auto why =
        check_required(pmix_call::group_join, *directives, next_host::ours))
    return why;
  if (opt != PMIX_GROUP_ACCEPT && opt != PMIX_GROUP_DECLINE)
    return make_error(status::bad_param, "neither accepted nor declined");
  auto from = std::optional<proc_id>{};
  if (leader != nullptr) {
    from = to_proc(*leader);
    if (from->nspace.empty())
      from->nspace = lib.proc().nspace;
  }
  if (opt == PMIX_GROUP_ACCEPT)
    post_for_members();
  return desk_call{
    [id = std::string{grp}, from, opt, directives = std::move(*directives)](
      group_desk& desk, group_desk::on_outcome done) {
      return desk.join(id, from ? &*from : nullptr, opt == PMIX_GROUP_ACCEPT,
                       directives, std::move(done));
    }};
}

} // namespace

pmix_status_t PMIx_Group_invite(const char grp[], const pmix_proc_t procs[],
                                size_t nprocs, const pmix_info_t info[],
                                size_t ninfo, pmix_info_t** results,
                                size_t* nresult) try {
  TROUPE_ENTER_BLOCKING(lib)
  clear(results, nresult);
  TROUPE_TAKE(x, make_invite(lib, grp, procs, nprocs, info, ninfo));
  return await(lib, std::move(*x), results, nresult);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Group_invite_nb(const char grp[], const pmix_proc_t procs[],
                                   size_t nprocs, const pmix_info_t info[],
                                   size_t ninfo, pmix_info_cbfunc_t cbfunc,
                                   void* cbdata) try {
  TROUPE_ENTER(lib)
  TROUPE_TAKE(x, make_invite(lib, grp, procs, nprocs, info, ninfo));
  return begin(lib, std::move(*x), to_callback(cbfunc, cbdata));
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Group_join(const char grp[], const pmix_proc_t* leader,
                              pmix_group_opt_t opt, const pmix_info_t info[],
                              size_t ninfo, pmix_info_t** results,
                              size_t* nresult) try {
  TROUPE_ENTER_BLOCKING(lib)
  clear(results, nresult);
  TROUPE_TAKE(x, make_join(lib, grp, leader, opt, info, ninfo));
  return await(lib, std::move(*x), results, nresult);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Group_join_nb(const char grp[], const pmix_proc_t* leader,
                                 pmix_group_opt_t opt, const pmix_info_t info[],
                                 size_t ninfo, pmix_info_cbfunc_t cbfunc,
                                 void* cbdata) try {
  TROUPE_ENTER(lib)
  TROUPE_TAKE(x, make_join(lib, grp, leader, opt, info, ninfo));
  return begin(lib, std::move(*x), to_callback(cbfunc, cbdata));
} catch (...) {
  return status_of_exception();
}
