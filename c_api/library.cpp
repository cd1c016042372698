#include "c_api/library.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/memory_reserve.hpp"
#include "c_api/event_desk.hpp"
#include "c_api/library_core.hpp"
#include "messages/attributes.hpp"

#include <pthread.h>

#include <array>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace troupe::c_api {

namespace {

constexpr size_t role_count = 3;

/// For what few allocations it takes to fail in good order.
constexpr size_t reserve = size_t{64} << 10;

/// What `library` keeps; apart from the class, so that its header says what it
/// does.
struct library_state {
  std::mutex init_mutex; // One init or finalize at a time.
  mutable std::mutex core_mutex;
  std::shared_ptr<library_core> core; // guarded by core_mutex
  std::array<std::atomic<uint32_t>, role_count> counts{};
  std::atomic<uint32_t> roles{0};
  std::atomic<bool> has_begun{false}; // of `core`: to be read without its mutex
};

/// Never destroyed; a forked child makes its own.
std::atomic<library_state*> current{nullptr};

constexpr size_t max_remembered = 32;
std::array<std::atomic<link*>, max_remembered> remembered{};

library_state& state() noexcept {
  auto* x = current.load(std::memory_order_acquire);
  if (x != nullptr)
    return *x;
  keep_memory_reserve(reserve); // Before the first thing that needs it.
  auto* fresh = new library_state;
  if (current.compare_exchange_strong(x, fresh))
    return *fresh;
  delete fresh;
  return *x;
}

/// Runs in a forked child: only what a signal handler may do.
void after_fork() noexcept {
  for (auto& x : remembered)
    if (auto* to = x.exchange(nullptr))
      to->abandon_after_fork();
  current.store(nullptr);
}

void watch_forks() {
  static const auto is_watched =
    pthread_atfork(nullptr, nullptr, after_fork) == 0;
  static_cast<void>(is_watched);
}

size_t index_of(role x) {
  return static_cast<size_t>(x);
}

} // namespace

void remember_for_fork(link* x) noexcept {
  for (auto& slot : remembered) {
    link* none = nullptr;
    if (slot.compare_exchange_strong(none, x))
      return;
  }
}

void forget_for_fork(link* x) noexcept {
  for (auto& slot : remembered) {
    auto* old = x;
    if (slot.compare_exchange_strong(old, nullptr))
      return;
  }
}

// -- life --------------------------------------------------------------------

library& library::instance() noexcept {
  static library only;
  return only;
}

std::shared_ptr<library_core> library::core() const {
  auto& s = state();
  const auto guard = std::lock_guard{s.core_mutex};
  return s.core;
}

bool library::is_up() const noexcept {
  return state().roles.load(std::memory_order_acquire) != 0;
}

bool library::has_role(role which) const noexcept {
  return state().counts[index_of(which)].load() != 0;
}

pmix_status_t library::begin() const noexcept try {
  auto& s = state();
  if (s.has_begun.load(std::memory_order_acquire))
    return PMIX_SUCCESS;
  // Under the lock: it may be that of the next first init.
  const auto guard = std::lock_guard{s.core_mutex};
  if (!s.core)
    return PMIX_ERR_INIT;
  if (!s.core->begin())
    return PMIX_ERR_INIT;
  if (s.core->has_begun())
    s.has_begun.store(true, std::memory_order_release);
  return PMIX_SUCCESS;
} catch (...) {
  return status_of_exception();
}

