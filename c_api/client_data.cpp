// Put, commit, store: what a process posts.

#include "c_api/request.hpp"
#include "messages/data.hpp"

#include <cstring>

using namespace troupe;
using namespace troupe::c_api;

namespace {

/// Whether a key has an end and is not too long.
bool is_key(const char* x) {
  return x != nullptr && *x != '\0'
         && ::strnlen(x, PMIX_MAX_KEYLEN + 1) <= PMIX_MAX_KEYLEN;
}

} // namespace

pmix_status_t PMIx_Put(pmix_scope_t scope, const char key[],
                       pmix_value_t* val) {
  const auto store = library::instance().store();
  if (!store)
    return PMIX_ERR_INIT;
  if (!is_key(key) || scope < PMIX_LOCAL || scope > PMIX_DEL_INTERNAL)
    return PMIX_ERR_BAD_PARAM;
  if (scope > PMIX_INTERNAL) {
    const auto whose = scope == PMIX_DEL_INTERNAL ? PMIX_INTERNAL
                       : scope == PMIX_DEL_LOCAL  ? PMIX_LOCAL
                       : scope == PMIX_DEL_REMOTE ? PMIX_REMOTE
                                                  : PMIX_GLOBAL;
    return to_c(store->take_back(static_cast<enum scope>(whose), key));
  }
  if (val == nullptr)
    return PMIX_ERR_BAD_PARAM;
  TROUPE_TAKE(x, to_value(*val));
  if (std::string_view{key} == attr::qualified_value && x->array() == nullptr)
    return PMIX_ERR_BAD_PARAM;
  store->put(static_cast<enum scope>(scope), key, std::move(*x));
  return PMIX_SUCCESS;
}

pmix_status_t PMIx_Commit(void) {
  auto& lib = library::instance();
  if (const auto code = lib.check(); code != PMIX_SUCCESS)
    return code;
  auto x = lib.store()->take_commit();
  if (x.blocks.empty())
    return PMIX_SUCCESS;
  // The server has it before it gets any later request of ours: no need to
  // wait. Source: PMIx Standard v5, `PMIx_Commit` ("asynchronous operation").
  const auto code = lib.tell<ack>(std::move(x));
  return code == PMIX_ERR_UNREACH ? PMIX_SUCCESS : code;
}

pmix_status_t PMIx_Store_internal(const pmix_proc_t* proc, const char key[],
                                  pmix_value_t* val) {
  const auto& lib = library::instance();
  const auto store = lib.store();
  if (!store || !lib.is_up())
    return PMIX_ERR_INIT;
  if (!is_key(key) || val == nullptr)
    return PMIX_ERR_BAD_PARAM;
  auto whose = proc != nullptr ? to_proc(*proc) : lib.proc();
  if (whose.nspace.empty())
    whose.nspace = lib.proc().nspace;
  TROUPE_TAKE(x, to_value(*val));
  store->store(whose, key, std::move(*x));
  return PMIX_SUCCESS;
}
