#include "tools/chosen_nodes.hpp"

#include "adapters/wire/number_range.hpp"
#include "messages/status.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// Splits at commas outside of brackets.
std::vector<std::string_view> parts_of(std::string_view text) {
  auto result = std::vector<std::string_view>{};
  auto depth = 0;
  auto begin = size_t{0};
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
    if (text[i] == ',' && depth <= 0) {
      result.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  result.push_back(text.substr(begin));
  return result;
}

caf::error add(std::vector<chosen_node>& nodes, std::string_view part) {
  const auto colon = part.rfind(':');
  auto slots = std::optional<uint32_t>{};
  if (colon != std::string_view::npos && part.substr(colon + 1) != "*") {
    const auto number = wire::parse_number(part.substr(colon + 1));
    if (!number || *number == 0 || *number > INT32_MAX)
      return make_error(status::bad_param,
                        "--host: '" + std::string{part}
                          + "' has no number of slots; write NAME:4, NAME:* "
                            "or NAME");
    slots = static_cast<uint32_t>(*number);
  }
  auto names = expand_names(part.substr(0, colon), "--host");
  if (!names)
    return std::move(names.error());
  for (auto& name : *names)
    nodes.push_back({std::move(name), slots});
  return {};
}

/// A name means a node as a whole, or up to the node's first dot.
bool is_called(std::string_view node, std::string_view name) {
  return node == name || node.substr(0, node.find('.')) == name;
}

} // namespace

caf::expected<std::vector<chosen_node>> choose_nodes(const dvm_options& x,
                                                     const file_reader& read) {
  auto result = std::vector<chosen_node>{};
  if (!x.hosts.empty() && !x.hostfile.empty())
    return make_error(status::bad_param,
                      "--host and --hostfile both name nodes; give one of "
                      "them");
  if (!x.hosts.empty()) {
    for (const auto part : parts_of(x.hosts))
      if (auto err = add(result, part))
        return err;
  } else if (!x.hostfile.empty()) {
    const auto text = read(x.hostfile);
    if (!text)
      return text.error();
    const auto hosts = parse_hostfile(*text, x.hostfile);
    if (!hosts)
      return hosts.error();
    for (const auto& y : *hosts) {
      auto& next = result.emplace_back();
      next.name = y.name;
      if (y.slots > 0)
        next.slots = y.slots;
      next.max_slots = y.max_slots;
    }
  }
  return result;
}

std::string to_string(const std::vector<chosen_node>& nodes) {
  auto result = std::string{};
  for (const auto& x : nodes) {
    result += (result.empty() ? "" : ",") + x.name;
    if (x.slots)
      result += ":" + std::to_string(*x.slots);
  }
  return result;
}

std::string max_slots_of(const std::vector<chosen_node>& nodes) {
  auto result = std::string{};
  for (const auto& x : nodes)
    if (x.max_slots > 0)
      result += (result.empty() ? "" : ",") + x.name + ":"
                + std::to_string(x.max_slots);
  return result;
}

uint32_t slots_of(const std::vector<chosen_node>& nodes, std::string_view name,
                  uint32_t slots) {
  if (nodes.empty())
    return slots;
  auto wanted = uint64_t{0};
  for (const auto& x : nodes)
    if (is_called(name, x.name))
      wanted += x.slots.value_or(slots);
  return static_cast<uint32_t>(std::min<uint64_t>(wanted, slots));
}

} // namespace troupe
