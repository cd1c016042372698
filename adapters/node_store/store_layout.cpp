#include "adapters/node_store/store_layout.hpp"

#include <charconv>
#include <vector>

namespace troupe {

namespace {

/// What the text begins with: whoever finds another one asks the server. It is in
/// `wire::sharing_mark`, too.
constexpr auto version = std::string_view{"7"};

constexpr auto nothing = std::string_view{"-"};

std::vector<std::string_view> words_of(std::string_view text) {
  auto result = std::vector<std::string_view>{};
  for (;;) {
    const auto n = text.find(' ');
    result.push_back(text.substr(0, n));
    if (n == std::string_view::npos)
      return result;
    text.remove_prefix(n + 1);
  }
}

template <class T>
bool parse(std::string_view text, T& to, int base = 10) {
  const auto* end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, to, base);
  return code == std::errc{} && rest == end;
}

} // namespace

bool operator==(const store_address& x, const store_address& y) {
  return x.pid == y.pid && x.board == y.board && x.posts == y.posts
         && x.key == y.key && x.region == y.region;
}

std::string to_string(const store_address& x) {
  auto result = std::string{version};
  const auto add = [&](auto y, int base) {
    char digits[24];
    const auto end =
      std::to_chars(std::begin(digits), std::end(digits), y, base).ptr;
    result += ' ';
    result.append(std::begin(digits), end);
  };
  add(x.pid, 10);
  add(x.board, 10);
  add(x.posts, 10);
  add(x.key[0], 16);
  add(x.key[1], 16);
  if (x.region)
    add(*x.region, 10);
  else
    result.append(" ").append(nothing);
  return result;
}

std::optional<store_address> parse_store_address(std::string_view text) {
  const auto words = words_of(text);
  auto result = store_address{};
  if (words.size() != 7 || words[0] != version || !parse(words[1], result.pid)
      || !parse(words[2], result.board) || !parse(words[3], result.posts)
      || !parse(words[4], result.key[0], 16)
      || !parse(words[5], result.key[1], 16) || result.board < 0
      || result.posts < 0)
    return std::nullopt;
  if (words[6] != nothing && !parse(words[6], result.region.emplace()))
    return std::nullopt;
  return result;
}

} // namespace troupe
