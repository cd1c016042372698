// Invitations as inviter and invitees see them, event by event: answers,
// members, names.

#include "tests/fixtures/invitation_world.hpp"

using namespace troupe;
using namespace troupe::fixtures::inviting;

CAF_TEST_FIXTURE_SCOPE(invitation_tests, invitation_world)

CAF_TEST(G33 G38 G44 G48 all accept and each call ends with the same members) {
  CAF_CHECK_EQUAL(invite(0, 1, {rank(0), rank(2), rank(3)}), status::success);
  CAF_CHECK(has_seen(2, status::group_invited));
  CAF_CHECK(!has_seen(1, status::group_invited));
  CAF_CHECK_EQUAL(join(3, 1, 0), status::success);
  CAF_CHECK_EQUAL(code(3, 1), pending);
  CAF_CHECK_EQUAL(code(0, 1), pending);
  CAF_CHECK_EQUAL(join(2, 1, 0), status::success);
  const auto members = procs{rank(0), rank(2), rank(3)};
  for (const auto x : {0u, 2u, 3u}) {
    CAF_CHECK_EQUAL(code(x, 1), status::success);
    CAF_CHECK_EQUAL(membership(x, 1), members);
    CAF_CHECK_EQUAL(at(x).groups["g"], members);
    CAF_CHECK(has_seen(x, status::group_construct_complete));
    CAF_CHECK(at(x).uut.open_groups().empty());
  }
}

CAF_TEST(G35 G36 an invitation names inviter and group and so do answers) {
  invite(0, 1, {rank(1)}, {optional});
  join(1, 1, 0);
  const auto& invited = notices.at(0).second;
  CAF_CHECK_EQUAL(text_in(invited.infos, attr::group_id), "g");
  CAF_CHECK(flag(invited.infos, attr::group_optional));
  const auto& accepted = notices.at(1).second;
  CAF_CHECK_EQUAL(accepted.code, status::group_invite_accepted);
  CAF_CHECK_EQUAL(text_in(accepted.infos, attr::group_id), "g");
  CAF_CHECK_EQUAL(procs_of(*find(accepted.infos, attr::event_custom_range)),
                  procs{rank(0)});
}

CAF_TEST(G44 an inviter that does not name itself is no member) {
  // Edge case 153.
  invite(0, 1, {rank(1), rank(2)});
  join(1, 1, 0);
  join(2, 1, 0);
  CAF_CHECK_EQUAL(membership(0, 1), (procs{rank(1), rank(2)}));
  CAF_CHECK_EQUAL(at(0).groups.count("g"), 0u);
  CAF_CHECK_EQUAL(code(2, 1), status::success);
}

CAF_TEST(G39 G46 a decline aborts for all who were invited) {
  // Edge case 156.
  invite(0, 1, {rank(0), rank(1), rank(2), rank(3)});
  join(1, 1, 0);
  CAF_CHECK_EQUAL(join(2, 1, 0, false), status::success);
  CAF_CHECK_EQUAL(code(2, 1), status::success);
  CAF_CHECK_EQUAL(code(0, 1), aborted);
  CAF_CHECK_EQUAL(code(1, 1), aborted);
  for (const auto x : {0u, 1u, 2u, 3u})
    CAF_CHECK(has_seen(x, status::group_construct_abort));
  // Who has not answered need not any more, and may.
  CAF_CHECK_EQUAL(join(3, 1, 0), status::success);
  CAF_CHECK_EQUAL(code(3, 1), aborted);
  CAF_CHECK_EQUAL(join(3, 2, 0), status::not_found);
  CAF_CHECK(at(1).groups.empty());
}

CAF_TEST(G18 G39 G44 a decline makes an optional group smaller) {
  invite(0, 1, {rank(0), rank(1), rank(2)}, {optional});
  join(1, 1, 0, false);
  CAF_CHECK_EQUAL(code(0, 1), pending);
  CAF_CHECK(has_seen(0, status::group_invite_declined));
  CAF_CHECK(has_seen(0, status::group_invite_failed));
  join(2, 1, 0);
  CAF_CHECK_EQUAL(membership(0, 1), (procs{rank(0), rank(2)}));
  CAF_CHECK_EQUAL(membership(2, 1), (procs{rank(0), rank(2)}));
  CAF_CHECK(!has_seen(1, status::group_construct_complete));
}

