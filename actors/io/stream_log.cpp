#include "actors/io/stream_log.hpp"

#include "config/defaults.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

/// @returns whether bytes read at `y` are shown with the time `x`. Time is cut
/// into slices, so that what is joined twice is not off by two of them.
bool is_one_moment(int64_t x, int64_t y) {
  constexpr auto slice = stream_bytes::time_resolution;
  return y >= x && y / slice == x / slice;
}

/// Fragments on their way to a sink that blocks: enough that it never waits for
/// us, and never more bytes than this part of its window.
constexpr size_t max_on_way = 8;
constexpr uint64_t window_on_way = 2;

} // namespace

void stream_bytes::append(uint64_t offset, std::string bytes, int64_t read_at) {
  if (bytes.empty())
    return;
  const auto n = bytes.size();
  const auto was_empty = first_ == chunks_.size();
  if (was_empty)
    begin_ = offset;
  if (!join(offset, bytes, read_at)) {
    // Buffers into which was read are often much larger than what was read.
    if (bytes.capacity() > n + n / 4 + 64)
      bytes.shrink_to_fit();
    chunks_.push_back({offset, added_, read_at, std::move(bytes), {}});
  }
  added_ += n;
  end_ = offset + n;
}

bool stream_bytes::join(uint64_t offset, const std::string& bytes,
                        int64_t read_at) {
  if (first_ == chunks_.size() || offset != end_ || bytes.size() > max_joined)
    return false;
  auto& last = chunks_.back();
  const auto size = last.bytes.size() + bytes.size();
  if (size > defaults::io_fragment_bytes)
    return false;
  const auto latest =
    last.marks.empty() ? last.read_at : last.marks.back().read_at;
  if (!is_one_moment(latest, read_at)) {
    auto& marks = last.marks;
    if (marks.size() >= max_marks) {
      if (last.bytes.size() >= max_marks * 2 * sizeof(mark))
        return false;
      // Few bytes and many moments: every second one has to do.
      for (size_t i = 0; i < marks.size() / 2; ++i)
        marks[i] = marks[2 * i + 1];
      marks.resize(marks.size() / 2);
    }
    marks.push_back({static_cast<uint32_t>(last.bytes.size()), read_at});
  }
  if (size > last.bytes.capacity())
    last.bytes.reserve(std::min(std::max(size, 2 * last.bytes.capacity()),
                                defaults::io_fragment_bytes));
  last.bytes += bytes;
  return true;
}

size_t stream_bytes::find(uint64_t offset) const noexcept {
  const auto begin = chunks_.begin() + static_cast<ptrdiff_t>(first_);
  const auto i =
    std::partition_point(begin, chunks_.end(), [offset](const chunk& x) {
      return x.end() <= offset;
    });
  return static_cast<size_t>(i - chunks_.begin());
}

uint64_t stream_bytes::rank_of(uint64_t offset) const noexcept {
  const auto from = std::max(offset, begin_);
  const auto i = find(from);
  if (i == chunks_.size())
    return added_;
  const auto& x = chunks_[i];
  return x.rank + (from > x.offset ? from - x.offset : 0);
}

uint64_t stream_bytes::last(size_t n) const noexcept {
  if (size() <= n)
    return begin_;
  const auto rank = added_ - n;
  const auto begin = chunks_.begin() + static_cast<ptrdiff_t>(first_);
  const auto i =
    std::partition_point(begin, chunks_.end(), [rank](const chunk& x) {
      return x.rank + x.bytes.size() <= rank;
    });
  return i == chunks_.end() ? end_ : i->offset + (rank - i->rank);
}

void stream_bytes::cut_front(uint64_t offset) {
  if (offset <= begin_)
    return;
  for (; first_ < chunks_.size() && chunks_[first_].end() <= offset; ++first_)
    chunks_[first_].forget();
  if (first_ == chunks_.size()) {
    chunks_.clear();
    first_ = 0;
    begin_ = end_;
    return;
  }
  begin_ = std::max(offset, chunks_[first_].offset);
  shorten(chunks_[first_]);
  if (first_ > 8 && 2 * first_ > chunks_.size()) {
    chunks_.erase(chunks_.begin(),
                  chunks_.begin() + static_cast<ptrdiff_t>(first_));
    first_ = 0;
  }
}

/// Gives back what is before the first byte, if that is much beside the rest,
/// and is not done again soon.
void stream_bytes::shorten(chunk& x) const {
  const auto n = static_cast<size_t>(begin_ - x.offset);
  if (n < max_waste || n < (x.bytes.size() - n) / 2 || n < size() / 8)
    return;
  x.bytes.substr(n).swap(x.bytes);
  x.offset += n;
  x.rank += n;
  auto marks = std::vector<mark>{};
  for (const auto& y : x.marks)
    if (y.at <= n)
      x.read_at = y.read_at;
    else
      marks.push_back({static_cast<uint32_t>(y.at - n), y.read_at});
  x.marks.swap(marks);
}

