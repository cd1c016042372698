// Processes of parts of a job that meet in fences in memory that they share, or ask
// the server: one thing after the other, and in an order drawn from a seed, with many
// parts that overlap. They end, leave and come back in the midst of a meeting, while
// the server's messages are under way. Whatever the order:
//   COLL-2  all get the same of a fence, COLL-3  it succeeds only if all called
//   it, COLL-4  nobody waits for ever.

#include "base/make_info.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/node.hpp"
#include "tests/fixtures/seeded.hpp"
#include "tests/fixtures/shared_cells.hpp"
#include "tests/test.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

using namespace std::chrono_literals;

using how = collective_cell::outcome;
using ranks = std::vector<uint32_t>;

std::vector<proc_id> procs_of(const ranks& who) {
  auto result = std::vector<proc_id>{};
  for (const auto rank : who)
    result.push_back({"job", rank});
  return result;
}

connect_request greeting_of(uint32_t rank) {
  auto result = node::greeting({"job", rank});
  result.can_share = true;
  return result;
}

std::optional<meeting_place> find(const shared_cells& shared, const ranks& who,
                                  uint32_t self) {
  auto members = part_members{};
  for (const auto rank : who)
    members.add(rank);
  return find_part(shared.part_entries.data(), members, self);
}

job_memory_maker maker_of(const std::shared_ptr<shared_cells>& shared) {
  return [shared](uint32_t, const std::vector<uint32_t>& locals, uint64_t,
                  const job_info&, std::string&) {
    shared->start(static_cast<uint32_t>(locals.size()));
    return std::make_unique<memory_of_cells>(shared);
  };
}

// -- one thing after the other --------------------------------------------------

struct fixture : deterministic {
  std::shared_ptr<shared_cells> shared = std::make_shared<shared_cells>();
  node uut{*this, maker_of(shared)};
  std::vector<peer_ptr> peers;

  static constexpr uint32_t size = 8;

  fixture() {
    uut.add_job("job", size);
    consume_messages();
    for (uint32_t rank = 0; rank < size; ++rank)
      peers.push_back(uut.connect(greeting_of(rank)));
    consume_messages();
  }

  pending<ack> ask(uint32_t rank, const ranks& who,
                   std::vector<info> directives = {}) {
    auto result = uut.fence(peers[rank], procs_of(who), std::move(directives));
    consume_messages();
    return result;
  }

  /// All of a part ask for so many fences.
  void ask_all(const ranks& who, int times = 1) {
    for (; times > 0; --times) {
      auto asked = std::vector<pending<ack>>{};
      for (const auto rank : who)
        asked.push_back(ask(rank, who));
      for (const auto& x : asked)
        CAF_REQUIRE_EQUAL(x->code, status::success);
    }
  }

  bool is_open(const ranks& who) {
    const auto where = find(*shared, who, who.front());
    return where && shared->part(*where).is_open();
  }

  /// A process waits for others in the memory.
  collective_cell::ticket arrive(uint32_t rank, const ranks& who) {
    const auto where = find(*shared, who, rank);
    CAF_REQUIRE(
      where
      && enter_part(shared->shown[rank], shared->part_entries.data(), *where));
    auto mine = collective_cell::ticket{0};
    last = shared->part(*where).arrive(where->place, mine);
    waiting[rank] = *where;
    return mine;
  }

  /// What has become of it; if anything, it is there no more.
  how look(uint32_t rank, collective_cell::ticket mine) {
    const auto now = shared->part(waiting.at(rank)).look(mine);
    if (now != how::open)
      leave_part(shared->shown[rank]);
    return now;
  }

  /// All of a part go on in memory.
  void meet_all(const ranks& who) {
    auto tickets = std::map<uint32_t, collective_cell::ticket>{};
    for (const auto rank : who)
      tickets[rank] = arrive(rank, who);
    CAF_REQUIRE(last == how::complete);
    for (const auto rank : who)
      CAF_REQUIRE(look(rank, tickets[rank]) == how::complete);
  }

  static std::vector<info> of_round(collective_cell::ticket x) {
    return {make_info(fence_round, value::uint32(x))};
  }

  how last = how::open;
  std::map<uint32_t, meeting_place> waiting;
};

const auto half = ranks{1, 2, 4};

} // namespace

CAF_TEST_FIXTURE_SCOPE(server_parts_tests, fixture)

