#pragma once

#include <caf/expected.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Lists of nodes, and of the ranks on each node, as one text. Three forms:
//
//     pmix[n[2:1-3,7],login]     pmix[0-3;4-7;8]     ranges, 3.2 to 4.2
//     raw:n01,n02,n03            raw:0-3;4-7;8       as it is, 4 and later
//     blob:\0component=zlib:\0size=<n>:\0<n bytes>   compressed, 5 and later
//
// In the first form a name is a prefix, then the number of digits and the
// numbers in brackets, then a suffix. A final zero byte is skipped.
// Source: OpenPMIx wire protocol, node and process maps.

namespace troupe::wire {

enum class map_form : uint8_t { ranges, raw, blob };

/// The most names or ranks in one map; X48 and X49 of the guarantees.
inline constexpr size_t max_map_entries = size_t{1} << 20;

/// The most bytes of all names in one map.
inline constexpr size_t max_map_size = size_t{32} << 20;

/// The ranks on each node.
using proc_map = std::vector<std::vector<uint32_t>>;

/// Reads a list of nodes in any form, or names separated by commas.
/// @returns an error that names the place if the text is no map, or if it
///          stands for too many names.
caf::expected<std::vector<std::string>> parse_node_map(std::string_view text);

/// Reads the ranks on each node in any form, or `0-3;4-7`.
caf::expected<proc_map> parse_proc_map(std::string_view text);

/// Writes a list of nodes. The order is kept.
/// @returns an error if a name is empty or has a character that the forms use.
caf::expected<std::string>
format_node_map(const std::vector<std::string>& nodes, map_form form);

/// Writes the ranks on each node.
std::string format_proc_map(const proc_map& ranks, map_form form);

} // namespace troupe::wire
