#pragma once

#include "base/directives.hpp"
#include "c_api/library_core.hpp"
#include "messages/attributes.hpp"
#include "messages/denial.hpp"
#include "messages/query.hpp"

#include <pmix.h>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

// What the functions of clients and tools are made of: check, convert, ask,
// hand the answer over.
//
//     ask_*     without waiting: PMIX_SUCCESS, and the callback comes once; or
//               an error, and it never comes. A null callback is not called.
//     await_*   waits: not on the progress thread.

namespace troupe::c_api {

/// Begins a call: names the library `name`, or returns PMIX_ERR_INIT.
#define TROUPE_ENTER(name)                                                     \
  const auto& name = ::troupe::c_api::library::instance();                     \
  if (const auto code = name.check(); code != PMIX_SUCCESS)                    \
    return code;

/// The same for a call that blocks: may return PMIX_ERR_WOULD_BLOCK, too.
#define TROUPE_ENTER_BLOCKING(name)                                            \
  const auto& name = ::troupe::c_api::library::instance();                     \
  if (const auto code = name.check_blocking(); code != PMIX_SUCCESS)           \
    return code;

/// Converts an array of the caller into `name`, or returns why not.
#define TROUPE_TAKE(name, conversion)                                          \
  auto name = conversion;                                                      \
  if (!name)                                                                   \
    return ::troupe::c_api::to_c(name.error());

/// Converts the infos of a call that the library carries out, or of which it does
/// a part before it asks the server.
/// @returns `not_supported` for one that is required and not acted upon.
caf::expected<std::vector<info>>
to_directives(pmix_call call, const pmix_info_t* infos, size_t ninfo);

/// How long a call waits at most: what PMIX_TIMEOUT says, and a little longer,
/// since the server should be the one that says so.
std::optional<std::chrono::milliseconds>
limit_of(const std::vector<info>& directives);

/// The status of an outcome that has no other value.
template <class Answer>
pmix_status_t code_of(const caf::expected<Answer>& x) {
  return x ? PMIX_SUCCESS : to_c(x.error());
}

/// Puts the members of groups in the place of their names: in a process, in
/// processes, or in the values of infos.
/// @returns `bad_param` for a rank that the group does not have,
///          `invalid_namespace` for a group that is not complete or is over.
template <class T>
caf::error spell_out_groups(const library& lib, T& x) {
  const auto core = lib.core();
  return core ? core->groups->spell_out(x) : caf::error{};
}

/// Fills in empty namespaces with ours, and puts the members of groups in the
/// place of their names: a group's name may stand for a namespace, with ranks
/// in the group. Source: PMIx Standard v5, "Process Groups".
/// @returns `bad_param` for a rank that the group does not have.
caf::expected<std::vector<proc_id>>
to_procs_of_jobs(const library& lib, const pmix_proc_t* procs, size_t n);

/// The processes of a collective: none means all of our namespace, an empty
/// namespace ours. Source: PMIx Standard v5, `PMIx_Fence`.
caf::expected<std::vector<proc_id>>
to_members(const library& lib, const pmix_proc_t* procs, size_t n);

// -- answers without a value -------------------------------------------------

template <class Request>
pmix_status_t ask_op(const library& lib, Request x, pmix_op_cbfunc_t f,
                     void* data) {
  return lib.ask<ack>(std::move(x), [f, data](const caf::expected<ack>& y) {
    if (f != nullptr)
      f(code_of(y), data);
  });
}

template <class Request>
pmix_status_t
await_op(const library& lib, Request x,
         std::optional<std::chrono::milliseconds> limit = std::nullopt) {
  return code_of(lib.ask_and_wait<ack>(std::move(x), limit));
}

// -- answers with infos ------------------------------------------------------

/// The status of an answer with infos.
inline pmix_status_t code_of_infos(const caf::expected<info_result>& x) {
  if (!x)
    return to_c(x.error());
  return x->complete ? PMIX_SUCCESS : PMIX_QUERY_PARTIAL_SUCCESS;
}

/// Shows infos to a callback, which may keep them until it releases them.
void show_infos(pmix_status_t code, const std::vector<info>& xs,
                pmix_info_cbfunc_t f, void* data);

/// Gives infos to a caller. Null pointers take nothing.
pmix_status_t give_infos(pmix_status_t code, const std::vector<info>& xs,
                         pmix_info_t** results, size_t* count);

template <class Request>
pmix_status_t ask_infos(const library& lib, Request x, pmix_info_cbfunc_t f,
                        void* data) {
  return lib.ask<info_result>(
    std::move(x), [f, data](const caf::expected<info_result>& y) {
      if (f != nullptr)
        show_infos(code_of_infos(y), y ? y->infos : std::vector<info>{}, f,
                   data);
    });
}

template <class Request>
pmix_status_t
await_infos(const library& lib, Request x, pmix_info_t** results, size_t* count,
            std::optional<std::chrono::milliseconds> limit = std::nullopt) {
  const auto y = lib.ask_and_wait<info_result>(std::move(x), limit);
  return give_infos(code_of_infos(y), y ? y->infos : std::vector<info>{},
                    results, count);
}

/// The infos of an answer to a request for control: of a refusal, why.
/// Source: RFC0015, Job Control: the callback's infos.
inline std::vector<info> reasons_in(const caf::expected<info_result>& x) {
  return x ? x->infos : explanation_of(x.error());
}

/// As `ask_infos`, with infos also if the request is refused.
template <class Request>
pmix_status_t ask_control(const library& lib, Request x, pmix_info_cbfunc_t f,
                          void* data) {
  return lib.ask<info_result>(
    std::move(x), [f, data](const caf::expected<info_result>& y) {
      if (f != nullptr)
        show_infos(code_of_infos(y), reasons_in(y), f, data);
    });
}

/// As `await_infos`, with infos also if the request is refused.
template <class Request>
pmix_status_t
await_control(const library& lib, Request x, pmix_info_t** results,
              size_t* count,
              std::optional<std::chrono::milliseconds> limit = std::nullopt) {
  const auto y = lib.ask_and_wait<info_result>(std::move(x), limit);
  return give_infos(code_of_infos(y), reasons_in(y), results, count);
}

/// Clears the out-parameters of a call.
inline void clear(pmix_info_t** results, size_t* count) {
  if (results != nullptr)
    *results = nullptr;
  if (count != nullptr)
    *count = 0;
}

} // namespace troupe::c_api