CAF_TEST(COLL-6 a part meets in memory when it has fenced twice) {
  ask_all(half);
  CAF_CHECK(!find(*shared, half, 1));
  ask_all(half);
  CAF_REQUIRE(is_open(half));
  for (auto i = 0; i < 5; ++i)
    meet_all(half);
  // Named in another order it is the same part; another part is not.
  ask_all({4, 1, 2});
  CAF_CHECK(is_open(half));
  CAF_CHECK(!find(*shared, {1, 2}, 1));
  CAF_CHECK(!find(*shared, {1, 2, 4, 5}, 1));
}

CAF_TEST(COLL-6 parts that overlap meet by themselves) {
  const auto other = ranks{2, 3};
  ask_all(half, 2);
  ask_all(other, 2);
  const auto mine = arrive(1, half);
  meet_all(other);
  CAF_CHECK(shared->part(waiting.at(1)).look(mine) == how::open);
  arrive(2, half);
  arrive(4, half);
  CAF_CHECK(last == how::complete);
  CAF_CHECK(look(1, mine) == how::complete);
}

CAF_TEST(COLL-3 COLL-6 who asks has the others of its part ask) {
  const auto other = ranks{2, 3};
  ask_all(half, 2);
  ask_all(other, 2);
  const auto mine = arrive(1, half);
  const auto two = ask(2, half, {make_info(attr::timeout, value::integer(9))});
  CAF_CHECK(two->is_pending());
  CAF_REQUIRE(look(1, mine) == how::closed);
  CAF_CHECK(is_open(other));
  const auto one = ask(1, half, of_round(mine));
  CAF_CHECK(one->is_pending());
  const auto four = ask(4, half);
  for (const auto& x : {one, two, four})
    CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK(is_open(half));
}

CAF_TEST(COLL-2 COLL-6 a member that ends fails the fence of those who met) {
  ask_all(half, 2);
  const auto mine = arrive(1, half);
  const auto other = arrive(4, half);
  uut.lose(peers[2]);
  uut.end_process({"job", 2});
  consume_messages();
  CAF_CHECK(look(1, mine) == how::closed);
  CAF_CHECK(look(4, other) == how::closed);
  const auto one = ask(1, half, of_round(mine));
  const auto four = ask(4, half, of_round(other));
  CAF_CHECK_EQUAL(one->code, status::lost_connection);
  CAF_CHECK_EQUAL(four->code, status::lost_connection);
  CAF_CHECK(!find(*shared, half, 1));
  // The others may meet without it.
  ask_all({1, 4}, 2);
  meet_all({1, 4});
}

CAF_TEST(COLL-2 COLL-6 a member that loses its connection fails the fence) {
  ask_all(half, 2);
  const auto mine = arrive(1, half);
  uut.lose(peers[2]);
  consume_messages();
  CAF_REQUIRE(look(1, mine) == how::closed);
  CAF_CHECK_EQUAL(ask(1, half, of_round(mine))->code, status::lost_connection);
  CAF_CHECK_EQUAL(ask(4, half)->code, status::lost_connection);
}

CAF_TEST(COLL-4 COLL-6 a member that leaves is waited for until it ends) {
  ask_all(half, 2);
  const auto mine = arrive(1, half);
  arrive(4, half);
  uut.lose(peers[2], true);
  consume_messages();
  CAF_CHECK(shared->part(waiting.at(1)).look(mine) == how::open);
  // It comes back.
  peers[2] = uut.connect(greeting_of(2));
  consume_messages();
  arrive(2, half);
  CAF_CHECK(look(1, mine) == how::complete);
  const auto next = arrive(1, half);
  uut.lose(peers[2], true);
  uut.end_process({"job", 2});
  consume_messages();
  CAF_REQUIRE(look(1, next) == how::closed);
  CAF_CHECK_EQUAL(ask(1, half, of_round(next))->code, status::lost_connection);
}

CAF_TEST(COLL-2 COLL-6 a time-out of one is one of its part) {
  ask_all(half, 2);
  const auto mine = arrive(4, half);
  const auto one = ask(1, half, {make_info(attr::timeout, value::integer(1))});
  CAF_REQUIRE(look(4, mine) == how::closed);
  const auto four = ask(4, half, of_round(mine));
  elapse(2s);
  CAF_CHECK_EQUAL(one->code, status::timeout);
  CAF_CHECK_EQUAL(four->code, status::timeout);
  CAF_CHECK(!is_open(half));
  // All have called it: the next one is in memory.
  CAF_CHECK_EQUAL(ask(2, half)->code, status::timeout);
  CAF_CHECK(is_open(half));
  meet_all(half);
}

