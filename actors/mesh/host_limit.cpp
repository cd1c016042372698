#include "actors/mesh/host_limit.hpp"

#include <algorithm>
#include <charconv>

namespace troupe {

namespace {

caf::expected<host_limit> parse_host(const std::string& text) {
  auto result = host_limit{};
  const auto colon = text.find(':');
  result.name = text.substr(0, colon);
  if (colon == std::string::npos || text.substr(colon + 1) == "*")
    return result;
  auto slots = uint32_t{0};
  const auto* end = text.data() + text.size();
  const auto [rest, err] = std::from_chars(text.data() + colon + 1, end, slots);
  if (err != std::errc{} || rest != end || slots == 0)
    return make_error(status::bad_param, "\"" + text
                                           + "\" is no node; write NAME or "
                                             "NAME:SLOTS with SLOTS above 0");
  result.slots = slots;
  return result;
}

} // namespace

caf::expected<std::vector<host_limit>>
parse_hosts(const std::vector<info>& infos,
            std::initializer_list<std::string_view> keys) {
  auto result = std::vector<host_limit>{};
  for (const auto& x : infos) {
    const auto* list = x.val.text();
    if (std::find(keys.begin(), keys.end(), x.key) == keys.end()
        || list == nullptr)
      continue;
    for (size_t begin = 0; begin < list->size();) {
      const auto end = std::min(list->find(',', begin), list->size());
      if (end > begin) {
        auto one = parse_host(list->substr(begin, end - begin));
        if (!one)
          return one.error();
        result.push_back(std::move(*one));
      }
      begin = end + 1;
    }
  }
  return result;
}

} // namespace troupe
