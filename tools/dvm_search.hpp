#pragma once

#include "adapters/link/link_socket.hpp"
#include "adapters/local/directory.hpp"

#include <caf/expected.hpp>

#include <string>
#include <vector>

// How our tools find a DVM: by the name it was given, its server's URI, a file
// with that, or a process number; without any of it, the user's only one.

namespace troupe {

/// The name of the file in the session's private directory by which the tools
/// of this user find a DVM.
/// @param is_for_a_job Whether it lasts as long as one job.
std::string dvm_file(const std::string& name, bool is_for_a_job);

/// @returns `exists` in a sentence if the user has a DVM of that name already.
caf::error check_dvm_is_new(const std::string& name);

/// The names of the DVMs that this user has on this node, those for one job
/// left out.
std::vector<std::string> names_of_dvms();

/// What somebody is told who runs a job on this node alone, and may have meant
/// one of these.
/// @param names Of DVMs that are up; none: nothing is told.
std::string hint_of_dvms(const std::vector<std::string>& names);

/// Finds a DVM.
/// @param what A name, `pid:N`, `file:PATH`, a URI, or empty for the only DVM
///             that this user has on this node.
/// @returns `unreach` in a sentence that tells what there is.
caf::expected<link_settings> find_dvm(const std::string& what);

} // namespace troupe
