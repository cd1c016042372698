#include "actors/mesh/remoting/content_size.hpp"

#include <caf/actor.hpp>
#include <caf/actor_addr.hpp>
#include <caf/actor_control_block.hpp>
#include <caf/error.hpp>
#include <caf/message.hpp>
#include <caf/sec.hpp>
#include <caf/serializer.hpp>
#include <caf/system_messages.hpp>
#include <caf/type_erased_tuple.hpp>

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

namespace troupe {

namespace {

/// Of a handle, of what CAF says of ends, and of what is around a message
/// within another.
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

/// Whether an element has one handle, whatever it is, and little else.
bool is_handle(const caf::type_erased_tuple& x, size_t position) {
  return x.match_element<caf::actor>(position)
         || x.match_element<caf::actor_addr>(position)
         || x.match_element<caf::strong_actor_ptr>(position)
         || x.match_element<caf::weak_actor_ptr>(position)
         || x.match_element<caf::down_msg>(position)
         || x.match_element<caf::exit_msg>(position);
}

using message_list = std::vector<const caf::message*>;

/// Messages within an element wait in `within`: without a context CAF says
/// nothing of them.
bool counts_elements(const caf::type_erased_tuple& x, content_counter& out,
                     message_list& within) {
  auto result = true;
  for (size_t i = 0; i < x.size() && !out.is_full(); ++i) {
    if (x.match_element<caf::message>(i)) {
      static_cast<void>(out.add(handle_size));
      within.push_back(&x.get_as<caf::message>(i));
    } else if (x.match_element<caf::error>(i)) {
      static_cast<void>(out.add(handle_size));
      if (const auto& err = x.get_as<caf::error>(i); err)
        within.push_back(&err.context());
    } else if (!counts_all(x, i, out) && !out.is_full()) {
      static_cast<void>(out.add(handle_size));
      result = result && is_handle(x, i);
    }
  }
  return result;
}

} // namespace

content_size count_content(const caf::type_erased_tuple& x, size_t most) {
  auto out = content_counter{most};
  auto within = message_list{};
  auto result = content_size{};
  result.is_whole = counts_elements(x, out, within);
  for (size_t i = 0; i < within.size() && !out.is_full(); ++i)
    if (!counts_elements(*within[i], out, within))
      result.is_whole = false;
  result.bytes = out.bytes();
  return result;
}

} // namespace troupe
