#include "adapters/c_host/origin_mark.hpp"

#include <algorithm>

namespace troupe {

void mark_origin(std::vector<info>& infos, const std::string& server) {
  // What a process says of it counts for nothing.
  take_origin(infos, server);
  infos.push_back({std::string{origin_key}, 0, value::string(server)});
}

bool take_origin(std::vector<info>& infos, const std::string& server) {
  auto is_ours = false;
  const auto is_mark = [&](const info& x) {
    if (x.key != origin_key)
      return false;
    const auto* text = x.val.text();
    is_ours = is_ours || (text != nullptr && *text == server);
    return true;
  };
  infos.erase(std::remove_if(infos.begin(), infos.end(), is_mark), infos.end());
  return is_ours;
}

} // namespace troupe
