#include "c_api/server_job_data.hpp"

#include "adapters/wire/node_map.hpp"
#include "base/make_info.hpp"
#include "messages/attributes.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string_view>

namespace troupe::c_api {

namespace {

/// The bytes of a map, whatever its type; nothing if it is not given.
std::optional<std::string> map_text(const std::vector<info>& infos,
                                    std::string_view key) {
  const auto* x = find(infos, key);
  if (x == nullptr)
    return std::nullopt;
  if (const auto* bytes = std::get_if<std::string>(&x->data))
    return *bytes;
  return std::nullopt;
}

/// `0,1,2`, as in PMIX_LOCAL_PEERS.
std::string to_list(const std::vector<uint32_t>& ranks) {
  auto result = std::string{};
  for (const auto x : ranks)
    result += (result.empty() ? "" : ",") + std::to_string(x);
  return result;
}

/// Adds an info unless there is one of its key.
void add_missing(std::vector<info>& infos, std::string_view key, value val) {
  if (find(infos, key) == nullptr)
    infos.push_back(make_info(key, std::move(val)));
}

/// What stands in arrays of the job level, as if it stood alone.
/// Source: PMIx Standard v5, PMIX_JOB_INFO_ARRAY.
std::vector<info> unfold_job(std::vector<info> infos) {
  auto result = std::vector<info>{};
  for (auto& x : infos)
    if (x.key == attr::job_info_array)
      for (auto& y : infos_of(x.val))
        result.push_back(std::move(y));
    else
      result.push_back(std::move(x));
  return result;
}

std::string short_name(const std::string& name) {
  return name.substr(0, name.find('.'));
}

/// What is derived from the maps.
class completion {
public:
  completion(std::vector<info> infos, std::string hostname, std::string nspace)
    : infos_(unfold_job(std::move(infos))), hostname_(std::move(hostname)),
      nspace_(std::move(nspace)) {
    // nop
  }

  caf::error read_maps() {
    if (const auto text = map_text(infos_, attr::node_map)) {
      auto nodes = wire::parse_node_map(*text);
      if (!nodes)
        return make_error(status::bad_param,
                          "PMIX_NODE_MAP: " + reason_of(nodes.error()));
      nodes_ = std::move(*nodes);
    }
    if (const auto text = map_text(infos_, attr::proc_map)) {
      auto ranks = wire::parse_proc_map(*text);
      if (!ranks)
        return make_error(status::bad_param,
                          "PMIX_PROC_MAP: " + reason_of(ranks.error()));
      ranks_ = std::move(*ranks);
    }
    if (!nodes_.empty() && !ranks_.empty() && nodes_.size() != ranks_.size())
      return make_error(status::bad_param, "PMIX_NODE_MAP has "
                                             + std::to_string(nodes_.size())
                                             + " nodes and PMIX_PROC_MAP "
                                             + std::to_string(ranks_.size())
                                             + "; name the same nodes in both");
    for (const auto* key : {&attr::node_map, &attr::proc_map})
      infos_.erase(std::remove_if(infos_.begin(), infos_.end(),
                                  [&](const info& x) { return x.key == *key; }),
                   infos_.end());
    ranks_.resize(nodes_.size());
    return {};
  }

  /// Which node of the map is this one; its size if none is.
  size_t own_node() const {
    const auto by_name = [&](auto equal) {
      return static_cast<size_t>(
        std::find_if(nodes_.begin(), nodes_.end(), equal) - nodes_.begin());
    };
    const auto exact = by_name([&](const auto& x) { return x == hostname_; });
    if (exact < nodes_.size())
      return exact;
    const auto similar = by_name(
      [&](const auto& x) { return short_name(x) == short_name(hostname_); });
    if (similar < nodes_.size())
      return similar;
    return nodes_.size() == 1 ? 0 : nodes_.size();
  }

  void add_sizes() {
    auto size = size_t{0};
    for (const auto& x : ranks_)
      size += x.size();
    if (size > 0) {
      add_missing(infos_, attr::job_size,
                  value::uint32(static_cast<uint32_t>(size)));
      add_missing(infos_, attr::max_procs,
                  value::uint32(static_cast<uint32_t>(size)));
    }
    if (nodes_.empty())
      return;
    auto list = std::string{};
    for (const auto& x : nodes_)
      list += (list.empty() ? "" : ",") + x;
    add_missing(infos_, attr::node_list, value::string(list));
    add_missing(infos_, attr::num_nodes,
                value::uint32(static_cast<uint32_t>(nodes_.size())));
  }

  /// Gives each node an array, and the host's array of this node, if it has
  /// one, what belongs into it.
  void add_nodes() {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const auto position = node_array(i);
      auto entries = infos_of(infos_[position].val);
      add_missing(entries, attr::hostname, value::string(nodes_[i]));
      add_missing(entries, attr::nodeid,
                  value::uint32(static_cast<uint32_t>(i)));
      if (i == own_node())
        for (const auto key : {attr::local_peers, attr::local_size,
                               attr::localldr, attr::node_size})
          if (const auto* x = find(infos_, key))
            add_missing(entries, key, *x);
      if (!ranks_[i].empty()) {
        add_missing(entries, attr::local_peers,
                    value::string(to_list(ranks_[i])));
        add_missing(entries, attr::local_size,
                    value::uint32(static_cast<uint32_t>(ranks_[i].size())));
        add_missing(entries, attr::localldr, value::rank(ranks_[i].front()));
      }
      // Of other nodes, clients make it from the peers.
      if (i == own_node())
        add_local_procs(entries);
      infos_[position].val = value::infos(std::move(entries));
    }
  }

