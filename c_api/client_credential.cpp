// Credentials.

#include "c_api/helpers/failure.hpp"
#include "c_api/request.hpp"
#include "messages/control.hpp"

using namespace troupe;
using namespace troupe::c_api;

namespace {

caf::expected<validate_credential_request>
make_validate(const pmix_byte_object_t* cred, const pmix_info_t* infos,
              size_t ninfo) {
  if (cred == nullptr || (cred->bytes == nullptr && cred->size > 0))
    return make_error(status::bad_param);
  auto directives = to_infos(infos, ninfo);
  if (!directives)
    return std::move(directives.error());
  return validate_credential_request{to_bytes(cred), std::move(*directives)};
}

} // namespace

pmix_status_t PMIx_Get_credential(const pmix_info_t info[], size_t ninfo,
                                  pmix_byte_object_t* credential) try {
  const auto& lib = library::instance();
  if (const auto code = lib.check_blocking(); code != PMIX_SUCCESS)
    return code;
  if (credential == nullptr)
    return PMIX_ERR_BAD_PARAM;
  credential->bytes = nullptr;
  credential->size = 0;
  TROUPE_TAKE(directives, to_infos(info, ninfo));
  const auto limit = limit_of(*directives);
  const auto result = lib.ask_and_wait<get_credential_result>(
    get_credential_request{std::move(*directives)}, limit);
  return result ? to_c_bytes(result->credential, *credential)
                : to_c(result.error());
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Get_credential_nb(const pmix_info_t info[], size_t ninfo,
                                     pmix_credential_cbfunc_t cbfunc,
                                     void* cbdata) try {
  const auto& lib = library::instance();
  if (const auto code = lib.check(); code != PMIX_SUCCESS)
    return code;
  if (cbfunc == nullptr)
    return PMIX_ERR_BAD_PARAM;
  TROUPE_TAKE(directives, to_infos(info, ninfo));
  return lib.ask<get_credential_result>(
    get_credential_request{std::move(*directives)},
    [cbfunc, cbdata](caf::expected<get_credential_result> x) {
      auto bytes = pmix_byte_object_t{};
      auto infos = c_infos{};
      if (x) {
        bytes.bytes = x->credential.data();
        bytes.size = x->credential.size();
        if (auto array = to_c_infos(x->infos))
          infos = std::move(*array);
      }
      cbfunc(code_of(x), x ? &bytes : nullptr, infos.data(), infos.size(),
             cbdata);
    });
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Validate_credential(const pmix_byte_object_t* cred,
                                       const pmix_info_t info[], size_t ninfo,
                                       pmix_info_t** results,
                                       size_t* nresults) try {
  const auto& lib = library::instance();
  if (const auto code = lib.check_blocking(); code != PMIX_SUCCESS)
    return code;
  clear(results, nresults);
  TROUPE_TAKE(x, make_validate(cred, info, ninfo));
  const auto limit = limit_of(x->directives);
  return await_infos(lib, std::move(*x), results, nresults, limit);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Validate_credential_nb(const pmix_byte_object_t* cred,
                                          const pmix_info_t info[],
                                          size_t ninfo,
                                          pmix_validation_cbfunc_t cbfunc,
                                          void* cbdata) try {
  const auto& lib = library::instance();
  if (const auto code = lib.check(); code != PMIX_SUCCESS)
    return code;
  if (cbfunc == nullptr)
    return PMIX_ERR_BAD_PARAM;
  TROUPE_TAKE(x, make_validate(cred, info, ninfo));
  return lib.ask<info_result>(
    std::move(*x), [cbfunc, cbdata](const caf::expected<info_result>& y) {
      auto infos = c_infos{};
      if (y)
        if (auto array = to_c_infos(y->infos))
          infos = std::move(*array);
      cbfunc(code_of(y), infos.data(), infos.size(), cbdata);
    });
} catch (...) {
  return status_of_exception();
}
