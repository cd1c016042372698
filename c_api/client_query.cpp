// Queries and logs; peers and nodes, from what is here, else from the server.

#include "base/abi_version.hpp"
#include "base/make_info.hpp"
#include "c_api/helpers/failure.hpp"
#include "c_api/request.hpp"
#include "messages/data.hpp"
#include "messages/query.hpp"

#include <algorithm>
#include <ctime>

using namespace troupe;
using namespace troupe::c_api;

namespace {

caf::expected<query_request> make_query(const pmix_query_t* queries, size_t n) {
  if (queries == nullptr || n == 0)
    return make_error(status::bad_param);
  auto result = to_queries(queries, n);
  if (!result)
    return std::move(result.error());
  for (const auto& x : *result)
    if (x.keys.empty())
      return make_error(status::bad_param);
  return query_request{std::move(*result)};
}

caf::expected<log_request> make_log(const pmix_info_t* data, size_t ndata,
                                    const pmix_info_t* directives,
                                    size_t ndirs) {
  if (data == nullptr || ndata == 0)
    return make_error(status::bad_param);
  auto texts = to_infos(data, ndata);
  if (!texts)
    return std::move(texts.error());
  auto options = to_infos(directives, ndirs);
  if (!options)
    return std::move(options.error());
  return log_request{static_cast<uint64_t>(std::time(nullptr)),
                     std::move(*texts), std::move(*options)};
}

/// The Standard wants it answered before init as well.
/// Source: PMIx Standard v5, "Querying the ABI".
bool is_abi_key(const std::string& key) {
  return key == attr::query_stable_abi_version
         || key == attr::query_provisional_abi_version;
}

/// Whether a qualifier asks what this library acts upon.
bool is_of_library(const info& x) {
  return x.key == attr::client_functions || x.key == attr::client_attributes
         || x.key == attr::tool_functions || x.key == attr::tool_attributes;
}

/// Answers queries that concern this library and nobody else.
std::optional<std::vector<info>> answer_here(const query_request& x) {
  auto result = std::vector<info>{};
  for (const auto& y : x.queries) {
    if (check_required(pmix_call::query_info, y.qualifiers, next_host::ours))
      return std::nullopt;
    const auto is_ours =
      !y.qualifiers.empty()
      && std::all_of(y.qualifiers.begin(), y.qualifiers.end(), is_of_library);
    for (const auto& key : y.keys)
      if (is_abi_key(key))
        result.push_back({key, 0, value::string(abi_version)});
      else if (key == attr::query_attribute_support && is_ours)
        result.push_back({key, 0, value::infos(supported(y.qualifiers))});
      else
        return std::nullopt;
  }
  return result;
}

/// How long all of a query may take.
std::optional<std::chrono::milliseconds> limit_of(const query_request& x) {
  auto result = std::optional<std::chrono::milliseconds>{};
  for (const auto& y : x.queries)
    if (const auto limit = c_api::limit_of(y.qualifiers))
      result = std::max(result.value_or(*limit), *limit);
  return result;
}

} // namespace

