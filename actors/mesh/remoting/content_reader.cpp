#include "actors/mesh/remoting/content_reader.hpp"

#include "actors/mesh/remoting/content_writer.hpp"

#include <caf/detail/dynamic_message_data.hpp>
#include <caf/sec.hpp>

#include <cstring>
#include <exception>

namespace troupe {

namespace {

/// What stands for the process of a node that is a member.
constexpr uint32_t member_process = 1;

} // namespace

std::optional<wire_handle> handle_of(const caf::node_id& node,
                                     caf::actor_id id) {
  using default_data = caf::node_id::default_data;
  if (!node || node->implementation_id() != default_data::class_id)
    return std::nullopt;
  const auto& data = static_cast<const default_data&>(*node);
  if (data.process_id() != member_process)
    return std::nullopt;
  const auto bytes = data.host_id();
  auto result = wire_handle{};
  result.id = id;
  std::memcpy(&result.node.rank, bytes.data(), 4);
  std::memcpy(&result.node.incarnation, bytes.data() + 4, 8);
  std::memcpy(&result.key, bytes.data() + 12, 8);
  return result;
}

caf::error content_reader::refuse(const char* what) {
  has_failed_ = true;
  return make_error(caf::sec::invalid_argument, what);
}

content_reader::content_reader(caf::execution_unit* unit,
                               const type_table& types, std::string_view bytes)
  : caf::deserializer(unit), types_(types), rest_(bytes),
    elements_(8 * bytes.size()) {
  // nop
}

caf::expected<caf::message> content_reader::read() {
  const auto here = char{};
  base_ = &here;
  try {
    return read_elements();
  } catch (const std::exception& x) {
    return make_error(caf::sec::invalid_argument, x.what());
  }
}

caf::expected<caf::message> content_reader::read_elements() {
  auto count = size_t{};
  if (auto err = take_count(count))
    return err;
  if (count > max_elements || count > rest_.size())
    return refuse("a message of too many elements");
  auto values = caf::detail::dynamic_message_data::elements{};
  values.reserve(count);
  auto name = std::string{};
  for (size_t i = 0; i < count; ++i) {
    auto code = uint8_t{};
    if (auto err = take_number(code))
      return err;
    const auto* type = types_.find(code);
    if (code == 0) {
      if (auto err = take_text(name))
        return err;
      type = name.size() > max_name ? nullptr : types_.find(name);
    }
    if (type == nullptr)
      return make_error(caf::sec::unknown_type,
                        "a type that the receiver has not allowed");
    auto value = type->type.make();
    if (auto err = value->load(*this))
      return err;
    values.push_back(std::move(value));
  }
  if (has_failed_ || !rest_.empty())
    return refuse("a message within a message, or bytes after it");
  if (values.empty())
    return caf::message{};
  using data = caf::detail::dynamic_message_data;
  return caf::message{
    caf::message::data_ptr{new data{std::move(values)}, false}};
}

caf::error content_reader::begin_object(uint16_t& number, std::string& name) {
  number = 0;
  if (auto err = take_text(name))
    return err;
  return type_table::is_plain(name)
           ? caf::error{}
           : refuse("a message within a message that has not only texts");
}

caf::error content_reader::end_object() {
  return caf::none;
}

caf::error content_reader::begin_sequence(size_t& size) {
  size = 0;
  auto count = size_t{};
  if (auto err = take_count(count))
    return err;
  // Elements without content take no byte, and of bits eight take one.
  if (count > elements_ || count / 8 > rest_.size())
    return refuse("a count that is too large");
  elements_ -= count;
  size = count;
  return caf::none;
}

caf::error content_reader::end_sequence() {
  return caf::none;
}

caf::error content_reader::apply_raw(size_t size, void* data) {
  return take(data, size);
}

caf::error content_reader::apply_impl(int8_t& x) {
  return take_number(x);
}

caf::error content_reader::apply_impl(uint8_t& x) {
  if (node_left_ == 0)
    return take_number(x);
  x = node_[node_.size() - node_left_--];
  return caf::none;
}

caf::error content_reader::apply_impl(int16_t& x) {
  return take_number(x);
}

caf::error content_reader::apply_impl(uint16_t& x) {
  return take_number(x);
}

caf::error content_reader::apply_impl(int32_t& x) {
  return take_number(x);
}

caf::error content_reader::apply_impl(uint32_t& x) {
  if (!std::exchange(is_node_next_, false))
    return take_number(x);
  x = member_process;
  if (auto err = take(node_.data(), node_.size()))
    return err;
  node_left_ = node_.size();
  return caf::none;
}

caf::error content_reader::apply_impl(int64_t& x) {
  return take_number(x);
}

caf::error content_reader::apply_impl(uint64_t& x) {
  if (auto err = take_number(x))
    return err;
  // CAF knows two kinds of nodes, none of them ours.
  is_node_next_ = x == static_cast<uint64_t>(member_atom);
  if (is_node_next_)
    x = static_cast<uint64_t>(caf::node_id::default_data::class_id);
  return caf::none;
}

caf::error content_reader::apply_impl(float& x) {
  return take_number(x);
}

caf::error content_reader::apply_impl(double& x) {
  return take_number(x);
}

caf::error content_reader::apply_impl(long double& x) {
  auto wide = double{};
  auto err = take_number(wide);
  x = wide;
  return err;
}

caf::error content_reader::apply_impl(std::string& x) {
  return take_text(x);
}

caf::error content_reader::apply_impl(std::u16string& x) {
  return take_text(x);
}

caf::error content_reader::apply_impl(std::u32string& x) {
  return take_text(x);
}

template <class String>
caf::error content_reader::take_text(String& x) {
  constexpr auto size = sizeof(typename String::value_type);
  auto count = size_t{};
  if (auto err = take_count(count))
    return err;
  if (count > rest_.size() / size)
    return refuse("a text that is too long");
  x.resize(count);
  return take(x.data(), count * size);
}

caf::error content_reader::take(void* data, size_t size) {
  if (has_failed_ || size > rest_.size())
    return refuse("ends too early");
  if (is_deep())
    return refuse("nested too deeply");
  std::memcpy(data, rest_.data(), size);
  rest_.remove_prefix(size);
  return caf::none;
}

caf::error content_reader::take_count(size_t& x) {
  x = 0;
  for (unsigned shift = 0; shift < 63; shift += 7) {
    auto byte = uint8_t{};
    if (auto err = take(&byte, 1))
      return err;
    x |= size_t{byte & 0x7fU} << shift;
    if (byte < 0x80)
      return caf::none;
  }
  return refuse("a count that is too large");
}

bool content_reader::is_deep() const {
  const auto here = char{};
  const auto depth = base_ - &here;
  return static_cast<size_t>(depth < 0 ? -depth : depth) > max_stack;
}

} // namespace troupe
