#include "adapters/node_store/collective_cell.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>
#include <optional>

namespace troupe {

namespace {

using namespace std::chrono_literals;

constexpr uint32_t open_bit = 1;

/// What a round adds to the word.
constexpr uint32_t one_round = 2;

/// How long somebody sleeps before looking whether the one who was to end the
/// round has been stopped or killed between two steps; then twice as long.
constexpr auto first_nap = 1s;
constexpr auto longest_nap = 16s;

/// How long the processes of a node wait for each other before the server has to
/// know that they do.
constexpr auto patience = 100ms;

bool is_odd_round(uint32_t word) {
  return (word & one_round) != 0;
}

/// Sleeps while the word is as it was seen, and no signal comes.
/// @returns whether the time has come.
bool sleep_on(std::atomic<uint32_t>& word, uint32_t seen,
              collective_cell::time until) {
  using std::chrono::nanoseconds;
  const auto time = nanoseconds{until.time_since_epoch()}.count();
  const auto second = nanoseconds{1s}.count();
  const auto limit = timespec{time / second, time % second};
  // Of the kinds of waiting the one whose limit is a time of the steady clock.
  return ::syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, seen, &limit, nullptr,
                   FUTEX_BITSET_MATCH_ANY)
           != 0
         && errno == ETIMEDOUT;
}

/// Tells the processor that this thread only looks.
void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

} // namespace

uint64_t collective_cell::mask_of(uint32_t i) const noexcept {
  const auto left = count_ - i * 64;
  return left >= 64 ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
}

bool collective_cell::is_full(uint32_t word) const noexcept {
  const auto is_odd = is_odd_round(word);
  for (uint32_t i = 0; i * 64 < count_; ++i) {
    const auto mask = mask_of(i);
    const auto bits = memory_.bits[i].load() & mask;
    if (bits != (is_odd ? 0 : mask))
      return false;
  }
  return true;
}

void collective_cell::wake(const cell_memory& memory) noexcept {
  ::syscall(SYS_futex, &memory.word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

collective_cell::outcome collective_cell::look(ticket mine) noexcept {
  auto now = memory_.word.load();
  if (now == mine && is_full(now)) {
    if (!is_whole_)
      return outcome::gathered;
    if (memory_.word.compare_exchange_strong(now, now + one_round)) {
      wake(memory_);
      return outcome::complete;
    }
    now = memory_.word.load();
  }
  if (now / one_round != mine / one_round)
    return outcome::complete;
  return (now & open_bit) != 0 ? outcome::open : outcome::closed;
}

collective_cell::outcome collective_cell::arrive(uint32_t place, ticket& mine,
                                                 bool collects) noexcept {
  const auto now = memory_.word.load();
  if ((now & open_bit) == 0 || place >= count_)
    return outcome::closed;
  mine = now;
  if (collects)
    memory_.collects.store(mine);
  auto& bits = memory_.bits[place / 64];
  const auto bit = uint64_t{1} << place % 64;
  if (is_odd_round(mine))
    bits.fetch_and(~bit);
  else
    bits.fetch_or(bit);
  return look(mine);
}

void collective_cell::spin(ticket mine, uint32_t spins) const noexcept {
  for (uint32_t i = 0; i < spins; ++i) {
    if (memory_.word.load(std::memory_order_acquire) != mine)
      break;
    pause();
  }
}

collective_cell::time collective_cell::end_of_patience() noexcept {
  return std::chrono::steady_clock::now() + patience;
}

bool collective_cell::doze(ticket mine, time until) const noexcept {
  return sleep_on(memory_.word, mine, until);
}

void collective_cell::give_up(ticket mine) noexcept {
  if (memory_.word.compare_exchange_strong(mine, mine & ~open_bit))
    wake(memory_);
}

collective_cell::outcome collective_cell::wait(ticket mine,
                                               uint32_t spins) noexcept {
  spin(mine, spins);
  auto until = std::optional<time>{};
  for (auto nap = first_nap;; nap = std::min(2 * nap, longest_nap)) {
    auto now = look(mine);
    // The last one tells the server.
    if (now == outcome::gathered)
      now = outcome::open;
    if (now != outcome::open)
      return now;
    if (is_whole_) {
      sleep_on(memory_.word, mine, std::chrono::steady_clock::now() + nap);
      continue;
    }
    if (!until)
      until = end_of_patience();
    if (doze(mine, *until)) {
      now = look(mine);
      if (now != outcome::open)
        return now;
      give_up(mine);
    }
  }
}

void collective_cell::open() noexcept {
  const auto next = (memory_.word.load() | open_bit) + one_round;
  for (uint32_t i = 0; i * 64 < count_; ++i)
    memory_.bits[i].store(is_odd_round(next) ? mask_of(i) : 0);
  memory_.word.store(next);
}

bool collective_cell::close() noexcept {
  // All may be there, and the last of them killed before it ended the round. What is
  // closed already is not ended any more: some have seen that, and ask the server.
  if (const auto now = current())
    look(*now);
  return shut(memory_);
}

bool collective_cell::shut(cell_memory& memory) noexcept {
  const auto was = memory.word.fetch_and(~open_bit);
  wake(memory);
  return (was & open_bit) != 0;
}

bool collective_cell::is_open() const noexcept {
  return (memory_.word.load() & open_bit) != 0;
}

bool collective_cell::has_gathered(ticket round) const noexcept {
  const auto now = memory_.word.load();
  return now / one_round == round / one_round && is_full(now);
}

bool collective_cell::has_collected(ticket round) const noexcept {
  return memory_.collects.load() == round;
}

void collective_cell::end(ticket round) noexcept {
  auto now = round | open_bit;
  if (memory_.word.compare_exchange_strong(now, (round | open_bit) + one_round))
    wake(memory_);
}

bool collective_cell::has_arrived(uint32_t place) const noexcept {
  if (place >= count_)
    return false;
  const auto is_set = (memory_.bits[place / 64].load() >> place % 64 & 1) != 0;
  return is_set != is_odd_round(memory_.word.load());
}

bool collective_cell::has_any_arrived() const noexcept {
  for (uint32_t place = 0; place < count_; ++place)
    if (has_arrived(place))
      return true;
  return false;
}

uint32_t collective_cell::rounds() const noexcept {
  return round_of(memory_.word.load());
}

std::optional<collective_cell::ticket>
collective_cell::current() const noexcept {
  const auto now = memory_.word.load();
  return (now & open_bit) != 0 ? std::optional{now} : std::nullopt;
}

} // namespace troupe
