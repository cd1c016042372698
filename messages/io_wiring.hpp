#pragma once

#include "messages/inspect.hpp"
#include "messages/io_stream.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace troupe {

/// How the output of processes is shown. With nothing set, byte for byte as it
/// was written. Source: PMIx Standard v5, "IO Forwarding attributes".
struct output_format {
  /// `<rank>: ` in front of each line; `<nspace>/<rank>: ` for processes of
  /// other jobs than the first that wrote something.
  bool label = false;

  /// The time in front of each line. PMIX_IOF_TIMESTAMP_OUTPUT.
  bool timestamp = false;

  /// A line of JSON for each line, all on standard output:
  /// `{"type":"output","nspace":"..","rank":0,"stream":"stdout","data":".."}`,
  /// and `"time"` with `timestamp`. `data` holds the line with its newline, so
  /// that the parts of a stream add up to the stream; a line that is not UTF-8
  /// comes as `data_base64` instead.
  bool json = false;

  /// `[job,rank]<stdout>: ` in front of each line. PMIX_IOF_TAG_OUTPUT.
  bool tag = false;

  /// The same with host name and process number. PMIX_IOF_TAG_DETAILED_OUTPUT.
  bool tag_detailed = false;

  /// The same with the whole namespace. PMIX_IOF_TAG_FULLNAME_OUTPUT.
  bool tag_fullname = false;

  /// `[rank]` in front of each line. PMIX_IOF_RANK_OUTPUT.
  bool rank = false;

  /// Elements of XML. PMIX_IOF_XML_OUTPUT.
  bool xml = false;

  /// Bytes as they come: lines are not waited for. PMIX_IOF_OUTPUT_RAW.
  bool raw = false;

  /// Output is kept until there is so much of it; 0: it is not kept.
  /// PMIX_IOF_BUFFERING_SIZE, in bytes.
  uint32_t buffer_size = 0;

  /// How long output is kept at most. PMIX_IOF_BUFFERING_TIME, in seconds.
  uint32_t buffer_time = 0;

  /// Times as RFC 3339 has them, with milliseconds, as always with `label` and
  /// `json`; without, as `ctime` does.
  bool iso_time = false;
};

TROUPE_MESSAGE(output_format, x.label, x.timestamp, x.json, x.tag,
               x.tag_detailed, x.tag_fullname, x.rank, x.xml, x.raw,
               x.buffer_size, x.buffer_time, x.iso_time)

/// How the streams of a job are wired: what its launcher decided, read from the
/// job's description by each node (`read_io_wiring`), so that nothing is
/// published when processes start. Source: A47; RFC notes on I/O forwarding,
/// "Random notes".
struct io_wiring {
  output_format format;

  /// What is forwarded to whoever started the job; nothing said: everything
  /// but diagnostics. PMIX_FWD_STDOUT, PMIX_FWD_STDERR, PMIX_FWD_STDDIAG.
  std::optional<bool> forward_stdout;
  std::optional<bool> forward_stderr;
  std::optional<bool> forward_stddiag;

  /// Whose input it is. PMIX_FWD_STDIN, PMIX_STDIN_TGT; `rank_wildcard`: all,
  /// `rank_undef`: nobody's.
  uint32_t stdin_target = 0xffffffff;

  /// What is kept of a stream that nobody reads, in bytes; none said:
  /// `defaults::io_tail`. PMIX_IOF_CACHE_SIZE.
  std::optional<uint64_t> tail;

  /// What becomes of what does not fit; `block` here means `drop_oldest`, since
  /// nobody reads.
  io_policy overflow = io_policy::drop_oldest;

  /// Errors go with output. PMIX_IOF_MERGE_STDERR_STDOUT,
  /// PMIX_MERGE_STDERR_STDOUT.
  bool merge = false;

  /// Into files of this name, or pattern. PMIX_IOF_OUTPUT_TO_FILE,
  /// PMIX_OUTPUT_TO_FILE; PMIX_IOF_FILE_PATTERN.
  std::string file;
  bool file_is_pattern = false;

  /// Into files below this directory. PMIX_IOF_OUTPUT_TO_DIRECTORY,
  /// PMIX_OUTPUT_TO_DIRECTORY.
  std::string directory;

  /// Only into files. PMIX_IOF_FILE_ONLY.
  bool file_only = false;

  /// Processes have a terminal. PMIX_SPAWN_PTY.
  bool with_pty = false;

  /// Size of the terminal in characters; 0: none.
  uint16_t pty_rows = 0;
  uint16_t pty_columns = 0;
};

TROUPE_MESSAGE(io_wiring, x.format, x.forward_stdout, x.forward_stderr,
               x.forward_stddiag, x.stdin_target, x.tail, x.overflow, x.merge,
               x.file, x.file_is_pattern, x.directory, x.file_only, x.with_pty,
               x.pty_rows, x.pty_columns)

/// Streams of a job will come, from this node or from others.
struct io_job_begun {
  std::string nspace;
  io_wiring wiring;

  /// The user whose job it is.
  uint32_t uid = 0;

  /// How many processes it has; names of files have ranks of as many digits.
  uint32_t size = 0;
};

TROUPE_MESSAGE(io_job_begun, x.nspace, x.wiring, x.uid, x.size)

/// A job is over: its streams go once their sinks have them; subscriptions of
/// this job alone go with it. Answered when that has been done.
/// Source: RFC notes on I/O forwarding; I17.
struct io_job_over {
  std::string nspace;
};

TROUPE_MESSAGE(io_job_over, x.nspace)

/// A node is gone: it wants nothing any more, and its streams end where they
/// are.
struct io_node_lost {
  uint32_t node = 0;

  /// Its processes, as far as known here.
  std::vector<proc_id> procs;
};

TROUPE_MESSAGE(io_node_lost, x.node, x.procs)

} // namespace troupe
