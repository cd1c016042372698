#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What `troupe top` shows: nodes, jobs and processes of a DVM as tables, sorted and
// filtered. Pure functions on values.

namespace troupe {

/// How much of its node a process uses.
struct process_usage {
  /// Percent of one processor.
  double cpu = 0;

  /// Resident, in MB.
  double memory = 0;
};

/// What a DVM says at one time.
struct dvm_picture {
  /// Arrays as `troupe nodes`, `jobs` and `ps` have them.
  nlohmann::json nodes = nlohmann::json::array();
  nlohmann::json jobs = nlohmann::json::array();
  nlohmann::json processes = nlohmann::json::array();

  /// By `NAMESPACE:RANK`; those that are not there are not known.
  std::map<std::string, process_usage> usage;
};

/// A member of what a DVM says, as text; empty if there is none. Servers of others
/// may say something else than ours.
std::string text_at(const nlohmann::json& x, const char* key);

/// `NAMESPACE:RANK` of one of the processes.
std::string id_of(const nlohmann::json& process);

enum class top_kind : uint8_t { ranks, jobs, nodes };

std::string_view text_of(top_kind x);

/// @returns nothing for another word.
std::optional<top_kind> read_top_kind(std::string_view word);

/// What one place of a table says.
struct top_cell {
  std::string text;

  /// By which numbers are sorted; none: by the text.
  std::optional<double> number;
};

struct top_row {
  /// Tells it from others, also when everything else changes: `NAMESPACE:RANK`,
  /// the namespace, or the node's rank.
  std::string id;
  std::vector<top_cell> cells;
};

struct top_column {
  const char* title;

  /// Whether it stands to the right.
  bool is_numeric;

  /// Whether the largest come first.
  bool begins_with_largest;
};

/// The columns of a kind of table.
const std::vector<top_column>& columns_of(top_kind x);

/// @returns which column is called so, whatever the case; nothing if none is.
std::optional<size_t> find_column(top_kind x, std::string_view title);

/// Which column says how somebody is.
size_t state_column(top_kind x);

/// What a table is narrowed to.
struct top_scope {
  /// Of ranks: of which job, or on which node, by its rank.
  std::optional<std::string> nspace;
  std::optional<uint32_t> node;

  /// What a cell of a row has to have in it, whatever the case; empty: all rows.
  std::string filter;
};

/// The rows of a table, in the order that the DVM has them.
std::vector<top_row> rows_of(top_kind x, const dvm_picture& from,
                             const top_scope& scope);

/// Puts rows in the order of a column; those that are the same there stay as they
/// are.
void sort_rows(std::vector<top_row>& rows, size_t column, bool is_reversed);

/// Counts in a line: `2 nodes, 1 job, 12 processes: 10 running, 2 ended`.
std::string summary_of(const dvm_picture& x);

/// All tables as text, for `--once`: of each kind, with a blank line between.
std::string to_text(const dvm_picture& x, const std::vector<top_kind>& kinds,
                    const top_scope& scope, std::optional<size_t> column,
                    bool is_reversed);

/// For programs; docs/json.md.
nlohmann::json to_json(const dvm_picture& x);

} // namespace troupe
