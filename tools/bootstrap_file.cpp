#include "adapters/wire/number_range.hpp"
#include "tools/host_list.hpp"
#include "tools/host_text.hpp"

#include <algorithm>
#include <array>

namespace troupe {

namespace {

using tools::text_place;

/// Keys that we understand elsewhere, or that say how PRRTE works inside.
constexpr auto other_keys =
  std::array<std::string_view, 19>{"ControllerLogJobState",
                                   "ControllerLogPath",
                                   "ControllerLogProcState",
                                   "DVMConnectMaxTime",
                                   "DVMControllerPort",
                                   "DVMIPVersion",
                                   "DVMNetmask",
                                   "DVMNetworks",
                                   "DVMRetryMaxDelay",
                                   "DVMTempDir",
                                   "KeepFQDNHostnames",
                                   "PRTEDLogJobState",
                                   "PRTEDLogPath",
                                   "PRTEDLogProcState",
                                   "PRTEDPort",
                                   "SessionTmpDir",
                                   "Insecure",
                                   "LaunchAgent",
                                   "AuthorityFile"};

/// Sets one key.
caf::error set(bootstrap_settings& x, std::string_view key,
               std::string_view value, const text_place& key_place,
               const text_place& place) {
  const auto number = [&](uint64_t most) -> std::optional<uint64_t> {
    const auto result = wire::parse_number(value);
    return result && *result > 0 && *result <= most ? result : std::nullopt;
  };
  if (key == "ClusterName") {
    x.cluster = value;
  } else if (key == "DVMControllerHost") {
    auto names = tools::expand(value, place);
    if (!names)
      return std::move(names.error());
    if (names->size() != 1)
      return place.error(value, "is more than one node; name one");
    x.controller = std::move(names->front());
  } else if (key == "DVMPort") {
    const auto port = number(UINT16_MAX);
    if (!port)
      return place.error(value, "is no port; write 1 to 65535");
    x.port = static_cast<uint16_t>(*port);
  } else if (key == "DVMRadix") {
    const auto radix = number(1024);
    if (!radix)
      return place.error(value, "is no radix; write 1 to 1024");
    x.radix = static_cast<uint32_t>(*radix);
  } else if (key == "DVMNodes") {
    auto names = tools::expand(value, place);
    if (!names)
      return std::move(names.error());
    x.nodes = std::move(*names);
  } else if (std::find(other_keys.begin(), other_keys.end(), key)
             != other_keys.end()) {
    x.others[std::string{key}] = value;
  } else {
    return key_place.error(key, "is no key of a bootstrap file; the first are "
                                "ClusterName, DVMControllerHost, DVMNodes, "
                                "DVMPort, DVMRadix");
  }
  return caf::none;
}

/// The controller first, then as written, each once.
caf::error put_in_order(bootstrap_settings& x, const text_place& place) {
  if (x.controller.empty())
    return place.error("", "no controller; add a line DVMControllerHost=NODE");
  if (x.nodes.empty())
    return place.error("", "no nodes; add a line DVMNodes=n[1-4]");
  auto sorted = x.nodes;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    return place.error(*twice,
                       "is named twice; two nodes cannot have one name");
  const auto root = std::find(x.nodes.begin(), x.nodes.end(), x.controller);
  if (root == x.nodes.end())
    x.nodes.insert(x.nodes.begin(), x.controller);
  else
    std::rotate(x.nodes.begin(), root, root + 1);
  return caf::none;
}

} // namespace

caf::expected<bootstrap_settings> parse_bootstrap(std::string_view text,
                                                  const std::string& file) {
  auto result = bootstrap_settings{};
  auto lines = tools::line_reader{text, file};
  if (auto err = lines.check_size())
    return err;
  while (lines.next()) {
    auto rest = lines.line();
    auto place = lines.place();
    auto key = place.take_until(rest, "=");
    if (rest.empty() || key.empty())
      return lines.place().error(lines.line(), "sets nothing; write Key=value");
    place.drop(rest, 1);
    place.skip_blanks(rest);
    key = key.substr(0, key.find_last_not_of(" \t") + 1);
    if (rest.empty())
      return place.error(lines.line(), "has no value; write Key=value");
    if (auto err = set(result, key, rest, lines.place(), place))
      return err;
  }
  if (auto err = put_in_order(result, text_place{file}))
    return err;
  return result;
}

} // namespace troupe
