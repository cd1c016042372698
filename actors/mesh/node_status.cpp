// The gauges of a NODE.

#include "actors/mesh/node_state.hpp"

namespace troupe::node_internals {

namespace {

/// An answer that waits for those of the peers.
struct collection {
  caf::typed_response_promise<mesh_status> promise;
  mesh_status result;
  size_t missing = 0;

  void arrived() {
    if (--missing == 0)
      promise.deliver(std::move(result));
  }
};

mesh_duty to_mesh(node_duty x) {
  return static_cast<mesh_duty>(x);
}

} // namespace

caf::result<mesh_status> describe(self_pointer self) {
  const auto& state = self->state;
  auto x = std::make_shared<collection>();
  x->promise = self->make_response_promise<mesh_status>();
  auto& result = x->result;
  result.rank = state.options.rank;
  result.name = state.options.membership.name;
  result.duty = to_mesh(state.duty());
  if (state.addresses)
    result.addresses = *state.addresses;
  if (state.membership) {
    const auto& list = state.membership->list();
    result.incarnation = state.membership->incarnation();
    result.epoch = list.epoch();
    result.members = list.rows();
    result.parent = list.tree().parent(state.options.rank);
  }
  // One for ourselves, so that the answer also comes if there are no others.
  x->missing = state.peers.size() + 1;
  for (const auto& [key, peer] : state.peers) {
    const auto trouble = state.trouble.find(key.first);
    const auto why =
      trouble != state.trouble.end() ? trouble->second : std::string{};
    self->request(peer.handle, defaults::leave_wait, get_mesh_status{})
      .then(
        [x, why](peer_status& y) {
          y.trouble = why;
          x->result.gauges.push_back(
            {"mesh.to." + y.name, y.waiting_bytes,
             defaults::peer_queue + traffic_classes * defaults::send_window,
             "bytes"});
          x->result.peers.push_back(std::move(y));
          x->arrived();
        },
        [x](const caf::error&) { x->arrived(); });
  }
  auto promise = x->promise;
  x->arrived();
  return promise;
}

} // namespace troupe::node_internals
