#include "actors/client.hpp"

#include "actors/answer.hpp"
#include "actors/events/runtime_codes.hpp"
#include "actors/groups/group_keys.hpp"
#include "actors/groups/group_names.hpp"
#include "actors/groups/group_places.hpp"
#include "actors/io/input_queue.hpp"
#include "config/defaults.hpp"
#include "messages/event.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <iterator>

namespace troupe {

namespace {

struct client_state {
  static inline const char* name = "client";

  requester who;
  server_actor server;
  event_cache_actor events;
  host_actor host;
  connection_actor connection;
  monitor_desk_actor monitors;

  /// Groups that the process may name.
  group_names groups{};

  /// Input that is too much for one piece, and what came after it.
  std::shared_ptr<input_queue> input{};

  /// A beat, as all of them are.
  caf::message beat;
};

TROUPE_SELF_POINTER(client_actor, client_state);

/// A handler that passes its request to another actor, which answers it.
template <class Result, class Request, class Handle>
auto pass_to(self_pointer self, Handle client_state::*receiver) {
  return [self, receiver](Request& request) -> caf::result<Result> {
    return self->delegate(self->state.*receiver, self->state.who,
                          std::move(request));
  };
}

/// Puts members in the place of groups that a request names.
template <class Request>
caf::error name_members(self_pointer self, Request& request) {
  const auto& groups = self->state.groups;
  return groups.empty() ? caf::error{} : spell_out(groups, request);
}

/// The same for a request that may name groups.
/// Source: RFC0033, Description.
template <class Result, class Request, class Handle>
auto name_to(self_pointer self, Handle client_state::*receiver) {
  return [self, receiver](Request& request) -> caf::result<Result> {
    if (auto why = name_members(self, request))
      return why;
    return self->delegate(self->state.*receiver, self->state.who,
                          std::move(request));
  };
}

/// Passes a request only if the user that the peer wrote is the real one.
template <class Result, class Request>
auto pass_with_user(self_pointer self) {
  return [self](Request& request) -> caf::result<Result> {
    const auto& who = self->state.who;
    if (request.uid != who.creds.uid)
      return make_error(status::no_permissions,
                        to_string(who.proc) + " writes user "
                          + std::to_string(request.uid) + " but is "
                          + std::to_string(who.creds.uid));
    if (auto why = name_members(self, request))
      return why;
    return self->delegate(self->state.host, who, std::move(request));
  };
}

/// Answers under the name that was asked for as well: clients that do not know
/// groups look for the value there.
void add_alias(get_result& to, const proc_id& member, const proc_id& asked) {
  auto copies = std::vector<proc_data>{};
  for (const auto& x : to.blocks)
    if (x.proc == member)
      copies.push_back({asked, x.entries});
  std::move(copies.begin(), copies.end(), std::back_inserter(to.blocks));
}

caf::result<get_result> get(self_pointer self, get_request& request) {
  auto& state = self->state;
  if (state.groups.empty())
    return self->delegate(state.server, state.who, std::move(request));
  auto asked = request.target;
  if (auto why = spell_out(state.groups, request))
    return why;
  if (request.target == asked)
    return self->delegate(state.server, state.who, std::move(request));
  auto owed = std::make_shared<answer<get_result>>(
    self->make_response_promise<get_result>());
  auto promise = owed->promise();
  auto member = request.target;
  self->request(state.server, caf::infinite, state.who, std::move(request))
    .then(
      [owed, member = std::move(member),
       asked = std::move(asked)](get_result& found) {
        add_alias(found, member, asked);
        owed->give(std::move(found));
      },
      [owed](caf::error& why) { owed->fail(std::move(why)); });
  return promise;
}

/// Asks the server for the peers and nodes of namespaces.
std::shared_ptr<group_places> places_of(self_pointer self,
                                        const std::vector<proc_id>& members) {
  const auto ask = [self](auto request, auto empty, auto then) {
    self
      ->request(self->state.server, caf::infinite, self->state.who,
                std::move(request))
      .then([then](decltype(empty)& found) { then(found); },
            [then, empty](const caf::error&) { then(empty); });
  };
  auto questions = group_places::questions{};
  questions.peers_on = [ask](const resolve_peers_request& request, auto then) {
    ask(request, resolve_peers_result{},
        [then](const resolve_peers_result& x) { then(x.procs); });
  };
  questions.nodes_of = [ask](const resolve_nodes_request& request, auto then) {
    ask(request, resolve_nodes_result{},
        [then](const resolve_nodes_result& x) { then(x.nodes); });
  };
  return std::make_shared<group_places>(members, std::move(questions));
}

caf::result<resolve_peers_result> peers(self_pointer self,
                                        resolve_peers_request& request) {
  auto& state = self->state;
  const auto* members =
    request.nspace ? state.groups.find(*request.nspace) : nullptr;
  if (members == nullptr)
    return self->delegate(state.server, state.who, std::move(request));
  auto owed = std::make_shared<answer<resolve_peers_result>>(
    self->make_response_promise<resolve_peers_result>());
  places_of(self, *members)
    ->find_peers(request.node, [owed](std::vector<proc_id> found) {
      owed->give({std::move(found)});
    });
  return owed->promise();
}

caf::result<resolve_nodes_result> nodes(self_pointer self,
                                        resolve_nodes_request& request) {
  auto& state = self->state;
  const auto* members =
    request.nspace ? state.groups.find(*request.nspace) : nullptr;
  if (members == nullptr)
    return self->delegate(state.server, state.who, std::move(request));
  auto owed = std::make_shared<answer<resolve_nodes_result>>(
    self->make_response_promise<resolve_nodes_result>());
  places_of(self, *members)->find_nodes([owed](std::string found) {
    owed->give({std::move(found)});
  });
  return owed->promise();
}

/// Passes the events that have just come, without a copy of its own.
void pass_events(self_pointer self) {
  caf::actor_cast<caf::strong_actor_ptr>(self->state.connection)
    ->enqueue(self->ctrl(), caf::make_message_id(),
              self->current_mailbox_element()->copy_content_to_message(),
              self->context());
}

/// An event of a group is the server's business, which says `not_found` to one
/// that concerns no group: then it is an event like any other.
/// Source: RFC0033; guarantees 5.6.
caf::result<ack> notify_group(self_pointer self, notify_request& request) {
  const auto& state = self->state;
  if (request.code == status::group_verdict)
    return self->delegate(state.server, state.who, std::move(request));
  auto owed = std::make_shared<answer<ack>>(self->make_response_promise<ack>());
  auto promise = owed->promise();
  self->request(state.server, caf::infinite, state.who, request)
    .then([owed](ack) { owed->give(ack{}); },
          [self, owed, request](caf::error& why) {
            if (status_of(why) != status::not_found) {
              owed->fail(std::move(why));
              return;
            }
            self
              ->request(self->state.events, caf::infinite, self->state.who,
                        request)
              .then([owed](ack) { owed->give(ack{}); },
                    [owed](caf::error& err) { owed->fail(std::move(err)); });
          });
  return promise;
}

/// What only servers say to libraries: no process can have others believe it.
bool is_of_server(const info& x) {
  return x.key.rfind(group_keys::prefix, 0) == 0
         && x.key != group_keys::invitation;
}

caf::result<ack> notify(self_pointer self, notify_request& request) {
  auto& infos = request.infos;
  if (request.code != status::group_verdict)
    infos.erase(std::remove_if(infos.begin(), infos.end(), is_of_server),
                infos.end());
  if (auto why = name_members(self, request))
    return why;
  const auto& who = self->state.who;
  if (!may_raise(who, request))
    return make_error(status::no_permissions,
                      to_string(who.proc) + " may raise "
                        + to_string(request.code)
                        + " on its node and in its job only: the runtime tells"
                          " others");
  if (is_of_group(request.code))
    return notify_group(self, request);
  return self->delegate(self->state.events, self->state.who,
                        std::move(request));
}

caf::result<info_result> monitor(self_pointer self, monitor_request& request) {
  auto& state = self->state;
  if (auto why = name_members(self, request))
    return why;
  if (!state.monitors)
    return self->delegate(state.host, state.who, std::move(request));
  return self->delegate(state.monitors, state.who, std::move(request),
                        monitored_session_actor{client_actor{self}});
}

void pass_beat(self_pointer self) {
  auto& state = self->state;
  if (!state.monitors)
    return;
  if (state.beat.empty())
    state.beat = caf::make_message(state.who, heartbeat{});
  caf::actor_cast<caf::strong_actor_ptr>(state.monitors)
    ->enqueue(self->ctrl(), caf::make_message_id(), state.beat,
              self->context());
}

/// What the connection reads now passes here before its answer does.
caf::result<unread> read_connection(self_pointer self) {
  auto owed =
    std::make_shared<answer<unread>>(self->make_response_promise<unread>());
  auto promise = owed->promise();
  self->request(self->state.connection, caf::infinite, read_now{})
    .then([owed](unread left) { owed->give(left); },
          [owed](caf::error& why) { owed->fail(std::move(why)); });
  return promise;
}

caf::result<ack> register_events(self_pointer self,
                                 register_events_request& request) {
  if (auto why = name_members(self, request))
    return why;
  return self->delegate(self->state.events, self->state.who, std::move(request),
                        client_actor{self});
}

/// Passes input on; more than a piece is passed on piece by piece, and what
/// comes after it waits. Source: guarantees 5.7.
caf::result<ack> push_input(self_pointer self, io_push_request& request) {
  auto& state = self->state;
  if (auto why = name_members(self, request))
    return why;
  const auto size = request.bytes ? request.bytes->size() : 0;
  if (size <= defaults::io_input_window / 4
      && (!state.input || state.input->is_idle(request.targets)))
    return self->delegate(state.host, state.who, std::move(request));
  if (!state.input)
    state.input = std::make_shared<input_queue>(
      [self](io_push_request piece, const input_queue::callback& done) {
        self
          ->request(self->state.host, caf::infinite, self->state.who,
                    std::move(piece))
          .then([done](ack) { done({}); },
                [done](const caf::error& why) { done(why); });
      });
  auto owed = std::make_shared<answer<ack>>(self->make_response_promise<ack>());
  auto promise = owed->promise();
  state.input->push(std::move(request), [owed](const caf::error& why) {
    if (why)
      owed->fail(why);
    else
      owed->give(ack{});
  });
  return promise;
}

/// The process is gone, and its session ends.
void lose(self_pointer self, connection_lost what) {
  if (self->state.monitors)
    self->send(self->state.monitors, self->state.who, what);
  self->send(self->state.server, self->state.who, what);
  self->quit();
}

client_actor::behavior_type behavior(self_pointer self, requester who,
                                     server_actor server,
                                     event_cache_actor events, host_actor host,
                                     connection_actor connection,
                                     monitor_desk_actor monitors) {
  self->state = {std::move(who),
                 std::move(server),
                 std::move(events),
                 std::move(host),
                 std::move(connection),
                 std::move(monitors),
                 {},
                 {},
                 {}};
  constexpr auto to_server = &client_state::server;
  constexpr auto to_host = &client_state::host;
  return {
    pass_to<job_info_reply, job_info_request>(self, to_server),
    pass_to<ack, commit_request>(self, to_server),
    name_to<ack, fence_request>(self, to_server),
    [self](get_request& request) { return get(self, request); },
    pass_to<ack, finalize_request>(self, to_server),
    name_to<ack, abort_request>(self, to_host),
    name_to<refresh_cache_result, refresh_cache_request>(self, to_server),
    [self](resolve_peers_request& request) { return peers(self, request); },
    [self](resolve_nodes_request& request) { return nodes(self, request); },
    pass_with_user<ack, publish_request>(self),
    pass_with_user<lookup_result, lookup_request>(self),
    pass_with_user<ack, unpublish_request>(self),
    name_to<spawn_result, spawn_request>(self, to_host),
    name_to<connect_procs_result, connect_procs_request>(self, to_server),
    name_to<ack, disconnect_procs_request>(self, to_server),
    [self](register_events_request& x) { return register_events(self, x); },
    [self](deregister_events_request& request) {
      self->send(self->state.events, self->state.who, std::move(request));
    },
    [self](notify_request& request) { return notify(self, request); },
    [self](const event_batch&) { pass_events(self); },
    [self](group_known& what) { self->state.groups.learn(std::move(what)); },
    [self](io_delivery& what) -> caf::result<ack> {
      return self->delegate(self->state.connection, std::move(what));
    },
    name_to<info_result, query_request>(self, to_server),
    name_to<ack, log_request>(self, to_server),
    name_to<info_result, job_control_request>(self, to_host),
    [self](monitor_request& request) { return monitor(self, request); },
    [self](heartbeat) { pass_beat(self); },
    name_to<info_result, allocation_request>(self, to_host),
    pass_to<info_result, session_control_request>(self, to_host),
    pass_to<ack, resource_block_request>(self, to_host),
    pass_to<get_credential_result, get_credential_request>(self, to_host),
    pass_to<info_result, validate_credential_request>(self, to_host),
    pass_to<info_result, fabric_register_request>(self, to_host),
    pass_to<info_result, fabric_update_request>(self, to_host),
    [](
      const device_distances_request&) -> caf::result<device_distances_result> {
      return make_error(status::not_supported,
                        "distances to devices are computed by the client");
    },
    name_to<group_construct_result, group_construct_request>(self, to_server),
    name_to<ack, group_destruct_request>(self, to_server),
    pass_to<ack, group_leave_request>(self, to_server),
    name_to<io_pull_result, io_pull_request>(self, to_host),
    pass_to<ack, io_deregister_request>(self, to_host),
    [self](io_push_request& request) { return push_input(self, request); },
    [self](events_taken what) {
      self->send(self->state.events, self->state.who, what);
    },
    [self](read_now) { return read_connection(self); },
    [self](connection_lost what) { lose(self, what); },
    [self](const close_connection& request) {
      self->send(self->state.connection, request);
    },
  };
}

} // namespace

client_actor spawn_client(caf::actor_system& sys, requester who,
                          server_actor server, event_cache_actor events,
                          host_actor host, connection_actor connection,
                          monitor_desk_actor monitors) {
  return sys.spawn(behavior, std::move(who), std::move(server),
                   std::move(events), std::move(host), std::move(connection),
                   std::move(monitors));
}

} // namespace troupe
