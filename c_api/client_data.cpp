// Put, commit, store: what a process posts.

#include "actors/data/datastore.hpp"
#include "actors/data/get_options.hpp"
#include "adapters/wire/frame.hpp"
#include "adapters/wire/reader.hpp"
#include "c_api/helpers/failure.hpp"
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

/// How much of a commit goes in one message, so that it has no more keys than a
/// server takes at once; a larger value goes alone.
constexpr size_t part_bytes = wire::max_entries_from_client * entry_overhead;

/// The longest text, or bytes, that a message with a key can hold.
constexpr size_t most_bytes = wire::max_message_size - PMIX_MAX_KEYLEN * 4;

bool is_too_long(const value& x) {
  const auto* bytes = std::get_if<std::string>(&x.data);
  return bytes != nullptr && bytes->size() > most_bytes;
}

} // namespace

pmix_status_t PMIx_Put(pmix_scope_t scope, const char key[],
                       pmix_value_t* val) try {
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
  if (scope != PMIX_INTERNAL && is_given_by_host(key))
    return PMIX_ERR_BAD_PARAM;
  if (scope != PMIX_INTERNAL && is_too_long(*x))
    return PMIX_ERR_OUT_OF_RESOURCE;
  store->put(static_cast<enum scope>(scope), key, std::move(*x));
  return PMIX_SUCCESS;
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Commit(void) try {
  auto& lib = library::instance();
  if (const auto code = lib.check(); code != PMIX_SUCCESS)
    return code;
  auto x = lib.store()->take_commit();
  if (x.blocks.empty())
    return PMIX_SUCCESS;
  // The server has it before it gets any later request of ours. Only its answer
  // says whether it has kept it: who posts too much is to hear of it here.
  const auto may_wait = !lib.in_progress_thread();
  auto result = pmix_status_t{PMIX_SUCCESS};
  for (auto& part : parts_of(std::move(x), part_bytes)) {
    const auto code = may_wait ? await_op(lib, std::move(part))
                               : lib.tell<ack>(std::move(part));
    if (result == PMIX_SUCCESS && code != PMIX_ERR_UNREACH)
      result = code;
  }
  return result;
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Store_internal(const pmix_proc_t* proc, const char key[],
                                  pmix_value_t* val) try {
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
} catch (...) {
  return status_of_exception();
}
