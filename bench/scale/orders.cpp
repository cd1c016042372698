#include "bench/scale/orders.hpp"

#include "actors/groups/group_callers.hpp"
#include "config/defaults.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

namespace troupe::scale {

namespace {

constexpr auto job = "job";

[[noreturn]] void give_up(const char* what, size_t nodes, size_t of) {
  std::fprintf(stderr, "%s: %zu of %zu nodes\n", what, nodes, of);
  std::exit(1);
}

} // namespace

orders::orders(uint32_t size, const costs& what)
  : net_(size, what), got_(size) {
  auto map = job_map{};
  map.nspace = job;
  map.number = 1;
  for (auto rank = uint32_t{0}; rank < size; ++rank)
    map.shares.push_back({rank, "n" + std::to_string(rank), {{rank, 0, {}}}});
  places_.add(map);
  ranks_ = rank_list{places_.nodes_of(job)};
  for (auto rank = uint32_t{0}; rank < size; ++rank)
    nodes_.push_back(std::make_unique<event_sequencer>(
      rank, 1, places_, means_of(rank), defaults::tree_radix));
}

event_sequencer::effects orders::means_of(uint32_t rank) {
  auto out = event_sequencer::effects{};
  out.ask = [this, rank](uint32_t to, host_question what,
                         event_stream::reply_handler then) {
    net_.ask(
      rank, to, std::move(what),
      [this, rank, to](host_question& x,
                       std::function<void(host_reply)> reply) {
        if (auto* event = std::get_if<submit_event>(&x))
          nodes_[to]->take(rank, 1, std::move(*event), std::move(reply));
        else if (auto* events = std::get_if<order_events>(&x))
          nodes_[to]->take(rank, std::move(*events), std::move(reply));
      },
      [then = std::move(then)](host_reply x) {
        if (const auto* why = std::get_if<mesh_failure>(&x))
          then(make_error(why->code, why->reason));
        else
          then(std::move(x));
      });
  };
  out.deliver = [this, rank](const std::string&, ordered_content what,
                             const std::function<void()>& then) {
    deliver(rank, std::move(what), then);
  };
  out.locate = [](const std::string&,
                  const std::function<void(const caf::error&)>& then) {
    then({});
  };
  out.live = [this] { return ranks_; };
  out.after = [this](std::chrono::nanoseconds delay,
                     std::function<void()> then) {
    net_.after(static_cast<double>(delay.count()) / 1e3, std::move(then));
  };
  return out;
}

void orders::deliver(uint32_t rank, ordered_content what,
                     const std::function<void()>& then) {
  auto more = size_t{1};
  if (const auto* entry = std::get_if<group_entry>(&what)) {
    more = count_of(std::get<group_calls>(entry->what).callers);
    if (rank == 0) {
      auto out = process_group::effects{};
      group_->apply(*entry, out);
    }
  }
  got_[rank] += more;
  if (got_[rank] == wanted_) {
    ++complete_;
    net_.note_end();
  }
  then();
}

figures orders::notify(uint32_t from) {
  if (!std::exchange(is_started_, true))
    for (const auto& x : nodes_)
      x->job_started(job);
  got_.assign(got_.size(), 0);
  wanted_ = 1;
  complete_ = 0;
  net_.start();
  auto what = deliver_event{};
  what.what.code = status::job_start;
  what.what.source = {job, from};
  what.what.range = data_range::nspace;
  auto is_stable = false;
  nodes_[from]->submit(job, std::move(what), [&](const caf::expected<ack>& x) {
    is_stable = static_cast<bool>(x);
  });
  net_.run();
  if (complete_ != nodes_.size() || !is_stable)
    give_up("an event", complete_, nodes_.size());
  return net_.count();
}

figures orders::construct() {
  const auto all = std::vector<proc_id>{{job, rank_wildcard}};
  const auto key = group_key{"group", 1, 1};
  auto procs = std::vector<proc_id>{};
  for (auto rank = uint32_t{0}; rank < nodes_.size(); ++rank)
    procs.push_back({job, rank});
  got_.assign(got_.size(), 0);
  wanted_ = nodes_.size();
  complete_ = 0;
  net_.start();
  group_ = std::make_unique<process_group>(key, procs);
  for (auto rank = uint32_t{0}; rank < nodes_.size(); ++rank) {
    auto what = order_group_entry{};
    what.entry.group = key;
    what.entry.participants = all;
    what.entry.what =
      group_calls{group_operation::construct, all, {{{job, rank}, {}, {}}}};
    what.entry.context_id = rank + 1;
    what.may_wait = true;
    // In runs: a list of all nodes for each of them is a square.
    nodes_[rank]->begin(what.entry, ranks_);
    nodes_[rank]->submit(std::move(what), [](const caf::expected<ack>&) {
      // It comes back as an entry.
    });
  }
  net_.run();
  if (complete_ != nodes_.size() || group_->phase() != group_phase::complete)
    give_up("a group", complete_, nodes_.size());
  return net_.count();
}

} // namespace troupe::scale
