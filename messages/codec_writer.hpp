#pragma once

#include "messages/codec_traits.hpp"

#include <cstring>
#include <string>
#include <string_view>

namespace troupe {

/// Appends values to bytes; see messages/bounded_codec.hpp for the rules.
class codec_writer {
public:
  using result_type = caf::error;
  static constexpr bool reads_state = true;
  static constexpr bool writes_state = false;

  /// @param out Has to outlive the writer.
  explicit codec_writer(std::string& out) : out_(out) {
    // nop
  }

  /// What `inspect` calls.
  template <class... Ts>
  caf::error operator()(Ts&&... xs) {
    (write(xs), ...);
    return caf::none;
  }

  template <class T>
  void write(const T& x) {
    if constexpr (caf::meta::is_annotation<T>::value
                  || std::is_same_v<T, std::monostate>) {
      // Has no bytes.
    } else if constexpr (std::is_same_v<T, bool>) {
      put_byte(x ? 1 : 0);
    } else if constexpr (std::is_enum_v<T>) {
      write(static_cast<std::underlying_type_t<T>>(x));
    } else if constexpr (std::is_same_v<T, uint8_t>) {
      put_byte(x);
    } else if constexpr (std::is_integral_v<T> && std::is_unsigned_v<T>) {
      put_number(x);
    } else if constexpr (std::is_integral_v<T>) {
      const auto wide = static_cast<int64_t>(x);
      const auto bits = static_cast<uint64_t>(wide);
      put_number(bits << 1 ^ (wide < 0 ? ~uint64_t{0} : 0));
    } else if constexpr (std::is_floating_point_v<T>) {
      put_double(static_cast<double>(x));
    } else if constexpr (codec::is_duration<T>::value) {
      write(static_cast<int64_t>(x.count()));
    } else if constexpr (codec::is_text<T>) {
      put_text(x);
    } else if constexpr (codec::is_optional<T>::value) {
      write(x.has_value());
      if (x)
        write(*x);
    } else if constexpr (codec::is_variant<T>::value) {
      static_assert(std::variant_size_v<T> <= 255);
      put_byte(static_cast<uint8_t>(x.index()));
      std::visit([this](const auto& y) { this->write(y); }, x);
    } else if constexpr (std::is_same_v<T, std::vector<bool>>) {
      put_bits(x);
    } else if constexpr (codec::is_pair<T>::value) {
      write(x.first);
      write(x.second);
    } else if constexpr (codec::is_array<T>::value) {
      for (const auto& y : x)
        write(y);
    } else if constexpr (codec::is_range<T>) {
      put_number(x.size());
      for (const auto& y : x)
        write(y);
    } else {
      // Whatever inspects for reading leaves it as it is.
      inspect(*this, const_cast<T&>(x));
    }
  }

  void put_byte(uint8_t x) {
    out_.push_back(static_cast<char>(x));
  }

  void put_number(uint64_t x);
  void put_double(double x);
  void put_text(std::string_view x);
  void put_bits(const std::vector<bool>& x);

private:
  std::string& out_;
};

} // namespace troupe
