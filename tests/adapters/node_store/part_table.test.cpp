#include "adapters/node_store/part_table.hpp"

#include "tests/test.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

using namespace troupe;

namespace {

using outcome = collective_cell::outcome;

part_members members_of(const std::vector<uint32_t>& numbers) {
  auto result = part_members{};
  for (const auto x : numbers)
    CAF_REQUIRE(result.add(x));
  return result;
}

/// What a job shares, and its server.
struct fixture {
  struct memory {
    part_entry entries[most_parts];
    cell_memory cells[most_parts];
    std::atomic<uint32_t> shown[8];
  };

  fixture()
    : shared(std::make_unique<memory>()),
      server(shared->entries, shared->cells, [this](uint32_t cell) {
        return std::any_of(std::begin(shared->shown), std::end(shared->shown),
                           [cell](const auto& x) { return x.load() == cell; });
      }) {
    // nop
  }

  std::optional<meeting_place> find(const std::vector<uint32_t>& numbers,
                                    uint32_t self) const {
    return find_part(shared->entries, members_of(numbers), self);
  }

  bool enter(uint32_t self, const meeting_place& where) {
    return enter_part(shared->shown[self], shared->entries, where);
  }

  void leave(uint32_t self) {
    leave_part(shared->shown[self]);
  }

  collective_cell cell(const meeting_place& where) const {
    return {shared->cells[where.cell - 1], where.count};
  }

  std::unique_ptr<memory> shared;
  part_table server;
};

} // namespace

CAF_TEST(members have places in the order of their numbers) {
  auto x = members_of({3, 64, 63, 1023, 3, 128});
  CAF_CHECK_EQUAL(x.size(), 5u);
  CAF_CHECK_EQUAL(x.place_of(3), 0u);
  CAF_CHECK_EQUAL(x.place_of(63), 1u);
  CAF_CHECK_EQUAL(x.place_of(64), 2u);
  CAF_CHECK_EQUAL(x.place_of(128), 3u);
  CAF_CHECK_EQUAL(x.place_of(1023), 4u);
  CAF_CHECK(x.has(1023));
  CAF_CHECK(!x.has(4));
  CAF_CHECK(!x.has(cell_participants));
  CAF_CHECK(!x.add(cell_participants));
  CAF_CHECK_EQUAL(part_members{}.size(), 0u);
}

CAF_TEST(a part is found by those who are in it and by no others) {
  auto f = fixture{};
  CAF_CHECK(!f.find({1, 2}, 1));
  const auto cell = f.server.add(members_of({1, 2}));
  CAF_REQUIRE(cell);
  const auto where = f.find({2, 1}, 2);
  CAF_REQUIRE(where);
  CAF_CHECK_EQUAL(where->cell, *cell);
  CAF_CHECK_EQUAL(where->place, 1u);
  CAF_CHECK_EQUAL(where->count, 2u);
  CAF_CHECK(!f.find({1, 2}, 0));
  CAF_CHECK(!f.find({0, 1, 2}, 1));
  CAF_CHECK(!f.find({1}, 1));
  f.server.remove(*cell);
  CAF_CHECK(!f.find({1, 2}, 1));
}

CAF_TEST(those of a part meet) {
  auto f = fixture{};
  const auto cell = f.server.add(members_of({1, 4, 5}));
  CAF_REQUIRE(cell);
  const auto one = f.find({1, 4, 5}, 1);
  CAF_REQUIRE(one && f.enter(1, *one));
  auto mine = collective_cell::ticket{};
  CAF_CHECK(f.cell(*one).arrive(one->place, mine) == outcome::closed);
  f.leave(1);
  CAF_REQUIRE(f.server.open(*cell));
  for (auto round = 0; round < 4; ++round) {
    auto tickets = std::vector<collective_cell::ticket>(3);
    for (const auto self : {1u, 4u, 5u}) {
      const auto x = f.find({1, 4, 5}, self);
      CAF_REQUIRE(x && f.enter(self, *x));
      CAF_CHECK(f.cell(*x).arrive(x->place, tickets[x->place])
                == (self == 5 ? outcome::complete : outcome::open));
    }
    for (const auto self : {1u, 4u, 5u}) {
      CAF_CHECK(f.cell(*one).look(tickets[0]) == outcome::complete);
      f.leave(self);
    }
  }
  // Each round, and its opening.
  CAF_CHECK_EQUAL(f.server.at(*cell).rounds(), 5u);
}

CAF_TEST(who waits for a part that loses its cell asks the server) {
  auto f = fixture{};
  const auto cell = f.server.add(members_of({0, 1}));
  CAF_REQUIRE(cell && f.server.open(*cell));
  const auto where = f.find({0, 1}, 0);
  CAF_REQUIRE(where && f.enter(0, *where));
  auto mine = collective_cell::ticket{};
  CAF_REQUIRE(f.cell(*where).arrive(where->place, mine) == outcome::open);
  CAF_CHECK(f.server.at(*cell).has_any_arrived());
  f.server.remove(*cell);
  CAF_CHECK(f.cell(*where).wait(mine, 0) == outcome::closed);
}