CAF_TEST(G23 G39 G40 a handler of failures decides what one of declines does not) {
  at(0).handlers[status::group_invite_failed] = {
    status::action_complete,
    {make(attr::group_add_members, value::procs({rank(4)}))}};
  invite(0, 1, {rank(0), rank(1), rank(2)});
  join(1, 1, 0, false);
  CAF_CHECK_EQUAL(code(0, 1), pending);
  CAF_CHECK(has_seen(4, status::group_invited));
  join(2, 1, 0);
  join(4, 1, 0);
  CAF_CHECK_EQUAL(membership(0, 1), (procs{rank(0), rank(2), rank(4)}));
}

CAF_TEST(G39 G40 who has declined and is asked again is not lost by what is shown) {
  at(0).handlers[status::group_invite_declined] = {
    status::action_complete,
    {make(attr::group_add_members, value::procs({rank(1)}))}};
  at(0).handlers[status::group_invite_failed] = {aborted, {}};
  invite(0, 1, {rank(0), rank(1)});
  join(1, 1, 0, false);
  CAF_CHECK(has_seen(0, status::group_invite_failed));
  CAF_CHECK_EQUAL(code(0, 1), pending);
}

CAF_TEST(G39 a group of those who accept ends without any of them) {
  invite(0, 1, {rank(1)}, {optional});
  join(1, 1, 0, false);
  CAF_CHECK_EQUAL(code(0, 1), aborted);
}

CAF_TEST(G39 N11 a handler names a replacement) {
  // Edge case 149: also one who is a member already.
  at(0).handlers[status::group_invite_declined] = {
    status::action_complete,
    {make(attr::group_add_members, value::procs({rank(2), rank(4)}))}};
  invite(0, 1, {rank(0), rank(1), rank(2)});
  join(2, 1, 0);
  join(1, 1, 0, false);
  CAF_CHECK_EQUAL(code(0, 1), pending);
  CAF_CHECK(has_seen(4, status::group_invited));
  CAF_CHECK(has_seen(2, status::group_invited));
  join(4, 1, 0);
  CAF_CHECK_EQUAL(membership(0, 1), (procs{rank(0), rank(2), rank(4)}));
  CAF_CHECK_EQUAL(code(4, 1), status::success);
}

CAF_TEST(G39 N11 a handler goes on with fewer or aborts) {
  // Edge case 150.
  at(0).handlers[status::group_invite_declined] = {
    status::no_action_taken,
    {make(attr::group_membership, value::procs({rank(0), rank(2)}))}};
  invite(0, 1, {rank(0), rank(1), rank(2)});
  join(1, 1, 0, false);
  join(2, 1, 0);
  CAF_CHECK_EQUAL(membership(0, 1), (procs{rank(0), rank(2)}));
  at(0).handlers[status::group_invite_declined] = {aborted, {}};
  invite(0, 2, {rank(0), rank(1), rank(2)}, {optional}, "h");
  join(2, 2, 0, true, {}, "h");
  join(1, 2, 0, false, {}, "h");
  CAF_CHECK_EQUAL(code(0, 2), aborted);
  CAF_CHECK_EQUAL(code(2, 2), aborted);
}

CAF_TEST(G46 a handler of an acceptance or an event aborts) {
  at(0).handlers[status::group_invite_accepted] = {
    status::no_action_taken, {make(group_keys::abort, value::boolean(true))}};
  invite(0, 1, {rank(0), rank(1)});
  join(1, 1, 0);
  CAF_CHECK_EQUAL(code(0, 1), aborted);
  CAF_CHECK_EQUAL(code(1, 1), aborted);
  at(0).handlers.clear();
  invite(0, 2, {rank(0), rank(1), rank(2)});
  join(1, 2, 0);
  auto out = invitations::effects{};
  at(0).uut.raise(
    {aborted, data_range::custom, {make(attr::group_id, value::string("g"))}},
    out);
  carry_out(at(0), std::move(out));
  CAF_CHECK_EQUAL(code(0, 2), aborted);
  CAF_CHECK_EQUAL(code(1, 2), aborted);
  CAF_CHECK(has_seen(2, aborted));
}

CAF_TEST(G46 A31 an abort of an invitee reaches all) {
  invite(0, 1, {rank(0), rank(1), rank(2)});
  join(1, 1, 0);
  hear(at(0), event{aborted,
                    rank(2),
                    data_range::custom,
                    {make(attr::group_id, value::string("g"))}});
  CAF_CHECK_EQUAL(code(0, 1), aborted);
  CAF_CHECK_EQUAL(code(1, 1), aborted);
  CAF_CHECK(has_seen(0, aborted));
}

