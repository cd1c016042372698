#pragma once

#include <cstddef>

namespace troupe::c_api {

/// The bytes of a REGEX, its final zero included: such a text has no length
/// next to it, and its compressed form has zeros inside.
/// Source: OpenPMIx, the forms of PMIx_generate_regex.
size_t regex_size(const char* x);

} // namespace troupe::c_api
