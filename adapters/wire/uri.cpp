#include "adapters/wire/uri.hpp"

#include "messages/status.hpp"

#include <algorithm>
#include <charconv>

namespace troupe::wire {

namespace {

constexpr size_t max_uri_size = 4096;
constexpr size_t max_rendezvous_size = size_t{64} << 10;
constexpr auto variable_prefix = std::string_view{"PMIX_SERVER_URI"};

struct variable {
  packing_module module;
  std::string_view suffix;
};

/// The variables that we set. Source: OpenPMIx wire protocol, "Which URI
/// variable a client uses".
constexpr variable variables[] = {
  {packing_module::v61, "61"}, {packing_module::v51, "51"},
  {packing_module::v41, "41"}, {packing_module::v4, "4"},
  {packing_module::v3, "3"},   {packing_module::v21, "21"},
};

caf::error invalid(const char* what) {
  return make_error(status::bad_param, what);
}

bool starts_with(std::string_view x, std::string_view prefix) {
  return x.substr(0, prefix.size()) == prefix;
}

template <class T>
std::optional<T> parse_number(std::string_view x) {
  auto result = T{0};
  const auto* end = x.data() + x.size();
  const auto [stop, error] = std::from_chars(x.data(), end, result);
  if (x.empty() || stop != end || error != std::errc{})
    return std::nullopt;
  return result;
}

/// Whether `x` consists of four numbers up to 255 with dots between.
bool is_ipv4(std::string_view x) {
  for (auto part = 0; part < 4; ++part) {
    const auto dot = x.find('.');
    if ((dot == std::string_view::npos) != (part == 3))
      return false;
    const auto digits = x.substr(0, dot);
    if (digits.size() > 3 || parse_number<unsigned>(digits).value_or(256) > 255)
      return false;
    x.remove_prefix(std::min(digits.size() + 1, x.size()));
  }
  return true;
}

/// Whether `x` may be an IPv6 address, with or without a zone.
bool is_ipv6(std::string_view x) {
  const auto address = x.substr(0, x.find('%'));
  return x.size() <= 64 && address.find(':') != std::string_view::npos
         && address.find_first_not_of("0123456789abcdefABCDEF:.")
              == std::string_view::npos;
}

/// Takes the names of variables, each ended by a colon or the semicolon.
std::vector<std::string> split_names(std::string_view x) {
  auto result = std::vector<std::string>{};
  while (!x.empty()) {
    const auto n = std::min(x.find(':'), x.size());
    if (n > 0)
      result.emplace_back(x.substr(0, n));
    x.remove_prefix(std::min(n + 1, x.size()));
  }
  return result;
}

caf::error parse_server(std::string_view text, proc_id& x) {
  const auto dot = text.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || dot > max_nspace_length)
    return invalid("a URI does not begin with a namespace and a rank");
  const auto rank = parse_number<uint32_t>(text.substr(dot + 1));
  if (!rank)
    return invalid("the rank in a URI is no number");
  x.nspace = std::string{text.substr(0, dot)};
  x.rank = *rank;
  return caf::none;
}

caf::error parse_endpoint(std::string_view text, server_uri& x) {
  x.is_ipv6 = starts_with(text, "tcp6://");
  if (!x.is_ipv6 && !starts_with(text, "tcp4://"))
    return invalid("a URI has neither tcp4:// nor tcp6://");
  text.remove_prefix(7);
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos)
    return invalid("a URI has no port");
  const auto port = parse_number<uint16_t>(text.substr(colon + 1));
  if (!port || *port == 0)
    return invalid("the port in a URI is no number from 1 to 65535");
  auto address = text.substr(0, colon);
  if (x.is_ipv6 && address.size() > 2 && address.front() == '['
      && address.back() == ']')
    address = address.substr(1, address.size() - 2);
  if (x.is_ipv6 ? !is_ipv6(address) : !is_ipv4(address))
    return invalid("the address in a URI is not numeric");
  x.address = std::string{address};
  x.port = *port;
  return caf::none;
}

/// Takes the next line off `rest`.
std::string_view take_line(std::string_view& rest) {
  const auto n = std::min(rest.find('\n'), rest.size());
  const auto line = rest.substr(0, n);
  rest.remove_prefix(std::min(n + 1, rest.size()));
  return line;
}

} // namespace

// -- URI ---------------------------------------------------------------------

std::string to_string(const server_uri& x) {
  auto result = x.server.nspace + '.' + std::to_string(x.server.rank);
  result += x.is_ipv6 ? ";tcp6://" : ";tcp4://";
  result += x.address + ':' + std::to_string(x.port);
  if (x.variables.empty())
    return result;
  auto names = std::string{};
  for (const auto& name : x.variables)
    names += (names.empty() ? "" : ":") + name;
  return names + ';' + result;
}

