// Processes that are killed, at every instruction, while they post or meet.

#include "adapters/node_store/brought_data.hpp"
#include "adapters/node_store/collective_cell.hpp"
#include "adapters/node_store/group_cell.hpp"
#include "adapters/node_store/node_store.hpp"
#include "adapters/node_store/part_table.hpp"
#include "adapters/node_store/store_access.hpp"
#include "tests/test.hpp"

#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace troupe;

namespace {

using namespace std::chrono_literals;

using outcome = collective_cell::outcome;

/// Runs `work` in another process, and `look` after each of its instructions:
/// what is there then is what a process leaves that is killed there.
/// @returns the number of instructions; 0 if we may not trace.
size_t step_through(const std::function<void()>& work,
                    const std::function<void()>& look) {
  const auto pid = ::fork();
  if (pid == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0)
      ::_exit(2);
    ::raise(SIGSTOP);
    work();
    ::_exit(0);
  }
  auto found = 0;
  auto steps = size_t{0};
  while (::waitpid(pid, &found, 0) == pid && WIFSTOPPED(found)) {
    look();
    ++steps;
    if (::ptrace(PTRACE_SINGLESTEP, pid, nullptr, nullptr) != 0) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, &found, 0);
    }
  }
  return WIFEXITED(found) && WEXITSTATUS(found) == 0 ? steps : 0;
}

/// Runs `work` in another process, `act` after so many of its instructions, and then
/// the rest of it.
/// @returns whether it had so many.
bool interrupt_at(size_t steps, const std::function<void()>& work,
                  const std::function<void()>& act) {
  const auto pid = ::fork();
  if (pid == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0)
      ::_exit(2);
    ::raise(SIGSTOP);
    work();
    ::raise(SIGSTOP);
    ::_exit(0);
  }
  auto found = 0;
  auto has_acted = false;
  auto has_ended = false;
  for (size_t i = 0; ::waitpid(pid, &found, 0) == pid && WIFSTOPPED(found);
       ++i) {
    has_ended = has_ended || (i > 0 && WSTOPSIG(found) == SIGSTOP);
    if (i == steps && !has_ended) {
      act();
      has_acted = true;
    }
    const auto how = has_acted || has_ended ? PTRACE_CONT : PTRACE_SINGLESTEP;
    if (::ptrace(how, pid, nullptr, nullptr) != 0) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, &found, 0);
    }
  }
  return has_acted;
}

/// Memory that forked processes share.
template <class T>
class shared {
public:
  shared() {
    auto* at = ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CAF_REQUIRE(at != MAP_FAILED);
    x_ = new (at) T{};
  }

  ~shared() {
    ::munmap(x_, sizeof(T));
  }

  shared(const shared&) = delete;

  shared& operator=(const shared&) = delete;

  T* operator->() const {
    return x_;
  }

  T& operator*() const {
    return *x_;
  }

private:
  T* x_;
};

/// A chain and its area.
struct chain {
  store_chain head{};
  alignas(8) char bytes[1024];
};

bool post(chain& to, char fill, size_t size) {
  auto writer = block_writer{{to.bytes, sizeof(to.bytes)},
                             to.head,
                             [](uint64_t, uint64_t) { return true; }};
  const auto text = std::string(size, fill);
  return writer.append({{"first", text, 3}, {"second", text, 3}});
}

std::string find(const chain& in, const char* name) {
  const auto found =
    find_entry({in.bytes, sizeof(in.bytes)}, in.head.last.load(), name);
  return found ? std::string{*found} : std::string{};
}

void copy_cell(cell_memory& to, const cell_memory& from) {
  to.word = from.word.load();
  to.collects = from.collects.load();
  for (size_t i = 0; i < std::size(from.bits); ++i)
    to.bits[i] = from.bits[i].load();
}

/// Of a cell, what it is when somebody is killed there.
std::unique_ptr<cell_memory> copy_of(const cell_memory& x) {
  auto result = std::make_unique<cell_memory>();
  copy_cell(*result, x);
  return result;
}

