#include "tools/output_document.hpp"

namespace troupe {

std::string_view document_begin(const output_format& format) noexcept {
  return format.xml ? "<troupe>\n" : "";
}

std::string_view document_end(const output_format& format) noexcept {
  return format.xml ? "</troupe>\n" : "";
}

} // namespace troupe
