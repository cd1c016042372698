#include "actors/data/job_locations.hpp"

#include <algorithm>
#include <iterator>
#include <set>

namespace troupe {

// -- layouts ------------------------------------------------------------------

uint32_t job_locations::count(const layout& x) {
  auto result = uint32_t{0};
  for (const auto& row : x.nodes)
    result += row.count;
  return result;
}

uint32_t job_locations::nth_node(const layout& x, uint32_t n) {
  for (const auto& row : x.nodes) {
    if (n < row.count)
      return row.first + n;
    n -= row.count;
  }
  return x.nodes.front().first;
}

std::optional<uint32_t> job_locations::find(const layout& x, uint32_t rank) {
  if (rank >= x.size)
    return std::nullopt;
  if (x.block > 0)
    return nth_node(x, rank / x.block % count(x));
  auto i = std::upper_bound(
    x.runs.begin(), x.runs.end(), rank,
    [](uint32_t value, const run& row) { return value < row.first; });
  if (i == x.runs.begin())
    return std::nullopt;
  --i;
  if (rank - i->first >= i->count)
    return std::nullopt;
  return i->node;
}

std::vector<job_locations::run> job_locations::runs_of(const job_map& map) {
  auto ranks = std::vector<std::pair<uint32_t, uint32_t>>{};
  for (const auto& share : map.shares)
    for (const auto& proc : share.procs)
      ranks.emplace_back(proc.rank, share.node);
  std::sort(ranks.begin(), ranks.end());
  auto result = std::vector<run>{};
  for (const auto& [rank, node] : ranks) {
    if (!result.empty() && result.back().node == node
        && result.back().first + result.back().count == rank)
      ++result.back().count;
    else if (result.empty()
             || result.back().first + result.back().count <= rank)
      result.push_back({rank, 1, node});
  }
  return result;
}

bool job_locations::make_regular(layout& x, const std::vector<run>& runs) {
  const auto nodes = count(x);
  if (runs.empty() || runs.front().first != 0 || nodes == 0)
    return false;
  // On one node all is one block.
  const auto block = runs.front().count;
  auto next = uint32_t{0};
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto& row = runs[i];
    const auto is_last = i + 1 == runs.size();
    if (row.first != next || (is_last ? row.count > block : row.count != block)
        || row.node != nth_node(x, row.first / block % nodes))
      return false;
    next += row.count;
  }
  x.block = block;
  return true;
}

// -- the class ----------------------------------------------------------------

void job_locations::add(const job_map& map) {
  auto nodes = std::set<uint32_t>{};
  auto result = layout{};
  for (const auto& share : map.shares) {
    if (share.procs.empty())
      continue;
    nodes.insert(share.node);
    names_[share.node] = share.hostname;
  }
  for (const auto node : nodes) {
    if (!result.nodes.empty()
        && result.nodes.back().first + result.nodes.back().count == node)
      ++result.nodes.back().count;
    else
      result.nodes.push_back({node, 1});
  }
  auto runs = runs_of(map);
  for (const auto& row : runs)
    result.size = row.first + row.count;
  if (!make_regular(result, runs))
    result.runs = std::move(runs);
  auto& x = jobs_[map.nspace];
  result.lost = std::move(x.lost);
  result.lost.insert(map.lost.begin(), map.lost.end());
  x = std::move(result);
}

void job_locations::node_lost(uint32_t node) {
  for (auto& [nspace, x] : jobs_)
    for (const auto& row : x.nodes)
      if (node >= row.first && node - row.first < row.count)
        x.lost.insert(node);
}

void job_locations::remove(const std::string& nspace) {
  jobs_.erase(nspace);
}

std::optional<std::string>
job_locations::first_unknown(const std::vector<proc_id>& procs) const {
  for (const auto& proc : procs)
    if (!knows(proc.nspace))
      return proc.nspace;
  return std::nullopt;
}

std::optional<uint32_t> job_locations::node_of(const proc_id& proc) const {
  const auto i = jobs_.find(proc.nspace);
  return i != jobs_.end() ? find(i->second, proc.rank) : std::nullopt;
}

std::string job_locations::host_of(const proc_id& proc) const {
  const auto node = node_of(proc);
  const auto i = node ? names_.find(*node) : names_.end();
  return i != names_.end() ? i->second : std::string{};
}

std::vector<uint32_t> job_locations::nodes_of(const std::string& nspace) const {
  auto result = std::vector<uint32_t>{};
  const auto i = jobs_.find(nspace);
  if (i == jobs_.end())
    return result;
  result.reserve(count(i->second));
  for (const auto& row : i->second.nodes)
    for (uint32_t n = 0; n < row.count; ++n)
      result.push_back(row.first + n);
  return result;
}

