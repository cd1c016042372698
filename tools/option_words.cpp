#include "tools/option_words.hpp"

#include <algorithm>
#include <numeric>

namespace troupe {

const option_word* find_word(std::string_view name) {
  const auto& words = all_words();
  const auto i =
    std::find_if(words.begin(), words.end(),
                 [&](const option_word& x) { return x.name == name; });
  return i == words.end() ? nullptr : &*i;
}

std::vector<std::string> translate(const option_word& word,
                                   const std::vector<std::string>& values) {
  auto result = std::vector<std::string>{};
  for (auto rest = word.text; !rest.empty();) {
    const auto end = std::min(rest.find(' '), rest.size());
    auto& option = result.emplace_back();
    for (size_t i = 0; i < end; ++i) {
      const auto is_value = rest[i] == '{';
      const auto number =
        is_value ? static_cast<size_t>(rest[i + 1] - '1') : size_t{0};
      if (!is_value) {
        option += rest[i];
        continue;
      }
      if (number < values.size())
        option += values[number];
      i += 2;
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return result;
}

namespace {

/// How many letters have to be changed, added, left out or swapped with their
/// neighbour to make one word of the other.
size_t distance(std::string_view x, std::string_view y) {
  auto last = std::vector<size_t>{};
  auto before = std::vector<size_t>(y.size() + 1);
  std::iota(before.begin(), before.end(), size_t{0});
  for (size_t i = 1; i <= x.size(); ++i) {
    auto now = std::vector<size_t>(y.size() + 1);
    now[0] = i;
    for (size_t j = 1; j <= y.size(); ++j) {
      const auto is_same = x[i - 1] == y[j - 1];
      now[j] = std::min(
        {before[j] + 1, now[j - 1] + 1, before[j - 1] + (is_same ? 0 : 1)});
      if (i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1])
        now[j] = std::min(now[j], last[j - 2] + 1);
    }
    last = std::move(before);
    before = std::move(now);
  }
  return before.back();
}

} // namespace

std::optional<std::string> nearest_name(std::string_view name,
                                        const std::vector<std::string>& names) {
  // A third of its letters may be wrong, else it is another word.
  auto best = name.find_first_not_of('-') == std::string_view::npos
                ? size_t{0}
                : (name.size() - name.find_first_not_of('-')) / 3 + 1;
  auto result = std::optional<std::string>{};
  for (const auto& x : names)
    if (const auto d = distance(name, x); d < best) {
      best = d;
      result = x;
    }
  return result;
}

} // namespace troupe
