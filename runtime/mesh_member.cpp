#include "runtime/mesh_member.hpp"

#include "actors/mesh/members/node.hpp"
#include "actors/mesh/remoting/member_node.hpp"
#include "adapters/lane/key_memory.hpp"
#include "adapters/lane/secure_context.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/networks/networks.hpp"
#include "adapters/sockets/system_error.hpp"
#include "base/lane_kind.hpp"
#include "base/log_levels.hpp"
#include "runtime/mesh_settings.hpp"
#include "runtime/mesh_sources.hpp"

#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <sys/prctl.h>

#include <algorithm>

namespace troupe {

namespace {

/// Whether there are interfaces to use, and all that are named.
caf::error check_networks(network_kernel& kernel,
                          const interface_choice& choice) {
  const auto all = kernel.interfaces();
  if (!all)
    return all.error();
  for (const auto& name : choice.include) {
    const auto is_it = [&](const auto& x) { return x.name == name; };
    if (std::none_of(all->begin(), all->end(), is_it)) {
      auto there = std::string{};
      for (const auto& x : *all)
        there += (there.empty() ? "" : ", ") + x.name;
      return make_error(status::bad_param, "there is no network interface "
                                             + name + " on this node, only "
                                             + there + "; correct --networks");
    }
  }
  if (choose_networks(*all, choice).empty())
    return make_error(status::unreach,
                      choice.include.empty()
                        ? "no network interface of this node is up and has an "
                          "address; see ip address"
                        : "none of the interfaces that --networks names is up "
                          "and has an address; see ip address");
  return {};
}

} // namespace

caf::expected<std::unique_ptr<mesh_member>>
mesh_member::start(loop_system& loop, mesh_member_options options) {
  auto kernel = make_network_kernel(loop.loop());
  if (!kernel)
    return std::move(kernel.error());
  auto nets = networks_options{};
  nets.port = options.port;
  nets.interfaces.include = options.networks;
  const auto kinds = read_lane_kinds(options.lanes);
  if (!kinds)
    return kinds.error();
  nets.kinds = *kinds;
  nets.random = random_number;
  nets.log = about(options.log, log_subject::networks);
  const auto settings = with_environment(options.settings);
  if (!settings)
    return settings.error();
  apply_settings(*settings, nets);
  if (nets.kinds.tcp)
    if (auto err = check_networks(**kernel, nets.interfaces))
      return err;
  nets.kernel = std::move(*kernel);

  auto result = std::unique_ptr<mesh_member>{new mesh_member};
  result->rank_ = options.context->self().rank;
  result->name_ = options.context->self().name;
  result->user_ = options.context->self().user;
  auto node = node_with_sources();
  apply_settings(*settings, node);
  node.rank = result->rank_;
  node.membership.name = result->name_;
  result->incarnation_ = node.membership.incarnation;
  name_system(loop.actors(), {result->rank_, result->incarnation_});
  node.membership.radix = options.radix;
  node.membership.names = std::move(options.names);
  node.root_name = std::move(options.root_name);
  node.root_addresses = std::move(options.root_addresses);
  node.log = options.log;
  node.make_networks = [&loop, context = std::move(options.context),
                        nets = std::move(nets)](lane_owner_actor owner) {
    auto mine = nets;
    mine.owner = std::move(owner);
    return loop.actors().spawn(networks, &loop.loop(), context,
                               std::move(mine));
  };
  result->node_ = spawn_node(loop.actors(), std::move(node));
  return result;
}

mesh_member::~mesh_member() {
  caf::anon_send_exit(node_, caf::exit_reason::user_shutdown);
}

void hide_memory() {
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  lock_keys();
}

} // namespace troupe
