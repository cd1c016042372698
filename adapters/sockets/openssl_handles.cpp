#include "adapters/sockets/openssl_handles.hpp"

#include "messages/status.hpp"

#include <openssl/err.h>

namespace troupe {

std::string take_openssl_error() {
  const auto code = ERR_get_error();
  ERR_clear_error();
  const auto* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason != nullptr ? reason : "unknown reason";
}

caf::error openssl_error(const std::string& what) {
  return make_error(status::error, what + ": " + take_openssl_error());
}

} // namespace troupe
