#pragma once

#include "messages/io_wiring.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe {

/// Where a process runs; without, it is shown as `unknown`.
struct output_place {
  std::string host;
  uint32_t pid = 0;
};

/// What is known of the begin of a line.
struct line_origin {
  const io_stream& stream;
  const output_place& place;

  /// When it was read, as RFC 3339 has it; empty: not shown.
  std::string_view time;

  /// The job whose processes are shown without it.
  std::string_view first_nspace;
};

/// Whether output is shown other than byte for byte.
bool is_formatted(const output_format& format) noexcept;

/// What stands in front of each line: the marks of OpenPMIx 6, or our own.
///
///     tag            [2,0]<stdout>: text     (what follows the last `@` of the
///                    namespace; without one, all of it)
///     tag_fullname   [name@2,0]<stdout>: text
///     tag_detailed   [2,0][host:17]<stdout>: text; [name@2,0].. with both
///     rank           [0]<stdout>: text
///     timestamp      [Thu Nov 20 16:43:59 2025]<stdout>: text; in front of a
///                    tag or rank without `<stdout>: `
///     label          0: text; name/0: text in other jobs than the first
///
/// Source: OpenPMIx 6.1, `pmix_iof_prep_output`.
std::string line_prefix(const output_format& format, const line_origin& from);

/// The begin of an element of XML, `<stdout jobid="2" rank="0">`, up to where
/// the text of the line follows; it ends with `</stdout>`.
///
/// As OpenPMIx 6.1 writes it where that is XML; with `tag_detailed`, whose
/// element there is none, it has `hostname` and `pid`.
std::string element_begin(const output_format& format, const line_origin& from);

} // namespace troupe
