// What a group becomes by its log: who is a member, what calls are answered
// with, which events are raised. Edge cases of the requirements, section 4.7.

#include "tests/fixtures/group_log.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

using words = std::vector<std::string>;

const auto optional = group_log::yes(attr::group_optional);
const auto tolerant = group_log::yes(attr::group_ft_collective);
const auto notifies = group_log::yes(attr::group_notify_termination);
const auto wants_id = group_log::yes(attr::group_assign_context_id);

info in_order(std::initializer_list<uint32_t> xs) {
  return {std::string{attr::group_final_membership_order}, 0,
          value::procs(ranks(xs))};
}

info adds(std::initializer_list<uint32_t> xs) {
  return {std::string{attr::group_add_members}, 0, value::procs(ranks(xs))};
}

/// Ranks 0 to 2 are named.
struct fixture : group_log {
  fixture() : group_log(ranks({0, 1, 2})) {
    // nop
  }

  std::vector<std::string> destruct(std::initializer_list<uint32_t> xs,
                                    std::vector<info> directives = {}) {
    auto what = group_calls{};
    what.operation = group_operation::destruct;
    for (auto& x : ranks(xs))
      what.callers.push_back({std::move(x), directives, {}});
    return apply(std::move(what));
  }

  /// The time of the construction is up.
  std::vector<std::string> give_up() {
    return apply(group_time_up{});
  }

  std::vector<std::string> leave(uint32_t rank) {
    return apply(group_departure{{"job", rank}});
  }

  /// All call, and are members.
  void make(std::vector<info> directives = {}) {
    construct({0, 1, 2}, std::move(directives), ranks({0, 1, 2}));
    CAF_REQUIRE(group.phase() == group_phase::complete);
  }

  std::string members() const {
    return group.members() ? list(*group.members()) : "none";
  }