/// What three processes share that make groups.
struct group_memory {
  cell_memory cell;
  group_log_memory log;
  group_terms terms;
  shared_call calls[3];

  group_cell cells() {
    return {cell, log, terms, calls, 3};
  }

  group_reader reader() {
    return {cell, log, terms, calls, 3};
  }
};

void copy_groups(group_memory& to, const group_memory& from) {
  copy_cell(to.cell, from.cell);
  to.log = from.log;
  to.terms.opening = from.terms.opening.load();
  to.terms.limit = from.terms.limit.load();
  for (size_t i = 0; i < group_log_size; ++i)
    to.terms.numbers[i] = from.terms.numbers[i].load();
  for (auto i = 0; i < 3; ++i)
    for (auto part = 0; part < 2; ++part)
      to.calls[i].parts[part] = from.calls[i].parts[part].load();
}

/// What the processes of a job share whose parts meet.
struct part_memory {
  part_entry entries[most_parts];
  cell_memory cells[most_parts];
  std::atomic<uint32_t> shown[4];

  part_table server() {
    return {entries, cells, [this](uint32_t cell) {
              return std::any_of(
                std::begin(shown), std::end(shown),
                [cell](const auto& x) { return x.load() == cell; });
            }};
  }

  collective_cell cell(const meeting_place& where) {
    return {cells[where.cell - 1], where.count};
  }
};

void copy_parts(part_memory& to, const part_memory& from) {
  for (uint32_t i = 0; i < most_parts; ++i) {
    to.entries[i].use = from.entries[i].use.load();
    for (size_t n = 0; n < std::size(from.entries[i].members); ++n)
      to.entries[i].members[n] = from.entries[i].members[n].load();
    copy_cell(to.cells[i], from.cells[i]);
  }
  for (size_t i = 0; i < std::size(from.shown); ++i)
    to.shown[i] = from.shown[i].load();
}

part_members members_of(const std::vector<uint32_t>& numbers) {
  auto result = part_members{};
  for (const auto x : numbers)
    result.add(x);
  return result;
}

/// What a process does that meets others of a part, up to waiting for them.
outcome arrive_in_part(part_memory& x, uint32_t self,
                       const meeting_place& where,
                       collective_cell::ticket& mine) {
  if (!enter_part(x.shown[self], x.entries, where))
    return outcome::closed;
  const auto result = x.cell(where).arrive(where.place, mine);
  if (result != outcome::open)
    leave_part(x.shown[self]);
  return result;
}

} // namespace

CAF_TEST(X53 a post is there or not after every instruction) {
  // In an empty ring, and in one that is written over.
  for (const auto posts : {1, 2, 3, 4, 5, 6, 7, 20}) {
    shared<chain> x;
    for (auto i = 0; i < posts; ++i)
      CAF_REQUIRE(post(*x, 'a', 30));
    auto seen = std::string{};
    auto faults = 0;
    const auto steps = step_through(
      [&] { post(*x, 'b', 40); },
      [&] {
        const auto first = find(*x, "first");
        if (first != find(*x, "second")
            || (first != std::string(30, 'a') && first != std::string(40, 'b')))
          ++faults;
        else if (seen.empty() || seen.back() != first.front())
          seen.push_back(first.front());
      });
    if (steps == 0) {
      CAF_MESSAGE("skipped: this machine does not let us trace a process");
      return;
    }
    CAF_CHECK(steps > 100);
    CAF_CHECK_EQUAL(faults, 0);
    CAF_CHECK_EQUAL(seen, "ab");
  }
}

