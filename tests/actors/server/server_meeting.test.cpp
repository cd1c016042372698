// Processes of a job that meet in fences in memory that they share, or ask the
// server, in an order drawn from a seed: they call with and without directives,
// with and without waiting, end, leave and come back, while the server's messages
// are under way. Others of their job may be on other nodes: these always come, or
// fail. Whatever the order:
//   COLL-2  all get the same of a fence, COLL-3  it succeeds only if all called
//   it, COLL-4  nobody waits for ever.

#include "base/make_info.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/node.hpp"
#include "tests/fixtures/seeded.hpp"
#include "tests/fixtures/shared_cells.hpp"
#include "tests/test.hpp"

#include <algorithm>
#include <utility>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

/// A process: what c_api/node_fence.cpp does, a step at a time.
struct process {
  uint32_t rank = 0;
  peer_ptr connection;
  bool is_gone = false;

  /// How often it has called, and what came of it.
  size_t calls = 0;
  std::vector<status> outcomes;

  /// Where it waits: in the memory, or for an answer.
  std::optional<collective_cell::ticket> mine;
  pending<ack> asked;

  /// What it is about to tell the server: it may be stopped before.
  std::optional<collective_cell::ticket> told;

  bool can_call() const {
    return !is_gone && connection && connection->code == status::success
           && !mine && !asked && !told;
  }
};

class simulation : public seeded {
public:
  explicit simulation(uint32_t seed)
    : seeded(seed), shared(std::make_shared<shared_cells>()),
      uut(*this, [this](uint32_t, const std::vector<uint32_t>& locals, uint64_t,
                        const job_info&, std::string&) {
        shared->start(static_cast<uint32_t>(locals.size()));
        shared->is_whole = !is_wide;
        return std::make_unique<memory_of_cells>(shared);
      }) {
    const auto size = static_cast<uint32_t>(1 + draw(4));
    is_wide = draw(2) == 0;
    can_fail = is_wide && draw(4) == 0;
    uut.add_job("job", size, our_uid, {}, is_wide ? 1 : 0);
    consume_messages();
    can_die = draw(2) == 0;
    can_fork = draw(8) == 0;
    asks_often = draw(2) == 0;
    for (uint32_t rank = 0; rank < size; ++rank)
      processes.push_back({rank, nullptr, false, 0, {}, {}, nullptr, {}});
  }

  void run() {
    for (auto rounds = 200 + draw(200); rounds > 0; --rounds) {
      if (is_wide)
        go_on_elsewhere();
      act(processes[draw(processes.size())]);
      step(draw(4));
      look_at_all();
    }
    calm_down();
    check();
    for (auto& x : processes)
      x.connection = nullptr;
    twin = nullptr;
  }

  /// Fences that went on in memory, of all seeds.
  static inline size_t met = 0;
  static inline size_t met_widely = 0;

private:
  void go_on_elsewhere() {
    auto& host = *uut.host_play;
    host.holds_collectives = draw(3) != 0;
    host.collectives =
      can_fail && draw(10) == 0 ? status::lost_connection : status::success;
    if (draw(4) == 0)
      host.release();
  }

  void act(process& x) {
    if (x.is_gone)
      return;
    if (x.told) {
      tell(x);
    } else if (!x.connection) {
      connect(x);
    } else if (can_die && x.connection->code == status::success
               && draw(60) == 0) {
      die(x);
    } else if (can_fork && !twin && x.can_call() && draw(40) == 0) {
      // Its calls count as the rank's: it makes none.
      twin = uut.connect(greeting_of(x));
      twin_of = x.rank;
    } else if (x.can_call() && draw(40) == 0) {
      uut.lose(x.connection, true);
      x.connection = nullptr;
    } else if (x.can_call()) {
      call(x, draw(asks_often ? 3 : 12) == 0);
    }
  }

  static connect_request greeting_of(const process& x) {
    auto result = node::greeting({"job", x.rank});
    result.can_share = true;
    return result;
  }

  void connect(process& x) {
    x.connection = uut.connect(greeting_of(x));
  }

  void die(process& x) {
    x.is_gone = true;
    x.mine = {};
    x.told = {};
    uut.lose(x.connection);
    // Its child goes with it.
    if (twin && twin_of == x.rank)
      uut.lose(twin);
    uut.end_process({"job", x.rank});
  }

