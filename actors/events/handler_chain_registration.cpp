// Registrations of a handler chain: what the server is told of them.

#include "actors/answer.hpp"
#include "actors/events/handler_chain_state.hpp"
#include "messages/attributes.hpp"

namespace troupe::handler_chain_internals {

namespace {

/// Whether a request failed because there is no server, or none any more.
bool is_without_server(const caf::error& err) {
  const auto code = status_of(err);
  return code == status::unreach || code == status::lost_connection;
}

// -- what the server is told
// -----------------------------------------------------

/// The codes under which the server knows a handler.
std::vector<status> codes_of(const handler_order::entry& x) {
  return x.codes.empty() ? std::vector{default_events} : x.codes;
}

/// Whether a directive is the library's own affair. The server is not asked to
/// filter for one handler: another one may want what the first does not.
bool stays_here(const info& x) {
  return x.key == attr::event_hdlr_name || x.key == attr::event_hdlr_first
         || x.key == attr::event_hdlr_last
         || x.key == attr::event_hdlr_first_in_category
         || x.key == attr::event_hdlr_last_in_category
         || x.key == attr::event_hdlr_before || x.key == attr::event_hdlr_after
         || x.key == attr::event_hdlr_prepend
         || x.key == attr::event_hdlr_append || x.key == attr::event_oneshot
         || x.key == attr::event_return_object
         || x.key == attr::event_affected_proc
         || x.key == attr::event_affected_procs || x.key == attr::range
         || x.key == attr::event_custom_range;
}

/// What the server must hear of a new handler; nothing if it knows already.
/// Source: RFC0002, "Client Registrations".
std::optional<register_events_request>
subscription(const handler_chain_state& state, const handler_order::entry& x,
             const std::vector<info>& directives) {
  auto result = register_events_request{x.codes, {}};
  for (const auto& y : directives)
    if (!stays_here(y))
      result.directives.push_back(y);
  const auto wanted = codes_of(x);
  const auto is_known = [&](status code) {
    return state.codes.count(code) > 0;
  };
  if (result.directives.empty()
      && std::all_of(wanted.begin(), wanted.end(), is_known))
    return std::nullopt;
  return result;
}

} // namespace

void drop(self_pointer self, uint64_t id) {
  auto& state = self->state;
  const auto* x = state.order.find(id);
  if (x == nullptr)
    return;
  auto unwanted = deregister_events_request{};
  for (const auto code : codes_of(*x)) {
    const auto i = state.codes.find(code);
    if (i == state.codes.end() || --i->second > 0)
      continue;
    state.codes.erase(i);
    unwanted.codes.push_back(code);
  }
  if (!unwanted.codes.empty())
    self->send(state.session, std::move(unwanted));
  state.order.remove(id);
  state.overdue.erase(id);
  const auto gone = state.registrations.extract(id);
  if (gone.mapped().is_pending)
    --state.pending;
  else
    state.history.leave(gone.mapped().function);
}

void make_ready(self_pointer self, uint64_t id) {
  auto& state = self->state;
  const auto i = state.registrations.find(id);
  if (i == state.registrations.end() || !i->second.is_pending)
    return;
  i->second.is_pending = false;
  --state.pending;
  const auto missed = state.history.missed(i->second.missed);
  i->second.missed = {};
  // In front of what has come since.
  for (auto x = missed.rbegin(); x != missed.rend(); ++x) {
    if (!state.order.matches(id, **x, state.self))
      continue;
    const auto bytes = approximate_size(**x);
    state.bytes += bytes;
    state.queue.push_front({*x, bytes, id});
  }
  begin_events(self);
}

caf::result<handler_registered> add(self_pointer self,
                                    const register_handler& request) {
  auto& state = self->state;
  const auto id = state.order.add(request);
  if (!id)
    return id.error();
  const auto& x = *state.order.find(*id);
  const auto wanted = subscription(state, x, request.directives);
  for (const auto code : codes_of(x))
    ++state.codes[code];
  state.registrations[*id] = {request.function,
                              state.history.seen_from(request.function), true};
  ++state.pending;
  if (!wanted)
    return handler_registered{*id};
  auto promise = self->make_response_promise<handler_registered>();
  auto reply = std::make_shared<answer<handler_registered>>(promise);
  self->request(state.session, caf::infinite, *wanted)
    .then([=](ack) { reply->give({*id}); },
          [=](caf::error& err) {
            // Without a server there are still the process's own events.
            if (is_without_server(err)) {
              reply->give({*id});
              return;
            }
            drop(self, *id);
            reply->fail(std::move(err));
            self->state.calls_left = self->state.options.calls_per_turn;
            begin_events(self);
          });
  return promise;
}

void subscribe_all(self_pointer self) {
  auto& state = self->state;
  auto all = register_events_request{};
  for (const auto& [code, count] : state.codes)
    if (code != default_events)
      all.codes.push_back(code);
  const auto tell = [=](register_events_request request) {
    self->request(self->state.session, caf::infinite, std::move(request))
      .then([](ack) {},
            [=](const caf::error& err) {
              if (is_without_server(err))
                return;
              self->state.log(severity::warning,
                              "the server does not take the registrations of"
                              " event handlers: "
                                + reason_of(err));
            });
  };
  if (state.codes.count(default_events) > 0)
    tell({});
  if (!all.codes.empty())
    tell(std::move(all));
}

} // namespace troupe::handler_chain_internals