pmix_status_t PMIx_Query_info(pmix_query_t queries[], size_t nqueries,
                              pmix_info_t** results, size_t* nresults) try {
  const auto& lib = library::instance();
  clear(results, nresults);
  TROUPE_TAKE(x, make_query(queries, nqueries));
  if (const auto here = answer_here(*x))
    return give_infos(PMIX_SUCCESS, *here, results, nresults);
  if (const auto code = lib.check_blocking(); code != PMIX_SUCCESS)
    return code;
  const auto limit = limit_of(*x);
  return await_infos(lib, std::move(*x), results, nresults, limit);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Query_info_nb(pmix_query_t queries[], size_t nqueries,
                                 pmix_info_cbfunc_t cbfunc, void* cbdata) try {
  const auto& lib = library::instance();
  TROUPE_TAKE(x, make_query(queries, nqueries));
  if (const auto here = answer_here(*x)) {
    if (cbfunc == nullptr)
      return PMIX_OPERATION_SUCCEEDED;
    // Before init nobody else could call back.
    const auto is_kept =
      lib.check() == PMIX_SUCCESS && lib.post([here = *here, cbfunc, cbdata] {
        show_infos(PMIX_SUCCESS, here, cbfunc, cbdata);
      });
    if (!is_kept)
      show_infos(PMIX_SUCCESS, *here, cbfunc, cbdata);
    return PMIX_SUCCESS;
  }
  if (const auto code = lib.check(); code != PMIX_SUCCESS)
    return code;
  return ask_infos(lib, std::move(*x), cbfunc, cbdata);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Log(const pmix_info_t data[], size_t ndata,
                       const pmix_info_t directives[], size_t ndirs) try {
  TROUPE_ENTER_BLOCKING(lib)
  TROUPE_TAKE(x, make_log(data, ndata, directives, ndirs));
  const auto limit = limit_of(x->directives);
  return await_op(lib, std::move(*x), limit);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Log_nb(const pmix_info_t data[], size_t ndata,
                          const pmix_info_t directives[], size_t ndirs,
                          pmix_op_cbfunc_t cbfunc, void* cbdata) try {
  TROUPE_ENTER(lib)
  TROUPE_TAKE(x, make_log(data, ndata, directives, ndirs));
  return ask_op(lib, std::move(*x), cbfunc, cbdata);
} catch (...) {
  return status_of_exception();
}

// -- peers and nodes -----------------------------------------------------------

namespace {

/// Which answer of a server means that it does not know the command: 4.x
/// servers do not. Source: OpenPMIx wire protocol, command numbers.
pmix_status_t not_known(const caf::error& x) {
  const auto code = status_of(x);
  return code == status::not_supported || code == status::error
           ? PMIX_ERR_NOT_FOUND
           : to_c(code);
}

/// Fetches the data of a namespace that we do not know yet.
void learn(const library& lib, const std::string& nspace) {
  const auto store = lib.store();
  if (nspace.empty() || store->knows(nspace))
    return;
  auto x = get_request{};
  x.target = {nspace, rank_wildcard};
  x.directives.push_back(make_info(attr::immediate, value::boolean(true)));
  if (const auto y = lib.ask_and_wait<get_result>(std::move(x)))
    for (const auto& block : y->blocks)
      store->add(block);
}

} // namespace

pmix_status_t PMIx_Resolve_peers(const char* nodename,
                                 const pmix_nspace_t nspace,
                                 pmix_proc_t** procs, size_t* nprocs) try {
  TROUPE_ENTER_BLOCKING(lib)
  if (procs == nullptr || nprocs == nullptr)
    return PMIX_ERR_BAD_PARAM;
  *procs = nullptr;
  *nprocs = 0;
  const auto node = std::string{nodename != nullptr ? nodename : ""};
  const auto whose = std::string{nspace_of(nspace)};
  learn(lib, whose);
  auto found = lib.store()->peers(node, whose);
  if (!found) {
    auto x = resolve_peers_request{};
    if (!node.empty())
      x.node = node;
    if (!whose.empty())
      x.nspace = whose;
    auto answer = lib.ask_and_wait<resolve_peers_result>(std::move(x));
    if (!answer)
      return not_known(answer.error());
    found = std::move(answer->procs);
  }
  auto array = to_c_procs(*found);
  if (!array)
    return to_c(array.error());
  *nprocs = array->size();
  *procs = array->release();
  return PMIX_SUCCESS;
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Resolve_nodes(const pmix_nspace_t nspace,
                                 char** nodelist) try {
  TROUPE_ENTER_BLOCKING(lib)
  if (nodelist == nullptr)
    return PMIX_ERR_BAD_PARAM;
  *nodelist = nullptr;
  const auto whose = std::string{nspace_of(nspace)};
  learn(lib, whose);
  auto found = lib.store()->nodes(whose);
  if (!found) {
    auto x = resolve_nodes_request{};
    if (!whose.empty())
      x.nspace = whose;
    auto answer = lib.ask_and_wait<resolve_nodes_result>(std::move(x));
    if (!answer)
      return not_known(answer.error());
    found = std::move(answer->nodes);
  }
  *nodelist = to_c_text(*found);
  return *nodelist != nullptr ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
} catch (...) {
  return status_of_exception();
}
