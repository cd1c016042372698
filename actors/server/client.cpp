#include "actors/server/client.hpp"

#include "actors/events/runtime_codes.hpp"
#include "actors/groups/group_keys.hpp"
#include "actors/groups/group_names.hpp"
#include "actors/io/input_queue.hpp"
#include "actors/server/required_directives.hpp"
#include "base/pass_on.hpp"
#include "config/defaults.hpp"
#include "messages/event.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <typeinfo>

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

  /// Who gets what the server does not act upon.
  next_host next{};

  /// Groups that the process may name.
  group_names groups{};

  /// Input that is too much for one piece, and what came after it.
  std::shared_ptr<input_queue> input{};

  /// A beat, as all of them are.
  caf::message beat;
};

TROUPE_SELF_POINTER(client_actor, client_state);

// -- requests that are passed on ---------------------------------------------

/// Whether a request may name groups.
template <class Request, class = void>
struct may_name_groups : std::false_type {};

template <class Request>
struct may_name_groups<
  Request, std::void_t<decltype(spell_out(std::declval<const group_names&>(),
                                          std::declval<Request&>()))>>
  : std::true_type {};

/// Whether a request says which user makes it.
template <class Request, class = void>
struct names_user : std::false_type {};

template <class Request>
struct names_user<Request, std::void_t<decltype(Request::uid)>>
  : std::true_type {};

/// Puts members in the place of groups that a request names.
/// Source: RFC0033, Description.
template <class Request>
caf::error name_members(self_pointer self, Request& request) {
  const auto& groups = self->state.groups;
  return groups.empty() ? caf::error{} : spell_out(groups, request);
}

/// Refuses a user that the peer wrote and that is not the real one.
caf::error check_user(self_pointer self, uint32_t uid) {
  const auto& who = self->state.who;
  if (uid == who.creds.uid)
    return caf::none;
  return make_error(status::no_permissions,
                    to_string(who.proc) + " writes user " + std::to_string(uid)
                      + " but is " + std::to_string(who.creds.uid));
}

/// What comes before a request is passed on.
/// @returns why it is not.
template <class Request>
caf::error prepare(self_pointer self, Request& request) {
  if constexpr (has_directives<Request>::value)
    if (auto why = check_directives(request, self->state.next))
      return why;
  if constexpr (names_user<Request>::value)
    if (auto why = check_user(self, request.uid))
      return why;
  if constexpr (may_name_groups<Request>::value)
    return name_members(self, request);
  else
    return caf::none;
}

/// Passes a request to another actor, which answers it.
template <class Request, class Answer, auto Receiver>
caf::result<caf::message> pass(self_pointer self, caf::type_erased_tuple& xs) {
  auto request = xs.shared() ? xs.get_as<Request>(0)
                             : std::move(xs.get_mutable_as<Request>(0));
  if (auto why = prepare(self, request))
    return why;
  const auto promised =
    self->delegate(self->state.*Receiver, self->state.who, std::move(request));
  static_assert(
    std::is_same_v<std::decay_t<decltype(promised)>, caf::delegated<Answer>>);
  return caf::delegated<caf::message>{};
}

/// What becomes of a request that has no handler of its own.
struct passed_request {
  const std::type_info* type;
  caf::result<caf::message> (*pass)(self_pointer, caf::type_erased_tuple&);
};

const passed_request passed_requests[] = {
#define TROUPE_SERVER_REQUEST(number, command, request, answer)                \
  {&typeid(request), pass<request, answer, &client_state::server>},
#define TROUPE_HOST_REQUEST(number, command, request, answer)                  \
  {&typeid(request), pass<request, answer, &client_state::host>},
#include "messages/requests.def"
};

/// Takes what has no handler of its own.
caf::result<caf::message> pass_on_as_is(self_pointer self,
                                        caf::message_view& what) {
  auto& xs = what.content();
  const auto* type = xs.size() == 1 ? xs.type(0).second : nullptr;
  if (type != nullptr)
    for (const auto& x : passed_requests)
      if (*x.type == *type)
        return x.pass(self, xs);
  return caf::print_and_drop(self, what);
}

// -- requests with a handler of their own ------------------------------------

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
  if (auto why = check_directives(request, state.next))
    return why;
  if (state.groups.empty())
    return self->delegate(state.server, state.who, std::move(request));
  auto asked = request.target;
  if (auto why = spell_out(state.groups, request))
    return why;
  if (request.target == asked)
    return self->delegate(state.server, state.who, std::move(request));
  return answer_later<get_result>(self, [&](completion<get_result> done) {
    ask<get_result>(
      self, state.server,
      [done, member = request.target,
       asked = std::move(asked)](caf::expected<get_result> found) {
        if (found)
          add_alias(*found, member, asked);
        done(std::move(found));
      },
      state.who, std::move(request));
  });
}

