#pragma once

#include "messages/connection.hpp"
#include "messages/data_type.hpp"

#include <optional>
#include <string_view>

namespace troupe::wire {

/// A set of packing rules, as the peer names it when it connects. The modules
/// of 1.2 and 2.0 (`v12`, `v20`) are not among them: only peers older than 3.2
/// depend on them, and their values have other layouts.
/// Source: OpenPMIx wire protocol, packing modules ("bfrops").
enum class packing_module : uint8_t { v21, v3, v4, v41, v51, v61 };

/// How integers travel: big endian in their natural width, or as base-128
/// varints.
enum class integer_family : uint8_t { fixed, flex };

/// The modules that we speak, best first.
inline constexpr packing_module all_modules[] = {
  packing_module::v61, packing_module::v51, packing_module::v41,
  packing_module::v4,  packing_module::v3,  packing_module::v21};

/// How to write to one peer and how to read what it writes.
struct dialect {
  packing_module module = packing_module::v41;

  /// Whether every PACK call names the types that it holds.
  bool described = false;

  /// The libpmix of the client; some layouts depend on it. A server takes what
  /// the client announced, a client what it announces: servers adapt to it.
  release peer = {4, 2, 2};

  /// Whether compressed strings are written as plain ones. Every released
  /// client chokes on the compressed form or shows it to the application
  /// undecoded. Writers to peers before 5.0 never keep the compressed form.
  /// Source: OpenPMIx wire protocol, compressed strings.
  bool expand_strings = true;

  /// Whether the peer reads a DATA_TYPE of the flex family as a signed number,
  /// as released OpenPMIx does although it writes an unsigned one.
  bool signed_data_type = true;

  /// Whether values of every type that has an encoding may be there, whatever
  /// the module registers: for buffers that stay with programs.
  bool all_types = false;
};

bool operator==(const dialect& x, const dialect& y);

inline bool operator!=(const dialect& x, const dialect& y) {
  return !(x == y);
}

integer_family family_of(packing_module x);

/// Finds a module by its name, such as `v41`.
/// @returns nothing for a module that we do not speak, such as `v12`.
std::optional<packing_module> parse_module(std::string_view name);

std::string_view to_string(packing_module x);

/// Reads `major.minor.patch` as released libraries write it: each number ends
/// at the first other character (`4.2.2rc2` is 4.2.2), a leading `v` is
/// skipped, missing parts are 0.
release parse_release(std::string_view text);

/// Whether the peer can read values of type `x`. Types that no module
/// registers are not supported in any dialect.
/// Source: OpenPMIx wire protocol, type availability.
bool supports(const dialect& d, data_type x);

// -- the version matrix ------------------------------------------------------

/// How a peer expects the answer to a group construct.
enum class group_layout : uint8_t {
  /// Status and context id: 4.0 to 4.2.3.
  context_id,

  /// Status, members, context id: 4.2.4 to 5.
  members,

  /// Status, members, whether there is a context id, infos: 6.
  members_and_infos,
};

/// Source: OpenPMIx wire protocol, group construct reply.
group_layout group_layout_of(const release& peer);

/// Whether a peer names the members when it destructs a group (from 4.2.4).
bool destructs_with_members(const release& peer);

} // namespace troupe::wire
