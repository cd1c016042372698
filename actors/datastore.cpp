#include "actors/datastore.hpp"

#include "messages/status.hpp"

#include <utility>

namespace troupe {

namespace {

size_t cost(const std::string& key, const value& val) {
  return key.size() + size_of(val);
}

/// Puts an entry and keeps the sum of costs up to date.
void put(std::map<std::string, value>& map, size_t& size_bytes,
         const key_value& entry) {
  const auto i = map.find(entry.key);
  if (i != map.end())
    size_bytes -= cost(i->first, i->second);
  size_bytes += cost(entry.key, entry.val);
  map.insert_or_assign(entry.key, entry.val);
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
  auto incoming = size_t{0};
  for (const auto& block : blocks)
    for (const auto& entry : block.entries)
      incoming += cost(entry.key, entry.val);
  auto& mine = ranks_[rank];
  // A commit repeats what was posted before, so only its surplus counts.
  const auto surplus =
    incoming > mine.size_bytes ? incoming - mine.size_bytes : 0;
  if (mine.size_bytes + surplus > bounds_.process_bytes
      || size_bytes_ + surplus > bounds_.namespace_bytes)
    return status::out_of_resource;
  const auto before = mine.size_bytes;
  for (const auto& block : blocks) {
    const auto to_here =
      block.visible_to == scope::local || block.visible_to == scope::global;
    const auto to_elsewhere =
      block.visible_to == scope::remote || block.visible_to == scope::global;
    for (const auto& entry : block.entries) {
      if (to_here)
        put(mine.here, mine.size_bytes, entry);
      if (to_elsewhere)
        put(mine.elsewhere, mine.size_bytes, entry);
    }
  }
  size_bytes_ += mine.size_bytes - before;
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
      result.push_back({key, val});
  return result;
}

} // namespace troupe
