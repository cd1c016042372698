// What becomes of a group when processes fail: who is asked, what their
// handlers decide, and who leads. Edge cases 143 to 152 of the requirements.

#include "actors/groups/group_wish.hpp"
#include "tests/fixtures/group_log.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

using words = std::vector<std::string>;

const auto leads = group_log::yes(attr::group_leader);
const auto optional = group_log::yes(attr::group_optional);

info replaces_by(std::initializer_list<uint32_t> xs) {
  return {std::string{attr::group_add_members}, 0, value::procs(ranks(xs))};
}

/// Ranks 0 to 3 construct a group; 0 has called and leads it, if it is to.
struct fixture : group_log {
  fixture() : group_log(ranks({0, 1, 2, 3})) {
    // nop
  }

  void begin_with_leader(std::vector<info> more = {}) {
    more.push_back(leads);
    construct({0}, std::move(more), ranks({0, 1, 2, 3}));
  }
};

group_wish wish(std::vector<info> results, status outcome = status::success) {
  return wish_of({{"job", 1}, 1, outcome, std::move(results)}, {"job", 0});
}

} // namespace

// -- what handlers say --------------------------------------------------------

CAF_TEST(G31 an abort is a status or a result by its name or value) {
  CAF_CHECK(wish({}, status::group_construct_abort).aborts);
  CAF_CHECK(wish({group_log::yes("PMIX_GROUP_CONSTRUCT_ABORT")}).aborts);
  const auto code = static_cast<int32_t>(status::group_construct_abort);
  CAF_CHECK(wish({{"any", 0, value::of_status(code)}}).aborts);
  CAF_CHECK(!wish({{"any", 0, value::integer(code)}}).aborts);
  CAF_CHECK(!wish({}, status::action_complete).aborts);
}

CAF_TEST(G28 a process nominates itself and nobody else) {
  const auto leader = std::string{attr::group_leader};
  CAF_CHECK(wish({leads}).leads);
  CAF_CHECK(wish({{leader, 0, {}}}).leads);
  CAF_CHECK(wish({{leader, 0, value::of_proc({"job", 1})}}).leads);
  CAF_CHECK(!wish({{leader, 0, value::of_proc({"job", 2})}}).leads);
  CAF_CHECK(!wish({{leader, 0, value::boolean(false)}}).leads);
}

CAF_TEST(G23 a smaller group is PMIX_GROUP_OPTIONAL or a membership) {
  const auto members = std::string{attr::group_membership};
  CAF_CHECK(wish({optional}).goes_on);
  CAF_CHECK(wish({{members, 0, value::procs(ranks({1, 2}))}}).goes_on);
  CAF_CHECK(!wish({{members, 0, value::procs(ranks({0, 1}))}}).goes_on);
  CAF_CHECK(!wish({{members, 0, value::boolean(true)}}).goes_on);
}

CAF_TEST(G22 replacements are single processes each once) {
  CAF_CHECK_EQUAL(group_log::list(wish({replaces_by({5, 6, 5})}).replacements),
                  " 5 6");
  const auto all = info{std::string{attr::group_add_members}, 0,
                        value::procs({{"job", rank_wildcard}})};
  CAF_CHECK(wish({all}).replacements.empty());
}

CAF_TEST(GRP-1 what verdicts come to does not depend on their order) {
  auto verdicts = std::vector<group_verdict>{
    {{"job", 3}, 1, status::success, {replaces_by({5})}},
    {{"job", 2}, 1, status::success, {optional}},
    {{"job", 1}, 1, status::success, {replaces_by({6})}},
    {{"job", 0}, 1, status::success, {}}};
  const auto by_rank = [](const group_verdict& x, const group_verdict& y) {
    return x.proc < y.proc;
  };
  std::sort(verdicts.begin(), verdicts.end(), by_rank);
  do {
    const auto x = rule_on(verdicts, {"job", 9});
    CAF_CHECK(x.what == group_ruling::kind::replaces);
    CAF_CHECK_EQUAL(x.by->rank, 1u);
    CAF_CHECK_EQUAL(group_log::list(x.replacements), " 6");
  } while (std::next_permutation(verdicts.begin(), verdicts.end(), by_rank));
  verdicts[0].outcome = status::group_construct_abort;
  CAF_CHECK(rule_on(verdicts, {"job", 9}).what == group_ruling::kind::aborts);
  CAF_CHECK(rule_on({}, {"job", 9}).what == group_ruling::kind::nothing);
}

// -- somebody does not come ---------------------------------------------------

CAF_TEST_FIXTURE_SCOPE(leader_tests, fixture)

