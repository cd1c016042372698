#pragma once

#include "messages/actors.hpp"

#include <string>

namespace troupe {

class thread_pool;

/// Keeps records of event logs on disk, one request after the other on a
/// thread of the pool. Opens its file with the first record; if that fails, the
/// next one tries again.
/// Source: guarantees 5.1, "Spool".
/// @param directory Where the file, which has no name, is kept.
spool_actor spawn_spool(caf::actor_system& sys, thread_pool& pool,
                        std::string directory);

} // namespace troupe
