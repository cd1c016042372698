#include "adapters/local/session_directory.hpp"

#include "messages/status.hpp"
#include "tests/adapters/local/files.hpp"

#include <atomic>
#include <filesystem>
#include <optional>
#include <thread>
#include <vector>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

/// Whether something had to be made anew, as it should, or not.
bool renews(session_directory& uut, bool expected) {
  const auto made = uut.renew();
  return made && *made == expected;
}

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

CAF_TEST(DIR-3 X6 anything odd under the usual name is left alone) {
  const auto goes_elsewhere = [](const scratch& tmp) {
    const auto usual = tmp / user_directory();
    const auto before = mode_of(usual);
    auto first = session_directory::create(tmp.path);
    CAF_REQUIRE(first);
    CAF_CHECK_EQUAL(first->path().find(usual + "."), 0u);
    CAF_CHECK_EQUAL(mode_of(first->path()) & 07777, 0700u);
    CAF_CHECK(first->notice().find(usual + ": ") != std::string::npos);
    CAF_CHECK_EQUAL(mode_of(usual), before);
    // Others of this user come to the same place, and tools look there.
    const auto other = session_directory::create(tmp.path);
    CAF_REQUIRE(other);
    const auto parent = std::filesystem::path{first->path()}.parent_path();
    CAF_CHECK_EQUAL(std::filesystem::path{other->path()}.parent_path(), parent);
    const auto base = directory::open(tmp.path);
    CAF_REQUIRE(base);
    const auto known = session_directory::of_user(*base);
    CAF_REQUIRE_EQUAL(known.size(), 1u);
    CAF_CHECK_EQUAL(known.front().path(), parent.string());
    CAF_CHECK(renews(*first, false));
  };
  const scratch link;
  ::symlink("/etc", (link / user_directory()).c_str());
  goes_elsewhere(link);
  CAF_CHECK(!exists("/etc/" + std::to_string(::getpid())));
  const scratch open;
  ::mkdir((open / user_directory()).c_str(), 0700);
  ::chmod((open / user_directory()).c_str(), 0755);
  goes_elsewhere(open);
  const scratch file;
  write_file(file / user_directory(), "");
  goes_elsewhere(file);
  const scratch fifo;
  ::mkfifo((fifo / user_directory()).c_str(), 0600);
  goes_elsewhere(fifo);
  if (::geteuid() != 0)
    return;
  const scratch foreign;
  ::mkdir((foreign / user_directory()).c_str(), 0700);
  std::ignore = ::chown((foreign / user_directory()).c_str(), 65534, 65534);
  goes_elsewhere(foreign);
}

CAF_TEST(DIR-3 a name by chance that is not private is not taken) {
  const scratch tmp;
  write_file(tmp / user_directory(), "");
  const auto odd = tmp / user_directory() + ".AAAAAAAA";
  ::symlink("/etc", odd.c_str());
  const auto uut = session_directory::create(tmp.path);
  CAF_REQUIRE(uut);
  CAF_CHECK(uut->path().find(odd) == std::string::npos);
  CAF_CHECK(S_ISLNK(mode_of(odd)));
}

CAF_TEST(DIR-1 a session directory that was removed comes back) {
  const scratch tmp;
  auto uut = session_directory::create(tmp.path);
  CAF_REQUIRE(uut);
  const auto path = uut->path();
  CAF_CHECK(renews(*uut, false));
  std::filesystem::remove_all(path);
  CAF_CHECK(renews(*uut, true));
  CAF_CHECK_EQUAL(uut->path(), path);
  CAF_CHECK_EQUAL(mode_of(path) & 07777, 0700u);
  CAF_CHECK(renews(*uut, false));
  std::filesystem::remove_all(tmp / user_directory());
  CAF_CHECK(renews(*uut, true));
  CAF_CHECK_EQUAL(uut->path(), path);
  // It is locked again: another session does not sweep it away.
  const auto other = session_directory::create(tmp.path);
  CAF_REQUIRE(other);
  CAF_CHECK(exists(path));
}

CAF_TEST(DIR-1 one that a process of the session has made anew is taken) {
  const scratch tmp;
  auto uut = session_directory::create(tmp.path);
  CAF_REQUIRE(uut);
  const auto path = uut->path();
  std::filesystem::remove_all(tmp / user_directory());
  ::mkdir((tmp / user_directory()).c_str(), 0700);
  ::mkdir(path.c_str(), 0700);
  write_file(path + "/file", "text");
  CAF_CHECK(renews(*uut, true));
  CAF_CHECK_EQUAL(uut->path(), path);
  CAF_CHECK_EQUAL(read_file(path + "/file"), "text");
}

CAF_TEST(DIR-3 a session whose place is taken goes elsewhere) {
  const scratch tmp;
  auto uut = session_directory::create(tmp.path);
  CAF_REQUIRE(uut);
  std::filesystem::remove_all(tmp / user_directory());
  write_file(tmp / user_directory(), "");
  CAF_CHECK(renews(*uut, true));
  CAF_CHECK(exists(uut->path()));
  CAF_CHECK(uut->path().find(user_directory() + ".") != std::string::npos);
  CAF_CHECK(!uut->notice().empty());
}

CAF_TEST(DIR-1 without its base a session directory says why) {
  auto tmp = std::make_optional<scratch>();
  auto uut = session_directory::create(tmp->path);
  CAF_REQUIRE(uut);
  const auto path = tmp->path;
  tmp.reset();
  const auto x = uut->renew();
  CAF_REQUIRE(!x);
  CAF_CHECK(reason_of(x.error()).find(path) != std::string::npos);
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
