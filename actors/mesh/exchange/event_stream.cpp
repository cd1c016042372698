#include "actors/mesh/exchange/event_stream.hpp"

#include "actors/mesh/exchange/defaults.hpp"
#include "actors/mesh/exchange/event_origins.hpp"
#include "actors/mesh/exchange/mesh_calls.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace troupe {

namespace defaults {

using namespace std::chrono_literals;

/// How long the home of a log keeps a call for those of other nodes; and if not
/// all of them need have something to say.
inline constexpr auto group_gathering = 10ms;
inline constexpr auto group_gathering_of_all = 2ms;

} // namespace defaults

namespace {

/// An entry that has a place, and says only who joins the log.
ordered_content joining_mark(const std::vector<uint32_t>& ranks) {
  auto result = group_snapshot{};
  for (const auto rank : ranks)
    result.state += std::to_string(rank) + " ";
  return group_entry{{}, {}, std::move(result), 0};
}

host_reply refuse_epoch() {
  return mesh_failure{status::bad_param, "the namespace has another home now"};
}

host_reply refuse_nodes() {
  return mesh_failure{status::bad_param, "there are not so many nodes"};
}

/// Whether a node is gone, or hosts the namespace no more.
bool is_loss(const caf::error& why) {
  return status_of(why) == status::unreach
         || status_of(why) == status::not_found;
}

host_reply refuse_to_pass() {
  return mesh_failure{status::not_available, "it is to go to the home"};
}

// -- trees, by the places of nodes: the children of `x` are `radix * x + 1` and
// -- those that follow

/// The nodes at a place and below it, level by level, as that one and those
/// below it are told apart again.
/// @param first The place of the first in the list.
rank_list level_by_level(const rank_list& nodes, size_t first, size_t top,
                         uint32_t radix) {
  auto result = rank_list{};
  const auto size = nodes.size() + first;
  for (auto begin = top, end = top + 1; begin < size;
       begin = begin * radix + 1, end = end * radix + 1)
    result.append(nodes.part(begin - first, std::min(end, size) - first));
  return result;
}

} // namespace

event_stream::event_stream(std::string nspace, std::shared_ptr<const means> out,
                           log_hosts hosts)
  : nspace_(std::move(nspace)), out_(std::move(out)), hosts_(hosts.ranks),
    gone_(hosts.lost.begin(), hosts.lost.end()) {
  // Nobody may begin anew without asking, except the first of all.
  epoch_ = !hosts_.empty() ? hosts_.front()
           : is_global()   ? out_->founder({})
                           : out_->founder(nspace_);
  is_open_ = nspace_.empty();
}

std::optional<trace_id> event_stream::name_of(const ordered_content& what,
                                              uint64_t number,
                                              uint32_t node) const {
  if (!out_->trace || !std::holds_alternative<deliver_event>(what))
    return std::nullopt;
  return out_->trace->event(nspace_, number, node);
}

bool event_stream::precedes(uint32_t x, uint32_t y) const {
  if (hosts_.empty())
    return x < y;
  const auto none = hosts_.size();
  return hosts_.place_of(x).value_or(none) < hosts_.place_of(y).value_or(none);
}

std::vector<uint32_t> event_stream::log_ranks() const {
  auto result = std::vector<uint32_t>{hosts_};
  std::sort(result.begin(), result.end());
  return result;
}

/// Takes what another node knows of who keeps the log: who knows more has the
/// same ones first.
void event_stream::merge_hosts(const rank_list& ranks) {
  if (!hosts_.empty() && ranks.size() > hosts_.size())
    hosts_ = ranks;
}

/// A node is the home: those before it are lost.
void event_stream::pass_over_before(uint32_t home) {
  if (!hosts_.contains(home))
    return;
  for (const auto& x : hosts_.runs())
    for (uint32_t i = 0; i < x.count; ++i) {
      if (x.first + i == home)
        return;
      gone_.insert(x.first + i);
    }
}

