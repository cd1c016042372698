#pragma once

#include <string_view>

// Attributes of ours for I/O forwarding: what the Standard has no word for.

namespace troupe {

/// UINT64. To `PMIx_IOF_pull`: the byte of each stream with which to begin. To
/// `PMIx_IOF_push`: where the first byte stands in the input of the targets.
/// With output: where its first byte stands in its stream.
/// Source: guarantees 5.7.
inline constexpr std::string_view io_offset_key = "troupe.iof.offset";

/// STRING, to `PMIx_IOF_pull`: `tail`, begin with the oldest byte that is still
/// there (the default), or `live`, with the next that is written.
inline constexpr std::string_view io_start_key = "troupe.iof.start";

/// BOOL, to `PMIx_IOF_pull` or `PMIx_Spawn`: output comes as it was written,
/// with `io_offset_key` and `io_missed_key`; whoever gets it formats it.
inline constexpr std::string_view io_offsets_key = "troupe.iof.offsets";

/// UINT64, with output: how many bytes before it will never come.
inline constexpr std::string_view io_missed_key = "troupe.iof.missed";

/// Query: the streams of processes, an array of arrays of infos as
/// `make_io_report` makes it. Qualifiers: PMIX_NSPACE, PMIX_RANK.
inline constexpr std::string_view io_streams_key = "troupe.iof.streams";

} // namespace troupe
