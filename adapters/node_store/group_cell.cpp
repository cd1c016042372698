#include "adapters/node_store/group_cell.hpp"

#include <algorithm>
#include <cstring>

namespace troupe {

namespace {

/// Stands for a call, in 128 bits.
std::array<uint64_t, 2> hash(const group_call& x) {
  constexpr auto prime = uint64_t{0x100000001b3};
  constexpr auto other_prime = uint64_t{0x9e3779b97f4a7c15};
  auto result = std::array{uint64_t{0xcbf29ce484222325}, uint64_t{1}};
  const auto add = [&](unsigned char byte) {
    result[0] = (result[0] ^ byte) * prime;
    result[1] = (result[1] + byte) * other_prime;
    result[1] ^= result[1] >> 29;
  };
  add(static_cast<unsigned char>(x.what));
  add(x.wants_number ? 1 : 0);
  for (const auto c : x.id)
    add(static_cast<unsigned char>(c));
  return result;
}

/// Rounds count around.
constexpr uint32_t last_round = UINT32_MAX >> 1;

bool is_before(uint32_t x, uint32_t y) {
  return static_cast<int32_t>((x - y) << 1) < 0;
}

uint32_t after(uint32_t round) {
  return (round + 1) & last_round;
}

std::optional<group_call> call_of(const group_record& x) {
  const auto kind = static_cast<group_call::kind>(x.kind);
  if ((kind != group_call::kind::construct
       && kind != group_call::kind::destruct)
      || x.wants_number > 1 || x.size == 0 || x.size > group_name_bytes
      || std::memchr(x.id, 0, x.size) != nullptr)
    return std::nullopt;
  return group_call{kind, {x.id, x.size}, x.wants_number == 1};
}

} // namespace

// -- of participants ----------------------------------------------------------

bool group_cell::are_equal() const noexcept {
  for (uint32_t i = 1; i < count_; ++i)
    for (auto part = 0; part < 2; ++part)
      if (calls_[i].parts[part].load() != calls_[0].parts[part].load())
        return false;
  return true;
}

group_cell::outcome group_cell::look(ticket mine) noexcept {
  const auto now = cell_.look(mine);
  if (now != outcome::gathered)
    return now;
  if (are_equal())
    cell_.end(mine);
  else
    cell_.give_up(mine);
  return cell_.look(mine);
}

group_cell::outcome group_cell::arrive(uint32_t place, const group_call& call,
                                       std::optional<uint32_t> made,
                                       place_in_round& mine) noexcept {
  const auto now = cell_.current();
  if (!now || place >= count_ || call.id.empty()
      || call.id.size() > group_name_bytes)
    return outcome::closed;
  const auto round = collective_cell::round_of(*now);
  if (made && is_before(*made, terms_.opening.load()))
    return outcome::closed;
  if (!is_before(round, terms_.limit.load())) {
    cell_.give_up(*now);
    return outcome::closed;
  }
  // All of this round: it does not end before this one has arrived.
  mine.number = terms_.numbers[round % group_log_size].load();
  const auto key = hash(call);
  for (auto part = 0; part < 2; ++part)
    calls_[place].parts[part].store(key[part]);
  if (place == 0) {
    auto& to = log_.records[round % group_log_size];
    to.kind = static_cast<uint8_t>(call.what);
    to.wants_number = call.wants_number ? 1 : 0;
    to.size = static_cast<uint16_t>(call.id.size());
    std::memcpy(to.id, call.id.data(), call.id.size());
  }
  if (cell_.arrive(place, mine.mine) == outcome::closed) {
    mine.mine = 0;
    return outcome::closed;
  }
  if (mine.mine != *now) {
    // What it has written is of another round.
    cell_.give_up(mine.mine);
    return outcome::closed;
  }
  return look(mine.mine);
}

group_cell::outcome group_cell::wait(ticket mine, uint32_t spins) noexcept {
  cell_.spin(mine, spins);
  auto until = std::optional<collective_cell::time>{};
  for (;;) {
    if (const auto now = look(mine); now != outcome::open)
      return now;
    if (!until)
      until = collective_cell::end_of_patience();
    if (cell_.doze(mine, *until) && look(mine) == outcome::open)
      cell_.give_up(mine);
  }
}

void group_cell::close() noexcept {
  if (const auto now = cell_.current())
    look(*now);
  cell_.close();
}

bool group_cell::is_behind(ticket mine) const noexcept {
  const auto round = collective_cell::round_of(mine);
  return !is_before(round, terms_.limit.load() - group_log_size / 2);
}

// -- of the server ------------------------------------------------------------

void group_reader::open(const numbers& next) {
  auto cell = collective_cell{memory_, count_, false};
  // Its next round.
  read_ = after(cell.rounds());
  for (auto& x : terms_.numbers)
    if (x.load() == 0)
      x.store(next());
  terms_.opening.store(read_);
  terms_.limit.store(read_ + group_log_size);
  cell.open();
}

void group_reader::close() {
  cell().close();
}

uint32_t group_reader::rounds() const {
  return collective_cell{memory_, count_, false}.rounds();
}

bool group_reader::read(
  const std::function<void(const group_call&, uint64_t)>& use,
  const numbers& next) {
  const auto now = rounds();
  auto is_sane = ((now - read_) & last_round) <= group_log_size;
  for (; is_sane && read_ != now; read_ = after(read_)) {
    // Its writer may be at it again.
    const auto copy = log_.records[read_ % group_log_size];
    const auto call = call_of(copy);
    is_sane = call.has_value();
    if (!is_sane)
      break;
    auto& number = terms_.numbers[read_ % group_log_size];
    use(*call, number.load());
    if (call->what == group_call::kind::construct && call->wants_number)
      number.store(next());
  }
  if (is_sane) {
    terms_.limit.store(read_ + group_log_size);
    return true;
  }
  close();
  read_ = rounds();
  return false;
}

} // namespace troupe