/// The nodes of this order, those among them that are lost to it, too.
rank_list event_stream::all_nodes() const {
  return !hosts_.empty() ? hosts_ : out_->hosts(is_global() ? "" : nspace_);
}

std::vector<uint32_t> event_stream::members() const {
  auto result = std::vector<uint32_t>{all_nodes()};
  result.erase(
    std::remove_if(result.begin(), result.end(),
                   [this](uint32_t rank) { return gone_.count(rank) > 0; }),
    result.end());
  return result;
}

std::optional<uint32_t> event_stream::first_member() const {
  const auto all = all_nodes();
  for (const auto& x : all.runs())
    for (uint32_t i = 0; i < x.count; ++i)
      if (gone_.count(x.first + i) == 0)
        return x.first + i;
  return std::nullopt;
}

bool event_stream::is_member(uint32_t rank) const {
  return gone_.count(rank) == 0 && all_nodes().contains(rank);
}

// -- as an origin ------------------------------------------------------------

/// Submitted to the home of the namespace, and again to the next one if that is
/// lost.
void event_stream::submit(ordered_content what, completion then,
                          bool may_wait) {
  if (const auto name = name_of(what, next_number_, out_->self))
    out_->trace->note_proc(*name, trace_step::raised,
                           std::get<deliver_event>(what).what.source);
  outbox_.emplace(next_number_++,
                  outgoing{std::move(what), std::move(then), may_wait});
  pump();
}

void event_stream::extend(const std::vector<uint32_t>& ranks) {
  auto joining = std::vector<uint32_t>{};
  for (const auto rank : ranks)
    if (!hosts_.contains(rank)
        && std::count(joining.begin(), joining.end(), rank) == 0)
      joining.push_back(rank);
  if (hosts_.empty() || joining.empty())
    return;
  std::sort(joining.begin(), joining.end());
  auto x = outgoing{};
  x.what = joining_mark(joining);
  outbox_.emplace(next_number_++, std::move(x));
  pump();
}

/// Sends what may be sent.
void event_stream::pump() {
  const auto home = first_member();
  if (!home) {
    while (!outbox_.empty())
      complete(outbox_.begin()->first,
               make_error(status::unreach,
                          "no node that runs " + nspace_ + " is left"));
    return;
  }
  if (target_ != *home) {
    target_ = *home;
    in_flight_ = 0;
    rising_.reset();
    next_to_send_ = outbox_.empty() ? next_number_ : outbox_.begin()->first;
  }
  while (!rising_ && in_flight_ < defaults::event_submissions) {
    const auto i = outbox_.lower_bound(next_to_send_);
    if (i == outbox_.end())
      return;
    next_to_send_ = i->first + 1;
    ++in_flight_;
    // What this does may call back in, and change the target.
    if (may_rise(i->first)) {
      rise(i->first);
    } else {
      i->second.is_direct = true;
      send(*target_, i->first);
    }
  }
}

/// Whether an event goes up the tree: calls, if all before have their place.
bool event_stream::may_rise(uint64_t number) const {
  const auto place = place_in_tree();
  const auto& x = outbox_.at(number);
  if (!place || *place == 0 || !x.may_wait || x.is_direct
      || calls_of(x.what) == nullptr)
    return false;
  // Nobody is below, and the home is next.
  if (*place <= out_->radix && count_below(*place) == 1)
    return false;
  return std::all_of(outbox_.begin(), outbox_.find(number),
                     [](const auto& y) { return y.second.has_place; });
}

void event_stream::rise(uint64_t number) {
  rising_ = number;
  auto x = submission{};
  x.what = {out_->self, incarnation(), number, outbox_.at(number).what};
  x.may_wait = true;
  x.then = [weak = weak_from_this(), number](const caf::expected<ack>& y) {
    if (const auto self = weak.lock())
      self->on_risen(number, y);
  };
  gather(std::move(x));
}

