#include "messages/data_type.hpp"

#include <array>
#include <cstddef>
#include <iterator>
#include <string>

namespace troupe {

namespace {

/// With its name inside: a pointer the loader would write at every start.
struct row {
  data_type type;
  char name[24];
  storage_class storage;
  uint8_t width;
};

using t = data_type;
using s = storage_class;

constexpr row rows[] = {
  {t::undef, "UNDEF", s::none, 0},
  {t::bool_, "BOOL", s::boolean, 1},
  {t::byte, "BYTE", s::unsigned_integer, 1},
  {t::string, "STRING", s::text, 0},
  {t::size, "SIZE", s::unsigned_integer, 8},
  {t::pid, "PID", s::unsigned_integer, 4},
  {t::int_, "INT", s::signed_integer, 4},
  {t::int8, "INT8", s::signed_integer, 1},
  {t::int16, "INT16", s::signed_integer, 2},
  {t::int32, "INT32", s::signed_integer, 4},
  {t::int64, "INT64", s::signed_integer, 8},
  {t::uint, "UINT", s::unsigned_integer, 4},
  {t::uint8, "UINT8", s::unsigned_integer, 1},
  {t::uint16, "UINT16", s::unsigned_integer, 2},
  {t::uint32, "UINT32", s::unsigned_integer, 4},
  {t::uint64, "UINT64", s::unsigned_integer, 8},
  {t::float_, "FLOAT", s::floating_point, 4},
  {t::double_, "DOUBLE", s::floating_point, 8},
  {t::timeval, "TIMEVAL", s::timeval, 0},
  {t::time, "TIME", s::unsigned_integer, 8},
  {t::status, "STATUS", s::signed_integer, 4},
  {t::value, "VALUE", s::structure, 0},
  {t::proc, "PROC", s::proc, 0},
  {t::app, "APP", s::structure, 0},
  {t::info, "INFO", s::structure, 0},
  {t::pdata, "PDATA", s::structure, 0},
  {t::buffer, "BUFFER", s::bytes, 0},
  {t::byte_object, "BYTE_OBJECT", s::bytes, 0},
  {t::kval, "KVAL", s::structure, 0},
  {t::persist, "PERSIST", s::unsigned_integer, 1},
  {t::pointer, "POINTER", s::none, 0},
  {t::scope, "SCOPE", s::unsigned_integer, 1},
  {t::data_range, "DATA_RANGE", s::unsigned_integer, 1},
  {t::command, "COMMAND", s::unsigned_integer, 1},
  {t::info_directives, "INFO_DIRECTIVES", s::unsigned_integer, 4},
  {t::data_type, "DATA_TYPE", s::unsigned_integer, 2},
  {t::proc_state, "PROC_STATE", s::unsigned_integer, 1},
  {t::proc_info, "PROC_INFO", s::structure, 0},
  {t::data_array, "DATA_ARRAY", s::structure, 0},
  {t::proc_rank, "PROC_RANK", s::unsigned_integer, 4},
  {t::query, "QUERY", s::structure, 0},
  {t::compressed_string, "COMPRESSED_STRING", s::bytes, 0},
  {t::alloc_directive, "ALLOC_DIRECTIVE", s::unsigned_integer, 1},
  {t::info_array, "INFO_ARRAY", s::structure, 0},
  {t::iof_channel, "IOF_CHANNEL", s::unsigned_integer, 2},
  {t::envar, "ENVAR", s::structure, 0},
  {t::coord, "COORD", s::structure, 0},
  {t::regattr, "REGATTR", s::structure, 0},
  {t::regex, "REGEX", s::bytes, 0},
  {t::job_state, "JOB_STATE", s::unsigned_integer, 1},
  {t::link_state, "LINK_STATE", s::unsigned_integer, 1},
  {t::proc_cpuset, "PROC_CPUSET", s::text, 0},
  {t::geometry, "GEOMETRY", s::structure, 0},
  {t::device_distance, "DEVICE_DIST", s::structure, 0},
  {t::endpoint, "ENDPOINT", s::structure, 0},
  {t::topology, "TOPO", s::text, 0},
  {t::device_type, "DEVTYPE", s::unsigned_integer, 8},
  {t::locality, "LOCTYPE", s::unsigned_integer, 2},
  {t::compressed_byte_object, "COMPRESSED_BYTE_OBJECT", s::bytes, 0},
  {t::proc_nspace, "PROC_NSPACE", s::text, 0},
  {t::proc_stats, "PROC_STATS", s::structure, 0},
  {t::disk_stats, "DISK_STATS", s::structure, 0},
  {t::net_stats, "NET_STATS", s::structure, 0},
  {t::node_stats, "NODE_STATS", s::structure, 0},
  {t::data_buffer, "DATA_BUFFER", s::bytes, 0},
  {t::storage_medium, "STOR_MEDIUM", s::unsigned_integer, 8},
  {t::storage_accessibility, "STOR_ACCESS", s::unsigned_integer, 8},
  {t::storage_persistence, "STOR_PERSIST", s::unsigned_integer, 8},
  {t::storage_access_type, "STOR_ACCESS_TYPE", s::unsigned_integer, 2},
  {t::device, "DEVICE", s::structure, 0},
  {t::resblock_directive, "RESBLOCK_DIRECTIVE", s::unsigned_integer, 1},
  {t::resource_unit, "RESOURCE_UNIT", s::structure, 0},
  {t::node_pid, "NODE_PID", s::structure, 0},
  {t::regex2, "REGEX2", s::bytes, 0},
  {t::alloc_inherit, "ALLOC_INHERIT", s::unsigned_integer, 1},
};

/// Types are numbers below this.
constexpr size_t end_of_types = 128;

/// Where the row of a type is, counted from 1: each value that is packed asks.
constexpr auto places = [] {
  auto result = std::array<uint8_t, end_of_types>{};
  for (size_t i = 0; i < std::size(rows); ++i)
    result[static_cast<size_t>(rows[i].type)] = static_cast<uint8_t>(i + 1);
  return result;
}();

const row* find(data_type x) {
  const auto number = static_cast<size_t>(x);
  const auto place = number < end_of_types ? places[number] : uint8_t{0};
  return place != 0 ? rows + (place - 1) : nullptr;
}

} // namespace

storage_class storage_of(data_type x) {
  const auto* r = find(x);
  return r != nullptr ? r->storage : storage_class::unknown;
}

size_t width_of(data_type x) {
  const auto* r = find(x);
  return r != nullptr ? r->width : 0;
}

std::string to_string(data_type x) {
  const auto* r = find(x);
  return r != nullptr ? std::string{r->name}
                      : std::to_string(static_cast<uint16_t>(x));
}

} // namespace troupe
