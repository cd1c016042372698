#include "actors/events/range_filter.hpp"
#include "actors/mesh/job_mesh_state.hpp"
#include "actors/timeout.hpp"
#include "messages/attributes.hpp"
#include "messages/status.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

// What the servers of a job ask each other.

namespace troupe::job_mesh_internals {

namespace {

/// The root of the mesh keeps what is published.
constexpr auto root = uint32_t{0};

template <class T>
completion<T> to_member(const mesh_calls::answerer& reply) {
  return [reply](caf::expected<T> x) {
    if (x)
      reply(std::move(*x));
    else
      reply(refusal(x.error()));
  };
}

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
    auto done = to_member<get_result>(reply);
    mesh.self->request(mesh.options.server, caf::infinite, std::move(x))
      .then([done](get_result& y) { done(std::move(y)); },
            [done](caf::error& err) { done(std::move(err)); });
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
    else if (!mesh.may_say(from.rank, *entry))
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
    mesh.take(from.rank, x, reply);
  }

  void operator()(io_fragment& x) {
    if (may_speak_for(x.stream.source))
      mesh.take(from.rank, x, reply);
  }

  void operator()(io_fetch& x) {
    mesh.take(from.rank, x, reply);
  }

  void operator()(io_input& x) {
    mesh.take(from.rank, x, reply);
  }

  template <class Other>
  void operator()(Other&) {
    refuse(status::not_supported, "that is for the resource manager");
  }
};

} // namespace

void job_mesh::start_calls() {
  auto out = mesh_calls::effects{};
  out.now = [this] { return self->clock().now().time_since_epoch(); };
  out.send = [this](send_to_member what) {
    if (node)
      self->send(node, std::move(what));
  };
  out.execute = [this](const mesh_calls::member& from, host_question& what,
                       const mesh_calls::answerer& reply) {
    execute(from, what, reply);
  };
  calls = std::make_unique<mesh_calls>(
    mesh_calls::member{rank(), options.node.membership.incarnation},
    std::move(out));
  auto tells = mesh_collectives::effects{};
  tells.tell = [this](uint32_t to, host_question what) {
    calls->tell(to, std::move(what));
  };
  tells.locate = [this](const std::string& unknown) {
    call_later(std::chrono::nanoseconds{0}, [this, unknown] {
      collectives->job_unknown(unknown, "another job of the resource manager");
    });
  };
  tells.is_live = [this](uint32_t x) { return live.count(x) > 0; };
  collectives =
    std::make_unique<mesh_collectives>(rank(), places, std::move(tells));
  start_groups();
}

void job_mesh::ask(uint32_t to, host_question what,
                   mesh_calls::completion then) {
  calls->call(to, std::move(what), std::move(then));
  arm();
}

void job_mesh::execute(const mesh_calls::member& from, host_question& what,
                       const mesh_calls::answerer& reply) {
  std::visit(executor{*this, from, reply}, what);
}

bool job_mesh::is_on(uint32_t on, const proc_id& proc) const {
  const auto place = places.node_of(proc);
  return place && *place == on;
}

template <class Result, class Request>
caf::result<Result> job_mesh::ask_for(const requester& who, Request& request) {
  auto promise = self->make_response_promise<Result>();
  auto reply = std::make_shared<answer<Result>>(promise);
  when_ready(
    [this, reply, who, request = std::move(request)](const caf::error& err) {
      if (err) {
        reply->fail(err);
        return;
      }
      ask(root, ask_root{who, request}, [reply](caf::expected<host_reply> x) {
        auto result = reply_as<Result>(std::move(x));
        if (result)
          reply->give(std::move(*result));
        else
          reply->fail(std::move(result.error()));
      });
    });
  return promise;
}

template caf::result<ack> job_mesh::ask_for(const requester&, publish_request&);
template caf::result<lookup_result> job_mesh::ask_for(const requester&,
                                                      lookup_request&);
template caf::result<ack> job_mesh::ask_for(const requester&,
                                            unpublish_request&);

/// Tells the nodes that have processes for which it is, and no others.
caf::result<ack> job_mesh::notify(const requester& who,
                                  notify_request& request) {
  auto promise = self->make_response_promise<ack>();
  auto reply = std::make_shared<answer<ack>>(promise);
  auto what =
    event{request.code, who.proc, request.range, std::move(request.infos)};
  when_ready([this, reply, what = std::move(what)](const caf::error& err) {
    if (err) {
      reply->fail(err);
      return;
    }
    const auto* custom = find(what.infos, attr::event_custom_range);
    const auto targets = custom != nullptr
                           ? places.nodes_of(procs_of(*custom))
                           : std::vector<uint32_t>{live.begin(), live.end()};
    for (const auto to : targets)
      if (to != rank() && live.count(to) > 0)
        calls->tell(to, deliver_event{what, {}});
    arm();
    reply->give({});
  });
  return promise;
}

caf::result<host_collective_result> job_mesh::join(host_collective& call) {
  for (const auto& proc : call.procs)
    if (proc.nspace != nspace())
      return make_error(status::not_supported, "the mesh of " + nspace()
                                                 + " does not reach "
                                                 + proc.nspace);
  auto promise = self->make_response_promise<host_collective_result>();
  auto reply = std::make_shared<answer<host_collective_result>>(promise);
  if (call.generation == 0)
    call.generation = ++generations[{call.kind, call.procs}];
  when_ready([this, reply, call = std::move(call)](const caf::error& err) {
    if (err) {
      reply->fail(err);
      return;
    }
    collectives->join(call, [reply](caf::expected<host_collective_result> x) {
      if (x)
        reply->give(std::move(*x));
      else
        reply->fail(std::move(x.error()));
    });
    arm();
  });
  return promise;
}

caf::result<get_result> job_mesh::fetch(direct_modex& request) {
  const auto place = places.node_of(request.target);
  if (!place)
    return make_error(status::not_found,
                      "no process " + to_string(request.target));
  auto promise = self->make_response_promise<get_result>();
  auto reply = std::make_shared<answer<get_result>>(promise);
  when_ready([this, reply, to = *place,
              request = std::move(request)](const caf::error& err) {
    if (err) {
      reply->fail(err);
      return;
    }
    ask(to, request, [reply](caf::expected<host_reply> x) {
      auto result = reply_as<get_result>(std::move(x));
      if (result)
        reply->give(std::move(*result));
      else
        reply->fail(std::move(result.error()));
    });
  });
  return promise;
}

void job_mesh::end_process(const proc_id& proc) {
  if (now != phase::ready || proc.nspace != nspace())
    return;
  auto gone = procs_gone{};
  gone.procs.push_back({proc, proc_state::terminated});
  for (const auto to : live)
    calls->tell(to, gone);
  arm();
}

// -- time --------------------------------------------------------------------

void job_mesh::call_later(std::chrono::nanoseconds delay,
                          std::function<void()> then) {
  const auto id = waits.add(std::move(then));
  self->delayed_send(self, delay, deadline{id});
}

void job_mesh::arm() {
  const auto due = calls->next_due();
  if (!due || (next_tick && *next_tick <= *due))
    return;
  next_tick = due;
  const auto delay = *due - self->clock().now().time_since_epoch();
  call_later(std::max(delay, mesh_calls::time{0}), [this, due] {
    if (next_tick == due)
      next_tick.reset();
    calls->tick();
    arm();
  });
}

} // namespace troupe::job_mesh_internals
