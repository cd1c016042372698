#include "actors/data/datastore.hpp"

#include "actors/data/qualified_value.hpp"
#include "messages/status.hpp"

#include <set>
#include <string>
#include <utility>

namespace troupe {

namespace {

size_t cost(const std::string& key, const value& val) {
  return key.size() + size_of(val);
}

bool goes_here(scope x) {
  return x == scope::local || x == scope::global;
}

bool goes_elsewhere(scope x) {
  return x == scope::remote || x == scope::global;
}

/// By how much the sum of costs grows when `entry` is put into `map`; an entry
/// that it replaces counts once.
/// @param seen The names put before it by the same commit.
int64_t growth(const std::map<std::string, value>& map,
               std::set<std::string>& seen, const key_value& entry) {
  const auto name = storage_key(entry.key, entry.val);
  auto result = static_cast<int64_t>(cost(name, entry.val));
  const auto i = map.find(name);
  if (seen.insert(name).second && i != map.end())
    result -= static_cast<int64_t>(cost(i->first, i->second));
  return result;
}

/// Puts an entry and keeps the sum of costs up to date.
void put(std::map<std::string, value>& map, size_t& size_bytes,
         const key_value& entry) {
  const auto name = storage_key(entry.key, entry.val);
  const auto i = map.find(name);
  if (i != map.end())
    size_bytes -= cost(i->first, i->second);
  size_bytes += cost(name, entry.val);
  map.insert_or_assign(name, entry.val);
}

} // namespace

size_t size_of(const value& x) {
  auto result = size_t{16};
  if (const auto* text = std::get_if<std::string>(&x.data))
    result += text->size();
  else if (const auto* array = x.array())
    for (const auto& element : array->elements)
      result += size_of(element);
  else if (const auto* entry = std::get_if<box<info>>(&x.data))
    result += (*entry)->key.size() + size_of((*entry)->val);
  return result;
}

status datastore::commit(uint32_t rank,
                         const std::vector<posted_data>& blocks) {
  static const auto nothing = posted{};
  const auto i = ranks_.find(rank);
  const auto& before = i != ranks_.end() ? i->second : nothing;
  auto seen_here = std::set<std::string>{};
  auto seen_elsewhere = std::set<std::string>{};
  auto surplus = int64_t{0};
  for (const auto& block : blocks)
    for (const auto& entry : block.entries) {
      if (goes_here(block.visible_to))
        surplus += growth(before.here, seen_here, entry);
      if (goes_elsewhere(block.visible_to))
        surplus += growth(before.elsewhere, seen_elsewhere, entry);
    }
  if (surplus > 0) {
    const auto more = static_cast<size_t>(surplus);
    if (before.size_bytes + more > bounds_.process_bytes
        || size_bytes_ + more > bounds_.namespace_bytes)
      return status::out_of_resource;
  }
  auto& mine = ranks_[rank];
  size_bytes_ -= mine.size_bytes;
  for (const auto& block : blocks)
    for (const auto& entry : block.entries) {
      if (goes_here(block.visible_to))
        put(mine.here, mine.size_bytes, entry);
      if (goes_elsewhere(block.visible_to))
        put(mine.elsewhere, mine.size_bytes, entry);
    }
  size_bytes_ += mine.size_bytes;
  return status::success;
}

void datastore::store_remote(uint32_t rank, std::vector<key_value> entries) {
  auto& theirs = ranks_[rank];
  const auto before = theirs.size_bytes;
  for (const auto& entry : entries)
    put(theirs.here, theirs.size_bytes, entry);
  size_bytes_ += theirs.size_bytes - before;
}

bool datastore::has_committed(uint32_t rank) const {
  return ranks_.count(rank) > 0;
}

const std::map<std::string, value>&
datastore::visible_here(uint32_t rank) const {
  static const auto nothing = std::map<std::string, value>{};
  const auto i = ranks_.find(rank);
  return i != ranks_.end() ? i->second.here : nothing;
}

std::vector<key_value> datastore::visible_elsewhere(uint32_t rank) const {
  auto result = std::vector<key_value>{};
  const auto i = ranks_.find(rank);
  if (i != ranks_.end())
    for (const auto& [key, val] : i->second.elsewhere)
      result.push_back({std::string{posted_key(key)}, val});
  return result;
}

} // namespace troupe
