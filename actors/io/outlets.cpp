#include "actors/io/outlets.hpp"

#include "actors/events/process_events.hpp"
#include "actors/io/io_options.hpp"
#include "base/make_info.hpp"
#include "messages/attributes.hpp"
#include "messages/io_keys.hpp"
#include "messages/job_keys.hpp"
#include "messages/status.hpp"

namespace troupe {

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

/// For a tool that registers for the end of jobs, perhaps after it: default
/// handlers would take it. Source: PRRTE, which tells it so, too.
deliver_event end_for(const proc_id& tool, const job_ended& outcome) {
  auto result = deliver_event{};
  result.what = make_job_end_event(outcome);
  result.what.range = data_range::custom;
  result.what.infos.push_back(
    make_info(attr::event_non_default, value::boolean(true)));
  result.targets = {tool};
  return result;
}

} // namespace

std::string name_of_sink(const requester& who) {
  return (is_tool(who.role) ? "tool " : "process ") + to_string(who.proc);
}

bool wants_reason(const requester& who, const spawn_request& request) {
  return is_tool(who.role) && is_asked_for(request, attr::notify_completion);
}

// -- a job begins

bool outlets::open(const prepare_share& order, const io_wiring& wiring) {
  const auto& nspace = order.map.nspace;
  // A launcher of this process may have said where.
  const auto [place, is_new] = outlets_.try_emplace(nspace);
  auto& to = place->second;
  const auto parent = outlets_.find(order.parent.proc.nspace);
  if (is_new && order.parent.role == peer_role::client
      && parent != outlets_.end()) {
    const auto& its = parent->second;
    to.sink = its.sink;
    to.tool = its.tool;
    to.has_family = its.has_family;
    to.notify = its.has_family && its.notify;
    to.is_bound = its.has_family && its.is_bound;
  } else if (is_new && is_tool(order.parent.role) && order.parent.index != 0) {
    open_tool(order, to);
  }
  if (!to.sink && !to.tool)
    to.sink = settings_.sink;
  auto what = io_subscription{};
  what.sources.push_back({nspace, rank_wildcard});
  what.channels = forwarded_channels(wiring);
  what.policy = wiring.overflow;
  what.name = to.tool ? name_of_sink(*to.tool) : settings_.name;
  const auto sink = to.sink;
  if (sink && what.channels != io_channels::none)
    connect(nspace, std::move(what), sink);
  else
    end_holder(to);
  return bool{sink};
}

/// The tool that started a job gets its output.
void outlets::open_tool(const prepare_share& order, outlet& to) {
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
  options.who = order.parent;
  options.with_offsets = is_asked_for(request, io_offsets_key);
  options.format.tag_detailed =
    options.with_offsets
    && is_asked_for(request, attr::iof_tag_detailed_output);
  to.holder = out_->make_gate(std::move(options));
  to.sink = to.holder;
}

/// Gives the output of a job to a sink.
void outlets::connect(const std::string& nspace, io_subscription what,
                      const output_sink_actor& sink) {
  out_->subscribe(
    std::move(what), sink, [this, nspace, sink](caf::expected<uint64_t> x) {
      if (!x) {
        out_->log_error("the output of " + nspace
                        + " is not shown: " + reason_of(x.error()));
        return;
      }
      const auto to = outlets_.find(nspace);
      if (to != outlets_.end() && to->second.sink == sink)
        to->second.subscription = *x;
      else
        out_->unsubscribe(*x);
    });
}

// -- its tool has an answer

void outlets::refused(const requester& who, const caf::error& why) {
  auto outcome = job_ended{};
  outcome.state = job_state::terminated_with_error;
  outcome.exit_status = 1;
  outcome.reason = reason_of(why);
  out_->deliver(end_for(who.proc, outcome));
}

void outlets::release(outlet& x) {
  if (x.holder)
    out_->open_gate(std::exchange(x.holder, nullptr));
}

void outlets::release(const requester& who, const std::string& nspace) {
  if (!nspace.empty()) {
    const auto i = outlets_.find(nspace);
    if (i != outlets_.end())
      release(i->second);
    return;
  }
  for (auto& [name, x] : outlets_)
    if (x.tool && x.tool->index == who.index)
      release(x);
}

// -- the job is over, or the tool

void outlets::end_holder(outlet& x) {
  if (x.holder)
    out_->end_gate(std::exchange(x.holder, nullptr));
}

/// The jobs that a job has started, directly or not, and that go on.
std::string outlets::family_of(const std::string& nspace,
                               const outlet& of) const {
  auto result = std::string{};
  for (const auto& [other, x] : outlets_)
    if (other != nspace && x.has_family && x.tool
        && x.tool->index == of.tool->index)
      result += (result.empty() ? "" : ",") + other;
  return result;
}

void outlets::close(const job_ended& outcome) {
  auto node = outlets_.extract(outcome.nspace);
  if (node.empty())
    return;
  auto& to = node.mapped();
  end_holder(to);
  if (!to.tool || !to.notify)
    return;
  auto what = end_for(to.tool->proc, outcome);
  if (to.has_family)
    what.what.infos.push_back(
      make_info(job_family_key, value::string(family_of(outcome.nspace, to))));
  out_->deliver(std::move(what));
}

void outlets::lose_tool(const requester& who) {
  auto request = job_control_request{};
  for (auto& [nspace, x] : outlets_) {
    if (!x.tool || x.tool->index != who.index)
      continue;
    if (x.subscription)
      out_->unsubscribe(*x.subscription);
    x.subscription.reset();
    x.sink = nullptr;
    end_holder(x);
    x.notify = false;
    if (std::exchange(x.is_bound, false))
      request.targets.push_back({nspace, rank_wildcard});
  }
  if (request.targets.empty())
    return;
  request.directives = {
    make_info(attr::job_ctrl_terminate, value::boolean(true))};
  out_->control(who, std::move(request));
}

} // namespace troupe
