#include "adapters/local/server_presence.hpp"

#include "adapters/loop/unique_fd.hpp"
#include "tests/test.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace troupe;

namespace {

/// A socket of this process that listens on loopback.
struct fixture {
  explicit fixture(int family = AF_INET)
    : socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_storage address{};
    socklen_t size = sizeof(sockaddr_in);
    if (family == AF_INET6) {
      auto& in = reinterpret_cast<sockaddr_in6&>(address);
      in.sin6_family = AF_INET6;
      in.sin6_addr = in6addr_loopback;
      size = sizeof(sockaddr_in6);
    } else {
      auto& in = reinterpret_cast<sockaddr_in&>(address);
      in.sin_family = AF_INET;
      in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    }
    auto* at = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket.get(), at, size) != 0 || ::listen(socket.get(), 1) != 0
        || ::getsockname(socket.get(), at, &size) != 0)
      CAF_FAIL("no socket listens");
    // At the same place in both families.
    port = ntohs(reinterpret_cast<sockaddr_in&>(address).sin_port);
  }

  const uint32_t self = static_cast<uint32_t>(::getpid());

  /// Of a file that was written before any process was started, as it seems after
  /// the wall clock was set forward.
  const time_t long_ago = 1000;
  unique_fd socket;
  uint16_t port = 0;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(server_presence_tests, fixture)

CAF_TEST(MND-X70 who listens is there whatever the clock says) {
  CAF_CHECK(!is_server_gone(self, port, ::time(nullptr)));
  CAF_CHECK(!is_server_gone(self, port, long_ago));
  CAF_CHECK(!is_server_gone(self, port, ::time(nullptr) + 10'000'000));
  const auto other = fixture{AF_INET6};
  CAF_CHECK(!is_server_gone(self, other.port, long_ago));
}

CAF_TEST(MND-X70 X8 a number given anew to one that does not listen is found) {
  socket.reset();
  CAF_CHECK(is_server_gone(self, port, long_ago));
  // Nothing speaks against it: connecting will tell.
  CAF_CHECK(!is_server_gone(self, port, ::time(nullptr)));
}

CAF_TEST(MND-X70 X8 the port of another process is not the server) {
  CAF_CHECK(is_server_gone(static_cast<uint32_t>(::getppid()), port, long_ago));
  const auto child = ::fork();
  if (child == 0)
    ::_exit(0);
  ::waitpid(child, nullptr, 0);
  CAF_CHECK(
    is_server_gone(static_cast<uint32_t>(child), port, ::time(nullptr)));
}

CAF_TEST_FIXTURE_SCOPE_END()
