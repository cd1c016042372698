#include "actors/mesh/mesh_host_state.hpp"

#include <caf/actor_system.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

// The host as a member of its DVM: what it asks others, and does for them.

namespace troupe::mesh_internals {

namespace {

mesh_calls::time now(self_pointer self) {
  return self->clock().now().time_since_epoch();
}

caf::error suspended() {
  return make_error(status::not_available,
                    "the node is out of contact with its root");
}

/// What a member, or this node itself, asks.
struct executor {
  self_pointer self;
  const mesh_calls::member& from;
  const mesh_calls::answerer& reply;

  void refuse(const caf::error& why) {
    reply(refusal(why));
  }

  void refuse(status code, std::string why) {
    refuse(make_error(code, std::move(why)));
  }

  template <class T>
  void give(caf::expected<T> x) {
    to_member<T>(reply)(std::move(x));
  }

  /// Whether the root asks: nobody else may.
  bool is_from_root() {
    if (from.rank == 0)
      return true;
    refuse(status::no_permissions, "only the root may ask for that");
    return false;
  }

  bool is_at_root() {
    if (self->state.is_root())
      return true;
    refuse(status::bad_param, "only the root can be asked for that");
    return false;
  }

  void operator()(prepare_share& x) {
    if (!is_from_root())
      return;
    if (!self->state.may_work())
      refuse(suspended());
    else
      prepare(self, x, to_member<job_map>(reply));
  }

  void operator()(start_share& x) {
    if (!is_from_root())
      return;
    if (!self->state.may_work())
      refuse(suspended());
    else
      start(self, x, to_member<spawn_result>(reply));
  }

  void operator()(end_share& x) {
    if (is_from_root())
      give(self->state.share_rules->end(x));
  }

  void operator()(share_progress& x) {
    if (!is_at_root())
      return;
    self->state.jobs->note_progress(from.rank, x);
    reply(ack{});
  }

  void operator()(share_ended& x) {
    if (!is_at_root())
      return;
    reply(ack{});
    self->state.jobs->note_share_ended(from.rank, x.nspace);
  }

  void operator()(procs_gone& x) {
    if (!is_from_root())
      return;
    hear_of_gone(self, x);
    reply(ack{});
  }

  void operator()(forget_job& x) {
    if (is_from_root())
      forget(self, x, to_member<ack>(reply));
  }

  void operator()(locate_job& x) {
    if (is_at_root())
      self->state.jobs->locate(from.rank, x.nspace, to_member<job_map>(reply));
  }

  void operator()(ask_root& x) {
    if (is_objects_question(x))
      count_objects_here(self, to_member<info_result>(reply));
    else if (is_at_root())
      carry_out_at_root(self, from.rank, x, reply);
  }

  void operator()(io_interest& x) {
    take_interest(self, from.rank, x, to_member<ack>(reply));
  }

  /// X41: streams of a process are those of its own node.
  void operator()(io_fragment& x) {
    if (from.rank != self->state.options.rank
        && self->state.locations.node_of(x.stream.source) == from.rank)
      take_fragment(self, from.rank, x, to_member<ack>(reply));
    else
      refuse(status::no_permissions,
             to_string(x.stream.source) + " is not of that node");
  }

  void operator()(io_fetch& x) {
    fetch_here(self, x, to_member<io_fragment>(reply));
  }

  void operator()(io_input& x) {
    take_input(self, from.rank, x, to_member<io_input_taken>(reply));
  }

  void operator()(list_io& x) {
    list_io_here(self, std::move(x), to_member<io_list>(reply));
  }

  void operator()(list_jobs& x) {
    if (is_at_root())
      reply(self->state.jobs->list(x));
  }

  void operator()(signal_process& x) {
    if (!is_from_root())
      return;
    self->send(self->state.directory.launcher, x);
    reply(ack{});
  }

  void operator()(run_site_hook& x) {
    if (is_from_root())
      run_hook(self, x, to_member<site_hook_result>(reply));
  }

  void operator()(control_procs& x) {
    if (is_from_root())
      control_share(self, x, to_member<procs_controlled>(reply));
  }

  void operator()(define_process_set& x) {
    if (is_from_root())
      define_set_here(self, x, to_member<ack>(reply));
  }

  void operator()(delete_process_set& x) {
    if (is_from_root())
      delete_set_here(self, x, to_member<ack>(reply));
  }

  void operator()(connection_changed& x) {
    if (is_at_root())
      give(self->state.jobs->note_connection(from.rank, std::move(x)));
  }

  void operator()(list_groups) {
    list_groups_here(self, to_member<group_list>(reply));
  }

