#include "adapters/networks/networks.hpp"

#include "adapters/networks/network_set.hpp"
#include "messages/status.hpp"

#include <caf/all.hpp>

#include <utility>

namespace troupe {

networks_state::networks_state() = default;

networks_state::~networks_state() = default;

networks_actor::behavior_type
networks(networks_actor::stateful_pointer<networks_state> self,
         event_loop* loop, std::shared_ptr<const secure_context> context,
         networks_options options) {
  auto log = options.log;
  self->state.networks = std::make_unique<network_set>(
    self, *loop, std::move(context), std::move(options));
  auto* set = self->state.networks.get();
  self->set_down_handler(
    [set](const caf::down_msg& x) { set->abandon(x.source); });
  if (auto err = set->start()) {
    if (log)
      log(severity::error, reason_of(err));
    self->quit(err);
  }
  return {
    [set](const reach_node& x) { set->reach(x); },
    [set](const release_node& x) { set->release(x.rank); },
    [set](lane_id lane, const lane_user_actor& user) {
      set->adopt(lane, user);
    },
    [set](const put_lane_frame& x) { set->put(x); },
    [set](const drop_lane& x) { set->drop(x); },
  };
}

} // namespace troupe
