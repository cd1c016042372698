#include "actors/events/namespace_log.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace troupe {

namespace defaults {

/// Events that come before a disk that failed is tried again.
inline constexpr size_t event_spool_pause = 1024;

} // namespace defaults

namespace {

bool is_on_disk(const event_entry& x) {
  return x.place == event_place::disk || x.place == event_place::loaded;
}

} // namespace

bool has_own_filter(const event_entry& x) {
  return x.filter->target_count() > defaults::event_shared_targets;
}

size_t memory_on_disk(const event_entry& x) {
  if (!has_own_filter(x))
    return defaults::event_spool_entry;
  return std::min(size_t{x.bytes},
                  defaults::event_spool_entry + x.filter->memory());
}

namespace_log::namespace_log(std::string nspace,
                             const namespace_log_limits& limits,
                             event_budget& node, uint64_t id,
                             const spool_effects* disk, bool is_open)
  : event_shelf(std::move(nspace)), limits_(limits), node_(node),
    is_open_(is_open), id_(id), disk_(limits.spool > 0 ? disk : nullptr) {
  // nop
}

namespace_log::~namespace_log() {
  node_.used -= memory_.bytes + state_.bytes + spooled_.places;
  node_.on_disk -= spooled_.bytes;
  if (has_spooled_)
    disk_->erase(id_, {});
}

// -- who has had what --------------------------------------------------------

/// Whether a connection of a process has taken `x`.
/// @param except A connection that does not count.
bool namespace_log::is_had_by(const participant& proc, const event_entry& x,
                              client_id except) const {
  return std::any_of(proc.connections.begin(), proc.connections.end(),
                     [&](client_id id) {
                       const auto* y = id != except ? reader(id) : nullptr;
                       return y != nullptr && y->has_taken(x);
                     });
}

uint32_t namespace_log::count_awaited(const range_filter& filter) const {
  const auto is_here = [&](uint32_t rank) { return procs_.count(rank) > 0; };
  if (const auto ranks = filter.ranks_of(nspace()))
    return static_cast<uint32_t>(
      std::count_if(ranks->begin(), ranks->end(), is_here));
  const auto excluded = filter.excluded_of(nspace());
  return static_cast<uint32_t>(procs_.size()
                               - static_cast<size_t>(std::count_if(
                                 excluded.begin(), excluded.end(), is_here)));
}

/// A process has not had anything of what is kept.
void namespace_log::await_all(uint32_t rank) {
  const auto proc = proc_id{nspace(), rank};
  for (auto* x = index_.next(0); x != nullptr; x = index_.next(x->number))
    if (x->is_kept && x->filter->admits(proc))
      ++x->awaited;
}

/// One process fewer may want `x`.
void namespace_log::cease_awaiting(event_entry& x) {
  --x.awaited;
  if (x.awaited == 0 && x.owed == 0 && !is_open_)
    erase(x);
}

// -- processes ---------------------------------------------------------------

void namespace_log::await(uint32_t rank) {
  const auto [i, is_new] = procs_.try_emplace(rank);
  if (!is_new)
    return;
  i->second.is_expected = true;
  ++expected_;
  await_all(rank);
}

void namespace_log::connect(uint32_t rank, client_id id) {
  const auto [i, is_new] = procs_.try_emplace(rank);
  i->second.connections.insert(id);
  if (is_new)
    await_all(rank);
  if (std::exchange(i->second.is_expected, false)) {
    --expected_;
    freed_ = true;
  }
}

void namespace_log::disconnect(uint32_t rank, client_id id) {
  const auto i = procs_.find(rank);
  if (i == procs_.end() || i->second.connections.count(id) == 0) {
    remove_reader(id);
    return;
  }
  if (i->second.connections.size() == 1) {
    end(rank);
    remove_reader(id);
    return;
  }
  // What only this connection has taken, its process has not had any more.
  const auto* gone = reader(id);
  for (auto* x = index_.next(0); gone != nullptr && x != nullptr;
       x = index_.next(x->number))
    if (x->is_kept && gone->has_taken(*x) && !is_had_by(i->second, *x, id))
      ++x->awaited;
  i->second.connections.erase(id);
  remove_reader(id);
}

void namespace_log::end(uint32_t rank) {
  const auto i = procs_.find(rank);
  if (i == procs_.end())
    return;
  if (i->second.is_expected) {
    --expected_;
    freed_ = true;
  }
  const auto proc = proc_id{nspace(), rank};
  for (auto* x = index_.next(0); x != nullptr;) {
    const auto number = x->number;
    if (x->is_kept && x->filter->admits(proc)
        && !is_had_by(i->second, *x, no_client))
      cease_awaiting(*x);
    x = index_.next(number);
  }
  procs_.erase(i);
}

// -- events ------------------------------------------------------------------

