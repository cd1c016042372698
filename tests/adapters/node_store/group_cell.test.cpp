#include "adapters/node_store/group_cell.hpp"

#include "tests/fixtures/interrupted.hpp"
#include "tests/fixtures/shared_cells.hpp"
#include "tests/test.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace troupe;

namespace {

using outcome = group_cell::outcome;
using kind = group_call::kind;
using place_in_round = group_cell::place_in_round;

struct fixture {
  explicit fixture(uint32_t n) : places(n) {
    cells.start(n);
  }

  void open() {
    cells.reader->open([this] { return ++last_number; });
  }

  outcome arrive(uint32_t place, const group_call& call,
                 std::optional<uint32_t> made = {}) {
    places[place] = {};
    return cells.groups().arrive(place, call, made, places[place]);
  }

  /// All call it, one after another.
  void do_all(const group_call& call, std::optional<uint32_t> made = {}) {
    const auto n = static_cast<uint32_t>(places.size());
    for (uint32_t i = 0; i < n; ++i)
      CAF_REQUIRE(arrive(i, call, made)
                  == (i + 1 < n ? outcome::open : outcome::complete));
    for (const auto& x : places)
      CAF_REQUIRE(cells.groups().look(x.mine) == outcome::complete);
  }

  uint32_t round() const {
    return collective_cell::round_of(places.front().mine);
  }

  /// What the server reads, as text.
  std::string news() {
    auto result = std::string{};
    is_sane = cells.reader->read(
      [&](const group_call& x, uint64_t number) {
        result += (x.what == kind::construct ? "+" : "-") + x.id;
        if (x.what == kind::construct && x.wants_number)
          result += "=" + std::to_string(number);
        result += " ";
      },
      [this] { return ++last_number; });
    return result;
  }

  fixtures::shared_cells cells;
  std::vector<place_in_round> places;
  uint64_t last_number = 100;
  bool is_sane = true;
};

} // namespace

CAF_TEST(all make a group and end it and the server reads of it) {
  for (const auto n : {1u, 2u, 65u, 1024u}) {
    auto x = fixture{n};
    CAF_CHECK(x.arrive(0, {kind::construct, "a", true}) == outcome::closed);
    x.open();
    x.do_all({kind::construct, "a", true});
    const auto made = x.round();
    for (const auto& y : x.places)
      CAF_REQUIRE_EQUAL(y.number, x.places.front().number);
    const auto number = std::to_string(x.places.front().number);
    x.do_all({kind::construct, std::string(255, 'b'), false});
    x.do_all({kind::destruct, "a", false}, made);
    CAF_CHECK(x.cells.reader->has_news());
    CAF_CHECK_EQUAL(x.news(),
                    "+a=" + number + " +" + std::string(255, 'b') + " -a ");
    CAF_CHECK(!x.cells.reader->has_news());
    CAF_CHECK_EQUAL(x.news(), "");
  }
}

CAF_TEST(those who call different things ask the server) {
  const auto call = group_call{kind::construct, "a", true};
  for (const auto& other : {group_call{kind::construct, "b", true},
                            group_call{kind::construct, "a", false},
                            group_call{kind::destruct, "a", true},
                            group_call{kind::construct, "aa", true}})
    for (uint32_t odd = 0; odd < 3; ++odd) {
      auto x = fixture{3};
      x.open();
      for (uint32_t i = 0; i < 2; ++i)
        CAF_REQUIRE(x.arrive(i, i == odd ? other : call) == outcome::open);
      CAF_CHECK(x.arrive(2, 2 == odd ? other : call) == outcome::closed);
      for (const auto& y : x.places)
        CAF_CHECK(x.cells.groups().look(y.mine) == outcome::closed);
      CAF_CHECK(!x.cells.is_open_for_groups());
      CAF_CHECK_EQUAL(x.news(), "");
      // And may meet again.
      x.open();
      x.do_all(call);
      CAF_CHECK(x.news().substr(0, 3) == "+a=");
    }
}

CAF_TEST(LIM27 a log that is full has all ask the server until it is read) {
  auto x = fixture{2};
  x.open();
  for (uint32_t i = 0; i < group_log_size; ++i) {
    CAF_CHECK_EQUAL(x.cells.groups().is_behind(x.places[0].mine),
                    i > group_log_size / 2);
    x.do_all({kind::construct, "g" + std::to_string(i), true});
  }
  CAF_CHECK(x.arrive(1, {kind::construct, "more", true}) == outcome::closed);
  CAF_CHECK(x.arrive(0, {kind::construct, "more", true}) == outcome::closed);
  const auto news = x.news();
  CAF_CHECK_EQUAL(news.substr(0, news.find('=')), "+g0");
  CAF_CHECK(news.find("+g63=") != std::string::npos);
  x.open();
  // Context identifiers are never the same.
  auto numbers = std::vector<uint64_t>{};
  for (uint32_t i = 0; i < 5 * group_log_size; ++i) {
    x.do_all({kind::construct, "h", true});
    numbers.push_back(x.places[0].number);
    x.do_all({kind::destruct, "h", false}, x.round());
    if (i % 20 == 19)
      x.news();
  }
  std::sort(numbers.begin(), numbers.end());
  CAF_CHECK(std::adjacent_find(numbers.begin(), numbers.end())
            == numbers.end());
  CAF_CHECK(numbers.front() > 100 + group_log_size);
}

CAF_TEST(a group that was made before the cell was closed is ended elsewhere) {
  auto x = fixture{2};
  x.open();
  x.do_all({kind::construct, "a", false});
  const auto made = x.round();
  x.cells.groups().close();
  x.news();
  x.open();
  CAF_CHECK(x.arrive(0, {kind::destruct, "a", false}, made) == outcome::closed);
  CAF_CHECK(x.cells.is_open_for_groups());
  x.do_all({kind::construct, "b", false});
}