/// Asks the server for the peers and nodes of namespaces.
std::shared_ptr<group_places> places_of(self_pointer self,
                                        const std::vector<proc_id>& members) {
  auto questions = group_places::questions{};
  questions.peers_on = [self](const resolve_peers_request& request, auto then) {
    ask<resolve_peers_result>(
      self, self->state.server,
      [then](caf::expected<resolve_peers_result> x) {
        then(x ? std::move(x->procs) : std::vector<proc_id>{});
      },
      self->state.who, request);
  };
  questions.nodes_of = [self](const resolve_nodes_request& request, auto then) {
    ask<resolve_nodes_result>(
      self, self->state.server,
      [then](caf::expected<resolve_nodes_result> x) {
        then(x ? std::move(x->nodes) : std::string{});
      },
      self->state.who, request);
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
  return answer_later<resolve_peers_result>(
    self, [&](completion<resolve_peers_result> done) {
      places_of(self, *members)
        ->find_peers(request.node, [done](std::vector<proc_id> found) {
          done(resolve_peers_result{std::move(found)});
        });
    });
}

caf::result<resolve_nodes_result> nodes(self_pointer self,
                                        resolve_nodes_request& request) {
  auto& state = self->state;
  const auto* members =
    request.nspace ? state.groups.find(*request.nspace) : nullptr;
  if (members == nullptr)
    return self->delegate(state.server, state.who, std::move(request));
  return answer_later<resolve_nodes_result>(
    self, [&](completion<resolve_nodes_result> done) {
      places_of(self, *members)->find_nodes([done](std::string found) {
        done(resolve_nodes_result{std::move(found)});
      });
    });
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
  return answer_later<ack>(self, [&](completion<ack> done) {
    const auto is_of_group = [self, done, request](caf::expected<ack> x) {
      if (x || status_of(x.error()) != status::not_found)
        done(std::move(x));
      else
        ask<ack>(self, self->state.events, done, self->state.who, request);
    };
    ask<ack>(self, state.server, is_of_group, state.who, request);
  });
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
  return answer_later<unread>(self, [self](completion<unread> done) {
    ask<unread>(self, self->state.connection, std::move(done), read_now{});
  });
}

caf::result<ack> register_events(self_pointer self,
                                 register_events_request& request) {
  if (auto why = prepare(self, request))
    return why;
  return self->delegate(self->state.events, self->state.who, std::move(request),
                        client_actor{self});
}

/// Passes input on; more than a piece is passed on piece by piece, and what
/// comes after it waits. Source: guarantees 5.7.
caf::result<ack> push_input(self_pointer self, io_push_request& request) {
  auto& state = self->state;
  if (auto why = prepare(self, request))
    return why;
  const auto size = request.bytes ? request.bytes->size() : 0;
  if (size <= defaults::io_input_window / 4
      && (!state.input || state.input->is_idle(request.targets)))
    return self->delegate(state.host, state.who, std::move(request));
  if (!state.input)
    state.input = std::make_shared<input_queue>(
      [self](io_push_request piece, const input_queue::callback& done) {
        ask<ack>(
          self, self->state.host,
          [done](const caf::expected<ack>& x) {
            done(x ? caf::error{} : x.error());
          },
          self->state.who, std::move(piece));
      });
  return answer_later<ack>(self, [&](completion<ack> done) {
    state.input->push(std::move(request), [done](const caf::error& why) {
      if (why)
        done(why);
      else
        done(ack{});
    });
  });
}

/// The process is gone, and its session ends.
void lose(self_pointer self, connection_lost what) {
  if (self->state.monitors)
    self->send(self->state.monitors, self->state.who, what);
  self->send(self->state.server, self->state.who, what);
  self->quit();
}

/// The part of the CLIENT interface that is not passed on by the table; and what
/// comes most often.
using own_messages = caf::typed_actor<
  clause<ack, fence_request>,
#define TROUPE_CLIENT_REQUEST(number, command, request, answer)                \
  clause<answer, request>,
#include "messages/requests.def"
  caf::reacts_to<event_batch>, caf::reacts_to<group_known>,
  caf::replies_to<io_delivery>::with<ack>, caf::reacts_to<heartbeat>,
  caf::reacts_to<events_taken>, caf::replies_to<read_now>::with<unread>,
  caf::reacts_to<connection_lost>, caf::reacts_to<close_connection>>;

own_messages::behavior_type handlers(self_pointer self) {
  return {
    // -- what comes most often: CAF tries one after another --
    [self](fence_request& request) -> caf::result<ack> {
      if (auto why = prepare(self, request))
        return why;
      return self->delegate(self->state.server, self->state.who,
                            std::move(request));
    },
    // -- all others --
    [self](get_request& request) { return get(self, request); },
    [self](resolve_peers_request& request) { return peers(self, request); },
    [self](resolve_nodes_request& request) { return nodes(self, request); },
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
    [self](monitor_request& request) { return monitor(self, request); },
    [self](heartbeat) { pass_beat(self); },
    [](
      const device_distances_request&) -> caf::result<device_distances_result> {
      return make_error(status::not_supported,
                        "distances to devices are computed by the client");
    },
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

client_actor::behavior_type
behavior(self_pointer self, requester who, server_actor server,
         event_cache_actor events, host_actor host, connection_actor connection,
         monitor_desk_actor monitors, next_host next) {
  self->state = {std::move(who),
                 std::move(server),
                 std::move(events),
                 std::move(host),
                 std::move(connection),
                 std::move(monitors),
                 next,
                 {},
                 {},
                 {}};
  self->set_default_handler(
    [self](caf::scheduled_actor*, caf::message_view& what) {
      return pass_on_as_is(self, what);
    });
  // Own messages and the table: together they are the interface.
  return {client_actor::behavior_type::unsafe_init{}, handlers(self).unbox()};
}

} // namespace

client_actor spawn_client(caf::actor_system& sys, requester who,
                          server_actor server, event_cache_actor events,
                          host_actor host, connection_actor connection,
                          monitor_desk_actor monitors, next_host next) {
  return sys.spawn(behavior, std::move(who), std::move(server),
                   std::move(events), std::move(host), std::move(connection),
                   std::move(monitors), next);
}

} // namespace troupe
