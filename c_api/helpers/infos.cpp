#include "adapters/c_values/c_types.hpp"
#include "adapters/c_values/convert.hpp"
#include "c_api/helpers/failure.hpp"

#include <pmix.h>

#include <memory>
#include <new>

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

// -- published data ----------------------------------------------------------

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

// -- lists: they grow one by one and end as a data array ---------------------

namespace {

struct item {
  pmix_info_t content{};
  item* next = nullptr;

  item() = default;

  item(const item&) = delete;

  item& operator=(const item&) = delete;

  ~item() {
    PMIx_Info_destruct(&content);
  }
};

/// The list itself owns its items.
struct info_list {
  item* first = nullptr;
  item* last = nullptr;
  size_t size = 0;

  info_list() = default;

  info_list(const info_list&) = delete;

  info_list& operator=(const info_list&) = delete;

  ~info_list() {
    while (first != nullptr) {
      auto* next = first->next;
      delete first;
      first = next;
    }
  }

  void append(std::unique_ptr<item> x) {
    auto* added = x.release();
    (last != nullptr ? last->next : first) = added;
    last = added;
    ++size;
  }

  void prepend(std::unique_ptr<item> x) {
    auto* added = x.release();
    added->next = first;
    first = added;
    if (last == nullptr)
      last = added;
    ++size;
  }

  item* find(const char* key) const {
    for (auto* x = first; x != nullptr; x = x->next)
      if (PMIx_Check_key(x->content.key, key))
        return x;
    return nullptr;
  }
};

/// Makes an item, fills it with `fill`, which gives a status, and hands it to
/// `add`.
template <class Fill, class Add>
pmix_status_t add_item(void* ptr, Fill fill, Add add) {
  auto* list = static_cast<info_list*>(ptr);
  if (list == nullptr)
    return PMIX_ERR_BAD_PARAM;
  auto x = std::unique_ptr<item>{new (std::nothrow) item};
  if (x == nullptr)
    return PMIX_ERR_NOMEM;
  const auto code = fill(x->content);
  if (code == PMIX_SUCCESS)
    (list->*add)(std::move(x));
  return code;
}

/// The same for an item whose key may be there already: its value is replaced
/// if `overwrite`, else kept.
template <class Fill>
pmix_status_t add_unique(void* ptr, const char* key, bool overwrite,
                         Fill fill) {
  if (ptr == nullptr || key == nullptr)
    return PMIX_ERR_BAD_PARAM;
  auto* known = static_cast<info_list*>(ptr)->find(key);
  if (known == nullptr)
    return add_item(ptr, fill, &info_list::append);
  if (!overwrite)
    return PMIX_SUCCESS;
  auto fresh = pmix_info_t{};
  const auto code = fill(fresh);
  if (code != PMIX_SUCCESS)
    return code;
  PMIx_Info_destruct(&known->content);
  known->content = fresh;
  return PMIX_SUCCESS;
}

auto from_data(const char* key, const void* data, pmix_data_type_t type) {
  return [=](pmix_info_t& to) { return PMIx_Info_load(&to, key, data, type); };
}

auto from_value(const char* key, const pmix_value_t* value) {
  return [=](pmix_info_t& to) {
    if (key == nullptr)
      return pmix_status_t{PMIX_ERR_BAD_PARAM};
    PMIx_Load_key(to.key, key);
    return PMIx_Value_xfer(&to.value, value);
  };
}

auto from_info(const pmix_info_t* info) {
  return [=](pmix_info_t& to) { return PMIx_Info_xfer(&to, info); };
}

} // namespace

void* PMIx_Info_list_start(void) try {
  return new (std::nothrow) info_list;
} catch (...) {
  return nullptr;
}

pmix_status_t PMIx_Info_list_add(void* ptr, const char* key, const void* value,
                                 pmix_data_type_t type) try {
  return add_item(ptr, from_data(key, value, type), &info_list::append);
} catch (...) {
  return c_api::status_of_exception();
}

