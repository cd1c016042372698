#include "adapters/service/service_manager.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/fd_watch.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "tests/test.hpp"

#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using namespace troupe;

namespace {

/// A manager's end of the socket, by a name that no file has.
struct fixture {
  event_loop loop;
  unique_fd socket;
  std::vector<std::string> heard;
  std::vector<std::string> logged;
  journal log = [this](severity, const std::string& line) {
    logged.push_back(line);
  };

  fixture()
    : socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    for (const auto* name : {"NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"})
      unsetenv(name);
  }

  void be_a_manager() {
    const auto name = "@troupe-service-test-" + std::to_string(getpid());
    auto address = sockaddr_un{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    address.sun_path[0] = '\0';
    const auto size = offsetof(sockaddr_un, sun_path) + name.size();
    CAF_REQUIRE_EQUAL(bind(socket.get(),
                           reinterpret_cast<const sockaddr*>(&address),
                           static_cast<socklen_t>(size)),
                      0);
    setenv("NOTIFY_SOCKET", name.c_str(), 1);
  }

  void set_watchdog(pid_t pid, const char* usec) {
    setenv("WATCHDOG_PID", std::to_string(pid).c_str(), 1);
    setenv("WATCHDOG_USEC", usec, 1);
  }

  void listen() {
    char room[2048];
    for (;;) {
      const auto n = recv(socket.get(), room, sizeof(room), 0);
      if (n < 0)
        return;
      heard.emplace_back(room, static_cast<size_t>(n));
    }
  }

  static bool has_library() {
    return dlopen("libsystemd.so.0", RTLD_NOW | RTLD_NOLOAD) != nullptr;
  }
};

using lines = std::vector<std::string>;

} // namespace

CAF_TEST_FIXTURE_SCOPE(service_manager_tests, fixture)

CAF_TEST(SVC-1 a manager hears what it is told) {
  be_a_manager();
  auto uut = service_manager{loop};
  uut.attach(log);
  CAF_CHECK(uut.is_attached());
  uut.set_status("3 of 4 nodes");
  uut.set_ready();
  uut.set_stopping();
  listen();
  CAF_CHECK_EQUAL(heard,
                  (lines{"STATUS=3 of 4 nodes", "READY=1", "STOPPING=1"}));
  CAF_CHECK_EQUAL(logged, lines{});
}

CAF_TEST(SVC-1 nothing is said twice) {
  be_a_manager();
  auto uut = service_manager{loop};
  uut.attach(log);
  for (auto i = 0; i < 2; ++i) {
    uut.set_ready();
    uut.set_status("x");
    uut.set_stopping();
  }
  uut.set_status("y");
  listen();
  CAF_CHECK_EQUAL(heard,
                  (lines{"READY=1", "STATUS=x", "STOPPING=1", "STATUS=y"}));
}

CAF_TEST(SVC-1 a status is one line of bounded length) {
  be_a_manager();
  auto uut = service_manager{loop};
  uut.attach(log);
  uut.set_status("a\nREADY=1\x7f\x1b[1m");
  uut.set_status(std::string(service_manager::max_status + 100, 'x'));
  listen();
  CAF_CHECK_EQUAL(
    heard, (lines{"STATUS=a READY=1  [1m",
                  "STATUS=" + std::string(service_manager::max_status, 'x')}));
}

CAF_TEST(SVC-2 signs of life come as long as the loop turns) {
  be_a_manager();
  set_watchdog(getpid(), "10000");
  auto uut = service_manager{loop};
  uut.attach(log);
  auto watch = fd_watch{loop, socket.get(), [this] {
                          listen();
                          if (heard.size() >= 4)
                            loop.stop();
                        }};
  watch.enable_read();
  loop.run();
  CAF_CHECK_GREATER_OR_EQUAL(heard.size(), 4u);
  CAF_CHECK_EQUAL(heard, lines(heard.size(), "WATCHDOG=1"));
}

CAF_TEST(SVC-2 signs of life are those of the service alone) {
  be_a_manager();
  set_watchdog(getppid(), "10000");
  auto uut = service_manager{loop};
  uut.attach(log);
  CAF_CHECK(uut.is_attached());
  listen();
  CAF_CHECK_EQUAL(heard, lines{});
}

CAF_TEST(SVC-3 without a manager nothing is done) {
  const auto had_library = has_library();
  auto uut = service_manager{loop};
  uut.attach(log);
  uut.set_ready();
  uut.set_status("x");
  uut.set_stopping();
  CAF_CHECK(!uut.is_attached());
  CAF_CHECK_EQUAL(has_library(), had_library);
  setenv("NOTIFY_SOCKET", "", 1);
  uut.attach(log);
  CAF_CHECK(!uut.is_attached());
  CAF_CHECK_EQUAL(logged, lines{});
}

CAF_TEST(SVC-3 a manager that has gone does no harm) {
  be_a_manager();
  auto uut = service_manager{loop};
  uut.attach(log);
  socket.reset();
  uut.set_ready();
  uut.set_status("x");
  CAF_CHECK(uut.is_attached());
}

CAF_TEST(SVC-4 what a manager tells its service is not for others) {
  for (const auto* name : {"NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"})
    CAF_CHECK(is_service_variable(name));
  for (const auto* name : {"NOTIFY_SOCKETS", "WATCHDOG", "", "PATH"})
    CAF_CHECK(!is_service_variable(name));
}

CAF_TEST_FIXTURE_SCOPE_END()
