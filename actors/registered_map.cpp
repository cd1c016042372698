#include "actors/registered_map.hpp"

#include "messages/attributes.hpp"

#include <algorithm>
#include <map>

namespace troupe {

namespace {

constexpr auto max_name_length = size_t{255};
constexpr auto max_job_length = size_t{40};

/// More nodes than any machine has: indices beyond are nonsense.
constexpr auto max_nodes = uint32_t{1} << 20;

std::string replace_others(std::string x) {
  std::replace_if(
    x.begin(), x.end(),
    [](char c) {
      const auto is_fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
                           || (c >= '0' && c <= '9') || c == '.' || c == '_'
                           || c == '-';
      return !is_fine;
    },
    '_');
  return x;
}

/// FNV-1a: the same on all nodes.
uint64_t hash(std::string_view text) {
  auto result = uint64_t{14695981039346656037u};
  for (const auto c : text)
    result = (result ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return result;
}

} // namespace

std::optional<registered_map> map_of(const register_nspace& what) {
  auto nodes = std::map<uint32_t, node_share>{};
  auto own = std::optional<uint32_t>{};
  for (const auto& x : what.infos) {
    const auto is_node = x.key == attr::node_info_array;
    if (!is_node && x.key != attr::proc_data)
      continue;
    const auto entries = infos_of(x.val);
    const auto id = number<uint32_t>(entries, attr::nodeid);
    const auto name = text(entries, attr::hostname);
    if (!id || *id >= max_nodes)
      continue;
    auto& share = nodes[*id];
    share.node = *id;
    // The arrays of nodes come from the map of nodes; what processes say of
    // their nodes is wrong under Slurm 22.05.
    if (name && (is_node || share.hostname.empty()))
      share.hostname = *name;
    const auto rank = number<uint32_t>(entries, attr::rank);
    if (is_node || !rank || *rank > rank_valid_max)
      continue;
    auto placed = placed_proc{};
    placed.rank = *rank;
    share.procs.push_back(std::move(placed));
    if (std::find(what.local_ranks.begin(), what.local_ranks.end(), *rank)
        != what.local_ranks.end())
      own = *id;
  }
  // Each place is taken, and this node has one.
  if (!own || nodes.rbegin()->first + 1 != nodes.size())
    return std::nullopt;
  auto result = registered_map{};
  result.own = *own;
  result.map.nspace = what.nspace;
  for (auto& [id, share] : nodes) {
    if (share.hostname.empty())
      share.hostname = "node" + std::to_string(id);
    result.map.shares.push_back(std::move(share));
  }
  return result;
}

std::string mesh_name(const std::string& nspace) {
  constexpr auto digits = std::string_view{"0123456789abcdef"};
  auto result = replace_others(nspace.substr(0, max_job_length)) + "-";
  const auto number = hash(nspace);
  for (auto shift = 60; shift >= 0; shift -= 4)
    result.push_back(digits[number >> shift & 15]);
  return result;
}

std::string mesh_node_name(const std::string& hostname) {
  return hostname.empty() ? "_"
                          : replace_others(hostname.substr(0, max_name_length));
}

} // namespace troupe
