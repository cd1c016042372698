#pragma once

#include "messages/event.hpp"
#include "messages/inspect.hpp"
#include "messages/status.hpp"
#include "messages/value.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

// The environment of a node: what is measured, and what is told of it. Only
// events leave the process.

namespace troupe {

// -- what an event of the environment says, beside host and time --------------

/// STRING: what is affected, such as `mc0/dimm3`, `eth0` or `/scratch`.
inline constexpr std::string_view event_device_key = "troupe.event.device";

/// STRING: what people call it, such as `CPU_SrcID#0_DIMM#1`.
inline constexpr std::string_view event_label_key = "troupe.event.label";

/// DOUBLE: what was measured, and the limit that it has passed, in degrees
/// Celsius or percent.
inline constexpr std::string_view event_value_key = "troupe.event.value";
inline constexpr std::string_view event_limit_key = "troupe.event.limit";

/// UINT64: how many there have been since the last event of the device.
inline constexpr std::string_view event_count_key = "troupe.event.count";

/// UINT64: how many events of the code came before this one, too fast to be
/// told one by one.
inline constexpr std::string_view event_skipped_key = "troupe.event.skipped";

// -- events -------------------------------------------------------------------

/// Something has happened to the node.
struct environment_event {
  /// Of those for which `is_of_environment` holds.
  status code = status::event_sys_other;
  std::vector<info> infos;
};

TROUPE_MESSAGE(environment_event, x.code, x.infos)

/// As processes get it: from nobody of them, for all that have registered.
event to_event(environment_event x);

/// Which events of the environment somebody wants.
struct environment_interest {
  std::vector<status> codes;

  /// Those of all codes.
  bool all = false;
};

TROUPE_MESSAGE(environment_interest, x.codes, x.all)

// -- sensors ------------------------------------------------------------------

/// What a sensor can tell of.
struct sensor_offer {
  /// For the log.
  std::string name;
  std::vector<status> codes;
};

TROUPE_MESSAGE(sensor_offer, x.name, x.codes)

/// Events with these codes are wanted, a part of those that it offers; the user
/// follows in the message.
struct start_sensor {
  std::vector<status> codes;
};

TROUPE_MESSAGE(start_sensor, x.codes)

/// Nobody wants any.
struct stop_sensor {};

TROUPE_EMPTY_MESSAGE(stop_sensor)

// -- readings -----------------------------------------------------------------

/// What a reading is of: decides by which rule it is judged.
enum class sensor_quantity : uint8_t {
  corrected_errors,   ///< memory errors so far that did no harm
  uncorrected_errors, ///< memory errors so far that did
  temperature,        ///< degrees Celsius
  link,               ///< 1 while it can carry data, else 0
  memory_pressure,    ///< percent of the time that somebody waits for memory
  memory_kills,       ///< processes that the kernel has killed for memory
  file_system_use,    ///< percent of its space or of its files
};

/// One number.
struct sensor_reading {
  sensor_quantity of = sensor_quantity::temperature;

  /// What was measured; stands for itself among readings of its quantity.
  std::string device;
  std::string label;
  double value = 0;

  /// What the device itself calls too high.
  std::optional<double> limit;
  std::optional<double> critical;
};

TROUPE_MESSAGE(sensor_reading, x.of, x.device, x.label, x.value, x.limit,
               x.critical)

/// Asks for `sensor_readings`.
struct read_sensors {
  /// Of a reader that is told of changes: all that there is now, instead of
  /// what has changed since the last answer, once something has.
  bool all = false;
};

TROUPE_MESSAGE(read_sensors, x.all)

struct sensor_readings {
  /// In the order in which they were made.
  std::vector<sensor_reading> readings;

  /// What could not be read, in a sentence.
  std::string trouble;
};

TROUPE_MESSAGE(sensor_readings, x.readings, x.trouble)

} // namespace troupe
