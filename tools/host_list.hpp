#pragma once

#include <caf/expected.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The nodes that a DVM runs on, from whatever names them. Pure functions on
// text: who calls brings the environment and reads the files. Errors are one
// line that says where, what is there, and what to write instead.
//
// A name may stand for several: `n[01-16,20]-ib` is n01-ib, n02-ib ... n16-ib,
// n20-ib; the first number of a range says how many digits all have. Several
// brackets give all combinations.
// Source: the options and files of prte and mpirun; Slurm's and PBS's
// environment; PRRTE's prte.conf. X48 of the guarantees.

namespace troupe {

/// A node, and how many processes it takes.
struct host {
  std::string name;

  /// Processes it takes; 0 means one per hardware thread.
  uint32_t slots = 0;

  /// The most it takes when oversubscribed; 0 means any number.
  uint32_t max_slots = 0;
};

inline bool operator==(const host& l, const host& r) {
  return l.name == r.name && l.slots == r.slots && l.max_slots == r.max_slots;
}

/// Every node once, in the order of the first mention.
using host_list = std::vector<host>;

/// Expands `n[01-16,20]-ib,login` without slots; names may repeat.
/// @param source  what the text is, for errors.
caf::expected<std::vector<std::string>> expand_names(std::string_view text,
                                                     const std::string& source);

/// Reads the value of `--host`: names with commas between, each with its slots,
/// `n1,n2:4,n[3-5]:*`. A name without a number has one slot, and one more for
/// each repetition; `:*` stands for all hardware
/// threads.
caf::expected<host_list> parse_host_option(std::string_view text);

/// Reads a hostfile: a name a line, then perhaps `slots=N` and `max_slots=N`,
/// or `name:N` as MPICH has it;
/// the rest of a line after `#` does not count. A name without a number has as
/// many slots as lines, or as hardware threads if it has one line.
/// @param file  its name, for errors.
caf::expected<host_list> parse_hostfile(std::string_view text,
                                        const std::string& file);

/// What a resource manager has given us.
struct allocation {
  /// `slurm` or `pbs`.
  std::string manager;
  host_list hosts;
};

using environment = std::map<std::string, std::string>;

/// Reads a whole file, or says why it cannot.
using file_reader =
  std::function<caf::expected<std::string>(const std::string&)>;

/// Looks for an allocation of Slurm (SLURM_JOB_NODELIST, or SLURM_NODELIST;
/// SLURM_TASKS_PER_NODE, or SLURM_JOB_CPUS_PER_NODE) or PBS (PBS_NODEFILE).
/// @returns nothing if there is none, an error if what is there makes no sense.
caf::expected<std::optional<allocation>>
find_allocation(const environment& variables, const file_reader& read);

/// What all daemons of a DVM know that nobody launches.
struct bootstrap_settings {
  std::string cluster = "cluster";

  /// The root's node.
  std::string controller;
  uint16_t port = 7817;

  /// Children per daemon; 0 means the default.
  uint32_t radix = 0;

  /// The nodes by rank: the controller first, then as written.
  std::vector<std::string> nodes;

  /// What else the file says, by key.
  std::map<std::string, std::string> others;
};

/// Reads a bootstrap file: `Key=value` a line, `#` before a comment.
/// DVMControllerHost and DVMNodes have to be there.
caf::expected<bootstrap_settings> parse_bootstrap(std::string_view text,
                                                  const std::string& file);

} // namespace troupe
