#include "adapters/node_store/node_store.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace troupe {

namespace {

/// What a copy of a region keeps of its memory.
constexpr size_t kept_copy = size_t{64} << 10;

/// How often a region is looked at that is written over meanwhile.
constexpr int most_looks = 8;

/// Where nobody comes in his life.
constexpr uint64_t most_offset = uint64_t{1} << 56;

/// Memory of the board is taken in pieces of so many bytes.
constexpr uint64_t board_piece = uint64_t{16} << 10;

void set_bit(std::atomic<uint32_t>& word, uint32_t bit, bool is_set) {
  if (is_set)
    word.fetch_or(bit);
  else
    word.fetch_and(~bit);
}

} // namespace

node_store::node_store(store_geometry shape, shared_segment board,
                       shared_segment posts)
  : shape_(shape), board_(std::move(board)), posts_(std::move(posts)),
    brought_(board_.data() + shape_.brought(), shape_.brought_bytes,
             [this](uint64_t offset, uint64_t size) {
               return reserve_board(shape_.brought() + offset, size);
             }),
    groups_(posts_head().groups, posts_head().group_log, board_head().groups,
            reinterpret_cast<shared_call*>(posts_.data() + shape_.calls()),
            shape_.locals),
    parts_(board_head().parts, posts_head().parts, [this](uint32_t cell) {
      for (uint32_t number = 0; number < shape_.locals; ++number)
        if (head_of(number).part.load() == cell)
          return true;
      return false;
    }) {
  // nop
}

std::unique_ptr<node_store> node_store::make(const settings& what) {
  const auto round = store_geometry::least_region;
  auto shape = store_geometry{};
  shape.ranks = what.ranks;
  shape.locals = static_cast<uint32_t>(what.locals.size());
  shape.region_bytes = std::clamp(what.region_bytes / round * round, round,
                                  uint64_t{store_geometry::most_region});
  if (what.locals.size() < what.ranks)
    shape.brought_bytes = std::min(what.brought_bytes / round * round,
                                   uint64_t{store_geometry::most_brought});
  if (what.job.size() <= store_geometry::most_job)
    shape.job_bytes = what.job.size();
  const auto is_rank = [&](uint32_t x) { return x < what.ranks; };
  if (what.locals.size() > cell_participants || !shape.is_sane()
      || !std::all_of(what.locals.begin(), what.locals.end(), is_rank)) {
    errno = EINVAL;
    return nullptr;
  }
  auto mark = store_mark{store_mark::magic, {}};
  if (::getrandom(mark.key.data(), sizeof(mark.key), 0)
      != static_cast<ssize_t>(sizeof(mark.key)))
    return nullptr;
  using writers = shared_segment::writers;
  auto board =
    shared_segment::make("troupe-board", shape.board_size(), writers::maker);
  if (!board || !board.reserve(0, sizeof(board_header)))
    return nullptr;
  if (shape.job_bytes > 0) {
    if (board.reserve(shape.job(), shape.job_bytes))
      std::memcpy(board.data() + shape.job(), what.job.data(), what.job.size());
    else
      shape.job_bytes = 0;
  }
  auto posts =
    shared_segment::make("troupe-posts", shape.posts_size(), writers::all);
  if (!posts || !posts.reserve(0, shape.front(0)))
    return nullptr;
  auto result = std::unique_ptr<node_store>{
    new node_store{shape, std::move(board), std::move(posts)}};
  result->key_ = mark.key;
  new (result->board_.data()) board_header{
    mark,       shape.ranks,         shape.locals,    shape.region_bytes,
    what.spins, shape.brought_bytes, shape.job_bytes, {},
    {}};
  new (result->posts_.data()) posts_header{mark, {}, {}, {}, {}};
  for (uint32_t i = 0; i < shape.locals; ++i) {
    const auto rank = what.locals[i];
    if (!result->regions_.emplace(rank, region{i, false, false, 0}).second
        || !result->reserve_board(shape.place_of(rank), sizeof(rank_place))) {
      errno = result->regions_.size() <= i ? EINVAL : ENOMEM;
      return nullptr;
    }
    result->place_of(rank).region = i + 1;
  }
  return result;
}

rank_place& node_store::place_of(uint32_t rank) {
  return *reinterpret_cast<rank_place*>(board_.data() + shape_.place_of(rank));
}

region_head& node_store::head_of(uint32_t number) const {
  return *reinterpret_cast<region_head*>(posts_.data() + shape_.head(number));
}

posts_header& node_store::posts_head() const {
  return *reinterpret_cast<posts_header*>(posts_.data());
}

board_header& node_store::board_head() const {
  return *reinterpret_cast<board_header*>(board_.data());
}

store_address node_store::address() const {
  return {static_cast<uint32_t>(::getpid()), board_.fd(), posts_.fd(), key_,
          std::nullopt};
}

store_address node_store::lend(uint32_t rank) {
  auto result = address();
  if (const auto i = regions_.find(rank);
      i != regions_.end() && !i->second.is_retired) {
    // Somebody may wait for what it is going to post.
    place_of(rank).source.fetch_or(store_source::region);
    result.region = i->second.number;
  }
  return result;
}

void node_store::retire(uint32_t rank) {
  const auto i = regions_.find(rank);
  if (i == regions_.end())
    return;
  i->second.is_retired = true;
  place_of(rank).source.fetch_and(store_source::beat_wanted);
}

bool node_store::has(uint32_t rank) const {
  const auto i = regions_.find(rank);
  return i != regions_.end() && !i->second.is_retired;
}

