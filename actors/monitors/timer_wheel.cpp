#include "actors/monitors/timer_wheel.hpp"

#include <algorithm>

namespace troupe {

namespace {

unsigned lowest_bit(uint64_t x) {
  return static_cast<unsigned>(__builtin_ctzll(x));
}

unsigned highest_bit(uint64_t x) {
  return 63U - static_cast<unsigned>(__builtin_clzll(x));
}

} // namespace

timer_wheel::timer_wheel() {
  heads_.fill(none);
}

void timer_wheel::set(item x, tick due) {
  if (x >= nodes_.size())
    nodes_.resize(size_t{x} + 1);
  clear(x);
  nodes_[x].due = std::min(std::max(due, now_ + 1), horizon);
  link(x);
  ++size_;
}

void timer_wheel::clear(item x) {
  if (!holds(x))
    return;
  unlink(x);
  --size_;
}

/// The level is that of the highest digit in which the item's time differs from
/// now: below it, the item will be put in order once that digit is reached.
void timer_wheel::link(item x) {
  auto& it = nodes_[x];
  const auto difference = it.due ^ now_;
  const auto level = difference == 0 ? 0 : highest_bit(difference) / bits;
  const auto digit = (it.due >> (level * bits)) & (slots - 1);
  it.slot = static_cast<uint16_t>(level * slots + digit);
  it.prev = none;
  it.next = heads_[it.slot];
  if (it.next != none)
    nodes_[it.next].prev = x;
  heads_[it.slot] = x;
  used_[level] |= uint64_t{1} << digit;
}

void timer_wheel::unlink(item x) {
  auto& it = nodes_[x];
  if (it.prev != none)
    nodes_[it.prev].next = it.next;
  else
    heads_[it.slot] = it.next;
  if (it.next != none)
    nodes_[it.next].prev = it.prev;
  if (heads_[it.slot] == none)
    used_[it.slot / slots] &= ~(uint64_t{1} << (it.slot % slots));
  it.slot = nowhere;
}

timer_wheel::tick timer_wheel::next() const {
  for (size_t level = 0; level < levels; ++level) {
    if (used_[level] == 0)
      continue;
    const auto width = level * bits;
    const auto above = now_ >> (width + bits) << (width + bits);
    return above | (uint64_t{lowest_bit(used_[level])} << width);
  }
  return never;
}

void timer_wheel::advance(tick now, std::vector<item>& out) {
  now = std::min(now, horizon);
  for (auto due = next(); due <= now; due = next()) {
    now_ = due;
    size_t level = 0;
    while (used_[level] == 0)
      ++level;
    const auto slot = level * slots + lowest_bit(used_[level]);
    while (heads_[slot] != none) {
      const auto x = heads_[slot];
      unlink(x);
      if (nodes_[x].due <= now_) {
        --size_;
        out.push_back(x);
      } else {
        link(x);
      }
    }
  }
  now_ = std::max(now_, now);
}

} // namespace troupe