  const group_construct_result& result() const {
    return *out.outcomes.back().result;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(process_group_tests, fixture)

// -- construction -------------------------------------------------------------

CAF_TEST(G14 a group is complete when all have called) {
  CAF_CHECK_EQUAL(construct({0, 2}), words{});
  CAF_CHECK_EQUAL(members(), "none");
  CAF_CHECK_EQUAL(list(group.describe().missing), " 1");
  CAF_CHECK_EQUAL(construct({1}), words{"construct SUCCESS 0 1 2"});
  CAF_CHECK(out.is_changed);
  CAF_CHECK_EQUAL(members(), " 0 1 2");
}

CAF_TEST(G14 who calls twice counts once and strangers do not count) {
  construct({0, 0});
  construct({7, 0});
  CAF_CHECK_EQUAL(construct({1}), words{});
  CAF_CHECK(!group.is_participant({"job", 7}));
}

CAF_TEST(G4 ranks follow the array that all have given edge 130) {
  construct({0, 1}, {}, ranks({2, 0, 1}));
  CAF_CHECK_EQUAL(construct({2}, {}, ranks({2, 0, 1})),
                  words{"construct SUCCESS 2 0 1"});
}

CAF_TEST(G4 a wildcard is the same array as its ranks edge 125) {
  construct({0, 1}, {}, {{"job", rank_wildcard}});
  CAF_CHECK_EQUAL(construct({2}, {}, ranks({0, 1, 2})),
                  words{"construct SUCCESS 0 1 2"});
}

CAF_TEST(G4 ranks are sorted where arrays differ edge 123) {
  construct({0}, {}, ranks({2, 0, 1}));
  CAF_CHECK_EQUAL(construct({1, 2}, {}, ranks({1, 0, 2})),
                  words{"construct SUCCESS 0 1 2"});
}

CAF_TEST(G60 the final order beats arrays edge 131) {
  construct({0}, {in_order({2, 1, 0})}, ranks({1, 0, 2}));
  CAF_CHECK_EQUAL(construct({1, 2}, {}, ranks({1, 0, 2})),
                  words{"construct SUCCESS 2 1 0"});
}

CAF_TEST(G60 the order of a leader beats that of others) {
  construct({0}, {in_order({2, 1, 0})});
  construct({1}, {in_order({1, 0, 2}), yes(attr::group_leader)});
  CAF_CHECK_EQUAL(construct({2}), words{"construct SUCCESS 1 0 2"});
}

CAF_TEST(G60 an order of strangers and repeats leaves nobody out) {
  construct({0, 1, 2}, {in_order({9, 2, 2})});
  CAF_CHECK_EQUAL(members(), " 2 0 1");
}

CAF_TEST(G60 a context id is given to those who ask edge 133) {
  construct({0, 1});
  construct({2}, {wants_id});
  CAF_REQUIRE(result().context_id);
  CAF_CHECK_EQUAL(*result().context_id, 42u);
  CAF_CHECK_EQUAL(group.describe().context_id, result().context_id);
}

CAF_TEST(G60 nobody asks for a context id and there is none) {
  make();
  CAF_CHECK(!result().context_id);
}

CAF_TEST(G60 what callers give goes to all with the context id edge 133) {
  const auto cid = info{std::string{attr::group_local_cid}, 0, value::size(5)};
  const auto given =
    info{std::string{attr::group_info}, 0, value::infos({cid})};
  construct({0}, {given, wants_id});
  construct({1, 2});
  CAF_REQUIRE_EQUAL(result().infos.size(), 1u);
  CAF_CHECK_EQUAL(result().infos.front().key, attr::group_info_array);
  const auto arrays = infos_of(result().infos.front().val);
  CAF_REQUIRE_EQUAL(arrays.size(), 1u);
  const auto mine = infos_of(arrays.front().val);
  CAF_REQUIRE_EQUAL(mine.size(), 2u);
  CAF_CHECK_EQUAL(mine[0].key, attr::procid);
  CAF_CHECK_EQUAL(*mine[0].val.proc(), (proc_id{"job", 0}));
  CAF_CHECK_EQUAL(mine[1].key, attr::group_local_cid);
  CAF_REQUIRE_EQUAL(out.infos.size(), 1u);
  CAF_CHECK_EQUAL(out.infos.front().entries.front().key, attr::qualified_value);
}

CAF_TEST(G6 what callers have posted is kept) {
  auto calls = group_calls{};
  calls.callers.push_back({{"job", 0}, {}, {{"key", value::boolean(true)}}});
  apply(calls);
  CAF_REQUIRE_EQUAL(out.data.size(), 1u);
  CAF_CHECK_EQUAL(out.data.front().proc, (proc_id{"job", 0}));
}

CAF_TEST(G20 the first time-out ends the construction for all edge 138) {
  construct({0, 1});
  CAF_CHECK_EQUAL(give_up(), words{"construct TIMEOUT"});
  CAF_CHECK_EQUAL(give_up(), words{});
  CAF_CHECK(!group.is_over());
  // Rank 2 has to hear of it, too.
  CAF_CHECK(group.is_released({"job", 0}));
  CAF_CHECK(!group.is_released({"job", 2}));
  CAF_CHECK_EQUAL(construct({2}), words{});
  CAF_CHECK(group.has_called(group_operation::construct, {"job", 2}));
  CAF_CHECK(group.is_over());
}

CAF_TEST(G18 a time-out completes what is optional edge 140) {
  construct({0, 1}, {optional});
  CAF_CHECK_EQUAL(give_up(), words{"construct PARTIAL_SUCCESS 0 1"});
  CAF_CHECK_EQUAL(members(), " 0 1");
  // Who comes too late is no member, and nobody waits for it.
  construct({2});
  CAF_CHECK(!group.is_member({"job", 2}));
  CAF_CHECK(group.is_released({"job", 2}));
}

CAF_TEST(124 a conflict ends the construction for all) {
  construct({0});
  CAF_CHECK_EQUAL(apply(group_conflict{{"job", 1}, status::exists, "why"}),
                  words{"construct EXISTS"});
}

// -- deaths while constructing ------------------------------------------------

CAF_TEST(G24 whoever dies is left out where that is tolerated edge 134) {
  construct({0, 1}, {tolerant});
  CAF_CHECK_EQUAL(
    end({2}),
    (words{"construct SUCCESS 0 1", "MEMBER_FAILED about 2 > 0 1",
           "INVITE_FAILED about 2 > 0 1", "MEMBERSHIP_UPDATE > 0 1"}));
}

CAF_TEST(G24 whoever dies after it has called is left out edge 135) {
  construct({0, 1}, {tolerant});
  end({1});
  construct({2});
  CAF_CHECK_EQUAL(members(), " 0 2");
}

CAF_TEST(G18 a death raises nothing where all is optional edge 140) {
  construct({0, 1}, {optional});
  CAF_CHECK_EQUAL(end({2}), words{"construct PARTIAL_SUCCESS 0 1"});
}

CAF_TEST(G21 without flags those who watch are asked edge 144) {
  construct({0, 1});
  CAF_CHECK_EQUAL(end({2}), words{"INVITE_FAILED about 2 > 0 1 ?"});
  const auto round = questions.back().round;
  answer(0, round);
  CAF_CHECK_EQUAL(answer(1, round), words{"construct CONSTRUCT_ABORT"});
  CAF_CHECK(group.is_over());
}

CAF_TEST(G21 nobody is left and the group is over edge 136) {
  construct({0});
  end({1, 2});
  end({0});
  CAF_CHECK(group.is_over());
}

CAF_TEST(G21 a death counts once) {
  construct({0, 1}, {tolerant});
  end({2});
  CAF_CHECK_EQUAL(end({2}), words{});
}

// -- after the construction ---------------------------------------------------

CAF_TEST(G58 deaths are told once and the end succeeds edge 141) {
  make({notifies});
  CAF_CHECK_EQUAL(end({1}), words{"MEMBER_FAILED about 1 > 0 2"});
  CAF_CHECK_EQUAL(members(), " 0 2");
  CAF_CHECK_EQUAL(list(out.departed), " 1");
  CAF_CHECK_EQUAL(destruct({0}), words{});
  CAF_CHECK_EQUAL(destruct({2}), words{"destruct SUCCESS"});
  CAF_CHECK(group.is_over());
}

CAF_TEST(G58 a death during the end is told and the end succeeds edge 141) {
  make({notifies});
  destruct({0, 1});
  CAF_CHECK_EQUAL(end({2}),
                  (words{"destruct SUCCESS", "MEMBER_FAILED about 2 > 0 1"}));
}

CAF_TEST(G57 a death before the end is an error of the end edge 142) {
  make();
  CAF_CHECK_EQUAL(end({1}), words{});
  CAF_CHECK_EQUAL(members(), " 0 1 2");
  CAF_CHECK_EQUAL(destruct({0}), words{"destruct LOST_CONNECTION"});
  CAF_CHECK(!group.is_over());
  CAF_CHECK_EQUAL(destruct({2}), words{});
  CAF_CHECK(group.is_over());
}

CAF_TEST(G57 a death during the end is an error of the end edge 142) {
  make();
  destruct({0, 1});
  CAF_CHECK_EQUAL(end({2}), words{"destruct LOST_CONNECTION"});
  CAF_CHECK(group.is_over());
}

CAF_TEST(G53 an end that tolerates deaths succeeds) {
  make();
  end({1});
  destruct({0}, {tolerant});
  CAF_CHECK_EQUAL(destruct({2}), words{"destruct SUCCESS"});
}

CAF_TEST(G52 who leaves is told of and those behind close ranks edge 167) {
  make();
  CAF_CHECK_EQUAL(leave(1), words{"LEFT by 1 > 0 2"});
  CAF_CHECK_EQUAL(members(), " 0 2");
  CAF_CHECK(group.is_released({"job", 1}));
  CAF_CHECK_EQUAL(leave(1), words{});
}

CAF_TEST(G11 the rest ends the group and the last leaves it edge 169) {
  make();
  leave(1);
  destruct({0});
  CAF_CHECK_EQUAL(leave(2), (words{"destruct SUCCESS", "LEFT by 2 > 0"}));
  CAF_CHECK(group.is_over());
}

CAF_TEST(G11 a group is over when all have left edge 169) {
  make();
  leave(0);
  leave(1);
  leave(2);
  CAF_CHECK(group.is_over());
}

CAF_TEST(G25 nobody leaves a construction edge 152) {
  construct({0, 1});
  CAF_CHECK_EQUAL(leave(0), words{});
  CAF_CHECK_EQUAL(construct({2}), words{"construct SUCCESS 0 1 2"});
}

CAF_TEST(G56 the time of the end is up for all edge 170) {
  make();
  destruct({0, 1});
  CAF_REQUIRE_EQUAL(out.begun.size(), 1u);
  const auto round = out.begun.front().second;
  CAF_CHECK_EQUAL(apply(group_time_up{group_operation::destruct, round + 1}),
                  words{});
  CAF_CHECK_EQUAL(apply(group_time_up{group_operation::destruct, round}),
                  words{"destruct TIMEOUT"});
  CAF_CHECK(!group.is_over());
  destruct({2});
  CAF_CHECK(group.is_over());
}

CAF_TEST(LIM17 a group rests while it is complete and nothing is open) {
  construct({0, 1}, {notifies, wants_id, yes(attr::group_leader)});
  CAF_CHECK(!group.at_rest());
  construct({2});
  const auto rest = group.at_rest();
  CAF_REQUIRE(rest);
  CAF_CHECK_EQUAL(list(rest->members), " 0 1 2");
  CAF_CHECK_EQUAL(rest->context_id, std::optional<uint64_t>{42});
  // Those who led are asked who leads now.
  end({1});
  CAF_CHECK(group.at_rest());
  end({0});
  CAF_CHECK(!group.at_rest());
  time_up(1);
  CAF_CHECK(group.at_rest());
  destruct({2});
  CAF_CHECK(!group.at_rest());
  CAF_CHECK(group.is_over());
}

CAF_TEST(LIM17 a group that goes on after its rest has the same members) {
  make({notifies});
  leave(1);
  const auto rest = group.at_rest();
  CAF_REQUIRE(rest);
  auto other = process_group::after(group.key(), *rest);
  CAF_CHECK_EQUAL(list(*other.members()), " 0 2");
  CAF_CHECK(!other.is_member({"job", 1}));
  CAF_CHECK(other.is_released({"job", 1}));
  auto entry = group_entry{};
  entry.what = group_procs_ended{{{{"job", 2}, proc_state::terminated}}};
  auto follows = process_group::effects{};
  other.apply(entry, follows);
  CAF_REQUIRE_EQUAL(follows.events.size(), 1u);
  CAF_CHECK_EQUAL(event_in_words(follows.events[0]),
                  "MEMBER_FAILED about 2 > 0");
}

CAF_TEST(G55 a construction cannot be ended edge 170) {
  construct({0});
  CAF_CHECK_EQUAL(destruct({0}), words{});
  CAF_CHECK(group.phase() == group_phase::constructing);
}

// -- added members and bootstrap ----------------------------------------------

CAF_TEST(G60 added members are invited and join by an event edge 172) {
  CAF_CHECK_EQUAL(construct({0}, {adds({4, 1})}), words{"INVITED by 0 > 4"});
  CAF_CHECK_EQUAL(list(out.added), " 4");
  construct({1, 2});
  CAF_CHECK_EQUAL(members(), "none");
  CAF_CHECK_EQUAL(accept(4), words{"data"});
  CAF_CHECK_EQUAL(data({4}), words{});
  // Their node may have been the only one when they called.
  CAF_CHECK_EQUAL(data({0, 1, 2}), (words{"construct SUCCESS 0 1 2 4",
                                          "CONSTRUCT_COMPLETE by 0 > 4",
                                          "MEMBERSHIP_UPDATE > 0 1 2 4"}));
}

CAF_TEST(G60 added members may call the construction edge 172) {
  construct({0}, {adds({4})});
  construct({1, 2});
  CAF_CHECK_EQUAL(construct({4}), words{"data"});
  CAF_CHECK_EQUAL(data({0, 1, 2, 4}), (words{"construct SUCCESS 0 1 2 4",
                                             "MEMBERSHIP_UPDATE > 0 1 2 4"}));
}

CAF_TEST(G60 leaders bootstrap a group that names nobody edge 172) {
  auto boot = process_group{{"boot", 0, 1}, {}};
  const auto call = [&](uint32_t rank, std::vector<info> directives) {
    auto entry = group_entry{};
    entry.group = boot.key();
    entry.what = group_calls{group_operation::construct,
                             {},
                             {{{"job", rank}, std::move(directives), {}}}};
    out = {};
    boot.apply(entry, out);
    return follows();
  };
  const auto two = info{std::string{attr::group_bootstrap}, 0, value::size(2)};
  CAF_CHECK_EQUAL(call(0, {two, adds({5})}), words{"INVITED by 0 > 5"});
  CAF_CHECK_EQUAL(call(4, {}), words{});
  CAF_CHECK_EQUAL(call(5, {}), words{});
  CAF_CHECK_EQUAL(call(3, {two, adds({4})}),
                  words{"construct SUCCESS 0 3 4 5"});
  CAF_CHECK_EQUAL(list(boot.leaders()), " 0 3");
}

// -- hosts that conduct groups ------------------------------------------------

CAF_TEST(A38 the word of a host makes the group) {
  construct({0});
  auto infos = std::vector<info>{
    {std::string{attr::group_context_id}, 0, value::size(9)},
    {std::string{attr::group_membership}, 0, value::procs(ranks({1, 0}))}};
  CAF_CHECK_EQUAL(apply(group_host_outcome{group_operation::construct,
                                           status::success, infos}),
                  (words{"construct SUCCESS 1 0", "MEMBERSHIP_UPDATE > 1 0"}));
  CAF_CHECK_EQUAL(*result().context_id, 9u);
  destruct({0});
  CAF_CHECK_EQUAL(
    apply(group_host_outcome{group_operation::destruct, status::success, {}}),
    words{"destruct SUCCESS"});
}

CAF_TEST(A38 the word of a host ends the construction) {
  construct({0});
  CAF_CHECK_EQUAL(apply(group_host_outcome{
                    group_operation::construct, status::not_supported, {}}),
                  words{"construct NOT_SUPPORTED"});
}

CAF_TEST_FIXTURE_SCOPE_END()
