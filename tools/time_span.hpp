#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace troupe {

/// Reads how long something may take, in the forms of the field: `90`, `1m`,
/// `1h30m`, `10:00` (minutes and seconds), `1:10:00`, `2-12` (days and hours),
/// `2-12:30`, `2-12:30:00`.
/// @param plain What a number without any sign counts: seconds for mpirun,
///              minutes for srun.
/// @returns nothing for another text, or for more than a signed 32-bit number
///          of seconds.
/// Source: srun's `--time`; mpirun's `--timeout`; units as sleep(1) has them.
std::optional<std::chrono::seconds> parse_time_span(std::string_view text,
                                                    std::chrono::seconds plain);

} // namespace troupe
