#include "actors/events/event_log.hpp"

#include "messages/attributes.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

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

event_log::event_log(event_log_options options, effects out)
  : options_(std::move(options)), out_(std::move(out)),
    open_({}, options_.per_namespace, node_, 0, nullptr, true),
    ring_(options_.ring_size) {
  node_.limit = options_.node_bytes;
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
  for (const auto* x = kept.next(0); x != nullptr; x = kept.next(x->number)) {
    if (!x->filter->concerns(log.nspace()) || !make_node_room(x->bytes))
      continue;
    auto copy = *x;
    copy.owed = 0;
    log.append(std::move(copy), row_of(*x->what));
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
  if (i->second.codes.size() + fresh.size() > defaults::event_codes_per_client)
    return make_error(status::out_of_resource,
                      to_string(proc) + " registers for more than "
                        + std::to_string(defaults::event_codes_per_client)
                        + " event codes (L6)");
  i->second.codes.insert(fresh.begin(), fresh.end());
  if (levels.job)
    log->subscribe(id, proc, codes);
  if (levels.environment)
    ring_.subscribe(id, proc, codes);
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
    const auto what = x->what;
    to.in_flight.push_back({from, x->number, x->bytes});
    to.in_flight_bytes += x->bytes;
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

} // namespace troupe
