#include "adapters/node_store/descriptor_inbox.hpp"

#include "tests/test.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

using namespace troupe;

namespace {

struct pipe_pair {
  pipe_pair() {
    int fds[2];
    if (::pipe(fds) != 0)
      CAF_FAIL("no pipe");
    from = unique_fd{fds[0]};
    to = unique_fd{fds[1]};
  }

  unique_fd from;
  unique_fd to;
};

uint32_t self() {
  return ::geteuid();
}

bool is_same(int one, int other) {
  struct stat x {};
  struct stat y {};
  return ::fstat(one, &x) == 0 && ::fstat(other, &y) == 0
         && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

/// Connects as anybody can.
unique_fd connect(const std::string& name) {
  auto where = sockaddr_un{};
  where.sun_family = AF_UNIX;
  std::memcpy(where.sun_path + 1, name.data(), name.size());
  auto result = unique_fd{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
  if (::connect(result.get(), reinterpret_cast<const sockaddr*>(&where),
                static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1
                                       + name.size()))
      != 0)
    CAF_FAIL("cannot connect");
  return result;
}

} // namespace

CAF_TEST(descriptors come in their order) {
  const auto uut = descriptor_inbox{};
  CAF_REQUIRE(!uut.name().empty());
  CAF_CHECK(uut.take().empty());
  {
    const auto one = pipe_pair{};
    const auto two = pipe_pair{};
    CAF_REQUIRE_EQUAL(
      send_descriptors(uut.name(), self(), {one.to.get(), two.from.get()}), 0);
    const auto found = uut.take();
    CAF_REQUIRE_EQUAL(found.size(), 2u);
    CAF_CHECK(is_same(found[0].get(), one.to.get()));
    CAF_CHECK(is_same(found[1].get(), two.from.get()));
    CAF_CHECK_EQUAL(::write(found[0].get(), "a", 1), 1);
    auto letter = char{};
    CAF_CHECK_EQUAL(::read(one.from.get(), &letter, 1), 1);
  }
  CAF_CHECK(uut.take().empty());
}

CAF_TEST(each has a name of its own) {
  const auto one = descriptor_inbox{};
  const auto other = descriptor_inbox{};
  CAF_CHECK(one.name() != other.name());
}

CAF_TEST(X52 nothing goes to another user or to no socket) {
  const auto what = pipe_pair{};
  const auto fds = std::vector<int>{what.to.get()};
  const auto uut = descriptor_inbox{};
  CAF_CHECK_EQUAL(send_descriptors(uut.name(), self() + 1, fds), EPERM);
  CAF_CHECK(uut.take().empty());
  CAF_CHECK_EQUAL(send_descriptors("", self(), fds), EINVAL);
  CAF_CHECK_EQUAL(send_descriptors(std::string(200, 'x'), self(), fds), EINVAL);
  CAF_CHECK_EQUAL(send_descriptors(uut.name(), self(), {}), EINVAL);
  auto gone = std::string{};
  {
    const auto other = descriptor_inbox{};
    gone = other.name();
  }
  CAF_CHECK_EQUAL(send_descriptors(gone, self(), fds), ECONNREFUSED);
}

CAF_TEST(X52 whoever says nothing or too much is of no use) {
  const auto uut = descriptor_inbox{};
  const auto silent = connect(uut.name());
  CAF_CHECK(uut.take().empty());
  // The queue is short, and nobody waits for room in it.
  auto others = std::vector<unique_fd>{};
  for (auto i = 0; i < 8; ++i)
    others.push_back(connect(uut.name()));
  const auto what = pipe_pair{};
  auto code = 0;
  for (auto i = 0; i < 8 && code == 0; ++i)
    code = send_descriptors(uut.name(), self(), {what.to.get()});
  CAF_CHECK_EQUAL(code, EAGAIN);
}
