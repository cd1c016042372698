// Compares what the logs count with what is there: for tests, it costs as much
// as there are events and readers. Source: guarantees, CACHE-1 to CACHE-6.

#include "actors/events/event_log.hpp"

#include <algorithm>

namespace troupe {

namespace {

std::string about(const event_entry& x, const std::string& what) {
  return "event " + std::to_string(x.number) + ": " + what;
}

} // namespace

std::string event_shelf::audit_readers() const {
  auto owed = size_t{0};
  for (const auto* x = index_.next(0); x != nullptr;
       x = index_.next(x->number)) {
    auto count = uint32_t{0};
    for (const auto& [id, to] : readers_)
      count += to.is_pending(*x) || to.is_in_flight(x->number) ? 1 : 0;
    if (count != x->owed)
      return about(*x, "owed to " + std::to_string(count) + ", not "
                         + std::to_string(x->owed));
    owed += count > 0 ? 1 : 0;
  }
  if (owed != owed_)
    return std::to_string(owed) + " events are owed, not "
           + std::to_string(owed_);
  return {};
}

std::string event_ring::audit() const {
  auto bytes = size_t{0};
  for (const auto* x = index_.next(0); x != nullptr; x = index_.next(x->number))
    bytes += x->bytes;
  if (bytes != bytes_)
    return "the ring holds " + std::to_string(bytes) + " bytes, not "
           + std::to_string(bytes_);
  if (bytes_ > max_bytes_ && index_.size() > 1)
    return "the ring is over its budget";
  return audit_readers();
}

std::string namespace_log::audit() const {
  if (auto wrong = audit_readers(); !wrong.empty())
    return wrong;
  auto memory = size_t{0};
  auto state = size_t{0};
  auto history = size_t{0};
  auto spooled = size_t{0};
  auto loaded = size_t{0};
  for (const auto* x = index_.next(0); x != nullptr;
       x = index_.next(x->number)) {
    const auto is_on_disk =
      x->place == event_place::disk || x->place == event_place::loaded;
    (x->is_state ? state : is_on_disk ? spooled : memory) += x->bytes;
    loaded += x->place == event_place::loaded ? x->bytes : 0;
    auto awaited = uint32_t{0};
    for (const auto& [rank, proc] : procs_)
      awaited += x->is_kept && x->filter->admits({nspace(), rank})
                     && !is_had_by(proc, *x, no_client)
                   ? 1
                   : 0;
    if (awaited != x->awaited)
      return about(*x, "awaited by " + std::to_string(awaited) + ", not "
                         + std::to_string(x->awaited));
    const auto is_history = x->owed == 0 && !x->is_state;
    if (x->owed == 0 && awaited == 0 && !is_open_)
      return about(*x, "wanted by nobody");
    if (is_history != (history_.count(x->number) > 0))
      return about(*x, "history or not");
    history += is_history ? x->bytes : 0;
    if ((x->what == nullptr) != (x->place == event_place::disk))
      return about(*x, "its payload is nowhere");
  }
  if (spooled != spooled_ || loaded != loaded_bytes_)
    return nspace() + " has " + std::to_string(spooled) + " and "
           + std::to_string(loaded) + " bytes on disk, not "
           + std::to_string(spooled_) + " and " + std::to_string(loaded_bytes_);
  if (memory != memory_ || state != state_
      || history != history_bytes_ + history_on_disk_)
    return nspace() + " holds " + std::to_string(memory) + ", "
           + std::to_string(state) + " and " + std::to_string(history)
           + " bytes, not " + std::to_string(memory_) + ", "
           + std::to_string(state_) + " and " + std::to_string(history_bytes_);
  if (memory_ > limits_.memory || state_ > limits_.state
      || spooled_ > limits_.spool
      || loaded_bytes_ > std::max(limits_.loaded, limits_.batch))
    return nspace() + " is over its budget";
  return {};
}

std::string event_log::audit() const {
  auto used = open_.in_memory();
  if (auto wrong = open_.audit(); !wrong.empty())
    return wrong;
  if (auto wrong = ring_.audit(); !wrong.empty())
    return wrong;
  for (const auto& [nspace, log] : logs_) {
    if (auto wrong = log->audit(); !wrong.empty())
      return wrong;
    used += log->in_memory() + log->on_disk();
  }
  used += open_.in_state();
  for (const auto& [nspace, log] : logs_)
    used += log->in_state();
  if (used != node_.used)
    return "the node holds " + std::to_string(used) + " bytes, not "
           + std::to_string(node_.used);
  if (node_.used > node_.limit)
    return "the node is over its budget";
  for (const auto& [id, x] : clients_) {
    auto bytes = size_t{0};
    for (const auto& y : x.in_flight)
      bytes += y.bytes;
    if (bytes != x.in_flight_bytes)
      return to_string(x.proc) + " has other bytes on the way";
    if (bytes > options_.window && x.in_flight.size() > 1)
      return to_string(x.proc) + " has too much on the way";
  }
  for (const auto& [name, x] : streams_)
    if (x.lacks != nullptr && x.lacks->owed() == 0 && x.lacks->droppable() > 0
        && !x.lacks->is_writing())
      return "stream " + name + " waits for nobody";
  return {};
}

} // namespace troupe
