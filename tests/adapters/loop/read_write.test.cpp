// Whole reads and writes, over a pipe.

#include "adapters/loop/read_write.hpp"

#include "adapters/loop/unique_fd.hpp"
#include "tests/test.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <thread>

using namespace troupe;

namespace {

struct fixture {
  unique_fd reads;
  unique_fd writes;

  fixture() {
    int fds[2];
    CAF_REQUIRE_EQUAL(::pipe2(fds, O_CLOEXEC), 0);
    reads = unique_fd{fds[0]};
    writes = unique_fd{fds[1]};
  }

  /// All that comes out of the pipe when `text` goes in, which is more than it
  /// holds at a time.
  std::optional<std::string> pass(const std::string& text, size_t most) {
    auto writer = std::thread{[&] {
      write_all(writes.get(), text);
      writes.reset();
    }};
    auto result = read_up_to(reads.get(), most);
    writer.join();
    return result;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(read_write_tests, fixture)

CAF_TEST(a text goes through a pipe that holds a part of it) {
  auto text = std::string{};
  for (auto i = 0; i < 100'000; ++i)
    text += std::to_string(i);
  CAF_CHECK(pass(text, 2 * text.size()) == text);
}

CAF_TEST(no more is read than may be) {
  CAF_REQUIRE(write_all(writes.get(), "0123456789"));
  CAF_CHECK_EQUAL(read_up_to(reads.get(), 4).value_or(""), "0123");
  char rest[3] = {};
  CAF_CHECK(read_into(reads.get(), rest, sizeof(rest)) == size_t{3});
  CAF_CHECK_EQUAL(std::string(rest, sizeof(rest)), "456");
  writes.reset();
  CAF_CHECK_EQUAL(read_up_to(reads.get(), 4096).value_or(""), "789");
  CAF_CHECK_EQUAL(read_up_to(reads.get(), 4096).value_or("x"), "");
  CAF_CHECK(read_into(reads.get(), rest, sizeof(rest)) == size_t{0});
}

CAF_TEST(an error is not the end) {
  CAF_CHECK(!read_up_to(writes.get(), 4096));
  char room = 0;
  CAF_CHECK(!read_into(writes.get(), &room, 1));
  CAF_CHECK(!write_all(reads.get(), "x"));
  CAF_CHECK(write_all(reads.get(), ""));
}

CAF_TEST_FIXTURE_SCOPE_END()
