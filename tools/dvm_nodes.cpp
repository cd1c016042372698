#include "tools/dvm_nodes.hpp"

#include "messages/status.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// The characters of a node's name, and how many it has; those of
/// `node_identity`.
constexpr auto name_characters = std::string_view{
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"};
constexpr size_t longest_name = 255;

caf::error check(const std::string& name) {
  if (name.empty() || name.size() > longest_name
      || name.find_first_not_of(name_characters) != std::string::npos
      || name.front() == '-')
    return make_error(status::bad_param,
                      "'" + name
                        + "' is no name of a node; use letters, digits, '.', "
                          "'_' and '-'");
  return {};
}

/// A name that a host gave itself, made to fit.
std::string usable(std::string name) {
  for (auto& x : name)
    if (name_characters.find(x) == std::string_view::npos)
      x = '-';
  name.resize(std::min(name.size(), longest_name));
  return name.empty() ? "localhost" : name;
}

dvm_node node_of(const host& x) {
  auto result = dvm_node{x.name, {}, x.max_slots};
  if (x.slots > 0)
    result.slots = x.slots;
  return result;
}

} // namespace

caf::expected<std::vector<dvm_node>> order_nodes(const host_list& hosts,
                                                 const this_host& here,
                                                 const std::string& own) {
  auto root = std::optional<dvm_node>{};
  auto result = std::vector<dvm_node>{};
  for (const auto& x : hosts) {
    if (auto err = check(x.name))
      return err;
    const auto is_root = own.empty() ? here.is(x.name) : x.name == own;
    if (is_root && root)
      return make_error(status::bad_param,
                        root->name + " and " + x.name
                          + " are both this node; name it once");
    if (is_root)
      root = node_of(x);
    else
      result.push_back(node_of(x));
  }
  if (!root) {
    root = dvm_node{own.empty() ? usable(here.name()) : own, 0, 0};
    if (auto err = check(root->name))
      return err;
  }
  result.insert(result.begin(), std::move(*root));
  return result;
}

} // namespace troupe
