#include "adapters/metrics/scrape_request.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

constexpr auto line_end = std::string_view{"\r\n"};
constexpr auto head_end = std::string_view{"\r\n\r\n"};
constexpr auto version_begin = std::string_view{"HTTP/1."};

/// A character of a token. Source: RFC 9110, "Tokens".
bool is_token(char x) {
  return (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z')
         || (x >= '0' && x <= '9')
         || std::string_view{"!#$%&'*+-.^_`|~"}.find(x)
              != std::string_view::npos;
}

bool is_token(std::string_view x) {
  return !x.empty()
         && std::all_of(x.begin(), x.end(), [](char y) { return is_token(y); });
}

/// Neither a space nor a control character.
bool is_printed(std::string_view x) {
  return std::all_of(x.begin(), x.end(),
                     [](char y) { return y > ' ' && y <= '~'; });
}

/// Takes what comes before `end` and `end` itself from the front of `from`.
/// @returns nothing if `end` is not there.
std::optional<std::string_view> take_until(std::string_view& from,
                                           std::string_view end) {
  const auto at = from.find(end);
  if (at == std::string_view::npos)
    return std::nullopt;
  const auto result = from.substr(0, at);
  from.remove_prefix(at + end.size());
  return result;
}

std::string_view without_blanks(std::string_view x) {
  constexpr auto blanks = std::string_view{" \t"};
  const auto begin = x.find_first_not_of(blanks);
  if (begin == std::string_view::npos)
    return {};
  return x.substr(begin, x.find_last_not_of(blanks) - begin + 1);
}

/// Whether a name of a field is `name`, which has small letters.
bool is_name(std::string_view x, std::string_view name) {
  return x.size() == name.size()
         && std::equal(x.begin(), x.end(), name.begin(), [](char y, char z) {
              return (y >= 'A' && y <= 'Z' ? y - 'A' + 'a' : y) == z;
            });
}

/// @returns whether it is a request line.
bool read_line(std::string_view line, scrape_request& to) {
  const auto method = take_until(line, " ");
  const auto target = method ? take_until(line, " ") : std::nullopt;
  if (!target || !is_token(*method) || target->empty() || target->front() != '/'
      || !is_printed(*target) || line.size() != version_begin.size() + 1
      || line.substr(0, version_begin.size()) != version_begin
      || (line.back() != '0' && line.back() != '1'))
    return false;
  const auto middle = std::min(target->find('?'), target->size());
  to.method = *method;
  to.path = target->substr(0, middle);
  to.query = target->substr(std::min(middle + 1, target->size()));
  return true;
}

/// What a field cannot hold. Source: RFC 9110, "Field Values".
constexpr auto dangerous = std::string_view{"\r\n\0", 3};

/// @returns whether it is a field of a request without a body.
bool read_field(std::string_view line, scrape_request& to) {
  const auto name = take_until(line, ":");
  if (!name || !is_token(*name))
    return false;
  const auto content = without_blanks(line);
  if (content.find_first_of(dangerous) != std::string_view::npos)
    return false;
  if (is_name(*name, "transfer-encoding"))
    return false;
  if (is_name(*name, "content-length"))
    return content == "0";
  if (is_name(*name, "accept"))
    to.accept += (to.accept.empty() ? "" : ",") + std::string{content};
  return true;
}

} // namespace

std::optional<size_t> end_of_head(std::string_view bytes, size_t from) {
  // The end may have begun among those that came before.
  const auto begin = from < head_end.size() ? 0 : from - head_end.size();
  const auto at = bytes.find(head_end, begin);
  if (at == std::string_view::npos)
    return std::nullopt;
  return at + head_end.size();
}

std::optional<scrape_request> parse_scrape_request(std::string_view head) {
  auto result = scrape_request{};
  const auto first = take_until(head, line_end);
  if (!first || !read_line(*first, result))
    return std::nullopt;
  while (const auto line = take_until(head, line_end)) {
    if (line->empty())
      return head.empty() ? std::optional<scrape_request>{std::move(result)}
                          : std::nullopt;
    if (!read_field(*line, result))
      return std::nullopt;
  }
  return std::nullopt;
}

} // namespace troupe
