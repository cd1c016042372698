// How events come into the logs, and who waits.

#include "actors/events/event_log.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

// -- where an event belongs --------------------------------------------------

std::shared_ptr<range_filter>
event_log::filter_of(const offered_event& x) const {
  auto result = std::make_shared<range_filter>(x.what, x.targets);
  if (x.is_from_host && result->is_for_all())
    result->exclude(options_.server);
  return result;
}

/// The logs of all namespaces that an event concerns; of those that are not
/// known here, the one for namespaces to come.
std::vector<namespace_log*> event_log::logs_for(const range_filter& filter) {
  auto result = std::vector<namespace_log*>{};
  if (filter.is_for_all()) {
    for (auto& [nspace, log] : logs_)
      result.push_back(log.get());
    result.push_back(&open_);
    return result;
  }
  auto is_for_others = false;
  for (const auto& nspace : filter.nspaces()) {
    const auto i = logs_.find(nspace);
    if (i != logs_.end())
      result.push_back(i->second.get());
    else
      is_for_others |= nspace != options_.server.nspace;
  }
  if (is_for_others)
    result.push_back(&open_);
  return result;
}

// -- room --------------------------------------------------------------------

/// Whether others wait for the same room already.
/// @param lacks Receives for whose.
bool event_log::has_waiting(namespace_log* log, namespace_log*& lacks) const {
  const auto waits_for = [&](const namespace_log* room) {
    return std::any_of(streams_.begin(), streams_.end(),
                       [&](const auto& x) { return x.second.lacks == room; });
  };
  lacks = waits_for(nullptr) ? nullptr : log;
  return lacks == nullptr || waits_for(log);
}

/// Drops history until so many bytes are free, beginning with the log that has
/// most of it.
bool event_log::make_node_room(size_t bytes) {
  const auto free = [&] {
    return node_.limit - std::min(node_.limit, node_.used);
  };
  auto droppable = open_.droppable();
  for (const auto& [nspace, log] : logs_)
    droppable += log->droppable();
  if (free() + droppable < bytes)
    return false;
  while (free() < bytes) {
    auto* most = &open_;
    for (const auto& [nspace, log] : logs_)
      if (log->droppable() > most->droppable())
        most = log.get();
    if (!most->drop_oldest())
      return false;
  }
  return true;
}

bool event_log::try_offer(offered_event& x, bool may_pass,
                          namespace_log*& lacks) {
  auto filter = filter_of(x);
  auto entry = event_entry{};
  entry.code = x.what.code;
  entry.bytes = static_cast<uint32_t>(cost_of(x.what));
  entry.admits_default = filter->admits_default();
  entry.is_kept = !flag(x.what.infos, attr::event_do_not_cache);
  entry.filter = filter;
  entry.number = next_number_;
  auto logs = std::vector<namespace_log*>{};
  const auto is_of_environment = filter->is_of_environment();
  if (!is_of_environment)
    logs = logs_for(*filter);
  auto row = row_of(x.what);
  logs.erase(
    std::remove_if(logs.begin(), logs.end(),
                   [&](const auto* log) { return !log->is_wanted(entry); }),
    logs.end());
  for (auto* log : logs) {
    if (!row.empty() && !log->has_state_room(entry.bytes))
      row.clear();
    if (!row.empty())
      continue;
    if (!may_pass && has_waiting(log, lacks))
      return false;
    lacks = log;
    if (!log->fits(entry.bytes))
      return false;
  }
  lacks = nullptr;
  if (!logs.empty() && !make_node_room(entry.bytes * logs.size()))
    return false;
  ++next_number_;
  entry.what = std::make_shared<const event>(std::move(x.what));
  auto interested = std::vector<client_id>{};
  const auto note = [&](std::vector<client_id> ids) {
    if (interested.empty())
      interested = std::move(ids);
    else
      interested.insert(interested.end(), ids.begin(), ids.end());
  };
  if (is_of_environment)
    note(ring_.append(entry));
  for (auto* log : logs) {
    auto copy = entry;
    // The host's default handlers get only what is meant for it: they end jobs.
    if (log != &open_ && log->nspace() == options_.server.nspace
        && filter->is_for_all())
      copy.admits_default = false;
    note(log->append(std::move(copy), row));
  }
  // A connection reads one log, or the ring: nobody is there twice.
  for (const auto id : interested)
    hand_over(id, clients_.at(id));
  return true;
}

