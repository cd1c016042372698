#include "actors/events/number_set.hpp"

namespace troupe {

namespace {

constexpr uint64_t bits = 64;

uint64_t bit_of(uint64_t number) {
  return uint64_t{1} << (number % bits);
}

} // namespace

bool number_set::insert(uint64_t number) {
  auto& word = word_of(number);
  const auto is_new = (word & bit_of(number)) == 0;
  word |= bit_of(number);
  return is_new;
}

/// Mostly it is the last one, or the next.
uint64_t& number_set::word_of(uint64_t number) {
  const auto key = number / bits;
  if (words_.empty() || words_.rbegin()->first < key)
    return words_.emplace_hint(words_.end(), key, 0)->second;
  auto& last = *words_.rbegin();
  return last.first == key ? last.second : words_[key];
}

bool number_set::erase(uint64_t number) {
  const auto i = words_.find(number / bits);
  if (i == words_.end() || (i->second & bit_of(number)) == 0)
    return false;
  i->second &= ~bit_of(number);
  if (i->second == 0)
    words_.erase(i);
  return true;
}

bool number_set::contains(uint64_t number) const {
  const auto i = words_.find(number / bits);
  return i != words_.end() && (i->second & bit_of(number)) != 0;
}

std::optional<uint64_t> number_set::first_from(uint64_t number) const {
  auto i = words_.lower_bound(number / bits);
  if (i == words_.end())
    return std::nullopt;
  auto word = i->second;
  if (i->first == number / bits)
    word &= ~(bit_of(number) - 1);
  if (word == 0) {
    if (++i == words_.end())
      return std::nullopt;
    word = i->second;
  }
  return i->first * bits + static_cast<uint64_t>(__builtin_ctzll(word));
}

} // namespace troupe
