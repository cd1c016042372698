#pragma once

#include "messages/value.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

// What our queries answer, for people and for programs.

namespace troupe {

/// What tools can ask a DVM for.
enum class report_kind : uint8_t { nodes, jobs, processes, networks, monitors };

/// The key of the query.
std::string_view query_key(report_kind x);

/// What the list is called in what `--json` prints.
std::string_view json_name(report_kind x);

/// An answer as JSON: an array of infos becomes an object, or an array if all
/// have the key `item`. An empty one is an empty array. A process is
/// `NAMESPACE:RANK`.
nlohmann::json to_json(const value& x);

/// An answer as aligned columns under a line of titles. What it quotes from
/// elsewhere cannot reach the terminal.
std::string to_text(report_kind kind, const nlohmann::json& x);

/// Rows of cells, the first of which are titles, as columns: numbers to the
/// right, text to the left, nothing after the last.
std::string align(const std::vector<std::vector<std::string>>& rows);

/// Takes a table of processes apart: PMIX_QUERY_PROC_TABLE. What is none of it
/// is left out.
std::vector<proc_info> processes_in(const value& table);

/// Where the processes of a job are, for people: a line for the job, and one
/// for each process.
std::string map_text(const std::string& nspace,
                     const std::vector<proc_info>& procs);

/// The same as a line of JSON.
std::string map_line(const std::string& nspace,
                     const std::vector<proc_info>& procs);

/// Where a process is bound, for people; without the name of the program.
/// @param cpus Its processors, `0-1,4`; empty: not bound.
std::string binding_text(uint32_t rank, const std::string& host,
                         const std::string& cpus);

} // namespace troupe
