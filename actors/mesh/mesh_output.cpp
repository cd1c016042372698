#include "actors/io/output_gate.hpp"
#include "actors/io/tool_output.hpp"
#include "actors/jobs/io_options.hpp"
#include "actors/jobs/process_events.hpp"
#include "actors/mesh/mesh_host_state.hpp"
#include "messages/attributes.hpp"
#include "messages/io_keys.hpp"
#include "messages/job_keys.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <utility>

// The output of jobs that were asked for on this node goes to whoever asked.

namespace troupe::mesh_internals {

namespace {

/// Whether a directive is there and not false, in the job or any program.
bool is_asked_for(const spawn_request& request, std::string_view key) {
  if (flag(request.job_infos, key))
    return true;
  for (const auto& x : request.apps)
    if (flag(x.infos, key))
      return true;
  return false;
}

/// For whoever registers for the end of jobs, perhaps after it: default
/// handlers would take it. Source: PRRTE, which tells it so, too.
deliver_event end_for(const proc_id& tool, const job_ended& outcome) {
  auto result = deliver_event{};
  result.what = make_job_end_event(outcome);
  result.what.range = data_range::custom;
  result.what.infos.push_back(
    {std::string{attr::event_non_default}, 0, value::boolean(true)});
  result.targets = {tool};
  return result;
}

/// The jobs that a job has started, directly or not, and that go on.
std::string family_of(const mesh_host_state& state, const std::string& nspace,
                      const outlet& of) {
  auto result = std::string{};
  for (const auto& [other, x] : state.outlets)
    if (other != nspace && x.has_family && x.tool
        && x.tool->index == of.tool->index)
      result += (result.empty() ? "" : ",") + other;
  return result;
}

/// Tells a tool why its job has not been started: an answer has only a status.
void tell_why(self_pointer self, const requester& who, const caf::error& why) {
  auto outcome = job_ended{};
  outcome.state = job_state::terminated_with_error;
  outcome.exit_status = 1;
  outcome.reason = reason_of(why);
  caf::anon_send(self->state.events, end_for(who.proc, outcome));
}

outlet* find_outlet(self_pointer self, const std::string& nspace) {
  const auto i = self->state.outlets.find(nspace);
  return i != self->state.outlets.end() ? &i->second : nullptr;
}

/// What it owes keeps a gate alive that has not been opened.
void end_holder(const output_sink_actor& x) {
  if (x)
    caf::anon_send_exit(x, caf::exit_reason::user_shutdown);
}

/// Gives the output of a job to a sink.
void connect(self_pointer self, const std::string& nspace,
             const io_subscription& what, const output_sink_actor& sink) {
  subscribe(self, what, sink, [self, nspace, sink](caf::expected<uint64_t> x) {
    if (!x) {
      self->state.log(severity::error,
                      "the output of " + nspace
                        + " is not shown: " + reason_of(x.error()));
      return;
    }
    auto* to = find_outlet(self, nspace);
    if (to != nullptr && to->sink == sink)
      to->subscription = *x;
    else
      unsubscribe(self, *x);
  });
}

/// Holds the output back no longer.
void release(self_pointer self, const std::string& nspace) {
  auto* to = find_outlet(self, nspace);
  if (to != nullptr && to->holder)
    caf::anon_send(
      caf::actor_cast<buffered_sink_actor>(std::exchange(to->holder, nullptr)),
      deadline{});
}

/// A tool has the answer to a request for a job, or none will come.
void release_all(self_pointer self, const requester& who) {
  auto names = std::vector<std::string>{};
  for (const auto& [nspace, x] : self->state.outlets)
    if (x.holder && x.tool && x.tool->index == who.index)
      names.push_back(nspace);
  for (const auto& nspace : names)
    release(self, nspace);
}

} // namespace

caf::result<spawn_result> request_spawn(self_pointer self, const requester& who,
                                        spawn_request& request) {
  const auto wants_why =
    is_tool(who.role) && is_asked_for(request, attr::notify_completion);
  return answer_later<spawn_result>(self, [&](completion<spawn_result> done) {
    ask(self, 0, ask_root{who, std::move(request)},
        reply_to<spawn_result>(
          [self, who, wants_why, done](caf::expected<spawn_result> x) {
            if (!x && wants_why)
              tell_why(self, who, x.error());
            const auto nspace = x ? x->nspace : std::string{};
            done(std::move(x));
            // First the name of the job, then its output.
            if (nspace.empty())
              release_all(self, who);
            else
              release(self, nspace);
          }));
  });
}

void subscribe(self_pointer self, io_subscription what,
               const output_sink_actor& sink, completion<uint64_t> then) {
  self
    ->request(self->state.directory.io_desk, caf::infinite, std::move(what),
              sink)
    .then([then](io_pull_result x) { then(x.subscription); },
          [then](caf::error& why) { then(std::move(why)); });
}

void unsubscribe(self_pointer self, uint64_t subscription) {
  caf::anon_send(self->state.directory.io_desk,
                 io_unsubscription{subscription});
}

output_formatter::hosts hosts_of(const mesh_host_state& state) {
  return [known = state.known_locations](const proc_id& proc) {
    return known->host_of(proc);
  };
}

std::string name_of_sink(const requester& who) {
  return (is_tool(who.role) ? "tool " : "process ") + to_string(who.proc);
}

namespace {

/// The tool that started a job gets its output.
void open_tool(self_pointer self, const prepare_share& order, outlet& to) {
  auto& state = self->state;
  const auto& request = order.request;
  // What it has not asked for it gets if it registers for it: PRRTE's prun
  // does so when its job may be over already.
  to.notify = true;
  to.is_bound = is_asked_for(request, attr::notify_completion)
                || order.parent.role == peer_role::launcher_needs_identity
                || order.parent.role == peer_role::launcher_with_identity;
  to.tool = order.parent;
  to.has_family = is_asked_for(request, job_family_key);
  // It formats itself, as OpenPMIx's tools do.
  auto options = tool_output_options{};
  options.server = state.server;
  options.who = order.parent;
  options.show_time = state.options.show_time;
  options.host_of = hosts_of(state);
  options.with_offsets = is_asked_for(request, io_offsets_key);
  options.format.tag_detailed =
    options.with_offsets
    && is_asked_for(request, attr::iof_tag_detailed_output);
  to.holder = caf::actor_cast<output_sink_actor>(spawn_output_gate(
    self->home_system(),
    spawn_tool_output(self->home_system(), std::move(options))));
  to.sink = to.holder;
}

} // namespace

void open_outlet(self_pointer self, const prepare_share& order,
                 const io_wiring& wiring) {
  auto& state = self->state;
  const auto& nspace = order.map.nspace;
  // A launcher of this process may have said where.
  const auto [place, is_new] = state.outlets.try_emplace(nspace);
  auto& to = place->second;
  const auto parent = state.outlets.find(order.parent.proc.nspace);
  if (is_new && order.parent.role == peer_role::client
      && parent != state.outlets.end()) {
    const auto& its = parent->second;
    to.sink = its.sink;
    to.tool = its.tool;
    to.has_family = its.has_family;
    to.notify = its.has_family && its.notify;
    to.is_bound = its.has_family && its.is_bound;
  } else if (is_new && is_tool(order.parent.role) && order.parent.index != 0) {
    open_tool(self, order, to);
  }
  if (!to.sink && !to.tool)
    to.sink = state.directory.sink;
  auto what = io_subscription{};
  what.sources.push_back({nspace, rank_wildcard});
  what.channels = forwarded_channels(wiring);
  what.policy = wiring.overflow;
  what.name =
    to.tool ? name_of_sink(*to.tool) : "launcher on " + state.options.hostname;
  if (to.sink && what.channels != io_channels::none)
    connect(self, nspace, what, to.sink);
  else
    end_holder(std::exchange(to.holder, nullptr));
}

void close_outlet(self_pointer self, const job_ended& outcome) {
  auto& state = self->state;
  auto node = state.outlets.extract(outcome.nspace);
  if (!node.empty())
    end_holder(std::exchange(node.mapped().holder, nullptr));
  if (node.empty() || !node.mapped().tool || !node.mapped().notify)
    return;
  const auto& to = node.mapped();
  auto what = end_for(to.tool->proc, outcome);
  if (to.has_family)
    what.what.infos.push_back(
      {std::string{job_family_key}, 0,
       value::string(family_of(state, outcome.nspace, to))});
  caf::anon_send(state.events, std::move(what));
}

void lose_tool(self_pointer self, const requester& who) {
  auto request = job_control_request{};
  for (auto& [nspace, x] : self->state.outlets) {
    if (!x.tool || x.tool->index != who.index)
      continue;
    if (x.subscription)
      unsubscribe(self, *x.subscription);
    x.subscription.reset();
    x.sink = nullptr;
    end_holder(std::exchange(x.holder, nullptr));
    x.notify = false;
    if (std::exchange(x.is_bound, false))
      request.targets.push_back({nspace, rank_wildcard});
  }
  if (request.targets.empty())
    return;
  request.directives = {
    {std::string{attr::job_ctrl_terminate}, 0, value::boolean(true)}};
  ask(self, 0, ask_root{who, std::move(request)},
      [](const caf::expected<host_reply>&) {
        // They may be over already.
      });
}

} // namespace troupe::mesh_internals
