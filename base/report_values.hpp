#pragma once

#include "base/make_info.hpp"
#include "messages/value.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The form of what answers queries of ours: an object is an array of infos; a
// list is one whose infos all have the key `item`. Tools show what they get, so
// a new member needs no new tool.

namespace troupe {

inline constexpr std::string_view report_item_key = "item";

inline info report_text(std::string_view key, std::string_view x) {
  return make_info(key, value::string(std::string{x}));
}

inline info report_number(std::string_view key, uint64_t x) {
  return make_info(key, value::uint64(x));
}

inline info report_flag(std::string_view key, bool x) {
  return make_info(key, value::boolean(x));
}

/// Several values under one.
inline value report_list(std::vector<value> items) {
  auto result = std::vector<info>{};
  result.reserve(items.size());
  for (auto& x : items)
    result.push_back(make_info(report_item_key, std::move(x)));
  return value::infos(std::move(result));
}

/// What `make` makes of each of `xs`, under one.
template <class Xs, class F>
value report_list(const Xs& xs, F make) {
  auto items = std::vector<value>{};
  items.reserve(xs.size());
  for (const auto& x : xs)
    items.push_back(make(x));
  return report_list(std::move(items));
}

} // namespace troupe
