#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace troupe {

/// Numbers in order. Those that are near each other share memory: a set of all
/// numbers up to n takes about a byte for each. Everything costs O(log n).
class number_set {
public:
  /// @returns whether it was not there.
  bool insert(uint64_t number);

  /// @returns whether it was there.
  bool erase(uint64_t number);

  bool contains(uint64_t number) const;

  /// The smallest that is not below `number`; nothing if there is none.
  std::optional<uint64_t> first_from(uint64_t number) const;

  bool empty() const noexcept {
    return words_.empty();
  }

private:
  uint64_t& word_of(uint64_t number);

  /// A bit for each of 64 numbers, by the number divided by 64; none is 0.
  std::map<uint64_t, uint64_t> words_;
};

} // namespace troupe
