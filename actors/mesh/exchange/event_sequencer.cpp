#include "actors/mesh/exchange/event_sequencer.hpp"

#include "actors/groups/group_keys.hpp"
#include "actors/mesh/exchange/defaults.hpp"
#include "actors/mesh/exchange/event_origins.hpp"
#include "config/defaults.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace troupe {

namespace {

/// Whether a list in runs is that of some nodes, ascending, in a row.
bool is_same(const rank_list& xs, const std::vector<uint32_t>& ascending) {
  return xs.runs().size() == 1 && xs.size() == ascending.size()
         && xs.front() == ascending.front()
         && ascending.back() - ascending.front() == ascending.size() - 1;
}

uint64_t end_of(const rank_list::run& x) {
  return uint64_t{x.first} + x.count;
}

/// Adds those of a row that are not among these to `result`.
/// @param ascending No rank twice.
void add_missing(const rank_list::run& row, const rank_list& ascending,
                 std::set<uint32_t>& result) {
  const auto end = end_of(row);
  auto next = uint64_t{row.first};
  const auto add_before = [&](uint64_t limit) {
    for (; next < std::min(limit, end); ++next)
      result.insert(static_cast<uint32_t>(next));
  };
  const auto& runs = ascending.runs();
  auto i = std::partition_point(
    runs.begin(), runs.end(),
    [&](const rank_list::run& x) { return end_of(x) <= row.first; });
  for (; i != runs.end() && i->first < end; ++i) {
    add_before(i->first);
    next = std::max(next, end_of(*i));
  }
  add_before(end);
}

/// In the place of the name of a log: which of them are over.
constexpr auto ends_of_logs = "\x1f";

/// Whether what is said about a log is about its group.
bool is_of(const std::string& name, const ordered_content& what) {
  const auto* entry = std::get_if<group_entry>(&what);
  return entry != nullptr
         && (entry->group.id.empty() || log_name(entry->group) == name);
}

/// Whose log it is.
std::optional<group_key> key_of(const std::string& name) {
  auto result = group_key{};
  const auto* next = name.data() + 1;
  const auto* end = name.data() + name.size();
  for (auto* number : {&result.participants, &result.generation}) {
    const auto [rest, fault] = std::from_chars(next, end, *number);
    if (fault != std::errc{} || rest == end || *rest != '.')
      return std::nullopt;
    next = rest + 1;
  }
  result.id.assign(next, end);
  return result;
}

const group_entry* first_of(const order_events& what) {
  return what.first != 1 || what.events.empty()
           ? nullptr
           : std::get_if<group_entry>(&what.events.front().what);
}

host_reply too_many_nodes() {
  return mesh_failure{status::bad_param, "there are not so many nodes"};
}

} // namespace

event_sequencer::event_sequencer(uint32_t self, uint64_t incarnation,
                                 const job_locations& places, effects out,
                                 uint32_t radix)
  : self_(self), places_(places), out_(std::move(out)) {
  auto x = event_stream::means{};
  x.self = self;
  x.incarnation = incarnation;
  x.radix = std::max(radix, 1u);
  x.ask = out_.ask;
  x.deliver = out_.deliver;
  x.after = out_.after;
  x.trace = out_.trace;
  x.tell_end = [this](const std::string& name,
                      const std::vector<uint32_t>& ranks,
                      uint64_t place) { tell_end(name, ranks, place); };
  x.abandon = [this](const std::string& name) { abandon(name); };
  x.may_be = [this](const ordered_event& what) { return may_be_nodes(what); };
  x.hosts = [this](const std::string& nspace) {
    return nspace.empty() ? out_.live() : places_.rows_of_hosts(nspace);
  };
  x.founder = [this](const std::string& nspace) {
    return nspace.empty() ? uint32_t{0}
                          : places_.first_node_of(nspace).value_or(UINT32_MAX);
  };
  means_ = std::make_shared<const event_stream::means>(std::move(x));
}

bool event_sequencer::hosts(const std::string& nspace) const {
  if (nspace.empty())
    return true;
  return places_.rows_of_hosts(nspace).contains(self_);
}

event_stream& event_sequencer::stream(const std::string& nspace) {
  auto& x = streams_[nspace];
  if (!x) {
    x = std::make_shared<event_stream>(nspace, means_);
    if (is_stopped_)
      x->depose();
    else if (started_.count(nspace) > 0)
      x->open();
  }
  return *x;
}

void event_sequencer::submit(const std::string& nspace, deliver_event what,
                             completion then) {
  if (!nspace.empty() && !places_.knows(nspace)) {
    then(make_error(status::not_found, nspace + " is gone"));
    return;
  }
  stream(nspace).submit(std::move(what), std::move(then));
}

void event_sequencer::job_started(const std::string& nspace) {
  if (!hosts(nspace) || !started_.insert(nspace).second)
    return;
  const auto i = streams_.find(nspace);
  if (i != streams_.end())
    i->second->open();
  succeed(nspace);
}

