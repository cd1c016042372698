#include "actors/mesh/embedded/registered_map.hpp"

#include "messages/attributes.hpp"

#include <algorithm>
#include <charconv>
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

/// Ranks in a list such as `0,1,2`; none if it is anything else.
std::vector<uint32_t> ranks_of(const std::optional<std::string>& list) {
  auto result = std::vector<uint32_t>{};
  if (!list)
    return result;
  const auto* next = list->data();
  const auto* const end = next + list->size();
  while (next < end) {
    auto rank = uint32_t{0};
    const auto [rest, error] = std::from_chars(next, end, rank);
    if (error != std::errc{} || rank > rank_valid_max
        || (rest != end && *rest != ','))
      return {};
    result.push_back(rank);
    next = rest == end ? end : rest + 1;
  }
  return result;
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
  auto names = std::map<uint32_t, std::string>{};
  auto places = std::map<uint32_t, uint32_t>{}; // rank, node
  auto listed = std::map<uint32_t, uint32_t>{};
  for (const auto& x : what.infos) {
    const auto is_node = x.key == attr::node_info_array;
    if (!is_node && x.key != attr::proc_data)
      continue;
    const auto entries = infos_of(x.val);
    const auto id = number<uint32_t>(entries, attr::nodeid);
    if (!id || *id >= max_nodes)
      continue;
    auto& name = names[*id];
    if (is_node || name.empty())
      name = text(entries, attr::hostname).value_or(name);
    if (is_node) {
      for (const auto rank : ranks_of(text(entries, attr::local_peers)))
        listed.emplace(rank, *id);
    } else if (const auto rank = number<uint32_t>(entries, attr::rank);
               rank && *rank <= rank_valid_max) {
      places.emplace(*rank, *id);
    }
  }
  // What nodes say of their processes comes from the maps; what processes say
  // of their nodes is, under Slurm 22.05, the node that registers them.
  listed.merge(places);
  auto own = std::optional<uint32_t>{};
  for (const auto rank : what.local_ranks)
    if (const auto i = listed.find(rank); i != listed.end() && !own)
      own = i->second;
  // Each place is taken, and this node has one.
  if (!own || names.rbegin()->first + 1 != names.size())
    return std::nullopt;
  auto result = registered_map{};
  result.own = *own;
  result.map.nspace = what.nspace;
  for (const auto& [id, name] : names) {
    auto share = node_share{};
    share.node = id;
    share.hostname = name.empty() ? "node" + std::to_string(id) : name;
    result.map.shares.push_back(std::move(share));
  }
  for (const auto& [rank, node] : listed) {
    auto placed = placed_proc{};
    placed.rank = rank;
    result.map.shares[node].procs.push_back(std::move(placed));
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
