#pragma once

#include "messages/value.hpp"

#include <string>
#include <vector>

namespace troupe {

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
