// Publish, lookup, unpublish.

#include "c_api/helpers/failure.hpp"
#include "c_api/request.hpp"
#include "messages/publish.hpp"

#include <unistd.h>

using namespace troupe;
using namespace troupe::c_api;

namespace {

caf::expected<publish_request> make_publish(const pmix_info_t* infos,
                                            size_t ninfo) {
  if (infos == nullptr || ninfo == 0)
    return make_error(status::bad_param);
  auto data = to_infos(infos, ninfo);
  if (!data)
    return std::move(data.error());
  return publish_request{::geteuid(), std::move(*data)};
}

caf::expected<lookup_request> make_lookup(std::vector<std::string> keys,
                                          const pmix_info_t* infos,
                                          size_t ninfo) {
  if (keys.empty())
    return make_error(status::bad_param);
  for (const auto& key : keys)
    if (key.empty() || key.size() > max_key_length)
      return make_error(status::bad_param);
  auto directives = to_infos(infos, ninfo);
  if (!directives)
    return std::move(directives.error());
  return lookup_request{::geteuid(), std::move(keys), std::move(*directives)};
}

caf::expected<unpublish_request>
make_unpublish(char** keys, const pmix_info_t* infos, size_t ninfo) {
  auto directives = to_infos(infos, ninfo);
  if (!directives)
    return std::move(directives.error());
  return unpublish_request{::geteuid(), to_strings(keys),
                           std::move(*directives)};
}

/// Fills in what was found; what was not keeps an empty value.
pmix_status_t fill_in(const lookup_result& x, pmix_pdata_t* data,
                      size_t ndata) {
  auto found = size_t{0};
  for (size_t i = 0; i < ndata; ++i) {
    const auto key = text_of(data[i].key);
    for (const auto& y : x.found) {
      if (y.key != key)
        continue;
      auto fresh = pmix_value_t{};
      if (const auto code = to_c(y.val, fresh); code != PMIX_SUCCESS)
        return code;
      to_c(y.proc, data[i].proc);
      data[i].value = fresh;
      ++found;
      break;
    }
  }
  if (found == 0)
    return PMIX_ERR_NOT_FOUND;
  return found == ndata ? PMIX_SUCCESS : PMIX_ERR_PARTIAL_SUCCESS;
}

} // namespace

pmix_status_t PMIx_Publish(const pmix_info_t info[], size_t ninfo) try {
  TROUPE_ENTER_BLOCKING(lib)
  TROUPE_TAKE(x, make_publish(info, ninfo));
  const auto limit = limit_of(x->infos);
  return await_op(lib, std::move(*x), limit);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Publish_nb(const pmix_info_t info[], size_t ninfo,
                              pmix_op_cbfunc_t cbfunc, void* cbdata) try {
  TROUPE_ENTER(lib)
  TROUPE_TAKE(x, make_publish(info, ninfo));
  return ask_op(lib, std::move(*x), cbfunc, cbdata);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Lookup(pmix_pdata_t data[], size_t ndata,
                          const pmix_info_t info[], size_t ninfo) try {
  TROUPE_ENTER_BLOCKING(lib)
  if (data == nullptr || ndata == 0)
    return PMIX_ERR_BAD_PARAM;
  auto keys = std::vector<std::string>{};
  for (size_t i = 0; i < ndata; ++i)
    keys.emplace_back(text_of(data[i].key));
  TROUPE_TAKE(x, make_lookup(std::move(keys), info, ninfo));
  const auto limit = limit_of(x->directives);
  const auto found = lib.ask_and_wait<lookup_result>(std::move(*x), limit);
  return found ? fill_in(*found, data, ndata) : to_c(found.error());
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Lookup_nb(char** keys, const pmix_info_t info[],
                             size_t ninfo, pmix_lookup_cbfunc_t cbfunc,
                             void* cbdata) try {
  TROUPE_ENTER(lib)
  if (cbfunc == nullptr)
    return PMIX_ERR_BAD_PARAM;
  TROUPE_TAKE(x, make_lookup(to_strings(keys), info, ninfo));
  return lib.ask<lookup_result>(
    std::move(*x), [cbfunc, cbdata](const caf::expected<lookup_result>& y) {
      auto found = to_c_pdatas(y ? y->found : std::vector<pdata>{});
      const auto code = !y       ? to_c(y.error())
                        : !found ? to_c(found.error())
                                 : PMIX_SUCCESS;
      cbfunc(code, found ? found->data() : nullptr, found ? found->size() : 0,
             cbdata);
    });
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Unpublish(char** keys, const pmix_info_t info[],
                             size_t ninfo) try {
  TROUPE_ENTER_BLOCKING(lib)
  TROUPE_TAKE(x, make_unpublish(keys, info, ninfo));
  const auto limit = limit_of(x->directives);
  return await_op(lib, std::move(*x), limit);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Unpublish_nb(char** keys, const pmix_info_t info[],
                                size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                void* cbdata) try {
  TROUPE_ENTER(lib)
  TROUPE_TAKE(x, make_unpublish(keys, info, ninfo));
  return ask_op(lib, std::move(*x), cbfunc, cbdata);
} catch (...) {
  return status_of_exception();
}
