#include "actors/monitors/monitor_desk_state.hpp"
#include "actors/monitors/reaction_policy.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
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
    remove(self, x);
    ++count;
  }
  return count;
}

/// Ends one monitor of the requestor's user, whoever asked for it.
caf::result<info_result> cancel_one(self_pointer self, const requester& who,
                                    const value& which) {
  auto& state = self->state;
  const auto number = which.number<uint64_t>();
  const auto x = number ? state.table.item_of(*number) : std::nullopt;
  if (!x)
    return make_error(status::not_found,
                      "there is no monitor of that number on this node; see "
                      "troupe monitor list");
  const auto& of = state.table.of(state.table.process_of(*x));
  if (!may_watch(who, of.creds.uid))
    return make_error(status::no_permissions, "the monitor is another user's");
  remove(self, *x);
  return info_result{};
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
                                const monitor_request& request) {
  auto& options = self->state.options;
  if (const auto* number = find(request.directives, monitor_number_key))
    return cancel_one(self, who, *number);
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
  auto result = info_result{};
  result.infos.push_back(
    {std::string{monitor_list_key}, 0, value::infos(std::move(list))});
  return result;
}

} // namespace troupe::monitor_desk_internals