CAF_TEST(COLL-6 a part with a process that cannot has no cell) {
  uut.lose(peers[2], true);
  consume_messages();
  peers[2] = uut.connect(node::greeting({"job", 2}));
  consume_messages();
  ask_all(half, 5);
  CAF_CHECK(!find(*shared, half, 1));
  ask_all({1, 4}, 2);
  CAF_CHECK(is_open({1, 4}));
}

CAF_TEST(COLL-6 a second connection of a rank has all parts ask for good) {
  ask_all(half, 2);
  const auto mine = arrive(1, half);
  const auto child = uut.connect(greeting_of(4));
  consume_messages();
  CAF_CHECK(look(1, mine) == how::closed);
  const auto one = ask(1, half, of_round(mine));
  ask(2, half);
  ask(4, half);
  CAF_CHECK_EQUAL(one->code, status::success);
  uut.lose(child, true);
  consume_messages();
  ask_all(half, 5);
  CAF_CHECK(!find(*shared, half, 1));
}

CAF_TEST(COLL-6 a part that is connected asks since its fence may end that) {
  ask_all(half, 2);
  auto joined = std::vector<pending<connect_procs_result>>{};
  for (const auto rank : half)
    joined.push_back(uut.ask<connect_procs_result>(
      peers[rank], connect_procs_request{procs_of(half), {}, {}}));
  consume_messages();
  for (const auto& x : joined)
    CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_CHECK(!find(*shared, half, 1));
  ask_all(half, 5);
  CAF_CHECK(!find(*shared, half, 1));
  for (const auto rank : half)
    uut.ask<ack>(peers[rank], disconnect_procs_request{procs_of(half), {}});
  consume_messages();
  ask_all(half, 2);
  CAF_CHECK(is_open(half));
}

CAF_TEST(COLL-6 a part that asks all the same loses its cell for good) {
  ask_all(half, 2);
  CAF_REQUIRE(is_open(half));
  ask_all(half, 8);
  CAF_CHECK(!find(*shared, half, 1));
  ask_all(half, 8);
  CAF_CHECK(!find(*shared, half, 1));
}

CAF_TEST(COLL-6 a part that is idle gives its cell to one that is not) {
  auto parts = std::vector<ranks>{};
  for (uint32_t x = 0; x < size; ++x)
    for (uint32_t y = x + 1; y < size; ++y)
      parts.push_back({x, y});
  for (auto i = 0u; i < most_parts; ++i) {
    ask_all(parts[i], 2);
    CAF_REQUIRE(is_open(parts[i]));
  }
  const auto& late = parts[most_parts];
  ask_all(late, 2);
  CAF_CHECK(!find(*shared, late, late.front()));
  // All but two are in use; in one of these somebody waits.
  const auto waits = arrive(parts[3].front(), parts[3]);
  const auto there = waiting.at(parts[3].front());
  for (auto i = 0; i < 33 && !find(*shared, late, late.front()); ++i) {
    for (auto k = 0u; k < most_parts; ++k)
      if (k != 3 && k != 5)
        meet_all(parts[k]);
    ask_all(late);
  }
  CAF_REQUIRE(is_open(late));
  meet_all(late);
  for (auto i = 0u; i < most_parts; ++i)
    CAF_CHECK_EQUAL(is_open(parts[i]), i != 5);
  CAF_CHECK(shared->part(there).look(waits) == how::open);
}

CAF_TEST(COLL-6 what is remembered of parts is bounded) {
  auto parts = size_t{0};
  for (uint32_t set = 1; set < 255; ++set) {
    auto who = ranks{};
    for (uint32_t rank = 0; rank < size; ++rank)
      if ((set >> rank & 1) != 0)
        who.push_back(rank);
    ask_all(who);
    ++parts;
  }
  CAF_REQUIRE(parts > 200);
  auto found = uint64_t{0};
  for (const auto& x : request<gauge_list>(uut.server, get_gauges{}).gauges)
    if (x.name == "server.fence_parts")
      found = x.value;
  CAF_CHECK_EQUAL(found, 64u);
}

CAF_TEST_FIXTURE_SCOPE_END()

