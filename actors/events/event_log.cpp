#include "actors/events/event_log.hpp"

#include "actors/events/defaults.hpp"
#include "base/trace_ring.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace troupe {

namespace {

/// Events on the way to slow processes if none are kept.
constexpr size_t at_least = 64;

/// Filters to remember.
constexpr size_t max_filters = 1024;

} // namespace

event_ring::event_ring(size_t size, size_t bytes)
  : event_shelf(std::string{}), size_(size), max_bytes_(bytes) {
  // nop
}

event_ring::share event_ring::share_of(status code) {
  const auto* oldest = index_.next_of(code, 0);
  return {std::numeric_limits<size_t>::max() - index_.size_of(code),
          oldest != nullptr ? oldest->number : 0, code};
}

std::vector<event_shelf::client_id> event_ring::append(event_entry x) {
  ++accepted_;
  x.is_kept = x.is_kept && size_ > 0;
  const auto number = x.number;
  const auto code = x.code;
  bytes_ += x.bytes;
  shares_.erase(share_of(code));
  auto result = add(std::move(x));
  shares_.insert(share_of(code));
  if (auto* entry = index_.find(number); entry->owed == 0)
    on_settled(*entry);
  trim();
  return result;
}

void event_ring::trim() {
  const auto limit = std::max(size_, size_ == 0 ? at_least : size_);
  while (index_.size() > limit || (bytes_ > max_bytes_ && index_.size() > 1)) {
    const auto code = std::get<status>(*shares_.begin());
    drop(*index_.next_of(code, 0));
  }
}

void event_ring::take(client_id id, uint64_t number) {
  if (auto* who = find_reader(id))
    who->take(number);
  if (auto* x = index_.find(number))
    release(*x);
}

void event_ring::on_settled(event_entry& x) {
  if (!x.is_kept)
    erase(x);
}

/// `x` is still in the index: the share that it leaves is that of the others.
void event_ring::on_erased(const event_entry& x) {
  bytes_ -= x.bytes;
  shares_.erase(share_of(x.code));
  const auto rest = index_.size_of(x.code) - 1;
  if (rest == 0)
    return;
  const auto* oldest = index_.next_of(x.code, 0);
  if (oldest->number == x.number)
    oldest = index_.next_of(x.code, x.number);
  shares_.insert(
    {std::numeric_limits<size_t>::max() - rest, oldest->number, x.code});
}

caf::expected<event_levels> levels_of(const std::vector<info>& directives,
                                      bool is_default) {
  const auto* job = find(directives, attr::event_job_level);
  const auto* environment = find(directives, attr::event_enviro_level);
  auto result = event_levels{};
  result.environment = !is_default;
  if (job != nullptr || environment != nullptr) {
    const auto wants_job = job != nullptr && job->truth();
    const auto wants_environment =
      environment != nullptr && environment->truth();
    result.job = wants_job || (job == nullptr && !wants_environment);
    result.environment = wants_environment;
  }
  if (!result.job && !result.environment)
    return make_error(status::bad_param,
                      "a handler that wants neither job events nor those of "
                      "the environment gets none: set PMIX_EVENT_JOB_LEVEL or "
                      "PMIX_EVENT_ENVIRO_LEVEL");
  return result;
}

namespace {

/// What the processes of one namespace do not take fills no more than half of the
/// node's disk: else one that stalls would hold up all others.
event_log_options bounded(event_log_options x) {
  auto& each = x.per_namespace;
  each.backlog = std::min(each.backlog, x.node_spool / 2);
  return x;
}

} // namespace

event_log::event_log(event_log_options options, effects out)
  : options_(bounded(std::move(options))), out_(std::move(out)),
    open_({}, options_.per_namespace, node_, 0, nullptr, true),
    ring_(options_.ring_size), filters_(max_filters) {
  node_.limit = options_.node_bytes;
  node_.disk_limit = options_.node_spool;
}

event_log::~event_log() {
  out_.disk.erase = [](uint64_t, const std::vector<uint64_t>&) {
    // The disk goes with its actor.
  };
}

// -- processes ---------------------------------------------------------------

std::pair<namespace_log*, bool> event_log::log_of(const std::string& nspace) {
  auto& x = logs_[nspace];
  const auto is_new = x == nullptr;
  if (is_new)
    x = std::make_unique<namespace_log>(nspace, options_.per_namespace, node_,
                                        next_log_++, &out_.disk);
  return {x.get(), is_new};
}

