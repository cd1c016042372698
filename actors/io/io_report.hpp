#pragma once

#include "messages/connection.hpp"
#include "messages/io_stream.hpp"
#include "messages/query.hpp"
#include "messages/value.hpp"

#include <string_view>

namespace troupe {

/// Such as `stdout`; `output` for none or several.
std::string_view text_of(io_channels x);

/// Such as `drop_oldest`.
std::string_view text_of(io_policy x);

/// What answers the query `io_streams_key`: a list of streams, ordered by job,
/// rank and stream. An object is an array of infos; a list is one whose infos
/// all have the key `item`.
value make_io_report(const io_list& x);

/// What a query for `io_streams_key` asks the I/O DESK: streams of the process,
/// or job, that its qualifiers name, or of all; only of the requester's user,
/// unless that is root.
list_io streams_wanted(const requester& who, const query& what);

} // namespace troupe