// -- in any order -----------------------------------------------------------------

namespace {

/// A process: what c_api/node_fence.cpp does, a step at a time. All have the same
/// list of fences, of which each calls those that it takes part in, in their order.
struct process {
  enum class step : uint8_t { idle, found, entered, waits, asks };

  uint32_t rank = 0;
  peer_ptr connection;
  bool is_gone = false;

  /// The fence of the list that comes next, or that goes on.
  size_t next = 0;
  step now = step::idle;
  meeting_place where;
  collective_cell::ticket mine = 0;
  pending<ack> asked;

  std::set<size_t> called;
  std::map<size_t, status> outcomes;
};

class simulation : public seeded {
public:
  using step_of = process::step;

  /// @param is_long Whether there are more parts than cells, and they change.
  simulation(uint32_t seed, bool is_long)
    : seeded(seed), shared(std::make_shared<shared_cells>()),
      uut(*this, maker_of(shared)) {
    const auto size = static_cast<uint32_t>(is_long ? 5 : 2 + draw(4));
    uut.add_job("job", size);
    consume_messages();
    make_list(size, is_long);
    can_die = draw(2) == 0;
    can_fork = draw(8) == 0;
    asks_often = draw(4) == 0;
    processes.resize(size);
    for (uint32_t rank = 0; rank < size; ++rank)
      processes[rank].rank = rank;
  }

  void run() {
    for (auto rounds = 100 * list.size(); rounds > 0; --rounds) {
      act(processes[draw(processes.size())]);
      step(draw(3));
      look_at_answers();
      if (std::all_of(processes.begin(), processes.end(),
                      [this](const process& x) { return is_done(x); }))
        break;
    }
    calm_down();
    check();
    for (auto& x : processes)
      x.connection = nullptr;
    twin = nullptr;
  }

  /// Of all seeds.
  static inline size_t met = 0;
  static inline size_t asked = 0;
  static inline uint32_t most_uses = 0;

private:
  void make_list(uint32_t size, bool is_long) {
    auto all = std::vector<ranks>{};
    for (uint32_t set = 1; set + 1 < uint32_t{1} << size; ++set) {
      auto who = ranks{};
      for (uint32_t rank = 0; rank < size; ++rank)
        if ((set >> rank & 1) != 0)
          who.push_back(rank);
      all.push_back(std::move(who));
    }
    std::shuffle(all.begin(), all.end(), random);
    if (is_long) {
      // First more than there are cells for, then others.
      for (auto i = 0; i < 3 * 18; ++i)
        list.push_back(all[static_cast<size_t>(i % 18)]);
      for (auto i = 0; i < 90; ++i)
        list.push_back(all[18 + draw(8)]);
    } else {
      const auto few = std::min(all.size(), 1 + draw(4));
      for (auto i = 8 + draw(20); i > 0; --i)
        list.push_back(all[draw(few)]);
    }
  }

  bool is_done(const process& x) const {
    return x.is_gone || x.next == list.size();
  }

  /// Where it comes to call the next one that it takes part in.
  void advance(process& x) {
    const auto takes_part = [&](const ranks& who) {
      return std::binary_search(who.begin(), who.end(), x.rank);
    };
    while (x.next < list.size() && !takes_part(list[x.next]))
      ++x.next;
  }

  static bool is_connected(const process& x) {
    return x.connection && x.connection->code == status::success;
  }

  void act(process& x) {
    if (x.is_gone)
      return;
    if (!x.connection) {
      x.connection = uut.connect(greeting_of(x.rank));
      return;
    }
    if (!is_connected(x))
      return;
    if (can_die && draw(300) == 0) {
      die(x);
      return;
    }
    switch (x.now) {
      case step_of::idle:
        if (draw(100) == 0) {
          uut.lose(x.connection, true);
          x.connection = nullptr;
        } else if (can_fork && !twin && draw(40) == 0) {
          // Its calls count as the rank's: it makes none.
          twin = uut.connect(greeting_of(x.rank));
          twin_of = x.rank;
        } else {
          call(x, draw(asks_often ? 4 : 40) == 0);
        }
        return;
      case step_of::found:
        if (enter_part(shared->shown[x.rank], shared->part_entries.data(),
                       x.where))
          x.now = step_of::entered;
        else
          ask(x, false);
        return;
      case step_of::entered:
        note(x, shared->part(x.where).arrive(x.where.place, x.mine));
        return;
      case step_of::waits:
        // Another thread of it may ask about the same part.
        if (draw(200) == 0)
          collective_cell::shut(shared->part_memory[x.where.cell - 1]);
        note(x, shared->part(x.where).look(x.mine));
        return;
      case step_of::asks:
        return;
    }
  }

