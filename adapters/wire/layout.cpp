#include "adapters/wire/layout.hpp"

namespace troupe::wire {

namespace {

using t = data_type;

constexpr size_t num_types = 76;

struct table {
  layout rows[num_types];
};

constexpr void put(table& x, t type, layout row) {
  x.rows[static_cast<uint16_t>(type)] = row;
}

constexpr layout integer(shape kind, uint8_t width, t tag = t::undef) {
  return {kind, width, tag, width, 1};
}

constexpr layout other(shape kind, uint8_t min_fixed, uint8_t min_flex) {
  return {kind, 0, t::undef, min_fixed, min_flex};
}

constexpr table make_table() {
  auto x = table{};
  const auto u = shape::unsigned_integer;
  const auto s = shape::signed_integer;
  put(x, t::undef, other(shape::nothing, 0, 0));
  put(x, t::bool_, other(shape::boolean, 1, 1));
  for (auto type : {t::byte, t::uint8, t::persist, t::scope, t::data_range,
                    t::command, t::proc_state, t::alloc_directive, t::job_state,
                    t::link_state, t::resblock_directive, t::alloc_inherit})
    put(x, type, integer(u, 1));
  for (auto type : {t::uint16, t::data_type, t::iof_channel, t::locality,
                    t::storage_access_type})
    put(x, type, integer(u, 2));
  for (auto type : {t::uint32, t::info_directives, t::proc_rank})
    put(x, type, integer(u, 4));
  for (auto type : {t::uint64, t::time, t::device_type, t::storage_medium,
                    t::storage_accessibility, t::storage_persistence})
    put(x, type, integer(u, 8));
  put(x, t::size, integer(u, 8, t::uint64));
  put(x, t::pid, integer(u, 4, t::uint32));
  put(x, t::int8, integer(s, 1));
  put(x, t::int16, integer(s, 2));
  put(x, t::int32, integer(s, 4));
  put(x, t::int64, integer(s, 8));
  put(x, t::int_, integer(s, 4, t::int32));
  put(x, t::status, integer(s, 4));
  put(x, t::uint, integer(shape::unsigned_as_signed, 4, t::int32));
  put(x, t::float_, other(shape::floating_text, 6, 3));
  put(x, t::double_, other(shape::floating_text, 6, 3));
  put(x, t::string, other(shape::text, 4, 1));
  put(x, t::proc_cpuset, other(shape::text, 4, 1));
  put(x, t::proc_nspace, other(shape::text, 4, 1));
  for (auto type : {t::byte_object, t::compressed_string,
                    t::compressed_byte_object, t::data_buffer})
    put(x, type, other(shape::bytes, 10, 1));
  put(x, t::pointer, other(shape::pointer, 1, 1));
  put(x, t::buffer, other(shape::structure, 11, 2));
  put(x, t::regex, other(shape::structure, 1, 1));
  put(x, t::regex2, other(shape::structure, 14, 2));
  put(x, t::topology, other(shape::structure, 4, 1));
  put(x, t::timeval, other(shape::structure, 16, 2));
  put(x, t::value, other(shape::structure, 2, 1));
  put(x, t::proc, other(shape::structure, 8, 2));
  put(x, t::app, other(shape::structure, 34, 6));
  put(x, t::info, other(shape::structure, 11, 4));
  put(x, t::pdata, other(shape::structure, 15, 5));
  put(x, t::kval, other(shape::structure, 7, 3));
  put(x, t::proc_info, other(shape::structure, 23, 7));
  put(x, t::data_array, other(shape::structure, 2, 1));
  put(x, t::query, other(shape::structure, 14, 2));
  put(x, t::info_array, other(shape::structure, 10, 1));
  put(x, t::envar, other(shape::structure, 9, 3));
  put(x, t::coord, other(shape::structure, 11, 2));
  put(x, t::regattr, other(shape::structure, 15, 5));
  put(x, t::geometry, other(shape::structure, 28, 4));
  put(x, t::device_distance, other(shape::structure, 20, 5));
  put(x, t::endpoint, other(shape::structure, 18, 3));
  put(x, t::device, other(shape::structure, 16, 3));
  put(x, t::resource_unit, other(shape::structure, 18, 2));
  put(x, t::node_pid, other(shape::structure, 14, 4));
  put(x, t::proc_stats, other(shape::structure, 80, 23));
  put(x, t::disk_stats, other(shape::structure, 92, 12));
  put(x, t::net_stats, other(shape::structure, 52, 7));
  put(x, t::node_stats, other(shape::structure, 100, 38));
  return x;
}

constexpr auto layouts = make_table();
constexpr auto no_layout = layout{};

} // namespace

const layout& layout_of(data_type x) {
  const auto n = static_cast<uint16_t>(x);
  return n < num_types ? layouts.rows[n] : no_layout;
}

size_t min_size_of(data_type x, integer_family family) {
  const auto& row = layout_of(x);
  const auto n = family == integer_family::fixed ? row.min_fixed : row.min_flex;
  return n != 0 ? n : 1;
}

} // namespace troupe::wire
