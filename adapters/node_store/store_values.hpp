#pragma once

#include "adapters/wire/reader.hpp"
#include "messages/value.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Appends a value as a node store keeps it: packed as in buffers that stay with
/// programs, so that every type that has an encoding may be there.
/// @returns whether it can be packed; if not, `out` is as it was.
bool pack_for_store(const value& x, std::string& out);

/// Reads a value back.
/// @param from Who has written it; of processes the number of elements is
///             bounded.
/// @returns nothing for bytes that `pack_for_store` has not written.
std::optional<value> unpack_from_store(std::string_view bytes,
                                       wire::origin from);

/// The same of bytes that nobody else needs: those of a BYTE_OBJECT, which is what most
/// programs post, stay where they are.
std::optional<value> take_from_store(std::string bytes, wire::origin from);

/// Appends entries, as a server sends those of a job: one that has no encoding is
/// left out, a compressed text becomes a plain one.
/// @returns whether they can be packed; if not, `out` is as it was.
bool pack_entries_for_store(const std::vector<key_value>& xs, std::string& out);

/// Reads them back.
/// @returns nothing for bytes that `pack_entries_for_store` has not written.
std::optional<std::vector<key_value>>
unpack_entries_from_store(std::string_view bytes);

} // namespace troupe