  void die(process& x) {
    x.is_gone = true;
    uut.lose(x.connection);
    // Its child goes with it.
    if (twin && twin_of == x.rank)
      uut.lose(twin);
    uut.end_process({"job", x.rank});
  }

  void call(process& x, bool is_special) {
    advance(x);
    if (x.next == list.size())
      return;
    x.called.insert(x.next);
    x.mine = 0;
    const auto found = find(*shared, list[x.next], x.rank);
    if (is_special || !found) {
      ask(x, is_special);
      return;
    }
    x.where = *found;
    x.now = step_of::found;
    most_uses = std::max(most_uses, found->use);
  }

  void note(process& x, how what) {
    x.now = step_of::waits;
    if (what == how::open)
      return;
    leave_part(shared->shown[x.rank]);
    if (what == how::complete) {
      met += list[x.next].size() > 1 ? 1 : 0;
      end(x, status::success);
    } else {
      ask(x, false);
    }
  }

  void ask(process& x, bool is_special) {
    auto directives = std::vector<info>{};
    if (x.mine != 0)
      directives.push_back(make_info(fence_round, value::uint32(x.mine)));
    if (is_special && draw(2) == 0)
      directives.push_back(make_info(attr::timeout, value::integer(1)));
    x.asked =
      uut.fence(x.connection, procs_of(list[x.next]), std::move(directives));
    x.now = step_of::asks;
    ++asked;
  }

  /// COLL-3.
  void end(process& x, status code) {
    if (code == status::success)
      for (const auto rank : list[x.next])
        CAF_CHECK(processes[rank].called.count(x.next) == 1);
    x.outcomes[x.next] = code;
    x.now = step_of::idle;
    ++x.next;
  }

  void look_at_answers() {
    for (auto& x : processes) {
      if (x.is_gone)
        continue;
      // The host may not have answered in time.
      if (x.connection && !x.connection->is_pending()
          && x.connection->code != status::success)
        x.connection = nullptr;
      if (x.now == step_of::asks && !x.asked->is_pending())
        end(x, std::exchange(x.asked, nullptr)->code);
    }
  }

  /// COLL-4.
  void calm_down() {
    can_die = false;
    for (auto i = 0; i < 20000; ++i) {
      auto is_over = true;
      for (auto& x : processes) {
        if (x.now == step_of::idle)
          advance(x);
        is_over &= is_done(x);
        if (!is_done(x))
          act(x);
      }
      if (is_over)
        return;
      consume_messages();
      look_at_answers();
    }
    for (const auto& x : processes)
      if (!is_done(x))
        CAF_ERROR("rank " << x.rank << " waits for fence " << x.next << " of "
                          << list.size());
  }

  /// COLL-2.
  void check() {
    for (const auto& x : processes)
      for (const auto& mine : x.outcomes)
        for (const auto& y : processes)
          if (const auto other = y.outcomes.find(mine.first);
              other != y.outcomes.end())
            CAF_CHECK_EQUAL(mine.second, other->second);
  }

  std::shared_ptr<shared_cells> shared;
  node uut;
  std::vector<ranks> list;
  bool can_die = false;
  bool can_fork = false;
  bool asks_often = false;
  std::vector<process> processes;
  peer_ptr twin;
  uint32_t twin_of = 0;
};

void simulate(uint32_t first, uint32_t last, bool is_long) {
  for (auto seed = first; seed < last; ++seed) {
    CAF_MESSAGE("seed " << seed);
    simulation{seed, is_long}.run();
  }
}

} // namespace

CAF_TEST(COLL-2 COLL-3 COLL-4 COLL-6 parts that meet in memory in any order) {
  simulate(0, 1000, false);
  CAF_CHECK(simulation::met > 1000);
  CAF_CHECK(simulation::asked > 1000);
}

CAF_TEST(COLL-2 COLL-3 COLL-4 COLL-6 more parts than cells in any order) {
  simulate(0, 60, true);
  CAF_CHECK(simulation::met > 1000);
  // Cells have changed hands.
  CAF_CHECK(simulation::most_uses > most_parts);
}
