#include "adapters/node_store/shared_segment.hpp"

#include "tests/test.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

using namespace troupe;

namespace {

using writers = shared_segment::writers;

constexpr auto size = size_t{1} << 20;

std::string path_of(const shared_segment& x) {
  return path_of_descriptor(static_cast<uint32_t>(::getpid()), x.fd());
}

uint32_t self() {
  return ::geteuid();
}

} // namespace

CAF_TEST(what one writes the other reads) {
  const auto made = shared_segment::make("test", size, writers::all);
  CAF_REQUIRE(made);
  const auto mapped = shared_segment::map(path_of(made), true, self());
  CAF_REQUIRE(mapped);
  CAF_CHECK_EQUAL(mapped.size(), size);
  CAF_CHECK_EQUAL(mapped.fd(), -1);
  made.data()[size - 1] = 'a';
  CAF_CHECK_EQUAL(mapped.data()[size - 1], 'a');
  mapped.data()[0] = 'b';
  CAF_CHECK_EQUAL(made.data()[0], 'b');
}

CAF_TEST(X52 nobody else can write what is its makers) {
  const auto made = shared_segment::make("test", size, writers::maker);
  CAF_REQUIRE(made);
  made.data()[0] = 'a';
  CAF_CHECK(!shared_segment::map(path_of(made), true, self()));
  CAF_CHECK_EQUAL(errno, EPERM);
  const auto mapped = shared_segment::map(path_of(made), false, self());
  CAF_REQUIRE(mapped);
  CAF_CHECK_EQUAL(mapped.data()[0], 'a');
  const auto fd = unique_fd{::open(path_of(made).c_str(), O_RDWR)};
  CAF_CHECK_EQUAL(::write(fd.get(), "b", 1), -1);
  CAF_CHECK_EQUAL(::mprotect(mapped.data(), size, PROT_READ | PROT_WRITE), -1);
  made.data()[0] = 'c';
  CAF_CHECK_EQUAL(mapped.data()[0], 'c');
}

CAF_TEST(X52 nobody can change its size or its rights) {
  const auto made = shared_segment::make("test", size, writers::all);
  CAF_REQUIRE(made);
  const auto fd = unique_fd{::open(path_of(made).c_str(), O_RDWR)};
  CAF_REQUIRE(fd);
  CAF_CHECK_EQUAL(::ftruncate(fd.get(), 0), -1);
  CAF_CHECK_EQUAL(::ftruncate(fd.get(), 2 * size), -1);
  CAF_CHECK_EQUAL(::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_WRITE), -1);
  struct stat what {};
  CAF_REQUIRE_EQUAL(::fstat(fd.get(), &what), 0);
  CAF_CHECK_EQUAL(what.st_mode & 07777, 0600u);
}

CAF_TEST(X52 what is no such segment is not mapped) {
  CAF_CHECK(!shared_segment::map("/proc/self/fd/1000000", false, self()));
  CAF_CHECK_EQUAL(errno, ENOENT);
  CAF_CHECK(!shared_segment::map("/proc/self/exe", false, self()));
  CAF_CHECK(!shared_segment::map("/dev/zero", false, self()));
  CAF_CHECK(!shared_segment::map("/tmp", false, self()));
  // One that may still be cut short.
  const auto fd = unique_fd{::memfd_create("test", MFD_CLOEXEC)};
  CAF_REQUIRE_EQUAL(::ftruncate(fd.get(), 4096), 0);
  const auto path =
    path_of_descriptor(static_cast<uint32_t>(::getpid()), fd.get());
  CAF_CHECK(!shared_segment::map(path, false, self()));
  CAF_CHECK_EQUAL(errno, EINVAL);
  const auto made = shared_segment::make("test", size, writers::all);
  CAF_CHECK(!shared_segment::map(path_of(made), false, self() + 1));
  CAF_CHECK_EQUAL(errno, EPERM);
}

CAF_TEST(memory is taken as it is written) {
  const auto made = shared_segment::make("test", size_t{1} << 40, writers::all);
  CAF_REQUIRE(made);
  CAF_CHECK_EQUAL(made.used(), 0u);
  CAF_CHECK(made.reserve(size_t{1} << 39, 10000));
  CAF_CHECK(made.used() >= 10000 && made.used() <= 64 << 10);
  const auto before = made.used();
  auto bytes = std::string(8192, 'x');
  CAF_CHECK(made.copy(1 << 20, bytes.data(), bytes.size()));
  CAF_CHECK(bytes == std::string(8192, '\0'));
  CAF_CHECK_EQUAL(made.used(), before);
  CAF_CHECK(!made.copy((size_t{1} << 40) - 8, bytes.data(), 16));
  CAF_CHECK(!made.reserve((size_t{1} << 40) - 8, 16));
  CAF_CHECK(!made.reserve(SIZE_MAX, 16));
}
