// Processes of a job that make groups of them all, and end them, in memory that they
// share, or by asking the server, in an order drawn from a seed: with and without
// wishes, while others die, leave and come back, and while the server's messages are
// under way. Whatever the order:
//   COLL-2  all get the same of an operation, and the same context identifier; no
//           two groups have the same one
//   COLL-3  it succeeds only if all called it, COLL-4  nobody waits for ever
// and whoever asks the server for a group after that finds it, or does not if it has
// ended.

#include "base/make_info.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/node.hpp"
#include "tests/fixtures/seeded.hpp"
#include "tests/fixtures/shared_cells.hpp"
#include "tests/test.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

/// What all processes do at a time.
struct task {
  enum class kind : uint8_t { construct, destruct, fence };

  kind what = kind::construct;
  std::string id;
  bool wants_number = false;
};

/// What came of it.
struct result {
  status code = status::success;
  std::optional<uint64_t> number{};
};

/// Whether two got the same of a task. Which of two things is wrong with a fence of
/// members of which one has died depends on when its server hears of it.
bool are_equal(const task& what, const result& x, const result& y) {
  const auto have_failed =
    x.code != status::success && y.code != status::success;
  return (x.code == y.code || (what.what == task::kind::fence && have_failed))
         && x.number == y.number;
}

/// A process: what c_api/node_groups.cpp and adapters/link do, a step at a time.
struct member {
  uint32_t rank = 0;
  peer_ptr connection;
  bool is_gone = false;

  /// What came of the tasks, in their order; the next one is under way.
  std::vector<result> results;

  /// Rounds in which groups were made that it is in.
  std::map<std::string, uint32_t> made;

  /// Where it waits: in the memory, or for an answer.
  std::optional<group_cell::place_in_round> mine;
  pending<group_construct_result> constructs;
  pending<ack> asked;

  /// Whether the server is to look at what has been done without it first, and
  /// its answer.
  bool has_news = false;
  pending<ack> news;

  bool is_idle() const {
    return !is_gone && connection && connection->code == status::success
           && !mine && !constructs && !asked && !news;
  }
};

class group_simulation : public seeded {
public:
  explicit group_simulation(uint32_t seed)
    : seeded(seed), shared(std::make_shared<shared_cells>()),
      uut(*this, [this](uint32_t, const std::vector<uint32_t>& locals, uint64_t,
                        const job_info&, std::string&) {
        shared->start(static_cast<uint32_t>(locals.size()));
        return std::make_unique<memory_of_cells>(shared);
      }) {
    const auto size = static_cast<uint32_t>(1 + draw(4));
    uut.add_job("job", size, our_uid);
    consume_messages();
    can_die = draw(3) == 0;
    can_fork = draw(8) == 0;
    asks_often = draw(3) == 0;
    for (uint32_t rank = 0; rank < size; ++rank) {
      members.emplace_back();
      members.back().rank = rank;
    }
    plan();
  }

  void run() {
    for (auto rounds = 300 + draw(300); rounds > 0; --rounds) {
      act(members[draw(members.size())]);
      step(draw(4));
      look_at_all();
    }
    calm_down();
    check();
    for (auto& x : members)
      x.connection = nullptr;
    twin = nullptr;
  }

  /// What has been done without the server, of all seeds.
  static inline size_t made = 0;
  static inline size_t ended = 0;

private:
  /// Groups come and go; some names are used again.
  void plan() {
    auto open = std::vector<std::string>{};
    for (auto i = 0; i < 60; ++i) {
      auto next = task{};
      const auto which = open.empty() ? 0 : draw(3);
      if (which == 0) {
        next.id = "g" + std::to_string(draw(12));
        if (std::count(open.begin(), open.end(), next.id) > 0)
          continue;
        next.wants_number = draw(2) == 0;
        open.push_back(next.id);
      } else {
        const auto at = draw(open.size());
        next.id = open[at];
        next.what = which == 1 ? task::kind::destruct : task::kind::fence;
        if (which == 1)
          open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
      }
      tasks.push_back(std::move(next));
    }
    for (const auto& id : open)
      tasks.push_back({task::kind::destruct, id, false});
  }