/// A new log begins with what is kept for all.
void event_log::inherit(namespace_log& log) {
  if (log.nspace() == options_.server.nspace)
    return;
  const auto& kept = open_.index();
  auto number = uint64_t{0};
  while (const auto* x = kept.next(number)) {
    number = x->number;
    if (!x->filter->concerns(log.nspace()))
      continue;
    // What makes room may drop the entry itself.
    auto copy = *x;
    if (!make_node_room(copy.bytes))
      continue;
    copy.owed = 0;
    const auto is_of_system = copy.filter->source().nspace.empty();
    auto row = is_of_system ? row_of(*copy.get()) : std::string{};
    log.append(std::move(copy), std::move(row));
  }
}

void event_log::await(const std::string& nspace,
                      const std::vector<uint32_t>& ranks) {
  const auto [log, is_new] = log_of(nspace);
  for (const auto rank : ranks)
    log->await(rank);
  if (is_new)
    inherit(*log);
}

void event_log::connect(const proc_id& proc, client_id id, time_point now) {
  auto& x = clients_[id];
  if (x.log != nullptr)
    return;
  x.proc = proc;
  const auto [log, is_new] = log_of(proc.nspace);
  x.log = log;
  x.since = now_ = now;
  log->connect(proc.rank, id);
  if (is_new)
    inherit(*log);
  retry();
}

void event_log::disconnect(client_id id) {
  const auto node = clients_.extract(id);
  if (node.empty())
    return;
  const auto& x = node.mapped();
  ring_.disconnect(id);
  if (x.log != nullptr)
    x.log->disconnect(x.proc.rank, id);
  retry();
}

void event_log::end(const proc_id& proc) {
  const auto i = logs_.find(proc.nspace);
  if (i == logs_.end())
    return;
  i->second->end(proc.rank);
  retry();
}

void event_log::forget(const std::string& nspace) {
  const auto i = logs_.find(nspace);
  if (i == logs_.end())
    return;
  auto* gone = i->second.get();
  for (auto& [id, x] : clients_) {
    if (x.log != gone)
      continue;
    // What is on the way to it counts no more, and nothing else will come.
    for (auto& y : x.in_flight)
      if (y.from == gone)
        y.from = nullptr;
    x.log = nullptr;
  }
  for (auto& [name, x] : streams_)
    if (x.lacks == gone)
      x.lacks = nullptr;
  open_.forget_source(nspace);
  logs_.erase(i);
  // Those of its events nobody asks for again.
  for (auto& x : filters_)
    if (x.use_count() == 1)
      x = nullptr;
  retry();
}

// -- registrations -----------------------------------------------------------

caf::error event_log::subscribe(client_id id, std::vector<status> codes,
                                event_levels levels) {
  const auto i = clients_.find(id);
  if (i == clients_.end() || i->second.log == nullptr)
    return make_error(status::not_found, "the namespace is gone");
  const auto& proc = i->second.proc;
  auto* log = i->second.log;
  if (codes.empty())
    codes.push_back(default_events);
  auto fresh = std::set<status>{};
  for (const auto code : codes)
    if (code != default_events && i->second.codes.count(code) == 0)
      fresh.insert(code);
  const auto most = options_.codes_per_client;
  if (i->second.codes.size() + fresh.size() > most)
    return make_error(
      status::out_of_resource,
      to_string(proc) + " registers for more than " + std::to_string(most)
        + " event codes (L6); register for all at once, by no code");
  i->second.codes.insert(fresh.begin(), fresh.end());
  if (levels.job)
    log->subscribe(id, proc, codes, most);
  if (levels.environment)
    ring_.subscribe(id, proc, codes, most);
  return {};
}

std::vector<proc_id>
event_log::listeners(status code, const std::vector<proc_id>& procs) const {
  auto found = std::set<proc_id>{};
  for (const auto& [id, x] : clients_)
    if (x.log != nullptr && x.codes.count(code) > 0)
      found.insert(x.proc);
  auto result = std::vector<proc_id>{};
  for (const auto& proc : procs)
    if (found.count(proc) > 0)
      result.push_back(proc);
  return result;
}

void event_log::unsubscribe(client_id id, const std::vector<status>& codes) {
  const auto i = clients_.find(id);
  if (i == clients_.end())
    return;
  for (const auto code : codes)
    i->second.codes.erase(code);
  if (i->second.log != nullptr)
    i->second.log->unsubscribe(id, codes);
  ring_.unsubscribe(id, codes);
  retry();
}

// -- the way to a connection -------------------------------------------------

void event_log::resume(client_id id) {
  const auto i = clients_.find(id);
  if (i != clients_.end())
    hand_over(id, i->second);
}

