#include "c_api/event_desk.hpp"

#include "actors/events/handler_chain.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace troupe::c_api {

namespace {

/// For the progress thread only.
event_desk* the_desk = nullptr;

/// Never used twice in a process: a completion that comes after a finalize and
/// a new init finds nothing.
std::atomic<uint64_t> next_ticket{1};

bool is_set(const char* name, std::string_view to) {
  const auto* x = std::getenv(name);
  return x != nullptr && x == to;
}

/// The handlers of programs that were made for OpenPMIx may rely on its order
/// and on its form of results. Source: requirements, readings A2, A4, A5.
handler_chain_options chain_options() {
  auto result = handler_chain_options::with_defaults();
  result.order.newest_first = is_set("TROUPE_EVENT_ORDER", "lifo");
  result.flat_results = is_set("TROUPE_EVENT_RESULTS", "flat");
  result.log = [](severity weight, const std::string& what) {
    if (weight >= severity::warning)
      std::fprintf(stderr, "libpmix: %s\n", what.c_str());
  };
  return result;
}

/// Answers from a callback of the loop, while the actor does not run.
template <class T, class Self>
void give(Self* self, caf::typed_response_promise<T> reply,
          caf::expected<T> x) {
  auto* context = self->context();
  self->context(nullptr);
  if (x)
    reply.deliver(std::move(*x));
  else
    reply.deliver(std::move(x.error()));
  self->context(context);
}

/// Takes what the chain asks of the server to whoever is the server now.
event_session_actor::behavior_type to_server(event_session_actor::pointer self,
                                             const library* lib) {
  const auto ask = [=](auto request) -> caf::result<ack> {
    auto reply = self->make_response_promise<ack>();
    const auto keeps = event_session_actor{self};
    const auto code = lib->ask<ack>(std::move(request),
                                    [self, keeps, reply](caf::expected<ack> x) {
                                      give<ack>(self, reply, std::move(x));
                                    });
    if (code != PMIX_SUCCESS)
      reply.deliver(make_error(static_cast<status>(code)));
    return reply;
  };
  return {
    [=](register_events_request& x) { return ask(std::move(x)); },
    [=](deregister_events_request& x) {
      if (const auto to = lib->current_link())
        to->submit(wire::request{std::move(x)}, [](const link::outcome&) {});
      else if (const auto session = lib->session())
        caf::anon_send(session, std::move(x));
    },
    [=](notify_request& x) { return ask(std::move(x)); },
  };
}

/// What a handler calls when it is done, on any thread.
void on_complete(pmix_status_t outcome, pmix_info_t* results, size_t nresults,
                 pmix_op_cbfunc_t release, void* release_data, void* cbdata) {
  const auto& lib = library::instance();
  const auto ticket = reinterpret_cast<uintptr_t>(cbdata);
  auto verdict = handler_verdict{static_cast<status>(outcome), {}};
  if (auto infos = to_infos(results, nresults))
    verdict.results = std::move(*infos);
  if (lib.in_progress_thread()) {
    if (auto* desk = event_desk::current())
      desk->complete(ticket, std::move(verdict));
  } else {
    lib.post([ticket, verdict = std::move(verdict)] {
      if (auto* desk = event_desk::current())
        desk->complete(ticket, verdict);
    });
  }
  // Not within this call: the handler may hold locks.
  if (release != nullptr
      && !lib.post([=] { release(PMIX_SUCCESS, release_data); }))
    release(PMIX_SUCCESS, release_data);
}

} // namespace

event_desk* event_desk::current() {
  return the_desk;
}

event_desk::event_desk(library& lib) : lib_(lib) {
  auto& sys = lib.loop().actors();
  session_ = sys.spawn(to_server, static_cast<const library*>(&lib));
  chain_ = spawn_handler_chain(sys, session_, chain_options());
  handle_ = sys.spawn([this](event_handler_actor::pointer) {
    return event_handler_actor::behavior_type{
      [this](handler_call& x) -> caf::result<handler_verdict> {
        if (the_desk != this)
          return handler_verdict{};
        return run(x);
      },
    };
  });
  // The actor's first turn may come after the first request.
  self_ = static_cast<event_handler_actor::pointer>(
    caf::actor_cast<caf::abstract_actor*>(handle_));
  the_desk = this;
}

