#pragma once

#include "messages/inspect.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

namespace troupe {

class codec_reader;

/// Ranks of nodes, in an order. Those in a row cost the same however many they
/// are, here and on the way.
class rank_list {
public:
  /// Ranks in a row.
  struct run {
    uint32_t first = 0;
    uint32_t count = 0;
  };

  /// More are not taken from outside.
  static constexpr size_t max_size = size_t{1} << 20;

  rank_list() = default;

  rank_list(const std::vector<uint32_t>& ranks);

  rank_list(std::initializer_list<uint32_t> ranks);

  operator std::vector<uint32_t>() const;

  bool empty() const {
    return size_ == 0;
  }

  size_t size() const {
    return size_;
  }

  /// @pre `place < size()`.
  uint32_t operator[](size_t place) const;

  uint32_t front() const {
    return runs_.front().first;
  }

  /// Where a rank stands first, from 0; nothing if it is not among them.
  std::optional<size_t> place_of(uint32_t rank) const;

  bool contains(uint32_t rank) const {
    return place_of(rank).has_value();
  }

  void push_back(uint32_t rank);

  void append(const rank_list& other);

  /// Adds ranks in a row, or none.
  void append_run(run x);

  /// Those at the places from `begin` on, and before `end`.
  rank_list part(size_t begin, size_t end) const;

  const std::vector<run>& runs() const {
    return runs_;
  }

  /// Takes runs that come from outside.
  /// @returns whether they are as this class would have them, and not too many;
  ///          if not, what is wrong with them is left out.
  bool assign(const std::vector<run>& runs);

private:
  std::vector<run> runs_;
  size_t size_ = 0;
};

TROUPE_MESSAGE(rank_list::run, x.first, x.count)

inline bool operator==(const rank_list& x, const rank_list& y) {
  return x.runs() == y.runs();
}

inline bool operator!=(const rank_list& x, const rank_list& y) {
  return !(x == y);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, rank_list& x) {
  if constexpr (Inspector::writes_state) {
    auto runs = std::vector<rank_list::run>{};
    if (auto err = f(runs))
      return err;
    // There is one way to write it.
    if (!x.assign(runs) && std::is_same_v<Inspector, codec_reader>)
      return caf::make_error(caf::sec::invalid_argument,
                             "ranks that are not listed as they should be");
    return caf::none;
  } else {
    auto runs = x.runs();
    return f(caf::meta::type_name("troupe.rank_list"), runs);
  }
}

} // namespace troupe
