#include "actors/mesh/remoting/content_writer.hpp"

#include "messages/status.hpp"

#include <caf/make_counted.hpp>
#include <caf/sec.hpp>
#include <caf/type_erased_tuple.hpp>

namespace troupe {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "numbers are written as they are in memory");

namespace {

/// Of texts and numbers, as `make_error` puts a status and a reason there.
bool is_plain(const caf::message& x) {
  for (size_t i = 0; i < x.size(); ++i)
    if (!x.match_element<std::string>(i) && !x.match_element<int32_t>(i))
      return false;
  return true;
}

} // namespace

content_writer::giver::~giver() = default;

content_writer::content_writer(caf::execution_unit* unit,
                               const type_table& types, giver& handles,
                               std::string& out, size_t most)
  : caf::serializer(unit), types_(types), handles_(handles), out_(out),
    end_(out.size() + most) {
  // nop
}

caf::error content_writer::write(const caf::type_erased_tuple& x) {
  if (auto err = put_count(x.size()))
    return err;
  for (size_t i = 0; i < x.size(); ++i) {
    const auto type = x.type(i);
    const auto* known = types_.find(type);
    if (known == nullptr)
      return make_error(
        caf::sec::unknown_type,
        "a message for another node has a type that was not "
        "allowed: "
          + std::string{type.second != nullptr
                          ? type.second->name()
                          : "number " + std::to_string(type.first)});
    if (auto err = put_number(known->code))
      return err;
    if (known->code == 0) {
      auto err = put_count(known->type.name.size());
      if (!err)
        err = put(known->type.name.data(), known->type.name.size());
      if (err)
        return err;
    }
    if (auto err = write_element(x, i))
      return err;
  }
  if (has_failed_)
    return make_error(caf::sec::unknown_type,
                      "a message within a message may have texts and numbers "
                      "only");
  return caf::none;
}

/// The context of an error that CAF could not write is left out.
caf::error content_writer::write_element(const caf::type_erased_tuple& x,
                                         size_t position) {
  if (!x.match_element<caf::error>(position))
    return x.save(position, *this);
  const auto& err = x.get_as<caf::error>(position);
  if (!err || is_plain(err.context()))
    return x.save(position, *this);
  auto plain = caf::error{err.code(), err.category()};
  return (*this)(plain);
}

caf::error content_writer::put_node(const member_name& x) {
  // CAF has written the id, then the kind.
  if (x.rank == no_rank)
    return put_foreign(make_member_node(x), 2 * sizeof(uint64_t));
  return put_handle(handles_.give(x, before_last_));
}

caf::error content_writer::put_handle(const wire_handle& x) {
  auto err = put_number(x.node.rank);
  if (!err)
    err = put_number(x.node.incarnation);
  return err ? err : put_number(x.key);
}

/// Other nodes know the actor as one of this node.
/// @param written How much CAF has written of it.
caf::error content_writer::put_foreign(const caf::node_id& node,
                                       size_t written) {
  const auto handle = handles_.give_foreign(node, before_last_);
  if (!handle)
    return make_error(status::not_supported,
                      "a message for another node names an actor that only"
                      " CAF's middleman reaches: put one of ours before it");
  out_.resize(out_.size() - written);
  auto err = put_number(handle->id);
  if (!err)
    err = put_number(static_cast<uint64_t>(member_atom));
  return err ? err : put_handle(*handle);
}

caf::error content_writer::begin_object(uint16_t&, std::string& name) {
  if (type_table::is_plain(name))
    return apply_impl(name);
  has_failed_ = true;
  return caf::sec::unknown_type;
}

caf::error content_writer::end_object() {
  return caf::none;
}

caf::error content_writer::begin_sequence(size_t& size) {
  return put_count(size);
}

caf::error content_writer::end_sequence() {
  return caf::none;
}

caf::error content_writer::apply_raw(size_t size, void* data) {
  return put(data, size);
}

caf::error content_writer::apply_impl(int8_t& x) {
  return put_number(x);
}

caf::error content_writer::apply_impl(uint8_t& x) {
  const auto is_of_node =
    parts_left_ > 0 && parts_left_ <= host_.size() && next_part_ == out_.size();
  if (auto err = put_number(x))
    return err;
  if (!is_of_node)
    return caf::none;
  host_[host_.size() - parts_left_] = x;
  next_part_ = out_.size();
  if (--parts_left_ > 0)
    return caf::none;
  using data = caf::node_id::default_data;
  return put_foreign(caf::node_id{caf::make_counted<data>(process_, host_)},
                     2 * sizeof(uint64_t) + sizeof(process_) + host_.size());
}

caf::error content_writer::apply_impl(int16_t& x) {
  return put_number(x);
}

caf::error content_writer::apply_impl(uint16_t& x) {
  return put_number(x);
}

caf::error content_writer::apply_impl(int32_t& x) {
  return put_number(x);
}

caf::error content_writer::apply_impl(uint32_t& x) {
  const auto is_of_node =
    parts_left_ == host_.size() + 1 && next_part_ == out_.size();
  if (auto err = put_number(x))
    return err;
  if (!is_of_node)
    return caf::none;
  process_ = x;
  next_part_ = out_.size();
  --parts_left_;
  return caf::none;
}

caf::error content_writer::apply_impl(int64_t& x) {
  return put_number(x);
}

caf::error content_writer::apply_impl(uint64_t& x) {
  // The id of a handle, then a kind of node of CAF's own.
  const auto is_node =
    last_end_ == out_.size() && last_end_ > 0
    && x == static_cast<uint64_t>(caf::node_id::default_data::class_id);
  parts_left_ = is_node ? host_.size() + 1 : 0;
  before_last_ = last_;
  last_ = x;
  auto err = put_number(x);
  last_end_ = next_part_ = out_.size();
  return err;
}

caf::error content_writer::apply_impl(float& x) {
  return put_number(x);
}

caf::error content_writer::apply_impl(double& x) {
  return put_number(x);
}

caf::error content_writer::apply_impl(long double& x) {
  return put_number(static_cast<double>(x));
}

caf::error content_writer::apply_impl(std::string& x) {
  auto err = put_count(x.size());
  return err ? err : put(x.data(), x.size());
}

caf::error content_writer::apply_impl(std::u16string& x) {
  auto err = put_count(x.size());
  return err ? err : put(x.data(), x.size() * sizeof(char16_t));
}

caf::error content_writer::apply_impl(std::u32string& x) {
  auto err = put_count(x.size());
  return err ? err : put(x.data(), x.size() * sizeof(char32_t));
}

caf::error content_writer::put(const void* data, size_t size) {
  if (size > end_ - out_.size())
    return make_error(
      status::bad_param,
      "a message for another node has too many bytes; send it in parts");
  out_.append(static_cast<const char*>(data), size);
  return caf::none;
}

caf::error content_writer::put_count(size_t x) {
  char bytes[10];
  size_t n = 0;
  for (; x > 0x7f; x >>= 7)
    bytes[n++] = static_cast<char>(x | 0x80);
  bytes[n++] = static_cast<char>(x);
  return put(bytes, n);
}

} // namespace troupe