void event_stream::on_risen(uint64_t number, const caf::expected<ack>& x) {
  if (rising_ == number)
    rising_.reset();
  const auto i = outbox_.find(number);
  if (i == outbox_.end() || i->second.is_direct) {
    // It has been sent to the home meanwhile, or everything is over.
  } else if (x) {
    complete(number, ack{});
  } else {
    i->second.is_direct = true;
    send(*target_, number);
  }
  pump();
}

/// What this node has submitted is in the order.
void event_stream::note_placed(const event_origin& x) {
  if (!covers(x, out_->self) || x.incarnation != incarnation())
    return;
  const auto i = outbox_.find(x.number);
  if (i != outbox_.end())
    i->second.has_place = true;
  if (rising_ == x.number)
    rising_.reset();
}

void event_stream::send(uint32_t home, uint64_t number) {
  const auto& out = outbox_.at(number);
  const auto weak = weak_from_this();
  if (home == out_->self) {
    auto x = submission{};
    x.what = {out_->self, incarnation(), number, out.what};
    x.may_wait = out.may_wait;
    x.then = [weak, home, number](const caf::expected<ack>& y) {
      if (const auto self = weak.lock())
        self->on_submitted(home, number,
                           y ? caf::expected<host_reply>{host_reply{*y}}
                             : caf::expected<host_reply>{y.error()});
    };
    place(std::move(x));
    return;
  }
  if (const auto name = name_of(out.what, number, out_->self))
    out_->trace->note_node(*name, trace_step::submitted, home);
  auto what = submit_event{nspace_, number, out.what, hosts_, out.may_wait, {}};
  out_->ask(home, std::move(what),
            [weak, home, number](const caf::expected<host_reply>& x) {
              if (const auto self = weak.lock())
                self->on_submitted(home, number, x);
            });
}

void event_stream::on_submitted(uint32_t home, uint64_t number,
                                const caf::expected<host_reply>& x) {
  if (x) {
    complete(number, ack{});
    pump();
  } else if (target_ != home) {
    // It has been sent to the next one.
  } else if (status_of(x.error()) == status::unreach) {
    const auto keep_alive = shared_from_this();
    lose(home);
    if (target_ == home)
      complete(number, x.error());
  } else {
    complete(number, x.error());
    // What was in the way of the question may have gone.
    if (over_)
      ask_successor();
    pump();
  }
}

void event_stream::complete(uint64_t number, caf::expected<ack> x) {
  auto node = outbox_.extract(number);
  if (node.empty())
    return;
  if (number < next_to_send_ && in_flight_ > 0)
    --in_flight_;
  if (const auto name = name_of(node.mapped().what, number, out_->self))
    out_->trace->note(*name, trace_step::stable, 0,
                      x ? status::success : status_of(x.error()));
  if (node.mapped().then)
    node.mapped().then(std::move(x));
}

// -- what happens meanwhile --------------------------------------------------

void event_stream::follow(uint32_t home) {
  pass_over_before(home);
  if (home != out_->self)
    epoch_ = home;
  else
    check_home();
}

void event_stream::open() {
  is_open_ = true;
  check_home();
}

void event_stream::lose(uint32_t rank) {
  if (is_closed_)
    return;
  const auto keep_alive = shared_from_this();
  // All others come back under another incarnation, which hosts no job.
  if (!is_global())
    gone_.insert(rank);
  parked_.erase(
    std::remove_if(parked_.begin(), parked_.end(),
                   [&](const submission& x) { return x.what.origin == rank; }),
    parked_.end());
  auto refused = hosts_.empty() || hosts_.contains(rank)
                   ? take_gathered_of(rank)
                   : std::vector<submission>{};
  if (role_ == role::deposed)
    refused.clear();
  heard_.erase(rank);
  pending_.erase(rank);
  collected_.erase(rank);
  acknowledged_.erase(rank);
  auto hit = std::vector<uint64_t>{};
  for (const auto& [id, x] : branches_)
    if (x.ranks.contains(rank))
      hit.push_back(id);
  for (const auto id : hit)
    dissolve(id);
  if (role_ == role::collecting && pending_.empty())
    fetch();
  advance();
  distribute();
  check_home();
  if (!gathered_.empty())
    gather({});
  ask_successor();
  refuse(std::move(refused));
  pump();
  check_over();
}

