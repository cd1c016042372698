// Typed handles within messages: each brings what its actor understands, and must
// be what the receiver's type says.

#include "actors/mesh/remoting/gateway_frames.hpp"
#include "actors/mesh/remoting/remote_proxy.hpp"
#include "messages/wire_types.hpp"
#include "tests/fixtures/gateway_world.hpp"
#include "tests/fixtures/remoting_types.hpp"
#include "tests/test.hpp"

#include <caf/all.hpp>

using namespace troupe;
using namespace troupe::fixtures;
using namespace remoting_test;

namespace {

using handles = std::vector<caf::strong_actor_ptr>;

adder::behavior_type adding(adder::pointer) {
  return {[](int32_t a, int32_t b) { return a + b; },
          [](const caf::actor&, int32_t x) { return x; }};
}

weather::behavior_type forecast(weather::pointer) {
  return {[](reading& x) { return std::move(x); },
          [](caf::put_atom, const reading&) {}};
}

/// Keeps the handles that come, and answers how many it has.
caf::behavior keeper(caf::event_based_actor*, handles* out) {
  const auto keep = [out](const auto& x) {
    out->push_back(caf::actor_cast<caf::strong_actor_ptr>(x));
    return static_cast<int32_t>(out->size());
  };
  const auto keep_all = [keep](const auto& x) {
    auto result = int32_t{0};
    for (const auto& [name, members] : x.members)
      for (const auto& y : members)
        result = keep(y);
    return result;
  };
  return {
    [=](const adder& x) { return keep(x); },
    [=](const weather& x) { return keep(x); },
    [=](const caf::actor& x) { return keep(x); },
    [=](const roster& x) { return keep_all(x); },
    [=](const other_roster& x) { return keep_all(x); },
  };
}

/// A type under the name of another one, as a later version of a program has it.
template <class T, class Old>
std::vector<wire_type> in_place_of() {
  auto result = wire_types<T>();
  for (auto& x : result)
    if (x.type == std::type_index{typeid(T)})
      x.name = caf::type_name<Old>::value;
  return result;
}

/// Why an actor of another node is not of a type.
template <class Handle>
caf::error misfit(const caf::strong_actor_ptr& x) {
  auto* proxy = x ? dynamic_cast<remote_proxy*>(x->get()) : nullptr;
  if (proxy == nullptr)
    CAF_FAIL("no actor of another node");
  return proxy->interface().check(handle_interface{interface_of<Handle>()});
}

template <class T>
caf::error error_of(caf::expected<T> x) {
  return x ? caf::error{} : std::move(x.error());
}

constexpr auto not_its_type = caf::sec::unexpected_actor_messaging_interface;

/// Three nodes; those but the first have a keeper of handles.
struct three_nodes {
  gateway_world world{3};

  /// What the keepers have: before the nodes end.
  handles kept[3];
  adder original = world[0].spawn(adding);
  caf::actor far;

  three_nodes() {
    for (size_t i = 1; i < 3; ++i)
      world.publish(i, world[i].spawn(keeper, &kept[i]), "keeper");
    far = world.find(0, 1, "keeper");
    accept(0, wire_types<adder, weather, roster>());
  }

  void accept(size_t rank, std::vector<wire_type> types) {
    caf::anon_send(world[rank].gateway, allow_types{std::move(types)});
    world.run();
  }

  /// Sends a handle from one node to the keeper of the second.
  template <class T>
  caf::expected<int32_t> hand_over(T what) {
    return world.ask<int32_t>(0, far, std::move(what));
  }

