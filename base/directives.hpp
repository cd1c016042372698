#pragma once

#include "messages/value.hpp"

#include <caf/error.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What calls do of the attributes that they are given: the table directives.def.

namespace troupe {

/// A function of the API that takes infos, with its form that does not wait.
enum class pmix_call : uint8_t {
#define TROUPE_CALL(name, function, part) name,
#include "base/directives.def"
};

/// Who carries a call out: the library of a client or of a tool alone; the
/// server, which it asks; or the server for its host alone.
enum class call_part : uint8_t { client, tool, server, host };

/// How a call treats an attribute; directives.def says what each means.
enum class treatment : uint8_t { done, host, ignored, refused };

struct call_row {
  pmix_call call;
  std::string_view function;
  call_part part;
};

struct directive_row {
  pmix_call call;

  /// Name in C of the attribute, and its key.
  std::string_view c_name;
  std::string_view key;

  treatment how;

  /// Whether it is a key of a query, and not told to one.
  bool is_query_key;

  /// A file of tests/.
  std::string_view test;
};

/// All calls, in the order of their names.
const std::vector<call_row>& all_calls();

/// All attributes, by call.
const std::vector<directive_row>& all_directives();

/// Who gets what the server itself does not act upon.
enum class next_host : uint8_t {
  /// Nobody, or a host of ours, which does what the table says.
  ours,
  /// The host of another resource manager, which may know more.
  foreign,
};

/// How a call treats an attribute by its key; nothing if it has no row.
std::optional<treatment> treatment_of(pmix_call call, std::string_view key);

/// Whether an attribute may be required of a call. Keys of our own, which begin
/// with `troupe.`, may: whoever reads them knows them.
bool may_be_required(pmix_call call, std::string_view key, next_host host);

/// As `check_required`, for infos of which one at least is required.
caf::error find_unmet(pmix_call call, const std::vector<info>& infos,
                      next_host host);

/// Checks that all required infos are acted upon; qualifiers are part of a name.
/// @returns `not_supported` with the name of the first that is not.
/// Source: PMIx Standard v5, PMIX_INFO_REQD.
inline caf::error check_required(pmix_call call, const std::vector<info>& infos,
                                 next_host host) {
  for (const auto& x : infos)
    if ((x.flags & info_required) != 0)
      return find_unmet(call, infos, host);
  return {};
}

/// Names in C of what a call acts upon, separated by commas.
std::string names_of_done(pmix_call call);

/// Keys that queries answer, or what they may be told beside them, separated by
/// commas: PMIX_QUERY_SUPPORTED_KEYS and PMIX_QUERY_SUPPORTED_QUALIFIERS.
std::string supported_keys();
std::string supported_qualifiers();

/// Attributes of a function, as PMIX_QUERY_ATTRIBUTE_SUPPORT gives them.
/// @param names Names in C.
/// @param words What is said of each.
info describe_attributes(std::string_view function,
                         const std::vector<std::string_view>& names,
                         std::string_view words);

/// Whether a list of functions, separated by commas, names one: by its name or
/// by `all`.
bool names_function(std::string_view list, std::string_view function);

/// What the library, the server and our own hosts support, as
/// PMIX_QUERY_ATTRIBUTE_SUPPORT asks it.
/// @param qualifiers PMIX_CLIENT_FUNCTIONS, PMIX_TOOL_FUNCTIONS,
///                   PMIX_SERVER_FUNCTIONS or PMIX_HOST_FUNCTIONS: the names of
///                   the functions; PMIX_CLIENT_ATTRIBUTES and its neighbours
///                   with a list of functions or `all`: the attributes of each.
/// @returns one info per qualifier answered and per function.
/// Source: PMIx Standard v5, "Query keys", "Descriptive Attributes".
std::vector<info> supported(const std::vector<info>& qualifiers);

} // namespace troupe