event_log::outcome event_log::offer(uint64_t ticket, offered_event x) {
  const auto bytes = cost_of(x.what);
  if (bytes > std::min(
        {defaults::event_bytes, options_.per_namespace.memory, node_.limit}))
    return outcome::too_large;
  const auto i = streams_.find(x.stream);
  namespace_log* lacks = nullptr;
  if (i == streams_.end() && try_offer(x, false, lacks))
    return outcome::taken;
  auto& waiting = i != streams_.end() ? i->second : streams_[x.stream];
  if (waiting.offers.empty())
    waiting.lacks = lacks;
  waiting.offers.push_back({ticket, std::move(x)});
  return outcome::waits;
}

/// Takes what waits as far as there is room, one event of each stream in turn.
void event_log::retry() {
  if (streams_.empty())
    return;
  auto freed = std::set<const namespace_log*>{};
  if (open_.take_freed())
    freed.insert(&open_);
  for (const auto& [nspace, log] : logs_)
    if (log->take_freed())
      freed.insert(log.get());
  const auto may_go = [&](const stream& x) {
    return x.lacks == nullptr || freed.count(x.lacks) > 0;
  };
  for (auto is_moving = true; is_moving && !streams_.empty();) {
    is_moving = false;
    auto names = std::vector<std::string>{};
    for (const auto& [name, x] : streams_)
      if (may_go(x))
        names.push_back(name);
    // Nobody is always the first.
    std::rotate(names.begin(),
                std::upper_bound(names.begin(), names.end(), last_served_),
                names.end());
    for (const auto& name : names) {
      auto& x = streams_[name];
      if (!try_offer(x.offers.front().what, true, x.lacks))
        continue;
      is_moving = true;
      last_served_ = name;
      const auto ticket = x.offers.front().ticket;
      x.offers.pop_front();
      if (x.offers.empty())
        streams_.erase(name);
      out_.accept(ticket);
    }
  }
}

// -- questions ---------------------------------------------------------------

std::vector<event_log::counts> event_log::count() const {
  auto result = std::vector<counts>{};
  const auto add = [&](std::string name, const event_shelf& from,
                       uint64_t accepted, size_t bytes, size_t spooled = 0) {
    auto x = counts{};
    x.nspace = std::move(name);
    x.accepted = accepted;
    x.entries = from.index().size();
    x.owed = from.owed();
    x.bytes = bytes;
    x.spooled = spooled;
    x.missed = from.gaps().total();
    for (const auto& [stream, waiting] : streams_)
      if (waiting.lacks == &from)
        x.held += waiting.offers.size();
    result.push_back(std::move(x));
  };
  for (const auto& [nspace, log] : logs_)
    add(nspace, *log, log->accepted(), log->in_memory(), log->on_disk());
  add("", open_, open_.accepted(), open_.in_memory());
  add("*", ring_, ring_.accepted(), ring_.bytes());
  return result;
}

void event_log::each(const std::string& nspace, uint64_t since,
                     const std::function<void(const event_entry&)>& f) const {
  const auto i = logs_.find(nspace);
  const auto* from = nspace == "*"    ? static_cast<const event_shelf*>(&ring_)
                     : nspace.empty() ? &open_
                     : i != logs_.end() ? i->second.get()
                                        : nullptr;
  if (from == nullptr)
    return;
  for (const auto* x = from->index().next(since); x != nullptr;
       x = from->index().next(x->number))
    f(*x);
}

} // namespace troupe