  void operator()(node_resources& x) {
    if (!is_at_root())
      return;
    self->state.jobs->offer(from.rank, x.slots);
    reply(ack{});
  }

  void operator()(collective_part& x) {
    reply(ack{});
    self->state.collectives->take(from.rank, std::move(x));
  }

  void operator()(collective_outcome& x) {
    reply(ack{});
    self->state.collectives->take(from.rank, std::move(x));
  }

  void operator()(direct_modex& x) {
    answer_modex(self, x, to_member<get_result>(reply));
  }

  void operator()(deliver_event& x) {
    give(take_event(self, from.rank, x));
  }

  void operator()(get_mesh_status) {
    describe_node(self, to_member<mesh_status>(reply));
  }

  void operator()(submit_event& x) {
    const auto* event = std::get_if<deliver_event>(&x.what);
    if (event != nullptr && !may_speak_for(self, from.rank, event->what.source))
      refuse(status::no_permissions, "node " + std::to_string(from.rank)
                                       + " does not run "
                                       + to_string(event->what.source));
    else if (event == nullptr
             && !may_say(self, from.rank, std::get<group_entry>(x.what)))
      refuse(status::no_permissions,
             "node " + std::to_string(from.rank)
               + " does not run whom it speaks for in group "
               + std::get<group_entry>(x.what).group.id);
    else
      self->state.sequencer->take(from.rank, from.incarnation, std::move(x),
                                  reply);
  }

  void operator()(order_events& x) {
    self->state.sequencer->take(from.rank, std::move(x), reply);
  }

  void operator()(collect_events& x) {
    self->state.sequencer->take(from.rank, x, reply);
  }

  void operator()(list_nspaces&) {
    if (!is_at_root())
      return;
    auto result = nspace_list{};
    for (const auto& [nspace, unused] : self->state.jobs->all())
      result.nspaces.push_back(nspace);
    reply(std::move(result));
  }

  void operator()(find_procs& x) {
    if (has_tool(self->state, x.procs))
      reply(ack{});
    else
      refuse(status::not_found, "none of these is connected here");
  }

  void operator()(sample_elsewhere& x) {
    // X41
    if (!may_speak_for(self, from.rank, x.who.proc))
      refuse(status::no_permissions, "node " + std::to_string(from.rank)
                                       + " does not run "
                                       + to_string(x.who.proc));
    else
      sample_here(self, x, to_member<info_result>(reply));
  }

  void operator()(environment_interest& x) {
    if (!self->state.is_root() && !is_from_root())
      return;
    self->state.environment->take(from.rank, x);
    reply(ack{});
  }

  void operator()(environment_event& x) {
    if (!self->state.is_root() && !is_from_root())
      return;
    // The root tells of jobs, too: whoever asks.
    if (self->state.is_root() && !is_of_environment(x.code)) {
      refuse(status::bad_param,
             to_string(x.code) + " is no event of the environment");
      return;
    }
    self->state.environment->take(from.rank, std::move(x));
    reply(ack{});
  }
};

} // namespace

void call_later(self_pointer self, caf::timespan delay,
                std::function<void()> then) {
  const auto id = self->state.waits.add(std::move(then));
  self->delayed_send(mesh_host_actor{self}, delay, deadline{id});
}

void start_calls(self_pointer self) {
  auto& state = self->state;
  auto out = mesh_calls::effects{};
  out.now = [self] { return now(self); };
  out.send = [self](send_to_member what) {
    if (self->state.node)
      self->send(self->state.node, std::move(what));
  };
  out.execute = [self](const mesh_calls::member& from, host_question& what,
                       const mesh_calls::answerer& reply) {
    std::visit(executor{self, from, reply}, what);
  };
  state.calls = std::make_unique<mesh_calls>(
    mesh_calls::member{state.options.rank, state.options.incarnation},
    std::move(out));
}

void ask(self_pointer self, uint32_t node, host_question what,
         mesh_calls::completion then) {
  self->state.calls->call(node, std::move(what), std::move(then));
  arm(self);
}

void arm(self_pointer self) {
  auto& state = self->state;
  const auto due = state.calls->next_due();
  if (!due || (state.next_tick && *state.next_tick <= *due))
    return;
  state.next_tick = due;
  const auto delay = std::max(*due - now(self), mesh_calls::time{0});
  call_later(self, delay, [self, due] {
    auto& state = self->state;
    if (state.next_tick == due)
      state.next_tick.reset();
    state.calls->tick();
    arm(self);
  });
}

void take_message(self_pointer self, member_message& what) {
  self->state.calls->take(std::move(what));
  arm(self);
}

} // namespace troupe::mesh_internals
