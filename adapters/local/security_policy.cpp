#include "adapters/local/security_policy.hpp"

#include "messages/status.hpp"

namespace troupe {

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
