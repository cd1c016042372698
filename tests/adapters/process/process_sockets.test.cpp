#include "adapters/loop/unique_fd.hpp"
#include "adapters/process/children.hpp"
#include "tests/test.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <vector>

using namespace troupe;

namespace {

uint64_t inode_of(int fd) {
  struct stat found {};
  CAF_REQUIRE_EQUAL(::fstat(fd, &found), 0);
  return found.st_ino;
}

struct fixture {
  const uint32_t self = static_cast<uint32_t>(::getpid());
  unique_fd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(process_sockets_tests, fixture)

CAF_TEST(MND-A9 a process has the sockets that it has open) {
  const auto inode = inode_of(socket.get());
  CAF_CHECK(holds_socket(self, inode) == holding::yes);
  socket.reset();
  CAF_CHECK(holds_socket(self, inode) == holding::no);
  CAF_CHECK(holds_socket(0x7ffffff0, inode) == holding::no);
}

CAF_TEST(MND-A9 MND-A15 no more descriptors are looked at than asked for) {
  auto many = std::vector<unique_fd>{};
  for (auto i = 0; i < 300; ++i)
    many.emplace_back(::dup(socket.get()));
  unique_fd late{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const auto inode = inode_of(late.get());
  CAF_CHECK(holds_socket(self, inode, 256) == holding::no);
  CAF_CHECK(holds_socket(self, inode) == holding::yes);
  CAF_CHECK(holds_socket(self, inode_of(socket.get()), 256) == holding::yes);
}

CAF_TEST(MND-A9 a child counts with what it has inherited) {
  const auto child = ::fork();
  CAF_REQUIRE(child >= 0);
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const auto pid = static_cast<uint32_t>(child);
  const auto inode = inode_of(socket.get());
  CAF_CHECK(family_holds_socket(pid, inode, {}) == holding::yes);
  CAF_CHECK(family_holds_socket(pid, 1, {}) == holding::no);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

CAF_TEST(MND-A6 all that have a socket are found) {
  const auto child = ::fork();
  CAF_REQUIRE(child >= 0);
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  auto expected = std::vector<uint32_t>{self, static_cast<uint32_t>(child)};
  std::sort(expected.begin(), expected.end());
  CAF_CHECK(holders_of(inode_of(socket.get())) == expected);
  CAF_CHECK(holders_of(1).empty());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

CAF_TEST_FIXTURE_SCOPE_END()
