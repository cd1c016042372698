#pragma once

#include <cstdint>
#include <string>

namespace troupe {

/// The type of a value, with the numbers of the wire.
/// Source: PMIx Standard v5, "Data Types" (`pmix_data_type_t`).
enum class data_type : uint16_t {
  undef = 0,
  bool_ = 1,
  byte = 2,
  string = 3,
  size = 4,
  pid = 5,
  int_ = 6,
  int8 = 7,
  int16 = 8,
  int32 = 9,
  int64 = 10,
  uint = 11,
  uint8 = 12,
  uint16 = 13,
  uint32 = 14,
  uint64 = 15,
  float_ = 16,
  double_ = 17,
  timeval = 18,
  time = 19,
  status = 20,
  value = 21,
  proc = 22,
  app = 23,
  info = 24,
  pdata = 25,
  buffer = 26,
  byte_object = 27,
  kval = 28,
  persist = 30,
  pointer = 31,
  scope = 32,
  data_range = 33,
  command = 34,
  info_directives = 35,
  data_type = 36,
  proc_state = 37,
  proc_info = 38,
  data_array = 39,
  proc_rank = 40,
  query = 41,
  compressed_string = 42,
  alloc_directive = 43,
  info_array = 44,
  iof_channel = 45,
  envar = 46,
  coord = 47,
  regattr = 48,
  regex = 49,
  job_state = 50,
  link_state = 51,
  proc_cpuset = 52,
  geometry = 53,
  device_distance = 54,
  endpoint = 55,
  topology = 56,
  device_type = 57,
  locality = 58,
  compressed_byte_object = 59,
  proc_nspace = 60,
  proc_stats = 61,
  disk_stats = 62,
  net_stats = 63,
  node_stats = 64,
  data_buffer = 65,
  storage_medium = 66,
  storage_accessibility = 67,
  storage_persistence = 68,
  storage_access_type = 69,
  device = 70,
  resblock_directive = 71,
  resource_unit = 72,
  node_pid = 73,
  regex2 = 74,
  alloc_inherit = 75,
};

/// How a value of a type is kept in C++ (see `value::storage`).
enum class storage_class : uint8_t {
  none,
  boolean,
  signed_integer,
  unsigned_integer,
  floating_point,
  text,
  bytes,
  timeval,
  proc,
  structure,
  unknown,
};

/// How values of type `x` are kept; `unknown` for a number that is no type.
storage_class storage_of(data_type x);

/// The width in bytes of an integer type on the wire's fixed encoding, which
/// bounds its range; 0 for other types.
size_t width_of(data_type x);

/// The name of `x` in C without its prefix, such as `PROC_RANK`; the number for
/// a number that is no type.
std::string to_string(data_type x);

} // namespace troupe