/// What a lost home had given to some, all have to get, also if nobody here has
/// heard of it.
void event_sequencer::succeed(const std::string& nspace) {
  const auto nodes = places_.rows_of_hosts(nspace);
  if (!nodes.empty() && nodes.front() == self_
      && means_->founder(nspace) != self_)
    stream(nspace);
}

void event_sequencer::job_forgotten(const std::string& nspace) {
  started_.erase(nspace);
  const auto node = streams_.extract(nspace);
  if (!node.empty())
    node.mapped()->close();
}

void event_sequencer::node_lost(uint32_t rank) {
  end_of_nodes_ = std::max(end_of_nodes_, uint64_t{rank} + 1);
  ended_.erase(rank);
  const auto all = streams_;
  for (const auto& [nspace, x] : all)
    x->lose(rank);
  const auto started = started_;
  for (const auto& nspace : started)
    succeed(nspace);
}

void event_sequencer::stop() {
  is_stopped_ = true;
  ended_.clear();
  for (const auto& [nspace, x] : streams_)
    x->depose();
}

// -- from other nodes --------------------------------------------------------

/// Whether all ranks below this may be those of nodes.
bool event_sequencer::may_be_nodes(uint64_t end) {
  if (end <= end_of_nodes_)
    return true;
  const auto live = out_.live();
  if (!live.empty())
    end_of_nodes_ = std::max(end_of_nodes_, end_of(live.runs().back()));
  end_of_nodes_ = std::max(end_of_nodes_, uint64_t{places_.end_of_nodes()});
  return end <= end_of_nodes_ + defaults::unheard_nodes;
}

bool event_sequencer::may_be_nodes(const rank_list& ranks) {
  auto end = uint64_t{ranks.size()};
  for (const auto& x : ranks.runs())
    end = std::max(end, end_of(x));
  return may_be_nodes(end);
}

/// Those that have submitted an event, and those that join with it.
bool event_sequencer::may_be_nodes(const ordered_event& x) {
  auto end = uint64_t{0};
  any_origin(x, [&](const event_origin& y) {
    end = std::max(end, uint64_t{y.rank} + y.count);
    return false;
  });
  for (const auto rank : joining_of(x.what))
    end = std::max(end, uint64_t{rank} + 1);
  return may_be_nodes(end);
}

void event_sequencer::take(uint32_t from, uint64_t incarnation,
                           submit_event what, answerer reply) {
  if (!may_be_nodes(what.hosts)) {
    reply(too_many_nodes());
  } else if (is_group_log(what.nspace)) {
    take_entry(from, incarnation, std::move(what), reply);
  } else if (std::holds_alternative<group_entry>(what.what)) {
    reply(mesh_failure{status::bad_param, what.nspace + " is no group"});
  } else if (hosts(what.nspace)) {
    stream(what.nspace).take(from, incarnation, what, reply);
  } else if (places_.knows(what.nspace)) {
    reply(
      mesh_failure{status::unreach, "the daemon does not host " + what.nspace});
  } else {
    // It may not have been prepared yet.
    const auto nspace = what.nspace;
    const auto keep = std::make_shared<submit_event>(std::move(what));
    out_.locate(nspace, [this, from, incarnation, keep,
                         reply = std::move(reply)](const caf::error& why) {
      if (why || !places_.knows(keep->nspace))
        reply(mesh_failure{status::not_found, keep->nspace + " is gone"});
      else
        take(from, incarnation, std::move(*keep), reply);
    });
  }
}

void event_sequencer::take(uint32_t from, order_events what,
                           const answerer& reply) {
  if (!may_be_nodes(what.hosts))
    reply(too_many_nodes());
  else if (is_end_of_logs(what))
    take_ends(from, what, reply);
  else if (is_group_log(what.nspace))
    take_entries(from, std::move(what), reply);
  else if (!hosts(what.nspace))
    // A job that has been forgotten has nobody who is owed anything.
    reply(ack{});
  else
    stream(what.nspace).take(from, what, reply);
}

void event_sequencer::take(uint32_t from, const collect_events& what,
                           const answerer& reply) {
  if (!may_be_nodes(what.hosts)) {
    reply(too_many_nodes());
    return;
  }
  const auto log = is_group_log(what.nspace)
                     ? log_of(what.nspace, what.hosts, nullptr)
                     : nullptr;
  if (log)
    log->take(from, what, reply);
  else if (is_group_log(what.nspace) || !hosts(what.nspace))
    reply(mesh_failure{status::not_found, what.nspace + " is gone"});
  else
    stream(what.nspace).take(from, what, reply);
}

size_t event_sequencer::submitted() const {
  auto result = size_t{0};
  for (const auto& [nspace, x] : streams_)
    result += x->submitted();
  return result;
}

size_t event_sequencer::kept() const {
  auto result = size_t{0};
  for (const auto& [nspace, x] : streams_)
    result += x->kept();
  return result;
}

// -- the logs of groups ------------------------------------------------------