event_desk::~event_desk() {
  the_desk = nullptr;
  caf::anon_send_exit(chain_, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(session_, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(handle_, caf::exit_reason::user_shutdown);
}

/// The chain must know who we are to tell events for us from others.
void event_desk::tell_identity() {
  if (lib_.proc() != told_)
    meet_server();
}

void event_desk::meet_server() {
  if (lib_.proc().nspace.empty())
    return; // Not connected yet, or no longer.
  told_ = lib_.proc();
  caf::anon_send(chain_, connect_accepted{told_, lib_.server(), 0});
}

void event_desk::register_handler(struct register_handler request,
                                  c_handler handler, on_registered done) {
  tell_identity();
  auto answer =
    std::make_shared<one_answer<handler_registered>>(std::move(done));
  self_->request(chain_, caf::infinite, std::move(request), handle_)
    .then(
      [this, answer, handler](const handler_registered& x) {
        if (the_desk == this)
          handlers_.emplace(x.id, handler);
        (*answer)(x);
      },
      [answer](caf::error& err) { (*answer)(std::move(err)); });
}

bool event_desk::deregister_handler(uint64_t id, on_done done) {
  if (handlers_.erase(id) == 0)
    return false;
  auto answer = std::make_shared<one_answer<ack>>(std::move(done));
  self_->request(chain_, caf::infinite, ::troupe::deregister_handler{id})
    .then([answer](ack x) { (*answer)(x); },
          [answer](caf::error& err) { (*answer)(std::move(err)); });
  return true;
}

void event_desk::notify(notify_request request, on_done done) {
  tell_identity();
  auto answer = std::make_shared<one_answer<ack>>(std::move(done));
  self_->request(chain_, caf::infinite, std::move(request))
    .then([answer](ack x) { (*answer)(x); },
          [answer](caf::error& err) { (*answer)(std::move(err)); });
}

void event_desk::take(event what) {
  tell_identity();
  caf::anon_send(chain_, std::move(what));
}

/// Calls a handler. A handler that completes before it returns costs no detour.
caf::result<handler_verdict> event_desk::run(handler_call& x) {
  const auto i = handlers_.find(x.id);
  if (i == handlers_.end())
    return handler_verdict{}; // Deregistered meanwhile.
  const auto handler = i->second;
  if (handler.is_oneshot)
    handlers_.erase(i);
  auto infos = to_c_infos(x.what.infos);
  auto results = to_c_infos(x.results);
  if (!infos || !results)
    return make_error(status::nomem, "no memory for the handler's arguments");
  auto mine = std::make_unique<call>();
  to_c(x.what.source, mine->source);
  mine->infos = std::move(*infos);
  mine->results = std::move(*results);
  auto* shown = mine->infos.data();
  auto count = mine->infos.size();
  if (handler.object) {
    // Source: PMIx Standard v5, PMIX_EVENT_RETURN_OBJECT.
    auto& all = mine->with_object;
    all.assign(shown, shown + count);
    auto& last = all.emplace_back();
    set_text(last.key, attr::event_return_object);
    last.value.type = PMIX_POINTER;
    last.value.data.ptr = *handler.object;
    shown = all.data();
    count = all.size();
  }
  if (shown == nullptr)
    // Open MPI 4.1 crashes on a null pointer, even with a count of 0.
    shown = &mine->with_object.emplace_back();
  const auto ticket = next_ticket++;
  const auto* source = &mine->source;
  auto* earlier = mine->results.data();
  const auto num_earlier = mine->results.size();
  const auto before = std::exchange(running_, ticket);
  calls_.emplace(ticket, std::move(mine));
  handler.function(x.id, to_c(x.what.code), source, shown, count, earlier,
                   num_earlier, on_complete, reinterpret_cast<void*>(ticket));
  running_ = before;
  const auto kept = calls_.find(ticket);
  if (kept == calls_.end())
    return handler_verdict{};
  if (reported_) {
    calls_.erase(kept);
    return *std::exchange(reported_, std::nullopt);
  }
  auto reply = self_->make_response_promise<handler_verdict>();
  kept->second->reply = reply;
  return reply;
}

void event_desk::complete(uint64_t ticket, handler_verdict verdict) {
  if (ticket == running_) {
    if (!reported_)
      reported_ = std::move(verdict);
    return;
  }
  const auto node = calls_.extract(ticket);
  if (node.empty())
    return; // Completed twice, or too late.
  give<handler_verdict>(self_, node.mapped()->reply, std::move(verdict));
}

// -- of the library
// ----------------------------------------------------------------

void start_events(library& lib) {
  lib.run_in_loop([&] { new event_desk{lib}; });
  lib.set_event_sink([](event what) {
    if (the_desk != nullptr)
      the_desk->take(std::move(what));
  });
  lib.set_server_sink([&lib] {
    if (the_desk != nullptr && !lib.server().nspace.empty())
      the_desk->meet_server();
  });
}

void stop_events(library& lib) {
  lib.run_in_loop([] { delete the_desk; });
}

} // namespace troupe::c_api