pmix_status_t PMIx_Info_list_add_unique(void* ptr, const char* key,
                                        const void* value,
                                        pmix_data_type_t type,
                                        bool overwrite) try {
  return add_unique(ptr, key, overwrite, from_data(key, value, type));
} catch (...) {
  return c_api::status_of_exception();
}

pmix_status_t PMIx_Info_list_add_value(void* ptr, const char* key,
                                       const pmix_value_t* value) try {
  return add_item(ptr, from_value(key, value), &info_list::append);
} catch (...) {
  return c_api::status_of_exception();
}

pmix_status_t PMIx_Info_list_add_value_unique(void* ptr, const char* key,
                                              const pmix_value_t* value,
                                              bool overwrite) try {
  return add_unique(ptr, key, overwrite, from_value(key, value));
} catch (...) {
  return c_api::status_of_exception();
}

pmix_status_t PMIx_Info_list_prepend(void* ptr, const char* key,
                                     const void* value,
                                     pmix_data_type_t type) try {
  return add_item(ptr, from_data(key, value, type), &info_list::prepend);
} catch (...) {
  return c_api::status_of_exception();
}

/// The list shares the value of `info`, which has to outlive it.
pmix_status_t PMIx_Info_list_insert(void* ptr, pmix_info_t* info) try {
  const auto share = [info](pmix_info_t& to) {
    if (info == nullptr)
      return pmix_status_t{PMIX_ERR_BAD_PARAM};
    to = *info;
    PMIx_Info_persistent(&to);
    return pmix_status_t{PMIX_SUCCESS};
  };
  return add_item(ptr, share, &info_list::append);
} catch (...) {
  return c_api::status_of_exception();
}

pmix_status_t PMIx_Info_list_xfer(void* ptr, const pmix_info_t* info) try {
  return add_item(ptr, from_info(info), &info_list::append);
} catch (...) {
  return c_api::status_of_exception();
}

pmix_status_t PMIx_Info_list_xfer_unique(void* ptr, const pmix_info_t* info,
                                         bool overwrite) try {
  return add_unique(ptr, info != nullptr ? info->key : nullptr, overwrite,
                    from_info(info));
} catch (...) {
  return c_api::status_of_exception();
}

pmix_status_t PMIx_Info_list_convert(void* ptr, pmix_data_array_t* array) try {
  const auto* list = static_cast<const info_list*>(ptr);
  if (list == nullptr || array == nullptr)
    return PMIX_ERR_BAD_PARAM;
  PMIx_Data_array_init(array, PMIX_INFO);
  if (list->size == 0)
    return PMIX_ERR_EMPTY;
  PMIx_Data_array_construct(array, list->size, PMIX_INFO);
  if (array->array == nullptr)
    return PMIX_ERR_NOMEM;
  auto* to = static_cast<pmix_info_t*>(array->array);
  for (const auto* x = list->first; x != nullptr; x = x->next) {
    const auto code = PMIx_Info_xfer(to++, &x->content);
    if (code != PMIX_SUCCESS) {
      PMIx_Data_array_destruct(array);
      return code;
    }
  }
  return PMIX_SUCCESS;
} catch (...) {
  return c_api::status_of_exception();
}

void PMIx_Info_list_release(void* ptr) {
  delete static_cast<info_list*>(ptr);
}

/// `prev` is what an earlier call gave as `next`, or null for the first info.
pmix_info_t* PMIx_Info_list_get_info(void* ptr, void* prev, void** next) {
  const auto* list = static_cast<const info_list*>(ptr);
  auto* x = prev != nullptr   ? static_cast<item*>(prev)
            : list != nullptr ? list->first
                              : nullptr;
  if (next != nullptr)
    *next = x != nullptr ? x->next : nullptr;
  return x != nullptr ? &x->content : nullptr;
}

size_t PMIx_Info_list_get_size(void* ptr) {
  return ptr != nullptr ? static_cast<const info_list*>(ptr)->size : 0;
}