void event_log::hand_over(client_id id, client& to) {
  for (;;) {
    auto* of_job = to.log != nullptr ? to.log->next(id) : nullptr;
    auto* of_ring = ring_.next(id);
    auto* x = of_job;
    auto* from = static_cast<event_shelf*>(to.log);
    if (of_ring != nullptr && (x == nullptr || of_ring->number < x->number)) {
      x = of_ring;
      from = &ring_;
    }
    if (x == nullptr)
      return;
    const auto is_idle = to.in_flight.empty();
    if (!is_idle && to.in_flight_bytes + x->bytes > options_.window)
      return;
    if (x->what == nullptr) {
      if (may_load_ && to.log->load(*x))
        last_loader_ = id;
      return;
    }
    if (is_idle)
      to.since = now_;
    const auto what = x->get();
    to.in_flight.push_back({from, x->number, x->bytes});
    to.in_flight_bytes += x->bytes;
    if (options_.trace)
      options_.trace->note_delivery(x->number, to.proc);
    auto missed = ring_.take_missed(id);
    if (to.log != nullptr) {
      const auto more = to.log->take_missed(id);
      missed.add(more.count, more.first, more.last);
    }
    from->hand(id, *x);
    if (missed.count > 0)
      out_.note(severity::warning,
                to_string(to.proc) + " has missed "
                  + std::to_string(missed.count)
                  + " events, which there was no room to keep");
    out_.deliver(id, what, missed);
  }
}

bool event_log::take(client_id id, uint64_t count, time_point now) {
  now_ = now;
  const auto i = clients_.find(id);
  if (i == clients_.end())
    return true;
  auto& x = i->second;
  if (count < x.taken || count - x.taken > x.in_flight.size())
    return false;
  if (count > x.taken) {
    x.since = now;
    x.is_named = false;
  }
  for (; x.taken < count; ++x.taken) {
    const auto [from, number, bytes] = x.in_flight.front();
    x.in_flight.pop_front();
    x.in_flight_bytes -= bytes;
    if (from == &ring_)
      ring_.take(id, number);
    else if (from != nullptr)
      x.log->take(id, x.proc.rank, number);
  }
  hand_over(id, x);
  retry();
  return true;
}

// -- the disk ----------------------------------------------------------------

namespace_log* event_log::find_log(uint64_t id) {
  for (const auto& [nspace, log] : logs_)
    if (log->id() == id)
      return log.get();
  return nullptr;
}

void event_log::note_written(uint64_t id, bool is_done) {
  if (auto* log = find_log(id)) {
    log->note_written(is_done);
    retry();
  }
}

void event_log::note_loaded(uint64_t id,
                            const std::vector<spool_effects::payload>& found) {
  auto* log = find_log(id);
  if (log == nullptr)
    return;
  log->note_loaded(found);
  auto readers = std::vector<client_id>{};
  for (const auto& [client, x] : clients_)
    if (x.log == log)
      readers.push_back(client);
  // All get what is there before somebody asks for more: not always the same.
  may_load_ = false;
  for (const auto reader : readers)
    hand_over(reader, clients_.at(reader));
  may_load_ = true;
  std::rotate(readers.begin(),
              std::upper_bound(readers.begin(), readers.end(), last_loader_),
              readers.end());
  for (const auto reader : readers)
    hand_over(reader, clients_.at(reader));
  retry();
}

void event_log::look_for_stalled(time_point now) {
  now_ = now;
  for (auto& [id, x] : clients_) {
    if (x.is_named || x.in_flight.empty() || now - x.since < options_.stall)
      continue;
    const auto is_in_the_way =
      std::any_of(streams_.begin(), streams_.end(), [&](const auto& y) {
        return y.second.lacks == nullptr || y.second.lacks == x.log;
      });
    if (!is_in_the_way)
      continue;
    x.is_named = true;
    out_.stalled(id);
  }
}

// -- where an event belongs --------------------------------------------------

