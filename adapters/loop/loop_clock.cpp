#include "adapters/loop/loop_clock.hpp"

#include "adapters/loop/actor_roster.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/turn.hpp"

#include <caf/abstract_actor.hpp>
#include <caf/group.hpp>
#include <caf/sec.hpp>

#include <vector>

// Releasing an entry may end its actor, which then cancels its timeouts here.
// Hence entries are moved out of the maps under the lock and destroyed without.

namespace troupe {

namespace {

caf::strong_actor_ptr strong(caf::abstract_actor* self) {
  return caf::strong_actor_ptr{self->ctrl()};
}

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
  std::vector<std::map<due, entry>::node_type> dropped;
  const auto guard = std::lock_guard{mutex_};
  const auto first = names_.lower_bound(key{self->id(), kind::ordinary, 0});
  auto i = first;
  for (; i != names_.end() && std::get<0>(i->first) == self->id(); ++i)
    dropped.push_back(schedule_.extract(i->second));
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
  const auto guard = std::lock_guard{mutex_};
  if (is_closed_)
    return;
  const auto when = due{t, ++last_};
  if (x.name) {
    replaced = take(*x.name);
    names_.emplace(*x.name, when);
  }
  const auto place = schedule_.emplace(when, std::move(x)).first;
  if (place == schedule_.begin())
    arm();
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
  std::vector<entry> ready;
  {
    const auto guard = std::lock_guard{mutex_};
    const auto t = now();
    auto i = schedule_.begin();
    while (i != schedule_.end() && i->first.first <= t
           && ready.size() < turn::max_items) {
      if (i->second.name)
        names_.erase(*i->second.name);
      ready.push_back(std::move(i->second));
      i = schedule_.erase(i);
    }
    if (i != schedule_.end())
      arm();
  }
  for (auto& x : ready)
    send(x.content);
}

void loop_clock::send(what& x) {
  const auto no_request = caf::make_message_id();
  if (auto* a = std::get_if<timeout>(&x))
    a->receiver->get()->eq_impl(no_request, a->receiver, nullptr, a->content);
  else if (auto* b = std::get_if<request_timeout>(&x))
    b->receiver->get()->eq_impl(b->id, b->receiver, nullptr,
                                caf::sec::request_timeout);
  else if (auto* c = std::get_if<actor_message>(&x))
    c->receiver->enqueue(std::move(c->content), nullptr);
}

} // namespace troupe
