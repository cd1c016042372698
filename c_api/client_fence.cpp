// Fence, connect, disconnect: what all members call.

#include "actors/groups/group_keys.hpp"
#include "base/make_info.hpp"
#include "c_api/helpers/failure.hpp"
#include "c_api/node_fence.hpp"
#include "c_api/request.hpp"
#include "messages/collective.hpp"

#include <cstring>

using namespace troupe;
using namespace troupe::c_api;

namespace {

template <class Request>
caf::expected<Request> make_request(const library& lib,
                                    const pmix_proc_t* procs, size_t nprocs,
                                    const pmix_info_t* infos, size_t ninfo) {
  auto members = to_members(lib, procs, nprocs);
  if (!members)
    return std::move(members.error());
  auto directives = to_infos(infos, ninfo);
  if (!directives)
    return std::move(directives.error());
  auto x = Request{};
  x.procs = std::move(*members);
  x.directives = std::move(*directives);
  return x;
}

/// Keeps what a connect brings: the jobs of the others.
pmix_status_t keep(const library& lib,
                   const caf::expected<connect_procs_result>& x) {
  const auto store = lib.store();
  if (x && store)
    for (const auto& job : x->jobs)
      store->add_job(job);
  return code_of(x);
}

caf::expected<fence_request> make_fence(const library& lib,
                                        const pmix_proc_t* procs, size_t nprocs,
                                        const pmix_info_t* infos,
                                        size_t ninfo) {
  auto x = make_request<fence_request>(lib, procs, nprocs, infos, ninfo);
  const auto core = lib.core();
  if (!x || nprocs != 1 || procs == nullptr || procs->rank != PMIX_RANK_WILDCARD
      || !core)
    return x;
  auto id =
    std::string{procs->nspace, strnlen(procs->nspace, sizeof(procs->nspace))};
  if (core->groups->members(id))
    x->directives.push_back(
      make_info(group_keys::fence, value::string(std::move(id))));
  return x;
}

/// What participants have posted since is to be found by the next get.
void forget_fetched(const library& lib, const std::vector<proc_id>& procs) {
  if (const auto store = lib.store())
    for (const auto& proc : procs)
      store->forget(proc);
}

pmix_status_t ask_fence(const library& lib, fence_request x, pmix_op_cbfunc_t f,
                        void* data) {
  const auto core = lib.core();
  if (!core)
    return PMIX_ERR_INIT;
  const auto answer = [fences = core->fences, procs = x.procs, f,
                       data](pmix_status_t code) {
    fences->end();
    forget_fetched(library::instance(), procs);
    if (f != nullptr)
      f(code, data);
  };
  const auto ask = [x, answer] {
    return library::instance().ask<ack>(
      x, [answer](const caf::expected<ack>& y) { answer(code_of(y)); });
  };
  const auto ask_later = [ask, answer] {
    if (const auto code = ask(); code != PMIX_SUCCESS)
      answer(code);
  };
  if (core->fences->delay(x, ask_later))
    return PMIX_SUCCESS;
  const auto code = ask();
  if (code != PMIX_SUCCESS)
    core->fences->end();
  return code;
}

} // namespace

pmix_status_t PMIx_Fence(const pmix_proc_t procs[], size_t nprocs,
                         const pmix_info_t info[], size_t ninfo) try {
  TROUPE_ENTER_BLOCKING(lib)
  TROUPE_TAKE(x, make_fence(lib, procs, nprocs, info, ninfo));
  const auto core = lib.core();
  if (!core)
    return PMIX_ERR_INIT;
  const auto& fences = core->fences;
  // Without a thread of ours nobody would see that the server is lost.
  if (core->is_external)
    fences->begin(*x);
  else if (fences->meet(*x)) {
    forget_fetched(lib, x->procs);
    return PMIX_SUCCESS;
  }
  const auto limit = limit_of(x->directives);
  const auto procs = x->procs;
  const auto code = await_op(lib, std::move(*x), limit);
  fences->end();
  forget_fetched(lib, procs);
  return code;
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Fence_nb(const pmix_proc_t procs[], size_t nprocs,
                            const pmix_info_t info[], size_t ninfo,
                            pmix_op_cbfunc_t cbfunc, void* cbdata) try {
  TROUPE_ENTER(lib)
  TROUPE_TAKE(x, make_fence(lib, procs, nprocs, info, ninfo));
  return ask_fence(lib, std::move(*x), cbfunc, cbdata);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Connect(const pmix_proc_t procs[], size_t nprocs,
                           const pmix_info_t info[], size_t ninfo) try {
  TROUPE_ENTER_BLOCKING(lib)
  if (procs == nullptr || nprocs == 0)
    return PMIX_ERR_BAD_PARAM;
  TROUPE_TAKE(
    x, make_request<connect_procs_request>(lib, procs, nprocs, info, ninfo));
  const auto limit = limit_of(x->directives);
  return keep(lib,
              lib.ask_and_wait<connect_procs_result>(std::move(*x), limit));
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Connect_nb(const pmix_proc_t procs[], size_t nprocs,
                              const pmix_info_t info[], size_t ninfo,
                              pmix_op_cbfunc_t cbfunc, void* cbdata) try {
  TROUPE_ENTER(lib)
  if (procs == nullptr || nprocs == 0)
    return PMIX_ERR_BAD_PARAM;
  TROUPE_TAKE(
    x, make_request<connect_procs_request>(lib, procs, nprocs, info, ninfo));
  return lib.ask<connect_procs_result>(
    std::move(*x),
    [cbfunc, cbdata](const caf::expected<connect_procs_result>& y) {
      const auto code = keep(library::instance(), y);
      if (cbfunc != nullptr)
        cbfunc(code, cbdata);
    });
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Disconnect(const pmix_proc_t procs[], size_t nprocs,
                              const pmix_info_t info[], size_t ninfo) try {
  TROUPE_ENTER_BLOCKING(lib)
  if (procs == nullptr || nprocs == 0)
    return PMIX_ERR_BAD_PARAM;
  TROUPE_TAKE(
    x, make_request<disconnect_procs_request>(lib, procs, nprocs, info, ninfo));
  const auto limit = limit_of(x->directives);
  return await_op(lib, std::move(*x), limit);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Disconnect_nb(const pmix_proc_t ranges[], size_t nprocs,
                                 const pmix_info_t info[], size_t ninfo,
                                 pmix_op_cbfunc_t cbfunc, void* cbdata) try {
  TROUPE_ENTER(lib)
  if (ranges == nullptr || nprocs == 0)
    return PMIX_ERR_BAD_PARAM;
  TROUPE_TAKE(x, make_request<disconnect_procs_request>(lib, ranges, nprocs,
                                                        info, ninfo));
  return ask_op(lib, std::move(*x), cbfunc, cbdata);
} catch (...) {
  return status_of_exception();
}
