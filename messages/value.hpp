#pragma once

#include "messages/box.hpp"
#include "messages/data_type.hpp"
#include "messages/inspect_std.hpp"
#include "messages/proc_id.hpp"

#include <caf/meta/type_name.hpp>

#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace troupe {

struct app;
struct coord;
struct data_array;
struct device;
struct device_distance;
struct disk_stats;
struct endpoint;
struct envar;
struct geometry;
struct info;
struct key_value;
struct net_stats;
struct node_pid;
struct node_stats;
struct pdata;
struct proc_info;
struct proc_stats;
struct query;
struct regattr;
struct resource_unit;
struct value;

/// The deepest nesting of arrays and structures in a value that came from
/// outside. Source: guarantees, limit on elements and depth.
inline constexpr int max_value_depth = 16;

/// Seconds and microseconds since the epoch, or a duration.
struct timeval_value {
  int64_t seconds = 0;
  int64_t microseconds = 0;
};

/// A typed value. The type says what it means, the storage keeps it:
///
///     signed integers, STATUS                       int64_t
///     unsigned integers, ranks, flags, states       uint64_t
///     FLOAT, DOUBLE                                 double
///     STRING, PROC_NSPACE, PROC_CPUSET, TOPO (XML)  std::string; null:
///     monostate BYTE_OBJECT, REGEX, DATA_BUFFER, compressed   std::string with
///     the bytes structures                                    box<...> UNDEF,
///     POINTER, a null string or array        monostate
///
/// Source: PMIx Standard v5, "Value Structure" (`pmix_value_t`).
struct value {
  using storage = std::variant<
    std::monostate, bool, int64_t, uint64_t, double, std::string, timeval_value,
    proc_id, box<value>, box<info>, box<pdata>, box<app>, box<query>,
    box<key_value>, box<data_array>, box<proc_info>, box<envar>, box<coord>,
    box<regattr>, box<geometry>, box<device_distance>, box<endpoint>,
    box<device>, box<resource_unit>, box<node_pid>, box<proc_stats>,
    box<disk_stats>, box<net_stats>, box<node_stats>>;

  data_type type = data_type::undef;
  storage data;

  value();
  value(data_type type, storage data);
  value(const value& other);
  value(value&& other) noexcept;
  value& operator=(const value& other);
  value& operator=(value&& other) noexcept;
  ~value();

  // -- makers
  // -------------------------------------------------------------------

  static value boolean(bool x);
  static value string(std::string x);
  static value uint16(uint16_t x);
  static value uint32(uint32_t x);
  static value uint64(uint64_t x);
  static value size(uint64_t x);
  static value integer(int32_t x);
  static value pid(uint32_t x);
  static value rank(uint32_t x);
  static value of_status(int32_t x);
  static value of_proc(proc_id x);
  static value bytes(std::string x);
  static value infos(std::vector<info> xs);
  static value procs(std::vector<proc_id> xs);
  static value array(data_type element_type, std::vector<value> xs);

  // -- readers
  // ------------------------------------------------------------------

  /// The text of a string type; null for other types and for a null string.
  const std::string* text() const;

  /// The number of any integer type, if it fits into `T`. A boolean counts as 0
  /// or 1: callers mix the two.
  template <class T>
  std::optional<T> number() const {
    static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>);
    if (const auto* x = std::get_if<uint64_t>(&data)) {
      if (*x <= static_cast<uint64_t>(std::numeric_limits<T>::max()))
        return static_cast<T>(*x);
    } else if (const auto* x = std::get_if<int64_t>(&data)) {
      if constexpr (std::is_unsigned_v<T>) {
        if (*x >= 0
            && static_cast<uint64_t>(*x) <= std::numeric_limits<T>::max())
          return static_cast<T>(*x);
      } else if (*x >= std::numeric_limits<T>::min()
                 && *x <= std::numeric_limits<T>::max()) {
        return static_cast<T>(*x);
      }
    } else if (const auto* x = std::get_if<bool>(&data)) {
      return static_cast<T>(*x ? 1 : 0);
    }
    return std::nullopt;
  }

  /// The process of a PROC; null for other types.
  const proc_id* proc() const;

  /// The array of a DATA_ARRAY; null for other types and for a null array.
  const data_array* array() const;

  /// Whether the value means yes: true, a number other than 0, a text that
  /// starts with t, T, y, Y or 1, or no value at all (the presence of a
  /// boolean attribute means true).
  /// Source: PMIx Standard v5, "Info Structure", PMIX_INFO_TRUE.
  bool truth() const;
};

