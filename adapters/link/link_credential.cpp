#include "adapters/link/link_credential.hpp"

#include "messages/status.hpp"

#include <munge.h>
#include <unistd.h>

#include <cstdlib>

namespace troupe {

namespace {

/// Makes a munge credential without contents. Munged is asked over a socket of
/// this node and answers at once.
caf::error make_munge_credential(std::string& to) {
  char* text = nullptr;
  const auto code = ::munge_encode(&text, nullptr, nullptr, 0);
  if (code == EMUNGE_SUCCESS) {
    to.assign(text);
    to.push_back('\0');
  }
  std::free(text);
  if (code != EMUNGE_SUCCESS)
    return make_error(status::unreach,
                      std::string{"munge: "} + ::munge_strerror(code));
  return caf::none;
}

} // namespace

caf::error make_credential(const std::vector<std::string>& accepted,
                           wire::hello& greeting) {
  static const auto usual = std::vector<std::string>{"native"};
  for (const auto& x : accepted.empty() ? usual : accepted) {
    greeting.security = x;
    if (x == "native") {
      greeting.credential = wire::native_credential({::geteuid(), ::getegid()});
      return caf::none;
    }
    if (x == "munge")
      return make_munge_credential(greeting.credential);
    if (x == "none")
      return caf::none;
  }
  return make_error(status::not_supported,
                    "the server accepts no proof of identity that we have");
}

} // namespace troupe
