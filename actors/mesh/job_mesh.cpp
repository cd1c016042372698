#include "actors/mesh/job_mesh.hpp"

#include "actors/mesh/job_mesh_state.hpp"
#include "actors/mesh/partial_host.hpp"
#include "messages/attributes.hpp"
#include "messages/status.hpp"

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

namespace job_mesh_internals {

job_mesh::job_mesh(caf::event_based_actor* self, job_mesh_options options)
  : self(self), options(std::move(options)) {
  places.add(this->options.where.map);
}

void job_mesh::start() {
  start_calls();
  if (num_nodes() == 1) {
    members = live = {rank()};
    set_ready();
    return;
  }
  if (!options.offers.fence) {
    fail("the resource manager joins no nodes, so servers cannot find each"
         " other; it has to offer a fence");
    return;
  }
  auto seat = mesh_seat{};
  seat.mesh = mesh_name(nspace());
  seat.rank = rank();
  seat.name = mesh_node_name(options.where.map.shares[rank()].hostname);
  auto made = options.make_means(seat, caf::actor_cast<lane_owner_actor>(self));
  if (!made) {
    fail(reason_of(made.error()));
    return;
  }
  means = std::move(*made);
  self->link_to(means->networks);
  self->set_exit_handler([this](const caf::exit_msg& x) {
    if (x.source == means->networks.address() && !is_leaving)
      fail("the networks of this node: " + reason_of(x.reason));
    else
      self->quit(x.reason);
  });
  own.rank = seat.rank;
  own.name = seat.name;
  own.incarnation = options.node.membership.incarnation;
  own.certificate = means->certificate;
  call_later(defaults::mesh_network_wait, [this] {
    if (!knows_addresses && now == phase::apart)
      fail("this node has no network on which others could reach it");
  });
}

void job_mesh::take_addresses(networks_changed& x) {
  addresses = x;
  if (lane_owner) {
    self->send(lane_owner, std::move(x));
    return;
  }
  auto known = std::move(x.addresses);
  if (known.size() > max_greeting_addresses)
    known.resize(max_greeting_addresses);
  own.addresses = std::move(known);
  if (own.addresses.empty())
    return;
  knows_addresses = true;
  release_fences();
}

// -- greetings ---------------------------------------------------------------

caf::result<host_collective_result> job_mesh::fence(host_collective& call) {
  const auto is_whole =
    call.procs.size() == 1
    && call.procs.front() == proc_id{nspace(), rank_wildcard};
  if (!is_whole || has_greeted || now != phase::apart)
    return self->delegate(options.host, std::move(call));
  auto promise = self->make_response_promise<host_collective_result>();
  fences.push_back({std::move(call), answer<host_collective_result>{promise}});
  if (knows_addresses)
    release_fences();
  return promise;
}

void job_mesh::release_fences() {
  auto all = std::move(fences);
  fences.clear();
  for (auto& x : all)
    greet(std::move(x));
}

void job_mesh::greet(waiting_fence x) {
  if (now == phase::apart && !has_greeted) {
    has_greeted = true;
    add_greeting(x.call, nspace(), own);
  }
  // Without data to collect, a fence need not bring anything, nor even wait:
  // that of Slurm does not. It says nothing about who is there.
  const auto brings_all = flag(x.call.directives, attr::collect_data);
  auto reply =
    std::make_shared<answer<host_collective_result>>(std::move(x.reply));
  self->request(options.host, caf::infinite, std::move(x.call))
    .then(
      [this, reply, brings_all](host_collective_result& result) {
        auto others = take_greetings(result.data, options.log);
        reply->give(std::move(result));
        if (now != phase::apart)
          return;
        const auto is_other = [this](const auto& y) {
          return y.rank != rank();
        };
        if (brings_all || std::any_of(others.begin(), others.end(), is_other))
          meet(std::move(others));
        else
          has_greeted = false;
      },
      [this, reply](caf::error& err) {
        // Others may have our greeting; the next fence brings it again.
        if (now == phase::apart)
          has_greeted = false;
        reply->fail(std::move(err));
      });
}

/// Decides who takes part. All servers get the same greetings, so they come to
/// the same result.
void job_mesh::meet(std::vector<mesh_greeting> others) {
  auto known = std::map<uint32_t, mesh_greeting>{};
  for (auto& x : others) {
    if (x.rank == rank())
      continue;
    auto err = caf::error{};
    if (x.rank >= num_nodes())
      err = make_error(status::bad_param, "the job has no such node");
    else if (known.count(x.rank) > 0)
      err = make_error(status::bad_param, "that node has greeted already");
    else
      err = means->trust(x.rank, x.certificate);
    if (err)
      log(severity::error, "the greeting of node " + std::to_string(x.rank)
                             + " is ignored: " + reason_of(err));
    else
      known.emplace(x.rank, std::move(x));
  }
  if (known.empty())
    fail("no other server of the job has its mesh switched on");
  else if (rank() != 0 && known.count(0) == 0)
    fail("the server of the job's first node, "
         + options.where.map.shares[0].hostname
         + ", does not have its mesh switched on");
  else
    become_node(known);
}

void job_mesh::become_node(const std::map<uint32_t, mesh_greeting>& others) {
  now = phase::joining;
  members = {rank()};
  for (const auto& [rank, unused] : others)
    members.insert(rank);
  auto settings = options.node;
  settings.rank = rank();
  settings.membership.name = own.name;
  if (rank() == 0) {
    settings.membership.names.clear();
    // A greeting says what its certificate says.
    for (const auto& x : options.where.map.shares) {
      const auto i = others.find(x.node);
      settings.membership.names.push_back(i != others.end() ? i->second.name
                                          : x.node == rank()
                                            ? own.name
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
  call_later(defaults::mesh_meeting_wait, [this] {
    if (now != phase::joining)
      return;
    if (live.count(rank()) == 0 || live.count(0) == 0) {
      fail("the servers of the job do not reach each other");
      return;
    }
    auto missing = std::string{};
    for (const auto x : members)
      if (live.count(x) == 0)
        missing +=
          (missing.empty() ? "" : ", ") + options.where.map.shares[x].hostname;
    log(severity::warning, "goes on without " + missing);
    set_ready();
  });
}

// -- members -----------------------------------------------------------------

void job_mesh::change_member(const member_changed& x) {
  if (x.state == node_state::live)
    live.insert(x.rank);
  else
    live.erase(x.rank);
  calls->member_changed(x);
  if (x.state == node_state::live && now == phase::ready)
    tell_wanted(x.rank);
  if (x.state == node_state::lost || x.state == node_state::left) {
    if (x.state == node_state::lost)
      log(severity::info, "lost node " + x.name);
    collectives->node_lost(x.rank);
    lose_streams(x.rank);
    lose_host(x.rank);
    for (const auto proc : places.ranks_on(x.rank, nspace()))
      published.proc_ended({nspace(), proc});
  }
  if (now == phase::joining && live.size() >= members.size())
    set_ready();
  arm();
}

void job_mesh::change_duty(const mesh_duty_changed& x) {
  if (x.now != mesh_duty::fenced || is_leaving)
    return;
  // The job may be over at the root; what becomes of it is not up to us.
  fail("this node is not part of it any more: " + x.reason, severity::info);
  self->request(node, defaults::mesh_meeting_wait, leave_mesh{})
    .then([](ack) {}, [](const caf::error&) {});
}

void job_mesh::set_ready() {
  now = phase::ready;
  log(severity::info, "joins " + std::to_string(live.size()) + " of "
                        + std::to_string(num_nodes()) + " nodes");
  for (auto& x : std::exchange(waiting, {})) {
    waits.forget(x.id);
    x.go({});
  }
  arm();
}

void job_mesh::fail(std::string why, severity level) {
  now = phase::failed;
  trouble = std::move(why);
  log(level, trouble);
  release_fences();
  for (auto& x : std::exchange(waiting, {}))
    x.go(make_error(status::not_supported, trouble));
}

void job_mesh::when_ready(std::function<void(const caf::error&)> go) {
  if (now == phase::ready) {
    go({});
    return;
  }
  if (now == phase::failed) {
    go(make_error(status::not_supported, trouble));
    return;
  }
  if (waiting.size() >= defaults::mesh_waiting_requests) {
    go(make_error(status::out_of_resource,
                  "too many requests wait for the mesh of " + nspace()));
    return;
  }
  const auto id = next_waiting++;
  waiting.push_back({id, std::move(go)});
  call_later(defaults::mesh_request_wait, [this, id] {
    for (auto i = waiting.begin(); i != waiting.end(); ++i) {
      if (i->id != id)
        continue;
      auto go = std::move(i->go);
      waiting.erase(i);
      go(make_error(status::not_supported,
                    now == phase::apart
                      ? "the servers of " + nspace()
                          + " have not met: no fence of all its processes has"
                            " completed yet"
                      : "the servers of " + nspace()
                          + " have not reached each other yet"));
      return;
    }
  });
}

void job_mesh::leave() {
  if (std::exchange(is_leaving, true))
    return;
  if (now != phase::failed) {
    now = phase::failed;
    trouble = "the job is over";
    for (auto& x : std::exchange(waiting, {}))
      x.go(make_error(status::not_supported, trouble));
  }
  release_fences();
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

namespace {

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
    [x](member_message& what) {
      x->calls->take(std::move(what));
      x->arm();
    },
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
      x->arm();
    },
    [x](const close_group_log& what) {
      x->sequencer->close_log(what.group);
      x->arm();
    },
    // -- from the desk and its readers --
    [x](io_interest& what) { return x->want(what); },
    [x](uint32_t node, io_fragment& what) { return x->send(node, what); },
    [x](io_fetch& what) { return x->fetch(what); },
    [x](io_input& what) { return x->give(what); },
    [x](const client_finalized& what) { x->end_process(what.who.proc); },
    [x](const client_lost& what) { x->end_process(what.who.proc); },
    [x](const deregister_nspace&) { x->leave(); },
    [x](deadline due) { x->waits.fire(due.id); },
  };
}

} // namespace

} // namespace job_mesh_internals

host_actor spawn_job_mesh(caf::actor_system& sys, job_mesh_options options) {
  return spawn_partial_host(
    sys, [options = std::move(options)](caf::event_based_actor* self) {
      auto x = std::make_shared<job_mesh_internals::job_mesh>(self, options);
      x->start();
      return job_mesh_internals::behavior(x);
    });
}

} // namespace troupe
