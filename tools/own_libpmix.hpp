#pragma once

#include <caf/expected.hpp>

#include <filesystem>
#include <string>

namespace troupe {

/// The folder of the libpmix.so.2 that belongs to a program of ours.
/// @param program Its path, without symbolic links.
/// @returns an error that says where it is not.
caf::expected<std::string> own_libpmix(const std::filesystem::path& program);

} // namespace troupe
