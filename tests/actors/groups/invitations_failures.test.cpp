// Invitations that nobody answers, whose processes end, or whose server is
// lost.

#include "tests/fixtures/invitation_world.hpp"

using namespace troupe;
using namespace troupe::fixtures::inviting;

namespace {

/// A server that keeps a log says who leads, and who has answered.
event selected(uint32_t leader, procs accepted, procs missing) {
  return {status::group_leader_selected,
          {"", rank_undef},
          data_range::custom,
          {make(attr::group_id, value::string("g")),
           make(group_keys::invitation, value::uint64(7)),
           make(attr::group_leader, value::of_proc(rank(leader))),
           make(group_keys::accepted, value::procs(std::move(accepted))),
           make(group_keys::pending, value::procs(std::move(missing)))}};
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(invitation_failure_tests, invitation_world)

CAF_TEST(G42 G40 silence is told and then ends the call) {
  // Edge case 157.
  invite(0, 1, {rank(0), rank(1), rank(2)}, {timeout(5)});
  join(1, 1, 0);
  elapse(4999ms);
  CAF_CHECK_EQUAL(code(0, 1), pending);
  CAF_CHECK(!has_seen(0, status::group_invite_failed));
  elapse(1ms);
  CAF_CHECK(has_seen(0, status::group_invite_failed));
  CAF_CHECK_EQUAL(code(0, 1), status::timeout);
  CAF_CHECK_EQUAL(code(1, 1), aborted);
  CAF_CHECK(has_seen(2, aborted));
}

CAF_TEST(G42 A36 silence makes an optional group smaller) {
  invite(0, 1, {rank(0), rank(1), rank(2)}, {timeout(5), optional});
  join(1, 1, 0);
  elapse(5s);
  CAF_CHECK_EQUAL(membership(0, 1), (procs{rank(0), rank(1)}));
  // Edge case 159: an answer after the end.
  CAF_CHECK_EQUAL(join(2, 1, 0), status::success);
  CAF_CHECK_EQUAL(code(2, 1), aborted);
  CAF_CHECK(!has_seen(1, aborted));
}

CAF_TEST(G42 G39 a replacement has the whole time again) {
  at(0).handlers[status::group_invite_failed] = {
    status::no_action_taken,
    {make(attr::group_add_members, value::procs({rank(3)}))}};
  invite(0, 1, {rank(0), rank(1)}, {timeout(5)});
  elapse(5s);
  CAF_CHECK(has_seen(3, status::group_invited));
  at(0).handlers.clear();
  elapse(4999ms);
  CAF_CHECK_EQUAL(code(0, 1), pending);
  join(3, 1, 0);
  CAF_CHECK_EQUAL(membership(0, 1), (procs{rank(0), rank(3)}));
}

CAF_TEST(G40 G43 an invitee that ends is told to the inviter however it ends) {
  // Edge cases 145 and 158.
  auto call = uint64_t{0};
  for (const auto how :
       {status::proc_terminated, status::proc_aborted,
        status::proc_aborted_by_sig, status::exit_nonzero_term}) {
    ++call;
    at(0).seen.clear();
    at(1).is_dead = false;
    at(2).seen.clear();
    invite(0, call, {rank(0), rank(1), rank(2)});
    join(2, call, 0);
    if (how == status::proc_aborted)
      join(1, call, 0, false);
    kill(1, how);
    elapse(2s);
    CAF_CHECK_EQUAL(code(0, call), aborted);
    CAF_CHECK_EQUAL(code(2, call), aborted);
    CAF_CHECK(has_seen(0, status::group_invite_failed));
  }
}

CAF_TEST(G40 a server that tells of a failure is believed at once) {
  invite(0, 1, {rank(0), rank(1), rank(2)}, {optional});
  join(1, 1, 0);
  join(2, 1, 0, false);
  CAF_CHECK_EQUAL(code(0, 1), status::success);
  at(0).seen.clear();
  invite(0, 2, {rank(0), rank(1), rank(2)}, {optional}, "h");
  join(1, 2, 0, true, {}, "h");
  hear(at(0),
       event{status::group_invite_failed,
             {"", rank_undef},
             data_range::custom,
             {make(attr::group_id, value::string("h")),
              make(attr::event_affected_proc, value::of_proc(rank(2)))}});
  CAF_CHECK_EQUAL(membership(0, 2), (procs{rank(0), rank(1)}));
  // It hears of the end of the process as well.
  kill(2, status::proc_aborted_by_sig);
  elapse(10s);
  CAF_CHECK(has_seen(0, status::group_invite_failed));
}

CAF_TEST(G51 join gives up in time when nothing comes) {
  // Edge case 163.
  invite(0, 1, {rank(0), rank(1), rank(2)});
  join(1, 1, 0, true, {timeout(2)});
  elapse(1999ms);
  CAF_CHECK_EQUAL(code(1, 1), pending);
  elapse(1ms);
  CAF_CHECK_EQUAL(code(1, 1), status::timeout);
  // It has accepted: it is a member when the group comes.
  join(2, 1, 0);
  CAF_CHECK_EQUAL(at(1).groups["g"].size(), 3u);
}

CAF_TEST(G27 G48 without a log the leader is the end of it) {
  invite(0, 1, {rank(0), rank(1), rank(2)});
  join(1, 1, 0);
  kill(0, status::proc_aborted_by_sig);
  CAF_CHECK_EQUAL(code(1, 1), pending);
  elapse(2s);
  CAF_CHECK_EQUAL(code(1, 1), status::group_leader_failed);
  CAF_CHECK(has_seen(1, status::group_leader_failed));
  CAF_CHECK(has_seen(2, status::group_leader_failed));
  CAF_CHECK_EQUAL(join(2, 1, 0), status::success);
  CAF_CHECK_EQUAL(code(2, 1), status::group_leader_failed);
}

CAF_TEST(G29 G48 the winner of an election takes the invitation over) {
  const auto mark = make(group_keys::invitation, value::uint64(7));
  added[status::group_invited] = {mark};
  invite(0, 1, {rank(0), rank(1), rank(2), rank(3)});
  join(1, 1, 0);
  join(2, 1, 0);
  kill(0, status::proc_aborted_by_sig);
  elapse(1min); // The server has another one elected.
  CAF_CHECK_EQUAL(code(1, 1), pending);
  auto selected = event{status::group_leader_selected,
                        {"", rank_undef},
                        data_range::custom,
                        {make(attr::group_id, value::string("g")), mark,
                         make(attr::group_leader, value::of_proc(rank(1)))}};
  hear(at(2), selected);
  hear(at(3), selected);
  selected.infos.push_back(
    make(group_keys::accepted, value::procs({rank(1), rank(2)})));
  selected.infos.push_back(make(group_keys::pending, value::procs({rank(3)})));
  hear(at(1), selected);
  CAF_CHECK_EQUAL(code(1, 1), pending);
  // Whoever names the leader that has invited means the new one.
  CAF_CHECK_EQUAL(join(3, 1, 0), status::success);
  for (const auto x : {1u, 2u, 3u}) {
    CAF_CHECK_EQUAL(code(x, 1), status::success);
    CAF_CHECK_EQUAL(membership(x, 1), (procs{rank(1), rank(2), rank(3)}));
  }
  CAF_CHECK_EQUAL(
    number_in(notices.back().second.infos, group_keys::invitation), 7u);
}

CAF_TEST(G29 G51 who leads before it has answered may still answer) {
  const auto mark = make(group_keys::invitation, value::uint64(7));
  added[status::group_invited] = {mark};
  invite(0, 1, {rank(0), rank(1), rank(2)});
  join(2, 1, 0);
  kill(0, status::proc_aborted_by_sig);
  // It has nominated itself.
  hear(at(1),
       event{status::group_leader_selected,
             {"", rank_undef},
             data_range::custom,
             {make(attr::group_id, value::string("g")), mark,
              make(attr::group_leader, value::of_proc(rank(1))),
              make(group_keys::accepted, value::procs({rank(1), rank(2)}))}});
  CAF_CHECK_EQUAL(code(2, 1), status::success);
  // Who leads has accepted.
  CAF_CHECK_EQUAL(join(1, 2, 0, false), status::exists);
  CAF_CHECK_EQUAL(join(1, 1, 0), status::success);
  CAF_CHECK_EQUAL(code(1, 1), status::success);
  CAF_CHECK_EQUAL(membership(1, 1), (procs{rank(1), rank(2)}));
  // Once.
  CAF_CHECK_EQUAL(join(1, 2, 0), status::not_found);
}

CAF_TEST(G29 G38 who leads cannot decline and hears it in the end) {
  added[status::group_invited] = {
    make(group_keys::invitation, value::uint64(7))};
  invite(0, 1, {rank(0), rank(1), rank(2)});
  kill(0, status::proc_aborted_by_sig);
  for (const auto x : {1u, 2u})
    hear(at(x), selected(1, {rank(1)}, {rank(2)}));
  CAF_CHECK_EQUAL(join(1, 1, 0, false), status::success);
  CAF_CHECK_EQUAL(code(1, 1), pending);
  join(2, 1, 0);
  CAF_CHECK_EQUAL(membership(2, 1), (procs{rank(1), rank(2)}));
  CAF_CHECK_EQUAL(code(1, 1), status::exists);
  CAF_CHECK_EQUAL(at(1).groups.count("g"), 1u);
}

CAF_TEST(G29 G39 who leads has its will if there is no group) {
  added[status::group_invited] = {
    make(group_keys::invitation, value::uint64(7))};
  invite(0, 1, {rank(0), rank(1), rank(2)});
  kill(0, status::proc_aborted_by_sig);
  for (const auto x : {1u, 2u})
    hear(at(x), selected(1, {rank(1)}, {rank(2)}));
  join(1, 1, 0, false);
  join(2, 1, 0, false);
  CAF_CHECK_EQUAL(code(1, 1), status::success);
  CAF_CHECK(at(1).groups.empty());
}

CAF_TEST(G29 G38 a decline that crosses its own election leads all the same) {
  added[status::group_invited] = {
    make(group_keys::invitation, value::uint64(7))};
  // It leads, says the server.
  refused[status::group_invite_declined] = status::exists;
  invite(0, 1, {rank(0), rank(1), rank(2)});
  join(2, 1, 0);
  kill(0, status::proc_aborted_by_sig);
  CAF_CHECK_EQUAL(join(1, 1, 0, false), status::success);
  CAF_CHECK_EQUAL(code(1, 1), pending);
  hear(at(1), selected(1, {rank(1), rank(2)}, {}));
  CAF_CHECK_EQUAL(membership(2, 1), (procs{rank(1), rank(2)}));
  CAF_CHECK_EQUAL(code(1, 1), status::exists);
  // A server that never says so.
  invite(3, 1, {rank(1), rank(3)}, {}, "h");
  join(1, 2, 3, false, {}, "h");
  CAF_CHECK_EQUAL(code(1, 2), pending);
  elapse(2s);
  CAF_CHECK_EQUAL(code(1, 2), status::exists);
}

CAF_TEST(G29 G38 who hears late that it leads what it has declined leads it) {
  added[status::group_invited] = {
    make(group_keys::invitation, value::uint64(7))};
  refused[status::group_invite_declined] = status::exists;
  invite(0, 1, {rank(0), rank(1), rank(2)});
  join(2, 1, 0);
  kill(0, status::proc_aborted_by_sig);
  join(1, 1, 0, false);
  elapse(2s);
  CAF_CHECK_EQUAL(code(1, 1), status::exists);
  CAF_CHECK_EQUAL(code(2, 1), pending);
  hear(at(1), selected(1, {rank(1), rank(2)}, {}));
  CAF_CHECK_EQUAL(membership(2, 1), (procs{rank(1), rank(2)}));
}

CAF_TEST(G29 G51 the time of who declines what it leads counts) {
  added[status::group_invited] = {
    make(group_keys::invitation, value::uint64(7))};
  invite(0, 1, {rank(0), rank(1), rank(2)});
  kill(0, status::proc_aborted_by_sig);
  for (const auto x : {1u, 2u})
    hear(at(x), selected(1, {rank(1)}, {rank(2)}));
  CAF_CHECK_EQUAL(join(1, 1, 0, false, {timeout(1)}), status::success);
  elapse(999ms);
  CAF_CHECK_EQUAL(code(1, 1), pending);
  elapse(1ms);
  CAF_CHECK_NOT_EQUAL(code(1, 1), pending);
}

CAF_TEST(G27 G44 a leader of what is complete already takes nothing over) {
  const auto mark = make(group_keys::invitation, value::uint64(7));
  added[status::group_invited] = {mark};
  for (const auto leader : {1u, 4u, 2u}) {
    // Also if nobody leads: 4.
    const auto first = 2 * leader;
    at(0).is_dead = false;
    invite(0, first, {rank(0), rank(1), rank(2)});
    join(1, first, 0);
    kill(0, status::proc_aborted_by_sig);
    auto what = selected(leader, {}, {});
    what.infos.resize(what.infos.size() - 2);
    if (leader == 4)
      what.infos.back() = make(group_keys::status, value::integer(-168));
    hear(at(1), what);
    CAF_CHECK_EQUAL(code(1, first), pending);
    hear(at(1), event{status::group_construct_complete,
                      rank(0),
                      data_range::custom,
                      {make(attr::group_id, value::string("g")), mark,
                       make(attr::group_membership,
                            value::procs({rank(1), rank(2)}))}});
    CAF_CHECK_EQUAL(code(1, first), status::success);
    CAF_CHECK_EQUAL(membership(1, first), (procs{rank(1), rank(2)}));
    auto unused = invitations::effects{};
    at(0).uut.lose(status::lost_connection, unused);
    at(2).uut.lose(status::lost_connection, unused);
  }
}

CAF_TEST(G33 G51 case 171 a time is a number) {
  const auto odd = make(attr::timeout, value::string("soon"));
  CAF_CHECK_EQUAL(invite(0, 1, {rank(0), rank(1)}, {odd}), status::bad_param);
  invite(0, 1, {rank(0), rank(1)}, {timeout(5)});
  CAF_CHECK_EQUAL(join(1, 1, 0, true, {odd}), status::bad_param);
  CAF_CHECK_EQUAL(join(1, 1, 0, true, {timeout(5)}), status::success);
  CAF_CHECK_EQUAL(code(0, 1), status::success);
}

CAF_TEST(G30 nobody leads and the call fails) {
  added[status::group_invited] = {
    make(group_keys::invitation, value::uint64(7))};
  invite(0, 1, {rank(0), rank(1), rank(2)});
  join(1, 1, 0);
  hear(at(1), event{status::group_leader_selected,
                    {"", rank_undef},
                    data_range::custom,
                    {make(attr::group_id, value::string("g")),
                     make(group_keys::invitation, value::uint64(7)),
                     make(group_keys::status, value::integer(-168)),
                     make(group_keys::accepted, value::procs({rank(1)}))}});
  CAF_CHECK_EQUAL(code(1, 1), status::group_leader_failed);
}

CAF_TEST(G38 what the server refuses ends the call) {
  refused[status::group_invited] = status::not_supported;
  invite(0, 1, {rank(0), rank(1)});
  CAF_CHECK_EQUAL(code(0, 1), status::not_supported);
  refused.clear();
  invite(0, 2, {rank(0), rank(1)});
  refused[status::group_invite_accepted] = status::not_found;
  join(1, 1, 0);
  CAF_CHECK_EQUAL(code(1, 1), status::not_found);
  refused.clear();
  refused[status::group_construct_complete] = aborted;
  hear(at(0), event{status::group_invite_accepted,
                    rank(1),
                    data_range::custom,
                    {make(attr::group_id, value::string("g"))}});
  CAF_CHECK_EQUAL(code(0, 2), aborted);
  CAF_CHECK(at(0).groups.empty());
}

CAF_TEST(G38 G48 a lost server ends every call) {
  invite(0, 1, {rank(0), rank(1)});
  invite(1, 1, {rank(1), rank(0)}, {}, "h");
  join(1, 2, 0, true, {}, "x");
  at(1).handlers.clear();
  invite(2, 1, {rank(1), rank(2), rank(3)}, {}, "i");
  join(1, 3, 2, true, {}, "i");
  auto out = invitations::effects{};
  at(1).uut.lose(status::lost_connection, out);
  carry_out(at(1), std::move(out));
  CAF_CHECK_EQUAL(code(1, 1), status::lost_connection);
  CAF_CHECK_EQUAL(code(1, 3), status::lost_connection);
  CAF_CHECK(at(1).uut.open_groups().empty());
  CAF_CHECK(!at(1).uut.next());
}

CAF_TEST_FIXTURE_SCOPE_END()
