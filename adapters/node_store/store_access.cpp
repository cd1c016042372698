#include "adapters/node_store/store_access.hpp"

#include "adapters/node_store/brought_data.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace troupe {

namespace {

/// Memory behind a front is taken in pieces of so many bytes.
constexpr uint64_t reserved_at_once = uint64_t{16} << 10;

/// How often somebody looks at a region that is written over meanwhile.
constexpr int most_looks = 8;

/// How often a thread tries to show a beat against others that do.
constexpr int most_beat_tries = 16;

/// How often a waiting process looks before it sleeps, whatever the board says.
constexpr uint32_t most_spins = 1000;

/// Of the front of a region: what a value of a few words, the first that was
/// posted, ends in.
constexpr size_t first_bytes = 256;

/// Has the memory that `find` is about to read come all at once. Another
/// processor has written it, and line after line is what a first look takes.
void fetch(const char* from, size_t size) {
  constexpr size_t line = 64;
  for (size_t i = 0; i < size; i += line)
    __builtin_prefetch(from + i);
}

bool has_mark(const shared_segment& x, const std::array<uint64_t, 2>& key) {
  if (x.size() < sizeof(board_header))
    return false;
  const auto& mark = *reinterpret_cast<const store_mark*>(x.data());
  return mark.what == store_mark::magic && mark.key == key;
}

} // namespace

store_access::store_access(store_geometry shape, shared_segment board,
                           shared_segment posts, std::optional<uint32_t> region,
                           uint32_t self)
  : shape_(shape), board_(std::move(board)), posts_(std::move(posts)),
    region_(region), own_(*place_of(self)) {
  // nop
}

std::unique_ptr<store_access> store_access::attach(const store_address& where,
                                                   uint32_t owner,
                                                   uint32_t self) {
  auto board = shared_segment::map(path_of_descriptor(where.pid, where.board),
                                   false, owner);
  if (!board)
    return nullptr;
  auto posts = shared_segment::map(path_of_descriptor(where.pid, where.posts),
                                   where.region.has_value(), owner);
  if (!posts)
    return nullptr;
  auto shape = store_geometry{};
  if (has_mark(board, where.key)) {
    const auto& head = *reinterpret_cast<const board_header*>(board.data());
    shape = {head.ranks, head.locals, head.region_bytes, head.brought_bytes,
             head.job_bytes};
  }
  if (!has_mark(posts, where.key) || !shape.is_sane()
      || board.size() < shape.board_size() || posts.size() < shape.posts_size()
      || (where.region && *where.region >= shape.locals)
      || self >= shape.ranks) {
    errno = EINVAL;
    return nullptr;
  }
  return std::unique_ptr<store_access>{new store_access{
    shape, std::move(board), std::move(posts), where.region, self}};
}

const rank_place* store_access::place_of(uint32_t rank) const {
  if (rank >= shape_.ranks)
    return nullptr;
  return reinterpret_cast<const rank_place*>(board_.data()
                                             + shape_.place_of(rank));
}

region_head& store_access::head_of(uint32_t number) const {
  return *reinterpret_cast<region_head*>(posts_.data() + shape_.head(number));
}

std::optional<std::string> store_access::find(uint32_t rank,
                                              std::string_view name) const {
  const auto* place = place_of(rank);
  if (place == nullptr)
    return std::nullopt;
  const auto region = place->region.load();
  if (region == 0)
    return find_brought(
      {board_.data() + shape_.brought(), shape_.brought_bytes, 0, false},
      place->brought, name);
  if (region > shape_.locals
      || store_source::of(place->source.load()) != store_source::region)
    return std::nullopt;
  const auto number = region - 1;
  const auto* front = posts_.data() + shape_.front(number);
  const auto& chain = head_of(number).chain;
  fetch(front, first_bytes);
  // Who asks for all asks for the next one then.
  if (region < shape_.locals) {
    fetch(reinterpret_cast<const char*>(&head_of(region).chain),
          sizeof(region_head::chain));
    fetch(posts_.data() + shape_.front(region), first_bytes);
  }
  const auto area = store_area{
    posts_.data() + shape_.rest(number), shape_.region_bytes, 0, true, front,
    store_geometry::front_bytes};
  for (auto i = 0; i < most_looks; ++i) {
    const auto last = chain.last.load(std::memory_order_acquire);
    auto lowest = uint64_t{0};
    const auto found = find_entry(area, last, name, store_view::here, &lowest);
    auto result =
      found ? std::optional<std::string>{std::in_place, *found} : std::nullopt;
    std::atomic_thread_fence(std::memory_order_acquire);
    // Unless its writer has gone round meanwhile.
    if (chain.writing.load(std::memory_order_relaxed)
        <= lowest + shape_.region_bytes)
      return result;
  }
  return std::nullopt;
}

