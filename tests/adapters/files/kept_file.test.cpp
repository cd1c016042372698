// A file that is replaced as a whole, and that only its user may read.

#include "adapters/files/kept_file.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "messages/status.hpp"
#include "tests/test.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

using namespace troupe;

namespace {

struct fixture {
  char folder[64] = "/tmp/troupe-test-kept-XXXXXX";
  std::string path;
  event_loop loop;
  thread_pool pool{loop};
  std::vector<std::string> log;

  fixture() {
    CAF_REQUIRE(mkdtemp(folder) != nullptr);
    path = std::string{folder} + "/kept";
  }

  ~fixture() {
    auto failure = std::error_code{};
    std::filesystem::remove_all(folder, failure);
  }

  caf::expected<std::shared_ptr<kept_file>> open() {
    return kept_file::open(
      path, pool, [this](severity, const std::string& x) { log.push_back(x); });
  }

  std::shared_ptr<kept_file> must_open() {
    auto x = open();
    if (!x)
      CAF_FAIL(reason_of(x.error()));
    return std::move(*x);
  }

  status refusal() {
    const auto x = open();
    return x ? status::success : status_of(x.error());
  }

  void write(const std::string& text, mode_t mode) {
    std::ofstream{path} << text;
    chmod(path.c_str(), mode);
  }

  std::string content() const {
    auto in = std::ifstream{path};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(kept_file_tests, fixture)

CAF_TEST(J11 what is kept is found again and readable to nobody else) {
  auto x = must_open();
  CAF_CHECK_EQUAL(x->found(), "");
  x->keep(std::string("some\0thing", 10), [this] { loop.stop(); });
  loop.run();
  struct stat about = {};
  CAF_REQUIRE_EQUAL(stat(path.c_str(), &about), 0);
  CAF_CHECK_EQUAL(about.st_mode & 0777, 0600u);
  const auto again = must_open();
  CAF_CHECK_EQUAL(again->found(), std::string("some\0thing", 10));
  CAF_CHECK(!std::filesystem::exists(path + ".new"));
  CAF_CHECK(log.empty());
}

CAF_TEST(J11 of several contents the last one stays and all are answered) {
  auto x = must_open();
  auto left = 20;
  for (auto i = 1; i <= 20; ++i)
    x->keep(std::to_string(i), [this, &left] {
      if (--left == 0)
        loop.stop();
    });
  loop.run();
  CAF_CHECK_EQUAL(content(), "20");
}

CAF_TEST(J11 what was found is in memory until it is taken) {
  write("kept", 0600);
  auto x = must_open();
  CAF_CHECK_EQUAL(x->take_found(), "kept");
  CAF_CHECK_EQUAL(x->found(), "");
}

CAF_TEST(J11 not more than a bound wait for a disk that hangs) {
  auto x = must_open();
  auto answered = size_t{0};
  // The loop does not run: nothing is heard of the disk.
  const auto most = defaults::kept_file_waiting + 1;
  const auto note = [&] {
    if (++answered == most + 1)
      loop.stop();
  };
  for (size_t i = 0; i < most; ++i)
    x->keep("early", note);
  CAF_CHECK_EQUAL(answered, 0u);
  CAF_CHECK(log.empty());
  x->keep("late", note);
  CAF_CHECK_EQUAL(answered, 1u);
  CAF_REQUIRE_EQUAL(log.size(), 1u);
  CAF_CHECK(log[0].find("its disk hangs") != std::string::npos);
  loop.run();
  CAF_CHECK_EQUAL(answered, most + 1);
  CAF_CHECK_EQUAL(content(), "late");
}

CAF_TEST(J11 files of others and links are not used) {
  write("x", 0644);
  CAF_CHECK_EQUAL(refusal(), status::no_permissions);
  write("x", 0600);
  CAF_CHECK_EQUAL(refusal(), status::success);
  std::filesystem::rename(path, path + ".other");
  std::filesystem::create_symlink(path + ".other", path);
  CAF_CHECK_EQUAL(refusal(), status::no_permissions);
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  CAF_CHECK_EQUAL(refusal(), status::no_permissions);
  path = std::string{folder} + "/";
  CAF_CHECK_EQUAL(refusal(), status::bad_param);
  path = std::string{folder} + "/missing/kept";
  CAF_CHECK_NOT_EQUAL(refusal(), status::success);
}

CAF_TEST(J11 what cannot be written is told and answered) {
  auto x = must_open();
  std::filesystem::remove_all(folder);
  x->keep("text", [this] { loop.stop(); });
  loop.run();
  CAF_REQUIRE_EQUAL(log.size(), 1u);
  CAF_CHECK(log[0].find(path) != std::string::npos);
}

CAF_TEST(J11 what could not be read again is not written) {
  auto x = must_open();
  x->keep("text", [this] { loop.stop(); });
  loop.run();
  x->keep(std::string(defaults::kept_file_bytes + 1, 'x'),
          [this] { loop.stop(); });
  loop.run();
  CAF_CHECK_EQUAL(content(), "text");
  CAF_REQUIRE_EQUAL(log.size(), 1u);
  CAF_CHECK(log[0].find("64 MiB") != std::string::npos);
}

CAF_TEST_FIXTURE_SCOPE_END()
