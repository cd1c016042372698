#include "actors/groups/group_keys.hpp"
#include "actors/groups/group_tracker_state.hpp"
#include "actors/timeout.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <utility>

// What local processes ask.

namespace troupe::group_tracker_internals {

namespace {

/// How long a call waits before it is looked at again whether the operation has
/// begun.
constexpr auto next_look = caf::timespan{defaults::group_watch};

/// How long those who name nobody wait until the first leader has called, if
/// they set no time themselves; a call that nobody follows would never end.
constexpr auto leader_wait = caf::timespan{std::chrono::seconds{60}};

size_t index_of(group_operation operation) {
  return static_cast<size_t>(operation);
}

bool is_waiting(const tracker_state& state, group_operation operation,
                const proc_id& proc) {
  return operation == group_operation::construct
           ? state.constructs.count(proc) > 0
           : state.destructs.count(proc) > 0;
}

/// The time of a call is up: the operation fails for all.
void time_out(self_pointer self, group_operation operation,
              const proc_id& proc) {
  auto& state = self->state;
  if (!is_waiting(state, operation, proc))
    return;
  // Before its call has come back there is nothing to end.
  const auto round = state.group->round_of(operation);
  if (round && state.group->has_called(operation, proc))
    submit(self, group_time_up{operation, *round});
  else
    call_later(self, next_look, [=] { time_out(self, operation, proc); });
}

void start_clock(self_pointer self, group_operation operation,
                 const proc_id& proc, const std::vector<info>& directives) {
  if (const auto limit = timeout_of(directives))
    call_later(self, *limit, [=] { time_out(self, operation, proc); });
}

/// Nobody who leads has called in time.
void give_up_leaders(self_pointer self, const proc_id& proc) {
  auto& state = self->state;
  if (is_waiting(state, group_operation::construct, proc)
      && state.group->leaders().empty())
    time_out(self, group_operation::construct, proc);
}

/// Whether all local participants that can have called.
bool have_all_called(const tracker_state& state, group_operation operation) {
  const auto& group = *state.group;
  return std::all_of(state.options.local.begin(), state.options.local.end(),
                     [&](const proc_id& proc) {
                       const auto is_expected =
                         operation == group_operation::construct
                           ? group.is_participant(proc)
                           : group.is_member(proc);
                       return !is_expected || group.has_called(operation, proc)
                              || is_waiting(state, operation, proc)
                              || std::count(state.options.gone.begin(),
                                            state.options.gone.end(), proc)
                                   > 0;
                     });
}

/// The calls that are no entries yet, those of one array together.
std::vector<group_calls> take_calls(tracker_state& state,
                                    group_operation operation) {
  auto result = std::vector<group_calls>{};
  if (operation == group_operation::destruct) {
    auto calls = group_calls{operation, {}, {}};
    for (auto& [proc, x] : state.destructs)
      if (!std::exchange(x.is_sent, true))
        calls.callers.push_back({proc, std::move(x.request.directives), {}});
    if (!calls.callers.empty())
      result.push_back(std::move(calls));
    return result;
  }
  for (auto& [proc, x] : state.constructs) {
    if (std::exchange(x.is_sent, true))
      continue;
    const auto same =
      std::find_if(result.begin(), result.end(), [&](const group_calls& y) {
        return y.procs == x.request.procs;
      });
    auto& calls = same != result.end()
                    ? *same
                    : result.emplace_back(
                      group_calls{operation, std::move(x.request.procs), {}});
    calls.callers.push_back({proc, std::move(x.request.directives), {}});
  }
  return result;
}

/// Adds to calls what their callers have posted for other nodes.
void submit_with_data(self_pointer self, group_calls calls) {
  auto ask = group_data{};
  for (const auto& caller : calls.callers)
    ask.procs.push_back({caller.proc, {}});
  self->request(self->state.server, caf::infinite, std::move(ask))
    .then(
      [self, calls = std::move(calls)](group_data& found) mutable {
        for (size_t i = 0; i < found.procs.size() && i < calls.callers.size();
             ++i)
          calls.callers[i].posted = std::move(found.procs[i].entries);
        submit(self, std::move(calls), true);
      },
      [self](const caf::error& err) {
        give_up(self, status_of(err), reason_of(err));
      });
}

void flush(self_pointer self, group_operation operation) {
  auto& state = self->state;
  for (auto& calls : take_calls(state, operation)) {
    if (state.keeper == log_keeper::mesh
        && operation == group_operation::construct)
      submit_with_data(self, std::move(calls));
    else
      submit(self, std::move(calls), true);
  }
}

/// All local participants have called: the host knows of the others.
void ask_host(self_pointer self, group_operation operation) {
  auto& state = self->state;
  if (std::exchange(state.is_host_asked[index_of(operation)], true))
    return;
  auto ask = host_group{};
  ask.operation = operation;
  ask.id = state.options.key.id;
  ask.procs = state.options.written;
  const auto add = [&](const std::vector<info>& directives) {
    for (const auto& x : directives)
      if (x.key == attr::group_info || find(ask.directives, x.key) == nullptr)
        ask.directives.push_back(x);
  };
  for (const auto& [proc, x] : state.constructs)
    add(x.request.directives);
  for (const auto& [proc, x] : state.destructs)
    add(x.request.directives);
  flush(self, operation);
  self->request(state.host, caf::infinite, std::move(ask))
    .then(
      [self, operation](info_result& result) {
        submit(self, group_host_outcome{operation, status::success,
                                        std::move(result.infos)});
      },
      [self, operation](const caf::error& err) {
        submit(self, group_host_outcome{operation, status_of(err), {}});
      });
}

} // namespace

void gather(self_pointer self, group_operation operation) {
  auto& state = self->state;
  switch (state.keeper) {
    case log_keeper::unknown:
      return;
    case log_keeper::tracker:
      flush(self, operation);
      return;
    case log_keeper::host:
      if (have_all_called(state, operation))
        ask_host(self, operation);
      return;
    case log_keeper::mesh:
      break;
  }
  if (have_all_called(state, operation)) {
    flush(self, operation);
    return;
  }
  auto& is_due = state.is_flush_due[index_of(operation)];
  if (!std::exchange(is_due, true))
    call_later(self, defaults::group_watch, [self, operation] {
      self->state.is_flush_due[index_of(operation)] = false;
      flush(self, operation);
    });
}

caf::result<group_construct_result>
construct(self_pointer self, const requester& who,
          group_construct_request& request) {
  auto& state = self->state;
  if (state.options.key.participants != 0
      && !state.group->is_participant(who.proc)) {
    self->send(
      state.server,
      group_changed{state.options.key, state.group->members(), {who.proc}, {}});
    return make_error(status::not_a_member, to_string(who.proc)
                                              + " is not named for group "
                                              + state.options.key.id);
  }
  if (state.constructs.count(who.proc) > 0)
    return make_error(status::exists, to_string(who.proc)
                                        + " has called the construction of "
                                        + state.options.key.id + " already");
  auto promise = self->make_response_promise<group_construct_result>();
  auto call = waiting_construct{};
  call.reply = answer<group_construct_result>{promise};
  call.request = std::move(request);
  const auto& directives = call.request.directives;
  start_clock(self, group_operation::construct, who.proc, directives);
  if (state.options.key.participants == 0 && !timeout_of(directives)
      && find(directives, attr::group_bootstrap) == nullptr)
    call_later(self, leader_wait,
               [self, proc = who.proc] { give_up_leaders(self, proc); });
  state.constructs.emplace(who.proc, std::move(call));
  gather(self, group_operation::construct);
  return promise;
}

caf::result<ack> destruct(self_pointer self, const requester& who,
                          group_destruct_request& request) {
  auto& state = self->state;
  const auto& id = state.options.key.id;
  const auto& group = *state.group;
  const auto* end = group.outcome_of(group_operation::destruct);
  if (!group.is_participant(who.proc) || state.leaving.count(who.proc) > 0
      || (end == nullptr && !group.is_member(who.proc)))
    return make_error(status::not_found,
                      to_string(who.proc) + " is in no group " + id
                        + "; it may be that its construction is not complete");
  if (state.destructs.count(who.proc) > 0)
    return make_error(status::exists, to_string(who.proc) + " is ending group "
                                        + id + " already");
  auto promise = self->make_response_promise<ack>();
  auto call = waiting_destruct{};
  call.reply = answer<ack>{promise};
  call.request = std::move(request);
  start_clock(self, group_operation::destruct, who.proc,
              call.request.directives);
  state.destructs.emplace(who.proc, std::move(call));
  gather(self, group_operation::destruct);
  return promise;
}

caf::result<ack> leave(self_pointer self, const requester& who) {
  auto& state = self->state;
  const auto& id = state.options.key.id;
  // Of a group that has ended, this is all that is left to say.
  const auto has_ended =
    state.group->outcome_of(group_operation::destruct) != nullptr
    && state.group->is_participant(who.proc)
    && !state.group->has_called(group_operation::destruct, who.proc);
  if ((!has_ended && !state.group->is_member(who.proc))
      || state.leaving.count(who.proc) > 0)
    return make_error(status::not_a_member,
                      to_string(who.proc) + " is in no group " + id
                        + "; nobody leaves one that is not complete");
  if (is_waiting(state, group_operation::destruct, who.proc))
    return make_error(status::exists,
                      to_string(who.proc) + " is ending group " + id);
  // The others hear of it in time; for the process itself it is over.
  state.leaving.insert(who.proc);
  state.released.insert(who.proc);
  self->send(
    state.server,
    group_changed{state.options.key, state.group->members(), {who.proc}, {}});
  if (has_ended)
    submit(self,
           group_calls{group_operation::destruct, {}, {{who.proc, {}, {}}}});
  else
    submit(self, group_departure{who.proc});
  return ack{};
}

caf::result<ack> notify(self_pointer self, const requester& who,
                        notify_request& request) {
  auto& state = self->state;
  if (const auto reason = text(request.infos, group_conflict_key)) {
    const auto code = number<int32_t>(request.infos, group_conflict_code);
    submit(self, group_conflict{
                   who.proc, code ? static_cast<status>(*code) : status::exists,
                   *reason});
    return ack{};
  }
  if (request.code == status::group_left)
    return leave(self, who);
  if (request.code != status::group_verdict) {
    auto promise = self->make_response_promise<ack>();
    self->state.notices.push_back(
      {who.proc, request.code, answer<ack>{promise}});
    submit(self, group_notice{who.proc, std::move(request)});
    return promise;
  }
  auto verdict = group_verdict{};
  verdict.proc = who.proc;
  verdict.round =
    number<uint64_t>(request.infos, group_keys::round).value_or(0);
  verdict.outcome = static_cast<status>(
    number<int32_t>(request.infos, group_keys::status)
      .value_or(static_cast<int32_t>(status::no_action_taken)));
  for (auto& x : request.infos)
    if (x.key != group_keys::round && x.key != group_keys::status
        && x.key != attr::group_id)
      verdict.results.push_back(std::move(x));
  const auto asked = state.group->asked(verdict.round);
  if (std::find(asked.begin(), asked.end(), who.proc) != asked.end())
    submit(self, group_verdicts{{std::move(verdict)}});
  return ack{};
}

void answer_notice(self_pointer self, const group_notice& what,
                   std::optional<status> refused) {
  auto& notices = self->state.notices;
  const auto i =
    std::find_if(notices.begin(), notices.end(), [&](const waiting_notice& x) {
      return !x.is_taken && x.source == what.source && x.code == what.what.code;
    });
  if (i == notices.end())
    return;
  if (!refused && what.what.code == status::group_construct_complete) {
    i->is_taken = true;
    return;
  }
  if (refused)
    i->reply.fail(*refused, "group " + self->state.options.key.id
                              + " does not take this event of "
                              + to_string(what.source));
  else
    i->reply.give({});
  notices.erase(i);
}

void answer_calls(self_pointer self,
                  const std::shared_ptr<const group_construct_result>& result) {
  auto& state = self->state;
  const auto& group = *state.group;
  if (const auto* x = group.outcome_of(group_operation::construct)) {
    const auto is_made =
      x->code == status::success || x->code == status::partial_success;
    for (auto i = state.notices.begin(); i != state.notices.end();) {
      if (!i->is_taken) {
        ++i;
        continue;
      }
      if (is_made)
        i->reply.give({});
      else
        i->reply.fail(x->code, x->reason);
      i = state.notices.erase(i);
    }
    for (auto i = state.constructs.begin(); i != state.constructs.end();) {
      const auto& proc = i->first;
      auto& reply = i->second.reply;
      if (!group.has_called(group_operation::construct, proc)) {
        ++i;
        continue;
      }
      if (result != nullptr && group.is_member(proc))
        reply.give(*result);
      else if (x->code == status::success || x->code == status::partial_success)
        reply.fail(status::timeout, "group " + state.options.key.id
                                      + " is complete without "
                                      + to_string(proc));
      else
        reply.fail(x->code, x->reason);
      i = state.constructs.erase(i);
    }
  }
  if (const auto* x = group.outcome_of(group_operation::destruct))
    for (auto i = state.destructs.begin(); i != state.destructs.end();) {
      if (!group.has_called(group_operation::destruct, i->first)) {
        ++i;
        continue;
      }
      if (x->code == status::success)
        i->second.reply.give({});
      else
        i->second.reply.fail(x->code, x->reason);
      i = state.destructs.erase(i);
    }
}

} // namespace troupe::group_tracker_internals