void stream_bytes::cut_back(size_t n) {
  auto excess = size() - std::min(n, size());
  while (excess > 0) {
    auto& x = chunks_.back();
    const auto there = x.end() - std::max(begin_, x.offset);
    if (there <= excess) {
      excess -= there;
      chunks_.pop_back();
      continue;
    }
    x.bytes.resize(x.bytes.size() - excess);
    x.bytes.shrink_to_fit();
    const auto is_cut = [&](const mark& y) { return y.at >= x.bytes.size(); };
    x.marks.erase(std::find_if(x.marks.begin(), x.marks.end(), is_cut),
                  x.marks.end());
    excess = 0;
  }
  if (first_ == chunks_.size()) {
    end_ = begin_;
    return;
  }
  end_ = chunks_.back().end();
  added_ = chunks_.back().rank + chunks_.back().bytes.size();
}

bool stream_bytes::read(uint64_t offset, size_t size,
                        io_fragment& result) const {
  auto from = std::max(offset, begin_);
  auto i = find(from);
  if (i == chunks_.size() || size == 0)
    return false;
  from = std::max(from, chunks_[i].offset);
  result.offset = from;
  result.bytes.clear();
  for (; i < chunks_.size() && size > 0; ++i) {
    const auto& x = chunks_[i];
    const auto at = static_cast<size_t>(from - x.offset);
    auto until = x.bytes.size();
    auto read_at = x.read_at;
    for (const auto& y : x.marks) {
      if (y.at > at) {
        until = y.at;
        break;
      }
      read_at = y.read_at;
    }
    if (result.bytes.empty())
      result.read_at = read_at;
    else if (x.offset != from || !is_one_moment(result.read_at, read_at))
      break;
    const auto n = std::min(size, until - at);
    result.bytes.append(x.bytes, at, n);
    from += n;
    size -= n;
    if (at + n < x.bytes.size())
      break;
  }
  return true;
}

stream_log::stream_log(size_t tail, io_policy overflow)
  : tail_(overflow == io_policy::drop_newest ? 0 : tail) {
  if (overflow == io_policy::drop_newest) {
    head_ = std::make_unique<stream_bytes>();
    head_limit_ = tail;
  }
}

// -- the stream ---------------------------------------------------------------

uint64_t stream_log::append(std::string bytes, int64_t read_at) {
  return append_at(end_, std::move(bytes), read_at);
}

uint64_t stream_log::append_at(uint64_t offset, std::string bytes,
                               int64_t read_at) {
  const auto due = offset + bytes.size();
  if (has_ended_ || bytes.empty() || due <= end_)
    return std::min(due, end_);
  if (offset < end_) {
    bytes.erase(0, end_ - offset);
    offset = end_;
  }
  end_ = offset;
  for (auto& [id, x] : sinks_)
    if (x.waiting)
      drop_newest(x, bytes, read_at);
  append_to_head(bytes, read_at);
  end_ = due;
  bytes_.append(offset, std::move(bytes), read_at);
  for (auto& [id, x] : sinks_)
    if (x.policy == io_policy::drop_oldest)
      drop_oldest(x);
  trim();
  return due;
}

uint64_t stream_log::end() {
  return end_at(end_);
}

uint64_t stream_log::end_at(uint64_t offset) {
  if (!std::exchange(has_ended_, true))
    end_ = std::max(end_, offset);
  return end_ + 1;
}

void stream_log::append_to_head(const std::string& bytes, int64_t read_at) {
  if (!head_ || is_head_full_)
    return;
  const auto room = head_limit() - std::min(head_limit(), head_->size());
  is_head_full_ = bytes.size() >= room;
  head_->append(end_, bytes.substr(0, room), read_at);
}

void stream_log::drop_newest(sink& x, const std::string& bytes,
                             int64_t read_at) {
  const auto from = std::max(end_, x.position);
  if (from - end_ >= bytes.size())
    return;
  const auto limit = limit_of(x);
  const auto waiting = x.waiting->size();
  if (x.is_full && waiting > limit / 2)
    return;
  const auto room = limit - std::min<uint64_t>(limit, waiting);
  x.is_full = bytes.size() - (from - end_) > room;
  x.waiting->append(from, bytes.substr(from - end_, room), read_at);
}

void stream_log::drop_oldest(sink& x) {
  const auto limit = limit_of(x);
  if (bytes_.size_from(x.position) > limit)
    x.position = bytes_.last(limit);
}

size_t stream_log::tail() const noexcept {
  return std::min(tail_, part_);
}

size_t stream_log::head_limit() const noexcept {
  return std::min(head_limit_, part_);
}

