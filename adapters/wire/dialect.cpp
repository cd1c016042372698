#include "adapters/wire/dialect.hpp"

#include "adapters/wire/layout.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace troupe::wire {

namespace {

struct module_name {
  packing_module module;
  std::string_view name;
};

constexpr module_name module_names[] = {
  {packing_module::v21, "v21"}, {packing_module::v3, "v3"},
  {packing_module::v4, "v4"},   {packing_module::v41, "v41"},
  {packing_module::v51, "v51"}, {packing_module::v61, "v61"},
};

constexpr uint16_t number_of(data_type x) {
  return static_cast<uint16_t>(x);
}

constexpr bool within(uint16_t x, uint16_t first, uint16_t last) {
  return first <= x && x <= last;
}

} // namespace

bool operator==(const dialect& x, const dialect& y) {
  const auto fields = [](const dialect& d) {
    return std::tie(d.module, d.described, d.peer, d.expand_strings,
                    d.signed_data_type, d.all_types);
  };
  return fields(x) == fields(y);
}

integer_family family_of(packing_module x) {
  return x == packing_module::v21 || x == packing_module::v3
           ? integer_family::fixed
           : integer_family::flex;
}

std::optional<packing_module> parse_module(std::string_view name) {
  for (const auto& x : module_names)
    if (x.name == name)
      return x.module;
  return std::nullopt;
}

std::string_view to_string(packing_module x) {
  for (const auto& y : module_names)
    if (y.module == x)
      return y.name;
  return "?";
}

release parse_release(std::string_view text) {
  auto parts = std::array<uint16_t, 3>{};
  if (!text.empty() && text.front() == 'v')
    text.remove_prefix(1);
  for (auto& part : parts) {
    auto number = uint32_t{0};
    auto digits = size_t{0};
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
      number = std::min<uint32_t>(number * 10 + (text[digits] - '0'), 65535);
      ++digits;
    }
    part = static_cast<uint16_t>(number);
    text.remove_prefix(digits);
    if (digits == 0 || text.empty() || text.front() != '.')
      break;
    text.remove_prefix(1);
  }
  return {parts[0], parts[1], parts[2]};
}

bool may_send(const dialect& d, data_type x) {
  if (d.all_types)
    return x != data_type::undef && layout_of(x).kind != shape::unknown;
  const auto n = number_of(x);
  if (within(n, 1, 28) || within(n, 30, 43))
    return true;
  switch (d.module) {
    case packing_module::v21:
      return x == data_type::info_array;
    case packing_module::v3:
      return within(n, 44, 46);
    case packing_module::v4:
      return within(n, 45, 59);
    case packing_module::v41:
      // Libraries of 6 no longer know the statistics.
      return within(n, 45, 60) || within(n, 65, 69)
             || (within(n, 61, 64) && d.peer.major < 6);
    case packing_module::v51:
      return within(n, 45, 60) || within(n, 65, 72);
    case packing_module::v61:
      // The types after 73 came after release 6.
      return within(n, 45, 60) || within(n, 65, 73)
             || (within(n, 74, 75) && d.peer.major > 6);
  }
  return false;
}

bool supports(const dialect& d, data_type x) {
  // Libraries of 3.2 fail on the two types that they register.
  const auto fixed = family_of(d.module) == integer_family::fixed;
  if (fixed && !d.all_types
      && (x == data_type::compressed_string || x == data_type::pointer))
    return false;
  return may_send(d, x);
}

group_layout group_layout_of(const release& peer) {
  if (peer.major >= 6)
    return group_layout::members_and_infos;
  return peer < release{4, 2, 4} ? group_layout::context_id
                                 : group_layout::members;
}

bool destructs_with_members(const release& peer) {
  return !(peer < release{4, 2, 4});
}

} // namespace troupe::wire
