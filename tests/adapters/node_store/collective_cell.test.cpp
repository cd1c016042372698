#include "adapters/node_store/collective_cell.hpp"

#include "tests/fixtures/interrupted.hpp"
#include "tests/test.hpp"

#include <memory>
#include <random>
#include <thread>
#include <vector>

using namespace troupe;

namespace {

using outcome = collective_cell::outcome;

struct fixture {
  explicit fixture(uint32_t n)
    : count(n), memory(std::make_unique<cell_memory>()) {
    // nop
  }

  collective_cell cell(bool is_whole = true) {
    return {*memory, count, is_whole};
  }

  uint32_t count;
  std::unique_ptr<cell_memory> memory;
};

} // namespace

CAF_TEST(a cell of zeros is closed) {
  auto x = fixture{2};
  auto mine = collective_cell::ticket{};
  CAF_CHECK(!x.cell().is_open());
  CAF_CHECK(x.cell().arrive(0, mine) == outcome::closed);
  CAF_CHECK(!x.cell().has_arrived(0));
}

CAF_TEST(the last one ends the round) {
  for (const auto n : {1u, 2u, 63u, 64u, 65u, 128u, 1000u, 1024u}) {
    auto x = fixture{n};
    auto cell = x.cell();
    cell.open();
    auto tickets = std::vector<collective_cell::ticket>(n);
    for (auto round = 0; round < 5; ++round) {
      for (auto i = 0u; i < n; ++i) {
        CAF_REQUIRE(!cell.has_arrived(i));
        const auto now = cell.arrive(i, tickets[i]);
        CAF_REQUIRE(now == (i + 1 < n ? outcome::open : outcome::complete));
        CAF_REQUIRE(i + 1 == n || cell.has_arrived(i));
      }
      for (const auto y : tickets)
        CAF_REQUIRE(cell.look(y) == outcome::complete);
    }
    auto other = collective_cell::ticket{};
    CAF_CHECK(cell.arrive(n, other) == outcome::closed);
  }
}

CAF_TEST(who is in a round that is closed asks the server) {
  auto x = fixture{3};
  auto cell = x.cell();
  cell.open();
  auto first = collective_cell::ticket{};
  auto second = first;
  auto third = first;
  CAF_CHECK(cell.arrive(0, first) == outcome::open);
  CAF_CHECK(cell.arrive(2, third) == outcome::open);
  CAF_CHECK(cell.close());
  CAF_CHECK(!cell.close());
  CAF_CHECK(cell.has_arrived(0));
  CAF_CHECK(!cell.has_arrived(1));
  CAF_CHECK(cell.has_arrived(2));
  CAF_CHECK(cell.wait(first, 0) == outcome::closed);
  CAF_CHECK(cell.arrive(1, second) == outcome::closed);
  // A new use: the old arrivals count no more.
  cell.open();
  CAF_CHECK(cell.look(first) == outcome::complete);
  CAF_CHECK(cell.arrive(1, second) == outcome::open);
  CAF_CHECK(!cell.has_arrived(0));
  CAF_CHECK(cell.arrive(0, first) == outcome::open);
  CAF_CHECK(cell.arrive(2, third) == outcome::complete);
  CAF_CHECK(cell.wait(second, 0) == outcome::complete);
}

CAF_TEST(a round that has ended stays so when the cell is closed) {
  auto x = fixture{2};
  auto cell = x.cell();
  cell.open();
  auto first = collective_cell::ticket{};
  auto second = first;
  cell.arrive(0, first);
  CAF_CHECK(cell.arrive(1, second) == outcome::complete);
  cell.close();
  CAF_CHECK(cell.wait(first, 0) == outcome::complete);
}

CAF_TEST(whoever looks ends a round that the last one has not) {
  auto x = fixture{2};
  auto cell = x.cell();
  cell.open();
  auto first = collective_cell::ticket{};
  cell.arrive(0, first);
  // The other one was killed right after its arrival; the round is odd.
  x.memory->bits[0].fetch_and(~uint64_t{2});
  CAF_CHECK(cell.look(first) == outcome::complete);
}

