#include "adapters/loop/loop_clock.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/run_queue.hpp"
#include "adapters/loop/turn.hpp"

#include <caf/abstract_actor.hpp>
#include <caf/group.hpp>
#include <caf/sec.hpp>

#include <new>

// Releasing an entry may end its actor, which then cancels its timeouts here.
// Hence entries are moved out of the maps under the lock and destroyed without.

namespace troupe {

namespace {

caf::strong_actor_ptr strong(caf::abstract_actor* self) {
  return caf::strong_actor_ptr{self->ctrl()};
}

/// How long to wait for memory that others may give back.
constexpr auto memory_pause = std::chrono::milliseconds{10};

uint64_t number(caf::atom_value x) {
  return static_cast<uint64_t>(x);
}

} // namespace

loop_clock::loop_clock(event_loop& loop, actor_roster& roster)
  : roster_(roster), timer_(loop.base(), -1, 0, [this] { fire(); }) {
  // nop
}

void loop_clock::set_ordinary_timeout(time_point t, caf::abstract_actor* self,
                                      caf::atom_value type, uint64_t id) {
  const auto name = key{self->id(), kind::ordinary, number(type)};
  put(t, {name, timeout{strong(self), caf::timeout_msg{type, id}}});
}

void loop_clock::set_multi_timeout(time_point t, caf::abstract_actor* self,
                                   caf::atom_value type, uint64_t id) {
  const auto name = key{self->id(), kind::multi, id};
  put(t, {name, timeout{strong(self), caf::timeout_msg{type, id}}});
}

void loop_clock::set_request_timeout(time_point t, caf::abstract_actor* self,
                                     caf::message_id id) {
  const auto name = key{self->id(), kind::request, id.integer_value()};
  put(t, {name, request_timeout{strong(self), id}});
}

void loop_clock::cancel_ordinary_timeout(caf::abstract_actor* self,
                                         caf::atom_value type) {
  cancel({self->id(), kind::ordinary, number(type)});
}

void loop_clock::cancel_request_timeout(caf::abstract_actor* self,
                                        caf::message_id id) {
  cancel({self->id(), kind::request, id.integer_value()});
}

void loop_clock::cancel_timeouts(caf::abstract_actor* self) {
  roster_.remove(self);
  std::map<due, entry> dropped;
  const auto guard = std::lock_guard{mutex_};
  const auto first = names_.lower_bound(key{self->id(), kind::ordinary, 0});
  auto i = first;
  for (; i != names_.end() && std::get<0>(i->first) == self->id(); ++i)
    dropped.insert(schedule_.extract(i->second));
  names_.erase(first, i);
  if (schedule_.empty())
    timer_.remove();
}

void loop_clock::schedule_message(time_point t, caf::strong_actor_ptr receiver,
                                  caf::mailbox_element_ptr content) {
  put(t,
      {std::nullopt, actor_message{std::move(receiver), std::move(content)}});
}

void loop_clock::schedule_message(time_point, caf::group, caf::strong_actor_ptr,
                                  caf::message) {
  // nop
}

void loop_clock::cancel_all() {
  std::map<due, entry> dropped;
  const auto guard = std::lock_guard{mutex_};
  schedule_.swap(dropped);
  names_.clear();
  timer_.remove();
}

void loop_clock::close() {
  {
    const auto guard = std::lock_guard{mutex_};
    is_closed_ = true;
  }
  cancel_all();
}

size_t loop_clock::size() const {
  const auto guard = std::lock_guard{mutex_};
  return schedule_.size();
}

void loop_clock::put(time_point t, entry x) {
  std::optional<entry> replaced;
  node failed;
  const auto guard = std::lock_guard{mutex_};
  if (is_closed_)
    return;
  const auto when = due{t, ++last_};
  if (x.name)
    replaced = take(*x.name);
  const auto place = schedule_.emplace(when, std::move(x)).first;
  try {
    if (place->second.name)
      names_.emplace(*place->second.name, when);
    if (place == schedule_.begin())
      arm();
  } catch (const std::bad_alloc&) {
    if (place->second.name)
      names_.erase(*place->second.name);
    failed = schedule_.extract(place);
    throw;
  }
}

void loop_clock::cancel(const key& name) {
  std::optional<entry> dropped;
  const auto guard = std::lock_guard{mutex_};
  dropped = take(name);
  if (schedule_.empty())
    timer_.remove();
}

/// Takes out what `name` stands for; the caller holds the lock.
std::optional<loop_clock::entry> loop_clock::take(const key& name) {
  const auto when = names_.extract(name);
  if (when.empty())
    return std::nullopt;
  return std::move(schedule_.extract(when.mapped()).mapped());
}

/// Sets the timer to the first entry; the caller holds the lock. The timer may
/// be set to an earlier time than that, after a cancel: it then fires in vain.
void loop_clock::arm() {
  timer_.fire_after(schedule_.begin()->first.first - now());
}

void loop_clock::fire() {
  const auto t = now();
  for (size_t i = 0; i < turn::max_items; ++i) {
    auto next = take_due(t);
    if (next.empty())
      break;
    try {
      send(next.mapped().content);
    } catch (const std::bad_alloc&) {
      put_back(std::move(next));
      return;
    }
  }
  const auto guard = std::lock_guard{mutex_};
  if (!schedule_.empty())
    arm();
}

/// Takes out the first entry, if it is due at `t`.
loop_clock::node loop_clock::take_due(time_point t) {
  const auto guard = std::lock_guard{mutex_};
  const auto first = schedule_.begin();
  if (first == schedule_.end() || first->first.first > t)
    return {};
  if (first->second.name)
    names_.erase(*first->second.name);
  return schedule_.extract(first);
}

/// What could not be sent for want of memory comes a little later. Nobody can
/// cancel it any more: CAF knows what it has not asked for.
void loop_clock::put_back(node x) noexcept {
  x.mapped().name.reset();
  const auto guard = std::lock_guard{mutex_};
  if (is_closed_)
    return;
  schedule_.insert(std::move(x));
  try {
    timer_.fire_after(memory_pause);
  } catch (const std::bad_alloc&) {
    // The next entry sets it.
  }
}

void loop_clock::send(what& x) {
  const auto no_request = caf::make_message_id();
  if (auto* a = std::get_if<timeout>(&x))
    a->receiver->get()->eq_impl(no_request, a->receiver, nullptr, a->content);
  else if (auto* b = std::get_if<request_timeout>(&x))
    b->receiver->get()->eq_impl(b->id, b->receiver, nullptr,
                                caf::sec::request_timeout);
  else if (auto* c = std::get_if<actor_message>(&x); c && c->content)
    c->receiver->enqueue(std::move(c->content), nullptr);
}

} // namespace troupe
