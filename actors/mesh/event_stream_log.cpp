#include "actors/mesh/event_stream.hpp"
#include "actors/mesh/mesh_calls.hpp"
#include "config/defaults.hpp"

#include <algorithm>
#include <utility>

// The order as far as it is on this node. What has not been told to be stable
// is kept, for a new home.

namespace troupe {

namespace {

host_reply refuse_epoch() {
  return mesh_failure{status::bad_param, "the namespace has another home now"};
}

} // namespace

void event_stream::append(ordered_event what) {
  marks_[what.origin] = {what.incarnation, what.number};
  const auto place = ++last_;
  for (const auto rank : joining_of(what.what))
    if (std::count(hosts_.begin(), hosts_.end(), rank) == 0)
      hosts_.push_back(rank);
  if (is_retired_ || is_mark(what.what)) {
    kept_.push_back({std::move(what), true});
    if (taken_ + 1 == place)
      on_taken(place);
    return;
  }
  auto copy = what.what;
  kept_.push_back({std::move(what), false});
  const auto weak = weak_from_this();
  out_->deliver(nspace_, std::move(copy), [weak, place] {
    if (const auto self = weak.lock())
      self->on_taken(place);
  });
}

void event_stream::on_taken(uint64_t place) {
  if (place <= stable_ || place > last_ || is_closed_)
    return;
  const auto keep_alive = shared_from_this();
  kept_[place - stable_ - 1].is_taken = true;
  while (taken_ < last_ && kept_[taken_ - stable_].is_taken)
    ++taken_;
  while (!awaiting_taken_.empty() && awaiting_taken_.begin()->first <= taken_) {
    auto node = awaiting_taken_.extract(awaiting_taken_.begin());
    node.mapped()();
  }
  advance();
}

/// Forgets what all nodes have.
void event_stream::trim(uint64_t place) {
  for (place = std::min(place, taken_); stable_ < place; ++stable_)
    kept_.pop_front();
}

void event_stream::absorb(order_events& what) {
  auto place = what.first;
  for (auto& x : what.events)
    if (place++ == last_ + 1)
      append(std::move(x));
}

/// Hands events to the nodes that are to get them from this one.
/// @param then Gets whether all of these have them.
void event_stream::pass_on(const order_events& what,
                           const std::function<void(bool)>& then) {
  struct progress {
    size_t pending = 1;
    bool is_complete = true;
    std::function<void(bool)> then;
  };
  auto all = std::make_shared<progress>();
  all->then = then;
  const auto finish_one = [all](bool is_good) {
    all->is_complete &= is_good;
    if (--all->pending == 0)
      all->then(all->is_complete);
  };
  const auto parts = std::min<size_t>(out_->radix, what.below.size());
  for (size_t i = 0; i < parts; ++i) {
    const auto begin = what.below.begin() + what.below.size() * i / parts;
    const auto end = what.below.begin() + what.below.size() * (i + 1) / parts;
    auto copy = what;
    copy.below.assign(begin + 1, end);
    ++all->pending;
    out_->ask(*begin, std::move(copy),
              [finish_one](const caf::expected<host_reply>& x) {
                finish_one(static_cast<bool>(x));
              });
  }
  finish_one(true);
}

void event_stream::take(uint32_t from, order_events& what,
                        const answerer& reply) {
  const auto keep_alive = shared_from_this();
  merge_hosts(what.hosts);
  // A node that joins may have heard of a former home, but of no entry.
  if (!hosts_.empty() && last_ == 0 && precedes(epoch_, what.home))
    follow(what.home);
  const auto nodes = members();
  if (what.home != epoch_ || what.home == out_->self || what.first == 0
      || (from != what.home
          && std::find(nodes.begin(), nodes.end(), from) == nodes.end())) {
    reply(refuse_epoch());
    return;
  }
  const auto end = what.first + what.events.size() - 1;
  struct progress {
    size_t pending = 2;
    bool is_complete = true;
  };
  auto both = std::make_shared<progress>();
  const auto finish_one = [both, reply] {
    if (--both->pending > 0)
      return;
    if (both->is_complete)
      reply(ack{});
    else
      reply(mesh_failure{status::unreach, "a node below is lost"});
  };
  pass_on(what, [both, finish_one](bool is_complete) {
    both->is_complete = is_complete;
    finish_one();
  });
  // A node that has joined begins with what is sent to it first.
  if (last_ == 0 && (is_global() || (!hosts_.empty() && what.stable > 0)))
    stable_ = taken_ = last_ = what.first - 1;
  const auto stable = what.stable;
  if (what.first > last_ + 1) {
    const auto i = early_.find(what.first);
    if (i == early_.end() && early_.size() < 2 * defaults::event_batches)
      early_.emplace(what.first, std::move(what));
    else if (i != early_.end() && i->second.events.size() < what.events.size())
      i->second = std::move(what);
  } else {
    absorb(what);
    while (!early_.empty() && early_.begin()->first <= last_ + 1) {
      auto next = early_.extract(early_.begin());
      absorb(next.mapped());
    }
  }
  if (taken_ >= end)
    finish_one();
  else
    awaiting_taken_.emplace(end, finish_one);
  trim(stable);
  check_over();
}

void event_stream::take(uint32_t from, const collect_events& what,
                        const answerer& reply) {
  merge_hosts(what.hosts);
  if (what.home != from || precedes(what.home, epoch_)
      || (what.wants_events && what.after < stable_)) {
    reply(refuse_epoch());
    return;
  }
  if (role_ != role::member)
    depose();
  epoch_ = what.home;
  pass_over_before(what.home);
  early_.clear();
  auto result = collected_events{last_, {}};
  if (what.wants_events)
    for (auto place = what.after + 1; place <= last_; ++place)
      result.events.push_back(at(place));
  reply(std::move(result));
}

} // namespace troupe
