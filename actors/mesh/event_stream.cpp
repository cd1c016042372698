#include "actors/mesh/event_stream.hpp"

#include "actors/mesh/mesh_calls.hpp"
#include "config/defaults.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

// The events of this node: submitted to the home of the namespace, and again to
// the next one if that is lost.

namespace troupe {

namespace {

/// An entry that has a place, and says only who joins the log.
ordered_content joining_mark(const std::vector<uint32_t>& ranks) {
  auto result = group_snapshot{};
  for (const auto rank : ranks)
    result.state += std::to_string(rank) + " ";
  return group_entry{{}, {}, std::move(result), 0};
}

} // namespace

event_stream::event_stream(std::string nspace, std::shared_ptr<const means> out,
                           log_hosts hosts)
  : nspace_(std::move(nspace)), out_(std::move(out)),
    hosts_(std::move(hosts.ranks)),
    gone_(hosts.lost.begin(), hosts.lost.end()) {
  // Nobody may begin anew without asking, except the first of all.
  epoch_ = !hosts_.empty() ? hosts_.front()
           : is_global()   ? out_->founder({})
                           : out_->founder(nspace_);
  is_open_ = nspace_.empty();
}

bool event_stream::precedes(uint32_t x, uint32_t y) const {
  if (hosts_.empty())
    return x < y;
  const auto i = std::find(hosts_.begin(), hosts_.end(), x);
  return i < std::find(hosts_.begin(), hosts_.end(), y);
}

std::vector<uint32_t> event_stream::log_ranks() const {
  auto result = hosts_;
  std::sort(result.begin(), result.end());
  return result;
}

bool event_stream::is_mark(const ordered_content& what) {
  const auto* entry = std::get_if<group_entry>(&what);
  return entry != nullptr && entry->group.id.empty();
}

std::vector<uint32_t> event_stream::joining_of(const ordered_content& what) {
  const auto* entry = std::get_if<group_entry>(&what);
  const auto* snapshot = entry != nullptr && entry->group.id.empty()
                           ? std::get_if<group_snapshot>(&entry->what)
                           : nullptr;
  auto result = std::vector<uint32_t>{};
  if (snapshot == nullptr)
    return result;
  auto text = std::istringstream{snapshot->state};
  for (auto rank = uint32_t{0}; text >> rank;)
    result.push_back(rank);
  return result;
}

/// Takes what another node knows of who keeps the log: who knows more has the
/// same ones first.
void event_stream::merge_hosts(const std::vector<uint32_t>& ranks) {
  if (!hosts_.empty() && ranks.size() > hosts_.size())
    hosts_ = ranks;
}

/// A node is the home: those before it are lost.
void event_stream::pass_over_before(uint32_t home) {
  for (const auto rank : hosts_) {
    if (rank == home)
      return;
    gone_.insert(rank);
  }
}

std::vector<uint32_t> event_stream::members() const {
  auto result =
    !hosts_.empty() ? hosts_ : out_->hosts(is_global() ? "" : nspace_);
  result.erase(
    std::remove_if(result.begin(), result.end(),
                   [this](uint32_t rank) { return gone_.count(rank) > 0; }),
    result.end());
  return result;
}

void event_stream::submit(ordered_content what, completion then,
                          bool may_wait) {
  outbox_.emplace(next_number_++,
                  outgoing{std::move(what), std::move(then), may_wait});
  pump();
}

void event_stream::extend(const std::vector<uint32_t>& ranks) {
  auto joining = std::vector<uint32_t>{};
  for (const auto rank : ranks)
    if (std::count(hosts_.begin(), hosts_.end(), rank) == 0
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
  const auto nodes = members();
  if (nodes.empty()) {
    while (!outbox_.empty())
      complete(outbox_.begin()->first,
               make_error(status::unreach,
                          "no node that runs " + nspace_ + " is left"));
    return;
  }
  if (target_ != nodes.front()) {
    target_ = nodes.front();
    in_flight_ = 0;
    next_to_send_ = outbox_.empty() ? next_number_ : outbox_.begin()->first;
  }
  while (in_flight_ < defaults::event_submissions) {
    const auto i = outbox_.lower_bound(next_to_send_);
    if (i == outbox_.end())
      return;
    next_to_send_ = i->first + 1;
    ++in_flight_;
    // What this does may call back in, and change the target.
    send(*target_, i->first);
  }
}

void event_stream::send(uint32_t home, uint64_t number) {
  const auto& out = outbox_.at(number);
  const auto weak = weak_from_this();
  if (home == out_->self) {
    auto x = submission{};
    x.what = {out_->self, out_->incarnation, number, out.what};
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
  out_->ask(home, submit_event{nspace_, number, out.what, hosts_, out.may_wait},
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
    pump();
  }
}

void event_stream::complete(uint64_t number, caf::expected<ack> x) {
  auto node = outbox_.extract(number);
  if (node.empty())
    return;
  if (number < next_to_send_ && in_flight_ > 0)
    --in_flight_;
  if (node.mapped().then)
    node.mapped().then(std::move(x));
}

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
  for (auto* those : {&parked_, &gathered_})
    those->erase(std::remove_if(
                   those->begin(), those->end(),
                   [&](const submission& x) { return x.what.origin == rank; }),
                 those->end());
  heard_.erase(rank);
  pending_.erase(rank);
  collected_.erase(rank);
  acknowledged_.erase(rank);
  auto hit = std::vector<uint64_t>{};
  for (const auto& [id, x] : branches_)
    if (std::count(x.ranks.begin(), x.ranks.end(), rank) > 0)
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
  pump();
  check_over();
}

void event_stream::retire(std::function<void()> over) {
  if (is_closed_ || std::exchange(is_retired_, true))
    return;
  const auto keep_alive = shared_from_this();
  over_ = std::move(over);
  const auto gone = make_error(status::not_found, "the group is over");
  for (auto* those : {&parked_, &gathered_})
    for (auto& x : std::exchange(*those, {}))
      if (is_mark(x.what.what))
        those->push_back(std::move(x));
      else
        x.then(gone);
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
  // Nobody is left who is owed anything.
  for (auto& [place, then] : std::exchange(awaiting_stable_, {}))
    then(ack{});
  for (auto& [place, then] : std::exchange(awaiting_taken_, {}))
    then();
  const auto gone = make_error(status::not_found, nspace_ + " is gone");
  for (auto* those : {&parked_, &gathered_})
    for (auto& x : std::exchange(*those, {}))
      x.then(gone);
  while (!outbox_.empty())
    complete(outbox_.begin()->first, gone);
}

} // namespace troupe