rank_list job_locations::rows_of_hosts(const std::string& nspace) const {
  auto result = rank_list{};
  const auto i = jobs_.find(nspace);
  if (i == jobs_.end())
    return result;
  const auto& lost = i->second.lost;
  for (const auto& row : i->second.nodes) {
    const auto end = uint64_t{row.first} + row.count;
    auto next = uint64_t{row.first};
    const auto add_before = [&](uint64_t limit) {
      result.append_run(
        {static_cast<uint32_t>(next), static_cast<uint32_t>(limit - next)});
    };
    for (auto gone = lost.lower_bound(row.first);
         gone != lost.end() && *gone < end; ++gone) {
      add_before(*gone);
      next = uint64_t{*gone} + 1;
    }
    add_before(end);
  }
  return result;
}

std::optional<uint32_t>
job_locations::first_node_of(const std::string& nspace) const {
  const auto i = jobs_.find(nspace);
  if (i == jobs_.end() || i->second.nodes.empty())
    return std::nullopt;
  return i->second.nodes.front().first;
}

std::vector<uint32_t> job_locations::lost_of(const std::string& nspace) const {
  const auto i = jobs_.find(nspace);
  if (i == jobs_.end())
    return {};
  return {i->second.lost.begin(), i->second.lost.end()};
}

job_locations::node_list
job_locations::list_of(const std::vector<proc_id>& procs) const {
  const auto make = [&] {
    return std::make_shared<const std::vector<uint32_t>>(nodes_of(procs));
  };
  const auto is_one = procs.size() == 1 && procs.front().rank == rank_wildcard;
  const auto i = is_one ? jobs_.find(procs.front().nspace) : jobs_.end();
  if (i == jobs_.end())
    return make();
  auto& list = i->second.list;
  if (list == nullptr)
    list = make();
  return list;
}

std::vector<uint32_t>
job_locations::nodes_of(const std::vector<proc_id>& procs) const {
  // All of one job, most often.
  if (procs.size() == 1 && procs.front().rank == rank_wildcard)
    return nodes_of(procs.front().nspace);
  auto result = std::vector<uint32_t>{};
  for (const auto& proc : procs) {
    if (proc.rank == rank_wildcard) {
      const auto more = nodes_of(proc.nspace);
      result.insert(result.end(), more.begin(), more.end());
    } else if (const auto node = node_of(proc)) {
      result.push_back(*node);
    }
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::vector<proc_id>
job_locations::procs_on(uint32_t node,
                        const std::vector<proc_id>& procs) const {
  auto result = std::vector<proc_id>{};
  for (const auto& proc : procs) {
    if (proc.rank == rank_wildcard) {
      for (const auto rank : ranks_on(node, proc.nspace))
        result.push_back({proc.nspace, rank});
    } else if (node_of(proc) == node) {
      result.push_back(proc);
    }
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::vector<uint32_t> job_locations::ranks_on(uint32_t node,
                                              const std::string& nspace) const {
  auto result = std::vector<uint32_t>{};
  const auto i = jobs_.find(nspace);
  if (i == jobs_.end())
    return result;
  for (uint32_t rank = 0; rank < i->second.size; ++rank)
    if (find(i->second, rank) == node)
      result.push_back(rank);
  return result;
}

uint32_t job_locations::size_of(const std::string& nspace) const {
  const auto i = jobs_.find(nspace);
  return i != jobs_.end() ? i->second.size : 0;
}

uint32_t job_locations::row_from(const proc_id& proc) const {
  const auto job = jobs_.find(proc.nspace);
  if (job == jobs_.end() || proc.rank >= job->second.size)
    return UINT32_MAX;
  const auto& x = job->second;
  const auto rest = x.size - proc.rank;
  if (x.block > 0)
    return std::min(rest, x.block - proc.rank % x.block);
  const auto next = std::upper_bound(
    x.runs.begin(), x.runs.end(), proc.rank,
    [](uint32_t rank, const run& row) { return rank < row.first; });
  if (next != x.runs.begin())
    if (const auto& row = *std::prev(next); proc.rank - row.first < row.count)
      return row.count - (proc.rank - row.first);
  return next != x.runs.end() ? next->first - proc.rank : rest;
}

uint32_t job_locations::end_of_nodes() const {
  return names_.empty() ? 0 : names_.rbegin()->first + 1;
}

std::vector<std::string> job_locations::nspaces() const {
  auto result = std::vector<std::string>{};
  for (const auto& [nspace, unused] : jobs_)
    result.push_back(nspace);
  return result;
}

size_t job_locations::cost_of(const std::string& nspace) const {
  const auto i = jobs_.find(nspace);
  return i == jobs_.end() ? 0 : i->second.nodes.size() + i->second.runs.size();
}

} // namespace troupe
