#include "adapters/local/munge.hpp"

#include "adapters/loop/thread_pool.hpp"
#include "messages/status.hpp"

#include <munge.h>

#include <cstdlib>
#include <memory>
#include <utility>

namespace troupe {

namespace {

using context = std::unique_ptr<munge_ctx, decltype(&munge_ctx_destroy)>;

caf::error failure(munge_err_t code) {
  const auto outcome = code == EMUNGE_SOCKET || code == EMUNGE_TIMEOUT
                         ? status::unreach
                         : status::invalid_cred;
  return make_error(outcome, std::string{"munge: "} + munge_strerror(code));
}

} // namespace

caf::expected<credentials> decode_munge(const std::string& socket,
                                        const std::string& credential) {
  const auto ctx = context{munge_ctx_create(), munge_ctx_destroy};
  if (ctx == nullptr)
    return failure(EMUNGE_NO_MEMORY);
  if (!socket.empty())
    if (const auto code =
          munge_ctx_set(ctx.get(), MUNGE_OPT_SOCKET, socket.c_str());
        code != EMUNGE_SUCCESS)
      return failure(code);
  void* payload = nullptr;
  int size = 0;
  uid_t uid = 0;
  gid_t gid = 0;
  // Reads the credential up to its first zero.
  const auto code =
    munge_decode(credential.c_str(), ctx.get(), &payload, &size, &uid, &gid);
  std::free(payload);
  if (code != EMUNGE_SUCCESS)
    return failure(code);
  return credentials{uid, gid};
}

bool decode_munge(thread_pool& pool, std::string socket, std::string credential,
                  std::function<void(caf::expected<credentials>)> done) {
  auto result = std::make_shared<caf::expected<credentials>>(
    make_error(status::error, "munge was not asked"));
  return pool.post(
    [=, socket = std::move(socket), credential = std::move(credential)] {
      *result = decode_munge(socket, credential);
    },
    [result, done = std::move(done)] { done(std::move(*result)); });
}

} // namespace troupe