  /// Says of each rank of the maps where it is.
  void add_places() {
    auto known = std::map<uint32_t, size_t>{};
    for (size_t i = 0; i < infos_.size(); ++i)
      if (infos_[i].key == attr::proc_data)
        if (const auto rank =
              number<uint32_t>(infos_of(infos_[i].val), attr::rank))
          known.emplace(*rank, i);
    for (size_t node = 0; node < nodes_.size(); ++node)
      for (size_t local = 0; local < ranks_[node].size(); ++local) {
        const auto rank = ranks_[node][local];
        const auto i = known.find(rank);
        auto entries = i != known.end() ? infos_of(infos_[i->second].val)
                                        : std::vector<info>{};
        add_missing(entries, attr::rank, value::rank(rank));
        add_missing(entries, attr::hostname, value::string(nodes_[node]));
        add_missing(entries, attr::nodeid,
                    value::uint32(static_cast<uint32_t>(node)));
        const auto here = static_cast<uint16_t>(local);
        add_missing(entries, attr::local_rank, value::uint16(here));
        add_missing(entries, attr::node_rank, value::uint16(here));
        auto array = make_info(attr::proc_data, value::infos(entries));
        if (i != known.end())
          infos_[i->second] = std::move(array);
        else
          infos_.push_back(std::move(array));
      }
  }

  void add_local() {
    const auto own = own_node();
    if (own >= nodes_.size() || ranks_[own].empty())
      return;
    add_missing(infos_, attr::local_peers, value::string(to_list(ranks_[own])));
    add_missing(infos_, attr::local_size,
                value::uint32(static_cast<uint32_t>(ranks_[own].size())));
  }

  void add_own_procs() {
    add_local_procs(infos_);
  }

  std::vector<uint32_t> local_ranks(int num_local) const {
    auto candidates = wire::proc_map{};
    if (const auto peers = text(infos_, attr::local_peers))
      if (auto parsed = wire::parse_proc_map(*peers))
        if (parsed->size() == 1)
          candidates.push_back(parsed->front());
    if (const auto own = own_node(); own < nodes_.size())
      candidates.push_back(ranks_[own]);
    const auto size = number<uint32_t>(infos_, attr::job_size);
    if (size && num_local >= 0 && static_cast<uint32_t>(num_local) == *size) {
      auto all = std::vector<uint32_t>(*size);
      std::iota(all.begin(), all.end(), 0);
      candidates.push_back(std::move(all));
    }
    for (auto& x : candidates)
      if (num_local < 0 || x.size() == static_cast<size_t>(num_local))
        return x;
    return {};
  }

  std::vector<info> take() {
    return std::move(infos_);
  }

private:
  /// Names the processes that PMIX_LOCAL_PEERS only counts.
  void add_local_procs(std::vector<info>& infos) const {
    const auto peers = text(infos, attr::local_peers);
    if (!peers || nspace_.empty())
      return;
    const auto ranks = wire::parse_proc_map(*peers);
    if (!ranks || ranks->size() != 1)
      return;
    auto procs = std::vector<proc_id>{};
    for (const auto rank : ranks->front())
      procs.push_back({nspace_, rank});
    add_missing(infos, attr::local_procs, value::procs(std::move(procs)));
  }

  /// Where the host's array of node `i` is, or a new one.
  size_t node_array(size_t i) {
    for (size_t j = 0; j < infos_.size(); ++j) {
      if (infos_[j].key != attr::node_info_array)
        continue;
      const auto entries = infos_of(infos_[j].val);
      const auto name = text(entries, attr::hostname);
      const auto id = number<uint32_t>(entries, attr::nodeid);
      if (name ? *name == nodes_[i] : id && *id == i)
        return j;
    }
    infos_.push_back(make_info(attr::node_info_array, value::infos({})));
    return infos_.size() - 1;
  }

  std::vector<info> infos_;
  std::string hostname_;
  std::string nspace_;
  std::vector<std::string> nodes_;
  wire::proc_map ranks_;
};

} // namespace

caf::expected<registered_job> complete_job(std::vector<info> infos,
                                           const std::string& hostname,
                                           int num_local,
                                           const std::string& nspace) {
  auto work = completion{std::move(infos), hostname, nspace};
  if (auto err = work.read_maps())
    return err;
  work.add_sizes();
  work.add_nodes();
  work.add_places();
  work.add_local();
  work.add_own_procs();
  auto result = registered_job{};
  result.local_ranks = work.local_ranks(num_local);
  result.infos = work.take();
  return result;
}

} // namespace troupe::c_api
