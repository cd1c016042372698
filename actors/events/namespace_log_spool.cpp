// What a log keeps on disk: its oldest, written before memory is full and read
// back for those who are about to get them. Source: guarantees 5.1.

#include "actors/events/namespace_log.hpp"

#include <utility>

namespace troupe {

/// The oldest history that takes memory.
std::set<uint64_t>::iterator namespace_log::oldest_in_memory() {
  return history_.lower_bound(writing_.empty() ? spool_from_
                                               : writing_.front());
}

bool namespace_log::make_disk_room(size_t bytes) {
  while (spooled_ + bytes > limits_.spool) {
    const auto i = history_.begin();
    if (i == history_.end() || holds())
      return false;
    auto* x = index_.find(*i);
    if (x->place != event_place::disk && x->place != event_place::loaded)
      return false;
    drop(*x);
  }
  return true;
}

/// Sends the oldest of what is in memory to the disk, a batch at a time, when
/// half of the memory is taken.
void namespace_log::spool() {
  if (disk_ == nullptr || !writing_.empty() || memory_ <= limits_.memory / 2)
    return;
  if (disk_pause_ > 0) {
    --disk_pause_;
    return;
  }
  auto batch = std::vector<spool_effects::payload>{};
  auto bytes = size_t{0};
  for (auto* x = index_.next(spool_from_ > 0 ? spool_from_ - 1 : 0);
       x != nullptr && batch.size() < defaults::event_spool_records;
       x = index_.next(x->number)) {
    if (x->is_state)
      continue;
    if (!batch.empty() && bytes + x->bytes > limits_.batch)
      break;
    bytes += x->bytes;
    batch.emplace_back(x->number, x->what);
  }
  if (batch.empty() || !make_disk_room(bytes))
    return;
  for (const auto& [number, what] : batch) {
    index_.find(number)->place = event_place::writing;
    writing_.push_back(number);
  }
  spool_from_ = batch.back().first + 1;
  has_spooled_ = true;
  disk_->write(id_, batch);
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
    const auto is_history = history_.count(number) > 0;
    bytes_of(*x) -= x->bytes;
    if (is_history)
      history_of(*x) -= x->bytes;
    x->place = event_place::disk;
    x->what = nullptr;
    bytes_of(*x) += x->bytes;
    if (is_history)
      history_of(*x) += x->bytes;
  }
  freed_ = true; // Or history may go again.
  if (is_done) {
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
  auto missing = std::exchange(reading_, {});
  auto there = std::map<uint64_t, std::shared_ptr<const event>>{found.begin(),
                                                                found.end()};
  auto lost = size_t{0};
  for (const auto number : missing) {
    auto* x = index_.find(number);
    if (x == nullptr || x->place != event_place::disk)
      continue;
    const auto i = there.find(number);
    if (i == there.end() || i->second == nullptr) {
      ++lost;
      drop(*x);
      continue;
    }
    x->place = event_place::loaded;
    x->what = i->second;
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