void store_access::prepare() {
  if (writer_)
    return;
  // The first piece is the front alone.
  constexpr auto front = store_geometry::front_bytes;
  const auto piece_at = [](uint64_t offset) {
    return offset < front ? 0 : 1 + (offset - front) / reserved_at_once;
  };
  const auto reserve = [this, piece_at](uint64_t offset, uint64_t size) {
    for (auto i = piece_at(offset); i <= piece_at(offset + size - 1); ++i) {
      if (reserved_[i])
        continue;
      const auto begin = i == 0 ? 0 : front + (i - 1) * reserved_at_once;
      const auto there = shape_.piece_of(*region_, begin);
      if (!posts_.reserve(there.offset, std::min(there.size, reserved_at_once)))
        return false;
      reserved_[i] = true;
    }
    return true;
  };
  reserved_.resize(piece_at(shape_.region_bytes - 1) + 1);
  writer_.emplace(block_writer::ring{posts_.data() + shape_.rest(*region_),
                                     shape_.region_bytes,
                                     posts_.data() + shape_.front(*region_),
                                     front},
                  head_of(*region_).chain, reserve);
}

store_access::posting
store_access::post(const std::vector<store_entry>& entries) {
  const auto guard = std::lock_guard{mutex_};
  if (!region_ || own_.region != *region_ + 1)
    return posting::refused;
  prepare();
  if (store_source::of(own_.source.load()) != store_source::region
      || !writer_->append(entries))
    return posting::refused;
  // What the server has written before it looked at the chain is seen here, or
  // it sees the chain as it is now.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const auto source = own_.source.load();
  if (store_source::of(source) != store_source::region)
    return posting::refused;
  return (source & store_source::wanted) != 0 ? posting::wanted : posting::done;
}

store_access::posting
store_access::beat(const std::function<uint64_t()>& clock) {
  if (!region_ || own_.region != *region_ + 1)
    return posting::refused;
  auto& to = head_of(*region_).beat;
  auto last = to.load();
  // The clock is read after what is there: whatever that is, this beat is later.
  // A thread that is too slow again and again leaves it to the others.
  for (int tries = 0; tries < most_beat_tries; ++tries)
    if (to.compare_exchange_strong(last, clock()))
      break;
  // The server sees this beat, or it has asked for the next one before.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const auto is_wanted = (own_.source.load() & store_source::beat_wanted) != 0;
  return is_wanted ? posting::wanted : posting::done;
}

posts_header& store_access::posts_head() const {
  return *reinterpret_cast<posts_header*>(posts_.data());
}

const board_header& store_access::board_head() const {
  return *reinterpret_cast<const board_header*>(board_.data());
}

std::optional<group_cell> store_access::groups() const {
  if (!region_ || shape_.locals != shape_.ranks)
    return std::nullopt;
  return group_cell{
    posts_head().groups, posts_head().group_log, board_head().groups,
    reinterpret_cast<shared_call*>(posts_.data() + shape_.calls()),
    shape_.locals};
}

std::optional<meeting_place>
store_access::find_meeting(const std::vector<uint32_t>& ranks) const {
  if (!region_)
    return std::nullopt;
  if (ranks.empty())
    return meeting_place{0, 0, *region_, shape_.locals};
  auto members = part_members{};
  for (const auto rank : ranks) {
    const auto* place = place_of(rank);
    const auto region = place != nullptr ? place->region.load() : 0;
    if (region == 0 || !members.add(region - 1))
      return std::nullopt;
  }
  return find_part(board_head().parts, members, *region_);
}

store_access::meeting store_access::meet_in(collective_cell cell,
                                            uint32_t place,
                                            bool collects) const {
  // The word of no round that is open.
  auto mine = collective_cell::ticket{0};
  auto now = cell.arrive(place, mine, collects);
  if (now == collective_cell::outcome::open)
    now = cell.wait(mine, std::min(board_head().spins, most_spins));
  if (mine == 0)
    return {};
  return {now, mine};
}

store_access::meeting store_access::meet(const meeting_place& where,
                                         bool collects) {
  if (where.cell == 0)
    return meet_in(
      {posts_head().fences, where.count, shape_.locals == shape_.ranks},
      where.place, collects);
  auto& shown = head_of(*region_).part;
  if (!enter_part(shown, board_head().parts, where))
    return {};
  // All of them are on this node: what they want of each other is there.
  const auto result = meet_in({posts_head().parts[where.cell - 1], where.count},
                              where.place, false);
  leave_part(shown);
  return result;
}

void store_access::break_up(uint32_t cell) {
  auto& head = posts_head();
  if (cell == 0)
    collective_cell{head.fences, shape_.locals, shape_.locals == shape_.ranks}
      .close();
  else
    collective_cell::shut(head.parts[cell - 1]);
}

store_access::group_outcome store_access::meet(const group_call& call,
                                               std::optional<uint32_t> made) {
  auto cell = groups();
  if (!cell)
    return {};
  auto mine = group_cell::place_in_round{};
  auto now = cell->arrive(*region_, call, made, mine);
  if (now == group_cell::outcome::open)
    now = cell->wait(mine.mine, std::min(board_head().spins, most_spins));
  return {now == group_cell::outcome::complete,
          collective_cell::round_of(mine.mine), mine.number,
          *region_ == 0 && cell->is_behind(mine.mine)};
}

void store_access::break_up_groups() {
  if (auto cell = groups())
    cell->close();
}

} // namespace troupe
