#include "actors/jobs/process_events.hpp"
#include "actors/mesh/mesh_host_state.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

// Streams of processes: output goes to the node where the job was asked for,
// input comes from there.

namespace troupe::mesh_internals {

namespace {

/// The last hop: to the sink of a launcher, or to a tool. A tool is written to
/// as fast as its connection takes.
void put_out(self_pointer self, const outlet& to, process_output& what,
             completion<ack> done) {
  auto& state = self->state;
  if (!to.tool) {
    self
      ->request(to.sink ? to.sink : state.directory.sink, caf::infinite,
                std::move(what))
      .then([done](ack x) { done(x); },
            [done](caf::error& why) { done(std::move(why)); });
    return;
  }
  const auto is_wanted =
    what.channel == io_channels::stdout_ ? to.wants_stdout : to.wants_stderr;
  if (is_wanted) {
    auto delivery = io_delivery{};
    delivery.source = std::move(what.proc);
    delivery.channel = what.channel;
    delivery.bytes = std::move(what.bytes);
    self->send(state.server, *to.tool, std::move(delivery));
  }
  done(ack{});
}

/// Whether a directive is there, true or not, in the job or any program.
bool names(const spawn_request& request, std::string_view key) {
  if (find(request.job_infos, key) != nullptr)
    return true;
  for (const auto& x : request.apps)
    if (find(x.infos, key) != nullptr)
      return true;
  return false;
}

/// Whether a directive is there and not false, in the job or any program.
bool is_asked_for(const spawn_request& request, std::string_view key) {
  if (flag(request.job_infos, key))
    return true;
  for (const auto& x : request.apps)
    if (flag(x.infos, key))
      return true;
  return false;
}

} // namespace

namespace {

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

/// Tells a tool why its job has not been started: an answer has only a status.
void tell_why(self_pointer self, const requester& who, const caf::error& why) {
  auto outcome = job_ended{};
  outcome.state = job_state::terminated_with_error;
  outcome.exit_status = 1;
  outcome.reason = reason_of(why);
  caf::anon_send(self->state.events, end_for(who.proc, outcome));
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
            done(std::move(x));
          }));
  });
}

void open_outlet(self_pointer self, const prepare_share& order) {
  auto& state = self->state;
  const auto& nspace = order.map.nspace;
  if (state.outlets.count(nspace) > 0)
    return; // A launcher of this process has said where.
  const auto parent = state.outlets.find(order.parent.proc.nspace);
  auto result = outlet{};
  if (order.parent.role == peer_role::client && parent != state.outlets.end()) {
    result = parent->second;
    result.notify = result.is_bound = false;
  } else if (is_tool(order.parent.role) && order.parent.index != 0) {
    const auto& request = order.request;
    // As with OpenPMIx's server, a tool gets what it does not refuse.
    result.wants_stdout = !names(request, attr::fwd_stdout)
                          || is_asked_for(request, attr::fwd_stdout);
    result.wants_stderr = !names(request, attr::fwd_stderr)
                          || is_asked_for(request, attr::fwd_stderr);
    // What it has not asked for it gets if it registers for it: PRRTE's prun
    // does so when its job may be over already.
    result.notify = true;
    result.is_bound = is_asked_for(request, attr::notify_completion)
                      || order.parent.role == peer_role::launcher_needs_identity
                      || order.parent.role == peer_role::launcher_with_identity;
    result.tool = order.parent;
    if (const auto options = read_options(request))
      result.stdin_target = options->stdin_target;
  }
  state.outlets.emplace(nspace, std::move(result));
}

output_sink_actor sink_of(self_pointer self, const prepare_share& order) {
  auto& state = self->state;
  const auto i = state.outlets.find(order.map.nspace);
  if (order.origin != state.options.rank || i == state.outlets.end()
      || i->second.tool)
    return output_sink_actor{mesh_host_actor{self}};
  return i->second.sink ? i->second.sink : state.directory.sink;
}

