#include "adapters/local/peer_credentials.hpp"

#include "adapters/sockets/tcp_socket.hpp"
#include "messages/status.hpp"
#include "tests/adapters/local/world.hpp"

#include <arpa/inet.h>
#include <fcntl.h>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

struct fixture {
  fixture() {
    auto x = listen_on_loopback("127.0.0.1", 0, 16);
    if (!x)
      CAF_FAIL("cannot listen");
    door = std::move(*x);
    ::fcntl(door.get(), F_SETFL, 0); // Waits.
  }

  uint16_t port() const {
    return local_address(door.get()).port;
  }

  unique_fd door;
  peer_credentials uut;
};

/// How the accepting end names the other one.
socket_pair pair_of(int fd) {
  socket_pair result;
  socklen_t size = sizeof(result.remote);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&result.remote), &size);
  size = sizeof(result.local);
  ::getpeername(fd, reinterpret_cast<sockaddr*>(&result.local), &size);
  return result;
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(peer_credentials_tests, fixture)

CAF_TEST(X3 F4.5 the kernel knows the owner of the other end) {
  const peer client{port()};
  const auto accepted = accept_from(door.get());
  const auto uid = uut.uid_of(accepted.get());
  CAF_REQUIRE(uid);
  CAF_CHECK_EQUAL(*uid, me());
}

CAF_TEST(X3 another user is seen as such) {
  if (me() != 0) {
    CAF_MESSAGE("needs root to become another user");
    return;
  }
  int hold[2];
  CAF_REQUIRE_EQUAL(::pipe(hold), 0);
  const auto where = port();
  auto seen = std::optional<uint32_t>{};
  auto in_table = std::optional<socket_owner>{};
  auto looker = std::thread{[&] {
    const auto accepted = accept_from(door.get());
    if (const auto uid = uut.uid_of(accepted.get()))
      seen = *uid;
    in_table = find_owner("/proc/net/tcp", pair_of(accepted.get()));
    ::close(hold[1]);
  }};
  const auto done = as_user(65534, [&] {
    ::close(hold[1]);
    const auto fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(where);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to)) != 0)
      return 1;
    char c;
    return ::read(hold[0], &c, 1) == 0 ? 0 : 1; // Until it has been looked at.
  });
  looker.join();
  ::close(hold[0]);
  CAF_CHECK_EQUAL(done, 0);
  CAF_CHECK(seen == 65534u);
  CAF_CHECK(in_table && in_table->uid == 65534u);
}

CAF_TEST(X3 nobody owns a socket that has been closed) {
  auto client = std::make_unique<peer>(port());
  const auto accepted = accept_from(door.get());
  client->close();
  const auto uid = uut.uid_of(accepted.get());
  CAF_REQUIRE(!uid);
  CAF_CHECK(status_of(uid.error()) == status::no_permissions);
  CAF_CHECK(!find_owner("/proc/net/tcp", pair_of(accepted.get())));
}

CAF_TEST(the table of the kernel says the same) {
  const peer client{port()};
  const auto accepted = accept_from(door.get());
  const auto owner = find_owner("/proc/net/tcp", pair_of(accepted.get()));
  CAF_REQUIRE(owner);
  CAF_CHECK_EQUAL(owner->uid, me());
  const auto same = uut.owner_of(accepted.get());
  CAF_CHECK(same && same->inode == owner->inode);
  CAF_CHECK(!find_owner("/proc/net/tcp6", pair_of(accepted.get())));
  CAF_CHECK(!find_owner("/nonexistent", pair_of(accepted.get())));
}

CAF_TEST(an IPv6 socket that speaks IPv4 is found too) {
  const auto fd = unique_fd{::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in6 where{};
  where.sin6_family = AF_INET6;
  where.sin6_port = htons(port());
  ::inet_pton(AF_INET6, "::ffff:127.0.0.1", &where.sin6_addr);
  CAF_REQUIRE_EQUAL(
    ::connect(fd.get(), reinterpret_cast<sockaddr*>(&where), sizeof(where)), 0);
  const auto accepted = accept_from(door.get());
  CAF_CHECK(uut.uid_of(accepted.get()));
  const auto owner = find_owner("/proc/net/tcp6", pair_of(accepted.get()));
  CAF_CHECK(owner && owner->uid == me());
}

CAF_TEST(F4.6 a UNIX socket knows its peer) {
  int fds[2];
  CAF_REQUIRE_EQUAL(::socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
  const auto one = unique_fd{fds[0]};
  const auto other = unique_fd{fds[1]};
  const auto uid = uut.uid_of(one.get());
  CAF_CHECK(uid && *uid == me());
}

CAF_TEST(X5 a peer that the kernel does not know is refused) {
  // Not a connected socket at all: there is nobody to ask about.
  CAF_CHECK(!uut.uid_of(door.get()));
  int fds[2];
  CAF_REQUIRE_EQUAL(::pipe(fds), 0);
  CAF_CHECK(!uut.uid_of(fds[0]));
  ::close(fds[0]);
  ::close(fds[1]);
}

CAF_TEST(a question takes microseconds) {
  const peer client{port()};
  const auto accepted = accept_from(door.get());
  const auto begin = std::chrono::steady_clock::now();
  constexpr auto n = 1000;
  for (auto i = 0; i < n; ++i)
    CAF_REQUIRE(uut.uid_of(accepted.get()));
  const auto took = std::chrono::steady_clock::now() - begin;
  CAF_MESSAGE(
    std::chrono::duration_cast<std::chrono::nanoseconds>(took / n).count()
    << " ns per question");
  CAF_CHECK(took < n * 5ms);
}

CAF_TEST_FIXTURE_SCOPE_END()
