#include "adapters/node_store/job_bytes.hpp"

#include <algorithm>
#include <cstring>

namespace troupe {

std::string join_job(std::string_view level, std::vector<job_part> parts) {
  std::stable_sort(
    parts.begin(), parts.end(),
    [](const job_part& x, const job_part& y) { return x.rank < y.rank; });
  auto size = sizeof(job_bytes::header)
              + parts.size() * sizeof(job_bytes::place) + level.size();
  auto offset = uint64_t{size};
  for (const auto& x : parts)
    size += x.bytes.size();
  auto result = std::string{};
  result.reserve(size);
  const auto add = [&](const auto& x) {
    char bytes[sizeof(x)];
    std::memcpy(bytes, &x, sizeof(x));
    result.append(bytes, sizeof(bytes));
  };
  add(job_bytes::header{parts.size(), level.size()});
  for (const auto& x : parts) {
    const auto n = x.bytes.size();
    add(job_bytes::place{x.rank, static_cast<uint32_t>(n), offset});
    offset += n;
  }
  result += level;
  for (const auto& x : parts)
    result += x.bytes;
  return result;
}

job_bytes::job_bytes(std::string_view all, const header& head)
  : all_(all), parts_(static_cast<size_t>(head.parts)),
    level_bytes_(static_cast<size_t>(head.level_bytes)) {
  // nop
}

std::optional<job_bytes> job_bytes::read(std::string_view all) {
  auto head = header{};
  if (all.size() < sizeof(head))
    return std::nullopt;
  std::memcpy(&head, all.data(), sizeof(head));
  const auto rest = all.size() - sizeof(head);
  if (head.parts > rest / sizeof(place)
      || head.level_bytes > rest - head.parts * sizeof(place))
    return std::nullopt;
  return job_bytes{all, head};
}

std::string job_bytes::level() const {
  const auto begin = sizeof(header) + parts_ * sizeof(place);
  return std::string{all_.substr(begin, level_bytes_)};
}

job_bytes::place job_bytes::at(size_t i) const {
  auto result = place{};
  std::memcpy(&result, all_.data() + sizeof(header) + i * sizeof(result),
              sizeof(result));
  return result;
}

size_t job_bytes::first_of(uint32_t rank) const {
  auto result = size_t{0};
  for (auto n = parts_; n > 0;) {
    const auto half = n / 2;
    if (at(result + half).rank < rank) {
      result += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  return result;
}

std::vector<std::string> job_bytes::of(uint32_t rank) const {
  auto result = std::vector<std::string>{};
  // All parts together are no more than there are bytes.
  auto left = all_.size();
  for (auto i = first_of(rank); i < parts_; ++i) {
    const auto x = at(i);
    if (x.rank != rank || x.offset > all_.size()
        || x.size > all_.size() - x.offset || x.size > left)
      break;
    left -= x.size;
    result.emplace_back(all_.substr(static_cast<size_t>(x.offset), x.size));
  }
  return result;
}

std::vector<uint32_t> job_bytes::ranks() const {
  auto result = std::vector<uint32_t>{};
  for (size_t i = 0; i < parts_; ++i)
    if (const auto rank = at(i).rank; result.empty() || result.back() != rank)
      result.push_back(rank);
  return result;
}

} // namespace troupe
