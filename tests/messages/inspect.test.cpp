// Every message: filled at random, saved, loaded, and damaged on the way.

#include "messages/actors.hpp"
#include "tests/test.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>
#include <caf/deep_to_string.hpp>

#include <random>
#include <type_traits>

using namespace troupe;

namespace {

using bytes = std::vector<char>;

/// An inspector that fills whatever it inspects at random.
class filler {
public:
  using result_type = caf::error;

  static constexpr bool reads_state = false;
  static constexpr bool writes_state = true;

  explicit filler(uint32_t seed) : random_(seed) {
    // nop
  }

  template <class... Ts>
  caf::error operator()(Ts&&... xs) {
    (fill(xs), ...);
    return caf::none;
  }

private:
  /// Values nest at most so deep.
  static constexpr auto max_depth = 4;

  size_t draw(size_t n) {
    return random_() % n;
  }

  void fill(bool& x) {
    x = draw(2) == 1;
  }

  void fill(double& x) {
    x = static_cast<double>(draw(1000)) / 8;
  }

  void fill(std::string& x) {
    x.clear();
    for (auto n = draw(6); n > 0; --n)
      x += static_cast<char>(draw(256));
  }

  void fill(value& x) {
    ++depth_;
    x.type = static_cast<data_type>(draw(76));
    if (depth_ < max_depth)
      fill(x.data);
    else
      x.data = uint64_t{draw(256)};
    --depth_;
  }

  template <class T>
  void fill(std::vector<T>& xs) {
    xs.resize(draw(3));
    for (auto& x : xs)
      fill(x);
  }

  void fill(std::vector<bool>& xs) {
    xs.resize(draw(20));
    for (auto&& x : xs)
      x = draw(2) == 1;
  }

  void fill(std::chrono::nanoseconds& x) {
    x = std::chrono::nanoseconds{random_()};
  }

  void fill(std::chrono::milliseconds& x) {
    x = std::chrono::milliseconds{draw(1000000)};
  }

  template <class T>
  void fill(std::optional<T>& x) {
    x.reset();
    if (draw(2) == 1)
      fill(x.emplace());
  }

  template <class... Ts>
  void fill(std::variant<Ts...>& x) {
    caf::emplace_nth(x, draw(sizeof...(Ts)), std::index_sequence_for<Ts...>{});
    std::visit([&](auto& y) { fill(y); }, x);
  }

  template <class T>
  void fill(T& x) {
    if constexpr (std::is_same_v<
                    T, caf::meta::
                         type_name_t> || std::is_same_v<T, std::monostate>)
      std::ignore = x;
    else if constexpr (std::is_enum_v<T>)
      x = static_cast<T>(draw(8));
    else if constexpr (std::is_integral_v<T>)
      x = static_cast<T>(random_());
    else
      std::ignore = inspect(*this, x);
  }

  std::mt19937 random_;
  int depth_ = 0;
};

struct fixture {
  caf::actor_system_config config;
  caf::actor_system sys{config};

  template <class T>
  bytes saved(T x) {
    bytes result;
    caf::binary_serializer sink{sys, result};
    if (auto err = sink(x))
      CAF_FAIL("cannot save: " << sys.render(err));
    return result;
  }

  /// @returns whether all of `xs` could be loaded and nothing was left over.
  template <class T>
  bool load(const bytes& xs, T& x) {
    caf::binary_deserializer source{sys, xs};
    return !source(x) && source.remaining() == 0;
  }
};

template <class T>
bool equal(const T& x, const T& y) {
  return x == y;
}

bool equal(const job_info_reply& x, const job_info_reply& y) {
  return *x.info == *y.info;
}

using members_of_group = std::shared_ptr<const std::vector<proc_id>>;

bool equal(const members_of_group& x, const members_of_group& y) {
  return (x == nullptr) == (y == nullptr) && (x == nullptr || *x == *y);
}

bool equal(const group_known& x, const group_known& y) {
  return x.id == y.id && equal(x.members, y.members);
}

bool equal(const group_changed& x, const group_changed& y) {
  return x.group == y.group && equal(x.members, y.members)
         && x.released == y.released && x.departed == y.departed;
}

/// Calls `f(name, tag)` with a null pointer of each inspected type.
template <class F>
void for_each_type(F f) {
#define TROUPE_CALL(type) f(#type, static_cast<troupe::type*>(nullptr));
  TROUPE_FOR_EACH_INSPECTED(TROUPE_CALL)
#undef TROUPE_CALL
}

template <class T>
T filled(uint32_t seed) {
  auto result = T{};
  filler f{seed};
  std::ignore = inspect(f, result);
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
  size_t types = 0;
  for_each_type([&](const char* name, auto* tag) {
    using type = std::remove_pointer_t<decltype(tag)>;
    ++types;
    for (uint32_t seed = 0; seed < 40; ++seed) {
      const auto before = filled<type>(seed);
      auto after = type{};
      if (!load(saved(before), after) || !equal(before, after))
        CAF_ERROR(name << " changed on its way, seed " << seed);
    }
  });
  CAF_CHECK(types > 120);
}

CAF_TEST(F2.4 a message loads into one that has other content) {
  for_each_type([&](const char* name, auto* tag) {
    using type = std::remove_pointer_t<decltype(tag)>;
    for (uint32_t seed = 0; seed < 10; ++seed) {
      const auto before = filled<type>(seed);
      auto after = filled<type>(seed + 1);
      if (!load(saved(before), after) || !equal(before, after))
        CAF_ERROR(name << " kept old content, seed " << seed);
    }
  });
}

CAF_TEST(F2.4 every message prints) {
  for_each_type([&](const char* name, auto* tag) {
    using type = std::remove_pointer_t<decltype(tag)>;
    if (caf::deep_to_string(filled<type>(1)).empty())
      CAF_ERROR(name << " prints nothing");
  });
}

CAF_TEST(F2.4 a message cut anywhere is an error) {
  for_each_type([&](const char* name, auto* tag) {
    using type = std::remove_pointer_t<decltype(tag)>;
    for (uint32_t seed = 0; seed < 3; ++seed) {
      const auto whole = saved(filled<type>(seed));
      for (size_t n = 0; n < whole.size(); ++n) {
        auto part = type{};
        if (load(bytes(whole.begin(), whole.begin() + static_cast<int>(n)),
                 part))
          CAF_ERROR(name << " loads from " << n << " of " << whole.size()
                         << " bytes, seed " << seed);
      }
    }
  });
}

CAF_TEST(F2.4 a flipped byte is an error or another message) {
  size_t loaded = 0;
  size_t refused = 0;
  for_each_type([&](const char*, auto* tag) {
    using type = std::remove_pointer_t<decltype(tag)>;
    for (uint32_t seed = 0; seed < 3; ++seed) {
      auto damaged = saved(filled<type>(seed));
      for (auto& byte : damaged)
        for (const int pattern : {0x01, 0x80, 0xff}) {
          byte = static_cast<char>(byte ^ pattern);
          auto x = type{};
          if (load(damaged, x)) {
            saved(x);
            ++loaded;
          } else {
            ++refused;
          }
          byte = static_cast<char>(byte ^ pattern);
        }
    }
  });
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