caf::expected<server_uri> parse_uri(std::string_view text) {
  if (text.size() > max_uri_size)
    return invalid("a URI has more than 4096 bytes");
  while (!text.empty()
         && (text.back() == '\n' || text.back() == '\r' || text.back() == '\0'))
    text.remove_suffix(1);
  for (const auto c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      return invalid("a URI has control characters");
  const auto last = text.rfind(';');
  if (last == std::string_view::npos)
    return invalid("a URI has no semicolon");
  auto x = server_uri{};
  auto server = text.substr(0, last);
  if (const auto first = server.find(';'); first != std::string_view::npos) {
    x.variables = split_names(server.substr(0, first));
    server.remove_prefix(first + 1);
    if (server.find(';') != std::string_view::npos)
      return invalid("a URI has too many semicolons");
  }
  if (auto err = parse_server(server, x.server))
    return err;
  if (auto err = parse_endpoint(text.substr(last + 1), x))
    return err;
  return x;
}

std::optional<packing_module> module_of_variable(std::string_view name) {
  if (!starts_with(name, variable_prefix))
    return std::nullopt;
  name.remove_prefix(variable_prefix.size());
  for (const auto& x : variables)
    if (x.suffix == name)
      return x.module;
  return std::nullopt;
}

// -- rendezvous file ---------------------------------------------------------

std::string to_string(const rendezvous& x) {
  auto result = to_string(x.uri) + '\n' + x.version + '\n';
  if (!x.pid)
    return result;
  result += std::to_string(*x.pid) + '\n';
  if (!x.owner)
    return result;
  result += std::to_string(x.owner->uid) + ':' + std::to_string(x.owner->gid);
  // The time ends in a line feed of its own.
  return result + '\n' + x.started + "\n\n";
}

caf::expected<rendezvous> parse_rendezvous(std::string_view text) {
  if (text.size() > max_rendezvous_size)
    return invalid("a rendezvous file has more than 64 KiB");
  auto uri = parse_uri(take_line(text));
  if (!uri)
    return std::move(uri.error());
  auto x = rendezvous{};
  x.uri = std::move(*uri);
  x.version = std::string{take_line(text)};
  x.pid = parse_number<uint32_t>(take_line(text));
  const auto owner = take_line(text);
  const auto colon = std::min(owner.find(':'), owner.size());
  const auto uid = parse_number<uint32_t>(owner.substr(0, colon));
  const auto gid =
    parse_number<uint32_t>(owner.substr(std::min(colon + 1, owner.size())));
  if (uid && gid)
    x.owner = credentials{*uid, *gid};
  x.started = std::string{take_line(text)};
  return x;
}

// -- environment -------------------------------------------------------------

environment client_environment(const client_setup& x) {
  auto result = environment{};
  const auto put = [&](std::string name, std::string text) {
    result.emplace_back(std::move(name), std::move(text));
  };
  put("PMIX_NAMESPACE", x.proc.nspace);
  put("PMIX_RANK", std::to_string(x.proc.rank));
  auto uri = x.uri;
  uri.variables.clear();
  const auto text = to_string(uri);
  for (const auto& y : variables)
    put(std::string{variable_prefix} + std::string{y.suffix}, text);
  put("PMIX_SECURITY_MODE", x.security_mode);
  put("PMIX_BFROP_BUFFER_TYPE", x.described ? "PMIX_BFROP_BUFFER_FULLY_DESC"
                                            : "PMIX_BFROP_BUFFER_NON_DESC");
  put("PMIX_GDS_MODULE", "hash");
  put("PMIX_PTL_MODULE", "tcp");
  put("PMIX_VERSION", x.version);
  if (!x.hostname.empty())
    put("PMIX_HOSTNAME", x.hostname);
  if (!x.server_tmpdir.empty())
    put("PMIX_SERVER_TMPDIR", x.server_tmpdir);
  if (!x.system_tmpdir.empty())
    put("PMIX_SYSTEM_TMPDIR", x.system_tmpdir);
  return result;
}

bool is_hostile_variable(std::string_view name) {
  constexpr std::string_view names[] = {
    "PMIX_MCA_bfrops", "PMIX_MCA_gds",        "PMIX_MCA_psec",
    "PMIX_MCA_ptl",    "PMIX_KEEPALIVE_PIPE", "PMIX_LAUNCHER_RNDZ_URI"};
  constexpr std::string_view prefixes[] = {variable_prefix, "PMIX_DSTORE_"};
  const auto* end = std::end(names);
  return std::find(std::begin(names), end, name) != end
         || std::any_of(std::begin(prefixes), std::end(prefixes),
                        [&](auto x) { return starts_with(name, x); });
}

} // namespace troupe::wire