uint64_t stream_log::limit_of(const sink& x) const noexcept {
  const auto most =
    x.position < x.replay_until ? std::max(x.window, x.replay) : x.window;
  return std::min<uint64_t>(most, std::max(part_, defaults::io_window_least));
}

/// Forgets what nobody needs.
void stream_log::trim() {
  auto needed = end_;
  for (const auto& [id, x] : sinks_)
    if (!x.waiting)
      needed = std::min(needed, x.position);
  if (head_ && head_->size() > head_limit() && needed >= head_->end())
    head_->cut_back(head_limit());
  if (needed > bytes_.begin())
    bytes_.cut_front(std::min(needed, bytes_.last(tail())));
}

// -- sinks --------------------------------------------------------------------

bool stream_log::add_sink(uint64_t id, const io_subscription& how, bool is_copy,
                          std::shared_ptr<shared_window> window) {
  const auto [i, is_new] = sinks_.try_emplace(id);
  if (!is_new)
    return false;
  auto& x = i->second;
  x.name = how.name;
  x.policy = how.policy;
  x.window = how.window == 0 ? defaults::io_window : how.window;
  x.share = window_share{std::move(window)};
  if (how.start == io_start::live)
    x.position = end_;
  else if (how.start == io_start::offset)
    x.position = how.offset;
  x.expected = x.position;
  x.taken = x.position;
  if (is_copy && how.start == io_start::offset && x.position < begin())
    x.lacks_until = begin();
  x.replay = bytes_.size_from(x.position);
  x.replay_until = end_;
  if (x.policy == io_policy::drop_newest) {
    x.waiting = std::make_unique<stream_bytes>();
    auto kept = io_fragment{};
    for (auto from = x.position;
         read(from, defaults::io_fragment_bytes, kept);) {
      from = kept.offset + kept.bytes.size();
      x.waiting->append(kept.offset, std::move(kept.bytes), kept.read_at);
    }
    x.replay = x.waiting->size();
  }
  if (most_ < SIZE_MAX)
    keep(most_);
  return true;
}

uint64_t stream_log::remove_sink(uint64_t id) {
  const auto node = sinks_.extract(id);
  if (node.empty())
    return 0;
  share_out();
  trim();
  return node.mapped().taken;
}

bool stream_log::may_have_more(const sink& x) const noexcept {
  if (x.was_given_end || x.expected < x.lacks_until)
    return false;
  if (x.on_way.empty())
    return true;
  const auto window = std::min<uint64_t>(x.window, defaults::io_window);
  return x.policy == io_policy::block && x.on_way.size() < max_on_way
         && x.expected - x.taken < window / window_on_way;
}

/// Reads what is kept at `offset` or after it.
bool stream_log::read(uint64_t offset, size_t size, io_fragment& result) const {
  return (head_ && offset < bytes_.begin() && head_->read(offset, size, result))
         || bytes_.read(offset, size, result);
}

std::optional<io_fragment> stream_log::next(uint64_t id, size_t size) {
  const auto i = sinks_.find(id);
  if (i == sinks_.end() || !may_have_more(i->second))
    return std::nullopt;
  auto& x = i->second;
  auto result = std::optional<io_fragment>{io_fragment{}};
  const auto most = static_cast<size_t>(
    std::min<uint64_t>({size, x.window, x.share.room(SIZE_MAX)}));
  if (most == 0)
    return std::nullopt;
  const auto has_bytes = x.waiting ? x.waiting->read(x.position, most, *result)
                                   : read(x.position, most, *result);
  if (!has_bytes) {
    if (!has_ended_)
      return std::nullopt;
    result->offset = end_;
  }
  give(x, *result);
  if (x.waiting)
    x.waiting->cut_front(x.position);
  else
    trim();
  return result;
}

/// Notes that a sink gets a fragment, and what it misses before it.
void stream_log::give(sink& x, io_fragment& what) {
  const auto until = what.offset + what.bytes.size();
  if (what.offset > x.expected)
    what.missed = what.offset - x.expected;
  what.is_end = has_ended_ && until == end_;
  x.missed += what.missed;
  x.expected = until;
  x.position = std::max(x.position, until);
  x.was_given_end = what.is_end;
  x.on_way.emplace_back(until, what.bytes.size());
  x.share.take(what.bytes.size());
}

void stream_log::taken(uint64_t id) {
  const auto i = sinks_.find(id);
  if (i == sinks_.end() || i->second.on_way.empty())
    return;
  auto& x = i->second;
  x.taken = x.on_way.front().first;
  x.share.give_back(x.on_way.front().second);
  x.on_way.erase(x.on_way.begin());
  x.has_end = x.was_given_end && x.on_way.empty();
}

