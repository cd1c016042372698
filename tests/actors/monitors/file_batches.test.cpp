#include "actors/monitors/file_batches.hpp"

#include "tests/test.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

/// Two mounts, `/` (1) and `/net` (2), those of a user below `/fuse` (by
/// number), and /proc, which is the kernel's.
struct fixture {
  fixture() : uut(bounds(), means()) {
    // nop
  }

  static file_batches::limits bounds() {
    return {100, 4, 2, 1s};
  }

  static std::optional<file_batches::place> place_of(const std::string& path) {
    auto result = file_batches::place{};
    result.mount = 1;
    result.point = "/";
    if (path.rfind("/net", 0) == 0) {
      result.mount = 2;
      result.point = "/net";
      result.keeps_access_time = false;
    } else if (path.rfind("/fuse/", 0) == 0) {
      result.mount = 10 + std::stoul(path.substr(6));
      result.point = path;
    } else if (path.rfind("/proc", 0) == 0) {
      result.mount = 3;
      result.is_of_kernel = true;
    } else if (path.rfind("/nowhere", 0) == 0) {
      return std::nullopt;
    }
    return result;
  }

  file_batches::effects means() {
    auto out = file_batches::effects{};
    out.find = place_of;
    out.begin = [this](const file_batches::batch& x) {
      if (is_full)
        return false;
      begun.push_back(x);
      return true;
    };
    out.progress = [this](uint64_t number) { return progress[number]; };
    out.answer = [this](uint64_t request, file_stamps x) {
      CAF_REQUIRE(answers.emplace(request, std::move(x.stamps)).second);
    };
    return out;
  }

  void ask(uint64_t request, std::vector<std::string> paths,
           credentials who = {1000, 100}) {
    CAF_REQUIRE(uut.add(request, {std::move(paths), who}));
  }

  /// The threads find a regular file of `size` at each path.
  void look(const file_batches::batch& x, uint64_t size = 7) {
    auto found = std::vector<file_batches::finding>(x.paths.size());
    for (auto& y : found) {
      y.stamp.state = file_state::regular;
      y.stamp.size = size;
    }
    uut.looked(x.number, std::move(found), now);
  }

  file_state state_of(uint64_t request, size_t index = 0) {
    CAF_REQUIRE_EQUAL(answers.count(request), 1u);
    return answers[request].at(index).state;
  }

  void pass(std::chrono::nanoseconds x) {
    now += x;
    uut.tick(now);
  }

