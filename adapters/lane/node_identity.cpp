#include "adapters/lane/node_identity.hpp"

#include "messages/status.hpp"

#include <algorithm>
#include <charconv>

namespace troupe {

namespace {

constexpr std::string_view scheme = "troupe:";

constexpr size_t max_dvm_size = 64;

constexpr size_t max_name_size = 255;

bool is_word(std::string_view x, size_t max_size) {
  return !x.empty() && x.size() <= max_size
         && std::all_of(x.begin(), x.end(), [](char c) {
              return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
                     || (c >= '0' && c <= '9') || c == '.' || c == '_'
                     || c == '-';
            });
}

/// Cuts off what stands before the next `/`.
std::string_view next_part(std::string_view& text) {
  const auto size = std::min(text.find('/'), text.size());
  const auto result = text.substr(0, size);
  text.remove_prefix(std::min(size + 1, text.size()));
  return result;
}

} // namespace

std::string to_string(const node_identity& x) {
  return std::string{scheme} + x.dvm + '/' + std::to_string(x.rank) + '/'
         + x.name;
}

caf::expected<node_identity> parse_node_identity(std::string_view text) {
  node_identity result;
  auto rest = text.substr(std::min(scheme.size(), text.size()));
  result.dvm = next_part(rest);
  const auto rank = next_part(rest);
  std::from_chars(rank.data(), rank.data() + rank.size(), result.rank);
  result.name = rest;
  if (!is_word(result.dvm, max_dvm_size) || !is_word(result.name, max_name_size)
      || to_string(result) != text)
    return make_error(status::bad_param, "not the identity of a node");
  return result;
}

} // namespace troupe
