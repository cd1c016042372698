// Groups of processes on 1 to 8 nodes, in an order drawn from a seed: several
// at once over overlapping processes, some of one name, by construction and by
// invitation, with leaders, time-outs, replacements, handlers that nominate,
// give up or never return; members, leaders and nodes die at every step, some
// of the lost run on for a while. Servers, event caches, group trackers, the
// order of logs and the library's part in invitations are the real ones.
// Whatever the order:
//   G4 G44   everyone who gets a membership gets the same one, in its order,
//   GRP-1    all who hear of a new leader hear of the same,
//   GRP-2    handlers are asked once per failure,
//   GRP-3    two processes hear of a group in the same order,
//   GRP-4    an election ends in bounded time,
//   GRP-5    every call ends,
//   G1       strangers hear nothing, G26 members find what others have posted,
//   G52 G58  each departure is told once, context ids are unique,
//   COLL-4   and nothing is kept when all is over.
//
// TROUPE_SEED=n replays one seed with all that is said; TROUPE_SEEDS=n runs so
// many.

#include "messages/attributes.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/fixtures/group_run.hpp"
#include "tests/fixtures/seed_options.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

/// Leaves out whatever the violation does without.
group_run_options smallest(group_run_options options) {
  const auto fails = [](const group_run_options& x) {
    return !group_run{x}.run().empty();
  };
  const auto shorten = [&](auto member) {
    for (size_t i = 0; i < (options.*member).size();) {
      auto fewer = options;
      (fewer.*member)
        .erase((fewer.*member).begin() + static_cast<std::ptrdiff_t>(i));
      if (fails(fewer))
        options = std::move(fewer);
      else
        ++i;
    }
  };
  shorten(&group_run_options::plans);
  shorten(&group_run_options::faults);
  return options;
}

/// Runs a seed once more, as small as it still fails, and says what happened.
void explain(const group_run_options& all) {
  const auto options = smallest(all);
  auto run = group_run{options, group_mutant::none, true};
  const auto violation = run.run();
  for (const auto& line : run.log())
    CAF_MESSAGE(line);
  CAF_ERROR(violation << "; " << options.to_string()
                      << "; replay with TROUPE_SEED=" << all.seed);
}

void add(group_run::counters& sum, const group_run::counters& x) {
  sum.calls += x.calls;
  sum.messages += x.messages;
  sum.formed += x.formed;
  sum.failed += x.failed;
  sum.invited += x.invited;
  sum.left += x.left;
  sum.deaths += x.deaths;
  sum.lost_nodes += x.lost_nodes;
  sum.leaders_failed += x.leaders_failed;
  sum.leaders_selected += x.leaders_selected;
  sum.events += x.events;
}

void simulate(uint32_t first, uint32_t last) {
  if (const auto seed = seed_option("TROUPE_SEED", 0); seed > 0) {
    first = seed;
    last = seed + 1;
  } else if (const auto seeds = seed_option("TROUPE_SEEDS", 0); seeds > 0) {
    last = first + seeds;
  }
  auto sum = group_run::counters{};
  for (auto seed = first; seed < last; ++seed) {
    const auto options = group_run_options::of(seed);
    auto run = group_run{options};
    if (!run.run().empty()) {
      explain(options);
      return;
    }
    add(sum, run.count());
    if (seed % 100 == 0) {
      auto again = group_run{options};
      again.run();
      CAF_REQUIRE_EQUAL(again.trace(), run.trace());
    }
  }
  const auto count = last - first;
  CAF_MESSAGE(count << " seeds, " << sum.calls << " calls, " << sum.formed
                    << " memberships, " << sum.failed << " refused, "
                    << sum.invited << " invitations, " << sum.left << " left, "
                    << sum.deaths << " deaths, " << sum.lost_nodes
                    << " nodes lost, " << sum.leaders_failed
                    << " told of a failed leader, " << sum.leaders_selected
                    << " of a new one, " << sum.events << " events, "
                    << sum.messages << " messages between nodes");
  // The runs are about something.
  if (count >= 100) {
    CAF_CHECK(sum.formed > 3 * count);
    CAF_CHECK(sum.failed > count / 2);
    CAF_CHECK(sum.invited > count / 2);
    CAF_CHECK(sum.left > count / 4);
    CAF_CHECK(sum.deaths > count / 2);
    CAF_CHECK(sum.lost_nodes > count / 10);
    CAF_CHECK(sum.leaders_failed > count / 5);
    CAF_CHECK(sum.leaders_selected > count / 7);
    CAF_CHECK(sum.messages > 20 * count);
  }
}

} // namespace

CAF_TEST(GRP-1 GRP-2 GRP-3 GRP-4 GRP-5 G4 G26 G44 groups agree) {
  simulate(1, 500);
}

CAF_TEST(GRP-1 GRP-2 GRP-3 GRP-4 GRP-5 G52 G57 G58 groups agree on) {
  simulate(500, 1000);
}

CAF_TEST(GRP-1 GRP-2 GRP-3 GRP-5 every planted error of groups is found) {
  for (auto i = 1; i <= static_cast<int>(last_group_mutant); ++i) {
    auto violation = std::string{};
    auto seed = uint32_t{1};
    for (; seed < 1100 && violation.empty(); ++seed)
      violation =
        group_run{group_run_options::of(seed), static_cast<group_mutant>(i)}
          .run();
    CAF_MESSAGE("mutant " << i << ": " << seed << " seeds, "
                          << violation.substr(0, 160));
    if (violation.empty())
      CAF_ERROR("mutant " << i << " survives");
  }
}

CAF_TEST(G13 G60 case 171 directives that make no sense end in an answer) {
  auto setup = group_world::setup{};
  setup.network.nodes = 2;
  setup.procs = {{{"a", 0}, 0}, {{"a", 1}, 1}};
  auto world = group_world{setup};
  const std::string_view keys[] = {
    attr::group_leader,       attr::group_add_members,
    attr::group_bootstrap,    attr::group_final_membership_order,
    attr::group_info,         attr::timeout,
    attr::group_ft_collective};
  const value odd[] = {
    value{},          value::string("x"), value::integer(-1),
    value::procs({}), value::infos({}),   value::of_proc({"", rank_undef})};
  auto number = 0;
  auto calls = std::vector<group_world::call_ptr>{};
  for (const auto key : keys)
    for (const auto& x : odd) {
      const auto id = "g" + std::to_string(++number);
      for (size_t who = 0; who < 2; ++who)
        calls.push_back(
          world.construct(who, id, {{"a", 0}, {"a", 1}}, {with(key, x)}));
    }
  world.run_until(world.now() + world.ticks(std::chrono::seconds{10}));
  for (const auto& x : calls)
    if (x->is_pending())
      CAF_ERROR("no answer about " << x->id);
}
