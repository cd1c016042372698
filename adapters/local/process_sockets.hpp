#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

/// Whether a process has a socket open.
enum class holding : uint8_t {
  yes,
  no,

  /// The kernel does not let us look: the process has more rights than we.
  unknown,
};

/// Whether process `pid` has the socket with number `inode` open.
/// @param most Of how many of its descriptors, the lowest ones, to look at:
///             nobody but the process says how many it has.
/// Source: proc(5), `/proc/pid/fd`.
holding holds_socket(uint32_t pid, uint64_t inode, size_t most = SIZE_MAX);

/// Whether `pid` or what it has started has it: its descendants, and those of ours
/// whose parents have ended, which are its own as their environment says. Ours
/// are all that we or they have started, so that others do not get in. Reads
/// much of `/proc`: not for the loop.
/// @param variables What the environment of `pid` has and no other's, as in
///                  `NAME=value`.
holding family_holds_socket(uint32_t pid, uint64_t inode,
                            const std::vector<std::string>& variables);

/// The processes of this machine that have the socket with number `inode` open, as
/// far as the kernel lets us look. Reads much of `/proc`: not for the loop.
/// Source: proc(5), `/proc/pid/fd`.
std::vector<uint32_t> holders_of(uint64_t inode);

} // namespace troupe
