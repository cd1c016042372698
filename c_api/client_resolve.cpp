// Resolve peers and nodes: from what is here, else from the server.

#include "c_api/helpers/failure.hpp"
#include "c_api/request.hpp"
#include "messages/data.hpp"

using namespace troupe;
using namespace troupe::c_api;

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
  x.directives.push_back(
    {std::string{attr::immediate}, 0, value::boolean(true)});
  if (const auto y = lib.ask_and_wait<get_result>(std::move(x)))
    for (const auto& block : y->blocks)
      store->add(block);
}

} // namespace

pmix_status_t PMIx_Resolve_peers(const char* nodename,
                                 const pmix_nspace_t nspace,
                                 pmix_proc_t** procs, size_t* nprocs) try {
  const auto& lib = library::instance();
  if (const auto code = lib.check_blocking(); code != PMIX_SUCCESS)
    return code;
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
  const auto& lib = library::instance();
  if (const auto code = lib.check_blocking(); code != PMIX_SUCCESS)
    return code;
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
