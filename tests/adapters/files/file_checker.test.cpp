#include "adapters/files/file_checker.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/loop_system.hpp"
#include "adapters/loop/timer.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "config/defaults.hpp"
#include "tests/fixtures/deterministic.hpp"
#include "tests/fixtures/outcome.hpp"

#include <caf/all.hpp>

#include <fcntl.h>
#include <linux/fuse.h>
#include <sys/mount.h>
#include <unistd.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <iostream>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

/// Work that is done when the test says so.
struct manual_threads {
  struct job {
    std::function<void()> work;
    std::function<void()> done;
  };

  std::function<bool(std::function<void()>, std::function<void()>)> poster() {
    return [this](auto work, auto done) {
      jobs.push_back({std::move(work), std::move(done)});
      return true;
    };
  }

  void run_one() {
    CAF_REQUIRE(!jobs.empty());
    auto x = std::move(jobs.front());
    jobs.pop_front();
    x.work();
    x.done();
  }

  std::deque<job> jobs;
};

struct fixture : fixtures::deterministic {
  fixture() {
    start();
  }

  void start(const file_check_limits& limits = {}) {
    auto options = file_checker_options{};
    options.look_on = looks.poster();
    options.read_on = reads.poster();
    options.mounts = [] {
      return std::string{"1 0 0:1 / / rw,relatime - ext4 x rw\n"
                         "2 1 0:2 / /net rw,noatime - nfs x rw\n"};
    };
    options.look = [this](const std::string& point, const std::string& path) {
      seen.push_back(point + " " + path);
      auto result = look_result{};
      if (path == "/link")
        result.elsewhere = "/net//there";
      else
        result.stamp.state = file_state::regular;
      return result;
    };
    options.limits = limits;
    uut = spawn_file_checker(sys, std::move(options));
  }

  ~fixture() {
    looks.jobs.clear();
    reads.jobs.clear();
    end(uut);
  }

  fixtures::pending<file_stamps> ask(std::vector<std::string> paths) {
    auto result =
      fixtures::ask<file_stamps>(sys, uut, check_files{std::move(paths), own});
    consume_messages();
    return result;
  }

  void run_one(manual_threads& threads) {
    threads.run_one();
    consume_messages();
  }

  const credentials own{::geteuid(), ::getegid()};
  manual_threads looks;
  manual_threads reads;
  std::vector<std::string> seen;
  file_checker_actor uut;
};

/// A real file system in user space whose server never answers.
class hung_file_system {
public:
  hung_file_system() {
    auto path =
      (std::filesystem::temp_directory_path() / "hung-XXXXXX").string();
    CAF_REQUIRE(::mkdtemp(path.data()) != nullptr);
    point_ = path;
    fd_ = unique_fd{::open("/dev/fuse", O_RDWR | O_CLOEXEC)};
    const auto options = "fd=" + std::to_string(fd_.get())
                         + ",rootmode=40000,user_id=0,group_id=0";
    is_mounted_ = fd_
                  && ::mount("troupe-test", point_.c_str(), "fuse",
                             MS_NOSUID | MS_NODEV, options.c_str())
                       == 0;
  }

  ~hung_file_system() {
    answer();
    if (is_mounted_)
      ::umount2(point_.c_str(), MNT_DETACH);
    std::filesystem::remove(point_);
  }

  bool is_mounted() const {
    return is_mounted_;
  }

  const std::string& point() const {
    return point_;
  }

  /// Its server ends: everything that waits for it fails.
  void answer() {
    fd_ = unique_fd{};
  }

private:
  std::string point_;
  unique_fd fd_;
  bool is_mounted_ = false;
};

