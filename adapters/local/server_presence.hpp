#pragma once

#include <cstdint>
#include <ctime>

namespace troupe {

/// Whether the server that wrote a rendezvous file is no more: no process has its
/// number, or one that was started after the file was written and does not listen
/// at its port. The wall clock alone accuses nobody: if it is set forward, all
/// processes seem to be younger than all files (the kernel tells their age from
/// the start of the machine, and moves that along).
/// @param pid, port What the file says of its server.
/// @param written When the file was written, of its status.
bool is_server_gone(uint32_t pid, uint16_t port, time_t written);

} // namespace troupe
