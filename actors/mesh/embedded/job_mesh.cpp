#include "actors/mesh/embedded/job_mesh.hpp"

#include "actors/data/job_locations.hpp"
#include "actors/events/range_filter.hpp"
#include "actors/mesh/embedded/defaults.hpp"
#include "actors/mesh/embedded/job_meeting.hpp"
#include "actors/mesh/embedded/job_mesh_streams.hpp"
#include "actors/mesh/exchange/event_routes.hpp"
#include "actors/mesh/exchange/mesh_collectives.hpp"
#include "actors/mesh/exchange/publish_desk.hpp"
#include "actors/mesh/partial_host.hpp"
#include "base/reminders.hpp"
#include "base/timeout.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "messages/status.hpp"

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

namespace troupe {

namespace {

struct job_mesh {
  job_mesh(caf::event_based_actor* self, job_mesh_options options);

  const std::string& nspace() const {
    return options.where.map.nspace;
  }

  uint32_t rank() const {
    return options.where.own;
  }

  const std::set<uint32_t>& live() const {
    return meeting.live();
  }

  size_t num_nodes() const {
    return options.where.map.shares.size();
  }

  bool is_ready() const {
    return meeting.now() == job_meeting::phase::ready;
  }

  // -- meeting --

  void start();
  job_meeting::effects meeting_effects();
  void take_addresses(networks_changed& x);
  caf::result<host_collective_result> fence(host_collective& call);
  void become_node(const job_meeting::greetings& others);
  void change_member(const member_changed& x);
  void change_duty(const mesh_duty_changed& x);
  void leave();

  // -- requests --

  void start_calls();
  void call_later(std::chrono::nanoseconds delay, std::function<void()> then);

  /// Answers the request at hand once the servers have met.
  /// @param go Gets what takes the answer, unless they will not meet.
  template <class T, class F>
  caf::result<T> when_ready(F go);

  /// Whether a process runs on that node.
  bool is_on(uint32_t node, const proc_id& proc) const;

  template <class Result, class Request>
  caf::result<Result> ask_for(const requester& who, Request& request);

  caf::result<ack> notify(const requester& who, notify_request& request);
  caf::result<host_collective_result> join(host_collective& call);
  caf::result<get_result> fetch(direct_modex& request);
  void end_process(const proc_id& proc);

  // -- groups --

  void start_groups();
  caf::result<proc_places> locate(locate_procs& request);
  caf::result<ack> order(order_group_entry& request);
  bool may_say(uint32_t node, const submit_event& what) const;
  void lose_host(uint32_t node);

  caf::event_based_actor* self;
  job_mesh_options options;
  job_locations places;
  std::optional<job_mesh_means> means;
  job_meeting meeting;
  networks_changed addresses;

  /// Name of this node in the mesh.
  std::string name;

  /// The NODE as owner of lanes, once it is there.
  lane_owner_actor lane_owner;
  node_actor node;

  std::unique_ptr<host_calls> calls;
  std::unique_ptr<mesh_collectives> collectives;

  /// The logs of groups, and the nodes that are lost to them.
  std::unique_ptr<event_sequencer> sequencer;
  std::set<uint32_t> lost;

  /// How many operations there were, by kind and participants.
  std::map<std::pair<collective_kind, std::vector<proc_id>>, uint64_t>
    generations;

  /// What processes of the job have published, at the root.
  publish_desk published{defaults::posted_bytes_per_process,
                         defaults::waiting_lookups};

