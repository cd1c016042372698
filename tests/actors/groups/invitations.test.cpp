// Invitations as inviter and invitees see them, event by event.

#include "actors/groups/invitations.hpp"

#include "actors/groups/group_keys.hpp"
#include "messages/attributes.hpp"
#include "tests/test.hpp"

#include <algorithm>
#include <functional>
#include <map>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

using procs = std::vector<proc_id>;

proc_id rank(uint32_t x) {
  return {"job", x};
}

info make(std::string_view key, value x) {
  return {std::string{key}, 0, std::move(x)};
}

const auto optional = make(attr::group_optional, value::boolean(true));

info timeout(int seconds) {
  return make(attr::timeout, value::integer(seconds));
}

uint64_t number_in(const std::vector<info>& xs, std::string_view key) {
  return number<uint64_t>(xs, key).value_or(0);
}

std::string text_in(const std::vector<info>& xs, std::string_view key) {
  return text(xs, key).value_or("");
}

/// What a program's handlers return.
struct answer {
  status outcome = status::no_action_taken;
  std::vector<info> results;
};

/// Five processes of a job and a server that passes events on, as OpenPMIx has
/// it: never back to who raised them, and nothing added. Only for an invitation
/// with a number it does what ours do.
struct world {
  struct process {
    proc_id self;
    invitations uut{{2s, 8, 64}};
    std::map<uint64_t, invitations::outcome> outcomes;
    std::map<std::string, procs> groups;

    /// Codes of the events that its handlers have seen, in order.
    std::vector<status> seen;

    /// What its handlers return for events with a code.
    std::map<status, answer> handlers;

    bool is_dead = false;
  };

  std::map<proc_id, process> all;
  invitations::time now = 1h;

  /// Refuses events with these codes.
  std::map<status, status> refused;

  /// What the server adds to events of a code.
  std::map<status, std::vector<info>> added;

  /// Notices in the order in which they were raised.
  std::vector<std::pair<proc_id, notify_request>> notices;

  world() {
    for (uint32_t i = 0; i < 5; ++i) {
      auto& x = all[rank(i)];
      x.self = rank(i);
      x.uut.set_self(rank(i));
    }
  }

  process& at(uint32_t x) {
    return all.at(rank(x));
  }

  void hear(process& x, const event& what) {
    if (x.is_dead)
      return;
    auto out = invitations::effects{};
    x.uut.observe(what, now, out);
    carry_out(x, std::move(out));
    x.seen.push_back(what.code);
    const auto& y = x.handlers[what.code];
    out = {};
    x.uut.decide(what, {x.self, 0, y.outcome, y.results}, now, out);
    carry_out(x, std::move(out));
  }

  void carry_out(process& x, invitations::effects what) {
    for (auto& [id, members] : what.formed)
      x.groups[id] = members;
    for (auto& y : what.outcomes) {
      CAF_CHECK_EQUAL(x.outcomes.count(y.call), 0u);
      x.outcomes[y.call] = y;
    }
    for (auto& [number, request] : what.notices) {
      notices.emplace_back(x.self, request);
      auto code = status::success;
      if (const auto i = refused.find(request.code); i != refused.end())
        code = i->second;
      else
        pass_on(x.self, request);
      auto out = invitations::effects{};
      x.uut.confirm(number, code, out);
      carry_out(x, std::move(out));
    }
    for (const auto& y : what.own)
      hear(x, y);
  }

  /// Whether the server shows an event to whoever raised it, too.
  static bool keeps_log(const notify_request& x) {
    return x.code == status::group_construct_complete
           && find(x.infos, group_keys::invitation) != nullptr;
  }

  void pass_on(const proc_id& from, const notify_request& x) {
    auto what = event{x.code, from, x.range, x.infos};
    for (const auto& y : added[x.code])
      what.infos.push_back(y);
    const auto targets = procs_of(*find(x.infos, attr::event_custom_range));
    for (auto& [id, y] : all)
      if ((id != from || keeps_log(x))
          && std::any_of(
            targets.begin(), targets.end(),
            [&, to = id](const auto& z) { return matches(z, to); }))
        hear(y, what);
  }

  status invite(uint32_t who, uint64_t call, const procs& whom,
                const std::vector<info>& directives = {},
                const std::string& id = "g") {
    auto out = invitations::effects{};
    const auto code =
      at(who).uut.invite(call, id, whom, whom, directives, now, out);
    carry_out(at(who), std::move(out));
    return code;
  }

