#include "actors/mesh/event_stream.hpp"
#include "actors/mesh/mesh_calls.hpp"
#include "config/defaults.hpp"

#include <algorithm>
#include <utility>

// The home of a namespace: gives events their places, and knows who has them.

namespace troupe {

namespace {

/// Whether a node is gone, or hosts the namespace no more.
bool is_loss(const caf::error& why) {
  return status_of(why) == status::unreach
         || status_of(why) == status::not_found;
}

} // namespace

// -- how a node becomes the home
// -------------------------------------------------------------------

void event_stream::check_home() {
  if (role_ != role::member || !is_open_ || is_closed_)
    return;
  const auto nodes = members();
  if (nodes.empty() || nodes.front() != out_->self
      || precedes(out_->self, epoch_))
    return;
  // A node that has been asked to keep a log has heard from its home.
  const auto is_founder =
    hosts_.empty() ? out_->founder(is_global() ? "" : nspace_) == out_->self
                   : hosts_.front() == out_->self;
  epoch_ = out_->self;
  if (is_founder)
    reign();
  else
    collect();
}

void event_stream::collect() {
  role_ = role::collecting;
  early_.clear();
  for (const auto rank : members())
    if (rank != out_->self)
      pending_.insert(rank);
  const auto weak = weak_from_this();
  const auto others = pending_;
  for (const auto rank : others)
    if (pending_.count(rank) > 0)
      out_->ask(rank, collect_events{nspace_, out_->self, false, 0, hosts_},
                [weak, rank](caf::expected<host_reply> x) {
                  if (const auto self = weak.lock())
                    self->on_collected(rank, std::move(x));
                });
  if (role_ == role::collecting && pending_.empty())
    fetch();
}

void event_stream::on_collected(uint32_t rank, caf::expected<host_reply> x) {
  if (role_ != role::collecting || pending_.count(rank) == 0)
    return;
  const auto what = reply_as<collected_events>(std::move(x));
  if (!what) {
    if (is_loss(what.error()))
      lose(rank);
    else
      depose();
    return;
  }
  // Who has been asked to keep a log, and has nothing yet, begins here.
  const auto is_new = !hosts_.empty() && what->last == 0;
  if (what->last < stable_ && !is_new) {
    // It had all of that once: whatever it is, it is not that node any more.
    lose(rank);
    return;
  }
  collected_[rank] = what->last;
  pending_.erase(rank);
  if (pending_.empty())
    fetch();
}

/// Gets what the longest has and this node has not.
void event_stream::fetch() {
  auto longest = collected_.end();
  for (auto i = collected_.begin(); i != collected_.end(); ++i)
    if (longest == collected_.end() || i->second > longest->second)
      longest = i;
  if (longest == collected_.end() || longest->second <= last_) {
    reign();
    return;
  }
  role_ = role::fetching;
  const auto rank = longest->first;
  const auto weak = weak_from_this();
  out_->ask(rank, collect_events{nspace_, out_->self, true, last_, hosts_},
            [weak, rank](caf::expected<host_reply> x) {
              if (const auto self = weak.lock())
                self->on_fetched(rank, std::move(x));
            });
}

void event_stream::on_fetched(uint32_t rank, caf::expected<host_reply> x) {
  if (role_ != role::fetching)
    return;
  auto what = reply_as<collected_events>(std::move(x));
  if (!what) {
    if (!is_loss(what.error())) {
      depose();
      return;
    }
    lose(rank);
  } else {
    for (auto& y : what->events)
      append(std::move(y));
  }
  if (role_ == role::fetching)
    fetch();
}

/// From now on this node gives places, after what others have been given.
void event_stream::reign() {
  role_ = role::home;
  for (const auto& [rank, last] : std::exchange(collected_, {})) {
    if (gone_.count(rank) > 0)
      continue;
    const auto id = next_branch_++;
    if (last < stable_) {
      // It joins: it begins behind what all others know.
      held_ = last_;
      acknowledged_[rank] = last_;
      branches_[id] = {{rank}, last_, last_, 0, last_};
      continue;
    }
    acknowledged_[rank] = stable_;
    // Also if nothing is missing: the answer says what its log has.
    send_batch(id, branches_[id] = {{rank}, last, 0, 0, 0});
  }
  add_followers();
  distribute();
  for (auto& x : std::exchange(parked_, {}))
    place(std::move(x));
  advance();
}

/// Others take this node for lost: it will hear of that, and end. Nothing it
/// has accepted is answered any more.
void event_stream::depose() {
  role_ = role::deposed;
  branches_.clear();
  acknowledged_.clear();
}

// -- places
// -------------------------------------------------------------------

void event_stream::take(uint32_t from, uint64_t incarnation, submit_event& what,
                        const answerer& reply) {
  auto x = submission{};
  x.what = {from, incarnation, what.number, std::move(what.what)};
  x.then = [reply](const caf::expected<ack>& y) {
    reply(y ? host_reply{*y} : refusal(y.error()));
  };
  x.may_wait = what.may_wait;
  place(std::move(x));
}

void event_stream::place(submission x) {
  const auto keep_alive = shared_from_this();
  check_home();
  if (role_ != role::home) {
    // Whoever sends it knows sooner than this node that it is the home.
    parked_.push_back(std::move(x));
    return;
  }
  if (x.may_wait) {
    gather(std::move(x));
    return;
  }
  gathered_.push_back(std::move(x));
  flush();
}

/// Keeps an entry until all nodes have sent one, or for a moment.
/// @param x Without a number, there is none: somebody is lost.
void event_stream::gather(submission x) {
  if (x.what.number > 0) {
    heard_.insert(x.what.origin);
    gathered_.push_back(std::move(x));
  }
  const auto nodes = members();
  if (std::all_of(nodes.begin(), nodes.end(),
                  [this](uint32_t rank) { return heard_.count(rank) > 0; })) {
    heard_.clear();
    flush();
  } else if (gathered_.size() == 1 && x.what.number > 0) {
    out_->after(defaults::group_gathering, [weak = weak_from_this()] {
      if (const auto self = weak.lock())
        self->flush();
    });
  }
}

/// Gives all that has been gathered their places; they leave together.
void event_stream::flush() {
  if (role_ != role::home)
    return;
  const auto keep_alive = shared_from_this();
  for (auto& x : std::exchange(gathered_, {}))
    put(std::move(x));
  distribute();
  advance();
}

/// Gives an event its place.
void event_stream::put(submission x) {
  const auto i = marks_.find(x.what.origin);
  if (i != marks_.end() && i->second.incarnation == x.what.incarnation
      && x.what.number <= i->second.number) {
    for (auto place = stable_ + 1; place <= last_; ++place) {
      const auto& y = at(place);
      if (y.origin == x.what.origin && y.incarnation == x.what.incarnation
          && y.number == x.what.number) {
        awaiting_stable_.emplace(place, std::move(x.then));
        return;
      }
    }
    x.then(ack{});
    return;
  }
  add_followers();
  add_joining(joining_of(x.what.what));
  awaiting_stable_.emplace(last_ + 1, std::move(x.then));
  append(std::move(x.what));
}

/// From behind the next place on, these keep the log, too. They get nothing
/// before all others know of them: whoever becomes the home then asks them.
void event_stream::add_joining(const std::vector<uint32_t>& ranks) {
  if (hosts_.empty())
    return;
  for (const auto rank : ranks) {
    if (std::count(hosts_.begin(), hosts_.end(), rank) > 0)
      continue;
    hosts_.push_back(rank);
    held_ = last_ + 1;
    acknowledged_[rank] = held_;
    branches_[next_branch_++] = {{rank}, held_, held_, 0, held_};
  }
}

// -- the others
// -------------------------------------------------------------------

/// Those that have joined get what follows.
void event_stream::add_followers() {
  auto is_new = false;
  for (const auto rank : members())
    if (rank != out_->self && acknowledged_.emplace(rank, last_).second) {
      // Who joins a log gets nothing before all others know of it.
      const auto held = hosts_.empty() || stable_ == last_ ? 0 : last_;
      held_ = std::max(held_, held);
      branches_[next_branch_++] = {{rank}, last_, last_, 0, held};
      is_new = true;
    }
  if (is_new)
    arrange();
}

/// Lets at most `radix` of the others pass events on, if all are up to date.
void event_stream::arrange() {
  const auto size = acknowledged_.size();
  const auto parts = std::min<size_t>(out_->radix, size);
  if (stable_ != last_ || branches_.size() <= parts)
    return;
  auto told = stable_;
  for (const auto& [id, x] : branches_) {
    if (x.in_flight > 0 || x.sent != last_)
      return;
    told = std::min(told, x.told);
  }
  branches_.clear();
  auto ranks = std::vector<uint32_t>{};
  for (const auto& [rank, unused] : acknowledged_)
    ranks.push_back(rank);
  for (size_t i = 0; i < parts; ++i)
    branches_[next_branch_++] = {{ranks.begin() + size * i / parts,
                                  ranks.begin() + size * (i + 1) / parts},
                                 last_,
                                 told,
                                 0,
                                 0};
}

void event_stream::distribute() {
  if (role_ != role::home)
    return;
  auto ids = std::vector<uint64_t>{};
  for (const auto& [id, unused] : branches_)
    ids.push_back(id);
  for (const auto id : ids)
    for (auto i = branches_.find(id);
         i != branches_.end() && i->second.sent < last_
         && i->second.held <= stable_
         && i->second.in_flight < defaults::event_batches;
         i = branches_.find(id))
      send_batch(id, i->second);
}

/// Sends what follows what has been sent; nothing but the stable place, if
/// nothing follows.
void event_stream::send_batch(uint64_t id, branch& to) {
  auto what =
    order_events{nspace_, out_->self, to.sent + 1, stable_, {}, {}, hosts_};
  what.below.assign(to.ranks.begin() + 1, to.ranks.end());
  while (to.sent < last_ && what.events.size() < defaults::event_batch)
    what.events.push_back(at(++to.sent));
  to.told = stable_;
  ++to.in_flight;
  const auto end = to.sent;
  const auto rank = to.ranks.front();
  out_->ask(rank, std::move(what),
            [weak = weak_from_this(), id, ranks = to.ranks,
             end](const caf::expected<host_reply>& x) {
              if (const auto self = weak.lock())
                self->on_batch(id, ranks, end, x);
            });
}

void event_stream::on_batch(uint64_t id, const std::vector<uint32_t>& ranks,
                            uint64_t end, const caf::expected<host_reply>& x) {
  if (role_ != role::home)
    return;
  const auto keep_alive = shared_from_this();
  const auto i = branches_.find(id);
  if (i != branches_.end())
    --i->second.in_flight;
  if (x) {
    for (const auto rank : ranks)
      if (const auto j = acknowledged_.find(rank); j != acknowledged_.end())
        j->second = std::max(j->second, end);
  } else if (i == branches_.end()) {
    // They are reached in another way by now.
  } else if (ranks.size() > 1) {
    dissolve(id);
  } else if (is_loss(x.error())) {
    lose(ranks.front());
    return;
  } else {
    depose();
    return;
  }
  advance();
  distribute();
  check_over();
}

/// From now on each of these is reached directly, from what it surely has on.
void event_stream::dissolve(uint64_t id) {
  const auto node = branches_.extract(id);
  if (node.empty())
    return;
  for (const auto rank : node.mapped().ranks)
    if (const auto i = acknowledged_.find(rank); i != acknowledged_.end()) {
      const auto next = next_branch_++;
      // Also if nothing is missing: one of them may be lost.
      send_batch(next, branches_[next] = {{rank}, i->second, 0, 0, 0});
    }
}

/// Notes what is stable.
void event_stream::advance() {
  if (role_ != role::home)
    return;
  auto place = taken_;
  for (const auto& [rank, has] : acknowledged_)
    place = std::min(place, has);
  trim(place);
  while (!awaiting_stable_.empty()
         && awaiting_stable_.begin()->first <= stable_) {
    auto node = awaiting_stable_.extract(awaiting_stable_.begin());
    node.mapped()(ack{});
  }
  if (role_ == role::home && held_ > 0 && stable_ >= held_) {
    held_ = 0;
    distribute();
  }
  if (role_ != role::home || stable_ != last_)
    return;
  arrange();
  auto ids = std::vector<uint64_t>{};
  for (const auto& [id, x] : branches_)
    if (stable_ >= x.told + defaults::event_untold)
      ids.push_back(id);
  for (const auto id : ids)
    if (const auto i = branches_.find(id); i != branches_.end())
      send_batch(id, i->second);
  check_over();
}

} // namespace troupe
