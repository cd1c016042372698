#include "tools/run_preloads.hpp"

#include "tools/run_refusal.hpp"

#include <filesystem>

namespace troupe {

void add_preloads(run_options& result, const job_flags& x, const CLI::App& cli,
                  const command_segment& from) {
  namespace fs = std::filesystem;
  auto failure = std::error_code{};
  const auto here = fs::current_path(failure);
  if (x.preloads_program)
    for (const auto& program : result.job.apps) {
      if (program.cmd.find('/') == std::string::npos)
        refuse("--preload-binary: write the program with its directory, as ./"
               + program.cmd);
      const auto path = (here / program.cmd).lexically_normal().string();
      result.preloads.push_back({path, path});
    }
  for (const auto& file : CLI::detail::split(x.preloaded, ','))
    for (const auto& program : result.job.apps)
      if (!file.empty()) {
        const auto to =
          here / program.cwd.value_or("") / fs::path{file}.filename();
        result.preloads.push_back(
          {(here / file).string(), to.lexically_normal().string()});
      }
  // Later programs have added their nodes to the first one's.
  if (!result.nodes.hosts.empty())
    result.node_words.push_back("--host=" + result.nodes.hosts);
  for (size_t i = 0; i < from.given.size(); ++i) {
    const auto* option = cli.get_option_no_throw(from.given[i].name);
    if (option != nullptr && option->get_group() == nodes_group
        && from.given[i].name != "--host")
      result.node_words.push_back(from.options[i]);
  }
}

} // namespace troupe