pmix_status_t library::start(role which,
                             const std::function<pmix_status_t()>& bring_up,
                             bool external) {
  if (in_progress_thread())
    return PMIX_ERR_WOULD_BLOCK;
  watch_forks();
  auto& s = state();
  const auto guard = std::lock_guard{s.init_mutex};
  auto& count = s.counts[index_of(which)];
  if (count.load() > 0) {
    ++count;
    return PMIX_SUCCESS;
  }
  const auto is_first = s.roles.load() == 0;
  if (is_first) {
    try {
      auto fresh = std::make_shared<library_core>(external);
      // It begins in any case: without descriptors there is no connection.
      if (external)
        fresh->loop.loop().prepare();
      const auto core_guard = std::lock_guard{s.core_mutex};
      s.core = std::move(fresh);
      s.has_begun = false;
    } catch (const std::bad_alloc&) {
      return status_of_exception();
    } catch (const std::exception&) {
      return PMIX_ERR_OUT_OF_RESOURCE;
    }
  }
  auto code = pmix_status_t{PMIX_SUCCESS};
  try {
    if (is_first) {
      start_events(*this);
      start_output(*this);
    }
    // A client connects on its own thread, and has no other until it calls
    // something that may need it: many end before that.
    if (which != role::client)
      code = begin();
    if (code == PMIX_SUCCESS)
      code = bring_up();
    if (code == PMIX_SUCCESS && core()->is_external)
      code = begin();
  } catch (...) {
    code = status_of_exception();
  }
  if (code == PMIX_SUCCESS) {
    count = 1;
    s.roles.fetch_add(1, std::memory_order_release);
    return PMIX_SUCCESS;
  }
  if (is_first)
    end();
  return code;
}

pmix_status_t library::stop(role which,
                            const std::function<void()>& take_down) {
  if (in_progress_thread())
    return PMIX_ERR_WOULD_BLOCK;
  auto& s = state();
  const auto guard = std::lock_guard{s.init_mutex};
  auto& count = s.counts[index_of(which)];
  if (count.load() == 0)
    return PMIX_ERR_INIT;
  if (count.load() > 1) {
    --count;
    return PMIX_SUCCESS;
  }
  if (s.roles.load() == 1)
    core()->begin_end();
  try {
    take_down();
  } catch (const std::bad_alloc&) {
    // Then the servers hear nothing, or the end of the connection.
    refill_memory_reserve();
  }
  count = 0;
  if (s.roles.fetch_sub(1) == 1)
    end();
  return PMIX_SUCCESS;
}

/// Takes down what the first init brought up. @pre no role is up
void library::end() {
  insist([this] { stop_output(*this); });
  insist([this] { stop_events(*this); });
  auto& s = state();
  auto old = core();
  if (const auto to = current_link())
    to->close();
  // One that was never chosen would be watched.
  auto others = std::vector<std::shared_ptr<link>>{};
  insist([&] {
    const auto guard = std::lock_guard{old->mutex};
    others = old->links;
  });
  for (const auto& x : others)
    x->close();
  old->shut_down();
  const auto guard = std::lock_guard{s.core_mutex};
  s.core = nullptr;
}

// -- progress ----------------------------------------------------------------

bool library::in_progress_thread() const noexcept {
  if (!library_core::runs_some_loop())
    return false;
  const auto x = core();
  return x && x->loop.loop().in_loop_thread();
}

void library::progress() {
  const auto x = core();
  // Until it has begun the loop is the thread's that is in PMIx_Init.
  if (x && x->is_external && x->has_begun() && !x->loop.loop().in_loop_thread())
    x->progress();
}

loop_system& library::loop() const {
  return core()->loop;
}

bool library::post(std::function<void()> task) const {
  const auto x = core();
  return x && x->loop.loop().post(std::move(task));
}

void library::run_in_loop(const std::function<void()>& task) const {
  const auto x = core();
  if (in_progress_thread() || (x && !x->has_begun())) {
    task();
    return;
  }
  const auto done = std::make_shared<waiter>();
  auto failure = std::exception_ptr{};
  const auto is_kept = post([&task, &failure, done] {
    try {
      task();
    } catch (...) {
      failure = std::current_exception();
    }
    done->set(PMIX_SUCCESS);
  });
  if (is_kept)
    done->wait();
  if (failure)
    std::rethrow_exception(failure);
}

// -- who we are --------------------------------------------------------------

proc_id library::proc() const {
  const auto x = core();
  if (!x)
    return {};
  const auto guard = std::lock_guard{x->mutex};
  return x->self;
}

void library::set_proc(proc_id y) {
  const auto x = core();
  if (!x)
    return;
  const auto guard = std::lock_guard{x->mutex};
  if (x->self == y)
    return;
  x->self = std::move(y);
  ++x->identities;
}

