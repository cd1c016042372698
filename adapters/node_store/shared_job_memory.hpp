#pragma once

#include "actors/data/job_memory.hpp"

namespace troupe {

/// Makes the memory of a job as a node store: see `job_memory_maker`.
std::unique_ptr<job_memory>
make_shared_job_memory(uint32_t ranks, const std::vector<uint32_t>& locals,
                       uint64_t bytes, const job_info& data, std::string& why);

} // namespace troupe
