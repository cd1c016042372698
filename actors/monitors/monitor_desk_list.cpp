#include "actors/monitors/monitor_desk_state.hpp"
#include "actors/monitors/reaction_policy.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

// Monitors end, and are listed.

namespace troupe::monitor_desk_internals {

namespace {

/// Ends what a requestor asks to end here.
/// @returns how many monitors.
size_t cancel_here(self_pointer self, const requester& who,
                   const std::optional<std::string>& id) {
  auto& state = self->state;
  const auto before = state.beginnings.size();
  drop_beginnings(self, [&](const beginning& x) {
    return x.who.proc == who.proc && (!id || x.plan.id == id);
  });
  auto count = before - state.beginnings.size();
  for (const auto x : state.table.select(who.proc, id)) {
    if (state.table.connection_of(x) == 0)
      continue; // Somebody else has asked for it.
    remove(self, x);
    ++count;
  }
  return count;
}

/// Ends one monitor of the requestor's user, whoever asked for it.
/// @param proc Whom it watches, if that is said: numbers are those of a node.
caf::error cancel_one(self_pointer self, const requester& who,
                      const value& which, const std::vector<proc_id>& proc) {
  auto& state = self->state;
  const auto number = which.number<uint64_t>();
  const auto x = number ? state.table.item_of(*number) : std::nullopt;
  const auto* of = x ? &state.table.of(state.table.process_of(*x)) : nullptr;
  if (of == nullptr || (!proc.empty() && proc.front() != of->proc))
    return make_error(status::not_found,
                      "there is no monitor of that number; see troupe monitor "
                      "list");
  if (!may_watch(who, of->creds.uid))
    return make_error(status::no_permissions, "the monitor is another user's");
  remove(self, *x);
  return caf::none;
}

/// A cancellation goes to everybody who may have such a monitor.
struct cancellation {
  answer<info_result> reply;
  std::optional<std::string> id;
  size_t open = 1;
  size_t done = 0;

  void finish_one() {
    if (--open > 0)
      return;
    if (done > 0 || !id)
      reply.give(info_result{});
    else
      reply.fail(status::not_found,
                 "its requestor has no monitor \"" + *id + "\" to cancel");
  }
};

} // namespace

caf::result<info_result> cancel(self_pointer self, const requester& who,
                                const monitor_plan& plan,
                                const monitor_request& request,
                                const monitored_session_actor& session) {
  auto& options = self->state.options;
  if (const auto* number = find(request.directives, monitor_number_key)) {
    const auto* named = find(request.directives, attr::monitor_target_procs);
    const auto procs = named ? procs_of(*named) : std::vector<proc_id>{};
    auto why = cancel_one(self, who, *number, procs);
    if (!why)
      return info_result{};
    if (status_of(why) != status::not_found || !session || procs.empty()
        || !options.spans_nodes)
      return why;
    auto owed = std::make_shared<answer<info_result>>(
      self->make_response_promise<info_result>());
    auto promise = owed->promise();
    ask_elsewhere(self, who, request, owed);
    return promise;
  }
  auto promise = self->make_response_promise<info_result>();
  auto job = std::make_shared<cancellation>();
  job->reply = answer<info_result>{promise};
  job->id = plan.id;
  job->done = cancel_here(self, who, plan.id);
  const auto ask = [&](const auto& other) {
    ++job->open;
    self->request(other, caf::infinite, who, request)
      .then(
        [job](const info_result&) {
          ++job->done;
          job->finish_one();
        },
        [job](const caf::error&) { job->finish_one(); });
  };
  if (options.usage)
    ask(options.usage);
  if (!options.is_enabled)
    ask(options.host);
  job->finish_one();
  return promise;
}

void cancel_heartbeats(self_pointer self, const requester& who,
                       const monitor_plan& plan) {
  auto& state = self->state;
  for (const auto x : state.table.select(who.proc, plan.id))
    if (state.table[x].method == monitor_method::heartbeat)
      remove(self, x);
}

void ask_elsewhere(self_pointer self, const requester& who,
                   const monitor_request& request,
                   const std::shared_ptr<answer<info_result>>& owed) {
  self->request(self->state.options.host, caf::infinite, who, request)
    .then([owed](info_result& x) { owed->give(std::move(x)); },
          [owed](caf::error& why) { owed->fail(std::move(why)); });
}

std::vector<info> monitors_here(self_pointer self, const requester& who) {
  const auto& state = self->state;
  const auto sees_all =
    who.creds.uid == 0 || who.creds.uid == state.options.owner.uid;
  auto list = std::vector<info>{};
  for (const auto x : state.table.all()) {
    const auto& of = state.table.of(state.table.process_of(x));
    if (!sees_all && of.creds.uid != who.creds.uid)
      continue;
    const auto& entry = state.table[x];
    auto one = std::vector<info>{};
    const auto put = [&](std::string_view key, value y) {
      one.push_back({std::string{key}, 0, std::move(y)});
    };
    put(monitor_number_key, value::uint64(state.table.number_of(x)));
    put(attr::procid, value::of_proc(of.proc));
    if (!state.options.hostname.empty())
      put(attr::hostname, value::string(state.options.hostname));
    put(monitor_kind_key,
        value::string(entry.method == monitor_method::heartbeat ? "heartbeat"
                      : entry.method == monitor_method::file
                        ? "file"
                        : entry.extras->kind));
    if (!entry.id.empty())
      put(attr::monitor_id, value::string(entry.id));
    if (entry.extras && !entry.extras->reason.empty())
      put(monitor_reason_key, value::string(entry.extras->reason));
    if (state.files.holds(x))
      put(attr::monitor_file, value::string(state.files.path_of(x)));
    const auto is_silent =
      state.heartbeats.is_silent(x) || state.files.is_silent(x);
    put("troupe.monitor.silent", value::boolean(is_silent));
    list.push_back({"item", 0, value::infos(std::move(one))});
  }
  return list;
}

caf::result<info_result> list_monitors(self_pointer self, const requester& who,
                                       const query_request& request) {
  const auto& state = self->state;
  const auto wants = std::any_of(
    request.queries.begin(), request.queries.end(), [](const query& x) {
      return std::find(x.keys.begin(), x.keys.end(), monitor_list_key)
             != x.keys.end();
    });
  if (!wants)
    return make_error(status::not_found,
                      "monitors know only " + std::string{monitor_list_key});
  const auto in_answer = [](std::vector<info> list, bool complete) {
    return info_result{
      {{std::string{monitor_list_key}, 0, value::infos(std::move(list))}},
      complete};
  };
  if (!state.options.spans_nodes)
    return in_answer(monitors_here(self, who), true);
  auto question = monitor_request{};
  question.monitor.key = std::string{monitor_list_key};
  auto owed = std::make_shared<answer<info_result>>(
    self->make_response_promise<info_result>());
  auto promise = owed->promise();
  self->request(state.options.host, caf::infinite, who, std::move(question))
    .then(
      [=](info_result& x) {
        auto list = monitors_here(self, who);
        std::move(x.infos.begin(), x.infos.end(), std::back_inserter(list));
        owed->give(in_answer(std::move(list), x.complete));
      },
      [=](const caf::error&) {
        owed->give(in_answer(monitors_here(self, who), false));
      });
  return promise;
}

} // namespace troupe::monitor_desk_internals
