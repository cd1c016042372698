#include "adapters/c_values/c_types.hpp"
#include "adapters/c_values/convert.hpp"
#include "c_api/helpers/failure.hpp"

#include <pmix.h>

// Infos and published data: loaded, copied, marked.

using namespace troupe;

namespace {

void set(pmix_info_t* x, uint32_t bit) {
  if (x != nullptr)
    x->flags |= bit;
}

bool has(const pmix_info_t* x, uint32_t bit) {
  return x != nullptr && (x->flags & bit) != 0;
}

} // namespace

pmix_status_t PMIx_Info_load(pmix_info_t* x, const char* key, const void* data,
                             pmix_data_type_t type) try {
  if (x == nullptr)
    return PMIX_ERR_BAD_PARAM;
  c_api::construct(PMIX_INFO, x);
  if (key == nullptr)
    return PMIX_ERR_BAD_PARAM;
  PMIx_Load_key(x->key, key);
  return PMIx_Value_load(&x->value, data, type);
} catch (...) {
  return c_api::status_of_exception();
}

pmix_status_t PMIx_Info_xfer(pmix_info_t* to, const pmix_info_t* from) try {
  if (to == nullptr || from == nullptr)
    return PMIX_ERR_BAD_PARAM;
  return to == from ? PMIX_SUCCESS : c_api::copy(PMIX_INFO, to, from);
} catch (...) {
  return c_api::status_of_exception();
}

pmix_boolean_t PMIx_Info_true(const pmix_info_t* x) {
  return x != nullptr ? PMIx_Value_true(&x->value) : PMIX_NON_BOOL;
}

void PMIx_Info_required(pmix_info_t* x) {
  set(x, PMIX_INFO_REQD);
}

bool PMIx_Info_is_required(const pmix_info_t* x) {
  return has(x, PMIX_INFO_REQD);
}

void PMIx_Info_optional(pmix_info_t* x) {
  if (x != nullptr)
    x->flags &= ~PMIX_INFO_REQD;
}

bool PMIx_Info_is_optional(const pmix_info_t* x) {
  return x != nullptr && !has(x, PMIX_INFO_REQD);
}

void PMIx_Info_processed(pmix_info_t* x) {
  set(x, PMIX_INFO_REQD_PROCESSED);
}

bool PMIx_Info_was_processed(const pmix_info_t* x) {
  return has(x, PMIX_INFO_REQD_PROCESSED);
}

void PMIx_Info_set_end(pmix_info_t* x) {
  set(x, PMIX_INFO_ARRAY_END);
}

bool PMIx_Info_is_end(const pmix_info_t* x) {
  return has(x, PMIX_INFO_ARRAY_END);
}

void PMIx_Info_qualifier(pmix_info_t* x) {
  set(x, PMIX_INFO_QUALIFIER);
}

bool PMIx_Info_is_qualifier(const pmix_info_t* x) {
  return has(x, PMIX_INFO_QUALIFIER);
}

void PMIx_Info_persistent(pmix_info_t* x) {
  set(x, PMIX_INFO_PERSISTENT);
}

bool PMIx_Info_is_persistent(const pmix_info_t* x) {
  return has(x, PMIX_INFO_PERSISTENT);
}

// -- published data
// ----------------------------------------------------------------

void PMIx_Pdata_load(pmix_pdata_t* to, const pmix_proc_t* proc, const char* key,
                     const void* data, pmix_data_type_t type) {
  if (to == nullptr)
    return;
  c_api::construct(PMIX_PDATA, to);
  PMIx_Xfer_procid(&to->proc, proc);
  PMIx_Load_key(to->key, key);
  PMIx_Value_load(&to->value, data, type);
}

void PMIx_Pdata_xfer(pmix_pdata_t* to, pmix_pdata_t* from) {
  if (to != nullptr && from != nullptr && to != from)
    c_api::copy(PMIX_PDATA, to, from);
}
