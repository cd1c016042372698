#pragma once

#include "messages/enums.hpp"
#include "messages/io_wiring.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace troupe {

/// @returns `stdout`, `stderr` or `stddiag`.
std::string_view stream_name(io_channels channel);

/// Where to cut `text` so that at most `size` bytes are in front and no
/// character is cut in two. @pre `size < text.size()`
size_t cut_position(std::string_view text, size_t size);

bool is_utf8(std::string_view text);

/// Source: RFC 4648, section 4.
std::string to_base64(std::string_view bytes);

/// @returns the text as a JSON string, with its quotes.
///          What is not UTF-8 is replaced.
std::string to_json_string(std::string_view text);

/// Adds text as a JSON string, with its quotes. @pre `is_utf8(text)`
void append_json(std::string& result, std::string_view text);

/// Adds the characters of a line to an element of XML. Markup becomes entities,
/// what cannot be printed `&#010;` with the number of the character, as
/// OpenPMIx does; what is not UTF-8 `&#` with the number of the byte. Control
/// characters that XML has not, which no reader would take, become the picture
/// of the character: `&#9243;` (U+241B) for the byte 27.
void append_xml(std::string& result, std::string_view text,
                bool in_attribute = false);

/// The form of the C library's `ctime`, which OpenPMIx shows.
/// @param iso A local time such as `2025-11-20T16:43:59.123+01:00`.
/// @returns such as `Thu Nov 20 16:43:59 2025`; `iso` if it is none.
std::string to_ctime(std::string_view iso);

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

/// Turns output of processes into text. Lines of different processes are never
/// mixed, an unfinished line is kept until it is finished or the stream ends;
/// without a format, bytes pass as they come. What a stream has lost is shown
/// where it is missing. Plain data: no descriptor; the clock is a parameter.
/// Source: PMIx Standard v5, "IO Forwarding attributes"; OpenPMIx 6.1.
class output_formatter {
public:
  /// Bytes of an unfinished line that are kept; a longer line is passed on in
  /// pieces of this length, each shown as a line.
  static constexpr size_t max_line = size_t{64} << 10;

  /// The local time of a moment in nanoseconds since 1970, as RFC 3339 has it:
  /// `2025-11-20T16:43:59.123+01:00`.
  using clock = std::function<std::string(int64_t)>;

  /// The host of a process; empty: not known.
  using hosts = std::function<std::string(const proc_id&)>;

  explicit output_formatter(output_format format = {}, clock show_time = {},
                            hosts host_of = {});

  /// Takes the next bytes of a stream.
  /// @returns what to write now; may be empty.
  std::string format(io_fragment&& x);

  /// Whether bytes pass as they come, and what is missing is told by `notice`.
  bool is_plain() const noexcept {
    return !is_formatted_;
  }

  /// Shows lines, not bytes, also without a format: for a file of several
  /// processes.
  void keep_lines_whole() noexcept {
    is_formatted_ = true;
  }

  /// @returns whether the text for `channel` belongs on standard error; JSON
  ///          and XML say themselves where it comes from.
  bool on_stderr(io_channels channel) const noexcept;

  /// Bytes of unfinished lines.
  size_t unfinished() const noexcept {
    return held_;
  }

private:
  using stream = std::pair<proc_id, io_channels>;

  /// What is kept of a stream between fragments.
  struct begun {
    std::string line;

    /// When its first byte was read.
    int64_t read_at = 0;

    /// Raw output that ended within a line.
    bool is_within_line = false;
  };

  /// What all lines of one fragment share.
  struct frame {
    const io_fragment& from;
    std::string time;

    /// What stands in front of the text: for JSON, the members that say where
    /// it comes from.
    std::string before;
  };

  frame make_frame(const io_fragment& x, int64_t read_at);
  output_place place_of(const io_fragment& x);
  std::string add_lines(const io_fragment& x, begun& kept);
  void add_gap(std::string& result, const io_fragment& x, begun& kept);
  void add_line(std::string& result, const frame& how,
                std::string_view line) const;
  static void add_json(std::string& result, const frame& how,
                       std::string_view line);

  output_format format_;
  clock show_time_;
  hosts host_of_;

  /// Those that are known, of streams that have not ended: a job may be
  /// forgotten before its last lines are shown.
  std::map<stream, std::string> known_hosts_;
  bool is_formatted_ = false;
  std::string first_nspace_;
  std::map<stream, begun> begun_;
  size_t held_ = 0;
};

/// A line that stands where bytes are missing.
std::string missing_line(uint64_t missed);

/// What tells a person of bytes that are missing from a stream.
std::string missing_notice(const io_stream& stream, uint64_t missed);

} // namespace troupe