std::optional<stream_log::interval> stream_log::lacks(uint64_t id) const {
  const auto i = sinks_.find(id);
  if (i == sinks_.end() || i->second.expected >= i->second.lacks_until
      || !i->second.on_way.empty())
    return std::nullopt;
  return interval{i->second.expected, i->second.lacks_until};
}

size_t stream_log::room(uint64_t id) const {
  const auto i = sinks_.find(id);
  return i != sinks_.end() ? i->second.share.room(SIZE_MAX) : 0;
}

std::optional<io_fragment> stream_log::fill(uint64_t id,
                                            std::optional<io_fragment> got) {
  const auto wanted = lacks(id);
  if (!wanted)
    return std::nullopt;
  auto& x = sinks_.find(id)->second;
  if (!got || got->bytes.empty() || got->offset >= wanted->until
      || got->offset + got->bytes.size() <= wanted->from) {
    x.lacks_until = 0;
    return std::nullopt;
  }
  if (got->offset + got->bytes.size() > wanted->until)
    got->bytes.resize(wanted->until - got->offset);
  if (got->offset < wanted->from) {
    got->bytes.erase(0, wanted->from - got->offset);
    got->offset = wanted->from;
  }
  got->missed = 0;
  give(x, *got);
  return got;
}

/// Whether a sink waits for the writer, perhaps after a gap: then the writer
/// must not wait for it.
bool stream_log::has_nothing_to_take(const sink& x) const noexcept {
  return x.on_way.empty() && x.expected >= x.lacks_until
         && bytes_.size_from(x.position) == 0
         && !(head_ && x.position < bytes_.begin()
              && head_->size_from(x.position) > 0);
}

uint64_t stream_log::settled() const {
  auto result = end_ + (has_ended_ ? 1 : 0);
  for (const auto& [id, x] : sinks_)
    if (x.policy == io_policy::block && !x.has_end)
      result = std::min(
        result, has_nothing_to_take(x) ? end_ : std::min(x.taken, end_));
  return result;
}

// -- memory -------------------------------------------------------------------

/// Drops the newest of what waits for a sink beyond its limit.
void stream_log::shorten(sink& x) {
  const auto limit = static_cast<size_t>(limit_of(x));
  if (x.waiting->size() <= limit)
    return;
  x.waiting->cut_back(limit);
  x.is_full = true;
}

/// Finds out who shares what may be held.
void stream_log::share_out() {
  part_ = most_;
  if (most_ == SIZE_MAX)
    return;
  auto parts = size_t{head_ ? 1U : 0U};
  auto is_shared = tail_ > 0;
  for (const auto& [id, x] : sinks_) {
    parts += x.waiting ? 1 : 0;
    is_shared = is_shared || x.policy == io_policy::drop_oldest;
  }
  part_ /= std::max<size_t>(1, parts + (is_shared ? 1 : 0));
}

void stream_log::keep(size_t most) {
  most_ = most;
  share_out();
  if (head_)
    is_head_full_ = is_head_full_ || head_->size() >= head_limit();
  for (auto& [id, x] : sinks_)
    if (x.waiting)
      shorten(x);
    else if (x.policy == io_policy::drop_oldest)
      drop_oldest(x);
  trim();
}

size_t stream_log::held() const noexcept {
  auto result = bytes_.size() + (head_ ? head_->size() : 0);
  for (const auto& [id, x] : sinks_)
    if (x.waiting)
      result += x.waiting->size();
  return result;
}

size_t stream_log::needed() const noexcept {
  auto from = end_;
  for (const auto& [id, x] : sinks_)
    if (x.policy == io_policy::block)
      from = std::min(from, x.position);
  return bytes_.size_from(from)
         + (head_ && from < head_->end() ? head_->size() : 0);
}

// -- questions ----------------------------------------------------------------

uint64_t stream_log::begin() const noexcept {
  if (head_ && head_->size() > 0)
    return head_->begin();
  return bytes_.size() > 0 ? bytes_.begin() : end_;
}

bool stream_log::is_over() const {
  return has_ended_
         && std::all_of(sinks_.begin(), sinks_.end(),
                        [](const auto& x) { return x.second.has_end; });
}

io_fragment stream_log::fetch(uint64_t offset, size_t size) const {
  auto result = io_fragment{};
  result.offset = std::max(offset, end_);
  read(offset, std::min(size, defaults::io_fragment_bytes), result);
  const auto until = result.offset + result.bytes.size();
  result.missed = result.offset - offset;
  result.is_end = has_ended_ && until >= end_;
  return result;
}

io_stream_status stream_log::status() const {
  auto result = io_stream_status{};
  result.begin = begin();
  result.end = end_;
  result.is_over = has_ended_;
  for (const auto& [id, x] : sinks_)
    result.sinks.push_back({x.name, x.policy, x.taken, x.missed});
  return result;
}

} // namespace troupe