CAF_TEST(X53 nobody hangs whatever instruction of an arrival is the last) {
  // Who comes second of three, and who comes last, in even and odd rounds.
  for (const auto round : {0, 1})
    for (const auto is_last : {false, true}) {
      shared<cell_memory> memory;
      auto cell = collective_cell{*memory, 3};
      cell.open();
      auto first = collective_cell::ticket{};
      auto mine = first;
      for (auto i = 0; i < round; ++i)
        for (auto place = 0u; place < 3; ++place)
          cell.arrive(place, first);
      CAF_REQUIRE(cell.arrive(0, first) == outcome::open);
      if (is_last)
        CAF_REQUIRE(cell.arrive(1, mine) == outcome::open);
      auto ends = std::string{};
      auto faults = 0;
      const auto steps = step_through(
        [&] {
          auto ticket = collective_cell::ticket{};
          cell.arrive(2, ticket);
        },
        [&] {
          // The server hears of the death and closes the cell, or another
          // participant comes first.
          const auto closed = copy_of(*memory);
          auto left = collective_cell{*closed, 3};
          left.close();
          const auto now = left.look(first);
          const auto is_there = left.has_arrived(2);
          auto step = now == outcome::complete ? 'c' : is_there ? 'a' : 'm';
          if (now == outcome::open || (now == outcome::complete && !is_last))
            ++faults;
          if (ends.empty() || ends.back() != step)
            ends.push_back(step);
          if (is_last || !is_there)
            return;
          const auto copy = copy_of(*memory);
          auto other = collective_cell{*copy, 3};
          auto ticket = collective_cell::ticket{};
          if (other.arrive(1, ticket) != outcome::complete
              || other.look(first) != outcome::complete)
            ++faults;
        });
      if (steps == 0) {
        CAF_MESSAGE("skipped: this machine does not let us trace a process");
        return;
      }
      CAF_CHECK_EQUAL(faults, 0);
      CAF_CHECK_EQUAL(ends, is_last ? "mc" : "ma");
    }
}

CAF_TEST(X53 of several nodes nobody hangs whatever instruction is the last) {
  // Who comes second of three, and who comes last and tells the server, in even and
  // odd rounds. It wants data of other nodes.
  for (const auto round : {0, 1})
    for (const auto is_last : {false, true}) {
      shared<cell_memory> memory;
      auto cell = collective_cell{*memory, 3, false};
      cell.open();
      auto first = collective_cell::ticket{};
      auto mine = first;
      for (auto i = 0; i < round; ++i) {
        for (auto place = 0u; place < 3; ++place)
          cell.arrive(place, first);
        cell.end(first);
      }
      CAF_REQUIRE(cell.arrive(0, first) == outcome::open);
      if (is_last)
        CAF_REQUIRE(cell.arrive(1, mine) == outcome::open);
      auto ends = std::string{};
      auto faults = 0;
      const auto steps = step_through(
        [&] {
          auto ticket = collective_cell::ticket{};
          cell.arrive(2, ticket, true);
        },
        [&] {
          const auto is_there = cell.has_arrived(2);
          // Whoever waits asks the server in its place.
          const auto now = cell.look(first);
          if (now != (is_last && is_there ? outcome::gathered : outcome::open)
              || cell.has_gathered(first) != (is_last && is_there)
              || (is_there && !cell.has_collected(first)))
            ++faults;
          const auto step = is_there ? 'a' : 'm';
          if (ends.empty() || ends.back() != step)
            ends.push_back(step);
          // All nodes have joined: if all are there, they go.
          const auto ended = copy_of(*memory);
          auto whole = collective_cell{*ended, 3, false};
          if (whole.has_gathered(first))
            whole.end(first);
          if ((whole.look(first) == outcome::complete) != (is_last && is_there))
            ++faults;
          // The server hears of the death, before or after another one comes.
          const auto closed = copy_of(*memory);
          auto left = collective_cell{*closed, 3, false};
          left.close();
          left.end(first); // Too late.
          if (left.look(first) != outcome::closed
              || left.has_arrived(2) != is_there || !left.has_any_arrived())
            ++faults;
          if (is_last)
            return;
          const auto copy = copy_of(*memory);
          auto other = collective_cell{*copy, 3, false};
          auto ticket = collective_cell::ticket{};
          if (other.arrive(1, ticket)
                != (is_there ? outcome::gathered : outcome::open)
              || ticket != first)
            ++faults;
        });
      if (steps == 0) {
        CAF_MESSAGE("skipped: this machine does not let us trace a process");
        return;
      }
      CAF_CHECK_EQUAL(faults, 0);
      CAF_CHECK_EQUAL(ends, "ma");
    }
}

