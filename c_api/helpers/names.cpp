#include "adapters/c_values/convert.hpp"
#include "c_api/helpers/failure.hpp"

#include <pmix.h>

#include <algorithm>

// Keys, namespaces and process identifiers. No function reads more than a key
// or a namespace may have, so that an array without its final zero is safe.

using namespace troupe::c_api;

namespace {

/// Whether a namespace stands for any: it compares equal to all.
/// Source: OpenPMIx, which programs rely on: an empty namespace is a wildcard.
bool is_any(const char* nspace) {
  return nspace_of(nspace).empty();
}

} // namespace

void PMIx_Load_key(pmix_key_t key, const char* src) {
  if (key != nullptr)
    set_text(key, sizeof(pmix_key_t), key_of(src));
}

bool PMIx_Check_key(const char* key, const char* str) {
  return key != nullptr && str != nullptr && key_of(key) == key_of(str);
}

bool PMIx_Check_reserved_key(const char* key) {
  return key != nullptr && std::strncmp(key, "pmix", 4) == 0;
}

void PMIx_Load_nspace(pmix_nspace_t nspace, const char* src) {
  if (nspace != nullptr)
    set_text(nspace, sizeof(pmix_nspace_t), nspace_of(src));
}

bool PMIx_Check_nspace(const char* x, const char* y) {
  return is_any(x) || is_any(y) || nspace_of(x) == nspace_of(y);
}

bool PMIx_Nspace_invalid(const char* nspace) {
  return is_any(nspace);
}

void PMIx_Load_procid(pmix_proc_t* x, const char* nspace, pmix_rank_t rank) {
  if (x == nullptr)
    return;
  PMIx_Load_nspace(x->nspace, nspace);
  x->rank = rank;
}

void PMIx_Proc_load(pmix_proc_t* x, const char* nspace, pmix_rank_t rank) {
  PMIx_Load_procid(x, nspace, rank);
}

void PMIx_Xfer_procid(pmix_proc_t* to, const pmix_proc_t* from) {
  if (to != nullptr && from != nullptr && to != from)
    *to = *from;
}

bool PMIx_Check_rank(pmix_rank_t x, pmix_rank_t y) {
  return x == y || x == PMIX_RANK_WILDCARD || y == PMIX_RANK_WILDCARD;
}

bool PMIx_Rank_valid(pmix_rank_t x) {
  return x < PMIX_RANK_VALID;
}

bool PMIx_Check_procid(const pmix_proc_t* x, const pmix_proc_t* y) {
  return x != nullptr && y != nullptr && PMIx_Check_nspace(x->nspace, y->nspace)
         && PMIx_Check_rank(x->rank, y->rank);
}

bool PMIx_Procid_invalid(const pmix_proc_t* x) {
  return x == nullptr || is_any(x->nspace) || x->rank == PMIX_RANK_INVALID;
}

// A namespace of several clusters is `<cluster>:<namespace>`; one that does not
// fit becomes empty.

void PMIx_Multicluster_nspace_construct(pmix_nspace_t target,
                                        pmix_nspace_t cluster,
                                        pmix_nspace_t nspace) try {
  if (target == nullptr)
    return;
  auto text = std::string{nspace_of(cluster)};
  text += ':';
  text += nspace_of(nspace);
  set_text(target, sizeof(pmix_nspace_t),
           text.size() <= PMIX_MAX_NSLEN ? text : std::string{});
} catch (...) {
  static_cast<void>(status_of_exception());
}

void PMIx_Multicluster_nspace_parse(pmix_nspace_t target, pmix_nspace_t cluster,
                                    pmix_nspace_t nspace) try {
  const auto text = std::string{nspace_of(target)};
  const auto colon = std::min(text.find(':'), text.size());
  if (cluster != nullptr)
    set_text(cluster, sizeof(pmix_nspace_t), text.substr(0, colon));
  if (nspace != nullptr)
    set_text(nspace, sizeof(pmix_nspace_t),
             colon < text.size() ? text.substr(colon + 1) : std::string{});
} catch (...) {
  static_cast<void>(status_of_exception());
}
