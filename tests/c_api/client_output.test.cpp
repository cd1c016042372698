// Output of others that goes to our own standard output, at the end.

#include "c_api/client_output.hpp"

#include "adapters/loop/unique_fd.hpp"
#include "adapters/process/descriptors.hpp"
#include "c_api/library_core.hpp"
#include "tests/test.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <thread>

using namespace troupe;
using namespace troupe::c_api;
using namespace std::chrono_literals;

namespace {

/// The library of a tool whose standard output is a pipe.
struct fixture {
  library& lib = library::instance();
  unique_fd before{fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)};
  unique_fd reader;

  fixture() {
    ignore_broken_pipes();
    int fds[2];
    CAF_REQUIRE_EQUAL(pipe2(fds, O_CLOEXEC), 0);
    reader.reset(fds[0]);
    CAF_REQUIRE(dup2(fds[1], STDOUT_FILENO) >= 0);
    close(fds[1]);
  }

  ~fixture() {
    // What is left is discarded.
    reader.reset();
    lib.stop(role::tool, [] {});
    dup2(before.get(), STDOUT_FILENO);
  }

  /// @param external Whether the program drives progress.
  void begin(bool external) const {
    CAF_REQUIRE_EQUAL(lib.start(
                        role::tool, [] { return PMIX_SUCCESS; }, external),
                      PMIX_SUCCESS);
  }

  /// Much more than a pipe holds.
  void print(size_t size) const {
    auto x = io_delivery{};
    x.source = {"job", 0};
    x.channel = io_channels::stdout_;
    x.bytes = std::string(size, 'x');
    lib.push(std::move(x));
    lib.run_in_loop([] {}); // It is behind that.
  }

  bool await(std::chrono::milliseconds patience) const {
    return await_written(lib, *lib.core()->outputs, patience);
  }

  void read_all_while_waiting() {
    constexpr auto size = size_t{1} << 20;
    auto taken = size_t{0};
    auto slow_reader = std::thread{[&] {
      auto bytes = std::string(4096, '\0');
      while (taken < size) {
        const auto n = read(reader.get(), bytes.data(), bytes.size());
        if (n <= 0)
          break;
        taken += static_cast<size_t>(n);
      }
    }};
    print(size);
    CAF_CHECK(await(60s));
    slow_reader.join();
    CAF_CHECK_EQUAL(taken, size);
  }

  /// How often this thread has gone to sleep.
  static long sleeps() {
    auto result = rusage{};
    getrusage(RUSAGE_THREAD, &result);
    return result.ru_nvcsw;
  }

  void give_up() const {
    print(size_t{1} << 20);
    const auto begin = std::chrono::steady_clock::now();
    const auto slept = sleeps();
    CAF_CHECK(!await(300ms));
    CAF_CHECK_LESS(sleeps() - slept, 15);
    CAF_CHECK(std::chrono::steady_clock::now() - begin >= 300ms);
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(client_output_tests, fixture)

CAF_TEST(P-I1 the end waits for whoever reads our standard output) {
  begin(false);
  read_all_while_waiting();
}

CAF_TEST(P-I1 a program that drives progress waits for its reader too) {
  begin(true);
  read_all_while_waiting();
}

CAF_TEST(I18 a reader that takes nothing is given up and not polled) {
  begin(false);
  give_up();
}

CAF_TEST(I18 a program that drives progress gives its reader up too) {
  begin(true);
  give_up();
}

CAF_TEST(I18 without output there is nothing to wait for) {
  begin(false);
  CAF_CHECK(await(60s));
}

CAF_TEST_FIXTURE_SCOPE_END()
