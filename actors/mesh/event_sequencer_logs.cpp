#include "actors/mesh/event_sequencer.hpp"
#include "config/defaults.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <utility>

// The logs of groups.

namespace troupe {

namespace {

bool contains(const std::vector<uint32_t>& xs, uint32_t x) {
  return std::find(xs.begin(), xs.end(), x) != xs.end();
}

/// Whether what is said about a log is about its group.
bool is_of(const std::string& name, const ordered_content& what) {
  const auto* entry = std::get_if<group_entry>(&what);
  return entry != nullptr
         && (entry->group.id.empty() || log_name(entry->group) == name);
}

const group_entry* first_of(const order_events& what) {
  return what.first != 1 || what.events.empty()
           ? nullptr
           : std::get_if<group_entry>(&what.events.front().what);
}

} // namespace

/// All nodes come to the same result, whatever they know of losses: those of
/// all who take part come first, wherever they are now.
log_hosts event_sequencer::hosts_for(const std::vector<uint32_t>& given,
                                     const group_entry* entry) const {
  auto result = log_hosts{};
  if (given.empty())
    return result;
  if (entry != nullptr) {
    result.ranks = places_.nodes_of(entry->participants);
    for (const auto& proc : entry->participants)
      for (const auto rank : places_.lost_of(proc.nspace))
        if (contains(result.ranks, rank) && !contains(result.lost, rank))
          result.lost.push_back(rank);
  }
  for (const auto rank : given)
    if (!contains(result.ranks, rank))
      result.ranks.push_back(rank);
  const auto live = out_.live();
  for (const auto rank : result.ranks)
    if (!contains(live, rank) && !contains(result.lost, rank))
      result.lost.push_back(rank);
  return result;
}

std::shared_ptr<event_stream>
event_sequencer::begin_log(const std::string& name, log_hosts hosts) {
  auto x = std::make_shared<event_stream>(name, means_, std::move(hosts));
  streams_[name] = x;
  if (is_stopped_)
    x->depose();
  return x;
}

std::shared_ptr<event_stream>
event_sequencer::log_of(const std::string& name,
                        const std::vector<uint32_t>& hosts,
                        const group_entry* entry) {
  const auto i = streams_.find(name);
  if (i != streams_.end())
    return i->second;
  auto all = hosts_for(hosts, entry);
  if (is_closed(name) || (!all.ranks.empty() && !contains(all.ranks, self_)))
    return nullptr;
  auto x = begin_log(name, std::move(all));
  x->open();
  return x;
}

void event_sequencer::submit(order_group_entry what, completion then) {
  const auto name = log_name(what.entry.group);
  if (is_closed(name)) {
    then(make_error(status::not_found,
                    "group " + what.entry.group.id + " is over"));
    return;
  }
  const auto i = streams_.find(name);
  // Whoever says something first need not keep the log.
  const auto log = i != streams_.end()
                     ? i->second
                     : begin_log(name, hosts_for(what.hosts, &what.entry));
  log->open();
  log->submit(std::move(what.entry), std::move(then), what.may_wait);
}

void event_sequencer::extend(const group_key& group,
                             const std::vector<uint32_t>& hosts) {
  const auto i = streams_.find(log_name(group));
  if (i != streams_.end())
    i->second->extend(hosts);
}

void event_sequencer::close_log(const group_key& group) {
  auto name = log_name(group);
  if (!closed_names_.insert(name).second)
    return;
  closed_.push_back(name);
  const auto i = streams_.find(name);
  if (i != streams_.end()) {
    const auto keep_alive = i->second;
    keep_alive->retire([this, name] {
      const auto node = streams_.extract(name);
      if (!node.empty())
        node.mapped()->close();
    });
  }
  if (closed_.size() <= defaults::groups_remembered)
    return;
  closed_names_.erase(closed_.front());
  // Nobody has asked for what it has for a long time.
  auto oldest = streams_.extract(closed_.front());
  closed_.pop_front();
  if (!oldest.empty())
    oldest.mapped()->close();
}

void event_sequencer::take_entry(uint32_t from, uint64_t incarnation,
                                 submit_event what, const answerer& reply) {
  if (!is_of(what.nspace, what.what)) {
    reply(mesh_failure{status::bad_param, "an entry of another group"});
    return;
  }
  const auto& entry = std::get<group_entry>(what.what);
  const auto is_new = streams_.count(what.nspace) == 0;
  // A mark asks this node to see to it that all have what there is.
  const auto is_over =
    is_closed(what.nspace) && (is_new || !event_stream::is_mark(what.what));
  const auto log = is_over ? nullptr : log_of(what.nspace, what.hosts, &entry);
  // The sender knows of all that are before this node that they are lost.
  if (log && is_new)
    log->follow(self_);
  if (log)
    log->take(from, incarnation, what, reply);
  else if (is_over)
    reply(
      mesh_failure{status::not_found, "group " + entry.group.id + " is over"});
  else
    reply(mesh_failure{status::unreach, "the daemon does not keep the log of "
                                          + entry.group.id});
}

void event_sequencer::take_entries(uint32_t from, order_events what,
                                   const answerer& reply) {
  if (!std::all_of(
        what.events.begin(), what.events.end(),
        [&](const ordered_event& x) { return is_of(what.nspace, x.what); })) {
    reply(mesh_failure{status::bad_param, "an entry of another group"});
    return;
  }
  const auto i = streams_.find(what.nspace);
  if (i != streams_.end()) {
    const auto keep_alive = i->second;
    keep_alive->take(from, what, reply);
    return;
  }
  // When this node had all that there was, the group was over for all.
  if (is_closed(what.nspace)) {
    // Others may need to hear it from somebody else.
    if (what.below.empty())
      reply(ack{});
    else
      reply(mesh_failure{status::unreach, "the log is closed here"});
    return;
  }
  auto all = hosts_for(what.hosts, first_of(what));
  if (!all.ranks.empty() && !contains(all.ranks, self_)) {
    reply(mesh_failure{status::not_found, "the daemon does not keep this log"});
    return;
  }
  const auto log = begin_log(what.nspace, std::move(all));
  log->follow(what.home);
  log->open();
  log->take(from, what, reply);
}

std::vector<uint32_t>
event_sequencer::hosts_of_log(const std::string& name) const {
  const auto i = streams_.find(name);
  return i != streams_.end() ? i->second->log_ranks() : std::vector<uint32_t>{};
}

size_t event_sequencer::logs() const {
  return static_cast<size_t>(
    std::count_if(streams_.begin(), streams_.end(),
                  [](const auto& x) { return is_group_log(x.first); }));
}

} // namespace troupe