bool namespace_log::make_room(size_t bytes) {
  if (memory_.bytes + bytes <= limits_.memory)
    return true;
  spool();
  // What is on its way to the disk is no loss yet. Neither is what a backlog
  // keeps from it: some connection takes that, or ends.
  const auto waits_for_backlog =
    disk_ != nullptr && disk_pause_ == 0 && backlog() > 0;
  return writing_.empty() && !waits_for_backlog && !holds()
         && memory_.bytes - history_in_memory_.bytes + bytes <= limits_.memory;
}

bool namespace_log::is_wanted(const event_entry& x) const {
  return (x.is_kept && (is_open_ || count_awaited(*x.filter) > 0))
         || is_anybody_interested(x);
}

std::vector<event_shelf::client_id>
namespace_log::append(event_entry x, const std::string& row) {
  ++accepted_;
  const auto number = x.number;
  x.awaited = x.is_kept ? count_awaited(*x.filter) : 0;
  x.is_state = !row.empty();
  if (x.is_state)
    supersede(row);
  enter(x);
  auto result = add(std::move(x));
  auto* entry = index_.find(number);
  if (entry->is_state) {
    rows_[row] = number;
    row_names_[number] = row;
  }
  if (entry->owed == 0)
    on_settled(*entry);
  trim(number);
  if (is_half_full()) {
    if (disk_pause_ > 0)
      --disk_pause_;
    else
      spool();
  }
  return result;
}

/// The row of the state table is about to have a newer value: the old one is of
/// interest only to whom it is on the way.
void namespace_log::supersede(const std::string& row) {
  const auto i = rows_.find(row);
  if (i == rows_.end())
    return;
  auto* old = index_.find(i->second);
  old->is_kept = false;
  old->awaited = 0;
  if (old->owed == 0)
    erase(*old);
  else
    rows_.erase(i);
}

/// Drops the oldest until the rest is within the budget.
void namespace_log::trim(uint64_t except) {
  while (memory_.bytes > limits_.memory && !holds()) {
    const auto oldest = oldest_in_memory();
    if (!oldest || *oldest == except)
      return;
    drop(*index_.find(*oldest));
  }
}

void namespace_log::forget_source(const std::string& nspace) {
  for (auto* x = index_.next(0); x != nullptr;) {
    const auto number = x->number;
    if (x->owed == 0 && x->filter->source().nspace == nspace)
      erase(*x);
    x = index_.next(number);
  }
}

bool namespace_log::drop_oldest() {
  if (history_.empty() || holds())
    return false;
  drop(*index_.find(*history_.first_from(0)));
  return true;
}

void namespace_log::take(client_id id, uint32_t rank, uint64_t number) {
  auto* who = find_reader(id);
  if (who == nullptr)
    return;
  auto* x = index_.find(number);
  if (x == nullptr) {
    who->take(number);
    return;
  }
  const auto i = procs_.find(rank);
  const auto counts = x->is_kept && i != procs_.end()
                      && i->second.connections.count(id) > 0
                      && !is_had_by(i->second, *x, id);
  who->take(number);
  if (counts)
    --x->awaited;
  release(*x);
}

// -- places ------------------------------------------------------------------

/// Counts an event where it is.
void namespace_log::enter(const event_entry& x) {
  amount_of(x).add(x);
  node_.used += is_on_disk(x) ? memory_on_disk(x) : x.bytes;
  node_.on_disk += is_on_disk(x) ? x.bytes : 0;
}

/// Ceases to.
void namespace_log::leave(const event_entry& x) {
  amount_of(x).remove(x);
  node_.used -= is_on_disk(x) ? memory_on_disk(x) : x.bytes;
  node_.on_disk -= is_on_disk(x) ? x.bytes : 0;
}

event_amount& namespace_log::amount_of(const event_entry& x) {
  if (x.is_state)
    return state_;
  return is_on_disk(x) ? spooled_ : memory_;
}

event_amount& namespace_log::history_of(const event_entry& x) {
  return is_on_disk(x) ? history_on_disk_ : history_in_memory_;
}

void namespace_log::on_owed(event_entry& x) {
  if (history_.erase(x.number))
    history_of(x).remove(x);
}

void namespace_log::on_settled(event_entry& x) {
  if (!x.is_kept || (x.awaited == 0 && !is_open_)) {
    erase(x);
  } else if (!x.is_state) {
    history_.insert(x.number);
    history_of(x).add(x);
    freed_ = true;
  }
}

void namespace_log::on_erased(const event_entry& x) {
  on_owed(const_cast<event_entry&>(x));
  leave(x);
  freed_ = true;
  if (x.place != event_place::memory) {
    if (x.place == event_place::loaded)
      loaded_bytes_ -= x.bytes;
    erased_.push_back(x.number);
    flush_erased();
  }
  const auto row = row_names_.extract(x.number);
  if (row.empty())
    return;
  if (const auto i = rows_.find(row.mapped());
      i != rows_.end() && i->second == x.number)
    rows_.erase(i);
}

// -- the disk -----------------------------------------------------------------

/// Whether it is time to send some to the disk.
bool namespace_log::is_half_full() const {
  return memory_.bytes > limits_.memory / 2;
}

