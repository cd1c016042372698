#pragma once

#include <cstdint>
#include <ctime>
#include <optional>

namespace troupe {

/// When process `pid` was started, to the second.
/// @returns nothing if there is no such process. Two answers that differ belong
///          to two processes, of which the later was given the number anew.
std::optional<time_t> started_at(uint32_t pid);

/// Whether the server that wrote a rendezvous file is no more: no process has its
/// number, or one that was started after the file was written and does not listen
/// at its port. The wall clock alone accuses nobody: if it is set forward, all
/// processes seem to be younger than all files (the kernel tells their age from
/// the start of the machine, and moves that along).
/// @param pid, port What the file says of its server.
/// @param written When the file was written, of its status.
bool is_server_gone(uint32_t pid, uint16_t port, time_t written);

} // namespace troupe
