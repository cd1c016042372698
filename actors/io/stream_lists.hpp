#pragma once

#include "base/pass_on.hpp"
#include "messages/connection.hpp"
#include "messages/io_stream.hpp"
#include "messages/query.hpp"

#include <functional>

namespace troupe {

/// What answers queries for streams in an embedded daemon.
struct stream_list_means {
  /// Asks the I/O DESK.
  std::function<void(list_io, completion<io_list>)> list;

  /// Asks the host what else the request asks.
  std::function<void(query_request, completion<info_result>)> ask_host;
};

/// Whether a request has a query for `io_streams_key`.
bool asks_for_streams(const query_request& x);

/// Answers queries for the streams of this node; whatever else the request asks
/// is the host's.
void answer_with_streams(const requester& who, query_request request,
                         const stream_list_means& out,
                         completion<info_result> done);

} // namespace troupe
