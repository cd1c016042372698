#include "actors/mesh/event_stream.hpp"

#include "actors/mesh/mesh_calls.hpp"
#include "config/defaults.hpp"

#include <algorithm>
#include <utility>

// The events of this node: submitted to the home of the namespace, and again to
// the next one if that is lost.

namespace troupe {

event_stream::event_stream(std::string nspace, std::shared_ptr<const means> out)
  : nspace_(std::move(nspace)), out_(std::move(out)) {
  // Nobody may begin anew without asking, except the first of all.
  epoch_ = out_->founder(nspace_);
  is_open_ = nspace_.empty();
}

std::vector<uint32_t> event_stream::members() const {
  auto result = out_->hosts(nspace_);
  result.erase(
    std::remove_if(result.begin(), result.end(),
                   [this](uint32_t rank) { return gone_.count(rank) > 0; }),
    result.end());
  return result;
}

void event_stream::submit(ordered_content what, completion then) {
  outbox_.emplace(next_number_++, outgoing{std::move(what), std::move(then)});
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
  const auto& what = outbox_.at(number).what;
  const auto weak = weak_from_this();
  if (home == out_->self) {
    auto x = submission{};
    x.what = {out_->self, out_->incarnation, number, what};
    x.then = [weak, home, number](const caf::expected<ack>& y) {
      if (const auto self = weak.lock())
        self->on_submitted(home, number,
                           y ? caf::expected<host_reply>{host_reply{*y}}
                             : caf::expected<host_reply>{y.error()});
    };
    place(std::move(x));
    return;
  }
  out_->ask(home, submit_event{nspace_, number, what},
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

void event_stream::open() {
  is_open_ = true;
  check_home();
}

void event_stream::lose(uint32_t rank) {
  if (is_closed_)
    return;
  const auto keep_alive = shared_from_this();
  // All others come back under another incarnation, which hosts no job.
  if (!nspace_.empty())
    gone_.insert(rank);
  parked_.erase(
    std::remove_if(parked_.begin(), parked_.end(),
                   [&](const submission& x) { return x.what.origin == rank; }),
    parked_.end());
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
  pump();
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
  for (auto& x : std::exchange(parked_, {}))
    x.then(gone);
  while (!outbox_.empty())
    complete(outbox_.begin()->first, gone);
}

} // namespace troupe
