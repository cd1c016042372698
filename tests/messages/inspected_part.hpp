// One part of the inspected types: to be included by one file each, which
// defines TROUPE_PART. With TROUPE_CARRIED_ALONE those that our programs have CAF
// write: TROUPE_CARRIED_TYPE of messages/messages.def.

#include "tests/messages/inspected.hpp"

#include <caf/deep_to_string.hpp>
#include <caf/deserializer.hpp>
#include <caf/serializer.hpp>

#include <random>
#include <type_traits>

using namespace troupe;

namespace {

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

template <class T>
bool equal(const T& x, const T& y) {
  return x == y;
}

[[maybe_unused]] bool equal(const job_info_reply& x, const job_info_reply& y) {
  return *x.info == *y.info;
}

using members_of_group = std::shared_ptr<const std::vector<proc_id>>;

[[maybe_unused]] bool equal(const members_of_group& x,
                            const members_of_group& y) {
  return (x == nullptr) == (y == nullptr) && (x == nullptr || *x == *y);
}

[[maybe_unused]] bool equal(const group_known& x, const group_known& y) {
  return x.id == y.id && equal(x.members, y.members);
}

[[maybe_unused]] bool equal(const group_changed& x, const group_changed& y) {
  return x.group == y.group && equal(x.members, y.members)
         && x.released == y.released && x.departed == y.departed;
}

template <class T>
class inspected_message : public inspected {
public:
  void fill(uint32_t seed) override {
    content_ = T{};
    filler f{seed};
    std::ignore = inspect(f, content_);
  }

  caf::error save(caf::serializer& sink) override {
    return sink(content_);
  }

  caf::error load(caf::deserializer& source) override {
    return source(content_);
  }

  bool equals(const inspected& other) const override {
    return equal(content_,
                 static_cast<const inspected_message&>(other).content_);
  }

  std::string text() const override {
    return caf::deep_to_string(content_);
  }

private:
  T content_{};
};

/// Adds `T` if it belongs to this part.
template <class T, int Number>
void add(std::vector<inspected_type>& to, const char* name) {
  if constexpr (TROUPE_PART < 0 || Number % inspected_parts == TROUPE_PART)
    to.push_back({name, []() -> std::unique_ptr<inspected> {
                    return std::make_unique<inspected_message<T>>();
                  }});
}

} // namespace

template <>
void add_inspected<TROUPE_PART>(std::vector<inspected_type>& to) {
  constexpr auto first = __COUNTER__ + 1;
#define TROUPE_CARRIED_TYPE(type)                                              \
  add<troupe::type, __COUNTER__ - first>(to, #type);
#define TROUPE_CARRIED_PART(type) TROUPE_CARRIED_TYPE(type)
#ifndef TROUPE_CARRIED_ALONE
#  define TROUPE_SENT_TYPE(type) TROUPE_CARRIED_TYPE(type)
#  define TROUPE_NESTED_TYPE(type) TROUPE_CARRIED_TYPE(type)
#endif
#include "messages/messages.def"
}