  std::chrono::nanoseconds now{0};
  bool is_full = false;
  std::vector<file_batches::batch> begun;
  std::map<uint64_t, size_t> progress;
  std::map<uint64_t, std::vector<file_stamp>> answers;
  file_batches uut;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(file_batches_tests, fixture)

CAF_TEST(MON-4 paths of a tick go together in one batch for each mount) {
  ask(1, {"/a", "/net/b"});
  ask(2, {"/c"});
  uut.flush(now);
  CAF_REQUIRE_EQUAL(begun.size(), 2u);
  CAF_CHECK(begun[0].paths == (std::vector<std::string>{"/a", "/c"}));
  CAF_CHECK(begun[1].paths == std::vector<std::string>{"/net/b"});
  look(begun[0]);
  CAF_CHECK(state_of(2) == file_state::regular);
  CAF_CHECK_EQUAL(answers.count(1), 0u); // Half of it is missing.
  look(begun[1], 9);
  CAF_CHECK_EQUAL(answers[1][0].size, 7u);
  CAF_CHECK_EQUAL(answers[1][1].size, 9u);
  CAF_CHECK_EQUAL(answers[1][0].mount, 1u);
  CAF_CHECK_EQUAL(answers[1][1].mount, 2u);
  CAF_CHECK(answers[1][0].keeps_access_time);
  CAF_CHECK(!answers[1][1].keeps_access_time);
  CAF_CHECK_EQUAL(uut.waiting(), 0u);
}

CAF_TEST(X32 MON-4 LIM21 a mount that hangs delays no other and costs one thread) {
  ask(1, {"/net/a"});
  ask(2, {"/b"});
  uut.flush(now);
  const auto [fast, slow] = std::pair{begun.at(0), begun.at(1)};
  look(fast);
  CAF_CHECK(state_of(2) == file_state::regular);
  ask(3, {"/net/c"}); // Waits for the batch that is under way.
  uut.flush(now);
  CAF_CHECK_EQUAL(begun.size(), 2u);
  pass(999ms);
  CAF_CHECK_EQUAL(answers.size(), 1u);
  pass(1ms);
  CAF_CHECK(state_of(1) == file_state::timed_out);
  CAF_CHECK(state_of(3) == file_state::timed_out);
  for (uint64_t i = 10; i < 20; ++i) {
    ask(i, {"/net/a"});
    uut.flush(now);
    CAF_CHECK(state_of(i) == file_state::timed_out); // At once.
    pass(1s);
  }
  CAF_CHECK_EQUAL(begun.size(), 2u);
  CAF_CHECK_EQUAL(uut.hung(), 1u);
  look(slow); // It answers at last, which is of no use to anybody,
  CAF_CHECK_EQUAL(uut.hung(), 0u);
  ask(20, {"/net/a"}); // but from now on it is asked again.
  uut.flush(now);
  CAF_REQUIRE_EQUAL(begun.size(), 3u);
  look(begun[2]);
  CAF_CHECK(state_of(20) == file_state::regular);
}

CAF_TEST(MON-4 a mount that is slow but goes on is waited for) {
  ask(1, {"/net/a", "/net/b", "/net/c"});
  uut.flush(now);
  for (size_t i = 1; i <= 3; ++i) {
    progress[begun[0].number] = i;
    pass(1s);
    CAF_CHECK(answers.empty());
  }
  look(begun[0]);
  CAF_CHECK(state_of(1, 2) == file_state::regular);
}

CAF_TEST(X32 LIM21 a user whose mounts hang has no more threads but others do) {
  const auto evil = credentials{666, 666};
  ask(1, {"/fuse/1", "/fuse/2"}, evil);
  uut.flush(now);
  pass(1s);
  CAF_CHECK(state_of(1) == file_state::timed_out);
  ask(2, {"/fuse/3", "/a"}, evil);
  ask(3, {"/fuse/4", "/a"});
  uut.flush(now);
  CAF_CHECK(state_of(2) == file_state::timed_out);
  CAF_REQUIRE_EQUAL(begun.size(), 4u);
  look(begun[2]);
  look(begun[3]);
  CAF_CHECK(state_of(3) == file_state::regular);
  look(begun[0]);
  ask(4, {"/fuse/3"}, evil);
  uut.flush(now);
  CAF_CHECK_EQUAL(begun.size(), 5u);
}

CAF_TEST(X32 a batch has one user and a bounded length) {
  ask(1, {"/1", "/2", "/3"}, {1, 1});
  ask(2, {"/4"}, {2, 2});
  ask(3, {"/5", "/6"}, {1, 1});
  uut.flush(now);
  CAF_REQUIRE_EQUAL(begun.size(), 1u);
  CAF_CHECK(begun[0].paths
            == (std::vector<std::string>{"/1", "/2", "/3", "/5"}));
  look(begun[0]);
  CAF_REQUIRE_EQUAL(begun.size(), 2u);
  CAF_CHECK_EQUAL(begun[1].who.uid, 2u);
  look(begun[1]);
  CAF_REQUIRE_EQUAL(begun.size(), 3u);
  look(begun[2]);
  CAF_CHECK_EQUAL(answers.size(), 3u);
}

CAF_TEST(MON-4 a path that leads to another mount is looked at there) {
  ask(1, {"/link"});
  uut.flush(now);
  auto found = std::vector<file_batches::finding>(1);
  found[0].elsewhere = "/net/file";
  uut.looked(begun[0].number, found, now);
  CAF_REQUIRE_EQUAL(begun.size(), 2u);
  CAF_CHECK(begun[1].paths == std::vector<std::string>{"/net/file"});
  look(begun[1]);
  CAF_CHECK_EQUAL(answers[1][0].mount, 2u);
}

CAF_TEST(X32 a path that leads from mount to mount for ever is given up) {
  ask(1, {"/link"});
  uut.flush(now);
  while (answers.empty()) {
    CAF_REQUIRE(begun.size() < 100);
    auto found = std::vector<file_batches::finding>(1);
    found[0].elsewhere = begun.size() % 2 != 0 ? "/net/link" : "/link";
    uut.looked(begun.back().number, found, now);
  }
  CAF_CHECK(state_of(1) == file_state::failed);
}

CAF_TEST(X32 files of the kernel are no regular files) {
  ask(1, {"/proc/uptime", "/nowhere"});
  uut.flush(now);
  CAF_CHECK(begun.empty());
  CAF_CHECK(state_of(1, 0) == file_state::not_regular);
  CAF_CHECK(state_of(1, 1) == file_state::failed);
}

CAF_TEST(LOAD-2 what waits has a bound and no threads are no reason to wait) {
  CAF_CHECK(!uut.add(1, {std::vector<std::string>(101, "/a"), {}}));
  is_full = true;
  ask(2, {"/a"});
  uut.flush(now);
  CAF_CHECK(state_of(2) == file_state::timed_out);
  CAF_CHECK_EQUAL(uut.waiting(), 0u);
  CAF_CHECK_EQUAL(uut.under_way(), 0u);
  ask(3, {});
  CAF_CHECK(answers[3].empty());
}

CAF_TEST_FIXTURE_SCOPE_END()