  void act(member& x) {
    if (x.is_gone)
      return;
    if (!x.connection) {
      connect(x);
    } else if (can_die && x.connection->code == status::success
               && draw(150) == 0) {
      die(x);
    } else if (can_fork && !twin && x.is_idle() && draw(40) == 0) {
      // Its calls count as the rank's: it makes none.
      twin = uut.connect(greeting_of(x));
      twin_of = x.rank;
    } else if (x.is_idle() && x.results.size() < tasks.size()) {
      call(x, asks_often && draw(3) == 0);
    }
  }

  static connect_request greeting_of(const member& x) {
    auto result = node::greeting({"job", x.rank});
    result.can_share = true;
    return result;
  }

  void connect(member& x) {
    x.connection = uut.connect(greeting_of(x));
  }

  void die(member& x) {
    x.is_gone = true;
    x.mine = {};
    has_died = true;
    uut.lose(x.connection);
    if (twin && twin_of == x.rank)
      uut.lose(twin);
    uut.end_process({"job", x.rank});
  }

  const task& task_of(const member& x) const {
    return tasks[x.results.size()];
  }

  void call(member& x, bool asks) {
    const auto& what = task_of(x);
    auto made_in = std::optional<uint32_t>{};
    if (const auto i = x.made.find(what.id); i != x.made.end())
      made_in = i->second;
    if (asks || what.what == task::kind::fence
        || (what.what == task::kind::destruct && !made_in)) {
      ask(x);
      return;
    }
    const auto kind = what.what == task::kind::construct
                        ? group_call::kind::construct
                        : group_call::kind::destruct;
    auto mine = group_cell::place_in_round{};
    const auto now = shared->groups().arrive(
      x.rank, {kind, what.id, what.wants_number}, made_in, mine);
    x.mine = mine;
    note(x, now);
  }

  void note(member& x, group_cell::outcome what) {
    if (what == group_cell::outcome::open)
      return;
    const auto mine = *std::exchange(x.mine, std::nullopt);
    if (what != group_cell::outcome::complete) {
      ask(x);
      return;
    }
    x.has_news = true;
    const auto& now = task_of(x);
    auto outcome = result{};
    if (now.what == task::kind::construct) {
      ++made;
      x.made[now.id] = collective_cell::round_of(mine.mine);
      if (now.wants_number)
        outcome.number = mine.number;
    } else {
      ++ended;
      x.made.erase(now.id);
    }
    finish(x, outcome);
  }

  /// A request goes to the server, which looks at its news first.
  void ask(member& x) {
    if (x.has_news) {
      x.has_news = false;
      x.news = uut.ask<ack>(x.connection, group_leave_request{});
      return;
    }
    const auto& what = task_of(x);
    x.made.erase(what.id);
    switch (what.what) {
      case task::kind::construct: {
        auto request =
          group_construct_request{what.id, {{"job", rank_wildcard}}, {}};
        if (what.wants_number)
          request.directives.push_back(
            make_info(attr::group_assign_context_id, value::boolean(true)));
        x.constructs =
          uut.ask<group_construct_result>(x.connection, std::move(request));
        break;
      }
      case task::kind::destruct:
        x.asked = uut.ask<ack>(
          x.connection, group_destruct_request{what.id, std::nullopt, {}});
        break;
      case task::kind::fence:
        x.asked = uut.fence(x.connection, {{what.id, rank_wildcard}});
        break;
    }
  }

  /// COLL-3.
  void finish(member& x, result outcome) {
    x.results.push_back(outcome);
    if (outcome.code != status::success)
      return;
    for (const auto& y : members)
      CAF_CHECK(has_died || y.results.size() + 1 >= x.results.size());
  }

