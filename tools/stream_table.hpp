#pragma once

#include "adapters/wire/replies.hpp"
#include "messages/proc_id.hpp"
#include "messages/query.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

// The streams of processes, as a DVM tells them to tools.

namespace troupe {

/// Who gets a stream.
struct sink_row {
  std::string name;
  std::string policy;
  uint64_t taken = 0;
  uint64_t missed = 0;
};

/// One stream: see `io_stream_status`.
struct stream_row {
  proc_id source;
  std::string stream;
  uint64_t begin = 0;
  uint64_t end = 0;
  bool is_over = false;
  std::vector<sink_row> sinks;
};

/// Asks for the streams of a process, or of a job (`rank_wildcard`), or of all
/// (no namespace).
query_request stream_question(const proc_id& whose);

/// The answer; what is none is left out.
std::vector<stream_row> stream_rows(const wire::reply_body& answer);
std::vector<stream_row> stream_rows(const nlohmann::json& list);

// What `troupe io` prints.

/// The streams as aligned columns, and who gets each.
std::string streams_text(const std::vector<stream_row>& rows);

/// `JOB:RANK STREAM BEGIN END open`, or `over`, a stream a line.
std::string offsets_text(const std::vector<stream_row>& rows);

} // namespace troupe
