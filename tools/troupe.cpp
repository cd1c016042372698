// The launcher and the administrator's command.

#include "adapters/process/inherited_fd.hpp"
#include "tools/run.hpp"

#include <iostream>
#include <string>
#include <vector>

namespace {

constexpr auto usage = R"(Usage: troupe COMMAND [options]

Commands:
  run      start a job on this node and wait for its end
  version  print the version

troupe COMMAND --help tells about a command.
)";

} // namespace

int main(int argc, char** argv) {
  // Before anything else gets a descriptor.
  troupe::occupy_standard_descriptors();
  const auto args = std::vector<std::string>(argv + 1, argv + argc);
  if (args.empty()) {
    std::cerr << usage;
    return 2;
  }
  if (args.front() == "run")
    return troupe::run({args.begin() + 1, args.end()});
  if (args.front() == "version" || args.front() == "--version") {
    std::cout << "troupe " TROUPE_VERSION "\n";
    return 0;
  }
  if (args.front() == "--help" || args.front() == "-h"
      || args.front() == "help") {
    std::cout << usage;
    return 0;
  }
  std::cerr << "troupe: there is no command \"" << args.front() << "\"\n\n"
            << usage;
  return 2;
}
