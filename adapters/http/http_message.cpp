#include "adapters/http/http_message.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <string_view>

namespace troupe {

namespace {

int digit_of(char x) {
  if (x >= '0' && x <= '9')
    return x - '0';
  if (x >= 'a' && x <= 'f')
    return x - 'a' + 10;
  if (x >= 'A' && x <= 'F')
    return x - 'A' + 10;
  return -1;
}

/// @returns nothing for an escape that is none.
std::optional<std::string> unescape(std::string_view text) {
  auto result = std::string{};
  result.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      result += ' ';
    } else if (text[i] != '%') {
      result += text[i];
    } else {
      if (text.size() - i < 3)
        return std::nullopt;
      const auto high = digit_of(text[i + 1]);
      const auto low = digit_of(text[i + 2]);
      if (high < 0 || low < 0)
        return std::nullopt;
      result += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return result;
}

} // namespace

std::optional<std::string> query_field(const std::string& query,
                                       const std::string& name) {
  auto result = std::optional<std::string>{};
  auto rest = std::string_view{query};
  while (!rest.empty()) {
    const auto end = rest.find('&');
    const auto field = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    const auto equals = field.find('=');
    if (equals == std::string_view::npos || field.substr(0, equals) != name)
      continue;
    if (result)
      return std::nullopt;
    result = unescape(field.substr(equals + 1));
    if (!result)
      return std::nullopt;
  }
  return result;
}

bool is_loopback(const std::string& address) {
  if (address.find('\0') != std::string::npos)
    return false;
  auto four = in_addr{};
  if (::inet_pton(AF_INET, address.c_str(), &four) == 1)
    return (ntohl(four.s_addr) >> 24) == 127;
  auto six = in6_addr{};
  return ::inet_pton(AF_INET6, address.c_str(), &six) == 1
         && IN6_IS_ADDR_LOOPBACK(&six);
}

const char* http_reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 421:
      return "Misdirected Request";
    case 503:
      return "Service Unavailable";
    default:
      return "Error";
  }
}

} // namespace troupe