CAF_TEST(X53 who gives a round up does or does not whatever instruction is the last) {
  shared<cell_memory> memory;
  auto cell = collective_cell{*memory, 3, false};
  cell.open();
  auto first = collective_cell::ticket{};
  auto mine = first;
  CAF_REQUIRE(cell.arrive(0, first) == outcome::open);
  CAF_REQUIRE(cell.arrive(1, mine) == outcome::open);
  CAF_REQUIRE(cell.arrive(2, mine) == outcome::gathered);
  auto ends = std::string{};
  auto faults = 0;
  const auto steps = step_through(
    [&] { cell.give_up(first); },
    [&] {
      const auto is_open = cell.is_open();
      const auto step = is_open ? 'o' : 'c';
      if (ends.empty() || ends.back() != step)
        ends.push_back(step);
      // Of the end and this the first one counts.
      const auto copy = copy_of(*memory);
      auto other = collective_cell{*copy, 3, false};
      other.end(first);
      if (other.look(first) != (is_open ? outcome::complete : outcome::closed))
        ++faults;
    });
  if (steps == 0) {
    CAF_MESSAGE("skipped: this machine does not let us trace a process");
    return;
  }
  CAF_CHECK_EQUAL(faults, 0);
  CAF_CHECK_EQUAL(ends, "oc");
  // The round is over first.
  auto late = collective_cell{*memory, 3, false};
  late.open();
  for (auto place = 0u; place < 3; ++place)
    late.arrive(place, mine);
  late.end(mine);
  late.give_up(mine);
  CAF_CHECK(late.is_open());
}

CAF_TEST(X53 what a server has brought is whole whatever instruction is its last) {
  struct board {
    std::atomic<uint64_t> shown[2];
    alignas(8) char bytes[16384];
  };
  const auto look_up = [](const board& x, size_t rank, const char* name) {
    const auto found =
      find_brought({x.bytes, sizeof(x.bytes), 0, false}, x.shown[rank], name);
    return found ? *found : std::string{};
  };
  enum class change { add, drop };
  for (const auto what : {change::add, change::drop})
    for (const auto before : {0, 1, 2, 5, 30}) {
      shared<board> x;
      auto writer = brought_data{x->bytes, sizeof(x->bytes),
                                 [](uint64_t, uint64_t) { return true; }};
      const auto bring = [&](uint32_t rank, char fill, size_t size) {
        const auto text = std::string(size, fill);
        return writer.add(rank, x->shown[rank],
                          {{"first", text, 3}, {"second", text, 3}});
      };
      CAF_REQUIRE(bring(1, 'o', 50));
      if (before > 0)
        CAF_REQUIRE(writer.add(0, x->shown[0], {{"kept", "k", 3}}));
      for (auto i = 0; i < before; ++i)
        CAF_REQUIRE(bring(0, 'a', 30 + static_cast<size_t>(i % 7)));
      const auto old = look_up(*x, 0, "first");
      auto seen = std::string{};
      auto faults = 0;
      const auto steps = step_through(
        [&] {
          if (what == change::drop)
            writer.drop(0, x->shown[0]);
          else
            bring(0, 'b', 40);
        },
        [&] {
          const auto first = look_up(*x, 0, "first");
          const auto kept = look_up(*x, 0, "kept");
          const auto is_dropped = what == change::drop && first.empty();
          if (first != look_up(*x, 0, "second")
              || (!first.empty() && first != old
                  && first != std::string(40, 'b'))
              || (before > 0 && !is_dropped && kept != "k")
              || look_up(*x, 1, "second") != std::string(50, 'o'))
            ++faults;
          const auto step = first.empty() ? '-' : first.front();
          if (seen.empty() || seen.back() != step)
            seen.push_back(step);
        });
      if (steps == 0) {
        CAF_MESSAGE("skipped: this machine does not let us trace a process");
        return;
      }
      CAF_CHECK_EQUAL(faults, 0);
      const auto was = std::string{before > 0 ? "a" : "-"};
      CAF_CHECK_EQUAL(seen, what == change::add ? was + "b"
                            : before > 0        ? "a-"
                                                : "-");
    }
}