CAF_TEST(G17 G21 a leader is the only one to hear of failures) { // 143
  begin_with_leader();
  CAF_CHECK_EQUAL(end({3}), words{"INVITE_FAILED about 3 > 0 ?"});
  const auto& infos = questions[0].what.what.infos;
  CAF_CHECK_EQUAL(*find(infos, attr::group_id)->text(), "group");
  CAF_CHECK(flag(infos, attr::event_non_default));
  CAF_CHECK_EQUAL(number<uint64_t>(infos, group_keys::round),
                  questions[0].round);
}

CAF_TEST(G17 several leaders all hear of failures) { // 143
  begin_with_leader();
  construct({2}, {leads});
  CAF_CHECK_EQUAL(end({3}), words{"INVITE_FAILED about 3 > 0 2 ?"});
}

CAF_TEST(G21 without a leader all participants hear of failures) { // 144
  construct({0});
  CAF_CHECK_EQUAL(end({3}), words{"INVITE_FAILED about 3 > 0 1 2 ?"});
}

CAF_TEST(G23 a handler decides that the group is smaller) { // 150
  begin_with_leader();
  construct({1, 2});
  end({3});
  const auto done =
    words{"construct SUCCESS 0 1 2", "MEMBERSHIP_UPDATE > 0 1 2"};
  CAF_CHECK_EQUAL(answer(0, 1, {optional}), done);
  CAF_CHECK_EQUAL(list(listed(attr::group_membership)), " 0 1 2");
}

CAF_TEST(G21 what nobody decides about ends the construction) {
  const auto off = std::string{"construct CONSTRUCT_ABORT"};
  const auto begin = [](fixture& uut) {
    uut.construct({0, 1, 2});
    uut.end({3});
    uut.answer(0, 1);
    return uut.answer(1, 1);
  };
  fixture empty;
  CAF_CHECK_EQUAL(begin(empty), words{});
  CAF_CHECK_EQUAL(first(empty.answer(2, 1)), off);
  fixture late;
  begin(late);
  CAF_CHECK_EQUAL(first(late.time_up(1)), off);
  fixture gone;
  begin(gone);
  CAF_CHECK_EQUAL(first(gone.end({2})), off);
}

CAF_TEST(G31 one abort does not wait for other answers) { // 148
  construct({0});
  end({3});
  CAF_CHECK_EQUAL(answer(1, 1, {}, status::group_construct_abort),
                  words{"construct CONSTRUCT_ABORT"});
  CAF_CHECK_EQUAL(answer(2, 1, {optional}), words{});
}

CAF_TEST(GRP-2 only the first answer of who was asked counts) {
  begin_with_leader();
  construct({1, 2});
  end({3});
  CAF_CHECK_EQUAL(answer(1, 1, {}, status::group_construct_abort), words{});
  CAF_CHECK_EQUAL(answer(0, 7, {}, status::group_construct_abort), words{});
  CAF_CHECK_EQUAL(first(answer(0, 1, {optional})), "construct SUCCESS 0 1 2");
}

// -- replacements: 149 --------------------------------------------------------

CAF_TEST(G22 a replacement is invited and joins in the place of the other) {
  begin_with_leader();
  construct({2, 3}, {}, ranks({0, 1, 2, 3}));
  end({1});
  CAF_CHECK_EQUAL(answer(0, 1, {replaces_by({7})}), words{"INVITED by 0 > 7"});
  CAF_CHECK_EQUAL(list(out.added), " 7");
  CAF_CHECK_EQUAL(list(listed(attr::group_membership)), " 0 7 2 3");
  const auto joined = words{"data", "INVITE_ACCEPTED by 7 > 0"};
  CAF_CHECK_EQUAL(accept(7), joined);
  const auto done = data({0, 2, 3, 7});
  CAF_CHECK_EQUAL(done[0], "construct SUCCESS 0 7 2 3");
  CAF_CHECK_EQUAL(done[1], "CONSTRUCT_COMPLETE by 0 > 7");
}

CAF_TEST(G22 a replacement may call the construction) {
  begin_with_leader();
  construct({2, 3});
  end({1});
  answer(0, 1, {replaces_by({7})});
  CAF_CHECK_EQUAL(construct({7}), words{"data"});
  CAF_CHECK_EQUAL(first(data({0, 2, 3, 7})), "construct SUCCESS 0 7 2 3");
}

CAF_TEST(G22 a replacement that takes part already is a smaller group) {
  begin_with_leader();
  construct({2, 3});
  end({1});
  CAF_CHECK_EQUAL(first(answer(0, 1, {replaces_by({2})})),
                  "construct SUCCESS 0 2 3");
}