/// Key, value and flags of a directive or a piece of information.
/// Source: PMIx Standard v5, "Info Structure" (`pmix_info_t`).
struct info {
  std::string key;
  uint32_t flags = 0;
  value val;
};

/// Bits of `info::flags`.
/// Source: PMIx Standard v5, "Info Type Directives".
inline constexpr uint32_t info_required = 0x1;
inline constexpr uint32_t info_array_end = 0x2;
inline constexpr uint32_t info_required_processed = 0x4;
inline constexpr uint32_t info_qualifier = 0x8;
inline constexpr uint32_t info_persistent = 0x10;

/// A key that a process posted, or a piece of job data.
struct key_value {
  std::string key;
  value val;
};

/// A published key with its publisher. Source: PMIx Standard v5,
/// `pmix_pdata_t`.
struct pdata {
  proc_id proc;
  std::string key;
  value val;
};

/// Elements of one type. Source: PMIx Standard v5, `pmix_data_array_t`.
struct data_array {
  data_type element_type = data_type::undef;
  std::vector<value> elements;
};

/// One program of a spawn request. Source: PMIx Standard v5, `pmix_app_t`.
struct app {
  std::string cmd;
  std::vector<std::string> argv;
  std::vector<std::string> env;
  std::optional<std::string> cwd;
  int32_t max_procs = 0;
  std::vector<info> infos;
};

/// Keys to ask for, narrowed by qualifiers. Source: Standard v5,
/// `pmix_query_t`.
struct query {
  std::vector<std::string> keys;
  std::vector<info> qualifiers;
};

/// What is known of a process. Source: PMIx Standard v5, `pmix_proc_info_t`.
struct proc_info {
  proc_id proc;
  std::optional<std::string> hostname;
  std::optional<std::string> executable_name;
  uint32_t pid = 0;
  uint8_t state = 0;
};

/// A change of an environment variable. Source: Standard v5, `pmix_envar_t`.
struct envar {
  std::optional<std::string> name;
  std::optional<std::string> val;
  uint8_t separator = 0;
};

/// A place on a fabric. Source: PMIx Standard v5, `pmix_coord_t`.
struct coord {
  uint8_t view = 0;
  std::vector<uint32_t> coordinates;
};

/// An attribute that a function supports. Source: Standard v5,
/// `pmix_regattr_t`.
struct regattr {
  std::optional<std::string> name;
  std::string key;
  data_type type = data_type::undef;
  std::vector<std::optional<std::string>> description;
};

/// Where a device sits on a fabric. Source: Standard v5, `pmix_geometry_t`.
struct geometry {
  uint64_t fabric = 0;
  std::optional<std::string> uuid;
  std::optional<std::string> os_name;
  std::vector<coord> coordinates;
};

/// How far a device is. Source: PMIx Standard v5, `pmix_device_distance_t`.
struct device_distance {
  std::optional<std::string> uuid;
  std::optional<std::string> os_name;
  uint64_t type = 0;
  uint16_t min_distance = 0;
  uint16_t max_distance = 0;
};

/// A contact point on a fabric. Source: PMIx Standard v5, `pmix_endpoint_t`.
struct endpoint {
  std::optional<std::string> uuid;
  std::optional<std::string> os_name;
  std::string bytes;
};

/// A device. Source: OpenPMIx 6, `pmix_device_t`.
struct device {
  std::optional<std::string> uuid;
  std::optional<std::string> os_name;
  uint64_t type = 0;
};

/// An amount of a resource. Source: OpenPMIx 6, `pmix_resource_unit_t`.
struct resource_unit {
  uint64_t type = 0;
  uint64_t count = 0;
};

