#pragma once

// A tree of files that looks like a part of /sys or /proc.

#include "messages/sensor.hpp"
#include "tests/test.hpp"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace troupe::fixtures {
inline namespace sensor_trees {

class tree {
public:
  tree() {
    std::string path = std::filesystem::temp_directory_path() / "troupe-XXXXXX";
    CAF_REQUIRE(mkdtemp(path.data()) != nullptr);
    path_ = path;
  }

  tree(const tree&) = delete;
  tree& operator=(const tree&) = delete;

  ~tree() {
    std::filesystem::remove_all(path_);
  }

  std::string operator/(const std::string& name) const {
    return path_ / name;
  }

  std::string path() const {
    return path_;
  }

  /// Writes a file, and the folders it needs. @returns its path.
  std::string put(const std::string& name, const std::string& text) const {
    const auto path = path_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path} << text;
    return path;
  }

private:
  std::filesystem::path path_;
};

/// The reading of a device; fails the test if there is none.
inline sensor_reading find_reading(const sensor_readings& x, sensor_quantity of,
                                   const std::string& device) {
  for (const auto& y : x.readings)
    if (y.of == of && y.device == device)
      return y;
  CAF_FAIL("no reading of " << device);
}

} // namespace sensor_trees
} // namespace troupe::fixtures
