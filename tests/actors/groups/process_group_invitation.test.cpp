// Groups by invitation: what becomes of one is a function of its log.
// Edge cases 153 to 166 of the requirements.

#include "actors/events/range_filter.hpp"
#include "tests/fixtures/group_log.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

using words = std::vector<std::string>;

/// Rank 0 has invited itself and 1 and 2.
struct fixture : group_log {
  fixture() : group_log(ranks({0, 1, 2})) {
    begin = invite(0, ranks({0, 1, 2}));
  }

  words begin;

  std::vector<proc_id> members() const {
    return group.members() ? *group.members() : std::vector<proc_id>{};
  }

  words complete(std::vector<info> infos = {}) {
    // What the library believes is not asked.
    infos.push_back(custom(ranks({0, 1, 2})));
    return notify(0, status::group_construct_complete, std::move(infos));
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(invitation_tests, fixture)

CAF_TEST(G35 invitees are told who invites to which group) { // 153
  CAF_CHECK_EQUAL(begin, words{"INVITED by 0 > 1 2"});
  const auto& infos = out.events.front().what.infos;
  CAF_CHECK_EQUAL(*find(infos, attr::group_id)->text(), "group");
  CAF_CHECK(flag(infos, attr::event_non_default));
  CAF_CHECK_EQUAL(number<uint64_t>(infos, group_keys::invitation), 3u);
  CAF_CHECK(find(infos, attr::event_custom_range) == nullptr);
  CAF_CHECK(group.phase() == group_phase::inviting);
  CAF_CHECK_EQUAL(list(group.leaders()), " 0");
  CAF_CHECK_EQUAL(list(group.describe().missing), " 1 2");
}

CAF_TEST(G36 G37 an answer reaches the leader with the name of the group) {
  CAF_CHECK_EQUAL(accept(1), words{"INVITE_ACCEPTED by 1 > 0"});
  const auto& infos = out.events.front().what.infos;
  CAF_CHECK_EQUAL(*find(infos, attr::group_id)->text(), "group");
  CAF_CHECK_EQUAL(find(infos, attr::event_affected_proc)->proc()->rank, 1u);
  CAF_CHECK_EQUAL(decline(2), words{"INVITE_DECLINED by 2 > 0"});
}

CAF_TEST(G44 G45 there is no group before all members have their data) { // 164
  accept(1);
  accept(2);
  CAF_CHECK_EQUAL(complete(), words{"data"});
  CAF_CHECK(group.members() == nullptr);
  CAF_CHECK(group.outcome_of(group_operation::construct) == nullptr);
  CAF_CHECK_EQUAL(data({2}), words{});
  CAF_CHECK_EQUAL(out.data.size(), 1u);
  const auto done =
    words{"construct SUCCESS 0 1 2", "CONSTRUCT_COMPLETE by 0 > 1 2"};
  CAF_CHECK_EQUAL(data({0, 1}), done);
  CAF_CHECK_EQUAL(list(listed(attr::group_membership)), " 0 1 2");
  CAF_CHECK(group.phase() == group_phase::complete);
}

CAF_TEST(G37 the library of the leader is told of the group if it is ours) {
  accept(1);
  accept(2);
  complete({{std::string{group_keys::invitation}, 0, value::uint64(3)}});
  const auto done =
    words{"construct SUCCESS 0 1 2", "CONSTRUCT_COMPLETE by 0 > 1 2",
          "CONSTRUCT_COMPLETE by 0 > 0"};
  CAF_CHECK_EQUAL(data({0, 1, 2}), done);
  CAF_CHECK(flag(out.events.back().what.infos, event_reaches_source));
}

CAF_TEST(G60 an invitation may ask for a context id) {
  group_log uut{ranks({0, 1})};
  uut.invite(0, ranks({0, 1}), {yes(attr::group_assign_context_id)});
  uut.accept(1);
  uut.notify(0, status::group_construct_complete);
  uut.data({0, 1});
  CAF_CHECK_EQUAL(
    number<uint64_t>(uut.out.events.front().what.infos, attr::group_context_id),
    42u);
}

CAF_TEST(G44 the members are those that accepted in the order of the
           invitation) { // 165
  group_log uut{ranks({1, 2, 3, 4})};
  uut.invite(1, ranks({4, 1, 3, 2}));
  uut.accept(2);
  uut.accept(4);
  uut.decline(3);
  CAF_CHECK_EQUAL(uut.notify(1, status::group_construct_complete,
                             {custom(ranks({1, 2, 3, 4}))}),
                  words{"data"});
  const auto done =
    words{"construct SUCCESS 4 1 2", "CONSTRUCT_COMPLETE by 1 > 4 2"};
  CAF_CHECK_EQUAL(uut.data({1, 2, 4}), done);
}

CAF_TEST(G10 an inviter that does not invite itself is no member) { // 153
  group_log uut{ranks({1, 2})};
  CAF_CHECK_EQUAL(uut.invite(0, ranks({1, 2})), words{"INVITED by 0 > 1 2"});
  CAF_CHECK_EQUAL(uut.accept(1), words{"INVITE_ACCEPTED by 1 > 0"});
  uut.accept(2);
  uut.notify(0, status::group_construct_complete);
  const auto done =
    words{"construct SUCCESS 1 2", "CONSTRUCT_COMPLETE by 0 > 1 2"};
  CAF_CHECK_EQUAL(uut.data({1, 2}), done);
  CAF_CHECK(!uut.group.is_participant({"job", 0}));
  CAF_CHECK_EQUAL(uut.end({0}), words{});
}

CAF_TEST(G10 a single invitee and wildcards) { // 153
  group_log one{ranks({1})};
  CAF_CHECK_EQUAL(one.invite(0, ranks({1})), words{"INVITED by 0 > 1"});
  one.accept(1);
  one.notify(0, status::group_construct_complete);
  CAF_CHECK_EQUAL(first(one.data({1})), "construct SUCCESS 1");

  group_log all{ranks({0, 1, 2})};
  CAF_CHECK_EQUAL(all.invite(1, {{"job", rank_wildcard}}),
                  words{"INVITED by 1 > 0 2"});
}

CAF_TEST(G36 an answer counts once and only from who is invited) { // 159
  accept(1);
  CAF_CHECK_EQUAL(accept(1), words{});
  CAF_CHECK_EQUAL(accept(7), words{"refused NOT_A_MEMBER"});
  CAF_CHECK_EQUAL(decline(7), words{"refused NOT_A_MEMBER"});
  decline(2);
  CAF_CHECK_EQUAL(decline(2), words{});
  // Who has declined is out, whatever it says then.
  const auto out_of_it = words{"refused NOT_A_MEMBER", "CONSTRUCT_ABORT > 2"};
  CAF_CHECK_EQUAL(accept(2), out_of_it);
}

CAF_TEST(G48 whoever accepted and then declines is no member) { // 159 163
  accept(1);
  accept(2);
  CAF_CHECK_EQUAL(decline(2), words{"INVITE_DECLINED by 2 > 0"});
  complete();
  CAF_CHECK_EQUAL(first(data({0, 1})), "construct SUCCESS 0 1");
}

CAF_TEST(G48 whoever declines while the data come is no member) {
  accept(1);
  accept(2);
  complete();
  data({0, 1});
  CAF_CHECK(group.phase() == group_phase::inviting);
  CAF_CHECK_EQUAL(first(decline(2)), "construct SUCCESS 0 1");
}

CAF_TEST(G36 an answer that comes too late says so to who gives it) { // 159
  accept(1);
  complete();
  const auto late = words{"refused NOT_A_MEMBER", "CONSTRUCT_ABORT > 2"};
  CAF_CHECK_EQUAL(accept(2), late);
  CAF_CHECK_EQUAL(first(data({0, 1})), "construct SUCCESS 0 1");
  CAF_CHECK_EQUAL(accept(2), late);
  CAF_CHECK_EQUAL(decline(2), words{});
}

CAF_TEST(G46 the leader calls it off at all that it has invited) { // 156
  accept(1);
  decline(2);
  const auto off =
    words{"construct CONSTRUCT_ABORT", "CONSTRUCT_ABORT by 0 > 1 2"};
  CAF_CHECK_EQUAL(notify(0, status::group_construct_abort), off);
  CAF_CHECK(group.is_over());
  CAF_CHECK_EQUAL(complete(), words{"refused CONSTRUCT_ABORT"});
}

CAF_TEST(G46 only the leader completes and calls off) {
  accept(1);
  CAF_CHECK_EQUAL(notify(1, status::group_construct_complete),
                  words{"refused NO_PERMISSIONS"});
  CAF_CHECK_EQUAL(notify(1, status::group_construct_abort),
                  words{"refused NO_PERMISSIONS"});
  CAF_CHECK_EQUAL(invite(1, ranks({5})), words{"refused NO_PERMISSIONS"});
  complete();
  CAF_CHECK_EQUAL(complete(), words{"refused EXISTS"});
  CAF_CHECK_EQUAL(notify(0, status::group_construct_abort),
                  words{"refused EXISTS"});
  data({0, 1});
  CAF_CHECK_EQUAL(complete(), words{"refused EXISTS"});
}

CAF_TEST(G40 G43 the leader is told of invitees that end) { // 158
  CAF_CHECK_EQUAL(end({1}), words{"INVITE_FAILED about 1 > 0"});
  CAF_CHECK_EQUAL(*find(out.events[0].what.infos, attr::group_id)->text(),
                  "group");
  accept(2);
  CAF_CHECK_EQUAL(end({2}), words{"INVITE_FAILED about 2 > 0"});
  CAF_CHECK_EQUAL(end({2}), words{});
  complete();
  CAF_CHECK_EQUAL(first(data({0})), "construct SUCCESS 0");
}

CAF_TEST(G44 a member that ends while the data come is none) { // 158
  accept(1);
  accept(2);
  complete();
  data({0, 2});
  const auto done = words{"construct SUCCESS 0 2", "INVITE_FAILED about 1 > 0",
                          "CONSTRUCT_COMPLETE by 0 > 2"};
  CAF_CHECK_EQUAL(end({1}), done);
}

CAF_TEST(G44 without anybody left there is no group) {
  group_log uut{ranks({1, 2})};
  uut.invite(0, ranks({1, 2}));
  uut.decline(1);
  const auto off =
    words{"construct CONSTRUCT_ABORT", "data", "CONSTRUCT_ABORT > 0 1 2"};
  CAF_CHECK_EQUAL(uut.notify(0, status::group_construct_complete), off);
  CAF_CHECK(uut.group.is_over());
}

CAF_TEST(G39 replacements are invited later) {
  decline(1);
  CAF_CHECK_EQUAL(invite(0, ranks({3, 2})), words{"INVITED by 0 > 3"});
  CAF_CHECK_EQUAL(list(out.added), " 3");
  CAF_CHECK_EQUAL(accept(3), words{"INVITE_ACCEPTED by 3 > 0"});
  accept(2);
  complete();
  CAF_CHECK_EQUAL(first(data({0, 2, 3})), "construct SUCCESS 0 2 3");
}

CAF_TEST(G39 who has declined may be asked again and who has ended not) {
  decline(1);
  end({2});
  const auto again = words{"INVITE_FAILED about 2 > 0", "INVITED by 0 > 1"};
  CAF_CHECK_EQUAL(invite(0, ranks({1, 2})), again);
  CAF_CHECK_EQUAL(accept(1), words{"INVITE_ACCEPTED by 1 > 0"});
}

CAF_TEST(G9 a process that has a group of this name cannot join) { // 161
  accept(1);
  accept(2);
  CAF_CHECK_EQUAL(complete(), words{"data"});
  data({0, 1});
  const auto done = words{"construct SUCCESS 0 1", "INVITE_FAILED about 2 > 0",
                          "CONSTRUCT_COMPLETE by 0 > 1"};
  CAF_CHECK_EQUAL(
    apply(group_conflict{{"job", 2}, status::exists, "has another"}), done);
}

CAF_TEST(G48 whoever joins a leader that it knows otherwise may) {
  group_log uut{ranks({0, 1})};
  CAF_CHECK_EQUAL(
    uut.notify(1, status::group_invite_accepted, {custom(ranks({0}))}),
    words{"INVITE_ACCEPTED by 1 > 0"});
  CAF_CHECK_EQUAL(uut.accept(2), words{"INVITE_ACCEPTED by 2 > 0"});
  CAF_CHECK_EQUAL(uut.end({0}), words{"LEADER_FAILED about 0 > 1 2 ?"});
  // OpenPMIx: the program announces itself; see simpgrpleader.c.
  CAF_CHECK_EQUAL(
    uut.notify(1, status::group_leader_selected, {custom(ranks({2}))}),
    words{"refused NOT_FOUND"});
  CAF_CHECK_EQUAL(uut.time_up(1), words{"LEADER_SELECTED about 1 > 1 2"});
}

CAF_TEST(G27 G29 the new leader of an invitation learns how it stands) {
  accept(2);
  CAF_CHECK_EQUAL(end({0}), words{"LEADER_FAILED about 0 > 1 2 ?"});
  CAF_CHECK_EQUAL(answer(2, 1, {yes(attr::group_leader)}), words{});
  CAF_CHECK_EQUAL(answer(1, 1), words{"LEADER_SELECTED about 2 > 1 2"});
  CAF_CHECK_EQUAL(list(listed(group_keys::accepted)), " 2");
  CAF_CHECK_EQUAL(list(listed(group_keys::pending)), " 1");
  CAF_CHECK_EQUAL(accept(1), words{"INVITE_ACCEPTED by 1 > 2"});
  CAF_CHECK_EQUAL(notify(2, status::group_construct_complete), words{"data"});
  CAF_CHECK_EQUAL(first(data({1, 2})), "construct SUCCESS 1 2");
}

CAF_TEST(G29 an invitee that leads has accepted) {
  end({0});
  answer(1, 1, {yes(attr::group_leader)});
  answer(2, 1);
  CAF_CHECK_EQUAL(list(listed(group_keys::accepted)), " 1");
  CAF_CHECK_EQUAL(list(listed(group_keys::pending)), " 2");
}

CAF_TEST(G30 an invitation that nobody leads is called off) { // 163
  accept(1);
  end({0});
  answer(1, 1);
  const auto off = words{"construct CONSTRUCT_ABORT", "LEADER_SELECTED > 1 2",
                         "CONSTRUCT_ABORT > 1 2"};
  CAF_CHECK_EQUAL(time_up(1), off);
  CAF_CHECK(find(out.events[0].what.infos, group_keys::status) != nullptr);
  CAF_CHECK(group.is_over());
}

CAF_TEST(G31 an abort from a participant reaches all that are invited) {
  accept(1);
  end({0});
  const auto off = words{"construct CONSTRUCT_ABORT", "CONSTRUCT_ABORT > 1 2"};
  CAF_CHECK_EQUAL(answer(2, 1, {}, status::group_construct_abort), off);
}

CAF_TEST(G27 a leader that ends while the data come does not undo the group) {
  accept(1);
  accept(2);
  complete();
  CAF_CHECK_EQUAL(end({0}), words{"LEADER_FAILED about 0 > 1 2 ?"});
  CAF_CHECK_EQUAL(answer(1, 1, {}, status::group_construct_abort), words{});
  const auto done =
    words{"construct SUCCESS 1 2", "CONSTRUCT_COMPLETE by 0 > 1 2"};
  CAF_CHECK_EQUAL(data({1, 2}), done);
  CAF_CHECK_EQUAL(answer(2, 1, {yes(attr::group_leader)}),
                  words{"LEADER_SELECTED about 2 > 1 2"});
}

CAF_TEST(G29 G38 who leads an invitation cannot decline) {
  end({0});
  answer(1, 1, {yes(attr::group_leader)});
  answer(2, 1);
  CAF_CHECK_EQUAL(decline(1), words{"refused EXISTS"});
  CAF_CHECK_EQUAL(decline(2), words{"INVITE_DECLINED by 2 > 1"});
}

CAF_TEST(G27 G44 who leads what is complete has nothing to take over) {
  accept(2);
  complete();
  end({0});
  answer(1, 1, {yes(attr::group_leader)});
  CAF_CHECK_EQUAL(answer(2, 1, {yes(attr::group_leader)}),
                  words{"LEADER_SELECTED about 2 > 1 2"});
  for (const auto& x : out.events)
    CAF_CHECK(find(x.what.infos, group_keys::accepted) == nullptr);
  const auto done = words{"construct SUCCESS 2", "CONSTRUCT_COMPLETE by 0 > 2"};
  CAF_CHECK_EQUAL(data({2}), done);
}

CAF_TEST(G27 G44 who has not come when all is said does not lead) {
  accept(2);
  complete();
  end({0});
  answer(1, 1, {yes(attr::group_leader)});
  CAF_CHECK_EQUAL(answer(2, 1), words{"LEADER_SELECTED > 1 2"});
  CAF_CHECK_EQUAL(first(data({2})), "construct SUCCESS 2");
}

CAF_TEST(G52 members of a group by invitation leave it) {
  accept(1);
  accept(2);
  complete();
  data({0, 1, 2});
  CAF_CHECK_EQUAL(notify(1, status::group_left), words{"LEFT by 1 > 0 2"});
  CAF_CHECK_EQUAL(list(members()), " 0 2");
}

CAF_TEST(GRP-3 what is no concern of an invitation is passed on) {
  CAF_CHECK_EQUAL(
    notify(0, status::group_membership_update, {custom(ranks({1, 0}))}),
    words{"MEMBERSHIP_UPDATE by 0 > 1"});
}

CAF_TEST_FIXTURE_SCOPE_END()