/// Runs the loop until a condition holds.
bool run_until(loop_system& sys, const std::function<bool()>& condition) {
  auto is_late = false;
  auto late = timer{sys.loop(), [&] {
                      is_late = true;
                      sys.stop();
                    }};
  late.start(20s);
  std::unique_ptr<timer> look;
  look = std::make_unique<timer>(sys.loop(), [&] {
    if (condition())
      sys.stop();
    else
      look->start(1ms);
  });
  look->start(1ms);
  sys.run();
  return !is_late;
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(file_checker_tests, fixture)

CAF_TEST(MON-4 requests of a tick are looked at in one batch for each mount) {
  const auto first = ask({"/a"});
  const auto second = ask({"/b/../c", "/net//d"});
  CAF_REQUIRE_EQUAL(reads.jobs.size(), 1u); // The list of mounts, once.
  run_one(reads);
  CAF_REQUIRE_EQUAL(looks.jobs.size(), 2u);
  run_one(looks);
  CAF_CHECK(seen == (std::vector<std::string>{"/ /a", "/ /b/../c"}));
  CAF_CHECK(first->code == status::success);
  CAF_CHECK(second->is_pending());
  run_one(looks);
  CAF_CHECK_EQUAL(seen.back(), "/net /net/d");
  CAF_REQUIRE_EQUAL(second->value.stamps.size(), 2u);
  CAF_CHECK(second->value.stamps[0].keeps_access_time);
  CAF_CHECK(second->value.stamps[0].access_time_is_relative);
  CAF_CHECK(!second->value.stamps[1].keeps_access_time);
  ask({"/a"});
  CAF_CHECK(reads.jobs.empty()); // Known for a while,
  run_one(looks);
  elapse(defaults::mount_table_age);
  ask({"/a"});
  CAF_CHECK_EQUAL(reads.jobs.size(), 1u); // and then read again.
}

CAF_TEST(X32 MON-4 a mount that hangs times out and delays no other) {
  const auto slow = ask({"/net/a"});
  run_one(reads);
  const auto hung = std::move(looks.jobs.front());
  looks.jobs.pop_front();
  const auto fast = ask({"/a"});
  run_one(looks);
  CAF_CHECK(fast->code == status::success);
  elapse(defaults::file_check_patience - 1ms);
  CAF_CHECK(slow->is_pending());
  elapse(1ms);
  CAF_REQUIRE(slow->code == status::success);
  CAF_CHECK(slow->value.stamps[0].state == file_state::timed_out);
  const auto again = ask({"/net/a"});
  run_one(reads);
  CAF_CHECK(looks.jobs.empty()); // No second thread.
  CAF_CHECK(again->value.stamps[0].state == file_state::timed_out);
  const auto gauges = request<gauge_list>(uut, get_gauges{}).gauges;
  CAF_CHECK_EQUAL(gauges.at(2).value, 1u);
  hung.work();
  hung.done();
  consume_messages();
  const auto later = ask({"/net/a"});
  run_one(looks);
  CAF_CHECK(later->value.stamps[0].state == file_state::regular);
}

CAF_TEST(LIM21 a site may set how long a mount may take and how many hang) {
  end(uut);
  start({3, 1, 4s});
  const auto slow = ask({"/net/a"});
  run_one(reads);
  CAF_REQUIRE_EQUAL(looks.jobs.size(), 1u);
  const auto hung = std::move(looks.jobs.front());
  looks.jobs.pop_front();
  elapse(defaults::file_check_patience + 1s);
  CAF_CHECK(slow->is_pending());
  elapse(2s);
  CAF_REQUIRE(slow->code == status::success);
  CAF_CHECK(slow->value.stamps[0].state == file_state::timed_out);
  const auto gauges = request<gauge_list>(uut, get_gauges{}).gauges;
  CAF_CHECK_EQUAL(gauges.at(2).bound, 3u);
  // That user has no more threads that may hang.
  const auto other = ask({"/a"});
  run_one(reads);
  CAF_CHECK(looks.jobs.empty());
  CAF_REQUIRE(other->code == status::success);
  CAF_CHECK(other->value.stamps[0].state == file_state::timed_out);
  hung.work();
  hung.done();
  consume_messages();
}

CAF_TEST(MON-4 a link to another mount is followed there) {
  const auto result = ask({"/link"});
  run_one(reads);
  run_one(looks);
  CAF_CHECK(result->is_pending());
  run_one(looks);
  CAF_CHECK_EQUAL(seen.back(), "/net /net/there");
  CAF_CHECK(result->value.stamps[0].state == file_state::regular);
}

CAF_TEST(X32 what is no path is refused) {
  CAF_CHECK(ask({"relative"})->code == status::bad_param);
  CAF_CHECK(ask({""})->code == status::bad_param);
  CAF_CHECK(ask({std::string("/a\0b", 4)})->code == status::bad_param);
  CAF_CHECK(ask({"/" + std::string(5000, 'x')})->code == status::bad_param);
  CAF_CHECK(
    ask(std::vector<std::string>(defaults::file_check_paths + 1, "/a"))->code
    == status::bad_param);
  CAF_CHECK(reads.jobs.empty());
}

CAF_TEST(X32 without threads a file counts as timed out) {
  const auto result = ask({"/a"});
  elapse(defaults::file_check_patience);
  CAF_REQUIRE(!result->is_pending()); // The list of mounts never came.
  CAF_CHECK(result->value.stamps[0].state == file_state::failed);
}

CAF_TEST_FIXTURE_SCOPE_END()

CAF_TEST(X32 MON-4 a real file system that hangs stops neither loop nor others) {
  auto hung = hung_file_system{};
  if (!hung.is_mounted()) {
    CAF_MESSAGE("not shown: this user cannot mount a file system here");
    return;
  }
  const auto own = credentials{::geteuid(), ::getegid()};
  auto sys = std::make_unique<loop_system>();
  auto uut = std::make_unique<file_checking>(*sys, file_check_limits{});
  const auto ask = [&](const std::string& path) {
    return fixtures::ask<file_stamps>(sys->actors(), uut->checker(),
                                      check_files{{path}, own});
  };
  const auto slow = ask(hung.point() + "/file");
  const auto fast = ask("/etc/passwd");
  CAF_REQUIRE(run_until(*sys, [&] { return !fast->is_pending(); }));
  CAF_REQUIRE_EQUAL(fast->value.stamps.size(), 1u);
  CAF_CHECK(fast->value.stamps[0].state == file_state::regular);
  CAF_CHECK(slow->is_pending());
  CAF_REQUIRE(run_until(*sys, [&] { return !slow->is_pending(); }));
  CAF_REQUIRE_EQUAL(slow->value.stamps.size(), 1u);
  CAF_CHECK(slow->value.stamps[0].state == file_state::timed_out);
  const auto hung_mounts = [&] {
    const auto result =
      fixtures::ask<gauge_list>(sys->actors(), uut->checker(), get_gauges{});
    CAF_REQUIRE(run_until(*sys, [&] { return !result->is_pending(); }));
    return result->value.gauges.at(2).value;
  };
  CAF_CHECK_EQUAL(hung_mounts(), 1u);
  const auto begin = std::chrono::steady_clock::now();
  const auto again = ask(hung.point() + "/file");
  const auto other = ask("/etc/group");
  CAF_REQUIRE(run_until(
    *sys, [&] { return !again->is_pending() && !other->is_pending(); }));
  CAF_CHECK(std::chrono::steady_clock::now() - begin
            < defaults::file_check_patience); // Nobody waits for it again.
  CAF_CHECK(again->value.stamps[0].state == file_state::timed_out);
  CAF_CHECK(other->value.stamps[0].state == file_state::regular);
  hung.answer();
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (hung_mounts() > 0)
    CAF_REQUIRE(std::chrono::steady_clock::now() < end);
  uut.reset();
}