  job_mesh_streams streams;
  reminders waits;
  bool is_leaving = false;
};

job_mesh::job_mesh(caf::event_based_actor* self, job_mesh_options given)
  : self(self), options(std::move(given)),
    meeting(options.where, meeting_effects()),
    streams(
      self, {options.desk, options.first_node}, options.where, places, meeting,
      [this](uint32_t to, host_question what, mesh_calls::completion then) {
        calls->ask(to, std::move(what), std::move(then));
      }) {
  places.add(options.where.map);
}

// -- meeting --

job_meeting::effects job_mesh::meeting_effects() {
  auto out = job_meeting::effects{};
  out.after = [this](std::chrono::nanoseconds delay,
                     std::function<void()> then) {
    call_later(delay, std::move(then));
  };
  out.trust = [this](uint32_t rank, std::string_view certificate) {
    return means->trust(rank, certificate);
  };
  out.fence = [this](host_collective call, job_meeting::fence_handler then) {
    ask<host_collective_result>(self, options.host, std::move(then),
                                std::move(call));
  };
  out.join = [this](const job_meeting::greetings& others) {
    become_node(others);
  };
  out.log = options.log;
  return out;
}

void job_mesh::start() {
  start_calls();
  if (num_nodes() == 1) {
    meeting.stay_alone();
    return;
  }
  if (!options.offers.fence) {
    meeting.fail(
      "the resource manager joins no nodes, so servers cannot find each"
      " other; it has to offer a fence");
    return;
  }
  auto seat = mesh_seat{};
  seat.mesh = mesh_name(nspace());
  seat.rank = rank();
  seat.name = mesh_node_name(options.where.map.shares[rank()].hostname);
  auto made = options.make_means(seat, caf::actor_cast<lane_owner_actor>(self));
  if (!made) {
    meeting.fail(reason_of(made.error()));
    return;
  }
  means = std::move(*made);
  self->link_to(means->networks);
  self->set_exit_handler([this](const caf::exit_msg& x) {
    if (x.source == means->networks.address() && !is_leaving)
      meeting.fail("the networks of this node: " + reason_of(x.reason));
    else
      self->quit(x.reason);
  });
  auto own = mesh_greeting{};
  own.rank = seat.rank;
  own.name = seat.name;
  own.incarnation = options.node.membership.incarnation;
  own.certificate = means->certificate;
  name = own.name;
  meeting.begin(std::move(own));
}

void job_mesh::take_addresses(networks_changed& x) {
  addresses = x;
  if (lane_owner)
    self->send(lane_owner, std::move(x));
  else
    meeting.set_addresses(std::move(x.addresses));
}

caf::result<host_collective_result> job_mesh::fence(host_collective& call) {
  if (!meeting.wants(call))
    return self->delegate(options.host, std::move(call));
  return answer_later<host_collective_result>(
    self, [&](completion<host_collective_result> done) {
      meeting.fence(std::move(call), std::move(done));
    });
}

void job_mesh::become_node(const job_meeting::greetings& others) {
  auto settings = options.node;
  settings.rank = rank();
  settings.membership.name = name;
  if (rank() == 0) {
    settings.membership.names.clear();
    // A greeting says what its certificate says.
    for (const auto& x : options.where.map.shares) {
      const auto i = others.find(x.node);
      settings.membership.names.push_back(i != others.end() ? i->second.name
                                          : x.node == rank()
                                            ? name
                                            : mesh_node_name(x.hostname));
    }
  } else {
    settings.root_name = others.at(0).name;
    settings.root_addresses = others.at(0).addresses;
  }
  if (!settings.log)
    settings.log = options.log;
  settings.make_networks = [this](const lane_owner_actor& owner) {
    lane_owner = owner;
    self->send(owner, addresses);
    return means->networks;
  };
  node = spawn_node(self->home_system(), std::move(settings));
  self->link_to(node);
  self->send(node, caf::actor_cast<mesh_user_actor>(self));
}

void job_mesh::change_member(const member_changed& x) {
  meeting.note_live(x.rank, x.state == node_state::live);
  calls->change_member(x);
  if (x.state == node_state::live && is_ready())
    streams.tell_wanted(x.rank);
  if (x.state == node_state::lost || x.state == node_state::left) {
    if (x.state == node_state::lost && options.log)
      options.log(severity::info,
                  "mesh of " + nspace() + ": lost node " + x.name);
    collectives->node_lost(x.rank);
    streams.lose_node(x.rank);
    lose_host(x.rank);
    for (const auto proc : places.ranks_on(x.rank, nspace()))
      published.proc_ended({nspace(), proc});
  }
  meeting.check_complete();
  calls->arm();
}

void job_mesh::change_duty(const mesh_duty_changed& x) {
  if (x.now != mesh_duty::fenced || is_leaving)
    return;
  // The job may be over at the root; what becomes of it is not up to us.
  meeting.fail("this node is not part of it any more: " + x.reason,
               severity::info);
  self->request(node, defaults::mesh_meeting_wait, leave_mesh{})
    .then([](ack) {}, [](const caf::error&) {});
}

void job_mesh::leave() {
  if (std::exchange(is_leaving, true))
    return;
  meeting.leave();
  if (!node) {
    self->quit(caf::exit_reason::user_shutdown);
    return;
  }
  self->request(node, defaults::mesh_meeting_wait, leave_mesh{})
    .then([this](ack) { self->quit(caf::exit_reason::user_shutdown); },
          [this](const caf::error&) {
            self->quit(caf::exit_reason::user_shutdown);
          });
}

// -- what the servers ask each other --

/// The root of the mesh keeps what is published.
constexpr auto root = host_calls::root;

/// Carries out what a member, or this node itself, asks.
struct executor {
  job_mesh& mesh;
  const mesh_calls::member& from;
  const mesh_calls::answerer& reply;

