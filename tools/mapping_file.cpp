#include "tools/mapping_file.hpp"

#include "actors/jobs/job_options.hpp"
#include "tools/dvm_options.hpp"

namespace troupe {

caf::error add_mapping_file(spawn_request& job) {
  const auto path = mapping_file_of(job);
  if (path.empty())
    return {};
  auto text = read_text_file(path);
  if (!text)
    return std::move(text.error());
  job.job_infos.push_back(
    {std::string{mapping_file_key}, 0, value::string(std::move(*text))});
  return {};
}

} // namespace troupe
