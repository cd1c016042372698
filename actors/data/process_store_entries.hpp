#pragma once

#include "messages/proc_id.hpp"
#include "messages/value.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// For the two parts of `process_store` only: reading maps of keys and values.

namespace troupe {

template <class Entries>
const value* look_up(const Entries& xs, std::string_view key) {
  const auto i = xs.find(key);
  return i != xs.end() ? &i->second : nullptr;
}

template <class T, class Entries>
std::optional<T> number_in(const Entries& xs, std::string_view key) {
  const auto* x = look_up(xs, key);
  return x != nullptr ? x->template number<T>() : std::nullopt;
}

template <class Entries>
const std::string* text_in(const Entries& xs, std::string_view key) {
  const auto* x = look_up(xs, key);
  return x != nullptr ? x->text() : nullptr;
}

/// The ranks in a list such as `0,1,2`; what is no number is left out.
inline std::vector<uint32_t> ranks_in(std::string_view text) {
  auto result = std::vector<uint32_t>{};
  while (!text.empty()) {
    const auto n = std::min(text.find(','), text.size());
    auto rank = uint64_t{0};
    auto is_number = n > 0;
    for (const auto c : text.substr(0, n)) {
      is_number = is_number && c >= '0' && c <= '9' && rank <= rank_valid_max;
      rank = rank * 10 + static_cast<uint64_t>(c - '0');
    }
    if (is_number && rank <= rank_valid_max)
      result.push_back(static_cast<uint32_t>(rank));
    text.remove_prefix(std::min(n + 1, text.size()));
  }
  return result;
}

} // namespace troupe
