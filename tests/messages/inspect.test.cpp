// Every message: filled at random, saved, loaded, and damaged on the way.

#include "tests/messages/inspected.hpp"
#include "tests/test.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>

#include <set>

using namespace troupe;

template <>
void add_inspected<0>(std::vector<inspected_type>&);
template <>
void add_inspected<1>(std::vector<inspected_type>&);
template <>
void add_inspected<2>(std::vector<inspected_type>&);
template <>
void add_inspected<3>(std::vector<inspected_type>&);
template <>
void add_inspected<4>(std::vector<inspected_type>&);
template <>
void add_inspected<5>(std::vector<inspected_type>&);
template <>
void add_inspected<6>(std::vector<inspected_type>&);

std::vector<inspected_type> inspected_types() {
  auto result = std::vector<inspected_type>{};
  add_inspected<0>(result);
  add_inspected<1>(result);
  add_inspected<2>(result);
  add_inspected<3>(result);
  add_inspected<4>(result);
  add_inspected<5>(result);
  add_inspected<6>(result);
  return result;
}

namespace {

using bytes = std::vector<char>;

struct fixture {
  caf::actor_system_config config;
  caf::actor_system sys{config};
  const std::vector<inspected_type> types = inspected_types();

  template <class T>
  bytes saved(T x) {
    return written([&](caf::serializer& sink) { return sink(x); });
  }

  bytes saved(const std::unique_ptr<inspected>& x) {
    return written([&](caf::serializer& sink) { return x->save(sink); });
  }

  /// @returns whether all of `xs` could be loaded and nothing was left over.
  template <class T>
  bool load(const bytes& xs, T& x) {
    caf::binary_deserializer source{sys, xs};
    return !source(x) && source.remaining() == 0;
  }

  bool load(const bytes& xs, const std::unique_ptr<inspected>& x) {
    caf::binary_deserializer source{sys, xs};
    return !x->load(source) && source.remaining() == 0;
  }

private:
  template <class Write>
  bytes written(Write write) {
    bytes result;
    caf::binary_serializer sink{sys, result};
    if (auto err = write(sink))
      CAF_FAIL("cannot save: " << sys.render(err));
    return result;
  }
};

std::unique_ptr<inspected> filled(const inspected_type& type, uint32_t seed) {
  auto result = type.make();
  result->fill(seed);
  return result;
}

/// A value in `depth` nested arrays and itself.
value nested(int depth) {
  auto result = value::uint32(7);
  for (int i = 1; i < depth; ++i)
    result = value::array(result.type, {result});
  return result;
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(inspect_tests, fixture)

CAF_TEST(F2.4 every message survives serialisation) {
  auto names = std::set<std::string>{};
  for (const auto& type : types) {
    names.insert(type.name);
    for (uint32_t seed = 0; seed < 40; ++seed) {
      const auto before = filled(type, seed);
      const auto after = type.make();
      if (!load(saved(before), after) || !before->equals(*after))
        CAF_ERROR(type.name << " changed on its way, seed " << seed);
    }
  }
  auto expected = size_t{0};
#define TROUPE_SENT_TYPE(type) ++expected;
#define TROUPE_NESTED_TYPE(type) ++expected;
#include "messages/messages.def"
  CAF_CHECK_EQUAL(types.size(), expected);
  CAF_CHECK_EQUAL(names.size(), expected);
  CAF_CHECK(expected > 120);
}

CAF_TEST(F2.4 a message loads into one that has other content) {
  for (const auto& type : types)
    for (uint32_t seed = 0; seed < 10; ++seed) {
      const auto before = filled(type, seed);
      const auto after = filled(type, seed + 1);
      if (!load(saved(before), after) || !before->equals(*after))
        CAF_ERROR(type.name << " kept old content, seed " << seed);
    }
}

CAF_TEST(F2.4 every message prints) {
  for (const auto& type : types)
    if (filled(type, 1)->text().empty())
      CAF_ERROR(type.name << " prints nothing");
}

CAF_TEST(F2.4 a message cut anywhere is an error) {
  for (const auto& type : types)
    for (uint32_t seed = 0; seed < 3; ++seed) {
      const auto whole = saved(filled(type, seed));
      for (size_t n = 0; n < whole.size(); ++n)
        if (load(bytes(whole.begin(), whole.begin() + static_cast<int>(n)),
                 type.make()))
          CAF_ERROR(type.name << " loads from " << n << " of " << whole.size()
                              << " bytes, seed " << seed);
    }
}

CAF_TEST(F2.4 a flipped byte is an error or another message) {
  size_t loaded = 0;
  size_t refused = 0;
  for (const auto& type : types)
    for (uint32_t seed = 0; seed < 3; ++seed) {
      auto damaged = saved(filled(type, seed));
      for (auto& byte : damaged)
        for (const int pattern : {0x01, 0x80, 0xff}) {
          byte = static_cast<char>(byte ^ pattern);
          const auto x = type.make();
          if (load(damaged, x)) {
            saved(x);
            ++loaded;
          } else {
            ++refused;
          }
          byte = static_cast<char>(byte ^ pattern);
        }
    }
  CAF_CHECK(loaded > 0);
  CAF_CHECK(refused > 0);
}

CAF_TEST(F2.4 values nest as deeply as the limit says) {
  auto x = value{};
  CAF_CHECK(load(saved(nested(max_value_depth)), x));
  CAF_CHECK(x == nested(max_value_depth));
}

CAF_TEST(F2.4 values that nest more deeply are an error) {
  auto x = value{};
  CAF_CHECK(!load(saved(nested(max_value_depth + 1)), x));
  CAF_CHECK(!load(saved(nested(1000)), x));
  // An error leaves nothing behind that would count for the next.
  CAF_CHECK(load(saved(nested(max_value_depth)), x));
  // Brothers do not add up.
  const auto brothers =
    value::array(data_type::data_array,
                 std::vector<value>(100, nested(max_value_depth - 1)));
  CAF_CHECK(load(saved(brothers), x));
  CAF_CHECK(x == brothers);
}

CAF_TEST(F2.4 a value of a kind that does not exist is an error) {
  auto damaged = saved(value::uint32(7));
  // Two bytes of type, then the number of the alternative.
  damaged[2] = 100;
  auto x = value{};
  CAF_CHECK(!load(damaged, x));
}

CAF_TEST_FIXTURE_SCOPE_END()