/// The oldest history that takes memory.
std::optional<uint64_t> namespace_log::oldest_in_memory() const {
  return history_.first_from(writing_.empty() ? spool_from_ : writing_.front());
}

/// Whether the disk may take a batch, be it that older history is dropped.
/// @param owed Bytes of the batch that somebody is owed.
bool namespace_log::make_disk_room(size_t bytes, size_t owed) {
  // A single batch may exceed the limit: else nothing would ever get there.
  if (owed > 0 && backlog() > 0 && backlog() + owed > limits_.backlog)
    return false;
  while (spooled_.bytes + bytes > limits_.spool) {
    const auto oldest = history_.first_from(0);
    if (!oldest || holds())
      return false;
    auto* x = index_.find(*oldest);
    if (!is_on_disk(*x))
      return false;
    drop(*x);
  }
  return true;
}

void namespace_log::spool() {
  if (disk_ == nullptr || !writing_.empty() || disk_pause_ > 0)
    return;
  auto numbers = std::vector<uint64_t>{};
  auto bytes = size_t{0};
  auto owed = size_t{0};
  for (auto* x = index_.next(spool_from_ > 0 ? spool_from_ - 1 : 0);
       x != nullptr && numbers.size() < defaults::event_spool_records;
       x = index_.next(x->number)) {
    if (x->is_state)
      continue;
    if (!numbers.empty() && bytes + x->bytes > limits_.batch)
      break;
    bytes += x->bytes;
    owed += x->owed > 0 ? x->bytes : 0;
    numbers.push_back(x->number);
  }
  if (numbers.empty() || !make_disk_room(bytes, owed))
    return;
  auto batch = std::vector<spool_effects::payload>{};
  batch.reserve(numbers.size());
  for (const auto number : numbers) {
    auto* x = index_.find(number);
    batch.emplace_back(number, std::string{x->what->bytes()});
    x->place = event_place::writing;
  }
  writing_ = std::move(numbers);
  spool_from_ = writing_.back() + 1;
  has_spooled_ = true;
  disk_->write(id_, std::move(batch));
}

void namespace_log::note_written(bool is_done) {
  const auto batch = std::exchange(writing_, {});
  if (batch.empty())
    return;
  for (const auto number : batch) {
    auto* x = index_.find(number);
    if (x == nullptr)
      continue;
    if (!is_done) {
      x->place = event_place::memory;
      continue;
    }
    const auto is_history = history_.contains(number);
    leave(*x);
    if (is_history)
      history_of(*x).remove(*x);
    x->place = event_place::disk;
    x->what = nullptr;
    enter(*x);
    if (is_history)
      history_of(*x).add(*x);
  }
  freed_ = true; // Or history may go again.
  if (is_done) {
    if (is_half_full())
      spool();
    return;
  }
  spool_from_ = batch.front();
  disk_pause_ = defaults::event_spool_pause;
  disk_->warn("events of " + nspace()
              + " cannot be kept on disk: their sources wait earlier");
}

/// Keeps what has been read back on disk only.
void namespace_log::unload() {
  for (const auto number : std::exchange(loaded_, {}))
    if (auto* x = index_.find(number)) {
      x->place = event_place::disk;
      x->what = nullptr;
    }
  loaded_bytes_ = 0;
}

bool namespace_log::load(const event_entry& first) {
  if (!reading_.empty())
    return false;
  auto bytes = size_t{0};
  for (const auto* x = &first;
       x != nullptr && reading_.size() < defaults::event_spool_records;
       x = index_.next(x->number)) {
    if (x->place != event_place::disk || x->owed == 0)
      continue;
    if (!reading_.empty() && bytes + x->bytes > limits_.batch)
      break;
    bytes += x->bytes;
    reading_.push_back(x->number);
  }
  if (loaded_bytes_ + bytes > limits_.loaded)
    unload();
  disk_->read(id_, reading_);
  return true;
}

void namespace_log::note_loaded(
  const std::vector<spool_effects::payload>& found) {
  const auto asked = std::exchange(reading_, {});
  auto next = found.begin(); // In the order asked.
  auto lost = size_t{0};
  for (const auto number : asked) {
    const auto is_there = next != found.end() && next->first == number;
    const auto i = is_there ? next++ : next;
    auto* x = index_.find(number);
    if (x == nullptr || x->place != event_place::disk)
      continue;
    if (!is_there) {
      ++lost;
      drop(*x);
      continue;
    }
    x->place = event_place::loaded;
    x->what = kept_event::of_bytes(i->second);
    loaded_.push_back(number);
    loaded_bytes_ += x->bytes;
  }
  if (lost > 0)
    disk_->warn(std::to_string(lost) + " events of " + nspace()
                + " are damaged or lost on disk: their readers are told");
}

/// Tells the disk what is not wanted any more, some at a time.
void namespace_log::flush_erased() {
  if (erased_.size() >= defaults::event_spool_records)
    disk_->erase(id_, std::exchange(erased_, {}));
}

} // namespace troupe
