#include "actors/mesh/remoting/content_size.hpp"

#include <caf/error.hpp>
#include <caf/sec.hpp>
#include <caf/serializer.hpp>
#include <caf/type_erased_tuple.hpp>

#include <cstdint>
#include <exception>
#include <string>

namespace troupe {

namespace {

/// Of CAF's own types that have handles: handles, and what it says of ends.
constexpr size_t handle_size = 64;

/// Has no context, so that CAF registers no actor whose handle is counted: it
/// fails there instead.
class content_counter final : public caf::serializer {
public:
  explicit content_counter(size_t most) : most_(most) {
    // nop
  }

  size_t bytes() const noexcept {
    return bytes_;
  }

  bool is_full() const noexcept {
    return bytes_ > most_;
  }

  caf::error add(size_t bytes) {
    bytes_ += bytes;
    if (is_full())
      return caf::sec::invalid_argument;
    return caf::none;
  }

  caf::error begin_object(uint16_t&, std::string& name) override {
    return add(name.size());
  }

  caf::error end_object() override {
    return caf::none;
  }

  caf::error begin_sequence(size_t&) override {
    return add(1);
  }

  caf::error end_sequence() override {
    return caf::none;
  }

  caf::error apply_raw(size_t size, void*) override {
    return add(size);
  }

protected:
  caf::error apply_impl(int8_t& x) override {
    return add(sizeof(x));
  }

  caf::error apply_impl(uint8_t& x) override {
    return add(sizeof(x));
  }

  caf::error apply_impl(int16_t& x) override {
    return add(sizeof(x));
  }

  caf::error apply_impl(uint16_t& x) override {
    return add(sizeof(x));
  }

  caf::error apply_impl(int32_t& x) override {
    return add(sizeof(x));
  }

  caf::error apply_impl(uint32_t& x) override {
    return add(sizeof(x));
  }

  caf::error apply_impl(int64_t& x) override {
    return add(sizeof(x));
  }

  caf::error apply_impl(uint64_t& x) override {
    return add(sizeof(x));
  }

  caf::error apply_impl(float& x) override {
    return add(sizeof(x));
  }

  caf::error apply_impl(double& x) override {
    return add(sizeof(x));
  }

  caf::error apply_impl(long double& x) override {
    return add(sizeof(x));
  }

  caf::error apply_impl(std::string& x) override {
    return add(1 + x.size());
  }

  caf::error apply_impl(std::u16string& x) override {
    return add(1 + x.size() * sizeof(char16_t));
  }

  caf::error apply_impl(std::u32string& x) override {
    return add(1 + x.size() * sizeof(char32_t));
  }

private:
  size_t bytes_ = 0;
  const size_t most_;
};

bool counts_all(const caf::type_erased_tuple& x, size_t position,
                content_counter& out) {
  try {
    return !x.save(position, out);
  } catch (const std::exception&) {
    return false; // Whoever writes it says why.
  }
}

} // namespace

content_size count_content(const caf::type_erased_tuple& x, size_t most) {
  auto out = content_counter{most};
  auto result = content_size{};
  for (size_t i = 0; i < x.size() && !out.is_full(); ++i) {
    if (counts_all(x, i, out) || out.is_full())
      continue;
    if (x.type_nr(i) != 0)
      static_cast<void>(out.add(handle_size));
    else
      result.is_whole = false;
  }
  result.bytes = out.bytes();
  return result;
}

} // namespace troupe