CAF_TEST(X53 COLL-6 nobody hangs whatever instruction of an arrival in a part is the last) {
  // As above, of a part of four; then the cell is another part's.
  const auto part = members_of({0, 1, 3});
  const auto other = members_of({1, 2});
  for (const auto round : {0, 1})
    for (const auto is_last : {false, true}) {
      shared<part_memory> x;
      auto server = x->server();
      const auto cell = server.add(part);
      CAF_REQUIRE(cell && server.open(*cell));
      const auto place_of = [&](uint32_t self) {
        return *find_part(x->entries, part, self);
      };
      auto first = collective_cell::ticket{};
      auto mine = first;
      for (auto i = 0; i < round; ++i)
        for (const auto self : {0u, 1u, 3u})
          arrive_in_part(*x, self, place_of(self), first);
      for (auto& y : x->shown)
        leave_part(y);
      CAF_REQUIRE(arrive_in_part(*x, 0, place_of(0), first) == outcome::open);
      if (is_last)
        CAF_REQUIRE(arrive_in_part(*x, 1, place_of(1), mine) == outcome::open);
      const auto where = place_of(3);
      auto ends = std::string{};
      auto faults = 0;
      const auto steps = step_through(
        [&] {
          auto ticket = collective_cell::ticket{};
          arrive_in_part(*x, 3, where, ticket);
        },
        [&] {
          // The server hears of the death and takes the cell back.
          const auto left = std::make_unique<part_memory>();
          auto heir = left->server();
          heir.add(part);
          copy_parts(*left, *x);
          heir.remove(*cell);
          auto there = left->cell(where);
          const auto now = there.look(first);
          const auto step = now == outcome::complete         ? 'c'
                            : there.has_arrived(where.place) ? 'a'
                            : left->shown[3].load() == *cell ? 'v'
                                                             : 'm';
          if (now == outcome::open || (now == outcome::complete && !is_last))
            ++faults;
          // Those who lived have left it, the dead one when that is known.
          leave_part(left->shown[0]);
          leave_part(left->shown[1]);
          const auto is_kept = left->shown[3].load() == *cell;
          const auto early = heir.add(other);
          if (!early || (*early == *cell) == is_kept)
            ++faults;
          leave_part(left->shown[3]);
          const auto late = heir.add(part);
          if (!late || (is_kept && *late != *cell) || !heir.open(*late)
              || heir.at(*late).has_any_arrived())
            ++faults;
          if (ends.empty() || ends.back() != step)
            ends.push_back(step);
        });
      if (steps == 0) {
        CAF_MESSAGE("skipped: this machine does not let us trace a process");
        return;
      }
      CAF_CHECK(steps > 30);
      CAF_CHECK_EQUAL(faults, 0);
      CAF_CHECK_EQUAL(ends, is_last ? "mvc" : "mva");
    }
}

CAF_TEST(X53 COLL-6 one whose cell is given away at any instruction of its arrival changes nothing) {
  const auto part = members_of({0, 3});
  // Of the same size, so that its places are those of the other part.
  const auto other = members_of({0, 1});
  auto faults = 0;
  auto reused = 0;
  auto kept = 0;
  auto steps = size_t{0};
  const auto arrive = [](part_memory& x, const meeting_place& where) {
    auto mine = collective_cell::ticket{};
    if (arrive_in_part(x, 3, where, mine) == outcome::open)
      leave_part(x.shown[3]);
  };
  {
    // Functions of libraries are found at their first call: a thousand instructions
    // in which there is nothing to see.
    part_memory x;
    auto server = x.server();
    const auto cell = server.add(part);
    CAF_REQUIRE(cell && server.open(*cell));
    arrive(x, *find_part(x.entries, part, 3));
  }
  for (auto goes_on = true; goes_on; ++steps) {
    shared<part_memory> x;
    auto server = x->server();
    const auto cell = server.add(part);
    CAF_REQUIRE(cell && server.open(*cell));
    const auto where = *find_part(x->entries, part, 3);
    auto next = std::optional<uint32_t>{};
    goes_on = interrupt_at(
      steps, [&] { arrive(*x, where); },
      [&] {
        server.remove(*cell);
        next = server.add(other);
        if (!next || !server.open(*next))
          ++faults;
      });
    if (!goes_on)
      break;
    ++(next == cell ? reused : kept);
    auto mine = collective_cell::ticket{};
    if (server.at(*next).has_any_arrived()
        || server.at(*next).arrive(0, mine) != outcome::open)
      ++faults;
  }
  if (steps == 0) {
    CAF_MESSAGE("skipped: this machine does not let us trace a process");
    return;
  }
  CAF_CHECK_EQUAL(faults, 0);
  CAF_CHECK(reused > 10);
  CAF_CHECK(kept > 10);
}

