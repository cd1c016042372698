#include "adapters/sensors/file_system.hpp"

#include "adapters/local/system_error.hpp"

#include <sys/statvfs.h>

#include <algorithm>

namespace troupe {

namespace {

/// @param total Without what is kept for the administrator.
double percent(uint64_t used, uint64_t total) {
  constexpr auto whole = 100.0;
  return total == 0
           ? 0.0
           : whole * static_cast<double>(used) / static_cast<double>(total);
}

} // namespace

sensor_readings read_file_system(const std::string& path) {
  struct statvfs x {};
  if (::statvfs(path.c_str(), &x) != 0)
    return {
      {}, reason_of(system_error("cannot look at the file system of " + path))};
  // None of it is trusted: a file system in user space may say anything.
  const auto blocks = uint64_t{x.f_blocks};
  const auto used = blocks - std::min(blocks, uint64_t{x.f_bfree});
  const auto free = std::min(blocks - used, uint64_t{x.f_bavail});
  const auto files = uint64_t{x.f_files};
  const auto taken = files - std::min(files, uint64_t{x.f_ffree});
  const auto space = percent(used, used + free);
  const auto names = percent(taken, files);
  auto result = sensor_reading{};
  result.of = sensor_quantity::file_system_use;
  result.device = path;
  result.label = names > space ? "files" : "space";
  result.value = std::max(space, names);
  return {{result}, {}};
}

} // namespace troupe
