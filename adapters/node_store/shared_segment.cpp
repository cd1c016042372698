#include "adapters/node_store/shared_segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

// Of headers newer than some C libraries.
#ifndef F_SEAL_FUTURE_WRITE
#  define F_SEAL_FUTURE_WRITE 0x0010
#endif
#ifndef MADV_POPULATE_WRITE
#  define MADV_POPULATE_WRITE 23
#endif
#ifndef MFD_NOEXEC_SEAL
#  define MFD_NOEXEC_SEAL 0x0008U
#endif

namespace troupe {

namespace {

constexpr int fixed_size = F_SEAL_SHRINK | F_SEAL_GROW;

size_t whole_pages(size_t size) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return (size + page - 1) / page * page;
}

/// Closes nothing and keeps the reason of a failure.
shared_segment failed(int code) {
  errno = code;
  return {};
}

char* map_all(int fd, size_t size, bool writes) {
  const auto how = writes ? PROT_READ | PROT_WRITE : PROT_READ;
  auto* found = ::mmap(nullptr, size, how, MAP_SHARED, fd, 0);
  if (found == MAP_FAILED)
    return nullptr;
  // A forked child has no part in it: it is another process of the job. Most of
  // it is never written: no large pages.
  ::madvise(found, size, MADV_DONTFORK);
  ::madvise(found, size, MADV_NOHUGEPAGE);
  return static_cast<char*>(found);
}

/// Kernels before 6.3 know no flag for memory that is never a program.
int make_memfd(const char* name) {
  constexpr auto flags = unsigned{MFD_CLOEXEC | MFD_ALLOW_SEALING};
  const auto fd = ::memfd_create(name, flags | MFD_NOEXEC_SEAL);
  return fd >= 0 || errno != EINVAL ? fd : ::memfd_create(name, flags);
}

} // namespace

shared_segment::shared_segment(shared_segment&& other) noexcept
  : fd_(std::move(other.fd_)), data_(std::exchange(other.data_, nullptr)),
    size_(std::exchange(other.size_, 0)) {
  // nop
}

shared_segment& shared_segment::operator=(shared_segment&& other) noexcept {
  if (this != &other) {
    release();
    fd_ = std::move(other.fd_);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

shared_segment::~shared_segment() {
  release();
}

void shared_segment::release() noexcept {
  if (data_ != nullptr)
    ::munmap(data_, size_);
  data_ = nullptr;
  size_ = 0;
  fd_.reset();
}

shared_segment shared_segment::make(const char* name, size_t size,
                                    writers who) {
  auto result = shared_segment{};
  auto fd = unique_fd{make_memfd(name)};
  const auto all = whole_pages(size);
  if (!fd || ::ftruncate(fd.get(), static_cast<off_t>(all)) != 0
      || ::fchmod(fd.get(), S_IRUSR | S_IWUSR) != 0
      || ::fcntl(fd.get(), F_ADD_SEALS, fixed_size) != 0)
    return failed(errno);
  result.data_ = map_all(fd.get(), all, true);
  if (result.data_ == nullptr)
    return failed(errno);
  result.size_ = all;
  result.fd_ = std::move(fd);
  // What has been mapped stays as it is.
  if (who == writers::maker)
    ::fcntl(result.fd(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE);
  ::fcntl(result.fd(), F_ADD_SEALS, F_SEAL_SEAL);
  return result;
}

shared_segment shared_segment::map(const std::string& path, bool may_write,
                                   uint32_t owner) {
  // The number may be another file's by now.
  const auto flags =
    (may_write ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  const auto fd = unique_fd{::open(path.c_str(), flags)};
  if (!fd)
    return failed(errno);
  struct stat what {};
  if (::fstat(fd.get(), &what) != 0)
    return failed(errno);
  if (what.st_uid != owner)
    return failed(EPERM);
  // Only memory without a name has seals.
  const auto seals = ::fcntl(fd.get(), F_GET_SEALS);
  if (!S_ISREG(what.st_mode) || what.st_size <= 0 || seals < 0
      || (seals & fixed_size) != fixed_size)
    return failed(EINVAL);
  auto result = shared_segment{};
  result.data_ =
    map_all(fd.get(), static_cast<size_t>(what.st_size), may_write);
  if (result.data_ == nullptr)
    return failed(errno);
  result.size_ = static_cast<size_t>(what.st_size);
  return result;
}

bool shared_segment::reserve(size_t offset, size_t size) const noexcept {
  if (offset > size_ || size > size_ - offset)
    return false;
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const auto first = offset / page * page;
  const auto end = whole_pages(offset + size);
  if (::madvise(data_ + first, end - first, MADV_POPULATE_WRITE) == 0)
    return true;
  // Linux before 5.14 does not know it: there writing does what it can.
  return errno == EINVAL;
}

bool shared_segment::copy(size_t offset, void* to, size_t size) const noexcept {
  auto* at = static_cast<char*>(to);
  while (size > 0) {
    const auto n = ::pread(fd_.get(), at, size, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    at += n;
    offset += static_cast<size_t>(n);
    size -= static_cast<size_t>(n);
  }
  return true;
}

uint64_t shared_segment::used() const noexcept {
  struct stat what {};
  constexpr auto block = uint64_t{512};
  return fd_ && ::fstat(fd_.get(), &what) == 0
           ? static_cast<uint64_t>(what.st_blocks) * block
           : 0;
}

std::string path_of_descriptor(uint32_t pid, int fd) {
  return "/proc/" + (pid == 0 ? std::string{"self"} : std::to_string(pid))
         + "/fd/" + std::to_string(fd);
}

} // namespace troupe
