#include "tools/launcher_names.hpp"

#include <algorithm>
#include <iterator>

namespace troupe {

namespace {

constexpr std::string_view launchers[] = {"mpirun", "mpiexec", "orterun",
                                          "prterun", "prun"};

/// Words that name a DVM.
constexpr std::string_view dvm_words[] = {
  "--dvm", "--dvm-uri", "-dvm-uri", "--namespace", "--pid", "--hnp", "-hnp"};

} // namespace

std::optional<std::vector<std::string>>
run_arguments(std::string_view called, const std::vector<std::string>& args) {
  const auto name = called.substr(called.rfind('/') + 1);
  if (std::find(std::begin(launchers), std::end(launchers), name)
      == std::end(launchers))
    return std::nullopt;
  auto result = args;
  const auto names_dvm =
    std::any_of(args.begin(), args.end(), [](const std::string& x) {
      const auto word = std::string_view{x}.substr(0, x.find('='));
      return std::find(std::begin(dvm_words), std::end(dvm_words), word)
             != std::end(dvm_words);
    });
  if (name == "prun" && !names_dvm)
    result.insert(result.begin(), "--dvm=");
  return result;
}

} // namespace troupe
