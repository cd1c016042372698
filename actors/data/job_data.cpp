#include "actors/data/job_data.hpp"

#include "messages/attributes.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

/// The arrays under `array_key`, one list of infos each.
std::vector<std::vector<info>> arrays(const std::vector<key_value>& entries,
                                      std::string_view array_key) {
  auto result = std::vector<std::vector<info>>{};
  for (const auto& x : entries)
    if (x.key == array_key)
      result.push_back(infos_of(x.val));
  return result;
}

/// Whether two lists agree on `key`; true if `wanted` does not have it.
bool agrees(const std::vector<info>& wanted, const std::vector<info>& have,
            std::string_view key) {
  const auto* x = find(wanted, key);
  if (x == nullptr)
    return true;
  const auto* y = find(have, key);
  if (y == nullptr)
    return false;
  if (const auto number = x->number<uint64_t>())
    return y->number<uint64_t>() == number;
  const auto* text = x->text();
  return text != nullptr && y->text() != nullptr && *text == *y->text();
}

} // namespace

job_data::job_data(std::string nspace, const std::vector<info>& infos) {
  auto all = job_info{};
  all.nspace = std::move(nspace);
  for (const auto& x : infos) {
    if (x.key == attr::proc_data) {
      auto data = rank_data{};
      auto elements = infos_of(x.val);
      const auto rank = number<uint32_t>(elements, attr::rank);
      if (!rank)
        continue;
      data.rank = *rank;
      for (auto& y : elements)
        if (y.key != attr::rank)
          data.entries.push_back({std::move(y.key), std::move(y.val)});
      index_[data.rank] = all.ranks.size();
      all.ranks.push_back(std::move(data));
    } else if (x.key == attr::job_info_array) {
      for (auto& y : infos_of(x.val))
        all.entries.push_back({std::move(y.key), std::move(y.val)});
    } else {
      all.entries.push_back({x.key, x.val});
    }
  }
  all_ = std::make_shared<const job_info>(std::move(all));
}

const std::vector<key_value>* job_data::of_rank(uint32_t rank) const {
  const auto i = index_.find(rank);
  return i != index_.end() ? &all_->ranks[i->second].entries : nullptr;
}

std::vector<info> job_data::of_node(const std::vector<info>& directives) const {
  for (auto& node : arrays(all_->entries, attr::node_info_array))
    if (agrees(directives, node, attr::hostname)
        && agrees(directives, node, attr::nodeid))
      return std::move(node);
  return {};
}

std::vector<info> job_data::of_app(const std::vector<info>& directives) const {
  for (auto& app : arrays(all_->entries, attr::app_info_array))
    if (agrees(directives, app, attr::appnum))
      return std::move(app);
  return {};
}

std::vector<info> job_data::of_session() const {
  for (auto& session : arrays(all_->entries, attr::session_info_array))
    return std::move(session);
  return {};
}

std::optional<uint32_t> job_data::job_size() const {
  const auto* x = find(attr::job_size);
  return x != nullptr ? x->number<uint32_t>() : std::nullopt;
}

uint32_t job_data::count_restart(uint32_t rank) {
  const auto i = index_.find(rank);
  if (i == index_.end())
    return 0;
  // Others may be reading what there is.
  auto all = *all_;
  auto& entries = all.ranks[i->second].entries;
  auto result = uint32_t{1};
  const auto known =
    std::find_if(entries.begin(), entries.end(), [](const key_value& x) {
      return x.key == attr::reincarnation;
    });
  if (known != entries.end()) {
    result += known->val.number<uint32_t>().value_or(0);
    known->val = value::uint32(result);
  } else {
    entries.push_back(
      {std::string{attr::reincarnation}, value::uint32(result)});
  }
  all_ = std::make_shared<const job_info>(std::move(all));
  return result;
}

const value* job_data::find(std::string_view key) const {
  return troupe::find(all_->entries, key);
}

const value* find(const std::vector<key_value>& entries, std::string_view key) {
  for (const auto& x : entries)
    if (x.key == key)
      return &x.val;
  return nullptr;
}

} // namespace troupe
