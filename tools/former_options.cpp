#include "tools/former_options.hpp"

#include <utility>

namespace troupe {

void add_former_options(CLI::App& cli, std::vector<std::string>& outputs) {
  constexpr std::pair<const char*, const char*> flags[] = {
    {"--tag-output", "tag"},
    {"--timestamp-output", "timestamp"},
    {"--xml", "xml"},
    {"--merge-stderr-to-stdout", "merge"}};
  for (const auto& [option, word] : flags)
    cli
      .add_flag_callback(
        option, [&outputs, word = word] { outputs.emplace_back(word); })
      ->group("");
  cli
    .add_option_function<std::string>(
      "--output-directory",
      [&outputs](const std::string& x) { outputs.push_back("dir=" + x); })
    ->group("");
  cli
    .add_option_function<std::string>(
      "--output-filename",
      [](const std::string& x) {
        throw CLI::ValidationError(
          "--output-filename",
          "is a directory in Open MPI 4 and the begin of names in Open MPI 5; "
          "write --output dir="
            + x + " or --output file=" + x);
      })
    ->group("");
}

} // namespace troupe
