#include "actors/mesh/remoting/type_table.hpp"

#include "messages/wire_types.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <exception>

namespace troupe {

namespace {

/// In the order of their codes, from 1: new ones come last.
std::vector<wire_type> common_types() {
  return wire_types<bool, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t,
                    int64_t, uint64_t, float, double, std::string, caf::unit_t,
                    caf::actor, caf::strong_actor_ptr, caf::actor_addr,
                    caf::atom_value, caf::error, caf::exit_msg, caf::down_msg,
                    caf::timespan>();
}

} // namespace

type_table::type_table() {
  for (auto& x : common_types()) {
    const auto code = static_cast<uint8_t>(common_.size() + 1);
    by_number_[x.number] = code;
    common_.push_back({std::move(x), code});
  }
}

void type_table::add(const std::vector<wire_type>& types) {
  for (const auto& x : types) {
    if (x.number != 0 && by_number_[x.number] != 0)
      continue;
    const auto [i, is_new] = named_.emplace(x.name, entry{x, 0});
    if (!is_new)
      continue;
    by_type_.emplace(x.type, &i->second);
    if (x.number != 0)
      named_numbers_[x.number] = &i->second;
  }
}

const type_table::entry* type_table::find(const caf::rtti_pair& type) const {
  if (type.first != 0) {
    if (const auto* x = find(by_number_[type.first]))
      return x;
    return named_numbers_[type.first];
  }
  const auto i = by_type_.find(std::type_index{*type.second});
  return i == by_type_.end() ? nullptr : i->second;
}

const type_table::entry* type_table::find(uint8_t code) const {
  return code == 0 || code > common_.size() ? nullptr : &common_[code - 1];
}

const type_table::entry* type_table::find(const std::string& name) const {
  const auto i = named_.find(name);
  return i == named_.end() ? nullptr : &i->second;
}

caf::error type_table::find_handles(const caf::type_erased_tuple& content,
                                    const handle_function& out) const {
  try {
    for (size_t i = 0; i < content.size(); ++i) {
      const auto* known = find(content.type(i));
      if (known != nullptr && known->type.find != nullptr)
        known->type.find(content.get(i), out);
    }
  } catch (const std::exception& x) {
    return make_error(caf::sec::runtime_error, x.what());
  }
  return caf::none;
}

bool type_table::is_plain(std::string_view name) {
  static constexpr std::string_view plain[] = {
    "@str", "@i8",  "@u8",    "@i16",  "@u16", "@i32", "@u32",
    "@i64", "@u64", "double", "float", "bool", "@atom"};
  constexpr auto begin = std::string_view{"@<>"};
  constexpr size_t most = 16;
  if (name.substr(0, begin.size()) != begin)
    return false;
  name.remove_prefix(begin.size());
  for (size_t n = 0; !name.empty(); ++n) {
    if (n == most || name.front() != '+')
      return false;
    name.remove_prefix(1);
    const auto one = name.substr(0, name.find('+'));
    if (std::find(std::begin(plain), std::end(plain), one) == std::end(plain))
      return false;
    name.remove_prefix(one.size());
  }
  return true;
}

} // namespace troupe