  void look_at_all() {
    for (auto& x : members) {
      if (x.is_gone)
        continue;
      // The host may not have answered in time.
      if (x.connection && !x.connection->is_pending()
          && x.connection->code != status::success)
        x.connection = nullptr;
      if (x.mine && draw(2) == 0)
        look(x);
      if (x.news && !x.news->is_pending()) {
        x.news = nullptr;
        ask(x);
      }
      if (x.constructs && !x.constructs->is_pending()) {
        const auto y = std::exchange(x.constructs, nullptr);
        // Messages of different actors may overtake each other here.
        x.has_news = true;
        finish(x, {y->code, y->value.context_id});
      }
      if (x.asked && !x.asked->is_pending())
        finish(x, {std::exchange(x.asked, nullptr)->code, {}});
    }
  }

  /// Who has waited long turns to the server.
  void look(member& x) {
    auto cell = shared->groups();
    if (draw(12) == 0)
      cell.close();
    note(x, cell.look(x.mine->mine));
  }

  bool is_done(const member& x) const {
    return x.is_gone || x.results.size() == tasks.size();
  }

  void calm_down() {
    const auto are_done = [&] {
      return std::all_of(members.begin(), members.end(),
                         [&](const member& x) { return is_done(x); });
    };
    for (auto i = 0; i < 10000 && !are_done(); ++i) {
      for (auto& x : members) {
        if (!x.is_gone && !x.connection)
          connect(x);
        if (x.is_idle() && x.results.size() < tasks.size())
          call(x, false);
      }
      consume_messages();
      look_at_all();
    }
    for (const auto& x : members)
      if (!is_done(x))
        CAF_ERROR("rank " << x.rank << " waits in task " << x.results.size()
                          << " of " << tasks.size());
  }

  void check() {
    auto numbers = std::set<uint64_t>{};
    for (const auto& x : members)
      for (const auto& y : members)
        for (size_t i = 0; i < std::min(x.results.size(), y.results.size());
             ++i)
          if (!are_equal(tasks[i], x.results[i], y.results[i]))
            CAF_ERROR("task " << i << ", " << static_cast<int>(tasks[i].what)
                              << " " << tasks[i].id << ": rank " << x.rank
                              << " got " << to_string(x.results[i].code)
                              << ", rank " << y.rank << " "
                              << to_string(y.results[i].code));
    const auto longest = std::max_element(
      members.begin(), members.end(), [](const member& x, const member& y) {
        return x.results.size() < y.results.size();
      });
    for (size_t i = 0; i < longest->results.size(); ++i) {
      const auto& x = longest->results[i];
      if (!has_died)
        CAF_CHECK_EQUAL(x.code, status::success);
      CAF_CHECK_EQUAL(x.number.has_value(),
                      x.code == status::success && tasks[i].wants_number);
      if (x.number)
        CAF_CHECK(numbers.insert(*x.number).second);
    }
    // All have ended that all have called to end.
    const auto rest = uut.tell<group_list>(list_groups{});
    consume_messages();
    CAF_CHECK_EQUAL(rest->code, status::success);
    if (!has_died)
      CAF_CHECK_EQUAL(rest->value.groups.size(), 0u);
  }

  std::shared_ptr<shared_cells> shared;
  node uut;
  bool can_die = false;
  bool has_died = false;
  bool can_fork = false;
  bool asks_often = false;
  std::vector<member> members;
  std::vector<task> tasks;
  peer_ptr twin;
  uint32_t twin_of = 0;
};

void simulate(uint32_t first, uint32_t last) {
  for (auto seed = first; seed < last; ++seed) {
    CAF_MESSAGE("seed " << seed);
    group_simulation{seed}.run();
  }
}

} // namespace

CAF_TEST(G13 COLL-2 COLL-3 COLL-4 processes that make groups in memory in any order) {
  simulate(0, 500);
  CAF_CHECK(group_simulation::made > 1000);
  CAF_CHECK(group_simulation::ended > 1000);
}

CAF_TEST(G13 COLL-2 COLL-3 COLL-4 processes that make groups in memory in another order) {
  simulate(500, 1000);
}
