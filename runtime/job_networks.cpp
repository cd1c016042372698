#include "runtime/job_networks.hpp"

#include "actors/mesh/embedded/embedded_mesh.hpp"
#include "adapters/lane/authority.hpp"
#include "adapters/lane/secure_context.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/loop_system.hpp"
#include "adapters/networks/networks.hpp"
#include "messages/status.hpp"
#include "runtime/mesh_settings.hpp"
#include "runtime/mesh_sources.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

namespace {

/// Makes the networks of a server in the mesh of a job.
caf::expected<job_mesh_means>
make_means(loop_system& loop, const journal& log,
           const caf::expected<site_settings>& settings, const mesh_seat& seat,
           const lane_owner_actor& owner) {
  auto kernel = make_network_kernel(loop.loop());
  if (!kernel)
    return std::move(kernel.error());
  auto nets = networks_options{};
  if (!settings)
    return settings.error();
  apply_settings(*settings, nets);
  const auto all = (*kernel)->interfaces();
  if (!all)
    return all.error();
  if (choose_networks(*all, nets.interfaces).empty())
    return make_error(status::unreach,
                      "no network interface of this node is up and has an"
                      " address; see ip address");
  auto issuer = authority::make(seat.mesh);
  if (!issuer)
    return std::move(issuer.error());
  auto mine = issuer->issue(seat.rank, seat.name);
  if (!mine)
    return std::move(mine.error());
  auto pins = std::make_shared<pinned_certificates>();
  auto context = secure_context::make(*mine, pins);
  if (!context)
    return std::move(context.error());
  auto certificate = encode_certificate(mine->certificate.get());
  if (!certificate)
    return std::move(certificate.error());
  nets.owner = owner;
  nets.kinds = lane_kinds{};
  nets.random = random_number;
  nets.kernel = std::move(*kernel);
  nets.log = log;
  auto result = job_mesh_means{};
  result.certificate = std::move(*certificate);
  result.trust = [pins](uint32_t rank, std::string_view bytes) {
    return pins->add(rank, bytes);
  };
  result.networks = loop.actors().spawn(networks, &loop.loop(),
                                        std::move(*context), std::move(nets));
  return result;
}

} // namespace

host_actor mesh_around(loop_system& loop, host_actor host,
                       const host_offers& offers, journal log,
                       const site_settings& settings) {
  auto site = with_environment(settings);
  auto options = embedded_mesh_options{};
  options.host = std::move(host);
  options.offers = offers;
  options.node = node_with_sources();
  // Who has set something wrong gets no mesh, see `make_means`.
  if (site)
    apply_settings(*site, options.node);
  options.log = log;
  options.make_means = [&loop, log = std::move(log), site = std::move(site)](
                         const mesh_seat& seat, const lane_owner_actor& owner) {
    return make_means(loop, log, site, seat, owner);
  };
  return spawn_embedded_mesh(loop.actors(), std::move(options));
}

} // namespace troupe