/// A process by node and number. Source: OpenPMIx 6, `pmix_node_pid_t`.
struct node_pid {
  std::optional<std::string> hostname;
  uint32_t node_id = 0;
  uint32_t pid = 0;
};

/// Use of resources by a process. Source: OpenPMIx 4 and 5,
/// `pmix_proc_stats_t`.
struct proc_stats {
  std::optional<std::string> node;
  proc_id proc;
  uint32_t pid = 0;
  std::optional<std::string> cmd;
  uint8_t state = 0;
  timeval_value time;
  double percent_cpu = 0;
  int32_t priority = 0;
  int16_t num_threads = 0;
  double pss = 0;
  double vsize = 0;
  double rss = 0;
  double peak_vsize = 0;
  uint16_t processor = 0;
  timeval_value sample_time;
};

/// Use of a disk. Source: OpenPMIx 4 and 5, `pmix_disk_stats_t`.
struct disk_stats {
  std::optional<std::string> disk;
  uint64_t num_reads_completed = 0;
  uint64_t num_reads_merged = 0;
  uint64_t num_sectors_read = 0;
  uint64_t milliseconds_reading = 0;
  uint64_t num_writes_completed = 0;
  uint64_t num_writes_merged = 0;
  uint64_t num_sectors_written = 0;
  uint64_t milliseconds_writing = 0;
  uint64_t num_ios_in_progress = 0;
  uint64_t milliseconds_io = 0;
  uint64_t weighted_milliseconds_io = 0;
};

/// Use of a network interface. Source: OpenPMIx 4 and 5, `pmix_net_stats_t`.
struct net_stats {
  std::optional<std::string> interface_name;
  uint64_t num_bytes_received = 0;
  uint64_t num_packets_received = 0;
  uint64_t num_receive_errors = 0;
  uint64_t num_bytes_sent = 0;
  uint64_t num_packets_sent = 0;
  uint64_t num_send_errors = 0;
};

/// Use of a node. Source: OpenPMIx 4 and 5, `pmix_node_stats_t`.
struct node_stats {
  std::optional<std::string> node;
  double load_average = 0;
  double load_average_5 = 0;
  double load_average_15 = 0;
  double total_memory = 0;
  double free_memory = 0;
  double buffers = 0;
  double cached = 0;
  double swap_cached = 0;
  double swap_total = 0;
  double swap_free = 0;
  double mapped = 0;
  timeval_value sample_time;
  std::vector<disk_stats> disks;
  std::vector<net_stats> nets;
};

// -- comparison ---------------------------------------------------------------

#define TROUPE_DECLARE_EQUALITY(type)                                          \
  bool operator==(const type& x, const type& y);                               \
  inline bool operator!=(const type& x, const type& y) {                       \
    return !(x == y);                                                          \
  }

TROUPE_DECLARE_EQUALITY(value)
TROUPE_DECLARE_EQUALITY(data_array)

#define TROUPE_STRUCTURE(type, ...) TROUPE_DECLARE_EQUALITY(type)
#include "messages/fields.def"

#undef TROUPE_DECLARE_EQUALITY

// -- lists of infos -----------------------------------------------------------

/// The value of the first info with `key`; null if there is none.
const value* find(const std::vector<info>& infos, std::string_view key);

/// Whether a boolean attribute is given and true.
bool flag(const std::vector<info>& infos, std::string_view key);

/// The text of a string attribute, if given.
std::optional<std::string> text(const std::vector<info>& infos,
                                std::string_view key);

/// The number of an integer attribute, if given and within `T`.
template <class T>
std::optional<T> number(const std::vector<info>& infos, std::string_view key) {
  if (const auto* x = find(infos, key))
    return x->number<T>();
  return std::nullopt;
}

/// The infos inside a DATA_ARRAY of INFO; empty for any other value.
std::vector<info> infos_of(const value& x);

/// The processes inside a DATA_ARRAY of PROC, or the one of a PROC; empty for
/// any other value.
std::vector<proc_id> procs_of(const value& x);

} // namespace troupe

#include "messages/value_inspect.hpp"
