#include "adapters/local/session_directory.hpp"

#include "messages/status.hpp"
#include "tests/adapters/local/files.hpp"

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

std::string user_directory() {
  return "troupe-" + std::to_string(::geteuid());
}

} // namespace

CAF_TEST(X9 F8.3 a session directory is ours alone and goes with its owner) {
  const scratch tmp;
  std::optional<session_directory> uut;
  {
    auto x = session_directory::create(tmp.path);
    CAF_REQUIRE(x);
    uut.emplace(std::move(*x));
  }
  CAF_CHECK_EQUAL(uut->path(),
                  tmp / user_directory() + "/" + std::to_string(::getpid()));
  CAF_CHECK_EQUAL(mode_of(tmp / user_directory()) & 07777, 0700u);
  CAF_CHECK_EQUAL(mode_of(uut->path()) & 07777, 0700u);
  const auto path = uut->path();
  write_file(path + "/file", "text");
  uut.reset();
  CAF_CHECK(!exists(path));
  CAF_CHECK(exists(tmp / user_directory())); // Other sessions may come.
}

CAF_TEST(a process may have several sessions) {
  const scratch tmp;
  const auto one = session_directory::create(tmp.path);
  const auto other = session_directory::create(tmp.path);
  CAF_REQUIRE(one);
  CAF_REQUIRE(other);
  CAF_CHECK(one->path() != other->path());
}

CAF_TEST(what dead sessions left is removed and live ones stay) {
  const scratch tmp;
  const auto alive = session_directory::create(tmp.path);
  CAF_REQUIRE(alive);
  const auto dead = tmp / user_directory() + "/4711";
  ::mkdir(dead.c_str(), 0700);
  write_file(dead + "/pmix.host.tool", "");
  const auto odd = tmp / user_directory() + "/link";
  ::symlink("/etc", odd.c_str());
  const auto uut = session_directory::create(tmp.path);
  CAF_REQUIRE(uut);
  CAF_CHECK(!exists(dead));
  CAF_CHECK(exists(alive->path()));
  CAF_CHECK(exists(odd));
}

CAF_TEST(X6 anything odd on the way is an error) {
  const auto refusal = [](const scratch& tmp) {
    const auto x = session_directory::create(tmp.path);
    return x ? status::success : status_of(x.error());
  };
  const scratch link;
  ::symlink("/etc", (link / user_directory()).c_str());
  CAF_CHECK(refusal(link) == status::no_permissions);
  const scratch open;
  ::mkdir((open / user_directory()).c_str(), 0700);
  ::chmod((open / user_directory()).c_str(), 0755);
  CAF_CHECK(refusal(open) == status::no_permissions);
  const scratch file;
  write_file(file / user_directory(), "");
  CAF_CHECK(refusal(file) == status::no_permissions);
  const scratch fifo;
  ::mkfifo((fifo / user_directory()).c_str(), 0600);
  CAF_CHECK(refusal(fifo) == status::no_permissions);
  if (::geteuid() != 0)
    return;
  const scratch foreign;
  ::mkdir((foreign / user_directory()).c_str(), 0700);
  std::ignore = ::chown((foreign / user_directory()).c_str(), 65534, 65534);
  CAF_CHECK(refusal(foreign) == status::no_permissions);
}

// Every new session looks for those that have ended, and may find one whose
// owner has not locked it yet.
CAF_TEST(F8.3 sessions that begin and end at the same time do not collide) {
  const scratch tmp;
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 300; ++j)
        if (!session_directory::create(tmp.path))
          ++failures;
    });
  for (auto& x : threads)
    x.join();
  CAF_CHECK_EQUAL(failures.load(), 0);
}