void event_stream::retire(std::function<void()> over) {
  if (is_closed_ || std::exchange(is_retired_, true))
    return;
  const auto keep_alive = shared_from_this();
  over_ = std::move(over);
  rising_.reset();
  const auto gone = make_error(status::not_found, "the group is over");
  for (auto* those : {&parked_, &gathered_})
    for (auto& x : std::exchange(*those, {}))
      if (is_mark(x.what.what))
        those->push_back(std::move(x));
      else
        x.answer(gone);
  auto numbers = std::vector<uint64_t>{};
  for (const auto& [number, x] : outbox_)
    if (!is_mark(x.what))
      numbers.push_back(number);
  for (const auto number : numbers)
    complete(number, gone);
  advance();
  ask_successor();
  pump();
  check_over();
}

/// The home is lost, and the next one may never have heard of the group: it
/// asks for what the others have. If the group is over here, this node needs to
/// know when they all have it.
void event_stream::ask_successor() {
  if (hosts_.empty() || role_ != role::member || gone_.count(epoch_) == 0
      || !outbox_.empty() || (kept_.empty() && !over_))
    return;
  auto x = outgoing{};
  x.what = joining_mark({});
  x.then = [weak = weak_from_this()](const caf::expected<ack>&) {
    const auto self = weak.lock();
    if (!self || !self->over_)
      return;
    // As the home it has to see to the others.
    if (self->role_ == role::member)
      self->end();
    else
      self->check_over();
  };
  outbox_.emplace(next_number_++, std::move(x));
}

/// Ends what has been retired once nobody needs it: as the home when all others
/// know that they have everything, elsewhere when this node knows that.
void event_stream::check_over() {
  if (!is_retired_ || !over_ || is_closed_)
    return;
  if (role_ == role::deposed || (role_ == role::member && stable_ == last_)) {
    for (auto& x : std::exchange(parked_, {}))
      x.then(make_error(status::not_found, "the group is over"));
    end();
    return;
  }
  const auto is_sending =
    std::any_of(branches_.begin(), branches_.end(),
                [](const auto& x) { return x.second.in_flight > 0; });
  if (role_ != role::home || stable_ != last_ || is_sending)
    return;
  auto others = std::vector<uint32_t>{};
  for (const auto& [rank, unused] : acknowledged_)
    others.push_back(rank);
  out_->tell_end(nspace_, others, stable_);
  end();
}

void event_stream::finish(uint32_t home, uint64_t place) {
  if (is_closed_ || role_ != role::member || home != epoch_)
    return;
  const auto keep_alive = shared_from_this();
  trim(place);
  if (!is_retired_)
    out_->abandon(nspace_);
  else
    check_over();
}

/// Nobody needs it any more; what has been answered may have ended it already.
void event_stream::end() {
  if (const auto over = std::exchange(over_, nullptr))
    over();
}

void event_stream::close() {
  if (std::exchange(is_closed_, true))
    return;
  const auto keep_alive = shared_from_this();
  role_ = role::member;
  branches_.clear();
  rising_.reset();
  // Nobody is left who is owed anything.
  for (auto& [place, then] : std::exchange(awaiting_stable_, {}))
    then(ack{});
  for (auto& [place, then] : std::exchange(awaiting_taken_, {}))
    then();
  const auto gone = make_error(status::not_found, nspace_ + " is gone");
  for (auto* those : {&parked_, &gathered_})
    for (auto& x : std::exchange(*those, {}))
      x.answer(gone);
  while (!outbox_.empty())
    complete(outbox_.begin()->first, gone);
}

// -- as a member -------------------------------------------------------------

