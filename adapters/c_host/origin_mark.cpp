#include "adapters/c_host/origin_mark.hpp"

#include <algorithm>
#include <string_view>

namespace troupe {

namespace {

constexpr std::string_view origin_key = "troupe.event.origin";

} // namespace

void mark_origin(std::vector<info>& infos, const std::string& server) {
  infos.push_back({std::string{origin_key}, 0, value::string(server)});
}

bool take_origin(std::vector<info>& infos, const std::string& server) {
  const auto i = std::find_if(infos.begin(), infos.end(), [](const info& x) {
    return x.key == origin_key;
  });
  if (i == infos.end())
    return false;
  const auto* text = i->val.text();
  const auto is_ours = text != nullptr && *text == server;
  infos.erase(i);
  return is_ours;
}

} // namespace troupe
