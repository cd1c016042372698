#pragma once

#include <unistd.h>

#include <utility>

namespace troupe {

/// Owns a descriptor and closes it.
class unique_fd {
public:
  unique_fd() noexcept = default;

  explicit unique_fd(int fd) noexcept : fd_(fd) {
    // nop
  }

  unique_fd(unique_fd&& other) noexcept : fd_(other.release()) {
    // nop
  }

  unique_fd& operator=(unique_fd&& other) noexcept {
    reset(other.release());
    return *this;
  }

  ~unique_fd() {
    reset();
  }

  /// @returns -1 if there is none.
  int get() const noexcept {
    return fd_;
  }

  explicit operator bool() const noexcept {
    return fd_ >= 0;
  }

  int release() noexcept {
    return std::exchange(fd_, -1);
  }

  void reset(int fd = -1) noexcept {
    if (const auto old = std::exchange(fd_, fd); old >= 0)
      ::close(old);
  }

private:
  int fd_ = -1;
};

} // namespace troupe