CAF_TEST(G34 G36 invitations that overlap do not mix) {
  // Edge case 160.
  invite(0, 1, {rank(0), rank(1)}, {optional}, "a");
  invite(0, 2, {rank(0), rank(1)}, {optional}, "b");
  join(1, 1, 0, true, {}, "b");
  join(1, 2, 0, false, {}, "a");
  CAF_CHECK_EQUAL(membership(0, 2), (procs{rank(0), rank(1)}));
  CAF_CHECK_EQUAL(membership(0, 1), (procs{rank(0)}));
  CAF_CHECK_EQUAL(at(1).groups.size(), 1u);
  CAF_CHECK_EQUAL(at(1).groups.count("b"), 1u);
}

CAF_TEST(G34 answers without a group count for the oldest invitation) {
  // OpenPMIx 4.2 does not say which group it answers.
  invite(0, 1, {rank(0), rank(1)}, {}, "a");
  invite(0, 2, {rank(0), rank(1)}, {}, "b");
  const auto accept =
    event{status::group_invite_accepted, rank(1), data_range::custom, {}};
  hear(at(0), accept);
  CAF_CHECK_EQUAL(code(0, 1), status::success);
  CAF_CHECK_EQUAL(code(0, 2), pending);
  hear(at(0), accept);
  CAF_CHECK_EQUAL(code(0, 2), status::success);
}

CAF_TEST(G49 two leaders may invite to the same name) {
  // Edge case 161.
  invite(0, 1, {rank(0), rank(2)});
  invite(1, 1, {rank(1), rank(2)});
  CAF_CHECK_EQUAL(join(2, 1, 1), status::success);
  CAF_CHECK_EQUAL(membership(1, 1), (procs{rank(1), rank(2)}));
  CAF_CHECK_EQUAL(code(0, 1), pending);
  CAF_CHECK_EQUAL(join(2, 2, 0), status::success);
  CAF_CHECK_EQUAL(membership(2, 2), (procs{rank(0), rank(2)}));
}

CAF_TEST(G49 the end of an own invitation is not that of another of its name) {
  invite(0, 1, {rank(0), rank(2)});
  invite(1, 1, {rank(1), rank(0)});
  CAF_CHECK_EQUAL(join(2, 1, 0, false), status::success);
  CAF_CHECK_EQUAL(code(0, 1), aborted);
  CAF_CHECK(has_seen(0, aborted));
  CAF_CHECK_EQUAL(code(1, 1), pending);
  // Its answer goes to who has invited it.
  CAF_CHECK_EQUAL(join(0, 2, 1, false), status::success);
  CAF_CHECK(has_seen(1, status::group_invite_declined));
  CAF_CHECK_EQUAL(code(1, 1), aborted);
}

CAF_TEST(G48 who is not invited or names another leader is refused) {
  // Edge case 162.
  CAF_CHECK_EQUAL(join(1, 1, 0), status::not_found);
  invite(0, 1, {rank(0), rank(1)});
  CAF_CHECK_EQUAL(join(1, 1, 3), status::bad_param);
  CAF_CHECK_EQUAL(join(1, 2, 0), status::success);
  CAF_CHECK_EQUAL(join(2, 1, 0), status::not_found);
}

CAF_TEST(G36 an acceptance that is too late waits for what has come of it) {
  const auto infos =
    std::vector<info>{make(attr::group_id, value::string("g")),
                      make(group_keys::invitation, value::uint64(3))};
  added[status::group_invited] = {infos.back()};
  uint64_t call = 0;
  for (const auto why : {status::not_a_member, status::unreach})
    for (const auto is_told : {true, false}) {
      refused[status::group_invite_accepted] = why;
      ++call;
      invite(0, call, {rank(1)});
      CAF_CHECK_EQUAL(join(1, call, 0), status::success);
      CAF_CHECK_EQUAL(code(1, call), pending);
      if (is_told)
        hear(at(1), event{status::group_construct_abort, rank(0),
                          data_range::custom, infos});
      else
        elapse(2s);
      CAF_CHECK_EQUAL(code(1, call), is_told ? aborted : why);
      at(0).uut = at(1).uut = invitations{{2s, 8, 64}};
      at(0).uut.set_self(rank(0));
      at(1).uut.set_self(rank(1));
    }
}

