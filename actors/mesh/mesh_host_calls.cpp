#include "actors/io/stream_spread.hpp"
#include "actors/mesh/mesh_host_state.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_system.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include <algorithm>
#include <utility>

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
    self->state.streams->take(from.rank, x, to_member<ack>(reply));
  }

  /// X41: streams of a process are those of its own node.
  void operator()(io_fragment& x) {
    if (from.rank != self->state.options.rank
        && self->state.locations.node_of(x.stream.source) == from.rank)
      self->state.streams->take(from.rank, x, to_member<ack>(reply));
    else
      refuse(status::no_permissions,
             to_string(x.stream.source) + " is not of that node");
  }

  void operator()(io_fetch& x) {
    self->state.streams->take(x, to_member<io_fragment>(reply));
  }

  void operator()(io_input& x) {
    take_input(self, from.rank, x, to_member<io_input_taken>(reply));
  }

  void operator()(list_io& x) {
    self->state.streams->take(x, to_member<io_list>(reply));
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

// -- who else is a member, and what this one may do

namespace {

/// Notes which incarnation of a node lives.
/// @returns whether the one that lived does not any more.
bool note_life(mesh_host_state& state, const member_changed& what) {
  const auto i = state.lives.find(what.rank);
  const auto known = i != state.lives.end() ? i->second : 0;
  if (what.state == node_state::live) {
    state.lives[what.rank] = what.incarnation;
    return known != 0 && known != what.incarnation;
  }
  if (what.state == node_state::expected || known != what.incarnation)
    return false;
  state.lives.erase(i);
  return known != 0;
}

/// Tells the root, once it can be asked, what this node offers: whether it is a
/// member, and whether it may work, are heard in any order.
void tell_resources(self_pointer self) {
  const auto& state = self->state;
  if (!state.is_root() && state.duty == mesh_duty::active
      && state.calls->is_live(0))
    ask(self, 0, node_resources{state.options.slots},
        [](const caf::expected<host_reply>&) {
          // A root that is gone needs to know nothing.
        });
}

} // namespace

void change_member(self_pointer self, const member_changed& what) {
  auto& state = self->state;
  // Before anything else is decided: whoever comes back is another one.
  const auto is_over = note_life(state, what);
  if (is_over)
    state.locations.node_lost(what.rank);
  if (state.is_root())
    state.jobs->change_member(what);
  const auto was_live = state.calls->is_live(what.rank);
  state.calls->member_changed(what);
  if (is_over) {
    lose_host(self, what.rank);
    state.streams->lose_node(what.rank);
  }
  if (was_live && !state.calls->is_live(what.rank))
    state.collectives->node_lost(what.rank);
  if (!was_live && what.rank == 0)
    tell_resources(self);
  note_member(self, what, was_live);
  if (state.is_root() && state.calls->is_live(what.rank)
      && (!was_live || is_over))
    state.jobs->tell_sets(what.rank);
  arm(self);
  if (state.options.on_member)
    state.options.on_member(what);
}

void change_duty(self_pointer self, const mesh_duty_changed& what) {
  auto& state = self->state;
  const auto was_active = state.duty == mesh_duty::active && state.node;
  state.duty = what.now;
  tell_resources(self);
  if (was_active && what.now == mesh_duty::suspended)
    state.log(severity::warning,
              "out of contact with the root: " + what.reason);
  if (what.now == mesh_duty::fenced)
    state.share_rules->fence(what.reason);
  if (state.options.on_duty)
    state.options.on_duty(what);
}

// -- what processes of several nodes have with each other: the rules are in plain
// classes, which get their means here

namespace {

mesh_collectives::effects means_of_collectives(self_pointer self) {
  auto out = mesh_collectives::effects{};
  out.tell = [self](uint32_t rank, host_question what) {
    self->state.calls->tell(rank, std::move(what));
    arm(self);
  };
  out.locate = [self](const std::string& nspace) {
    locate(self, nspace, [self, nspace](const caf::error& why) {
      if (why)
        self->state.collectives->job_unknown(nspace, reason_of(why));
      else
        self->state.collectives->job_known(nspace);
    });
  };
  out.is_live = [self](uint32_t rank) {
    return self->state.calls->is_live(rank);
  };
  return out;
}

modex_desk::effects means_of_modex(self_pointer self) {
  auto out = modex_desk::effects{};
  out.ask = [self](uint32_t rank, direct_modex what,
                   std::chrono::nanoseconds limit,
                   modex_desk::completion then) {
    self->state.calls->call(rank, std::move(what),
                            reply_to<get_result>(std::move(then)), limit);
    arm(self);
  };
  out.locate = [self](const std::string& nspace,
                      std::function<void(const caf::error&)> then) {
    locate(self, nspace, std::move(then));
  };
  return out;
}

bool spans_jobs(const std::vector<proc_id>& procs) {
  return std::any_of(procs.begin(), procs.end(), [&](const proc_id& x) {
    return x.nspace != procs.front().nspace;
  });
}

/// How an operation changes who is connected; nothing if it does not.
std::optional<connection_changed>
connection_change(const host_collective& what) {
  // Questions about an operation are no operation.
  if (what.failure != status::success || !spans_jobs(what.procs))
    return std::nullopt;
  if (what.kind == collective_kind::fence
      && !flag(what.directives, disconnecting_fence))
    return std::nullopt;
  return connection_changed{what.procs, what.kind == collective_kind::connect};
}

/// Tells the root, which acts on it.
void tell_connection(self_pointer self, const connection_changed& what,
                     completion<ack> then) {
  ask(self, 0, what, reply_to<ack>([then](caf::expected<ack> x) {
        // A root that is gone needs to know nothing.
        if (!x && status_of(x.error()) == status::out_of_resource)
          then(std::move(x.error()));
        else
          then(ack{});
      }));
}

} // namespace

void start_exchange(self_pointer self) {
  auto& state = self->state;
  const auto rank = state.options.rank;
  state.collectives = std::make_unique<mesh_collectives>(
    rank, state.locations, means_of_collectives(self));
  state.modex =
    std::make_unique<modex_desk>(state.locations, means_of_modex(self));
  start_events(self);
}

void locate(self_pointer self, const std::string& nspace,
            std::function<void(const caf::error&)> then) {
  auto& waiting = self->state.locating[nspace];
  waiting.push_back(std::move(then));
  if (waiting.size() > 1)
    return;
  ask(self, 0, locate_job{nspace},
      reply_to<job_map>([self, nspace](caf::expected<job_map> map) {
        auto& state = self->state;
        if (map)
          state.locations.add(*map);
        auto node = state.locating.extract(nspace);
        if (node.empty())
          return;
        const auto why = map ? caf::error{} : map.error();
        for (const auto& then : node.mapped())
          then(why);
      }));
}

caf::result<host_collective_result> join_collective(self_pointer self,
                                                    host_collective& what) {
  // Members have left a group: no operation.
  if (what.failure != status::success && what.generation != 0
      && static_cast<uint32_t>(what.generation) == 0) {
    self->state.collectives->procs_left(what.generation, what.procs,
                                        what.reason);
    return host_collective_result{};
  }
  const auto change = connection_change(what);
  return answer_later<host_collective_result>(
    self, [&](completion<host_collective_result> done) {
      // Before anybody goes on: whoever fails then has failed all of them.
      if (change)
        done = [self, change = *change,
                done](caf::expected<host_collective_result> x) {
          if (!x) {
            done(std::move(x));
            return;
          }
          tell_connection(self, change,
                          [done, x = std::move(x)](caf::expected<ack> y) {
                            if (y)
                              done(x);
                            else
                              done(std::move(y.error()));
                          });
        };
      if (what.is_local)
        done(host_collective_result{});
      else
        self->state.collectives->join(std::move(what), std::move(done));
    });
}

caf::result<get_result> get_from_node(self_pointer self, direct_modex& what) {
  return answer_later<get_result>(self, [&](completion<get_result> done) {
    self->state.modex->get(std::move(what), std::move(done));
  });
}

void answer_modex(self_pointer self, direct_modex& what,
                  completion<get_result> done) {
  if (!self->state.server) {
    done(make_error(status::init, "the host has no server"));
    return;
  }
  // Whoever asks has not heard yet; the server would wait for the job to come.
  if (self->state.find_share(what.target.nspace) == nullptr) {
    done(make_error(status::not_found, "job " + what.target.nspace
                                         + " does not run here, or is over"));
    return;
  }
  self->request(self->state.server, caf::infinite, std::move(what))
    .then([done](get_result& result) { done(std::move(result)); },
          [done](caf::error& why) { done(std::move(why)); });
}

void note_gone(self_pointer self, const std::vector<proc_ended>& procs) {
  if (!procs.empty())
    self->state.collectives->procs_gone(procs);
}

} // namespace troupe::mesh_internals