void library::set_self(const proc_id& self, const std::string& hostname,
                       const std::string& uri) {
  const auto x = core();
  if (!x)
    return;
  auto& store = *x->store;
  store.set_self(self, hostname);
  const auto note = [&](std::string_view key, value what) {
    const auto known =
      store.get({self, key}, {}, [](const value&) {}) == status::success;
    if (!known)
      store.store(self, std::string{key}, std::move(what));
  };
  note(attr::nspace, value::string(self.nspace));
  note(attr::rank, value::rank(self.rank));
  note(attr::procid, value::of_proc(self));
  store.store(self, std::string{attr::server_uri}, value::string(uri));
  set_proc(self);
}

proc_id library::server() const {
  const auto x = core();
  if (!x)
    return {};
  const auto guard = std::lock_guard{x->mutex};
  return x->server;
}

std::shared_ptr<process_store> library::store() const {
  const auto x = core();
  return x ? x->store : nullptr;
}

pmix_value_t* library::keep_value(const proc_id& proc, const std::string& key,
                                  const value& x) const {
  const auto y = core();
  return y ? y->kept.keep(proc, key, x) : nullptr;
}

// -- the way to the server ---------------------------------------------------

client_actor library::session() const {
  const auto x = core();
  if (!x)
    return {};
  const auto guard = std::lock_guard{x->mutex};
  return x->session;
}

void library::set_session(client_actor to, proc_id server) {
  const auto x = core();
  if (!x)
    return;
  const auto is_there = static_cast<bool>(to);
  {
    const auto guard = std::lock_guard{x->mutex};
    x->session = std::move(to);
    x->server = std::move(server);
  }
  if (is_there)
    tell_of_server();
}

std::shared_ptr<link> library::current_link() const {
  const auto x = core();
  if (!x)
    return nullptr;
  const auto guard = std::lock_guard{x->mutex};
  return x->to;
}

void library::set_link(std::shared_ptr<link> to) {
  const auto x = core();
  if (!x)
    return;
  auto old = std::shared_ptr<link>{};
  const auto is_there = to != nullptr;
  {
    const auto guard = std::lock_guard{x->mutex};
    x->server = to ? to->server() : proc_id{};
    old = std::exchange(x->to, std::move(to));
  }
  if (is_there)
    tell_of_server();
}

void library::tell_of_server() const {
  post([x = std::weak_ptr<library_core>{core()}] {
    if (const auto self = x.lock(); self && self->on_server)
      self->on_server();
  });
}

// -- pushes ------------------------------------------------------------------

void library::push(event_batch what) const {
  const auto now = core();
  if (now && now->loop.loop().in_loop_thread()) {
    if (now->on_events)
      now->on_events(std::move(what));
    return;
  }
  post([x = std::weak_ptr<library_core>{core()}, what = std::move(what)] {
    if (const auto self = x.lock(); self && self->on_events)
      self->on_events(what);
  });
}

void library::push(io_delivery what, output_receipt receipt) const {
  const auto now = core();
  if (now && now->loop.loop().in_loop_thread()) {
    if (now->on_output)
      now->on_output(std::move(what), std::move(receipt));
    return;
  }
  post([x = std::weak_ptr<library_core>{core()}, what = std::move(what),
        receipt = std::move(receipt)] {
    if (const auto self = x.lock(); self && self->on_output)
      self->on_output(what, receipt);
  });
}

bool library::expects_event(status code) const {
  return event_desk::events_of_ours().is_expected(code);
}

void library::set_event_sink(std::function<void(event_batch)> f) {
  run_in_loop([&] { core()->on_events = std::move(f); });
}

void library::set_output_sink(
  std::function<void(io_delivery, output_receipt)> f) {
  run_in_loop([&] { core()->on_output = std::move(f); });
}

void library::set_server_sink(std::function<void()> f) {
  run_in_loop([&] { core()->on_server = std::move(f); });
}

} // namespace troupe::c_api
