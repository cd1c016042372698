#pragma once

#include "messages/connection.hpp"

#include <caf/expected.hpp>

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

} // namespace troupe