CAF_TEST(a cell in which a process may be is given to nobody) {
  auto f = fixture{};
  const auto cell = f.server.add(members_of({0, 1}));
  CAF_REQUIRE(cell && f.server.open(*cell));
  const auto slow = f.find({0, 1}, 0);
  CAF_REQUIRE(slow && f.enter(0, *slow));
  f.server.remove(*cell);
  // It may be about to arrive: its bit would be another one's.
  const auto other = f.server.add(members_of({2, 3}));
  CAF_REQUIRE(other);
  CAF_CHECK(*other != *cell);
  f.leave(0);
  const auto third = f.server.add(members_of({0, 1}));
  CAF_CHECK(third == cell);
  // Who looked it up before does not enter it, nor is it kept for it.
  CAF_CHECK(!f.enter(1, *slow));
  CAF_CHECK(f.server.open(*cell));
  const auto fresh = f.find({0, 1}, 1);
  CAF_REQUIRE(fresh && f.enter(1, *fresh));
}

CAF_TEST(a cell is not opened while a process may be in a round of it) {
  auto f = fixture{};
  const auto cell = f.server.add(members_of({0, 1}));
  CAF_REQUIRE(cell && f.server.open(*cell));
  const auto where = f.find({0, 1}, 0);
  CAF_REQUIRE(where && f.enter(0, *where));
  auto mine = collective_cell::ticket{};
  CAF_REQUIRE(f.cell(*where).arrive(where->place, mine) == outcome::open);
  f.server.at(*cell).close();
  CAF_CHECK(!f.server.open(*cell));
  CAF_CHECK(f.cell(*where).look(mine) == outcome::closed);
  f.leave(0);
  CAF_CHECK(f.server.open(*cell));
}

CAF_TEST(there are so many cells and no more) {
  auto f = fixture{};
  for (auto i = 0u; i < most_parts; ++i)
    CAF_REQUIRE(f.server.add(members_of({i, i + 1})));
  CAF_CHECK(!f.server.add(members_of({100, 200})));
  f.server.remove(3);
  CAF_CHECK(!f.find({2, 3}, 2));
  const auto fresh = f.server.add(members_of({100, 200}));
  CAF_CHECK(fresh == 3u);
  CAF_CHECK(f.find({3, 4}, 4));
}

CAF_TEST(threads meet only with those of their part while cells change hands) {
  const auto parts = std::vector<std::vector<uint32_t>>{
    {0, 1}, {1, 2}, {0, 1, 2, 3}, {0, 3}, {2, 3}, {0}};
  using meeting = std::pair<uint32_t, collective_cell::ticket>;
  struct log {
    std::set<std::pair<size_t, meeting>> arrived;
    std::vector<std::pair<size_t, meeting>> ended;
  };
  auto f = fixture{};
  auto logs = std::vector<log>(4);
  auto is_over = std::atomic<bool>{false};
  auto met = std::atomic<size_t>{0};
  auto threads = std::vector<std::thread>{};
  for (auto self = 0u; self < 4; ++self)
    threads.emplace_back([&, self] {
      auto random = std::mt19937{self};
      while (!is_over) {
        const auto which = random() % parts.size();
        auto members = part_members{};
        for (const auto x : parts[which])
          members.add(x);
        const auto where = find_part(f.shared->entries, members, self);
        if (!where || !f.enter(self, *where)) {
          std::this_thread::yield();
          continue;
        }
        auto cell = f.cell(*where);
        auto mine = collective_cell::ticket{};
        auto now = cell.arrive(where->place, mine);
        const auto what = std::pair{which, meeting{where->cell, mine}};
        if (mine != 0)
          logs[self].arrived.insert(what);
        for (; now == outcome::open; now = cell.look(mine))
          std::this_thread::yield();
        if (now == outcome::complete) {
          logs[self].ended.push_back(what);
          met += parts[which].size() > 1 ? 1 : 0;
        }
        f.leave(self);
      }
    });
  // The server: at most three parts have cells.
  auto random = std::mt19937{77};
  auto cells = std::map<size_t, uint32_t>{};
  // Beside other work each change takes as long as a hundred do alone: then enough is
  // what shows something.
  const auto enough =
    std::chrono::steady_clock::now() + std::chrono::seconds{5};
  for (auto i = 0; i < 10000; ++i) {
    if (met > 20 && std::chrono::steady_clock::now() > enough)
      break;
    const auto which = random() % parts.size();
    const auto x = cells.find(which);
    if (x == cells.end()) {
      if (cells.size() < 3)
        if (const auto cell = f.server.add(members_of(parts[which])))
          cells[which] = *cell;
    } else if (random() % 3 == 0) {
      f.server.remove(x->second);
      cells.erase(x);
    } else if (f.server.at(x->second).is_open()) {
      f.server.at(x->second).close();
    } else {
      f.server.open(x->second);
    }
    for (auto n = random() % 16; n > 0; --n)
      std::this_thread::yield();
  }
  is_over = true;
  for (const auto& [unused, cell] : cells)
    f.server.remove(cell);
  for (auto& x : threads)
    x.join();
  auto ended = size_t{0};
  auto faults = 0;
  for (const auto& mine : logs)
    for (const auto& what : mine.ended) {
      ended += parts[what.first].size() > 1 ? 1 : 0;
      for (const auto other : parts[what.first])
        if (logs[other].arrived.count(what) == 0)
          ++faults;
    }
  CAF_CHECK_EQUAL(faults, 0);
  CAF_CHECK(ended > 20);
}
