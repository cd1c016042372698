#include "actors/monitors/monitor_desk_state.hpp"
#include "actors/monitors/reaction_policy.hpp"
#include "messages/attributes.hpp"
#include "messages/custom_monitor.hpp"

#include <caf/send.hpp>

#include <algorithm>
#include <utility>

// Monitors begin.

namespace troupe::monitor_desk_internals {

namespace {

bool is_unsupported(const caf::error& why) {
  const auto code = status_of(why);
  return code == status::not_supported || code == status::not_implemented;
}

monitor_entry entry_of(const monitor_plan& plan, monitor_method method) {
  auto result = monitor_entry{};
  result.id = plan.id.value_or("");
  result.code = plan.code;
  result.range = plan.range;
  result.method = method;
  result.app_control = plan.app_control;
  if (!plan.event_infos.empty() || !plan.settings.empty()
      || !plan.kind.empty()) {
    result.extras = std::make_unique<monitor_extras>();
    result.extras->event_infos = plan.event_infos;
    result.extras->settings = plan.settings;
    result.extras->kind = plan.kind;
  }
  return result;
}

/// Adds a monitor to the table, and its process if that is new.
monitor_table::item add(self_pointer self, const requester& who,
                        const monitor_plan& plan, monitor_method method,
                        const monitored_session_actor& session) {
  auto& state = self->state;
  const auto is_new = !state.table.find(who.proc);
  const auto x = state.table.add(who, entry_of(plan, method));
  if (is_new)
    state.heartbeats.add_process(state.table.process_of(x), now(self));
  if (who.index != 0)
    state.sessions[who.index] = session;
  return x;
}

caf::result<info_result>
watch_heartbeats(self_pointer self, const requester& who,
                 const monitor_plan& plan,
                 const monitored_session_actor& session) {
  auto& state = self->state;
  if (auto why = state.table.room(who.proc, 1))
    return why;
  const auto x = add(self, who, plan, monitor_method::heartbeat, session);
  state.heartbeats.add(x, state.table.process_of(x), plan.window, now(self));
  arm(self);
  return info_result{};
}

// -- files -------------------------------------------------------------------

/// Why a file cannot be monitored, if so.
caf::error refusal(const watched_file& what, const file_stamp& found) {
  const auto no = [&](status code, const std::string& why) {
    return make_error(code, what.path + " cannot be monitored: " + why);
  };
  switch (found.state) {
    case file_state::regular:
      if (what.signs.access && !found.keeps_access_time)
        return no(status::not_supported,
                  "its file system keeps no access times; use "
                  "PMIX_MONITOR_FILE_MODIFY");
      return {};
    case file_state::missing:
      return {}; // It may come; until then it shows no sign of life.
    case file_state::not_regular:
      return no(status::bad_param, "it is no regular file");
    case file_state::no_permission:
      return no(status::no_permissions, "its requestor may not see it");
    case file_state::timed_out:
      return no(status::timeout, "its file system does not answer");
    default:
      return no(status::not_found, "it could not be looked at");
  }
}

/// What is worth knowing about files that are monitored.
std::string remark(const monitor_plan& plan, const file_stamps& found) {
  for (size_t i = 0; i < plan.files.size(); ++i)
    if (plan.files[i].signs.access && found.stamps[i].access_time_is_relative)
      return plan.files[i].path
             + " is on a file system with relative access times: only its "
               "first access after a modification counts";
  return {};
}

void begin_files(self_pointer self, beginning& x, const file_stamps& found) {
  auto& state = self->state;
  auto& files = x.plan.files;
  if (found.stamps.size() != files.size()) {
    x.reply.fail(status::error, "the files could not be looked at");
    return;
  }
  for (size_t i = 0; i < files.size(); ++i)
    if (auto why = refusal(files[i], found.stamps[i])) {
      x.reply.fail(std::move(why));
      return;
    }
  if (auto why = state.table.room(x.who.proc, files.size())) {
    x.reply.fail(std::move(why));
    return;
  }
  auto result = info_result{};
  auto note = remark(x.plan, found);
  if (!note.empty())
    result.infos.push_back({std::string{attr::event_text_message}, 0,
                            value::string(std::move(note))});
  for (size_t i = 0; i < files.size(); ++i) {
    const auto item = add(self, x.who, x.plan, monitor_method::file, x.session);
    files[i].who = x.who.creds;
    state.files.add(item, std::move(files[i]), found.stamps[i], now(self));
  }
  arm(self);
  x.reply.give(std::move(result));
}

/// Keeps a request until `begin` is called with its number.
template <class F>
caf::result<info_result>
begin_later(self_pointer self, const requester& who, monitor_plan& plan,
            const monitored_session_actor& session, F begin) {
  auto& state = self->state;
  if (state.beginnings.size() >= defaults::monitors_per_node)
    return make_error(status::out_of_resource,
                      "too many monitors begin at the same time (L7)");
  auto promise = self->make_response_promise<info_result>();
  const auto ticket = state.next_beginning++;
  auto& x = state.beginnings[ticket];
  x.who = who;
  x.plan = std::move(plan);
  x.session = session;
  x.reply = answer<info_result>{promise};
  begin(ticket, x);
  return promise;
}

caf::result<info_result> watch_files(self_pointer self, const requester& who,
                                     monitor_plan& plan,
                                     const monitored_session_actor& session) {
  auto& state = self->state;
  if (!state.options.files)
    return make_error(status::not_supported,
                      "files cannot be monitored on this node");
  if (auto why = state.table.room(who.proc, plan.files.size()))
    return why;
  return begin_later(
    self, who, plan, session, [self](uint64_t ticket, const beginning& x) {
      auto question = check_files{};
      question.who = x.who.creds;
      for (const auto& file : x.plan.files)
        question.paths.push_back(file.path);
      self
        ->request(self->state.options.files, caf::infinite, std::move(question))
        .then(
          [self, ticket](const file_stamps& found) {
            auto node = self->state.beginnings.extract(ticket);
            if (!node.empty())
              begin_files(self, node.mapped(), found);
          },
          [self, ticket](caf::error& why) {
            auto node = self->state.beginnings.extract(ticket);
            if (!node.empty())
              node.mapped().reply.fail(std::move(why));
          });
    });
}

/// In whose name a process is watched by a monitor of a named kind.
///
/// Another process than the requestor is watched in its own name, on no
/// connection, so the monitor stays until that process ends. All processes that
/// a node starts are its owner's.
caf::expected<requester> subject_of(const monitor_desk_state& state,
                                    const requester& who,
                                    const std::vector<info>& directives) {
  const auto* named = find(directives, attr::monitor_target_procs);
  if (named == nullptr)
    return who;
  const auto procs = procs_of(*named);
  if (procs.size() != 1 || procs.front().rank == rank_wildcard)
    return make_error(status::bad_param,
                      "a monitor of a named kind watches one process: "
                      "PMIX_MONITOR_TARGET_PROCS must name one");
  if (procs.front() == who.proc)
    return who;
  if (!may_watch(who, state.options.owner.uid))
    return make_error(status::no_permissions,
                      to_string(procs.front()) + " is another user's");
  auto result = requester{};
  result.proc = procs.front();
  result.creds = state.options.owner;
  return result;
}

// -- named kinds -------------------------------------------------------------

/// @param session None for a request of another node's.
caf::result<info_result> watch_kind(self_pointer self, const requester& who,
                                    monitor_plan& plan, monitor_request& what,
                                    const monitored_session_actor& session) {
  auto& state = self->state;
  if (!state.options.make_kind)
    return make_error(status::not_supported,
                      "this node has no monitors of kind " + plan.kind);
  auto subject = subject_of(state, who, what.directives);
  if (!subject)
    return subject.error();
  if (auto why = state.table.room(subject->proc, 1))
    return why;
  auto made = state.options.make_kind(plan.kind);
  if (!made)
    return made.error();
  const auto x = add(self, *subject, plan, monitor_method::kind, session);
  const auto number = state.table.number_of(x);
  state.kinds[x] = *made;
  self->monitor(*made);
  auto request = start_monitor{};
  request.number = number;
  request.who = who;
  request.proc = subject->proc;
  request.settings = what.directives;
  auto elsewhere = std::shared_ptr<monitor_request>{};
  if (state.options.spans_nodes && session && subject->proc != who.proc) {
    elsewhere = std::make_shared<monitor_request>(what);
    elsewhere->monitor = {std::string{monitor_kind_key}, 0,
                          value::string(plan.kind)};
  }
  auto owed = std::make_shared<answer<info_result>>(
    self->make_response_promise<info_result>());
  auto promise = owed->promise();
  self
    ->request(*made, caf::infinite, std::move(request),
              monitor_user_actor{self})
    .then(
      [owed, number](ack) {
        owed->give(info_result{
          {{std::string{monitor_number_key}, 0, value::uint64(number)}}, true});
      },
      [self, owed, number, who, elsewhere](caf::error& why) {
        if (const auto item = self->state.table.item_of(number))
          remove(self, *item);
        if (elsewhere && status_of(why) == status::not_found)
          ask_elsewhere(self, who, *elsewhere, owed);
        else
          owed->fail(std::move(why));
      });
  return promise;
}

// -- who does it -------------------------------------------------------------

caf::result<info_result> take_here(self_pointer self, const requester& who,
                                   monitor_plan& plan, monitor_request& request,
                                   const monitored_session_actor& session) {
  auto& options = self->state.options;
  switch (plan.task) {
    case monitor_task::heartbeat:
      return watch_heartbeats(self, who, plan, session);
    case monitor_task::files:
      return watch_files(self, who, plan, session);
    case monitor_task::no_heartbeat:
      cancel_heartbeats(self, who, plan);
      return info_result{};
    case monitor_task::usage:
      if (options.usage)
        return self->delegate(options.usage, who, std::move(request));
      break;
    default:
      break;
  }
  return self->delegate(options.host, who, std::move(request));
}

/// Asks the host first, and does what it does not do.
/// Source: reading A18.
caf::result<info_result> ask_host(self_pointer self, const requester& who,
                                  monitor_request& request,
                                  const monitored_session_actor& session) {
  auto& options = self->state.options;
  if (!options.is_fallback)
    return self->delegate(options.host, who, std::move(request));
  auto owed = std::make_shared<answer<info_result>>(
    self->make_response_promise<info_result>());
  auto promise = owed->promise();
  self->request(options.host, caf::infinite, who, request)
    .then([owed](info_result& x) { owed->give(std::move(x)); },
          [=](caf::error& why) mutable {
            if (!is_unsupported(why)) {
              owed->fail(std::move(why));
              return;
            }
            // Asked again, of ourselves, in a way that does not ask the host.
            self
              ->request(monitor_desk_actor{self}, caf::infinite, who,
                        std::move(request), session)
              .then([owed](info_result& x) { owed->give(std::move(x)); },
                    [owed](caf::error& err) { owed->fail(std::move(err)); });
          });
  return promise;
}

} // namespace

caf::result<info_result> take_request(self_pointer self, const requester& who,
                                      monitor_request& request,
                                      const monitored_session_actor& session) {
  auto& state = self->state;
  if (!session && request.monitor.key == monitor_list_key)
    return info_result{monitors_here(self, who), true};
  auto plan = plan_monitor(request);
  const auto is_ours =
    state.options.is_enabled || self->current_sender() == self->ctrl();
  if (!plan) {
    // The host may understand it.
    if (!is_ours)
      return ask_host(self, who, request, session);
    return plan.error();
  }
  const auto is_new = plan->task == monitor_task::kind
                      || (is_ours
                          && (plan->task == monitor_task::heartbeat
                              || plan->task == monitor_task::files));
  if (is_new && state.options.check)
    if (auto why = state.options.check(who, request.directives))
      return why;
  switch (plan->task) {
    case monitor_task::beat:
      if (const auto process = state.table.find(who.proc))
        state.heartbeats.beat(*process, now(self));
      arm(self);
      return info_result{};
    case monitor_task::cancel:
      return cancel(self, who, *plan, request, session);
    case monitor_task::kind:
      return watch_kind(self, who, *plan, request, session);
    default:
      break;
  }
  if (!is_ours)
    return ask_host(self, who, request, session);
  return take_here(self, who, *plan, request, session);
}

} // namespace troupe::monitor_desk_internals
