#include "actors/io/io_patterns.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

template <class F>
void each_channel(io_channels x, F f) {
  for (size_t bit = 0; bit < 16; ++bit)
    if ((static_cast<uint16_t>(x) >> bit & 1) != 0)
      f(bit);
}

} // namespace

bool covers(const proc_id& pattern, const proc_id& proc) {
  return (pattern.nspace.empty() || pattern.nspace == proc.nspace)
         && (pattern.rank == rank_wildcard || pattern.rank == proc.rank);
}

void io_patterns::add(uint64_t id, std::vector<proc_id> sources,
                      io_channels channels) {
  std::sort(sources.begin(), sources.end());
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  for (const auto& x : sources) {
    auto& at = index_[x.nspace][x.rank];
    at.ids.emplace(id, channels);
    each_channel(channels, [&](size_t bit) { ++at.counts[bit]; });
  }
  entries_[id] = {std::move(sources), channels};
}

void io_patterns::unlink(uint64_t id, const proc_id& source,
                         io_channels channels) {
  const auto i = index_.find(source.nspace);
  const auto j = i->second.find(source.rank);
  j->second.ids.erase(id);
  each_channel(channels, [&](size_t bit) { --j->second.counts[bit]; });
  if (j->second.ids.empty())
    i->second.erase(j);
  if (i->second.empty())
    index_.erase(i);
}

void io_patterns::remove(uint64_t id) {
  const auto node = entries_.extract(id);
  if (node.empty())
    return;
  for (const auto& x : node.mapped().sources)
    unlink(id, x, node.mapped().channels);
}

std::vector<uint64_t> io_patterns::forget(const std::string& nspace) {
  auto result = std::vector<uint64_t>{};
  const auto i = index_.find(nspace);
  if (i == index_.end())
    return result;
  auto ids = std::vector<uint64_t>{};
  for (const auto& [rank, at] : i->second)
    for (const auto& [id, channels] : at.ids)
      ids.push_back(id);
  index_.erase(i);
  for (const auto id : ids) {
    const auto j = entries_.find(id);
    if (j == entries_.end())
      continue;
    auto& sources = j->second.sources;
    sources.erase(
      std::remove_if(sources.begin(), sources.end(),
                     [&](const proc_id& x) { return x.nspace == nspace; }),
      sources.end());
    if (!sources.empty())
      continue;
    entries_.erase(j);
    result.push_back(id);
  }
  return result;
}

template <class F>
void io_patterns::visit(const io_stream& stream, F f) const {
  const auto look = [&](const std::string& nspace) {
    const auto i = index_.find(nspace);
    if (i == index_.end())
      return;
    for (const auto rank : {stream.source.rank, rank_wildcard})
      if (const auto j = i->second.find(rank); j != i->second.end())
        f(j->second);
  };
  look(stream.source.nspace);
  if (!stream.source.nspace.empty())
    look({});
}

std::vector<uint64_t> io_patterns::of(const io_stream& stream) const {
  auto result = std::vector<uint64_t>{};
  visit(stream, [&](const slot& at) {
    for (const auto& [id, channels] : at.ids)
      if (has(channels, stream.channel))
        result.push_back(id);
  });
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

bool io_patterns::wants(const io_stream& stream) const {
  auto result = false;
  visit(stream, [&](const slot& at) {
    each_channel(stream.channel,
                 [&](size_t bit) { result = result || at.counts[bit] > 0; });
  });
  return result;
}

io_interest io_patterns::wanted(const std::string& nspace) const {
  auto result = io_interest{};
  result.nspace = nspace;
  const auto i = index_.find(nspace);
  if (i == index_.end())
    return result;
  auto channels = uint16_t{0};
  for (const auto& [rank, at] : i->second) {
    for (size_t bit = 0; bit < 16; ++bit)
      if (at.counts[bit] > 0)
        channels |= static_cast<uint16_t>(1U << bit);
    result.ranks.push_back(rank);
  }
  if (i->second.count(rank_wildcard) > 0)
    result.ranks = {rank_wildcard};
  result.channels = static_cast<io_channels>(channels);
  return result;
}

std::vector<std::string> io_patterns::nspaces() const {
  auto result = std::vector<std::string>{};
  for (const auto& [nspace, ranks] : index_)
    result.push_back(nspace);
  return result;
}

} // namespace troupe
