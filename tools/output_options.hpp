#pragma once

#include "messages/io_stream.hpp"
#include "messages/io_wiring.hpp"
#include "messages/value.hpp"

#include <caf/error.hpp>
#include <caf/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What `--output` says of the output of processes, on any command line.

namespace troupe {

/// How output is shown, and what else becomes of it.
struct output_options {
  output_format format;

  bool merge = false;

  /// Whether diagnostics are shown, too.
  bool diagnostics = false;

  /// Absolute; at most one of them.
  std::string file;
  std::string directory;
  bool file_is_pattern = false;
  bool file_only = false;

  /// What is kept of a stream for those who come later.
  std::optional<uint64_t> tail;

  /// What happens when output is taken more slowly than it comes.
  io_policy policy = io_policy::block;
};

/// What `--output` takes, in words.
inline constexpr auto output_help =
  "How output is shown, with commas: label, rank, tag, tag-detailed, "
  "tag-fullname, timestamp, xml, json, raw, merge, diag, drop-oldest, "
  "drop-newest, buffer=SIZE, buffer-time=SECONDS";

/// The same for those who start a job.
inline constexpr auto job_output_help =
  "What becomes of output, with commas: label, rank, tag, tag-detailed, "
  "tag-fullname, timestamp, xml, json, raw, merge, diag, dir=DIR, file=FILE, "
  "pattern, file-only, drop-oldest, drop-newest, tail=SIZE, buffer=SIZE, "
  "buffer-time=SECONDS (docs/io.md)";

/// Reads what `--output` says; it may come several times.
/// @param here The directory that relative names begin with.
/// @returns `bad_param` with the word and the remedy.
caf::expected<output_options>
read_output_options(const std::vector<std::string>& lists,
                    const std::string& here);

/// For those who start no job: refuses what only that can mean.
caf::error check_viewer(const output_options& x);

/// The same in the attributes of `PMIx_Spawn`.
std::vector<info> to_infos(const output_options& x);

/// Bytes such as `64K`, `1M` or `2G`, in powers of 1024.
std::optional<uint64_t> parse_size(const std::string& x);

/// Adds what the options `-l`, `--timestamp` and `--json` say.
/// @returns `bad_param` with the remedy if `--output` says something else.
caf::error add_flags(bool label, bool timestamp, bool json, output_options& x);

/// What stands before and after all that a launcher shows on its standard
/// output: the root element of XML; else nothing. prterun does the same under
/// its own name.
std::string_view document_begin(const output_format& format) noexcept;
std::string_view document_end(const output_format& format) noexcept;

// Standard output of a launcher that cannot be written any more.

/// The exit status of a job whose output nobody reads: as of a program that
/// SIGPIPE ended.
inline constexpr int unread_status = 141;

/// Why such a job ended. Nobody is told: of the program that SIGPIPE ended, a
/// shell says nothing, either.
inline constexpr auto unread_reason =
  "nobody reads the output of the job any more";

/// What people are told.
std::string unwritten_notice(const std::string& reason);

/// @param error What writing met: an errno.
/// @returns whether the job ends, since nobody reads what it writes, and it is
///          written nowhere else.
bool is_unread(int error, const output_options& x);

/// @param error  What writing met: an errno, or 0.
/// @param status That of the job.
/// @param lacks_output Whether a file could not be written.
/// @returns the launcher's: `cannot_write` if the job went well and some of its
///          output is missing.
int status_of_output(int error, int status, const output_options& x,
                     bool lacks_output = false);

} // namespace troupe
