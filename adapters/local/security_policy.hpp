#pragma once

#include "adapters/wire/handshake.hpp"
#include "messages/connection.hpp"

#include <caf/error.hpp>
#include <caf/expected.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace troupe {

class thread_pool;

/// Asks munge who made a credential. Blocks: not for the thread of the loop.
/// @param socket     Where munged listens; empty: where libmunge expects it.
/// @param credential The text, with or without its final zero.
/// @returns `invalid_cred` if munge does not vouch for it (it also refuses one
///          that it has seen before, or an old one), `unreach` if munged cannot
///          be asked.
/// Source: OpenPMIx wire protocol, credentials; munge(3).
caf::expected<credentials> decode_munge(const std::string& socket,
                                        const std::string& credential);

/// The same, on a thread of `pool`.
/// @param done Called once on the thread of the loop, unless the pool ends
///             earlier.
/// @returns `false` if the pool has too much to do already.
bool decode_munge(thread_pool& pool, std::string socket, std::string credential,
                  std::function<void(caf::expected<credentials>)> done);

/// How a peer proves who it is.
enum class security_mechanism : uint8_t {
  /// It states user and group; the kernel must confirm the user.
  native,

  /// It brings a credential of munge; the kernel must confirm the user, too.
  munge,
};

/// The name of a mechanism on the wire and in `PMIX_SECURITY_MODE`.
std::string to_string(security_mechanism x);

/// What a server demands of its peers. The server's policy alone fixes the
/// mechanism; no wish of a peer weakens it.
/// Source: PMIx Standard v5, "Security"; guarantees, attacks X3 to X5.
struct security_policy {
  security_mechanism mechanism = security_mechanism::native;

  /// Where munged listens; empty: where libmunge expects it.
  std::string munge_socket;
};

/// Refuses a greeting that names another mechanism than the policy's.
caf::error check_mechanism(const security_policy& policy,
                           const wire::hello& greeting);

/// Establishes who a peer of mechanism `native` is.
/// @param uid The owner of the other end of the socket, from the kernel.
/// @returns the kernel's user, and the group that the peer states: the kernel
///          knows no group of a TCP socket, and looking one up may block. A
///          group therefore is only as good as the user's word and must not
///          grant what the user alone would not get.
caf::expected<credentials> confirm_native(const wire::hello& greeting,
                                          uint32_t uid);

/// Establishes who a peer of mechanism `munge` is.
/// @param proven What munge says of the credential.
/// @param uid    The owner of the other end of the socket, from the kernel: a
///               credential that somebody else made is of no use.
caf::expected<credentials> confirm_munge(const wire::hello& greeting,
                                         const credentials& proven,
                                         uint32_t uid);

} // namespace troupe