  status join(uint32_t who, uint64_t call, uint32_t leader, bool accepts = true,
              const std::vector<info>& directives = {},
              const std::string& id = "g") {
    auto out = invitations::effects{};
    const auto from = rank(leader);
    const auto code =
      at(who).uut.join(call, id, &from, accepts, directives, now, out);
    carry_out(at(who), std::move(out));
    return code;
  }

  /// A process ends; who of the others hears of it, and how.
  void kill(uint32_t who, status code) {
    at(who).is_dead = true;
    auto what = event{code, {"", rank_undef}, data_range::custom, {}};
    what.infos = {make(attr::event_affected_proc, value::of_proc(rank(who)))};
    for (auto& [id, x] : all)
      hear(x, what);
  }

  void elapse(invitations::time x) {
    const auto end = now + x;
    for (;;) {
      auto next = std::optional<invitations::time>{};
      for (auto& [id, y] : all)
        if (const auto due = y.is_dead ? std::nullopt : y.uut.next())
          next = next ? std::min(*next, *due) : *due;
      if (!next || *next > end)
        break;
      now = std::max(now, *next);
      for (auto& [id, y] : all) {
        if (y.is_dead)
          continue;
        auto out = invitations::effects{};
        y.uut.advance(now, out);
        carry_out(y, std::move(out));
      }
    }
    now = end;
  }

  /// What a call has come to; `no_action_taken` while it has not.
  status code(uint32_t who, uint64_t call) {
    const auto i = at(who).outcomes.find(call);
    return i != at(who).outcomes.end() ? i->second.code
                                       : status::no_action_taken;
  }

  procs membership(uint32_t who, uint64_t call) {
    const auto* x =
      find(at(who).outcomes.at(call).infos, attr::group_membership);
    return x != nullptr ? procs_of(*x) : procs{};
  }

  bool has_seen(uint32_t who, status x) {
    const auto& all_seen = at(who).seen;
    return std::count(all_seen.begin(), all_seen.end(), x) == 1;
  }
};

constexpr auto pending = status::no_action_taken;
constexpr auto aborted = status::group_construct_abort;

} // namespace

CAF_TEST_FIXTURE_SCOPE(invitation_tests, world)

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
  join(2, 1, 0);
  CAF_CHECK_EQUAL(membership(0, 1), (procs{rank(0), rank(2)}));
  CAF_CHECK_EQUAL(membership(2, 1), (procs{rank(0), rank(2)}));
  CAF_CHECK(!has_seen(1, status::group_construct_complete));
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
    CAF_CHECK_EQUAL(has_seen(0, status::group_invite_failed),
                    how != status::proc_aborted);
  }
}

CAF_TEST(G40 a server that tells of a failure is believed at once) {
  invite(0, 1, {rank(0), rank(1), rank(2)}, {optional});
  join(1, 1, 0);
  join(2, 1, 0, false);
  CAF_CHECK_EQUAL(code(0, 1), status::success);
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

CAF_TEST(G48 who is not invited or names another leader is refused) {
  // Edge case 162.
  CAF_CHECK_EQUAL(join(1, 1, 0), status::not_found);
  invite(0, 1, {rank(0), rank(1)});
  CAF_CHECK_EQUAL(join(1, 1, 3), status::bad_param);
  CAF_CHECK_EQUAL(join(1, 2, 0), status::success);
  CAF_CHECK_EQUAL(join(2, 1, 0), status::not_found);
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
  CAF_CHECK_EQUAL(join(1, 1, 0), status::success);
  CAF_CHECK_EQUAL(code(1, 1), status::success);
  CAF_CHECK_EQUAL(membership(1, 1), (procs{rank(1), rank(2)}));
  // Once.
  CAF_CHECK_EQUAL(join(1, 2, 0), status::not_found);
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
                     make(group_keys::status, value::integer(-168))}});
  CAF_CHECK_EQUAL(code(1, 1), status::group_leader_failed);
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
    at(0).uut.confirm(out.notices[0].first, status::success, end);
    carry_out(at(0), std::move(end));
    if (call == 2) {
      CAF_CHECK_EQUAL(code(0, call), pending);
      hear(at(0), complete);
    }
    CAF_CHECK_EQUAL(membership(0, call), (procs{rank(0), rank(1)}));
    CAF_CHECK_EQUAL(
      number_in(at(0).outcomes[call].infos, attr::group_context_id), 41u);
    CAF_CHECK(has_seen(0, status::group_construct_complete));
    at(1).uut = invitations{{2s, 8, 64}};
    at(1).uut.set_self(rank(1));
    at(2).uut = at(1).uut;
    at(2).uut.set_self(rank(2));
  }
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
