#include "adapters/metrics/metrics_place.hpp"

#include "adapters/sockets/network_socket.hpp"
#include "messages/status.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <charconv>
#include <utility>

namespace troupe {

namespace {

/// Who waits in the kernel while another request is answered.
constexpr int backlog = 128;

constexpr size_t most_characters = 64;

std::vector<std::string> loopback() {
  return {"127.0.0.1", "::1"};
}

std::vector<std::string> everywhere() {
  return {"0.0.0.0", "::"};
}

caf::error not_a_place(std::string_view text) {
  auto shown = std::string{text.substr(0, most_characters)};
  for (auto& x : shown)
    if (x < ' ' || x > '~')
      x = '?';
  return make_error(
    status::bad_param,
    "\"" + shown
      + "\" is no place for metrics; write ADDRESS:PORT with a "
        "numeric address, such as 127.0.0.1:9466, [::1]:9466, or "
        ":9466 for all addresses of the node");
}

bool is_numeric(const std::string& address) {
  unsigned char room[sizeof(in6_addr)];
  return ::inet_pton(AF_INET, address.c_str(), room) == 1
         || ::inet_pton(AF_INET6, address.c_str(), room) == 1;
}

std::optional<uint16_t> parse_port(std::string_view text) {
  auto result = uint16_t{0};
  const auto* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, result);
  if (code != std::errc{} || rest != end || result == 0)
    return std::nullopt;
  return result;
}

metrics_place at(std::vector<std::string> addresses, uint16_t port,
                 bool is_for_any_node) {
  return {std::move(addresses), port, is_for_any_node};
}

} // namespace

caf::expected<metrics_place> parse_metrics_place(std::string_view text) {
  const auto colon = text.rfind(':');
  if (text.size() > most_characters || colon == std::string_view::npos)
    return not_a_place(text);
  const auto port = parse_port(text.substr(colon + 1));
  auto address = std::string{text.substr(0, colon)};
  if (!port)
    return not_a_place(text);
  if (address.empty() || address == "*")
    return at(everywhere(), *port, true);
  if (address == "localhost")
    return at(loopback(), *port, true);
  // An address of IPv6 has colons of its own.
  const auto is_in_brackets =
    address.size() > 2 && address.front() == '[' && address.back() == ']';
  if (is_in_brackets)
    address = address.substr(1, address.size() - 2);
  if (is_in_brackets != (address.find(':') != std::string::npos)
      || !is_numeric(address))
    return not_a_place(text);
  const auto is_for_any_node = address.rfind("127.", 0) == 0 || address == "::1"
                               || address == "0.0.0.0" || address == "::";
  return at({std::move(address)}, *port, is_for_any_node);
}

caf::expected<std::optional<metrics_place>>
metrics_place_of(const std::string& option, const site_settings& site) {
  if (option == "off")
    return std::optional<metrics_place>{};
  if (!option.empty()) {
    auto place = parse_metrics_place(option);
    if (!place)
      return std::move(place.error());
    return std::optional<metrics_place>{std::move(*place)};
  }
  const auto port = site.get(setting_id::metrics_port);
  if (port == 0)
    return std::optional<metrics_place>{};
  const auto is_local = site.get(setting_id::metrics_local) != 0;
  return std::optional<metrics_place>{at(is_local ? loopback() : everywhere(),
                                         static_cast<uint16_t>(port), true)};
}

caf::expected<std::vector<unique_fd>> listen_at(const metrics_place& where) {
  auto result = std::vector<unique_fd>{};
  for (const auto& address : where.addresses) {
    auto fd = listen_on({address, {}}, where.port, backlog);
    if (fd)
      result.push_back(std::move(*fd));
    else if (result.empty())
      return std::move(fd.error()); // A node may lack IPv6, which comes second.
  }
  return result;
}

std::string to_string(const metrics_place& x) {
  const auto port = ":" + std::to_string(x.port);
  if (x.addresses == everywhere())
    return "*" + port;
  const auto& first = x.addresses.front();
  return (first.find(':') != std::string::npos ? "[" + first + "]" : first)
         + port;
}

} // namespace troupe
