#include "actors/groups/group_keys.hpp"
#include "actors/groups/group_tracker_state.hpp"
#include "messages/bounded_codec.hpp"

#include <algorithm>
#include <memory>
#include <utility>

// Members that are added may be on nodes that do not keep the log yet. Their
// nodes are told in the log that they keep it from now on (an empty snapshot),
// and then all that came before (a full one).

namespace troupe::group_tracker_internals {

namespace {

/// Goes on with what had to wait.
void release(self_pointer self, const group_entry& entry,
             process_group::effects& out) {
  self->state.is_held = false;
  carry_out(self, entry, out);
  drain(self);
}

/// Processes that nobody knows will not come.
void give_up_on(self_pointer self, const std::vector<proc_id>& procs) {
  auto& state = self->state;
  state.placeless.insert(state.placeless.end(), procs.begin(), procs.end());
  auto ended = group_procs_ended{};
  for (const auto& proc : procs)
    ended.procs.push_back({proc, proc_state::undef});
  if (!procs.empty() && is_lowest(state) && !state.joining_mark)
    submit(self, std::move(ended));
}

/// Notes where processes are.
/// @returns the nodes that do not keep the log yet.
std::vector<uint32_t> note_places(tracker_state& state,
                                  const proc_places& found) {
  auto result = std::vector<uint32_t>{};
  auto& local = state.options.local;
  for (const auto& x : found.procs) {
    if (!x.node) {
      state.placeless.push_back(x.proc);
    } else if (*x.node == found.here) {
      const auto i = std::lower_bound(local.begin(), local.end(), x.proc);
      if (i == local.end() || *i != x.proc)
        local.insert(i, x.proc);
    } else {
      state.places.emplace(x.proc, *x.node);
      if (std::count(state.hosts.begin(), state.hosts.end(), *x.node) == 0
          && std::count(result.begin(), result.end(), *x.node) == 0)
        result.push_back(*x.node);
    }
  }
  return result;
}

/// @param ranks Nodes that do not keep the log yet.
void say_who_joins(self_pointer self, std::vector<uint32_t> ranks) {
  auto& state = self->state;
  if (!ranks.empty())
    self->send(state.host,
               extend_group_log{state.options.key, std::move(ranks)});
  const auto mark = (uint64_t{state.here} << 32) | ++state.marks;
  submit(self, group_snapshot{encode(group_history{mark, {}, {}})});
}

/// Has more nodes keep the log. All nodes come to this; one says it.
void extend(self_pointer self, std::vector<uint32_t> joining) {
  auto& state = self->state;
  // All nodes keep the log of a group that is bootstrapped.
  if (state.options.key.participants == 0 || joining.empty()
      || state.joining_mark)
    return;
  ++state.joining;
  for (const auto rank : joining)
    state.joining_hosts.insert(rank);
  if (state.keeper == log_keeper::tracker) {
    // It was this node's alone.
    state.keeper = log_keeper::mesh;
    state.hosts = joining;
    state.hosts.push_back(state.here);
    std::sort(state.hosts.begin(), state.hosts.end());
    say_who_joins(self, {});
  } else if (is_lowest(state)) {
    say_who_joins(self, std::move(joining));
  }
}

/// Asks for each of several processes, one of which nobody knows.
void locate_each(self_pointer self, const std::vector<proc_id>& procs,
                 std::function<void(proc_places, std::vector<proc_id>)> then) {
  struct search {
    proc_places found;
    std::vector<proc_id> unknown;
    size_t missing = 0;
  };
  auto all = std::make_shared<search>();
  all->missing = procs.size();
  const auto count = [all, then] {
    if (--all->missing == 0)
      then(std::move(all->found), std::move(all->unknown));
  };
  for (const auto& proc : procs)
    self->request(self->state.host, caf::infinite, locate_procs{{proc}})
      .then(
        [all, count](proc_places& x) {
          all->found.here = x.here;
          for (auto& y : x.procs)
            all->found.procs.push_back(std::move(y));
          count();
        },
        [all, count, proc](const caf::error&) {
          all->unknown.push_back(proc);
          count();
        });
}

} // namespace

void take_in(self_pointer self, const group_entry& entry,
             process_group::effects out) {
  auto& state = self->state;
  state.is_held = true;
  const auto added = out.added;
  auto rest = std::make_shared<process_group::effects>(std::move(out));
  const auto go_on = [self, entry, rest](const proc_places& found,
                                         const std::vector<proc_id>& unknown) {
    auto joining = note_places(self->state, found);
    const auto is_one_lost =
      std::any_of(found.procs.begin(), found.procs.end(),
                  [](const proc_places::place& x) { return !x.node; });
    extend(self, std::move(joining));
    release(self, entry, *rest);
    give_up_on(self, unknown);
    if (is_one_lost)
      speak_for_all(self);
  };
  self->request(state.host, caf::infinite, locate_procs{added})
    .then([go_on](const proc_places& found) { go_on(found, {}); },
          [self, added, go_on](const caf::error&) {
            locate_each(self, added, go_on);
          });
}

void say_again_who_joins(self_pointer self) {
  auto& state = self->state;
  if (!state.joining_mark && !state.joining_hosts.empty() && is_lowest(state))
    say_who_joins(self,
                  {state.joining_hosts.begin(), state.joining_hosts.end()});
}

bool take_snapshot(self_pointer self, const group_entry& entry) {
  auto& state = self->state;
  const auto* what = std::get_if<group_snapshot>(&entry.what);
  if (what != nullptr && what->state == group_log_over) {
    if (state.joining_mark || !state.has_begun)
      give_up(self, status::not_found,
              "group " + state.options.key.id
                + " was over before this node learned of it");
    return true;
  }
  if (what == nullptr) {
    if (state.joining_mark)
      state.since.push_back(entry);
    return state.joining_mark.has_value();
  }
  auto past = decode<group_history>(what->state);
  if (!past)
    return true; // No node writes that.
  const auto is_told = past->participants.empty();
  if (!state.has_begun && !state.joining_mark && is_told) {
    state.joining_mark = past->mark;
  } else if (!state.joining_mark && is_told) {
    state.joining -= std::min<size_t>(state.joining, 1);
    if (state.joining == 0)
      state.joining_hosts.clear();
    state.history_due.emplace(past->mark, state.history.size());
    speak_for_all(self);
  } else if (!state.joining_mark) {
    state.history_due.erase(past->mark);
  } else if (*state.joining_mark == past->mark) {
    state.joining_mark.reset();
    state.options.participants = std::move(past->participants);
    state.group.emplace(state.options.key, state.options.participants);
    auto missed = std::move(past->entries);
    missed.insert(missed.end(), state.since.begin(), state.since.end());
    state.since.clear();
    state.queue.insert(state.queue.begin(), missed.begin(), missed.end());
  }
  return true;
}

} // namespace troupe::group_tracker_internals