CAF_TEST(threads meet in every round) {
  for (const auto spins : {0u, 200u}) {
    constexpr auto n = 8u;
    constexpr auto rounds = 2000u;
    auto x = fixture{n};
    x.cell().open();
    auto counts = std::vector<std::atomic<uint32_t>>(n);
    auto faults = std::atomic<uint32_t>{0};
    auto threads = std::vector<std::thread>{};
    for (auto i = 0u; i < n; ++i)
      threads.emplace_back([&, i] {
        auto cell = x.cell();
        auto mine = collective_cell::ticket{};
        for (auto round = 1u; round <= rounds; ++round) {
          counts[i] = round;
          if (cell.arrive(i, mine) == outcome::open
              && cell.wait(mine, spins) != outcome::complete)
            ++faults;
          for (const auto& y : counts)
            if (y < round || y > round + 1)
              ++faults;
        }
      });
    for (auto& y : threads)
      y.join();
    CAF_CHECK_EQUAL(faults.load(), 0u);
    CAF_CHECK_EQUAL(x.cell().rounds(), rounds + 1);
  }
}

CAF_TEST(the last one of a node does not end a round of several) {
  auto x = fixture{3};
  auto cell = x.cell(false);
  cell.open();
  auto tickets = std::vector<collective_cell::ticket>(3);
  for (auto round = 0; round < 4; ++round) {
    const auto collects = round % 2 == 1;
    CAF_REQUIRE(cell.arrive(0, tickets[0]) == outcome::open);
    CAF_REQUIRE(cell.arrive(1, tickets[1], collects) == outcome::open);
    CAF_CHECK(!cell.has_gathered(tickets[0]));
    CAF_REQUIRE(cell.arrive(2, tickets[2]) == outcome::gathered);
    CAF_CHECK(cell.has_gathered(tickets[0]));
    CAF_CHECK_EQUAL(cell.has_collected(tickets[0]), collects);
    CAF_CHECK(cell.look(tickets[1]) == outcome::gathered);
    // Another round does not end.
    cell.end(tickets[0] + 2);
    CAF_CHECK(cell.has_gathered(tickets[0]));
    cell.end(tickets[0]);
    CAF_CHECK(!cell.has_gathered(tickets[0]));
    for (const auto y : tickets)
      CAF_REQUIRE(cell.look(y) == outcome::complete);
  }
}

CAF_TEST(a round of several nodes that is closed does not end there) {
  auto x = fixture{2};
  auto cell = x.cell(false);
  cell.open();
  auto first = collective_cell::ticket{};
  auto second = first;
  CAF_REQUIRE(cell.arrive(0, first) == outcome::open);
  CAF_REQUIRE(cell.arrive(1, second) == outcome::gathered);
  CAF_CHECK(cell.close());
  CAF_CHECK(cell.has_gathered(first));
  cell.end(first);
  CAF_CHECK(cell.look(first) == outcome::closed);
  CAF_CHECK(!cell.is_open());
}

CAF_TEST(who waits long for others of its node closes a round of several) {
  auto x = fixture{2};
  auto cell = x.cell(false);
  cell.open();
  auto mine = collective_cell::ticket{};
  CAF_REQUIRE(cell.arrive(0, mine) == outcome::open);
  CAF_CHECK(cell.wait(mine, 0) == outcome::closed);
  CAF_CHECK(!cell.is_open());
  cell.open();
  CAF_REQUIRE(cell.arrive(0, mine) == outcome::open);
  auto last = collective_cell::ticket{};
  CAF_REQUIRE(cell.arrive(1, last) == outcome::gathered);
  // The other one may have been stopped before it told the server.
  CAF_CHECK(cell.wait(mine, 0) == outcome::gathered);
  CAF_CHECK(cell.is_open());
}

CAF_TEST(who is interrupted again and again has no more patience) {
  auto x = fixture{2};
  auto cell = x.cell(false);
  cell.open();
  auto mine = collective_cell::ticket{};
  CAF_REQUIRE(cell.arrive(0, mine) == outcome::open);
  auto now = outcome::open;
  CAF_CHECK(fixtures::ends_though_interrupted(
    [&] { now = x.cell(false).wait(mine, 0); }, [&] { cell.close(); }));
  CAF_CHECK(now == outcome::closed);
}

CAF_TEST(COLL-1 X53 what is closed is not ended by closing it once more) {
  auto x = fixture{2};
  auto cell = x.cell();
  cell.open();
  auto first = collective_cell::ticket{};
  CAF_CHECK(cell.arrive(0, first) == outcome::open);
  // The other one has come, and before it looks somebody has all of them ask.
  x.memory->bits[0] = collective_cell::round_of(first) % 2 == 0 ? 3 : 0;
  CAF_CHECK(cell.has_gathered(first));
  CAF_CHECK(collective_cell::shut(*x.memory));
  CAF_CHECK(cell.look(first) == outcome::closed);
  CAF_CHECK(!cell.close());
  CAF_CHECK(!cell.close());
  CAF_CHECK(cell.look(first) == outcome::closed);
}
