#pragma once

// Directories and files for the tests of what we leave on disk.

#include "tests/test.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

// Other folders have a `world` of their own in the same binary.
namespace troupe::fixtures {
inline namespace sockets {

/// A directory that goes with the object.
struct scratch {
  scratch() {
    char name[] = "/tmp/troupe-test-XXXXXX";
    if (::mkdtemp(name) == nullptr)
      CAF_FAIL("cannot create a directory");
    path = name;
  }

  scratch(const scratch&) = delete;

  scratch& operator=(const scratch&) = delete;

  ~scratch() {
    std::filesystem::remove_all(path);
  }

  std::string operator/(const std::string& name) const {
    return path + "/" + name;
  }

  /// Names in the directory, temporary ones included.
  size_t entries() const {
    return static_cast<size_t>(
      std::distance(std::filesystem::directory_iterator{path}, {}));
  }

  std::string path;
};

inline void write_file(const std::string& path, const std::string& text) {
  std::ofstream{path} << text;
}

inline std::string read_file(const std::string& path) {
  std::ifstream in{path};
  std::ostringstream result;
  result << in.rdbuf();
  return result.str();
}

/// Type and permissions; 0 if there is nothing.
inline mode_t mode_of(const std::string& path) {
  struct stat st;
  return ::lstat(path.c_str(), &st) == 0 ? st.st_mode : 0;
}

inline bool exists(const std::string& path) {
  return mode_of(path) != 0;
}

} // namespace sockets
} // namespace troupe::fixtures
