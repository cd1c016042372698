#pragma once

#include "messages/io_stream.hpp"
#include "messages/io_wiring.hpp"
#include "messages/value.hpp"

#include <caf/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
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

} // namespace troupe