void event_stream::append(ordered_event what) {
  const auto was_rising = rising_;
  const auto place = ++last_;
  any_origin(what, [&](const event_origin& x) {
    marks_.set(x, place);
    note_placed(x);
    return false;
  });
  for (const auto rank : joining_of(what.what))
    if (!hosts_.contains(rank))
      hosts_.push_back(rank);
  if (is_retired_ || is_mark(what.what)) {
    kept_.push_back({std::move(what), true});
    if (taken_ + 1 == place)
      on_taken(place);
    return;
  }
  auto copy = what.what;
  if (const auto name = name_of(copy, what.number, what.origin)) {
    out_->trace->note(*name, trace_step::placed, place);
    std::get<deliver_event>(copy).mark = {name->name, name->number, name->node};
  }
  kept_.push_back({std::move(what), false});
  const auto weak = weak_from_this();
  out_->deliver(nspace_, std::move(copy), [weak, place] {
    if (const auto self = weak.lock())
      self->on_taken(place);
  });
  // What has waited for it may go.
  if (was_rising && !rising_)
    pump();
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
    auto copy = what;
    copy.below = level_by_level(what.below, 1, i + 1, out_->radix);
    copy.below = copy.below.part(1, copy.below.size());
    ++all->pending;
    out_->ask(what.below[i], std::move(copy),
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
  if (what.home != epoch_ || what.home == out_->self || what.first == 0
      || (from != what.home && !is_member(from))) {
    reply(refuse_epoch());
    return;
  }
  if (!std::all_of(what.events.begin(), what.events.end(), out_->may_be)) {
    reply(refuse_nodes());
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

// -- as the home: how a node becomes it --------------------------------------

void event_stream::check_home() {
  if (role_ != role::member || !is_open_ || is_closed_)
    return;
  if (first_member() != out_->self || precedes(out_->self, epoch_))
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
  } else if (what->events.empty()
             || !std::all_of(what->events.begin(), what->events.end(),
                             out_->may_be)) {
    // It does not have what it has said it has, or no such node has been given
    // that: it is not to be asked again.
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

// -- as the home: places -----------------------------------------------------

void event_stream::take(uint32_t from, uint64_t incarnation, submit_event& what,
                        const answerer& reply) {
  const auto keep_alive = shared_from_this();
  auto x = submission{};
  x.then = [reply](const caf::expected<ack>& y) {
    reply(y ? host_reply{*y} : refusal(y.error()));
  };
  x.may_wait = what.may_wait;
  if (const auto name = name_of(what.what, what.number, from))
    out_->trace->note_node(*name, trace_step::submission_received, from);
  if (what.origins.empty()) {
    x.what = {from, hosts_.empty() ? incarnation : 0, what.number,
              std::move(what.what)};
    if (out_->may_be(x.what))
      place(std::move(x));
    else
      reply(refuse_nodes());
    return;
  }
  check_home();
  if (!may_pass(from, what)) {
    reply(refuse_to_pass());
    return;
  }
  x.is_passed = true;
  x.what.what = std::move(what.what);
  set_origins(x.what, std::move(what.origins));
  gather(std::move(x));
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
    for (const auto& y : origins_of(x.what))
      for (uint32_t i = 0; i < y.count; ++i)
        heard_.insert(y.rank + i);
    gathered_.push_back(std::move(x));
  }
  if (has_heard_all()) {
    heard_.clear();
    flush();
  } else if (gathered_.size() == 1 && x.what.number > 0) {
    out_->after(hosts_.empty() ? defaults::group_gathering_of_all
                               : defaults::group_gathering,
                [weak = weak_from_this(), number = gatherings_] {
                  const auto self = weak.lock();
                  if (self && self->gatherings_ == number)
                    self->flush();
                });
  }
}

/// Whether all have sent one that may: at the home all nodes, elsewhere those
/// below and this one.
bool event_stream::has_heard_all() const {
  if (role_ != role::home) {
    const auto place = place_in_tree();
    return !place || heard_.size() >= count_below(*place);
  }
  if (heard_.size() + gone_.size() < hosts_.size())
    return false;
  const auto nodes = members();
  return std::all_of(nodes.begin(), nodes.end(),
                     [this](uint32_t rank) { return heard_.count(rank) > 0; });
}

/// Shows what has been gathered, in its order; calls that can be are one.
void event_stream::take_gathered(const call_merger::receiver& show) {
  ++gatherings_;
  call_merger{}.run(
    std::exchange(gathered_, {}),
    [this](const ordered_event& x) { return is_repeat(x); }, show);
}

/// Gives all that has been gathered their places, and they leave together; or
/// sends it up.
void event_stream::flush() {
  const auto keep_alive = shared_from_this();
  if (role_ == role::member)
    send_up();
  if (role_ != role::home)
    return;
  take_gathered([this](submission x) { put(std::move(x)); });
  distribute();
  advance();
}

/// Whether it, or one of those that it has taken in, has its place already.
bool event_stream::is_repeat(const ordered_event& x) const {
  return any_origin(x, [this](const event_origin& y) { return marks_.has(y); });
}

/// Gives an event its place.
void event_stream::put(submission x) {
  if (is_repeat(x.what)) {
    if (!x.what.with.empty()) {
      // Each asks for itself.
      x.answer(make_error(status::not_available, "some have called before"));
      return;
    }
    // If that is the place of a later one of the node, its own is before it.
    const auto place =
      marks_.place_from({x.what.origin, x.what.incarnation, x.what.number, 1});
    if (place > stable_)
      awaiting_stable_.emplace(*place, std::move(x.then));
    else
      x.then(ack{});
    return;
  }
  add_followers();
  add_joining(joining_of(x.what.what));
  awaiting_stable_.emplace(last_ + 1, std::move(x.then));
  for (auto& then : x.also)
    awaiting_stable_.emplace(last_ + 1, std::move(then));
  append(std::move(x.what));
}

/// From behind the next place on, these keep the log, too. They get nothing
/// before all others know of them: whoever becomes the home then asks them.
void event_stream::add_joining(const std::vector<uint32_t>& ranks) {
  if (hosts_.empty())
    return;
  for (const auto rank : ranks) {
    if (hosts_.contains(rank))
      continue;
    hosts_.push_back(rank);
    held_ = last_ + 1;
    acknowledged_[rank] = held_;
    branches_[next_branch_++] = {{rank}, held_, held_, 0, held_};
  }
}

// -- on the way of calls to the home ------------------------------------------

/// Whether none that keeps the log of a group is lost.
bool event_stream::is_whole() const {
  return std::none_of(gone_.begin(), gone_.end(),
                      [this](uint32_t rank) { return hosts_.contains(rank); });
}

/// Where this node stands in the tree along which calls go up; nothing: they go
/// to the home directly.
std::optional<size_t> event_stream::place_in_tree() const {
  if (hosts_.empty() || !is_whole() || is_closed_ || is_retired_
      || (role_ != role::member && role_ != role::home))
    return std::nullopt;
  return hosts_.place_of(out_->self);
}

/// The number of nodes at a place and below it.
size_t event_stream::count_below(size_t place) const {
  auto result = size_t{0};
  const size_t radix = out_->radix;
  for (auto begin = place, end = place + 1; begin < hosts_.size();
       begin = begin * radix + 1, end = end * radix + 1)
    result += std::min(end, hosts_.size()) - begin;
  return result;
}

/// Whether a node stands at a place or below it.
bool event_stream::is_below(uint32_t rank, size_t top) const {
  auto place = hosts_.place_of(rank);
  while (place && *place > top)
    *place = (*place - 1) / out_->radix;
  return place == top;
}

/// Whether a node may bring these calls: a child, those of nodes below it.
bool event_stream::may_pass(uint32_t from, const submit_event& what) const {
  const auto place = place_in_tree();
  const auto top = hosts_.place_of(from);
  if (!place || !top || *top == 0 || (*top - 1) / out_->radix != *place
      || (*place == 0) != (role_ == role::home)
      || calls_of(what.what) == nullptr || is_mark(what.what))
    return false;
  auto count = size_t{0};
  auto next = uint64_t{0};
  for (const auto& x : what.origins) {
    // Each once, in their order: a second number of one could go back.
    if (x.rank < next)
      return false;
    next = uint64_t{x.rank} + x.count;
    count += x.count;
    if (x.count == 0 || x.number == 0 || x.incarnation != 0
        || count > hosts_.size())
      return false;
    for (uint32_t i = 0; i < x.count; ++i)
      if (!is_below(x.rank + i, *top))
        return false;
  }
  return true;
}

/// Sends what has been gathered to the parent.
void event_stream::send_up() {
  const auto place = place_in_tree();
  if (!place || *place == 0) {
    ++gatherings_;
    refuse(std::exchange(gathered_, {}));
    return;
  }
  const auto parent = hosts_[(*place - 1) / out_->radix];
  take_gathered([&](submission x) {
    auto what = submit_event{nspace_, 0,    std::move(x.what.what),
                             hosts_,  true, origins_of(x.what)};
    const auto keep = std::make_shared<submission>(std::move(x));
    out_->ask(parent, std::move(what), [keep](caf::expected<host_reply> y) {
      if (y)
        keep->answer(ack{});
      else
        keep->answer(std::move(y.error()));
    });
  });
}

/// A node is lost: what has been gathered for it alone is forgotten. What else
/// cannot go on its way is taken out.
std::vector<event_stream::submission>
event_stream::take_gathered_of(uint32_t rank) {
  auto result = std::vector<submission>{};
  for (auto& x : std::exchange(gathered_, {})) {
    const auto is_hit = any_origin(
      x.what, [&](const event_origin& y) { return covers(y, rank); });
    // Who counts as lost answers nothing.
    if (role_ != role::member && !is_hit)
      gathered_.push_back(std::move(x));
    else if (x.is_passed || !is_hit)
      result.push_back(std::move(x));
  }
  return result;
}

/// Whoever has called goes to the home.
void event_stream::refuse(std::vector<submission> what) {
  for (auto& x : what)
    x.answer(make_error(status::not_available, "it is to go to the home"));
}

// -- as the home: the others -------------------------------------------------

/// Those that have joined get what follows.
void event_stream::add_followers() {
  // None is lost, and all are there: who joins a job or a log makes them more.
  if (!is_global() && gone_.empty()
      && all_nodes().size() == acknowledged_.size() + 1)
    return;
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
  auto ranks = rank_list{};
  for (const auto& [rank, unused] : acknowledged_)
    ranks.push_back(rank);
  for (size_t i = 0; i < parts; ++i)
    branches_[next_branch_++] = {level_by_level(ranks, 1, i + 1, out_->radix),
                                 last_, told, 0, 0};
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
  what.below = to.ranks.part(1, to.ranks.size());
  for (auto size = size_t{0};
       to.sent < last_ && size < defaults::event_batch;) {
    what.events.push_back(at(++to.sent));
    size += 1 + what.events.back().with.size();
  }
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

void event_stream::on_batch(uint64_t id, const rank_list& ranks, uint64_t end,
                            const caf::expected<host_reply>& x) {
  if (role_ != role::home)
    return;
  const auto keep_alive = shared_from_this();
  const auto i = branches_.find(id);
  if (i != branches_.end())
    --i->second.in_flight;
  if (x) {
    for (const auto rank : std::vector<uint32_t>{ranks})
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
  for (const auto rank : std::vector<uint32_t>{node.mapped().ranks})
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
  for (auto i = acknowledged_.begin();
       i != acknowledged_.end() && place > stable_; ++i)
    place = std::min(place, i->second);
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