CAF_TEST(X53 a group is made by all or by none whatever instruction is the last) {
  using kind = group_call::kind;
  const auto call = group_call{kind::construct, "the group", true};
  auto last_number = uint64_t{0};
  const auto next = [&] { return ++last_number; };
  // The one that writes the log and another one, as the second of three and as the
  // last, in even and odd rounds.
  for (const auto round : {0, 1})
    for (const auto victim : {0u, 2u})
      for (const auto is_last : {false, true}) {
        shared<group_memory> x;
        auto server = x->reader();
        server.open(next);
        auto mine = group_cell::place_in_round{};
        for (auto i = 0; i < round; ++i)
          for (auto place = 0u; place < 3; ++place)
            x->cells().arrive(place, {kind::construct, "before", true}, {},
                              mine);
        const auto others = victim == 0 ? std::pair{1u, 2u} : std::pair{0u, 1u};
        auto first = group_cell::place_in_round{};
        CAF_REQUIRE(x->cells().arrive(others.first, call, {}, first)
                    == outcome::open);
        if (is_last)
          CAF_REQUIRE(x->cells().arrive(others.second, call, {}, mine)
                      == outcome::open);
        auto ends = std::string{};
        auto faults = 0;
        const auto steps = step_through(
          [&] {
            auto ticket = group_cell::place_in_round{};
            x->cells().arrive(victim, call, {}, ticket);
          },
          [&] {
            // The server hears of the death: it closes the cell and reads.
            const auto left = std::make_unique<group_memory>();
            auto reader = left->reader();
            reader.open(next);
            copy_groups(*left, *x);
            reader.close();
            const auto now = left->cells().look(first.mine);
            auto read = std::string{};
            auto number = uint64_t{0};
            const auto is_sane = reader.read(
              [&](const group_call& y, uint64_t n) {
                read += y.id + ';';
                number = n;
              },
              next);
            const auto before = std::string{round == 1 ? "before;" : ""};
            const auto is_made = now == outcome::complete;
            if (!is_sane || now == outcome::open || (is_made && !is_last)
                || read != before + (is_made ? "the group;" : "")
                || (is_made && number != first.number))
              ++faults;
            const auto step = is_made ? 'c' : 'm';
            if (ends.empty() || ends.back() != step)
              ends.push_back(step);
          });
        if (steps == 0) {
          CAF_MESSAGE("skipped: this machine does not let us trace a process");
          return;
        }
        CAF_CHECK(steps > 100);
        CAF_CHECK_EQUAL(faults, 0);
        CAF_CHECK_EQUAL(ends, is_last ? "mc" : "m");
      }
}

