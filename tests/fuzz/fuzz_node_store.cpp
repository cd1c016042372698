// A region of a node store as whoever shares it may leave it: what the server
// and other processes read there, and who goes on writing in it. The cells in which
// they meet, and their beats. A board as a server that has gone mad may write it.

#include "adapters/node_store/brought_data.hpp"
#include "adapters/node_store/collective_cell.hpp"
#include "adapters/node_store/group_cell.hpp"
#include "adapters/node_store/job_bytes.hpp"
#include "adapters/node_store/node_store.hpp"
#include "adapters/node_store/part_table.hpp"
#include "adapters/node_store/shared_job_data.hpp"
#include "adapters/node_store/store_access.hpp"
#include "adapters/node_store/store_blocks.hpp"
#include "adapters/node_store/store_layout.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

using namespace troupe;
using namespace troupe::wire::fuzz;

namespace {

constexpr auto region_bytes = uint64_t{64} << 10;

bool is_within(std::string_view x, const store_area& area) {
  return x.data() >= area.data && x.size() <= area.size
         && x.data() - area.data
              <= static_cast<std::ptrdiff_t>(area.size - x.size());
}

/// What others do with an area of which one has spoilt the bytes.
void read(const store_area& area, uint64_t last, uint64_t after) {
  for (const auto* name : {"a", "", "key"})
    for (const auto views : {store_view::here, store_view::elsewhere})
      if (const auto found = find_entry(area, last, name, views))
        require(is_within(*found, area), "what is found lies in the area");
  auto bytes = size_t{0};
  list_entries(area, last, after, [&](const store_entry& x) {
    require(is_within(x.name, area) && is_within(x.value, area),
            "what is listed lies in the area");
    bytes += x.name.size() + x.value.size();
  });
  require(bytes <= area.size, "no byte is listed twice");
}

/// Goes on where another process was.
void write(std::string area, uint64_t last, uint64_t writing) {
  area.resize(area.size() / store_alignment * store_alignment);
  auto chain = store_chain{{last}, {writing}};
  const auto front = last / store_alignment % 64 * store_alignment;
  const auto apart = front < area.size() ? front : 0;
  auto first = area.substr(0, apart);
  area.erase(0, apart);
  const auto size = area.size() + apart;
  auto writer = block_writer{{area.data(), size, first.data(), apart},
                             chain,
                             [](uint64_t, uint64_t) { return true; }};
  if (!writer.append({{"key", "value", 3}}))
    return;
  const auto found = find_entry(
    {area.data(), size, 0, true, first.data(), apart}, chain.last, "key");
  require(found && *found == "value", "what was posted is found");
}

/// What the server does with a cell in which one of the processes has written
/// anything, and what becomes of those who meet there.
void use_cell(collective_cell cell, uint32_t word, uint32_t count,
              bool is_whole) {
  for (const auto round : {word, word ^ 1, word + 2, uint32_t{0}}) {
    cell.has_collected(round);
    if (cell.has_gathered(round))
      for (uint32_t place = 0; place < count; ++place)
        require(cell.has_arrived(place), "all who are there have arrived");
  }
  auto some = false;
  for (uint32_t place = 0; place < count; ++place)
    some = some || cell.has_arrived(place);
  require(cell.has_any_arrived() == some, "any of them is one of them");
  require(!cell.has_arrived(count), "nobody else is there");
  auto mine = collective_cell::ticket{0};
  const auto was_open = cell.is_open();
  cell.arrive(word % count, mine, true);
  require(was_open == (mine != 0), "who finds it open is in a round");
  cell.end(word);
  cell.close();
  require(!cell.is_open(), "the server can always close it");
  require(mine == 0 || cell.look(mine) == collective_cell::outcome::complete
            || cell.look(mine) == collective_cell::outcome::closed,
          "who waits there hears of it");
  cell.end(word);
  require(!cell.is_open(), "the end of a round opens nothing");
  cell.open();
  require(cell.is_open() && !cell.has_any_arrived(), "it begins anew");
  auto now = collective_cell::outcome::open;
  for (uint32_t place = 0; place < count; ++place) {
    require(now == collective_cell::outcome::open, "all others are missing");
    now = cell.arrive(place, mine);
  }
  if (!is_whole) {
    require(now == collective_cell::outcome::gathered
              && cell.has_gathered(mine),
            "all of the node are there");
    cell.end(mine);
    now = cell.look(mine);
  }
  require(now == collective_cell::outcome::complete, "they meet as ever");
}

void use_cell(std::string_view bytes, uint32_t word) {
  auto memory = cell_memory{};
  memory.word = word;
  memory.collects = word ^ static_cast<uint32_t>(bytes.size() % 4);
  for (size_t i = 0;
       (i + 1) * sizeof(uint64_t) <= bytes.size() && i < std::size(memory.bits);
       ++i) {
    auto bits = uint64_t{0};
    std::memcpy(&bits, bytes.data() + i * sizeof(bits), sizeof(bits));
    memory.bits[i] = bits;
  }
  const auto count =
    1 + static_cast<uint32_t>(bytes.size()) % cell_participants;
  const auto is_whole = (word & 4) == 0;
  use_cell({memory, count, is_whole}, word, count, is_whole);
}

/// Beats of a process in whose place another one has written one.
void beat(node_store& server, const store_address& where,
          std::atomic<uint64_t>& last, uint64_t written) {
  const auto now = written / 2 + 1;
  const auto clock = [&] { return now; };
  last = written;
  require(server.last_beat(0) == written && server.last_beat(1) == 0,
          "the server reads what is there");
  const auto process = store_access::attach(where, ::geteuid(), 0);
  require(process != nullptr, "the process finds its place");
  require(process->beat(clock) == store_access::posting::done, "it beats");
  require(server.last_beat(0) == now, "it has beaten now");
  server.want_beat(0, true);
  require(process->beat(clock) == store_access::posting::wanted,
          "it is asked to tell");
}

/// The server's look at it: `last` and the bytes are where the process has them.
void take(std::string_view bytes, uint64_t last) {
  const auto server = node_store::make({1, {0}, region_bytes});
  require(server != nullptr, "there is a store");
  const auto where = server->lend(0);
  const auto posts = shared_segment::map(
    path_of_descriptor(where.pid, where.posts), true, ::geteuid());
  const auto shape = store_geometry{1, 1, region_bytes};
  const auto size = std::min<size_t>(bytes.size(), region_bytes);
  for (size_t i = 0; i < size;) {
    const auto there = shape.piece_of(0, i);
    const auto n = std::min<size_t>(size - i, there.size);
    std::memcpy(posts.data() + there.offset, bytes.data() + i, n);
    i += n;
  }
  std::memcpy(posts.data() + shape.head(0), &last, sizeof(last));
  const auto is_taken = server->take(0, [](const store_entry&) {});
  require(is_taken == server->has(0), "what cannot be read is given up");
  require(server->take(0, [](const store_entry&) { std::abort(); })
            || !server->has(0),
          "nothing is taken twice");
  auto& head = *reinterpret_cast<region_head*>(posts.data() + shape.head(0));
  beat(*server, where, head.beat, last);
  auto& cell = reinterpret_cast<posts_header*>(posts.data())->fences;
  cell.word = static_cast<uint32_t>(last >> 8);
  cell.bits[0] = last;
  use_cell(server->fences(), cell.word, 1, true);
}

/// What processes find of ranks of other nodes.
void read_board(std::string_view bytes, uint64_t word) {
  const auto shown = std::atomic<uint64_t>{word};
  for (const auto* name : {"a", "", "key"})
    if (const auto found =
          find_brought({bytes.data(), bytes.size(), 0, false}, shown, name))
      require(found->size() <= bytes.size(), "what is found lies in the area");
}

/// What processes find of their job.
void read_job(std::string_view bytes) {
  const auto found = job_bytes::read(bytes);
  if (!found) {
    require(!read_shared_job(bytes, nullptr), "there is nothing to read");
    return;
  }
  require(found->level().size() <= bytes.size(), "the level lies in it");
  const auto ranks = found->ranks();
  require(ranks.size() <= bytes.size(), "each rank takes some of it");
  const auto shared = read_shared_job(bytes, nullptr);
  for (size_t i = 0; i < std::min<size_t>(ranks.size(), 16); ++i) {
    auto size = size_t{0};
    for (const auto& x : found->of(ranks[i]))
      size += x.size();
    require(size <= bytes.size(), "no more is found than there is");
    if (!shared)
      continue;
    shared->ranks->of(ranks[i]);
    shared->ranks->drop(ranks[i]);
    require(shared->ranks->of(ranks[i]).empty(), "what is dropped is gone");
  }
}

/// Groups that processes have made: the word of the cell and their log are what one
/// of them has left there. The server reads it, and they go on.
void read_groups(std::string_view bytes, uint32_t word, uint32_t rounds) {
  auto cell = cell_memory{};
  auto log = group_log_memory{};
  auto terms = group_terms{};
  shared_call calls[2] = {};
  auto last_number = uint64_t{0};
  const auto next = [&] { return ++last_number; };
  auto server = group_reader{cell, log, terms, calls, 2};
  server.open(next);
  std::memcpy(&log, bytes.data(), std::min(bytes.size(), sizeof(log)));
  for (auto& x : calls)
    x.parts[0] = word;
  cell.bits[0] = word >> 8;
  cell.word += rounds % 2 == 0 ? 2 * (rounds % 80) : word;
  auto count = 0u;
  const auto is_open = [&] {
    return collective_cell{cell, 2, false}.is_open();
  };
  const auto look = [&] {
    return server.read(
      [&](const group_call& x, uint64_t number) {
        ++count;
        require(!x.id.empty() && x.id.size() <= group_name_bytes
                  && x.id.find('\0') == std::string::npos,
                "a group has a name");
        require(number != 0, "there is a context identifier");
      },
      next);
  };
  const auto is_sane = look();
  require(count <= group_log_size, "no more is read than there was room for");
  require(!server.has_news(), "nothing is read twice");
  require(is_sane || !is_open(), "nonsense closes it");
  for (auto place = 0u; place < 2; ++place) {
    auto mine = group_cell::place_in_round{};
    auto there = group_cell{cell, log, terms, calls, 2};
    if (there.arrive(place, {group_call::kind::construct, "a", true}, {}, mine)
        == group_cell::outcome::open)
      there.look(mine.mine);
  }
  server.close();
  look();
  require(!is_open(), "the server can always close it");
}

/// Fences of parts: the cells, and what processes show, are what one of them has left
/// there. The server gives them to parts and takes them back in an order of the
/// input's.
void meet_in_parts(std::string_view bytes, std::string_view order) {
  constexpr auto locals = 4u;
  const auto server = node_store::make({locals, {0, 1, 2, 3}, region_bytes});
  require(server != nullptr, "there is a store");
  const auto where = server->lend(0);
  const auto posts = shared_segment::map(
    path_of_descriptor(where.pid, where.posts), true, ::geteuid());
  const auto shape = store_geometry{locals, locals, region_bytes};
  auto& head = *reinterpret_cast<posts_header*>(posts.data());
  const auto head_of = [&](uint32_t number) -> region_head& {
    return *reinterpret_cast<region_head*>(posts.data() + shape.head(number));
  };
  auto parts = std::vector<uint32_t>{};
  const auto spoil = [&] {
    const auto size = std::min(bytes.size(), sizeof(head.parts));
    if (size > 0)
      std::memcpy(static_cast<void*>(head.parts), bytes.data(), size);
    for (uint32_t i = 0; i < locals && i < bytes.size(); ++i)
      head_of(i).part = static_cast<uint8_t>(bytes[i]) % 20;
  };
  for (const auto x : order.substr(0, 64)) {
    const auto what = static_cast<uint8_t>(x);
    const auto which = what / 8 % std::max<size_t>(parts.size(), 1);
    if (what % 8 == 0) {
      spoil();
    } else if (what % 8 < 4) {
      auto ranks = std::vector<uint32_t>{};
      for (uint32_t rank = 0; rank < locals; ++rank)
        if ((what >> (rank + 3) & 1) != 0)
          ranks.push_back(rank);
      if (ranks.empty())
        continue;
      const auto cell = server->add_part(ranks);
      if (!cell)
        continue;
      require(*cell >= 1 && *cell <= most_parts
                && std::count(parts.begin(), parts.end(), *cell) == 0,
              "a cell is one part's");
      for (uint32_t i = 0; i < locals; ++i)
        require(head_of(i).part != *cell, "nobody is in a cell that is given");
      parts.push_back(*cell);
    } else if (!parts.empty() && what % 8 == 4) {
      server->parts().remove(parts[which]);
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(which));
    } else if (!parts.empty() && what % 8 == 5) {
      server->parts().open(parts[which]);
    } else if (!parts.empty()) {
      auto cell = server->parts().at(parts[which]);
      cell.close();
      require(!cell.is_open(), "the server can always close a cell");
      cell.has_any_arrived();
      cell.rounds();
    }
  }
  for (const auto cell : parts)
    server->parts().remove(cell);
  for (uint32_t rank = 0; rank < locals; ++rank)
    server->leave_parts(rank);
  for (uint32_t i = 0; i < most_parts; ++i)
    require(server->add_part({0, 1}).has_value(), "all cells are free again");
}

} // namespace

TROUPE_FUZZ(input) {
  auto last = uint64_t{0};
  auto after = uint64_t{0};
  for (auto i = 0; i < 3; ++i)
    last = last << 8 | take_byte(input);
  after = take_byte(input) * store_alignment;
  const auto area = store_area{input.data(), input.size(), 0, true};
  read(area, last, after);
  const auto begin = std::min<uint64_t>(after, input.size());
  read({input.data() + begin, input.size() - begin, begin, false}, last, after);
  read_board(input, last);
  read_job(input);
  read_groups(input, static_cast<uint32_t>(last),
              static_cast<uint32_t>(after / store_alignment));
  use_cell(input, static_cast<uint32_t>(last));
  write(std::string{input}, last, last + after);
  take(input, last);
  const auto half = input.size() / 2;
  meet_in_parts(input.substr(half), input.substr(0, half));
}
