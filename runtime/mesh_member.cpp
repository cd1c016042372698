#include "runtime/mesh_member.hpp"

#include "actors/node.hpp"
#include "adapters/lane/secure_context.hpp"
#include "adapters/local/system_error.hpp"
#include "adapters/networks/networks.hpp"

#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <sys/prctl.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>

namespace troupe {

namespace {

std::chrono::nanoseconds time_of(clockid_t which) {
  timespec x{};
  ::clock_gettime(which, &x);
  return std::chrono::seconds{x.tv_sec} + std::chrono::nanoseconds{x.tv_nsec};
}

/// Bytes that nobody can guess. Without them nothing here is safe.
template <class T>
T random_bytes() {
  auto result = T{};
  auto* to = reinterpret_cast<unsigned char*>(&result);
  for (size_t done = 0; done < sizeof(T);) {
    const auto n = ::getrandom(to + done, sizeof(T) - done, 0);
    if (n > 0)
      done += static_cast<size_t>(n);
    else if (errno != EINTR)
      std::abort();
  }
  return result;
}

/// Seconds in the upper half, chance in the lower.
uint64_t new_incarnation() {
  const auto seconds = static_cast<uint64_t>(::time(nullptr));
  return (seconds << 32) | random_bytes<uint32_t>();
}

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
  nets.random = random_bytes<uint64_t>;
  nets.log = options.log;
  if (auto err = check_networks(**kernel, nets.interfaces))
    return err;
  nets.kernel = std::move(*kernel);

  auto result = std::unique_ptr<mesh_member>{new mesh_member};
  result->rank_ = options.context->self().rank;
  result->name_ = options.context->self().name;
  result->incarnation_ = new_incarnation();
  auto node = node_options{};
  node.rank = result->rank_;
  node.membership.name = result->name_;
  node.membership.incarnation = result->incarnation_;
  node.membership.radix = options.radix;
  node.membership.names = std::move(options.names);
  node.root_name = std::move(options.root_name);
  node.root_addresses = std::move(options.root_addresses);
  node.clock = [] { return steady_time{time_of(CLOCK_MONOTONIC)}; };
  node.boot_clock = [] { return node_time{time_of(CLOCK_BOOTTIME)}; };
  node.make_token = random_bytes<session_token>;
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
}

} // namespace troupe