CAF_TEST(X53 what killed writers leave is whole and goes on) {
  const auto server = node_store::make({4, {0, 1}, 4 << 20});
  CAF_REQUIRE(server);
  const auto reader = store_access::attach(server->lend(1), ::geteuid(), 1);
  CAF_REQUIRE(reader);
  auto random = std::mt19937{7};
  auto newest = 0;
  for (auto i = 0; i < 60; ++i) {
    const auto where = server->lend(0);
    const auto pid = ::fork();
    if (pid == 0) {
      const auto mine = store_access::attach(where, ::geteuid(), 0);
      for (auto n = newest + 1; mine != nullptr; ++n) {
        const auto text = std::to_string(n);
        const auto fill = std::string(static_cast<size_t>(n % 60),
                                      static_cast<char>(n % 26 + 'a'));
        if (mine->post({{"number", text, 3}, {"fill", fill, 3}})
            == store_access::posting::refused)
          break;
      }
      ::pause();
      ::_exit(0);
    }
    std::this_thread::sleep_for(std::chrono::microseconds{random() % 3000});
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    const auto number = reader->find(0, "number");
    const auto fill = reader->find(0, "fill");
    CAF_REQUIRE_EQUAL(number.has_value(), fill.has_value());
    if (!number)
      continue;
    const auto n = std::stoi(*number);
    CAF_REQUIRE(n >= newest);
    newest = n;
    CAF_REQUIRE(*fill
                == std::string(static_cast<size_t>(n % 60),
                               static_cast<char>(n % 26 + 'a')));
    auto taken = std::string{};
    CAF_REQUIRE(server->take(0, [&](const store_entry& x) {
      if (x.name == "number")
        taken = std::string{x.value};
    }));
    CAF_REQUIRE(taken.empty() || taken == *number);
  }
  CAF_CHECK(newest > 0);
}

CAF_TEST(X53 those who are left end when a participant is killed) {
  constexpr auto n = 4u;
  auto random = std::mt19937{3};
  for (auto i = 0; i < 20; ++i) {
    struct state {
      cell_memory cell;
      std::atomic<uint32_t> ended{0};
      std::atomic<uint32_t> wrong{0};
      std::atomic<uint32_t> rounds[n];
    };
    shared<state> x;
    collective_cell{x->cell, n}.open();
    auto pids = std::vector<pid_t>{};
    for (auto place = 0u; place < n; ++place) {
      const auto pid = ::fork();
      if (pid == 0) {
        auto cell = collective_cell{x->cell, n};
        auto mine = collective_cell::ticket{};
        for (;;) {
          const auto round = ++x->rounds[place];
          auto now = cell.arrive(place, mine);
          if (now == outcome::open)
            now = cell.wait(mine, 0);
          if (now != outcome::complete)
            break;
          for (const auto& y : x->rounds)
            if (y < round)
              ++x->wrong;
        }
        ++x->ended;
        ::_exit(0);
      }
      pids.push_back(pid);
    }
    std::this_thread::sleep_for(std::chrono::microseconds{random() % 5000});
    const auto victim = random() % n;
    ::kill(pids[victim], SIGKILL);
    ::waitpid(pids[victim], nullptr, 0);
    const auto start = std::chrono::steady_clock::now();
    collective_cell{x->cell, n}.close();
    for (auto place = 0u; place < n; ++place)
      if (place != victim)
        ::waitpid(pids[place], nullptr, 0);
    CAF_CHECK(std::chrono::steady_clock::now() - start < 1s);
    CAF_CHECK_EQUAL(x->ended.load(), n - 1);
    CAF_CHECK_EQUAL(x->wrong.load(), 0u);
  }
}

CAF_TEST(X53 one that is stopped where it ends the round holds nobody up for long) {
  shared<cell_memory> memory;
  auto cell = collective_cell{*memory, 2};
  cell.open();
  const auto pid = ::fork();
  if (pid == 0) {
    auto mine = collective_cell::ticket{};
    const auto now = cell.arrive(0, mine);
    ::_exit(
      now == outcome::open && cell.wait(mine, 0) == outcome::complete ? 0 : 1);
  }
  while (!cell.has_arrived(0))
    std::this_thread::yield();
  std::this_thread::sleep_for(10ms);
  // The second one's arrival, and no more of it.
  memory->bits[0].fetch_and(~uint64_t{2});
  auto found = 0;
  CAF_REQUIRE_EQUAL(::waitpid(pid, &found, 0), pid);
  CAF_CHECK(WIFEXITED(found) && WEXITSTATUS(found) == 0);
}
