#include "adapters/local/security_policy.hpp"

#include "adapters/loop/thread_pool.hpp"
#include "messages/status.hpp"

#include <munge.h>

#include <cstdlib>
#include <memory>
#include <utility>

namespace troupe {

// -- MUNGE -------------------------------------------------------------------

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

// -- policy ------------------------------------------------------------------

namespace {

caf::error refuse(const std::string& why) {
  return make_error(status::invalid_cred, why);
}

/// Checks what the peer states beside its credential, if it does.
caf::error check_claim(const wire::hello& greeting, uint32_t uid) {
  if (greeting.claimed && greeting.claimed->uid != uid)
    return refuse("claims to be user " + std::to_string(greeting.claimed->uid)
                  + " and is " + std::to_string(uid));
  return caf::none;
}

} // namespace

std::string to_string(security_mechanism x) {
  return x == security_mechanism::native ? "native" : "munge";
}

caf::error check_mechanism(const security_policy& policy,
                           const wire::hello& greeting) {
  const auto demanded = to_string(policy.mechanism);
  if (greeting.security == demanded)
    return caf::none;
  return refuse("asks for security '" + greeting.security.substr(0, 32)
                + "' where '" + demanded + "' is demanded");
}

caf::expected<credentials> confirm_native(const wire::hello& greeting,
                                          uint32_t uid) {
  const auto stated = wire::parse_native_credential(greeting.credential);
  if (!stated)
    return refuse("has no credential");
  if (stated->uid != uid)
    return refuse("has the credential of user " + std::to_string(stated->uid)
                  + " and is " + std::to_string(uid));
  if (auto err = check_claim(greeting, uid))
    return err;
  return credentials{uid, stated->gid};
}

caf::expected<credentials> confirm_munge(const wire::hello& greeting,
                                         const credentials& proven,
                                         uint32_t uid) {
  if (proven.uid != uid)
    return refuse("has a credential that was made by user "
                  + std::to_string(proven.uid) + " and is "
                  + std::to_string(uid));
  if (auto err = check_claim(greeting, uid))
    return err;
  return proven;
}

} // namespace troupe