CAF_TEST(a round that all are in ends when the server closes the cell) {
  auto x = fixture{2};
  x.open();
  x.arrive(0, {kind::construct, "a", false});
  // The second one's arrival, and no more of it, in an odd round.
  for (auto part = 0; part < 2; ++part)
    x.cells.calls[1].parts[part] = x.cells.calls[0].parts[part].load();
  x.cells.group_memory.bits[0].fetch_and(~uint64_t{2});
  x.cells.reader->close();
  CAF_CHECK(x.cells.groups().look(x.places[0].mine) == outcome::complete);
  CAF_CHECK_EQUAL(x.news(), "+a ");
  CAF_CHECK(!x.cells.is_open_for_groups());
}

CAF_TEST(whoever waits for long asks the server) {
  auto x = fixture{2};
  x.open();
  CAF_REQUIRE(x.arrive(0, {kind::construct, "a", false}) == outcome::open);
  CAF_CHECK(x.cells.groups().wait(x.places[0].mine, 0) == outcome::closed);
  CAF_CHECK(x.arrive(1, {kind::construct, "a", false}) == outcome::closed);
  CAF_CHECK_EQUAL(x.news(), "");
}

CAF_TEST(who is interrupted again and again has no more patience) {
  auto x = fixture{2};
  x.open();
  CAF_REQUIRE(x.arrive(0, {kind::construct, "a", false}) == outcome::open);
  auto now = outcome::open;
  CAF_CHECK(fixtures::ends_though_interrupted(
    [&] { now = x.cells.groups().wait(x.places[0].mine, 0); },
    [&] { x.cells.groups().close(); }));
  CAF_CHECK(now == outcome::closed);
}

CAF_TEST(X51 nonsense in the log closes it) {
  const auto spoil = [](fixture& x, int how) {
    auto& first = x.cells.group_log.records[x.round() % group_log_size];
    switch (how) {
      case 0:
        first.kind = 3;
        break;
      case 1:
        first.size = 0;
        break;
      case 2:
        first.size = 60000;
        break;
      case 3:
        first.id[0] = '\0';
        break;
      case 4:
        first.wants_number = 7;
        break;
      case 5:
        x.cells.group_memory.word += 2 * (group_log_size + 1);
        break;
      default:
        x.cells.group_memory.word -= 64;
    }
  };
  for (auto how = 0; how < 7; ++how) {
    auto x = fixture{2};
    x.open();
    x.do_all({kind::construct, "a", true});
    spoil(x, how);
    x.news();
    CAF_CHECK(!x.is_sane);
    CAF_CHECK(!x.cells.is_open_for_groups());
    CAF_CHECK(!x.cells.reader->has_news());
  }
}

CAF_TEST(rounds count around) {
  auto x = fixture{2};
  x.cells.group_memory.word = UINT32_MAX - 41;
  x.cells.reader->read([](const auto&, uint64_t) {}, [] { return 1; });
  x.open();
  for (auto i = 0; i < 60; ++i)
    x.do_all({kind::construct, "a", false});
  const auto news = x.news();
  CAF_CHECK(x.is_sane);
  CAF_CHECK_EQUAL(std::count(news.begin(), news.end(), '+'), 60);
}

CAF_TEST(threads make groups in every round) {
  for (const auto spins : {0u, 200u}) {
    constexpr auto n = 6u;
    constexpr auto rounds = 1000u;
    auto x = fixture{n};
    x.open();
    auto faults = std::atomic<uint32_t>{0};
    auto openings = 0u;
    auto read = size_t{0};
    auto turn = 0u;
    auto met = 0u;
    auto mutex = std::mutex{};
    auto all_met = std::condition_variable{};
    // The log is full for all of them; the last one has the server read it.
    const auto start_again = [&] {
      auto guard = std::unique_lock{mutex};
      if (++met < n) {
        all_met.wait(guard, [&, mine = turn] { return turn != mine; });
        return;
      }
      const auto news = x.news();
      read += static_cast<size_t>(std::count(news.begin(), news.end(), '+'));
      x.open();
      ++openings;
      met = 0;
      ++turn;
      all_met.notify_all();
    };
    auto threads = std::vector<std::thread>{};
    auto numbers = std::vector<std::vector<uint64_t>>(n);
    for (uint32_t i = 0; i < n; ++i)
      threads.emplace_back([&, i] {
        for (auto round = 0u; round < rounds;) {
          auto cell = x.cells.groups();
          auto mine = place_in_round{};
          const auto id = "g" + std::to_string(round);
          auto now = cell.arrive(i, {kind::construct, id, true}, {}, mine);
          if (now == outcome::open)
            now = cell.wait(mine.mine, spins);
          if (now == outcome::complete) {
            numbers[i].push_back(mine.number);
            ++round;
          } else if (now == outcome::closed) {
            start_again();
          } else {
            ++faults;
          }
        }
      });
    for (auto& y : threads)
      y.join();
    const auto news = x.news();
    read += static_cast<size_t>(std::count(news.begin(), news.end(), '+'));
    CAF_CHECK(x.is_sane);
    CAF_CHECK_EQUAL(faults.load(), 0u);
    for (const auto& y : numbers)
      CAF_CHECK(y == numbers.front());
    CAF_CHECK_EQUAL(numbers.front().size(), rounds);
    CAF_CHECK_EQUAL(read, rounds);
    CAF_CHECK(openings > 0u);
  }
}