void take_output(self_pointer self, process_output& what,
                 completion<ack> done) {
  auto& state = self->state;
  const auto to = state.outlets.find(what.proc.nspace);
  if (to != state.outlets.end()) {
    put_out(self, to->second, what, std::move(done));
    return;
  }
  const auto* x = state.find_share(what.proc.nspace);
  if (x == nullptr || x->origin == state.options.rank) {
    done(ack{}); // Nobody wants it any more.
    return;
  }
  // Taken in any case: a process is not held up by an origin that is gone.
  ask(self, x->origin, std::move(what),
      [done](const caf::expected<host_reply>&) { done(ack{}); });
}

void pass_input(self_pointer self, write_stdin& what, completion<ack> done) {
  auto& state = self->state;
  const auto node = state.locations.node_of(what.proc);
  if (!node) {
    done(make_error(status::not_found, "no process " + to_string(what.proc)));
    return;
  }
  if (*node != state.options.rank) {
    ask(self, *node, std::move(what), reply_to<ack>(std::move(done)));
    return;
  }
  self->request(state.directory.launcher, caf::infinite, std::move(what))
    .then([done](ack x) { done(x); },
          [done](caf::error& why) { done(std::move(why)); });
}

void end_input(self_pointer self, const close_stdin& what) {
  auto& state = self->state;
  const auto node = state.locations.node_of(what.proc);
  if (!node)
    return;
  if (*node == state.options.rank)
    self->send(state.directory.launcher, what);
  else
    ask(self, *node, what, [](const caf::expected<host_reply>&) {
      // The end of an input that nobody reads any more.
    });
}

void push_input(self_pointer self, const requester& who,
                const io_push_request& request, completion<ack> done) {
  auto& state = self->state;
  auto targets = std::vector<proc_id>{};
  if (request.targets.empty()) {
    done(make_error(status::bad_param, "name the processes that read"));
    return;
  }
  for (const auto& x : request.targets) {
    const auto i = state.outlets.find(x.nspace);
    if (i == state.outlets.end()) {
      // OpenPMIx's tools hang when they hear of anything else.
      done(make_error(status::iof_complete,
                      "nobody reads the input of " + to_string(x)));
      return;
    }
    if (!i->second.tool || i->second.tool->index != who.index) {
      done(make_error(status::no_permissions,
                      "input for " + to_string(x)
                        + " comes from the tool that started it"));
      return;
    }
    const auto size = state.locations.size_of(x.nspace);
    const auto wanted = i->second.stdin_target;
    for (uint32_t rank = 0; rank < size; ++rank)
      if ((x.rank == rank_wildcard || x.rank == rank)
          && (wanted == rank_wildcard || wanted == rank))
        targets.push_back({x.nspace, rank});
  }
  auto left = std::make_shared<size_t>(targets.size() + 1);
  // OpenPMIx's tools forward their end of input again and again until they are
  // told that it is complete.
  const auto is_over = flag(request.directives, attr::iof_push_stdin)
                       && (!request.bytes || request.bytes->empty());
  // Who does not read any more does not keep the others from reading.
  const auto one = [left, done, is_over](const caf::expected<ack>&) {
    if (--*left > 0)
      return;
    if (is_over)
      done(make_error(status::iof_complete, "the input has ended"));
    else
      done(ack{});
  };
  for (const auto& x : targets) {
    if (request.bytes && !request.bytes->empty()) {
      auto input = write_stdin{x, *request.bytes};
      pass_input(self, input, one);
    } else {
      end_input(self, close_stdin{x});
      one(ack{});
    }
  }
  one(ack{});
}

void close_outlet(self_pointer self, const job_ended& outcome) {
  auto& state = self->state;
  auto node = state.outlets.extract(outcome.nspace);
  if (node.empty() || !node.mapped().tool || !node.mapped().notify)
    return;
  caf::anon_send(state.events, end_for(node.mapped().tool->proc, outcome));
}

void lose_tool(self_pointer self, const requester& who) {
  auto request = job_control_request{};
  for (auto& [nspace, x] : self->state.outlets) {
    if (!x.tool || x.tool->index != who.index)
      continue;
    x.wants_stdout = x.wants_stderr = false;
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