CAF_TEST(G22 a replacement that has ended is none) {
  begin_with_leader();
  end({3});
  end({2});
  CAF_CHECK_EQUAL(answer(0, 1, {replaces_by({2})}),
                  words{"construct CONSTRUCT_ABORT"});
}

CAF_TEST(G22 a replacement that ends or declines is asked about again) {
  begin_with_leader();
  construct({2, 3});
  end({1});
  answer(0, 1, {replaces_by({7})});
  CAF_CHECK_EQUAL(end({7}), words{"INVITE_FAILED about 7 > 0 ?"});
  CAF_CHECK_EQUAL(answer(0, 2, {replaces_by({8})}), words{"INVITED by 0 > 8"});
  CAF_CHECK_EQUAL(decline(8), words{"INVITE_DECLINED by 8 > 0 ?"});
  CAF_CHECK_EQUAL(first(answer(0, 3, {optional})), "construct SUCCESS 0 2 3");
}

CAF_TEST(G46 replacements are told of an abort) {
  begin_with_leader();
  end({1});
  answer(0, 1, {replaces_by({7, 8})});
  accept(7);
  end({2});
  const auto off = words{"construct CONSTRUCT_ABORT", "CONSTRUCT_ABORT > 7",
                         "CONSTRUCT_ABORT > 8"};
  CAF_CHECK_EQUAL(answer(0, 2), off);
}

// -- the leader fails: 143 145 146 --------------------------------------------

CAF_TEST(G27 all participants hear once of a leader that has failed) {
  begin_with_leader();
  construct({1});
  CAF_CHECK_EQUAL(end({0}), words{"LEADER_FAILED about 0 > 1 2 3 ?"});
  CAF_CHECK_EQUAL(end({0}), words{});
  CAF_CHECK(group.leaders().empty());
}

CAF_TEST(G27 G29 the construction goes on with the new leader) { // 146
  begin_with_leader();
  construct({1, 2});
  end({0});
  answer(1, 1);
  answer(2, 1, {leads});
  CAF_CHECK_EQUAL(answer(3, 1), words{"LEADER_SELECTED about 2 > 1 2 3"});
  CAF_CHECK_EQUAL(list(group.leaders()), " 2");
  CAF_CHECK_EQUAL(list(listed(attr::group_leader)), " 2");
  CAF_CHECK_EQUAL(first(construct({3})), "construct SUCCESS 1 2 3");
}

CAF_TEST(GRP-1 of several nominations the lowest rank leads) { // 146
  auto order = std::vector<uint32_t>{1, 2, 3};
  do {
    fixture uut;
    uut.begin_with_leader();
    uut.end({0});
    auto last = words{};
    for (const auto rank : order)
      last = uut.answer(
        rank, 1, rank == 1 ? std::vector<info>{} : std::vector<info>{leads});
    CAF_CHECK_EQUAL(last, words{"LEADER_SELECTED about 2 > 1 2 3"});
  } while (std::next_permutation(order.begin(), order.end()));
}

CAF_TEST(GRP-1 ranks are those of the group) {
  construct({0}, {leads}, ranks({3, 0, 2, 1}));
  end({0});
  answer(1, 1, {leads});
  answer(2, 1, {leads});
  CAF_CHECK_EQUAL(answer(3, 1), words{"LEADER_SELECTED about 2 > 1 2 3"});
}

CAF_TEST(G31 an abort beats nominations) { // 146
  begin_with_leader();
  end({0});
  answer(1, 1, {leads});
  CAF_CHECK_EQUAL(
    answer(2, 1, {leads, group_log::yes("PMIX_GROUP_CONSTRUCT_ABORT")}),
    words{"construct CONSTRUCT_ABORT"});
}

CAF_TEST(G30 without a leader the construction fails) { // 146
  begin_with_leader();
  end({0});
  answer(1, 1);
  answer(2, 1);
  const auto off =
    words{"construct CONSTRUCT_ABORT", "LEADER_SELECTED > 1 2 3"};
  CAF_CHECK_EQUAL(time_up(1), off);
  const auto& infos = out.events[0].what.infos;
  CAF_CHECK_EQUAL(number<int32_t>(infos, group_keys::status),
                  static_cast<int32_t>(status::group_leader_failed));
  CAF_CHECK(find(infos, attr::event_affected_proc) == nullptr);
}

