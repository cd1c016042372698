#include "adapters/node_store/shared_job_data.hpp"

#include "actors/data/get_options.hpp"
#include "adapters/node_store/job_bytes.hpp"
#include "adapters/node_store/store_values.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>

namespace troupe {

namespace {

class shared_ranks final : public packed_ranks {
public:
  shared_ranks(const job_bytes& data, std::shared_ptr<const void> owner)
    : data_(data), owner_(std::move(owner)) {
    // nop
  }

  std::vector<key_value> of(uint32_t rank) const override {
    auto result = std::vector<key_value>{};
    if (dropped_.count(rank) > 0)
      return result;
    for (const auto& x : data_.of(rank))
      if (auto entries = unpack_entries_from_store(x))
        std::move(entries->begin(), entries->end(), std::back_inserter(result));
    return result;
  }

  void drop(uint32_t rank) override {
    dropped_.insert(rank);
  }

  std::vector<uint32_t> ranks() const override {
    auto result = data_.ranks();
    const auto is_dropped = [&](uint32_t x) { return dropped_.count(x) > 0; };
    result.erase(std::remove_if(result.begin(), result.end(), is_dropped),
                 result.end());
    return result;
  }

private:
  job_bytes data_;

  /// Of the memory that these bytes are in.
  std::shared_ptr<const void> owner_;

  std::unordered_set<uint32_t> dropped_;
};

} // namespace

std::optional<std::string> pack_shared_job(const job_info& x) {
  auto level = std::string{};
  if (!pack_entries_for_store(x.entries, level))
    return std::nullopt;
  auto parts = std::vector<job_part>{};
  parts.reserve(x.ranks.size());
  for (const auto& rank : x.ranks) {
    for (const auto& entry : rank.entries)
      if (!is_reserved_key(entry.key))
        return std::nullopt;
    auto& part = parts.emplace_back();
    part.rank = rank.rank;
    if (!pack_entries_for_store(rank.entries, part.bytes))
      return std::nullopt;
  }
  return join_job(level, std::move(parts));
}

std::optional<shared_job> read_shared_job(std::string_view bytes,
                                          std::shared_ptr<const void> owner) {
  const auto data = job_bytes::read(bytes);
  if (!data)
    return std::nullopt;
  auto entries = unpack_entries_from_store(data->level());
  if (!entries)
    return std::nullopt;
  return shared_job{std::move(*entries),
                    std::make_unique<shared_ranks>(*data, std::move(owner))};
}

} // namespace troupe