  void call(process& x, bool is_special) {
    ++x.calls;
    if (is_special || x.connection->accepted.shared.empty()) {
      ask(x, is_special);
      return;
    }
    auto mine = collective_cell::ticket{};
    const auto now = shared->fences().arrive(x.rank, mine);
    if (now == collective_cell::outcome::open)
      x.mine = mine;
    else
      note(x, now, mine);
  }

  void note(process& x, collective_cell::outcome what,
            collective_cell::ticket mine) {
    if (what == collective_cell::outcome::open)
      return;
    x.mine = {};
    if (what == collective_cell::outcome::complete) {
      ++(is_wide ? met_widely : met);
      succeed(x);
    } else if (mine != 0) {
      x.told = mine;
    } else {
      ask(x, false);
    }
  }

  /// Who has waited long turns to the server.
  void look(process& x) {
    const auto mine = *x.mine;
    auto cell = shared->fences();
    const auto now = cell.look(mine);
    const auto is_impatient = is_wide && draw(6) == 0;
    if (now == collective_cell::outcome::gathered && !is_impatient)
      return;
    if (now == collective_cell::outcome::open && is_impatient) {
      cell.close();
      note(x, collective_cell::outcome::closed, mine);
    } else {
      note(x, now, mine);
    }
  }

  void tell(process& x) {
    const auto round = *std::exchange(x.told, std::nullopt);
    x.asked = uut.fence(x.connection, {},
                        {make_info(fence_round, value::uint32(round))});
  }

  void ask(process& x, bool is_special) {
    auto directives = std::vector<info>{};
    if (is_special && draw(2) == 0)
      directives.push_back(make_info(attr::timeout, value::integer(1)));
    x.asked = uut.fence(x.connection, {}, std::move(directives));
  }

  /// COLL-3.
  void succeed(process& x) {
    x.outcomes.push_back(status::success);
    for (const auto& y : processes)
      CAF_CHECK(y.calls >= x.outcomes.size());
  }

  void look_at_all() {
    for (auto& x : processes) {
      if (x.is_gone)
        continue;
      // The host may not have answered in time.
      if (x.connection && !x.connection->is_pending()
          && x.connection->code != status::success)
        x.connection = nullptr;
      if (x.mine && draw(2) == 0)
        look(x);
      if (x.asked && !x.asked->is_pending()) {
        const auto code = x.asked->code;
        x.asked = nullptr;
        if (code == status::success)
          succeed(x);
        else
          x.outcomes.push_back(code);
      }
    }
  }

  void calm_down() {
    auto last = size_t{0};
    for (const auto& x : processes)
      last = std::max(last, x.calls);
    const auto is_done = [&](const process& x) {
      return x.is_gone || x.outcomes.size() == last;
    };
    for (auto i = 0; i < 10000; ++i) {
      if (std::all_of(processes.begin(), processes.end(), is_done))
        return;
      uut.host_play->holds_collectives = false;
      uut.host_play->collectives = status::success;
      uut.host_play->release();
      for (auto& x : processes) {
        if (x.told && !x.is_gone)
          tell(x);
        if (!x.is_gone && !x.connection)
          connect(x);
        if (x.can_call() && x.calls < last)
          call(x, false);
      }
      consume_messages();
      look_at_all();
    }
    for (const auto& x : processes)
      if (!is_done(x))
        CAF_ERROR("rank " << x.rank << " waits for call "
                          << x.outcomes.size() + 1 << " of " << last);
  }

  /// COLL-2.
  void check() {
    for (const auto& x : processes)
      for (const auto& y : processes)
        for (size_t i = 0; i < std::min(x.outcomes.size(), y.outcomes.size());
             ++i)
          CAF_CHECK_EQUAL(x.outcomes[i], y.outcomes[i]);
  }

  std::shared_ptr<shared_cells> shared;
  node uut;
  bool is_wide = false;
  bool can_fail = false;
  bool can_die = false;
  bool can_fork = false;
  bool asks_often = false;
  std::vector<process> processes;
  peer_ptr twin;
  uint32_t twin_of = 0;
};

void simulate(uint32_t first, uint32_t last) {
  for (auto seed = first; seed < last; ++seed) {
    CAF_MESSAGE("seed " << seed);
    simulation{seed}.run();
  }
}

} // namespace

CAF_TEST(COLL-2 COLL-3 COLL-4 processes that meet in memory in any order) {
  simulate(0, 1000);
  CAF_CHECK(simulation::met > 1000);
  CAF_CHECK(simulation::met_widely > 1000);
}

CAF_TEST(COLL-2 COLL-3 COLL-4 processes that meet in memory in any other order) {
  simulate(1000, 2000);
}