CAF_TEST(G18 G30 a construction that goes on without some needs no leader) {
  begin_with_leader({optional});
  construct({1, 2});
  end({0});
  CAF_CHECK_EQUAL(time_up(1), words{"LEADER_SELECTED > 1 2 3"});
  CAF_CHECK_EQUAL(construct({3}), words{"construct PARTIAL_SUCCESS 1 2 3"});
}

CAF_TEST(G28 a nominee that ends before the decision does not lead) { // 146
  begin_with_leader();
  end({0});
  answer(1, 1, {leads});
  answer(2, 1, {leads});
  CAF_CHECK_EQUAL(end({1}), words{"INVITE_FAILED about 1 > 2 3 ?"});
  CAF_CHECK_EQUAL(answer(3, 1), words{"LEADER_SELECTED about 2 > 2 3"});
}

CAF_TEST(GRP-4 leaders that fail in a row end with one or with none) {
  begin_with_leader({optional});
  CAF_CHECK_EQUAL(end({0}), words{"LEADER_FAILED about 0 > 1 2 3 ?"});
  answer(1, 1, {leads});
  CAF_CHECK_EQUAL(time_up(1), words{"LEADER_SELECTED about 1 > 1 2 3"});
  CAF_CHECK_EQUAL(end({1}), words{"LEADER_FAILED about 1 > 2 3 ?"});
  answer(2, 2, {leads});
  CAF_CHECK_EQUAL(time_up(2), words{"LEADER_SELECTED about 2 > 2 3"});
  CAF_CHECK_EQUAL(end({2}), words{"LEADER_FAILED about 2 > 3 ?"});
  CAF_CHECK_EQUAL(answer(3, 3, {leads}), words{"LEADER_SELECTED about 3 > 3"});
  CAF_CHECK_EQUAL(construct({3}), words{"construct PARTIAL_SUCCESS 3"});
}

CAF_TEST(G29 a program may announce itself in place of its handler) { // A31
  begin_with_leader();
  end({0});
  CAF_CHECK_EQUAL(notify(3, status::group_leader_selected), words{});
  answer(1, 1);
  CAF_CHECK_EQUAL(answer(2, 1), words{"LEADER_SELECTED about 3 > 1 2"});
  CAF_CHECK_EQUAL(notify(2, status::group_leader_selected),
                  words{"refused EXISTS"});
}

CAF_TEST(G31 while nobody leads anybody may call it off) { // A31
  begin_with_leader();
  CAF_CHECK_EQUAL(notify(1, status::group_construct_abort),
                  words{"refused NO_PERMISSIONS"});
  end({0});
  CAF_CHECK_EQUAL(notify(1, status::group_construct_abort),
                  words{"construct CONSTRUCT_ABORT"});
}

CAF_TEST(G22 what a leader was asked is asked of the next) {
  begin_with_leader();
  construct({1, 2});
  end({3});
  CAF_CHECK_EQUAL(end({0}), words{"LEADER_FAILED about 0 > 1 2 ?"});
  answer(1, 2, {leads});
  const auto next =
    words{"INVITE_FAILED about 3 > 1 ?", "LEADER_SELECTED about 1 > 1 2"};
  CAF_CHECK_EQUAL(answer(2, 2), next);
  CAF_CHECK_EQUAL(first(answer(1, 3, {optional})), "construct SUCCESS 1 2");
}

CAF_TEST(G27 a leader of a group that is complete is followed too) {
  begin_with_leader();
  construct({1, 2, 3});
  CAF_CHECK(group.phase() == group_phase::complete);
  CAF_CHECK_EQUAL(end({0}), words{"LEADER_FAILED about 0 > 1 2 3 ?"});
  answer(3, 1, {leads});
  answer(1, 1, {}, status::group_construct_abort);
  CAF_CHECK_EQUAL(answer(2, 1), words{"LEADER_SELECTED about 3 > 1 2 3"});
  CAF_CHECK(group.phase() == group_phase::complete);
}

CAF_TEST(GRP-5 a leader that fails while the group ends holds nobody up) {
  begin_with_leader({group_log::yes(attr::group_notify_termination)});
  construct({1, 2, 3});
  auto ending = group_calls{group_operation::destruct, {}, {}};
  for (const auto& x : ranks({1, 2, 3}))
    ending.callers.push_back({x, {}, {}});
  apply(ending);
  const auto done = words{"destruct SUCCESS", "LEADER_FAILED about 0 > 1 2 3 ?",
                          "MEMBER_FAILED about 0 > 1 2 3"};
  CAF_CHECK_EQUAL(end({0}), done);
  CAF_CHECK_EQUAL(answer(1, 1, {leads}), words{});
}

CAF_TEST_FIXTURE_SCOPE_END()