  void refuse(status code, std::string why) {
    reply(refusal(make_error(code, std::move(why))));
  }

  /// A server speaks for its own processes only. Source: guarantees, X41.
  bool may_speak_for(const proc_id& proc) {
    if (mesh.is_on(from.rank, proc))
      return true;
    refuse(status::no_permissions,
           to_string(proc) + " is not a process of that node");
    return false;
  }

  void answer_with(status outcome) {
    if (outcome == status::success)
      reply(ack{});
    else
      refuse(outcome, "");
  }

  void operator()(ask_root& x) {
    if (!may_speak_for(x.who.proc))
      return;
    if (mesh.rank() != root)
      refuse(status::bad_param, "only the root can be asked for that");
    else if (auto* publish = std::get_if<publish_request>(&x.what))
      answer_with(mesh.published.publish(x.who, *publish));
    else if (auto* look_up = std::get_if<lookup_request>(&x.what))
      mesh.published.look_up(x.who, std::move(*look_up),
                             to_member<lookup_result>(reply),
                             [&x = mesh](auto delay, auto then) {
                               x.call_later(delay, std::move(then));
                             });
    else if (auto* unpublish = std::get_if<unpublish_request>(&x.what))
      answer_with(mesh.published.unpublish(x.who, *unpublish));
    else
      refuse(status::not_supported, "that is for the resource manager");
  }

  void operator()(collective_part& x) {
    mesh.collectives->take(from.rank, std::move(x));
    reply(ack{});
  }

  void operator()(collective_outcome& x) {
    mesh.collectives->take(from.rank, std::move(x));
    reply(ack{});
  }

  void operator()(direct_modex& x) {
    ask<get_result>(mesh.self, mesh.options.server,
                    to_member<get_result>(reply), std::move(x));
  }

  void operator()(deliver_event& x) {
    if (!may_speak_for(x.what.source))
      return;
    caf::anon_send(mesh.options.events, std::move(x));
    reply(ack{});
  }

  void operator()(procs_gone& x) {
    for (const auto& gone : x.procs)
      if (!may_speak_for(gone.proc))
        return;
    mesh.collectives->procs_gone(x.procs);
    for (const auto& gone : x.procs)
      mesh.published.proc_ended(gone.proc);
    reply(ack{});
  }

