#include "actors/mesh/remoting/content_reader.hpp"
#include "actors/mesh/remoting/content_writer.hpp"
#include "actors/mesh/remoting/remote_proxy.hpp"
#include "messages/status.hpp"
#include "messages/wire_types.hpp"
#include "tests/fixtures/deterministic.hpp"
#include "tests/fixtures/remoting_types.hpp"
#include "tests/test.hpp"

#include <caf/all.hpp>
#include <caf/proxy_registry.hpp>
#include <caf/scoped_execution_unit.hpp>

#include <random>

using namespace troupe;
using namespace remoting_test;
using namespace std::string_literals;

namespace {

/// Nests as deeply as its bytes say.
struct onion {
  std::unique_ptr<onion> inner;

  onion() = default;
  onion(onion&&) = default;
  onion& operator=(onion&&) = default;

  onion(const onion& x)
    : inner(x.inner ? std::make_unique<onion>(*x.inner) : nullptr) {
    // nop
  }

  ~onion() {
    // Not by recursion.
    for (auto next = std::move(inner); next;)
      next = std::move(next->inner);
  }
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, onion& x) {
  auto has_more = x.inner != nullptr;
  if (auto err = f(has_more))
    return err;
  if (!has_more)
    return caf::none;
  if (!x.inner)
    x.inner = std::make_unique<onion>();
  return f(*x.inner);
}

std::string to_string(const onion&) {
  return "onion";
}

struct codec_fixture : fixtures::deterministic,
                       content_writer::giver,
                       caf::proxy_registry::backend {
  type_table types;
  caf::scoped_execution_unit unit{&sys};
  caf::proxy_registry registry{sys, *this};
  std::vector<wire_handle> read_handles;

  /// Another actor system of this process.
  caf::node_id known_system;

  codec_fixture() {
    unit.proxy_registry_ptr(&registry);
    types.add(wire_types<reading, adder, std::vector<bool>,
                         std::vector<std::string>, std::u16string>());
    types.add({{"onion", typeid(onion), 0, +[] {
                  return caf::type_erased_value_ptr{
                    new caf::detail::type_erased_value_impl<onion>};
                }}});
  }

  wire_handle give(const member_name& node, caf::actor_id id) override {
    return {node, id, 99};
  }

  std::optional<wire_handle> give_foreign(const caf::node_id& node,
                                          caf::actor_id id) override {
    if (node != known_system)
      return std::nullopt;
    return wire_handle{{3, 30}, id + 1000, 77};
  }

  caf::strong_actor_ptr make_proxy(caf::node_id node,
                                   caf::actor_id id) override {
    if (const auto x = handle_of(node, id))
      read_handles.push_back(*x);
    return nullptr;
  }

  void set_last_hop(caf::node_id*) override {
    // nop
  }

  std::string write(const caf::message& x) {
    auto result = std::string{};
    auto err = content_writer{&unit, types, *this, result, 1 << 20}.write(x);
    if (err)
      CAF_FAIL(sys.render(err));
    return result;
  }

  caf::error failure(const caf::message& x, size_t most = 1 << 20) {
    auto result = std::string{};
    return content_writer{&unit, types, *this, result, most}.write(x);
  }

  caf::expected<caf::message> read(std::string_view bytes) {
    auto result = content_reader{&unit, types, bytes}.read();
    forget_proxies(registry);
    return result;
  }

  caf::error refusal_of(std::string_view bytes) {
    auto result = read(bytes);
    return result ? caf::error{} : std::move(result.error());
  }

  template <class... Ts>
  void survives(Ts... xs) {
    const auto bytes = write(caf::make_message(xs...));
    const auto back = read(bytes);
    if (!back)
      CAF_FAIL(sys.render(back.error()));
    CAF_CHECK(back->template match_elements<Ts...>());
    CAF_CHECK_EQUAL(write(*back), bytes);
    for (size_t i = 0; i < bytes.size(); ++i)
      CAF_CHECK(!read(std::string_view{bytes}.substr(0, i)));
    CAF_CHECK(!read(bytes + '\0'));
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(content_codec_tests, codec_fixture)

CAF_TEST(ACT-7 content survives the way and no part of it is content) {
  survives();
  survives(true, int8_t{-1}, uint16_t{65535}, int32_t{-7}, uint64_t{1} << 63);
  survives(1.5f, -2.25, "text"s, caf::unit);
  survives(caf::atom("hello"), caf::timespan{77});
  survives(reading{"s", 1e9, {{"a", {1, 2}}, {"b", {}}}}, int32_t{1});
  survives(std::vector<bool>(1000, true), std::vector<std::string>{"a", "b"},
           u"wide"s);
  survives(caf::error{}, caf::make_error(caf::sec::runtime_error, "why"s));
  survives(caf::exit_msg{{}, caf::exit_reason::kill},
           caf::down_msg{{}, caf::make_error(caf::sec::unknown_type)});
  survives(caf::actor{}, caf::strong_actor_ptr{}, adder{});
}

CAF_TEST(ACT-2 handles say which actor of which incarnation they mean) {
  name_system(sys, {3, 77});
  const auto actor = sys.spawn([] { return caf::behavior{[](int) {}}; });
  const auto bytes =
    write(caf::make_message(actor, uint64_t{5}, actor.address()));
  CAF_REQUIRE(read(bytes).engaged());
  CAF_REQUIRE_EQUAL(read_handles.size(), 2u);
  for (const auto& x : read_handles) {
    CAF_CHECK_EQUAL(x.id, actor.id());
    CAF_CHECK_EQUAL(x.node.rank, 3u);
    CAF_CHECK_EQUAL(x.node.incarnation, 77u);
    CAF_CHECK_EQUAL(x.key, 99u);
  }
  sys.registry().erase(actor.id());
}

CAF_TEST(ACT-7 types that are not in the table are neither written nor read) {
  CAF_CHECK_EQUAL(failure(caf::make_message(secret{1})),
                  caf::sec::unknown_type);
  CAF_CHECK_EQUAL(failure(caf::make_message(std::set<std::string>{})),
                  caf::sec::unknown_type);
  // The context of an error could have any type: texts alone go.
  const auto strange =
    caf::error{1, caf::atom("x"), caf::make_message(secret{1})};
  const auto plain = read(write(caf::make_message(strange)));
  CAF_REQUIRE(plain.engaged());
  CAF_CHECK_EQUAL(plain->get_as<caf::error>(0).code(), 1u);
  CAF_CHECK(plain->get_as<caf::error>(0).context().empty());
  const auto named = [](const std::string& name) {
    return "\x01\x00"s + static_cast<char>(name.size()) + name
           + std::string(8, '\1');
  };
  CAF_CHECK(!read(named("remoting_test::reading")));
  CAF_CHECK_EQUAL(refusal_of(named("remoting_test::secret")),
                  caf::sec::unknown_type);
  CAF_CHECK_EQUAL(refusal_of(named("caf::config_value")),
                  caf::sec::unknown_type);
  CAF_CHECK_EQUAL(refusal_of("\x01\x7f\x01"s), caf::sec::unknown_type);
}

CAF_TEST(ACT-8 messages within errors have texts and numbers only) {
  const auto error_with = [&](const std::string& types) {
    auto result = "\x01\x12"s; // One element: an error.
    result += '\x07' + std::string(8, '\x01');
    result += static_cast<char>(types.size()) + types;
    return result;
  };
  CAF_CHECK(type_table::is_plain("@<>"));
  CAF_CHECK(type_table::is_plain("@<>+@str+@i32"));
  CAF_CHECK(!type_table::is_plain("@<>+@message"));
  CAF_CHECK(!type_table::is_plain("@<>+"));
  CAF_CHECK(!type_table::is_plain("@<>@str"));
  CAF_CHECK(!type_table::is_plain("@str"));
  CAF_CHECK(!type_table::is_plain(""));
  CAF_CHECK(refusal_of(error_with("@<>+@config_value")));
  CAF_CHECK(refusal_of(error_with("@<>+@message")));
  CAF_CHECK(read(error_with("@<>")).engaged());
}

CAF_TEST(ACT-8 counts that the bytes cannot have are refused) {
  const auto huge = "\xff\xff\xff\xff\xff\xff\xff\x7f"s;
  CAF_CHECK(!read(huge));
  const auto text = "\x01\x0c"s;
  CAF_CHECK(read(text + "\x01x").engaged());
  CAF_CHECK(!read(text + huge + "x"));
  const auto list = "\x01\x00\x18"s + "std::vector<std::string>";
  const auto bits = "\x01\x00\x11"s + "std::vector<bool>";
  CAF_CHECK(!read(list + huge));
  CAF_CHECK(!read(bits + huge));
  CAF_CHECK(!read(bits + "\xff\x0f"));
}

CAF_TEST(ACT-8 what nests without end is refused) {
  const auto head = "\x01\x00\x05onion"s;
  CAF_CHECK(read(head + std::string(100, '\1') + '\0').engaged());
  CAF_CHECK(!read(head + std::string(5000000, '\1') + '\0'));
}

CAF_TEST(ACT-8 no message is longer than its limit) {
  const auto text = caf::make_message(std::string(1000, 'x'));
  CAF_CHECK(!failure(text, 2000));
  CAF_CHECK_EQUAL(status_of(failure(text, 999)), status::bad_param);
}

CAF_TEST(ACT-8 any bytes are content or refused) {
  auto random = std::mt19937{7};
  const auto seeds = std::vector<std::string>{
    write(caf::make_message(reading{"s", 1, {{"a", {1, 2}}}}, "x"s)),
    write(caf::make_message(caf::make_error(caf::sec::runtime_error, "w"s))),
    write(caf::make_message(caf::exit_msg{{}, caf::exit_reason::kill},
                            std::vector<bool>(9, true))),
  };
  size_t accepted = 0;
  for (auto i = 0; i < 60000; ++i) {
    auto bytes = seeds[random() % seeds.size()];
    for (auto n = random() % 4 + 1; n > 0; --n)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (random() % 4 == 0)
      bytes.resize(random() % bytes.size());
    if (const auto x = read(bytes)) {
      ++accepted;
      CAF_CHECK_EQUAL(read(write(*x)).engaged(), true);
    }
  }
  CAF_CHECK(accepted > 0);
}

CAF_TEST(C12.6 a handle of another system of the process is one of this node) {
  using data = caf::node_id::default_data;
  auto host = data::host_id_type{};
  host.fill(7);
  const auto by_us = make_member_node({no_rank, 5});
  const auto by_middleman =
    caf::node_id{caf::make_counted<data>(uint32_t{77}, host)};
  for (const auto& name : {by_us, by_middleman}) {
    auto config = caf::actor_config{};
    const auto x = caf::make_actor<remote_proxy, caf::actor>(
      5, name, &sys, config, gateway_actor{}, nullptr);
    const auto content =
      caf::make_message(uint64_t{5}, x, std::string{"end"}, x);
    known_system = caf::none;
    CAF_CHECK_EQUAL(status_of(failure(content)), status::not_supported);
    known_system = name;
    read_handles.clear();
    const auto back = read(write(content));
    if (!back)
      CAF_FAIL(sys.render(back.error()));
    CAF_CHECK_EQUAL(back->get_as<uint64_t>(0), 5u);
    CAF_CHECK_EQUAL(back->get_as<std::string>(2), "end");
    CAF_REQUIRE_EQUAL(read_handles.size(), 2u);
    for (const auto& y : read_handles) {
      CAF_CHECK_EQUAL(y.id, 1005u);
      CAF_CHECK_EQUAL(y.key, 77u);
      CAF_CHECK((y.node == member_name{3, 30}));
    }
  }
  // What only looks like one.
  survives(uint64_t{5}, caf::atom("default"), uint32_t{77});
}

CAF_TEST_FIXTURE_SCOPE_END()
