#include "c_api/mesh_hook.hpp"

#include "messages/status.hpp"

#include <cstdlib>
#include <cstring>

namespace troupe::c_api {

mesh_maker make_mesh = nullptr;

caf::expected<bool> wants_mesh(const std::vector<info>& infos,
                               const journal& log) {
  const auto* asked = find(infos, mesh_key);
  const auto* preset = std::getenv("TROUPE_MESH");
  const auto wanted = asked != nullptr
                        ? flag(infos, mesh_key)
                        : preset != nullptr && std::strcmp(preset, "1") == 0;
  if (!wanted || make_mesh != nullptr)
    return wanted;
  const auto why = std::string{asked != nullptr ? "troupe.mesh" : "TROUPE_MESH"}
                   + ": this libpmix.so.2 has no mesh inside; use the one in"
                     " lib/troupe/mesh";
  log(severity::error, why);
  // Who asks by name needs it; the environment may be meant for somebody else.
  if (asked != nullptr)
    return make_error(status::not_supported, why);
  return false;
}

host_offers offers_of(const pmix_server_module_t& module) {
  auto result = host_offers{};
  result.fence = module.fence_nb != nullptr;
  result.direct_modex = module.direct_modex != nullptr;
  result.publish = module.publish != nullptr && module.lookup != nullptr;
  result.connect = module.connect != nullptr && module.disconnect != nullptr;
  result.events = module.notify_event != nullptr;
  result.group = module.group != nullptr;
  return result;
}

} // namespace troupe::c_api
