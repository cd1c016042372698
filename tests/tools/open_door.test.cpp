// A port at which doctor lets nodes try to reach this one.

#include "tools/open_door.hpp"

#include "tests/test.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>
#include <vector>

using namespace troupe;

namespace {

unique_fd make_socket() {
  return unique_fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
}

void connect_to(const open_door& door, const unique_fd& fd) {
  auto to = sockaddr_in{};
  to.sin_family = AF_INET;
  to.sin_port = htons(door.port().number);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CAF_REQUIRE_EQUAL(
    ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
}

/// Whether the other end closes it.
bool is_let_go(const unique_fd& fd) {
  auto watched = pollfd{fd.get(), POLLIN, 0};
  char byte;
  return ::poll(&watched, 1, 60000) == 1
         && ::recv(fd.get(), &byte, 1, MSG_DONTWAIT) <= 0;
}

/// Seconds of processors that this process has used.
double used_time() {
  auto x = rusage{};
  ::getrusage(RUSAGE_SELF, &x);
  const auto seconds = [](const timeval& y) {
    return static_cast<double>(y.tv_sec)
           + static_cast<double>(y.tv_usec) / 1000000;
  };
  return seconds(x.ru_utime) + seconds(x.ru_stime);
}

/// Lets this process have so many descriptors for a while.
class descriptor_limit {
public:
  explicit descriptor_limit(rlim_t most) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    auto limit = before_;
    limit.rlim_cur = most;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }

  ~descriptor_limit() {
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }

  descriptor_limit(const descriptor_limit&) = delete;

  descriptor_limit& operator=(const descriptor_limit&) = delete;

private:
  rlimit before_ = {};
};

/// Takes all descriptors that are left.
std::vector<unique_fd> take_all() {
  auto result = std::vector<unique_fd>{};
  result.reserve(64);
  for (;;) {
    auto fd = unique_fd{::dup(STDERR_FILENO)};
    if (!fd)
      return result;
    result.push_back(std::move(fd));
  }
}

} // namespace

CAF_TEST(OPS-D5 whoever connects is let go) {
  const open_door door;
  CAF_REQUIRE(door.port().number != 0);
  for (auto i = 0; i < 3; ++i) {
    const auto client = make_socket();
    connect_to(door, client);
    CAF_CHECK(is_let_go(client));
  }
}

CAF_TEST(OPS-D5 whoever connects is let go when no descriptor is free) {
  const open_door door;
  CAF_REQUIRE(door.port().number != 0);
  const auto first = make_socket();
  const auto second = make_socket();
  const descriptor_limit few{64};
  const auto all = take_all();
  for (const auto* client : {&first, &second}) {
    connect_to(door, *client);
    CAF_CHECK(is_let_go(*client));
  }
}

CAF_TEST(OPS-D5 a door that can let nobody go does not spin) {
  const auto client = make_socket();
  const open_door door;
  CAF_REQUIRE(door.port().number != 0);
  {
    // Below what is open already: not even the spare one helps.
    const descriptor_limit none{3};
    const auto before = used_time();
    connect_to(door, client);
    auto watched = pollfd{client.get(), POLLIN, 0};
    CAF_CHECK_EQUAL(::poll(&watched, 1, 1000), 0);
    CAF_CHECK(used_time() - before < 0.5);
  }
  CAF_CHECK(is_let_go(client));
}
