#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What the texts that stand for many names have in common: numbers, ranges of
// them, and lists that do not grow beyond their bounds.

namespace troupe::wire {

/// The longest number in a node name.
inline constexpr size_t max_name_digits = 18;

/// Reads a whole text as a decimal number.
std::optional<uint64_t> parse_number(std::string_view x);

/// Takes the text up to the next `separator`, which it drops, off `rest`.
std::string_view take(std::string_view& rest, char separator);

struct interval {
  uint64_t first = 0;
  uint64_t last = 0;
};

/// Reads `3` or `0-3`.
std::optional<interval> parse_interval(std::string_view x);

/// Writes a number with at least `width` digits.
std::string pad(uint64_t number, size_t width);

/// Collects names within bounds.
class name_list {
public:
  name_list(size_t most_names, size_t most_bytes)
    : most_names_(most_names), most_bytes_(most_bytes) {
    // nop
  }

  /// @returns whether there was room.
  bool add(std::string x);

  /// Whether `n` more names of `size` bytes each have room.
  bool has_room(uint64_t n, size_t size) const;

  std::vector<std::string> take() {
    return std::move(names_);
  }

private:
  std::vector<std::string> names_;
  size_t size_ = 0;
  size_t most_names_;
  size_t most_bytes_;
};

} // namespace troupe::wire
