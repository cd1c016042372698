#pragma once

#include "messages/codec_traits.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

namespace troupe {

/// Takes values from bytes that may come from anybody; see
/// messages/bounded_codec.hpp for the rules. After an error the rest is of no
/// use.
///
/// - A count is refused if it exceeds the bytes that are left, since each
///   element takes one at least; memory grows with the elements that are there.
/// - All elements together take no more memory than `memory_limit`.
/// - Structures nest no deeper than `max_depth`.
/// - Indexes of variants and values of our own enumerations are checked.
/// Source: guarantees X14, X15, X44 and limit L4.
class codec_reader {
public:
  using result_type = caf::error;
  static constexpr bool reads_state = false;
  static constexpr bool writes_state = true;

  /// Structures within structures; a value (`max_value_depth`) takes three.
  static constexpr int max_depth = 64;

  /// Memory of all elements of sequences that `size` bytes may ask for.
  static constexpr size_t memory_limit(size_t size) {
    return (size_t{64} << 20) + 8 * size;
  }

  explicit codec_reader(std::string_view bytes)
    : rest_(bytes), memory_(memory_limit(bytes.size())) {
    // nop
  }

  /// What `inspect` calls.
  template <class... Ts>
  caf::error operator()(Ts&&... xs) {
    auto result = caf::error{};
    ((result = read(xs), !result) && ...);
    return result;
  }

  template <class T>
  caf::error read(T& x) {
    if constexpr (caf::meta::is_annotation<std::remove_const_t<T>>::value
                  || std::is_same_v<T, std::monostate>) {
      return caf::none;
    } else if constexpr (std::is_same_v<T, bool>) {
      return take_bool(x);
    } else if constexpr (std::is_enum_v<T>) {
      return take_enum(x);
    } else if constexpr (std::is_same_v<T, uint8_t>) {
      return take_byte(x);
    } else if constexpr (std::is_integral_v<T>) {
      return take_integer(x);
    } else if constexpr (std::is_floating_point_v<T>) {
      auto wide = double{};
      auto err = take_double(wide);
      x = static_cast<T>(wide);
      return err;
    } else if constexpr (codec::is_duration<T>::value) {
      auto count = int64_t{};
      auto err = take_integer(count);
      x = T{static_cast<typename T::rep>(count)};
      return err;
    } else if constexpr (codec::is_text<T>) {
      return take_text(x);
    } else if constexpr (codec::is_optional<T>::value) {
      auto has_value = false;
      if (auto err = take_bool(has_value))
        return err;
      x.reset();
      return has_value ? read(x.emplace()) : caf::error{};
    } else if constexpr (codec::is_variant<T>::value) {
      auto index = uint8_t{};
      if (auto err = take_byte(index))
        return err;
      if (!codec::emplace_nth(
            x, index, std::make_index_sequence<std::variant_size_v<T>>{}))
        return refuse("an alternative that does not exist");
      return std::visit([this](auto& y) { return this->read(y); }, x);
    } else if constexpr (std::is_same_v<T, std::vector<bool>>) {
      return take_bits(x);
    } else if constexpr (codec::is_pair<T>::value) {
      if (auto err = read(const_cast<codec::first_of<T>&>(x.first)))
        return err;
      return read(x.second);
    } else if constexpr (codec::is_array<T>::value) {
      for (auto& y : x)
        if (auto err = read(y))
          return err;
      return caf::none;
    } else if constexpr (codec::is_range<T>) {
      return take_range(x);
    } else {
      if (depth_ >= max_depth)
        return refuse("nested too deeply");
      ++depth_;
      auto err = inspect(*this, x);
      --depth_;
      return err;
    }
  }

  /// Fails if bytes are left.
  caf::error expect_end() const;

  size_t remaining() const {
    return rest_.size();
  }

  caf::error take_byte(uint8_t& x);
  caf::error take_bool(bool& x);
  caf::error take_number(uint64_t& x);
  caf::error take_double(double& x);
  caf::error take_text(std::string& x);
  caf::error take_bits(std::vector<bool>& x);

  /// The bytes of a string, where they are.
  caf::error take_view(std::string_view& x);

  /// Counts elements that need no bytes of their own, as those of runs, before
  /// there is room for them.
  caf::error take_memory(size_t count, size_t size);

  /// An error about what no encoder writes.
  static caf::error refuse(const char* what);

private:
  /// A number of elements, each of at least one byte.
  caf::error take_count(size_t& x);

  template <class T>
  caf::error take_integer(T& x) {
    auto bits = uint64_t{};
    if (auto err = take_number(bits))
      return err;
    using limits = std::numeric_limits<T>;
    if constexpr (std::is_unsigned_v<T>) {
      if (bits > limits::max())
        return refuse("a number that is too large");
      x = static_cast<T>(bits);
    } else {
      const auto wide =
        static_cast<int64_t>(bits >> 1 ^ (~(bits & 1) + uint64_t{1}));
      if (wide < limits::min() || wide > limits::max())
        return refuse("a number that is too large");
      x = static_cast<T>(wide);
    }
    return caf::none;
  }

  template <class T>
  caf::error take_enum(T& x) {
    auto number = std::underlying_type_t<T>{};
    if (auto err = read(number))
      return err;
    x = static_cast<T>(number);
    if constexpr (codec::is_ours<T>)
      if (number > static_cast<std::underlying_type_t<T>>(last_of(x)))
        return refuse("a value that its enumeration does not have");
    return caf::none;
  }

  template <class T>
  caf::error take_range(T& xs) {
    using element = codec::element_of<T>;
    auto count = size_t{};
    if (auto err = take_count(count))
      return err;
    xs.clear();
    for (size_t i = 0; i < count; ++i) {
      if (memory_ < sizeof(element))
        return refuse("too many elements");
      memory_ -= sizeof(element);
      auto x = element{};
      if (auto err = read(x))
        return err;
      xs.insert(xs.end(), std::move(x));
    }
    return caf::none;
  }

  std::string_view rest_;
  size_t memory_;
  int depth_ = 0;
};

} // namespace troupe