CAF_TEST(G38 the first answer counts) {
  // Edge case 159.
  invite(0, 1, {rank(0), rank(1), rank(2)});
  join(1, 1, 0);
  CAF_CHECK_EQUAL(join(1, 2, 0, false), status::exists);
  const auto infos =
    std::vector<info>{make(attr::group_id, value::string("g"))};
  hear(at(0), event{status::group_invite_declined, rank(1), data_range::custom,
                    infos});
  hear(at(0), event{status::group_invite_accepted, rank(4), data_range::custom,
                    infos});
  CAF_CHECK_EQUAL(code(0, 1), pending);
  join(2, 1, 0);
  CAF_CHECK_EQUAL(membership(0, 1), (procs{rank(0), rank(1), rank(2)}));
}

CAF_TEST(G44 the server knows better who is a member) {
  // It shows the event to the inviter too, with what it has added, before or
  // after it has taken it.
  const auto infos =
    std::vector<info>{make(attr::group_id, value::string("g")),
                      make(group_keys::invitation, value::uint64(3))};
  auto complete =
    event{status::group_construct_complete, rank(0), data_range::custom, infos};
  complete.infos.push_back(make(attr::group_context_id, value::size(41)));
  complete.infos.push_back(
    make(attr::group_membership, value::procs({rank(0), rank(1)})));
  for (uint64_t call = 1; call < 3; ++call) {
    at(0).seen.clear();
    invite(0, call, {rank(0), rank(1), rank(2)});
    join(1, call, 0);
    auto out = invitations::effects{};
    at(0).uut.decide(
      event{status::group_invite_accepted, rank(2), data_range::custom, infos},
      {rank(0), 0, status::no_action_taken, {}}, now, out);
    CAF_REQUIRE_EQUAL(out.notices.size(), 1u);
    CAF_CHECK_EQUAL(
      number_in(out.notices[0].second.infos, group_keys::invitation), 3u);
    if (call == 1)
      hear(at(0), complete);
    auto end = invitations::effects{};
    at(0).uut.confirm(out.notices[0].first, status::success, now, end);
    carry_out(at(0), std::move(end));
    if (call == 2) {
      CAF_CHECK_EQUAL(code(0, call), pending);
      hear(at(0), complete);
    }
    CAF_CHECK_EQUAL(membership(0, call), (procs{rank(0), rank(1)}));
    CAF_CHECK_EQUAL(
      number_in(at(0).outcomes[call].infos, attr::group_context_id), 41u);
    CAF_CHECK(has_seen(0, status::group_construct_complete));
    CAF_CHECK(at(0).context_ids["g"] == 41u);
    at(1).uut = invitations{{2s, 8, 64}};
    at(1).uut.set_self(rank(1));
    at(2).uut = at(1).uut;
    at(2).uut.set_self(rank(2));
  }
}

CAF_TEST(G15 G38 calls that make no sense are refused) {
  CAF_CHECK_EQUAL(invite(0, 1, {}), status::bad_param);
  CAF_CHECK_EQUAL(invite(0, 1, procs(65, rank(1))), status::out_of_resource);
  CAF_CHECK_EQUAL(invite(0, 1, {rank(1)}), status::success);
  CAF_CHECK_EQUAL(invite(0, 2, {rank(2)}), status::exists);
  for (uint64_t i = 2; i < 9; ++i)
    CAF_CHECK_EQUAL(invite(0, i, {rank(1)}, {}, "g" + std::to_string(i)),
                    status::success);
  CAF_CHECK_EQUAL(invite(0, 9, {rank(1)}, {}, "last"), status::out_of_resource);
  CAF_CHECK_EQUAL(at(1).uut.open_groups().size(), 8u);
}

CAF_TEST(G41 what invitees have posted goes to all) {
  // Source: OpenPMIx 7.
  invite(0, 1, {rank(0), rank(1)});
  hear(at(0), event{status::group_invite_accepted,
                    rank(1),
                    data_range::custom,
                    {make(attr::proc_info_array, value::string("posted"))}});
  CAF_CHECK_EQUAL(text_in(notices.back().second.infos, attr::proc_info_array),
                  "posted");
}

CAF_TEST_FIXTURE_SCOPE_END()
