#pragma once

#include "tools/host_list.hpp"

#include <caf/expected.hpp>

#include <string>
#include <string_view>
#include <vector>

// Which variables of a launcher its processes get. Pure functions on text.

namespace troupe {

/// Variables as `NAME=value`, later ones before earlier ones.
using variable_list = std::vector<std::string>;

/// What `-x` says: `NAME=value`; `NAME`, whose value is that of the launcher;
/// `BEGIN*`, all of the launcher's whose names begin so.
/// @returns `bad_param` if the launcher has no such variable.
/// Source: mpirun's and prterun's `-x`.
caf::expected<variable_list> exported_by(const std::string& word,
                                         const environment& launcher);

/// What `--export` says.
struct export_choice {
  /// Whether processes get the launcher's other variables, too.
  bool has_all = true;
  variable_list variables;
};

/// Reads `ALL`, `NONE`, `A,B=c` (these only) or `ALL,B=c`.
/// @returns `bad_param` if the launcher has no such variable.
/// Source: srun's `--export`.
caf::expected<export_choice> read_export(std::string_view list,
                                         const environment& launcher);

/// Reads a file of `--tune`: `name = value` a line for a setting of Open MPI;
/// or options, `--mca name value` and `-x NAME=value`. `#` begins a comment.
/// @param file Its name, for errors.
/// Source: mpirun's `--tune` and `-am`.
caf::expected<variable_list> read_tune_file(std::string_view text,
                                            const std::string& file,
                                            const environment& launcher);

/// All of the launcher's variables that may be handed to processes elsewhere:
/// not those that tell a process which one it is.
variable_list all_of(const environment& launcher);

/// Of these, the settings of mpirun itself, which nobody reads here.
std::vector<std::string> settings_of_mpirun(const variable_list& variables);

} // namespace troupe