void node_store::want(uint32_t rank, bool is_wanted) {
  if (has(rank))
    set_bit(place_of(rank).source, store_source::wanted, is_wanted);
}

bool node_store::copy_region(uint32_t number, uint64_t from, uint64_t to) {
  const auto size = shape_.region_bytes;
  if (from > to || to - from > size)
    return false;
  copy_.resize(to - from);
  for (auto at = from; at < to;) {
    const auto there = shape_.piece_of(number, at % size);
    const auto n = std::min(to - at, there.size);
    if (!posts_.copy(there.offset, copy_.data() + (at - from), n))
      return false;
    at += n;
  }
  return true;
}

std::optional<store_area> node_store::copy_news(const region& x, uint64_t last,
                                                uint64_t& lowest) {
  // Where the blocks are, from their headers; then all of it at once.
  auto end = uint64_t{0};
  auto bytes = uint64_t{0};
  auto newer = most_offset;
  auto at = last;
  for (size_t n = 0; at > x.last; ++n) {
    lowest = at;
    if (n == store_chain_limit
        || !copy_region(x.number, at, at + block_header_bytes))
      return std::nullopt;
    const auto found =
      place_of_block({copy_.data(), copy_.size(), at, false}, at);
    if (!found || found->end > newer)
      return std::nullopt;
    if (end == 0)
      end = found->end;
    // No writer shows more than that.
    bytes += found->end - at;
    if (bytes > shape_.region_bytes / store_live_part
        || end - at > shape_.region_bytes)
      return std::nullopt;
    newer = at;
    at = found->previous;
  }
  if (!copy_region(x.number, lowest, end))
    return std::nullopt;
  return store_area{copy_.data(), copy_.size(), lowest, false};
}

node_store::look_outcome
node_store::look(region& x,
                 const std::function<void(const store_entry&)>& use) {
  const auto& chain = head_of(x.number).chain;
  const auto last = chain.last.load();
  if (last == x.last)
    return look_outcome::taken;
  if (last < x.last || last > most_offset)
    return look_outcome::damaged;
  auto lowest = last;
  const auto area = copy_news(x, last, lowest);
  std::atomic_thread_fence(std::memory_order_acquire);
  // Its writer has gone round meanwhile.
  if (chain.writing.load() > lowest + shape_.region_bytes)
    return look_outcome::overtaken;
  if (!area || !list_entries(*area, last, x.last, use))
    return look_outcome::damaged;
  x.last = last;
  return look_outcome::taken;
}

bool node_store::take(uint32_t rank,
                      const std::function<void(const store_entry&)>& use) {
  const auto i = regions_.find(rank);
  if (i == regions_.end() || i->second.is_closed)
    return true;
  auto& x = i->second;
  const auto look_often = [&] {
    auto result = look_outcome::overtaken;
    for (auto n = 0; n < most_looks && result == look_outcome::overtaken; ++n)
      result = look(x, use);
    return result;
  };
  auto outcome = look_often();
  if (outcome == look_outcome::overtaken) {
    // Who writes there sees it after the next block at the latest.
    retire(rank);
    outcome = look_often();
  }
  if (copy_.capacity() > kept_copy) {
    copy_.clear();
    copy_.shrink_to_fit();
  }
  const auto is_whole = outcome == look_outcome::taken;
  if (!is_whole)
    retire(rank);
  // Whoever shows something after this posts it to the server as well.
  x.is_closed = x.is_retired;
  return is_whole;
}

bool node_store::reserve_board(uint64_t offset, uint64_t size) {
  reserved_.resize(board_.size() / board_piece + 1);
  for (auto i = offset / board_piece; i <= (offset + size - 1) / board_piece;
       ++i) {
    const auto begin = i * board_piece;
    if (!reserved_[i]
        && !board_.reserve(begin, std::min(board_piece, board_.size() - begin)))
      return false;
    reserved_[i] = true;
  }
  return true;
}

bool node_store::bring(uint32_t rank, const std::vector<store_entry>& entries) {
  return rank < shape_.ranks && regions_.count(rank) == 0
         && reserve_board(shape_.place_of(rank), sizeof(rank_place))
         && brought_.add(rank, place_of(rank).brought, entries);
}

void node_store::drop(uint32_t rank) {
  if (rank < shape_.ranks)
    brought_.drop(rank, place_of(rank).brought);
}

uint64_t node_store::last_beat(uint32_t rank) const {
  const auto i = regions_.find(rank);
  return i != regions_.end() ? head_of(i->second.number).beat.load() : 0;
}

void node_store::want_beat(uint32_t rank, bool is_wanted) {
  if (regions_.count(rank) > 0)
    set_bit(place_of(rank).source, store_source::beat_wanted, is_wanted);
}

collective_cell node_store::fences() const {
  return {posts_head().fences, shape_.locals, shape_.locals == shape_.ranks};
}

std::optional<uint32_t>
node_store::add_part(const std::vector<uint32_t>& ranks) {
  auto members = part_members{};
  for (const auto rank : ranks) {
    const auto i = regions_.find(rank);
    if (i == regions_.end() || !members.add(i->second.number))
      return std::nullopt;
  }
  return parts_.add(members);
}

void node_store::leave_parts(uint32_t rank) {
  if (const auto i = regions_.find(rank); i != regions_.end())
    leave_part(head_of(i->second.number).part);
}

uint64_t node_store::used() const {
  return board_.used() + posts_.used();
}

} // namespace troupe