  void operator()(submit_event& x) {
    const auto* entry = std::get_if<group_entry>(&x.what);
    if (entry == nullptr)
      refuse(status::not_supported, "that is for the resource manager");
    else if (!mesh.may_say(from.rank, x))
      refuse(status::no_permissions, "whoever says that of group "
                                       + entry->group.id
                                       + " is not a process of that node");
    else
      mesh.sequencer->take(from.rank, from.incarnation, std::move(x), reply);
  }

  void operator()(order_events& x) {
    mesh.sequencer->take(from.rank, std::move(x), reply);
  }

  void operator()(collect_events& x) {
    mesh.sequencer->take(from.rank, x, reply);
  }

  void operator()(io_interest& x) {
    mesh.streams.take(from.rank, x, reply);
  }

  void operator()(io_fragment& x) {
    if (may_speak_for(x.stream.source))
      mesh.streams.take(from.rank, x, reply);
  }

  void operator()(io_fetch& x) {
    mesh.streams.take(from.rank, x, reply);
  }

  void operator()(io_input& x) {
    mesh.streams.take(from.rank, x, reply);
  }

  template <class Other>
  void operator()(Other&) {
    refuse(status::not_supported, "that is for the resource manager");
  }
};

void job_mesh::start_calls() {
  auto out = mesh_calls::effects{};
  out.now = [this] { return self->clock().now().time_since_epoch(); };
  out.send = [this](send_to_member what) {
    if (node)
      self->send(node, std::move(what));
  };
  out.execute = [this](const mesh_calls::member& from, host_question& what,
                       const mesh_calls::answerer& reply) {
    std::visit(executor{*this, from, reply}, what);
  };
  calls = std::make_unique<host_calls>(
    mesh_calls::member{rank(), options.node.membership.incarnation},
    std::move(out), places,
    [this](auto delay, auto then) { call_later(delay, std::move(then)); });
  auto tells = mesh_collectives::effects{};
  tells.tell = [this](uint32_t to, host_question what) {
    calls->tell(to, std::move(what));
  };
  tells.locate = [this](const std::string& unknown) {
    call_later(std::chrono::nanoseconds{0}, [this, unknown] {
      collectives->job_unknown(unknown, "another job of the resource manager");
    });
  };
  tells.is_live = [this](uint32_t x) { return live().count(x) > 0; };
  collectives =
    std::make_unique<mesh_collectives>(rank(), places, std::move(tells));
  start_groups();
}

bool job_mesh::is_on(uint32_t on, const proc_id& proc) const {
  const auto place = places.node_of(proc);
  return place && *place == on;
}

template <class T, class F>
caf::result<T> job_mesh::when_ready(F go) {
  return answer_later<T>(self, [&](completion<T> done) {
    meeting.when_ready([done = std::move(done),
                        go = std::move(go)](const caf::error& why) mutable {
      if (why)
        done(why);
      else
        go(std::move(done));
    });
  });
}

template <class Result, class Request>
caf::result<Result> job_mesh::ask_for(const requester& who, Request& request) {
  return when_ready<Result>(
    [this, who, request = std::move(request)](completion<Result> done) mutable {
      calls->ask_root_for(who, std::move(request), std::move(done));
    });
}

/// Tells the nodes that have processes for which it is, and no others.
caf::result<ack> job_mesh::notify(const requester& who,
                                  notify_request& request) {
  auto what =
    event{request.code, who.proc, request.range, std::move(request.infos)};
  return when_ready<ack>(
    [this, what = std::move(what)](const completion<ack>& done) {
      const auto* custom = find(what.infos, attr::event_custom_range);
      const auto targets =
        custom != nullptr ? places.nodes_of(procs_of(*custom))
                          : std::vector<uint32_t>{live().begin(), live().end()};
      for (const auto to : targets)
        if (to != rank() && live().count(to) > 0)
          calls->tell(to, deliver_event{what, {}});
      done(ack{});
    });
}

caf::result<host_collective_result> job_mesh::join(host_collective& call) {
  for (const auto& proc : call.procs)
    if (proc.nspace != nspace())
      return make_error(status::not_supported, "the mesh of " + nspace()
                                                 + " does not reach "
                                                 + proc.nspace);
  if (call.generation == 0)
    call.generation = ++generations[{call.kind, call.procs}];
  return when_ready<host_collective_result>(
    [this,
     call = std::move(call)](completion<host_collective_result> done) mutable {
      collectives->join(std::move(call), std::move(done));
    });
}

caf::result<get_result> job_mesh::fetch(direct_modex& request) {
  const auto place = places.node_of(request.target);
  if (!place)
    return make_error(status::not_found,
                      "no process " + to_string(request.target));
  return when_ready<get_result>(
    [this, to = *place,
     request = std::move(request)](completion<get_result> done) mutable {
      calls->ask_for<get_result>(to, std::move(request), std::move(done));
    });
}

void job_mesh::end_process(const proc_id& proc) {
  if (!is_ready() || proc.nspace != nspace())
    return;
  auto gone = procs_gone{};
  gone.procs.push_back({proc, proc_state::terminated});
  for (const auto to : live())
    calls->tell(to, gone);
}

// -- time --

void job_mesh::call_later(std::chrono::nanoseconds delay,
                          std::function<void()> then) {
  const auto id = waits.add(std::move(then));
  self->delayed_send(self, delay, deadline{id});
}

// -- groups --

void job_mesh::start_groups() {
  auto out = event_sequencer::effects{};
  out.ask = [this](uint32_t to, host_question what,
                   event_stream::reply_handler then) {
    calls->ask(to, std::move(what), std::move(then));
  };
  out.deliver = [this](const std::string& name, ordered_content what,
                       const std::function<void()>& then) {
    auto* entry = std::get_if<group_entry>(&what);
    if (entry == nullptr || !options.server) {
      then();
      return;
    }
    if (options.keeper)
      self->send(options.keeper, nspace(), name);
    self
      ->request(
        options.server, caf::infinite,
        group_entry_ordered{std::move(*entry), sequencer->hosts_of_log(name)})
      .then([then](ack) { then(); }, [then](const caf::error&) { then(); });
  };
  out.locate = [](const std::string& unknown,
                  const std::function<void(const caf::error&)>& then) {
    then(make_error(status::not_found, "no job " + unknown));
  };
  out.live = [this] {
    return std::vector<uint32_t>{live().begin(), live().end()};
  };
  out.after = [this](std::chrono::nanoseconds delay,
                     std::function<void()> then) {
    call_later(delay, std::move(then));
  };
  sequencer = std::make_unique<event_sequencer>(
    rank(), options.node.membership.incarnation, places, std::move(out),
    defaults::tree_radix);
}

bool job_mesh::may_say(uint32_t node, const submit_event& what) const {
  return speaks_for_its_own(
    what, node, places,
    [this](const std::vector<event_origin>& nodes, const proc_id& proc) {
      const auto place = places.node_of(proc);
      return place && is_among(nodes, *place);
    });
}

void job_mesh::lose_host(uint32_t node) {
  lost.insert(node);
  places.node_lost(node);
  sequencer->node_lost(node);
  if (options.server)
    self->send(options.server, host_node_lost{node});
}

caf::result<proc_places> job_mesh::locate(locate_procs& request) {
  for (const auto& proc : request.procs)
    if (proc.nspace != nspace())
      return make_error(status::not_supported, "the mesh of " + nspace()
                                                 + " does not reach "
                                                 + proc.nspace);
  return when_ready<proc_places>([this, procs = std::move(request.procs)](
                                   const completion<proc_places>& done) {
    auto result = proc_places{{}, rank()};
    const auto add = [&](const proc_id& proc) {
      const auto node = places.node_of(proc);
      if (!node)
        return make_error(status::not_found, "no process " + to_string(proc));
      if (meeting.members().count(*node) == 0)
        return make_error(
          status::not_supported,
          "the server of " + to_string(proc)
            + " does not have its mesh switched on; set TROUPE_MESH=1 for it");
      result.procs.push_back(
        {proc, lost.count(*node) > 0 ? std::nullopt : node});
      return caf::error{};
    };
    for (const auto& proc : procs) {
      const auto is_all = proc.rank == rank_wildcard;
      const auto first = is_all ? 0 : proc.rank;
      const auto count = is_all ? places.size_of(nspace()) : 1;
      for (uint32_t i = 0; i < count; ++i)
        if (auto why = add({proc.nspace, first + i})) {
          done(std::move(why));
          return;
        }
    }
    done(std::move(result));
  });
}

caf::result<ack> job_mesh::order(order_group_entry& request) {
  return when_ready<ack>(
    [this, request = std::move(request)](completion<ack> done) mutable {
      sequencer->submit(std::move(request), std::move(done));
      calls->arm();
    });
}

// -- everything --

caf::message_handler behavior(const std::shared_ptr<job_mesh>& x) {
  return {
    // -- from its networks, until the NODE owns their lanes --
    [x](lane_opened& what) {
      if (x->lane_owner)
        x->self->send(x->lane_owner, std::move(what));
    },
    [x](lane_closed& what) {
      if (x->lane_owner)
        x->self->send(x->lane_owner, std::move(what));
    },
    [x](lane_failed& what) {
      if (x->lane_owner)
        x->self->send(x->lane_owner, std::move(what));
    },
    [x](networks_changed& what) { x->take_addresses(what); },
    // -- from the NODE --
    [x](member_message& what) { x->calls->take(std::move(what)); },
    [x](const member_changed& what) { x->change_member(what); },
    [](const member_fenced&) {
      // The resource manager knows what runs there.
    },
    [x](const mesh_duty_changed& what) { x->change_duty(what); },
    // -- from the server --
    [x](host_collective& call) {
      return call.kind == collective_kind::fence && x->options.offers.fence
               ? x->fence(call)
               : x->join(call);
    },
    [x](direct_modex& request) { return x->fetch(request); },
    [x](const requester& who, publish_request& request) {
      return x->ask_for<ack>(who, request);
    },
    [x](const requester& who, lookup_request& request) {
      return x->ask_for<lookup_result>(who, request);
    },
    [x](const requester& who, unpublish_request& request) {
      return x->ask_for<ack>(who, request);
    },
    [x](const requester& who, notify_request& request) {
      return x->notify(who, request);
    },
    [](const requester&, const register_events_request&) { return ack{}; },
    [x](locate_procs& request) { return x->locate(request); },
    [x](order_group_entry& request) { return x->order(request); },
    [x](const extend_group_log& what) {
      x->sequencer->extend(what.group, what.hosts);
      x->calls->arm();
    },
    [x](const close_group_log& what) {
      x->sequencer->close_log(what.group);
      x->calls->arm();
    },
    // -- from the desk and its readers --
    [x](io_interest& what) { return x->streams.want(what); },
    [x](uint32_t node, io_fragment& what) {
      return x->streams.send(node, what);
    },
    [x](io_fetch& what) { return x->streams.fetch(what); },
    [x](io_input& what) { return x->streams.give(what); },
    [x](const client_finalized& what) { x->end_process(what.who.proc); },
    [x](const client_lost& what) { x->end_process(what.who.proc); },
    [x](const deregister_nspace&) { x->leave(); },
    [x](deadline due) {
      x->waits.fire(due.id);
      // What waited may have answered members.
      if (x->calls)
        x->calls->arm();
    },
  };
}

} // namespace

host_actor spawn_job_mesh(caf::actor_system& sys, job_mesh_options options) {
  return spawn_partial_host(
    sys, [options = std::move(options)](caf::event_based_actor* self) {
      auto x = std::make_shared<job_mesh>(self, options);
      x->start();
      return behavior(x);
    });
}

} // namespace troupe
