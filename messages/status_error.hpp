#pragma once

#include <caf/atom.hpp>

namespace troupe {

/// The category of errors that carry a status: for status.cpp and denial.cpp,
/// which read their context.
constexpr caf::atom_value status_category = caf::atom("troupe");

} // namespace troupe
