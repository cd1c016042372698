// What the gateway of another node sends: bundles, their frames, and the content
// of messages, with types of CAF and of a user.

#include "actors/mesh/remoting/content_reader.hpp"
#include "actors/mesh/remoting/content_writer.hpp"
#include "actors/mesh/remoting/gateway_frames.hpp"
#include "messages/wire_types.hpp"
#include "tests/fixtures/remoting_types.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/proxy_registry.hpp>
#include <caf/scoped_execution_unit.hpp>

using namespace troupe;
using namespace troupe::wire::fuzz;

namespace {

/// A node that gives no handle away and knows nobody's.
class desk : public content_writer::giver, public caf::proxy_registry::backend {
public:
  desk() {
    types.add(wire_types<remoting_test::reading, remoting_test::weather,
                         remoting_test::roster, std::vector<bool>,
                         std::vector<std::string>>());
    unit.proxy_registry_ptr(&registry);
  }

  wire_handle give(const member_name& node, caf::actor_id id) override {
    return {node, id, 0};
  }

  std::optional<wire_handle> give_foreign(const caf::node_id&,
                                          caf::actor_id) override {
    return std::nullopt;
  }

  caf::strong_actor_ptr make_proxy(caf::node_id, caf::actor_id) override {
    return nullptr;
  }

  void set_last_hop(caf::node_id*) override {
    // nop
  }

  caf::expected<caf::message> read(std::string_view bytes) {
    auto result = content_reader{&unit, types, bytes}.read();
    forget_proxies(registry);
    return result;
  }

  caf::actor_system_config config = [] {
    auto result = caf::actor_system_config{};
    result.set("scheduler.max-threads", 1);
    return result;
  }();
  caf::actor_system system{config};
  caf::scoped_execution_unit unit{&system};
  caf::proxy_registry registry{system, *this};
  type_table types;
};

void read_frames(std::string_view input) {
  const auto header = header_of(input);
  auto reader = bundle_reader{input};
  auto again = std::string{};
  begin_bundle(again);
  for (;;) {
    auto frame = reader.next();
    if (!frame)
      return;
    if (!*frame)
      break;
    append_frame(again, **frame);
  }
  if (!header)
    return;
  put_header(again, *header);
  require(again == input, "there is one way to write a bundle");
}

} // namespace

TROUPE_FUZZ(input) {
  static auto& node = *new desk;
  if (take_byte(input) % 2 == 0) {
    const auto watch = memory_watch{input.size()};
    read_frames(input);
    return;
  }
  const auto x = [&] {
    const auto watch = memory_watch{input.size()};
    return node.read(input);
  }();
  if (!x)
    return;
  const auto found = [](const auto&, const auto&) {};
  require(!node.types.find_handles(*x, found), "handles can be looked for");
  // Sets and maps may have been written in another order.
  auto bytes = std::string{};
  auto err =
    content_writer{&node.unit, node.types, node, bytes, SIZE_MAX / 2}.write(*x);
  require(!err, "what was read can be written");
  require(node.read(bytes).engaged(), "and read again");
}
