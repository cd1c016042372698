#pragma once

#include "adapters/loop/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace troupe {

/// Memory of a fixed size without a name in any directory, which processes of
/// one user share. It can be neither cut short nor made longer, so that no
/// access to what is mapped fails for want of a page that was there.
/// Not for two threads at once; what is mapped may be read and written by all.
/// Source: memfd_create(2), fcntl(2) "File Sealing".
class shared_segment {
public:
  /// Who may write.
  enum class writers : uint8_t {
    /// The process that has made it, where the kernel can see to that (Linux
    /// 5.1); on older ones others map it to read all the same.
    maker,

    /// All who map it.
    all,
  };

  /// No segment.
  shared_segment() noexcept = default;

  shared_segment(shared_segment&& other) noexcept;

  shared_segment& operator=(shared_segment&& other) noexcept;

  ~shared_segment();

  /// Makes a segment of zeros; memory is taken as it is written.
  /// @param size In bytes, rounded up to whole pages.
  /// @returns no segment, with the reason in `errno`.
  static shared_segment make(const char* name, size_t size, writers who);

  /// Maps the segment that `path` leads to; keeps no descriptor.
  /// @param may_write Whether this process writes there as well.
  /// @param owner The user whose it has to be.
  /// @returns no segment, with the reason in `errno`: EPERM if it is another
  ///          user's, EINVAL if it is none that `make` has made.
  static shared_segment map(const std::string& path, bool may_write,
                            uint32_t owner);

  explicit operator bool() const noexcept {
    return data_ != nullptr;
  }

  char* data() const noexcept {
    return data_;
  }

  size_t size() const noexcept {
    return size_;
  }

  /// The descriptor by which others find it; -1 for one that was mapped.
  int fd() const noexcept {
    return fd_.get();
  }

  /// Sees to it that so many bytes can be written: else a full machine would
  /// end whoever writes first.
  /// @returns whether there is memory for them.
  bool reserve(size_t offset, size_t size) const noexcept;

  /// Copies bytes without mapping them: no page is made, nothing can fail
  /// halfway. Of the maker's only.
  /// @returns whether all of them are there.
  bool copy(size_t offset, void* to, size_t size) const noexcept;

  /// Bytes of memory that it takes now. Of the maker's only.
  uint64_t used() const noexcept;

private:
  void release() noexcept;

  unique_fd fd_;
  char* data_ = nullptr;
  size_t size_ = 0;
};

/// Where another process of the node finds a descriptor of this one.
/// @param pid 0: of whoever looks.
std::string path_of_descriptor(uint32_t pid, int fd);

} // namespace troupe
