#pragma once

#include "messages/io_wiring.hpp"

#include <string_view>

namespace troupe {

/// What stands before and after all that a launcher shows on its standard
/// output: the root element of XML; else nothing. prterun does the same under
/// its own name.
std::string_view document_begin(const output_format& format) noexcept;
std::string_view document_end(const output_format& format) noexcept;

} // namespace troupe