/// All nodes come to the same result, whatever they know of losses: those of
/// all who take part come first, wherever they are now.
log_hosts event_sequencer::hosts_for(const rank_list& given,
                                     const group_entry* entry) const {
  auto result = log_hosts{};
  if (given.empty())
    return result;
  auto lost = std::set<uint32_t>{};
  if (entry != nullptr) {
    const auto all = places_.list_of(entry->participants);
    result.ranks = is_same(given, *all) ? given : rank_list{*all};
    auto nspaces = std::set<std::string>{};
    for (const auto& proc : entry->participants)
      if (nspaces.insert(proc.nspace).second)
        for (const auto rank : places_.lost_of(proc.nspace))
          if (result.ranks.contains(rank))
            lost.insert(rank);
  }
  if (result.ranks.empty())
    result.ranks = given;
  else if (result.ranks != given)
    for (const auto rank : std::vector<uint32_t>{given})
      if (!result.ranks.contains(rank))
        result.ranks.push_back(rank);
  const auto live = out_.live();
  for (const auto& x : result.ranks.runs())
    add_missing(x, live, lost);
  result.lost.assign(lost.begin(), lost.end());
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
event_sequencer::log_of(const std::string& name, const rank_list& hosts,
                        const group_entry* entry) {
  const auto i = streams_.find(name);
  if (i != streams_.end())
    return i->second;
  auto all = hosts_for(hosts, entry);
  if (is_closed(name) || (!all.ranks.empty() && !all.ranks.contains(self_)))
    return nullptr;
  auto x = begin_log(name, std::move(all));
  x->open();
  return x;
}

/// Whoever says something first need not keep the log.
void event_sequencer::begin(const group_entry& first, const rank_list& hosts) {
  const auto name = log_name(first.group);
  if (streams_.count(name) == 0 && !is_closed(name))
    begin_log(name, hosts_for(hosts, &first));
}

void event_sequencer::submit(order_group_entry what, completion then) {
  const auto name = log_name(what.entry.group);
  if (is_closed(name)) {
    then(make_error(status::not_found,
                    "group " + what.entry.group.id + " is over"));
    return;
  }
  if (streams_.count(name) == 0)
    begin(what.entry, what.hosts);
  const auto log = streams_.at(name);
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
  close(log_name(group));
}

/// What a node has joined too late: whoever waits for the rest is told.
void event_sequencer::abandon(const std::string& name) {
  if (is_closed(name))
    return;
  if (const auto key = key_of(name))
    out_.deliver(
      name,
      group_entry{*key, {}, group_snapshot{std::string{group_log_over}}, 0},
      [] {
        // Nothing waits for it.
      });
  close(name);
}

bool event_sequencer::is_end_of_logs(const order_events& what) {
  return what.nspace == ends_of_logs;
}

void event_sequencer::tell_end(const std::string& name,
                               const std::vector<uint32_t>& ranks,
                               uint64_t place) {
  const auto key = key_of(name);
  if (!key || is_stopped_)
    return;
  for (const auto rank : ranks) {
    auto& ends = ended_[rank];
    ends.push_back({self_, means_->incarnation, place,
                    group_entry{*key, {}, group_snapshot{}, 0}});
    if (ends.size() >= defaults::event_batch)
      tell_ends(rank, std::exchange(ends, {}));
  }
  if (ranks.empty() || std::exchange(is_tell_due_, true))
    return;
  const auto alive = std::weak_ptr<const event_stream::means>{means_};
  out_.after(defaults::receipt_delay, [this, alive] {
    if (!alive.expired())
      tell_ends();
  });
}

void event_sequencer::tell_ends() {
  is_tell_due_ = false;
  for (auto& [rank, ends] : std::exchange(ended_, {}))
    if (!ends.empty())
      tell_ends(rank, std::move(ends));
}

void event_sequencer::tell_ends(uint32_t rank,
                                std::vector<ordered_event> ends) {
  auto what = order_events{};
  what.nspace = ends_of_logs;
  what.home = self_;
  what.events = std::move(ends);
  out_.ask(rank, std::move(what), [](const caf::expected<host_reply>&) {
    // Whoever is lost need not know.
  });
}

void event_sequencer::take_ends(uint32_t from, const order_events& what,
                                const answerer& reply) {
  for (const auto& x : what.events) {
    const auto* entry = std::get_if<group_entry>(&x.what);
    const auto i =
      entry != nullptr ? streams_.find(log_name(entry->group)) : streams_.end();
    if (i == streams_.end())
      continue;
    const auto keep_alive = i->second;
    keep_alive->finish(from, x.number);
  }
  reply(ack{});
}

void event_sequencer::close(const std::string& name) {
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
    is_closed(what.nspace) && (is_new || !is_mark(what.what));
  const auto log = is_over ? nullptr : log_of(what.nspace, what.hosts, &entry);
  // The sender knows of all that are before this node that they are lost; if it
  // is a child in the tree, that none is.
  if (log && is_new && what.origins.empty())
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
  if (!all.ranks.empty() && !all.ranks.contains(self_)) {
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
