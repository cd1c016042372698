#include "actors/monitors/file_batches.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

/// How often a path may lead to another mount.
constexpr uint8_t most_hops = 16;

file_stamp stamp_of(file_state state, uint64_t mount) {
  auto result = file_stamp{};
  result.state = state;
  result.mount = mount;
  return result;
}

} // namespace

file_batches::file_batches(const limits& bounds, effects out)
  : limits_(bounds), out_(std::move(out)) {
  // nop
}

bool file_batches::add(uint64_t request, check_files what) {
  if (waiting_ + what.paths.size() > limits_.waiting)
    return false;
  auto& entry = requests_[request];
  entry.missing = what.paths.size();
  entry.result.stamps.resize(what.paths.size());
  waiting_ += what.paths.size();
  for (size_t i = 0; i < what.paths.size(); ++i)
    fresh_.push_back(
      {request, i, std::move(what.paths[i]), what.who, 0, place{}});
  if (entry.missing == 0) {
    requests_.erase(request);
    out_.answer(request, {});
  }
  return true;
}

void file_batches::finish(const item& x, file_stamp stamp) {
  const auto i = requests_.find(x.request);
  if (i == requests_.end())
    return;
  --waiting_;
  i->second.result.stamps[x.index] = stamp;
  if (--i->second.missing > 0)
    return;
  auto result = std::move(i->second.result);
  const auto number = x.request;
  requests_.erase(i);
  out_.answer(number, std::move(result));
}

void file_batches::place_item(item x) {
  auto where = out_.find(x.path);
  if (!where) {
    finish(x, stamp_of(file_state::failed, 0));
    return;
  }
  x.where = std::move(*where);
  if (x.where.is_of_kernel) {
    finish(x, stamp_of(file_state::not_regular, x.where.mount));
    return;
  }
  auto& q = queues_[x.where.mount];
  const auto hangs = q.batch != 0 && batches_.at(q.batch).is_hung;
  if (hangs || !may_begin(x.who))
    finish(x, stamp_of(file_state::timed_out, x.where.mount));
  else
    q.waiting.push_back(std::move(x));
}

bool file_batches::may_begin(const credentials& who) const {
  const auto n =
    std::count_if(batches_.begin(), batches_.end(), [&](const auto& x) {
      return x.second.is_hung && x.second.who.uid == who.uid;
    });
  return static_cast<size_t>(n) < limits_.hung_per_user;
}

void file_batches::begin(queue& q, uint64_t mount, time now) {
  const auto who = q.waiting.front().who;
  auto what = batch{next_batch_++, q.waiting.front().where.point, who, {}};
  auto entry = open_batch{mount, who, {}, now + limits_.patience, 0, false};
  auto rest = std::deque<item>{};
  for (auto& x : q.waiting) {
    if (what.paths.size() < limits_.per_batch && x.who == who) {
      what.paths.push_back(x.path);
      entry.items.push_back(std::move(x));
    } else {
      rest.push_back(std::move(x));
    }
  }
  q.waiting = std::move(rest);
  q.batch = what.number;
  batches_.emplace(what.number, std::move(entry));
  if (out_.begin(what))
    return;
  // Too much is asked of the threads: to be asked again at the next tick.
  auto failed = batches_.extract(what.number);
  q.batch = 0;
  for (const auto& x : failed.mapped().items)
    finish(x, stamp_of(file_state::timed_out, mount));
}

void file_batches::flush(time now) {
  auto fresh = std::exchange(fresh_, {});
  for (auto& x : fresh)
    place_item(std::move(x));
  for (auto i = queues_.begin(); i != queues_.end();) {
    auto& q = i->second;
    while (q.batch == 0 && !q.waiting.empty())
      begin(q, i->first, now);
    i = q.batch == 0 ? queues_.erase(i) : std::next(i);
  }
}

void file_batches::looked(uint64_t number, std::vector<finding> found,
                          time now) {
  auto node = batches_.extract(number);
  if (node.empty())
    return;
  auto& x = node.mapped();
  if (const auto q = queues_.find(x.mount); q != queues_.end())
    q->second.batch = 0;
  found.resize(x.items.size());
  // Those of a mount that hung have been answered.
  for (size_t i = 0; !x.is_hung && i < x.items.size(); ++i) {
    auto& y = x.items[i];
    if (!found[i].elsewhere.empty()) {
      if (++y.hops > most_hops) {
        finish(y, stamp_of(file_state::failed, 0));
        continue;
      }
      y.path = std::move(found[i].elsewhere);
      fresh_.push_back(std::move(y));
      continue;
    }
    auto& stamp = found[i].stamp;
    stamp.mount = y.where.mount;
    stamp.keeps_access_time = y.where.keeps_access_time;
    stamp.access_time_is_relative = y.where.access_time_is_relative;
    finish(y, stamp);
  }
  flush(now);
}

void file_batches::time_out(queue& q) {
  auto waiting = std::exchange(q.waiting, {});
  for (const auto& x : waiting)
    finish(x, stamp_of(file_state::timed_out, x.where.mount));
}

void file_batches::tick(time now) {
  for (auto& [number, x] : batches_) {
    if (x.is_hung || x.due > now)
      continue;
    // One that goes on, if slowly, is waited for.
    if (const auto progress = out_.progress(number); progress > x.progress) {
      x.progress = progress;
      x.due = now + limits_.patience;
      continue;
    }
    x.is_hung = true;
    for (const auto& y : x.items)
      finish(y, stamp_of(file_state::timed_out, x.mount));
    if (const auto q = queues_.find(x.mount); q != queues_.end())
      time_out(q->second);
  }
}

std::optional<file_batches::time> file_batches::next_tick() const {
  auto result = std::optional<time>{};
  for (const auto& [number, x] : batches_)
    if (!x.is_hung && (!result || x.due < *result))
      result = x.due;
  return result;
}

size_t file_batches::hung() const {
  return static_cast<size_t>(
    std::count_if(batches_.begin(), batches_.end(),
                  [](const auto& x) { return x.second.is_hung; }));
}

} // namespace troupe
