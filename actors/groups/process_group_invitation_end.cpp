#include "actors/events/range_filter.hpp"
#include "actors/groups/group_keys.hpp"
#include "actors/groups/process_group.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

// What processes are told of an invitation, and what it comes to.

namespace troupe {

namespace {

void drop(std::vector<proc_id>& xs, const proc_id& x) {
  xs.erase(std::remove(xs.begin(), xs.end(), x), xs.end());
}

/// Adds what is not there yet.
void put(std::vector<info>& infos, std::string_view key, value x) {
  if (find(infos, key) == nullptr)
    infos.push_back({std::string{key}, 0, std::move(x)});
}

/// The infos without those under these keys.
std::vector<info> without(std::vector<info> infos,
                          std::initializer_list<std::string_view> keys) {
  const auto is_unwanted = [&](const info& x) {
    return std::find(keys.begin(), keys.end(), x.key) != keys.end();
  };
  infos.erase(std::remove_if(infos.begin(), infos.end(), is_unwanted),
              infos.end());
  return infos;
}

} // namespace

// -- events
// ----------------------------------------------------------------------

std::vector<info> process_group::invitation_infos() const {
  auto result = std::vector<info>{};
  if (!invitation_.invited.empty())
    result.push_back(
      {std::string{group_keys::invitation}, 0, value::uint64(key_.generation)});
  return result;
}

void process_group::pass_on(const group_notice& what,
                            std::vector<proc_id> targets, effects& out) const {
  drop(targets, what.source);
  const auto code = what.what.code;
  auto infos =
    without(what.what.infos, {attr::event_custom_range, group_keys::invitation,
                              group_keys::round, group_keys::status,
                              group_keys::accepted, group_keys::pending});
  if (code == status::group_invited)
    put(infos, attr::event_non_default, value::boolean(true));
  if (code == status::group_invite_accepted
      || code == status::group_invite_declined)
    put(infos, attr::event_affected_proc, value::of_proc(what.source));
  for (auto& x : invitation_infos())
    infos.push_back(std::move(x));
  raise(code, what.source, std::move(targets), std::move(infos), out);
}

void process_group::report_failed(const proc_id& proc, effects& out) const {
  auto infos = invitation_infos();
  put(infos, attr::event_affected_proc, value::of_proc(proc));
  put(infos, attr::event_non_default, value::boolean(true));
  raise(status::group_invite_failed, {}, leaders(), std::move(infos), out);
}

// -- the end of the construction
// ---------------------------------------------------------

void process_group::take(const group_data& what, effects& out) {
  for (const auto& x : what.procs) {
    auto* who = find(x.proc);
    if (who == nullptr || !who->owes_data)
      continue;
    set_owes_data(*who, false);
    out.data.push_back(x);
  }
}

void process_group::lose_invitee(participant& who, standing state,
                                 effects& out) {
  const auto proc = who.proc;
  const auto led = who.is_leader;
  set(who, state);
  stop_asking(proc, out);
  if (led)
    leader_ended(proc, out);
  else
    report_failed(proc, out);
}

void process_group::conclude_invitation(effects& out) {
  if (phase_ == group_phase::inviting && invitation_.completion
      && invitation_.owing == 0) {
    if (joined_ > 0)
      found(out);
    else
      abort(status::group_construct_abort, "nobody is left in group " + key_.id,
            out);
  }
  if (construct_ && !destruct_ && phase_ == group_phase::over)
    disband(out);
}

void process_group::found(effects& out) {
  const auto& what = *invitation_.completion;
  const auto leader = what.source;
  complete(out);
  for (auto& x : participants_)
    if (x.state == standing::awaited) {
      set(x, standing::dropped);
      stop_asking(x.proc, out);
    }
  auto infos =
    without(what.what.infos, {attr::event_custom_range, attr::group_membership,
                              attr::group_context_id, group_keys::invitation});
  put(infos, attr::group_membership, value::procs(*members_));
  if (context_id_)
    put(infos, attr::group_context_id, value::size(*context_id_));
  put(infos, attr::event_non_default, value::boolean(true));
  for (auto& x : invitation_infos())
    infos.push_back(std::move(x));
  auto targets = *members_;
  drop(targets, leader);
  raise(status::group_construct_complete, leader, std::move(targets), infos,
        out);
  // Our library waits for what has become of the group; another one has told
  // its handlers already.
  if (troupe::find(what.what.infos, group_keys::invitation) != nullptr) {
    put(infos, event_reaches_source, value::boolean(true));
    raise(status::group_construct_complete, leader, {leader}, std::move(infos),
          out);
  }
}

void process_group::disband(effects& out) {
  if (std::exchange(invitation_.is_disbanded, true))
    return;
  auto targets = std::vector<proc_id>{};
  for (auto& x : participants_) {
    // Who has called is answered, and who has joined a construction by an event
    // has been told.
    const auto is_told = invitation_.inviter ? x.is_invited || x.is_leader
                                             : x.is_invited && x.arrival == 0;
    if (is_told && x.state != standing::ended
        && x.proc != invitation_.called_off)
      targets.push_back(x.proc);
    if (invitation_.inviter && x.is_live())
      set(x, standing::dropped);
  }
  if (targets.empty())
    return;
  auto infos = invitation_infos();
  put(infos, attr::event_non_default, value::boolean(true));
  out.events.push_back(make_event(status::group_construct_abort,
                                  invitation_.called_off.value_or(proc_id{}),
                                  std::move(targets), std::move(infos)));
}

} // namespace troupe