std::shared_ptr<const range_filter>
event_log::filter_of(const offered_event& x) {
  auto result = range_filter{x.what, x.targets};
  if (x.is_from_host && result.is_for_all())
    result.exclude(options_.server);
  if (result.target_count() > defaults::event_shared_targets)
    return std::make_shared<const range_filter>(std::move(result));
  const auto& source = x.what.source;
  auto number = std::hash<std::string>{}(source.nspace) + 8 * source.rank
                + static_cast<size_t>(x.what.range);
  // Else events to this process and that one in turn had a filter each.
  for (const auto& target : result.targets())
    number = 31 * number + std::hash<std::string>{}(target.nspace)
             + 8 * target.rank + 1;
  auto& known = filters_[number % filters_.size()];
  if (known == nullptr || *known != result)
    known = std::make_shared<const range_filter>(std::move(result));
  return known;
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

/// Whether room in memory will be had without dropping anything: the log that
/// has most there sends a batch to the disk.
bool event_log::is_moving_to_disk(size_t bytes) {
  if (node_.used + bytes <= node_.limit)
    return false;
  namespace_log* most = nullptr;
  for (const auto& [nspace, log] : logs_)
    if (most == nullptr || log->in_memory() > most->in_memory())
      most = log.get();
  // Less than a batch is not worth the wait.
  if (most == nullptr || most->in_memory() < options_.per_namespace.batch)
    return false;
  most->spool();
  return most->is_writing();
}

/// Drops history until so many bytes of memory are free, and no more than its
/// share is on disk, beginning with the log that has most of it.
bool event_log::make_node_room(size_t bytes) {
  const auto lacks_memory = [&](size_t freed) {
    return node_.used + bytes > node_.limit + freed;
  };
  const auto lacks_disk = [&](size_t freed) {
    return node_.on_disk > node_.disk_limit + freed;
  };
  if (!lacks_memory(0) && !lacks_disk(0))
    return true;
  auto memory = open_.droppable();
  auto disk = size_t{0};
  for (const auto& [nspace, log] : logs_) {
    memory += log->droppable();
    disk += log->droppable_on_disk();
  }
  if (lacks_memory(memory) || lacks_disk(disk))
    return false;
  while (lacks_memory(0) || lacks_disk(0)) {
    const auto share = lacks_memory(0) ? &namespace_log::droppable
                                       : &namespace_log::droppable_on_disk;
    auto* most = &open_;
    for (const auto& [nspace, log] : logs_)
      if ((log.get()->*share)() > (most->*share)())
        most = log.get();
    if (!most->drop_oldest())
      return false;
  }
  return true;
}

void event_log::trace(const offered_event& x, uint64_t number) const {
  if (!options_.trace)
    return;
  auto id = trace_id{};
  if (x.mark.number > 0) {
    id.kind = trace_kind::event;
    id.node = x.mark.node;
    id.name = x.mark.order;
    id.number = x.mark.number;
  } else {
    id = options_.trace->local_event(x.what.source.nspace, number);
    options_.trace->note_proc(id, trace_step::raised, x.what.source);
  }
  options_.trace->note(id, trace_step::logged, number);
}

bool event_log::try_offer(offered_event& x, bool may_pass,
                          namespace_log*& lacks) {
  const auto filter = filter_of(x);
  auto entry = event_entry{};
  entry.code = x.what.code;
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
  // The host's default handlers get only what is meant for it: they end jobs.
  const auto entry_for = [&](const namespace_log& log) {
    auto result = entry;
    if (&log != &open_ && log.nspace() == options_.server.nspace
        && filter->is_for_all())
      result.admits_default = false;
    return result;
  };
  const auto is_expected =
    is_of_environment
      ? ring_.is_anybody_interested(entry)
      : std::any_of(logs.begin(), logs.end(), [&](const auto* log) {
          return log->is_anybody_interested(entry_for(*log));
        });
  auto bytes = cost_of(x.what);
  if (!is_expected && (is_of_environment || !logs.empty())) {
    entry.what = kept_event::packed(x.what);
    bytes = cost_of(*entry.what);
  }
  if (has_own_filter(entry))
    bytes += filter->memory();
  // That may be more than what `offer` has looked at: there must be room some
  // time.
  entry.bytes = static_cast<uint32_t>(
    std::min({bytes, options_.per_namespace.memory, node_.limit}));
  for (auto* log : logs) {
    if (!row.empty() && !log->has_state_room(entry.bytes))
      row.clear();
    if (!row.empty())
      continue;
    if (!may_pass && has_waiting(log, lacks))
      return false;
    lacks = log;
    if (!log->make_room(entry.bytes))
      return false;
  }
  lacks = nullptr;
  // For many namespaces it may be more than there will ever be.
  bytes = entry.bytes * logs.size();
  if (bytes > node_.limit)
    bytes = node_.limit / 2;
  if (!logs.empty() && (is_moving_to_disk(bytes) || !make_node_room(bytes)))
    return false;
  ++next_number_;
  trace(x, entry.number);
  if (entry.what == nullptr)
    entry.what =
      kept_event::whole(std::make_shared<const event>(std::move(x.what)));
  auto interested = std::vector<client_id>{};
  const auto note = [&](std::vector<client_id> ids) {
    if (interested.empty())
      interested = std::move(ids);
    else
      interested.insert(interested.end(), ids.begin(), ids.end());
  };
  if (is_of_environment)
    note(ring_.append(entry));
  for (auto* log : logs)
    note(log->append(entry_for(*log), row));
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
