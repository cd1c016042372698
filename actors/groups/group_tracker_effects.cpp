#include "actors/groups/group_tracker_state.hpp"
#include "config/defaults.hpp"

#include <algorithm>
#include <utility>

// What follows from an entry, for this node.

namespace troupe::group_tracker_internals {

namespace {

void store(self_pointer self, process_group::effects& out) {
  auto& state = self->state;
  if (!out.data.empty())
    self->send(state.server, host_collective_result{std::move(out.data)});
  if (!out.infos.empty())
    self->request(state.server, caf::infinite, group_data{std::move(out.infos)})
      .then(
        [](const group_data&) {
          // Stored.
        },
        [](const caf::error&) {
          // The server is gone, and its clients with it.
        });
}

/// Tells the server who may name the group, and who has done with it.
void tell_server(self_pointer self, const process_group::effects& out) {
  auto& state = self->state;
  auto news = group_changed{state.options.key, state.group->members(), {}, {}};
  if (std::exchange(state.releases, state.group->releases())
      != state.group->releases())
    for (const auto& proc : state.options.local)
      if (state.group->is_released(proc) && state.released.insert(proc).second)
        news.released.push_back(proc);
  news.departed = out.departed;
  if (out.is_changed || !news.released.empty() || !news.departed.empty())
    self->send(state.server, std::move(news));
}

void raise(self_pointer self, const deliver_event& what) {
  auto& state = self->state;
  auto local = deliver_event{what.what, state.local_of(what.targets)};
  if (local.targets.empty())
    return;
  self->request(state.events, caf::infinite, std::move(local))
    .then(
      [](ack) {
        // It is in the log of the namespaces.
      },
      [self](const caf::error& err) {
        self->state.log(severity::warning, "an event of group "
                                             + self->state.options.key.id
                                             + " is lost: " + reason_of(err));
      });
}

/// Whoever does not listen has nothing to say.
void enter_silent(self_pointer self, uint64_t round,
                  const std::vector<proc_id>& asked,
                  const std::vector<proc_id>& listening) {
  auto silent = group_verdicts{};
  for (const auto& proc : asked)
    if (std::find(listening.begin(), listening.end(), proc) == listening.end())
      silent.verdicts.push_back({proc, round, status::no_action_taken, {}});
  if (!silent.verdicts.empty())
    submit(self, std::move(silent));
}

void ask_handlers(self_pointer self, const process_group::question& what) {
  auto& state = self->state;
  const auto asked = state.local_of(what.what.targets);
  if (asked.empty())
    return;
  raise(self, what.what);
  const auto round = what.round;
  self
    ->request(state.events, caf::infinite,
              find_listeners{what.what.what.code, asked})
    .then(
      [=](const event_listeners& found) {
        enter_silent(self, round, asked, found.procs);
      },
      [=](const caf::error&) { enter_silent(self, round, asked, {}); });
  call_later(self, defaults::group_decision, [self, round] {
    if (!self->state.local_of(self->state.group->asked(round)).empty())
      submit(self, group_time_up{group_operation::construct, round});
  });
}

/// What local members have posted, for the others.
void enter_data(self_pointer self) {
  auto& state = self->state;
  auto ask = group_data{};
  for (const auto& proc : state.group->live_participants())
    if (state.is_local(proc)
        && state.group->has_called(group_operation::construct, proc))
      ask.procs.push_back({proc, {}});
  if (ask.procs.empty())
    return;
  if (state.keeper == log_keeper::tracker) {
    submit(self, std::move(ask));
    return;
  }
  self->request(state.server, caf::infinite, std::move(ask))
    .then([self](group_data& found) { submit(self, std::move(found)); },
          [self](const caf::error& err) {
            give_up(self, status_of(err), reason_of(err));
          });
}

/// Local participants that had ended before they took part.
void enter_ended(self_pointer self, const process_group::effects& out) {
  auto& state = self->state;
  if (state.joining_mark)
    return;
  auto ended = group_procs_ended{};
  for (const auto& proc : std::exchange(state.options.gone, {}))
    ended.procs.push_back({proc, proc_state::terminated});
  for (const auto& proc : out.added)
    if (state.is_local(proc) && state.options.ended.count(proc) > 0)
      ended.procs.push_back({proc, proc_state::terminated});
  if (!ended.procs.empty())
    submit(self, std::move(ended));
}

void finish(self_pointer self) {
  auto& state = self->state;
  if (!state.group->is_over() || std::exchange(state.is_over, true))
    return;
  // Who declines what is over has its will; all others are too late.
  const auto* made = state.group->outcome_of(group_operation::construct);
  for (auto& x : std::exchange(state.notices, {}))
    if (x.code == status::group_invite_declined)
      x.reply.give({});
    else if (made != nullptr && state.group->members() == nullptr
             && made->code != status::success
             && made->code != status::partial_success)
      x.reply.fail(made->code, made->reason);
    else
      x.reply.fail(status::not_a_member,
                   "group " + state.options.key.id + " is over");
  self->send(state.server, group_over{state.options.key});
  if (state.keeper == log_keeper::mesh)
    self->send(state.host, close_group_log{state.options.key});
  self->quit();
}

/// It is decided who is in: nobody has to learn any more how it began.
void forget_beginning(tracker_state& state) {
  state.history = {};
  if (state.keeper == log_keeper::host)
    return;
  state.options.participants = {};
  state.options.written = {};
}

} // namespace

void apply(self_pointer self, const group_entry& entry) {
  auto& state = self->state;
  if (state.is_over || take_snapshot(self, entry))
    return;
  auto out = process_group::effects{};
  state.group->apply(entry, out);
  const auto is_first = !std::exchange(state.has_begun, true);
  if (state.options.spans_nodes
      && (state.group->outcome_of(group_operation::construct) == nullptr
          || state.joining > 0))
    state.history.push_back(entry);
  else if (state.history_due.empty())
    forget_beginning(state);
  if (!out.added.empty() && state.options.spans_nodes)
    take_in(self, entry, std::move(out));
  else
    carry_out(self, entry, out);
  // What was lost before there was a log to say so.
  if (is_first)
    speak_for_all(self);
}

void carry_out(self_pointer self, const group_entry& entry,
               process_group::effects& out) {
  auto& state = self->state;
  store(self, out);
  tell_server(self, out);
  for (const auto& x : out.events)
    raise(self, x);
  auto result = std::shared_ptr<const group_construct_result>{};
  for (const auto& x : out.outcomes) {
    if (x.result)
      result = x.result;
    if (!x.reason.empty())
      state.log(severity::info, x.reason);
  }
  if (const auto* notice = std::get_if<group_notice>(&entry.what))
    answer_notice(self, *notice, out.refused);
  answer_calls(self, result);
  for (const auto& x : out.questions)
    ask_handlers(self, x);
  if (out.needs_data)
    enter_data(self);
  enter_ended(self, out);
  finish(self);
}

} // namespace troupe::group_tracker_internals
