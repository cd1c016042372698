#pragma once

#include "messages/enums.hpp"
#include "messages/inspect.hpp"
#include "messages/proc_id.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// One of the streams of a process.
struct io_stream {
  proc_id source;

  /// One of them.
  io_channels channel = io_channels::none;
};

TROUPE_MESSAGE(io_stream, x.source, x.channel)

/// Bytes of a stream on their way to a sink.
/// Source: guarantees 5.7; RFC notes on I/O forwarding, "seq", "ack".
struct io_fragment {
  io_stream stream;

  /// Where in the stream the first byte stands, from 0.
  uint64_t offset = 0;
  std::string bytes;

  /// How many bytes before `offset` the sink will never get.
  uint64_t missed = 0;

  /// Whether nothing follows: the stream has `offset + bytes.size()` bytes.
  bool is_end = false;

  /// When the first byte was read from the process, nanoseconds since 1970; 0:
  /// unknown. To be shown, never compared.
  int64_t read_at = 0;

  /// The process number of the source on its node; 0: unknown. To be shown.
  uint32_t pid = 0;
};

TROUPE_MESSAGE(io_fragment, x.stream, x.offset, x.bytes, x.missed, x.is_end,
               x.read_at, x.pid)

/// What happens to a stream when a sink does not keep up with it.
/// Source: PMIx Standard v5, PMIX_IOF_DROP_OLDEST, PMIX_IOF_DROP_NEWEST.
enum class io_policy : uint8_t {
  block,       ///< the process waits
  drop_oldest, ///< what has waited longest for the sink is dropped, and counted
  drop_newest, ///< what comes is dropped, and counted, until there is room
};

/// Where in a stream a sink begins.
enum class io_start : uint8_t {
  tail,   ///< at the oldest byte that is still there
  live,   ///< at the next byte that the process writes
  offset, ///< at a byte that the sink names; if it is gone, at the next one
};

/// A sink wants streams. Source: PMIx Standard v5, `PMIx_IOF_pull`; RFC notes
/// on I/O forwarding, "Subscribers".
struct io_subscription {
  /// `rank_wildcard`: all processes of the job; an empty namespace: all of all
  /// jobs.
  std::vector<proc_id> sources;

  /// Any of them.
  io_channels channels = io_channels::none;
  io_policy policy = io_policy::block;

  /// Most bytes of one stream that wait for the sink; 0: `defaults::io_window`.
  uint64_t window = 0;
  io_start start = io_start::tail;

  /// For `io_start::offset`: the byte of each stream.
  uint64_t offset = 0;

  /// Who is shown as the sink, in words: `tool server@3:0`, `node 2`.
  std::string name;
};

TROUPE_MESSAGE(io_subscription, x.sources, x.channels, x.policy, x.window,
               x.start, x.offset, x.name)

/// A sink wants no more. What it has not answered is not sent again.
struct io_unsubscription {
  /// The number from `io_pull_result`.
  uint64_t subscription = 0;
};

TROUPE_MESSAGE(io_unsubscription, x.subscription)

/// Between nodes: all the processes and channels of a job that anybody on a
/// node wants, in place of what was wanted before; nothing: none any more.
/// Answered when it holds. Streams then come as `io_fragment` from the oldest
/// byte that is still there, each once, however many want them.
struct io_interest {
  std::string nspace;

  /// The ranks; `rank_wildcard`: all.
  std::vector<uint32_t> ranks;
  io_channels channels = io_channels::none;

  /// Most bytes of all streams that the node sends and that are not answered;
  /// 0: `defaults::io_window_total`.
  uint64_t window = 0;
};

TROUPE_MESSAGE(io_interest, x.nspace, x.ranks, x.channels, x.window)

/// Bytes of a stream that are still there, from `offset` on, at most `size`:
/// answered with a fragment (`missed`: what is gone before it), or `not_found`
/// when the stream is unknown.
struct io_fetch {
  io_stream stream;
  uint64_t offset = 0;
  uint64_t size = 0;
};

TROUPE_MESSAGE(io_fetch, x.stream, x.offset, x.size)

/// Most bytes of a stream that are kept from now on for sinks that come later,
/// and for those that drop.
struct io_keep {
  uint64_t bytes = 0;
};

TROUPE_MESSAGE(io_keep, x.bytes)

/// Input for processes of one job, for each the same. Answered when it has been
/// written to all of them that still read.
/// Source: A46; guarantees 5.7, "stdin".
struct io_input {
  std::string nspace;

  /// `rank_wildcard` alone: all.
  std::vector<uint32_t> ranks;

  /// Where the first byte stands in the input of these processes; what they
  /// have been given already is left out. Without: after what they were given.
  std::optional<uint64_t> offset;
  std::string bytes;

  /// Whether nothing follows.
  bool is_end = false;
};

TROUPE_MESSAGE(io_input, x.nspace, x.ranks, x.offset, x.bytes, x.is_end)

/// What has become of input.
struct io_input_taken {
  /// Bytes that all that still read have been given since their start. A new
  /// source continues here.
  uint64_t offset = 0;

  /// Those of the named that do not read any more.
  std::vector<proc_id> closed;

  /// How many still read.
  uint32_t readers = 0;
};

TROUPE_MESSAGE(io_input_taken, x.offset, x.closed, x.readers)

/// Which streams there are. Answered with an `io_list`.
struct list_io {
  /// As in `io_subscription`; empty: all.
  std::vector<proc_id> sources;

  /// Only those of jobs of this user.
  std::optional<uint32_t> uid;
};

TROUPE_MESSAGE(list_io, x.sources, x.uid)

/// Who gets a stream.
struct io_sink_status {
  std::string name;
  io_policy policy = io_policy::block;

  /// What it has answered.
  uint64_t taken = 0;

  /// Bytes that it will never get.
  uint64_t missed = 0;
};

TROUPE_MESSAGE(io_sink_status, x.name, x.policy, x.taken, x.missed)

/// One stream. For input `begin` and `end` are both what has been written.
struct io_stream_status {
  io_stream stream;

  /// The oldest byte that is still there.
  uint64_t begin = 0;

  /// The byte that comes next.
  uint64_t end = 0;
  bool is_over = false;
  std::vector<io_sink_status> sinks;
};

TROUPE_MESSAGE(io_stream_status, x.stream, x.begin, x.end, x.is_over, x.sinks)

struct io_list {
  std::vector<io_stream_status> streams;
};

TROUPE_MESSAGE(io_list, x.streams)

} // namespace troupe