  roster some_roster() {
    auto result = roster{};
    result.members["a"] = {};
    result.members["b"] = {adder{}, original};
    return result;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(typed_handle_tests, three_nodes)

CAF_TEST(ACT-17 ACT-2 a typed handle in a message brings its interface) {
  accept(1, wire_types<adder>());
  // Nothing is known of one that has no type; then it has.
  const auto untyped = caf::actor_cast<caf::actor>(original);
  CAF_CHECK_EQUAL(unbox(hand_over(untyped)), 1);
  CAF_CHECK(!misfit<weather>(kept[1][0]));
  CAF_CHECK_EQUAL(unbox(hand_over(original)), 2);
  CAF_CHECK_EQUAL(kept[1][0], kept[1][1]);
  CAF_CHECK(!misfit<adder>(kept[1][1]));
  CAF_CHECK_EQUAL(misfit<weather>(kept[1][1]), not_its_type);
  CAF_CHECK_EQUAL(world[1].gauge_of("refused_content"), 0u);
  const auto there = caf::actor_cast<adder>(kept[1][1]);
  CAF_CHECK_EQUAL(unbox(world.ask<int32_t>(1, there, 40, 2)), 42);
}

CAF_TEST(ACT-17 a typed handle that is not what its type says is refused) {
  accept(1, in_place_of<weather, adder>());
  const auto why = error_of(hand_over(original));
  CAF_CHECK_EQUAL(why, not_its_type);
  CAF_CHECK(reason_of(why).find(interface_of<weather>().front())
            != std::string::npos);
  CAF_CHECK_EQUAL(world[1].gauge_of("refused_content"), 1u);
  caf::anon_send(far, original);
  world.run();
  CAF_CHECK_EQUAL(world[1].gauge_of("refused_content"), 2u);
  CAF_CHECK(kept[1].empty());
  // The node goes on, and one that fits is taken.
  CAF_CHECK_EQUAL(world[1].gauge_of("conversations_ended"), 0u);
  CAF_CHECK_EQUAL(unbox(hand_over(caf::actor_cast<caf::actor>(original))), 1);
}

CAF_TEST(ACT-17 handles deep in a message are checked alike) {
  accept(1, wire_types<roster>());
  CAF_CHECK_EQUAL(unbox(hand_over(some_roster())), 2);
  CAF_CHECK(!kept[1][0]);
  CAF_CHECK(!misfit<adder>(kept[1][1]));
  CAF_CHECK_EQUAL(misfit<weather>(kept[1][1]), not_its_type);
}

CAF_TEST(ACT-17 handles deep in a message of another version are refused) {
  accept(1, in_place_of<other_roster, roster>());
  CAF_CHECK_EQUAL(error_of(hand_over(some_roster())), not_its_type);
  CAF_CHECK_EQUAL(world[1].gauge_of("refused_content"), 1u);
  CAF_CHECK(kept[1].empty());
  auto none = roster{};
  none.members["a"] = {adder{}};
  CAF_CHECK_EQUAL(unbox(hand_over(none)), 1);
}

CAF_TEST(ACT-17 an interface is passed on with a handle to a third node) {
  accept(1, wire_types<adder>());
  CAF_CHECK_EQUAL(unbox(hand_over(original)), 1);
  const auto third = world.find(1, 2, "keeper");
  const auto x = caf::actor_cast<caf::actor>(kept[1][0]);
  CAF_CHECK_EQUAL(unbox(world.ask<int32_t>(1, third, x)), 1);
  CAF_CHECK(!misfit<adder>(kept[2][0]));
  CAF_CHECK_EQUAL(misfit<weather>(kept[2][0]), not_its_type);
  // In a message of another version it is refused there, too.
  accept(2, in_place_of<weather, adder>());
  const auto typed = caf::actor_cast<adder>(kept[1][0]);
  CAF_CHECK_EQUAL(error_of(world.ask<int32_t>(1, third, typed)), not_its_type);
  CAF_CHECK_EQUAL(kept[2].size(), 1u);
}

CAF_TEST(ACT-17 a handle that comes back is what its node has said of it) {
  accept(1, wire_types<adder, weather>());
  const auto theirs = world[1].spawn(forecast);
  world.publish(1, theirs, "weather", interface_of<weather>());
  const auto back = world.find<weather>(0, 1, "weather");
  CAF_CHECK_EQUAL(unbox(hand_over(back)), 1);
  CAF_CHECK(kept[1][0] == caf::actor_cast<caf::strong_actor_ptr>(theirs));
  const auto forced = caf::actor_cast<adder>(back);
  CAF_CHECK_EQUAL(error_of(hand_over(forced)), not_its_type);
  CAF_CHECK_EQUAL(kept[1].size(), 1u);
}

CAF_TEST(ACT-17 what was found or spawned is known by its interface) {
  world.publish(1, world[1].spawn(forecast), "weather",
                interface_of<weather>());
  const auto found = world.find(0, 1, "weather");
  const auto as_pointer = caf::actor_cast<caf::strong_actor_ptr>(found);
  CAF_CHECK(!misfit<weather>(as_pointer));
  CAF_CHECK_EQUAL(misfit<adder>(as_pointer), not_its_type);
  auto kind = register_actor_kind{};
  kind.name = "adder";
  kind.interface = interface_of<adder>();
  kind.make = [this](const caf::message&) {
    return caf::actor_cast<caf::strong_actor_ptr>(world[1].spawn(adding));
  };
  caf::anon_send(world[1].gateway, kind);
  const auto made = unbox(world.ask<caf::strong_actor_ptr>(
    0, world[0].gateway, spawn_actor{1, "adder", {}, {}}));
  CAF_CHECK(!misfit<adder>(made));
  CAF_CHECK_EQUAL(misfit<weather>(made), not_its_type);
}

CAF_TEST(ACT-17 what a node says of actors that it has not given is nothing) {
  accept(1, wire_types<adder>());
  CAF_CHECK_EQUAL(unbox(hand_over(caf::actor_cast<caf::actor>(original))), 1);
  // Of an actor of the receiver, of none, and of more than anybody has.
  const auto own = world[1].name;
  auto many = std::vector<uint64_t>{};
  for (uint64_t i = 0; i < 1000; ++i)
    many.push_back(i);
  const auto said = std::vector<typed_handle>{
    {own.rank, own.incarnation, 1, {1, 2}},
    {0, 100, original.id() + 1000, {1, 2}},
    {0, 100, original.id(), many},
    {7, 1, 1, {1}},
  };
  world.corrupt = [&](std::string& x) {
    const auto header = header_of(x);
    auto reader = bundle_reader{x};
    auto forged = std::string{};
    begin_bundle(forged);
    while (auto frame = reader.next()) {
      if (!*frame)
        break;
      if (auto* message = std::get_if<message_frame>(&**frame))
        message->typed = said;
      append_frame(forged, **frame);
    }
    put_header(forged, *header);
    if (header->number > 0)
      x = std::move(forged);
  };
  caf::anon_send(far, caf::actor_cast<caf::actor>(original));
  world.run();
  world.corrupt = nullptr;
  CAF_REQUIRE_EQUAL(kept[1].size(), 2u);
  CAF_CHECK(!misfit<weather>(kept[1][1]));
  CAF_CHECK_EQUAL(world[1].gauge_of("refused_content"), 0u);
}

CAF_TEST_FIXTURE_SCOPE_END()
