#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/fd_watch.hpp"
#include "adapters/loop/timer.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "adapters/process/output_pipe.hpp"
#include "tests/test.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace troupe;

namespace {

struct fixture {
  event_loop loop;
  read_turns turns{loop};
  std::string trace;
  std::vector<size_t> asked;
  std::vector<std::unique_ptr<read_turns::reader>> readers;

  /// Reads `left` times `size` bytes and joins again each time.
  struct source {
    size_t left;
    size_t size;
  };

  void add(char name, source x) {
    const auto i = readers.size();
    readers.push_back(std::make_unique<read_turns::reader>(
      turns, [this, name, i, x](size_t most) mutable -> size_t {
        trace += name;
        asked.push_back(most);
        if (--x.left > 0)
          readers[i]->join();
        return x.size;
      }));
    readers.back()->join();
  }

  /// Runs the loop for so many passes; each ends with a dot.
  void run(int passes) {
    std::optional<timer> end;
    end.emplace(loop, [&] {
      trace += '.';
      if (--passes == 0)
        loop.stop();
      else
        end->start(0ms);
    });
    end->start(0ms);
    loop.run();
  }
};

constexpr auto full = read_turns::bytes_per_pass;

} // namespace

CAF_TEST_FIXTURE_SCOPE(read_turns_tests, fixture)

CAF_TEST(I18 those with much to read have one turn after the other) {
  add('a', {3, full});
  add('b', {2, full});
  add('c', {1, full});
  run(7);
  CAF_CHECK_EQUAL(trace, "a.b.c.a.b.a..");
}

CAF_TEST(those with little to read share a pass) {
  add('a', {1, 10});
  add('b', {1, full / 2});
  add('c', {2, full});
  run(2);
  CAF_CHECK_EQUAL(trace, "abc.c.");
}

CAF_TEST(however little is read a pass has an end) {
  for (int i = 0; i < 100; ++i)
    add('a', {1000, 0});
  run(1);
  CAF_CHECK_EQUAL(trace.size(), full / read_turns::least_bytes + 1);
}

CAF_TEST(I18 a descriptor that is ready is called between the readings) {
  const auto fd = unique_fd{eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)};
  fd_watch watch{loop, fd.get(), [this] { trace += '!'; }};
  CAF_CHECK(watch.enable_read());
  for (const auto name : {'a', 'b', 'c', 'd'})
    add(name, {2, full});
  run(1);
  trace.clear();
  run(4);
  CAF_CHECK_EQUAL(trace, "!b.!c.!d.!a.");
}

CAF_TEST(who joins twice has one turn and who leaves has none) {
  add('a', {1, full});
  add('b', {1, full});
  readers[0]->join();
  readers[1]->leave();
  run(2);
  CAF_CHECK_EQUAL(trace, "a..");
  readers[1]->join();
  run(1);
  CAF_CHECK_EQUAL(trace, "a..b.");
}

CAF_TEST(who is destroyed has no turn any more) {
  add('a', {1, full});
  add('b', {1, full});
  readers[1].reset();
  run(2);
  CAF_CHECK_EQUAL(trace, "a..");
}

CAF_TEST(who has no memory for what it reads holds up nobody) {
  readers.push_back(std::make_unique<read_turns::reader>(
    turns, [](size_t) -> size_t { throw std::bad_alloc{}; }));
  readers.back()->join();
  add('a', {2, full});
  run(4);
  CAF_CHECK_EQUAL(std::count(trace.begin(), trace.end(), 'a'), 2);
  readers.front()->join();
  run(2);
  add('b', {1, full});
  run(2);
  CAF_CHECK_EQUAL(std::count(trace.begin(), trace.end(), 'b'), 1);
}

CAF_TEST(beside what is urgent little is read at a time and seldom) {
  using clock = std::chrono::steady_clock;
  constexpr auto little = read_turns::bytes_beside_urgent;
  static_assert(2 * little == defaults::bulk_beside_urgent,
                "half a millisecond");
  add('a', {2, little});
  add('b', {1, little});
  const auto begin = clock::now();
  // It stays so for as long as this may take.
  loop.pace().on_urgent(begin + 1h);
  while (asked.size() < 3)
    run(1);
  CAF_CHECK(asked == std::vector<size_t>(3, little));
  // Each waits for what the one before it has taken.
  CAF_CHECK(clock::now() - begin >= 1ms);
}

CAF_TEST(what was urgent and is over holds up nobody) {
  add('a', {2, full});
  loop.pace().on_urgent(std::chrono::steady_clock::now() - 1h);
  run(2);
  CAF_CHECK_EQUAL(trace, "a.a.");
  CAF_CHECK(asked == std::vector<size_t>(2, full));
}

CAF_TEST_FIXTURE_SCOPE_END()
