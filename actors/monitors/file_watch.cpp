#include "actors/monitors/file_watch.hpp"

#include "actors/monitors/defaults.hpp"
#include "config/defaults.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace troupe {

namespace {

using time = file_watch::time;

constexpr time tick = defaults::monitor_tick;

timer_wheel::tick ticks_until(time x) {
  return static_cast<timer_wheel::tick>((x + tick - time{1}) / tick);
}

bool is_there(const file_stamp& x) {
  return x.state == file_state::regular;
}

} // namespace

bool shows_life(const file_signs& signs, const file_stamp& before,
                const file_stamp& now) {
  if (!is_there(now))
    return false;
  if (!is_there(before))
    return true;
  if (!is_same_file(before, now))
    return false;
  return (signs.size && now.size > before.size)
         || (signs.access && now.accessed != before.accessed)
         || (signs.modify && now.modified != before.modified);
}

void file_watch::arm(item x, time due) {
  monitors_[x]->due = due;
  wheel_.set(x, ticks_until(due));
}

void file_watch::add(item x, watched_file what, const file_stamp& first,
                     time now) {
  if (x >= monitors_.size())
    monitors_.resize(size_t{x} + 1);
  auto made = std::make_unique<monitor>();
  made->what = std::move(what);
  made->last = first;
  monitors_[x] = std::move(made);
  ++size_;
  arm(x, now + monitors_[x]->what.period);
}

void file_watch::remove(item x) {
  if (!holds(x))
    return;
  wheel_.clear(x);
  monitors_[x] = nullptr;
  --size_;
}

void file_watch::pause(item x, bool paused, time now) {
  if (!holds(x))
    return;
  auto& it = *monitors_[x];
  if (std::exchange(it.is_paused, paused) == paused)
    return;
  it.ticket = 0; // What is under way does not count any more.
  if (paused)
    wheel_.clear(x);
  else
    arm(x, now + it.what.period);
}

std::optional<time> file_watch::next() const {
  const auto due = wheel_.next();
  if (due == timer_wheel::never)
    return std::nullopt;
  return static_cast<int64_t>(due) * tick;
}

void file_watch::advance(time now, std::vector<look>& out) {
  auto these = std::vector<item>{};
  wheel_.advance(static_cast<timer_wheel::tick>(now / tick), these);
  struct batch {
    look what;
    open_look open;
    std::map<std::string, size_t> places;
  };
  auto batches = std::map<std::tuple<uint32_t, uint32_t, uint64_t>, batch>{};
  const auto send = [&](batch& x) {
    x.what.ticket = next_ticket_++;
    for (const auto i : x.open.items)
      monitors_[i]->ticket = x.what.ticket;
    looks_.emplace(x.what.ticket, std::move(x.open));
    out.push_back(std::move(x.what));
    x = {};
  };
  for (const auto x : these) {
    auto& it = *monitors_[x];
    // One that is still under way: its file system is slow.
    const auto due = it.due + it.what.period;
    arm(x, due > now ? due : now + it.what.period);
    if (it.ticket != 0)
      continue;
    it.looked = now;
    const auto& who = it.what.who;
    auto& of = batches[{who.uid, who.gid, it.last.mount}];
    of.what.request.who = who;
    auto& paths = of.what.request.paths;
    const auto [place, is_new] = of.places.emplace(it.what.path, paths.size());
    if (is_new)
      paths.push_back(it.what.path);
    of.open.items.push_back(x);
    of.open.places.push_back(place->second);
    if (paths.size() >= defaults::file_check_paths)
      send(of);
  }
  for (auto& [key, x] : batches)
    if (!x.open.items.empty())
      send(x);
}

/// @returns whether an alert is due.
bool file_watch::judge(monitor& x, const file_stamp& found) {
  const auto lives = shows_life(x.what.signs, x.last, found);
  const auto mount = found.mount != 0 ? found.mount : x.last.mount;
  // One that could not be looked at may still be as it was.
  if (is_there(found) || found.state == file_state::missing)
    x.last = found;
  x.last.mount = mount;
  x.state = found.state;
  if (lives) {
    x.misses = 0;
    x.is_silent = false;
    return false;
  }
  if (x.misses <= x.what.drops)
    ++x.misses;
  if (x.misses <= x.what.drops || x.is_silent)
    return false;
  x.is_silent = true;
  return true;
}

void file_watch::take(uint64_t ticket, const file_stamps& found,
                      std::vector<item>& silent) {
  const auto node = looks_.extract(ticket);
  if (node.empty())
    return;
  const auto& open = node.mapped();
  for (size_t i = 0; i < open.items.size(); ++i) {
    const auto x = open.items[i];
    // Removed, or paused, meanwhile.
    if (!holds(x) || monitors_[x]->ticket != ticket)
      continue;
    monitors_[x]->ticket = 0;
    const auto place = open.places[i];
    const auto stamp =
      place < found.stamps.size() ? found.stamps[place] : file_stamp{};
    if (judge(*monitors_[x], stamp))
      silent.push_back(x);
  }
}

std::string file_watch::reason_of(item x) const {
  const auto& it = *monitors_[x];
  const auto& path = it.what.path;
  switch (it.state) {
    case file_state::missing:
      return path + " is not there";
    case file_state::not_regular:
      return path + " is no regular file any more";
    case file_state::no_permission:
      return path + " may not be seen any more";
    case file_state::timed_out:
      return "the file system of " + path + " does not answer";
    case file_state::failed:
      return path + " could not be looked at";
    default:
      return path + " has shown no sign of life";
  }
}

} // namespace troupe
