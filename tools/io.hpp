#pragma once

#include "messages/enums.hpp"
#include "messages/proc_id.hpp"
#include "tools/output_options.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace troupe {

/// What `troupe attach` and `troupe io follow` show.
struct view_order {
  /// Such as `attach`; for messages.
  std::string command;
  std::string dvm;

  /// None: the processes of all jobs.
  std::vector<proc_id> sources;
  io_channels channels = io_channels::none;
  output_options output;

  /// Begins with what comes next, instead of what is kept.
  bool is_live = false;

  /// Begins with this byte of each stream.
  std::optional<uint64_t> offset;

  /// Most bytes that wait for us; 0: as the DVM has it.
  uint64_t window = 0;

  /// Standard input goes to the process.
  bool takes_input = false;

  /// The end of our input is not that of the process.
  bool keeps_open = false;

  /// Our input is that of the process from its beginning: what it was given is
  /// left out.
  bool repeats_input = false;

  /// Keys are passed on as they are typed.
  bool is_raw = false;
};

/// What `troupe io list` and `offsets` show.
struct list_order {
  std::string command;
  std::string dvm;

  /// Without a namespace: all jobs.
  proc_id whose{{}, rank_wildcard};
  bool json = false;
};

/// @returns the order, or the exit status if there is nothing to do.
std::variant<view_order, int> parse_attach(std::vector<std::string> args);

/// `troupe io`, without that name.
std::variant<view_order, list_order, int>
parse_io(std::vector<std::string> args);

/// `troupe attach`: shows the output of a job or process, and gives it input.
/// @param args Without the names of the program and of the command.
/// @returns the exit status: 0, the process or job is over; 1, the DVM is lost
///          or refuses; 2, wrong options; 3, detached; 4, nobody reads what is
///          shown.
int attach(std::vector<std::string> args);

/// `troupe io`: the streams of processes.
/// @param args Without the names of the program and of the command.
/// @returns the exit status.
int io(std::vector<std::string> args);

} // namespace troupe
