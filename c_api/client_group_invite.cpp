// Groups by invitation: invite, join.

#include "c_api/group_call.hpp"
#include "c_api/group_desk.hpp"
#include "c_api/helpers/failure.hpp"
#include "c_api/request.hpp"

using namespace troupe;
using namespace troupe::c_api;

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
  const auto& lib = library::instance();
  if (const auto code = lib.check_blocking(); code != PMIX_SUCCESS)
    return code;
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
  const auto& lib = library::instance();
  if (const auto code = lib.check(); code != PMIX_SUCCESS)
    return code;
  TROUPE_TAKE(x, make_invite(lib, grp, procs, nprocs, info, ninfo));
  return begin(lib, std::move(*x), to_callback(cbfunc, cbdata));
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Group_join(const char grp[], const pmix_proc_t* leader,
                              pmix_group_opt_t opt, const pmix_info_t info[],
                              size_t ninfo, pmix_info_t** results,
                              size_t* nresult) try {
  const auto& lib = library::instance();
  if (const auto code = lib.check_blocking(); code != PMIX_SUCCESS)
    return code;
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
  const auto& lib = library::instance();
  if (const auto code = lib.check(); code != PMIX_SUCCESS)
    return code;
  TROUPE_TAKE(x, make_join(lib, grp, leader, opt, info, ninfo));
  return begin(lib, std::move(*x), to_callback(cbfunc, cbdata));
} catch (...) {
  return status_of_exception();
}
