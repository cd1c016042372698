#include "c_api/event_desk.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/memory_reserve.hpp"
#include "base/escape.hpp"
#include "c_api/group_desk.hpp"
#include "c_api/library_core.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>
#include <utility>

namespace troupe::defaults {

using namespace std::chrono_literals;

/// How long a thread waits that raises events for its own process when that
/// many wait already; then the event is refused.
inline constexpr auto own_event_patience = 5s;

} // namespace troupe::defaults

namespace troupe::c_api {

namespace {

/// For the progress thread only.
event_desk* the_desk = nullptr;

/// The desk whose handler runs on the calling thread.
thread_local event_desk* desk_of_handler = nullptr;

/// Never used twice in a process: a completion that comes after a finalize and
/// a new init finds nothing.
std::atomic<uint64_t> next_ticket{1};

/// Events of our own that may lie about while nobody waits for them.
constexpr size_t max_unexpected = 64;

uint64_t bit_of(status code) {
  return uint64_t{1} << (static_cast<uint32_t>(code) % 64);
}

bool is_set(const char* name, std::string_view to) {
  const auto* x = std::getenv(name);
  return x != nullptr && x == to;
}

/// Tells whoever runs the program. Handlers have names that others may have made,
/// and reasons come from the server. Source: requirement X31.
void tell(const std::string& what) {
  std::fprintf(stderr, "libpmix: %s\n",
               escape_control_characters(what).c_str());
}

/// The handlers of programs that were made for OpenPMIx may rely on its order
/// and on its form of results. Source: requirements, readings A2, A4, A5.
handler_chain_options chain_options() {
  auto result = handler_chain_options::with_defaults();
  result.order.newest_first = is_set("TROUPE_EVENT_ORDER", "lifo");
  result.flat_results = is_set("TROUPE_EVENT_RESULTS", "flat");
  result.log = [](severity weight, const std::string& what) {
    if (weight >= severity::warning)
      tell(what);
  };
  return result;
}

/// Takes no memory itself.
void tell_no_memory(const handler_turn& x) {
  std::fprintf(stderr, "libpmix: event handler %llu is not called: no memory\n",
               static_cast<unsigned long long>(x.handler));
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
      if (const auto* groups = group_desk::current())
        groups->keep(x.codes);
      if (x.codes.empty())
        return;
      lib->tell<ack>(std::move(x));
    },
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
  if (desk_of_handler != nullptr) {
    desk_of_handler->complete(ticket, std::move(verdict));
  } else if (lib.in_progress_thread()) {
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

// -- events of our own --------------------------------------------------------

pmix_status_t own_events::push(const library& lib, event what) {
  const auto is_here = lib.in_progress_thread();
  auto is_first = false;
  {
    auto lock = std::unique_lock{mutex_};
    const auto has_room = [this] {
      return is_open_
             && queue_.events.size() < defaults::events_awaiting_handlers;
    };
    // The progress thread is the one that makes room.
    if (!is_here && !has_room()) {
      ++blocked_;
      const auto is_over =
        !changed_.wait_for(lock, defaults::own_event_patience, has_room);
      --blocked_;
      if (is_over)
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    const auto is_urgent = (expected_ & bit_of(what.code)) != 0
                           || queue_.events.size() >= max_unexpected;
    queue_.events.push_back(std::make_shared<const event>(std::move(what)));
    if (!is_here && is_urgent)
      is_first = !std::exchange(is_posted_, true);
  }
  if (is_here)
    drain(); // As registrations there are not posted, either.
  if (is_first && !lib.post([this] { drain(); })) {
    reset();
    return PMIX_ERR_INIT;
  }
  return PMIX_SUCCESS;
}

void own_events::drain() {
  auto taken = event_batch{};
  {
    const auto guard = std::lock_guard{mutex_};
    is_posted_ = false;
    std::swap(taken, queue_);
    if (blocked_ > 0)
      changed_.notify_all();
  }
  if (the_desk != nullptr && !taken.events.empty())
    the_desk->take(std::move(taken));
}

void own_events::expect(const library& lib, const std::vector<status>& codes) {
  if (codes.empty())
    expected_ = ~uint64_t{0};
  for (const auto code : codes)
    expected_ |= bit_of(code);
  auto before = event_batch{};
  {
    const auto guard = std::lock_guard{mutex_};
    codes_.insert(codes.begin(), codes.end());
    if (codes.empty())
      codes_.insert(default_events);
    if (queue_.events.empty())
      return;
    is_posted_ = false; // What comes now goes after the registration.
    std::swap(before, queue_);
  }
  const auto hand_over = [before = std::move(before)] {
    if (the_desk != nullptr)
      the_desk->take(before);
  };
  if (lib.in_progress_thread())
    hand_over();
  else
    lib.post(hand_over);
}

bool own_events::is_expected(status code) {
  const auto guard = std::lock_guard{mutex_};
  return codes_.count(code) + codes_.count(default_events) > 0;
}

void own_events::set_open(bool x) {
  const auto guard = std::lock_guard{mutex_};
  is_open_ = x;
  if (blocked_ > 0)
    changed_.notify_all();
}

void own_events::reset() {
  const auto guard = std::lock_guard{mutex_};
  queue_.events.clear();
  is_posted_ = false;
  is_open_ = true;
  expected_ = 0;
  codes_.clear();
  changed_.notify_all();
}

own_events& event_desk::events_of_ours() {
  static auto* only = new own_events; // Nothing is destroyed at exit.
  return *only;
}

// -- the desk -----------------------------------------------------------------

event_desk* event_desk::current() {
  return the_desk;
}

event_desk::event_desk(library& lib) : lib_(lib), core_(lib.core().get()) {
  events_of_ours().reset();
  the_desk = this;
}

/// Spawns the chain and what is around it, unless it is there.
void event_desk::begin() {
  if (chain_)
    return;
  auto& sys = lib_.loop().actors();
  session_ = sys.spawn(to_server, static_cast<const library*>(&lib_));
  handle_ = sys.spawn<caf::hidden>([](caf::event_based_actor*) {
    return caf::behavior{[](caf::unit_t) {
      // Keeps it alive; all it gets are answers.
    }};
  });
  // The actor's first turn may come after the first request.
  self_ = static_cast<caf::event_based_actor*>(
    caf::actor_cast<caf::abstract_actor*>(handle_));
  auto options = chain_options();
  options.run = [this](const handler_turn& x) {
    try {
      return run(x);
    } catch (const std::bad_alloc&) {
      refill_memory_reserve();
      tell_no_memory(x);
      return std::optional{handler_verdict{}};
    }
  };
  options.on_end = [this](uint64_t walk) { end_walk(walk); };
  options.on_decided = [](const event& what, handler_verdict verdict) {
    if (auto* groups = group_desk::current())
      groups->decide(what, std::move(verdict));
  };
  options.on_intake = [&lib = lib_](event_intake x) {
    events_of_ours().set_open(x != event_intake::nothing);
    if (const auto to = lib.current_link())
      to->set_intake(x == event_intake::all       ? link::intake::all
                     : x == event_intake::answers ? link::intake::answers
                                                  : link::intake::nothing);
  };
  chain_ = spawn_handler_chain(sys, session_, std::move(options));
}

event_desk::~event_desk() {
  the_desk = nullptr;
  if (!chain_)
    return;
  caf::anon_send_exit(chain_, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(session_, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(handle_, caf::exit_reason::user_shutdown);
}

/// The chain must know who we are to tell events for us from others.
void event_desk::tell_identity() {
  if (core_->identities != told_)
    meet_server();
}

void event_desk::meet_server() {
  if (!chain_)
    return; // It will be told when it begins.
  const auto number = core_->identities.load();
  const auto self = lib_.proc();
  if (self.nspace.empty())
    return; // Not connected yet, or no longer.
  told_ = number;
  caf::anon_send(chain_, connect_accepted{self, lib_.server(), 0});
}

void event_desk::register_handler(struct register_handler request,
                                  c_handler handler, on_registered done) {
  begin();
  tell_identity();
  auto answer =
    std::make_shared<one_answer<handler_registered>>(std::move(done));
  self_->request(chain_, caf::infinite, std::move(request))
    .then(
      [this, answer, handler](const handler_registered& x) {
        if (the_desk != this)
          return;
        handlers_.emplace(x.id, handler);
        (*answer)(x);
        // Now that the program knows.
        caf::anon_send(chain_, x);
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

void event_desk::take(event_batch what) {
  begin();
  tell_identity();
  if (auto* groups = group_desk::current())
    groups->observe(what);
  caf::anon_send(chain_, std::move(what));
}

// -- running handlers ---------------------------------------------------------

event_desk::arguments_ptr& event_desk::arguments_of_walk(uint64_t walk) {
  if (walk == last_walk_)
    return last_given_;
  if (last_given_)
    walks_.emplace(last_walk_, std::move(last_given_));
  last_walk_ = walk;
  auto before = walks_.extract(walk);
  last_given_ = before.empty() ? nullptr : std::move(before.mapped());
  return last_given_;
}

void event_desk::end_walk(uint64_t walk) {
  if (walk == last_walk_)
    last_given_ = nullptr;
  else
    walks_.erase(walk);
}

/// What a handler is given: made for the first of an event, and for the others
/// as long as more is reported.
caf::expected<event_desk::arguments_ptr>
event_desk::arguments_of(const handler_turn& x) {
  auto& result = arguments_of_walk(x.walk);
  if (!result) {
    auto infos = to_c_infos(x.what.infos);
    if (!infos)
      return std::move(infos.error());
    result = std::make_shared<arguments>();
    to_c(x.what.source, result->source);
    result->infos = std::move(*infos);
  }
  auto& shown = result->results;
  while (shown.size() < x.results.size()) {
    auto* one = static_cast<pmix_info_t*>(std::calloc(1, sizeof(pmix_info_t)));
    auto owned = c_infos{one, one != nullptr ? size_t{1} : 0};
    if (one == nullptr || to_c(x.results[shown.size()], *one) != PMIX_SUCCESS)
      return make_error(status::nomem, "no memory for what others reported");
    if (shown.size() == shown.capacity()) {
      auto larger = std::vector<pmix_info_t>{};
      larger.reserve(std::max<size_t>(16, 2 * shown.size()));
      larger.assign(shown.begin(), shown.end());
      std::swap(larger, shown);
      result->outgrown.push_back(std::move(larger));
    }
    shown.push_back(*one);
    result->owned_results.push_back(std::move(owned));
  }
  return result;
}

/// Calls a handler. One that completes before it returns costs no detour.
std::optional<handler_verdict> event_desk::run(const handler_turn& x) {
  const auto i = handlers_.find(x.handler);
  if (the_desk != this || i == handlers_.end())
    return handler_verdict{}; // Deregistered meanwhile.
  const auto handler = i->second;
  if (handler.is_oneshot)
    handlers_.erase(i);
  const auto given = arguments_of(x);
  if (!given) {
    tell("event handler " + std::to_string(x.handler)
         + " is not called: " + reason_of(given.error()));
    return handler_verdict{};
  }
  auto& args = **given;
  auto mine = call{x.handler, x.walk, x.turn, *given, {}};
  auto* shown = args.infos.data();
  auto count = args.infos.size();
  if (handler.object) {
    // Source: PMIx Standard v5, PMIX_EVENT_RETURN_OBJECT.
    auto& all = mine.with_object;
    all.reserve(count + 1);
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
    shown = &mine.with_object.emplace_back();
  const auto ticket = next_ticket++;
  const auto before = std::exchange(running_, ticket);
  auto earlier = std::exchange(reported_, std::nullopt);
  auto* const outer = std::exchange(desk_of_handler, this);
  handler.function(x.handler, to_c(x.code), &args.source, shown, count,
                   args.results.empty() ? nullptr : args.results.data(),
                   args.results.size(), on_complete,
                   reinterpret_cast<void*>(ticket));
  desk_of_handler = outer;
  running_ = before;
  auto verdict = std::exchange(reported_, std::move(earlier));
  if (!verdict)
    calls_.emplace(ticket, std::move(mine));
  return verdict;
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
  const auto& x = node.mapped();
  caf::anon_send(chain_,
                 handler_done{x.handler, x.walk, x.turn, std::move(verdict)});
}

// -- of the library -----------------------------------------------------------

void start_events(library& lib) {
  lib.run_in_loop([&] {
    new event_desk{lib};
    new group_desk{lib};
  });
  lib.set_event_sink([](event_batch what) {
    if (the_desk != nullptr)
      the_desk->take(std::move(what));
  });
  lib.set_server_sink([&lib] {
    if (the_desk == nullptr || lib.server().nspace.empty())
      return;
    the_desk->meet_server();
    group_desk::current()->meet_server();
  });
}

void stop_events(library& lib) {
  lib.run_in_loop([] {
    delete group_desk::current();
    delete the_desk;
  });
}

} // namespace troupe::c_api
