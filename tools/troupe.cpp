// The launcher and the administrator's command.

#include "tools/ask.hpp"
#include "tools/bootstrap.hpp"
#include "tools/command_words.hpp"
#include "tools/ctl.hpp"
#include "tools/events.hpp"
#include "tools/group.hpp"
#include "tools/guarded_main.hpp"
#include "tools/io.hpp"
#include "tools/monitor.hpp"
#include "tools/printing.hpp"
#include "tools/run.hpp"
#include "tools/up.hpp"
#include "tools/window.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr auto usage = R"(Usage: troupe COMMAND [options]

Commands:
  run        start a job, on this node or on others, and wait for its end
  up         start a DVM over nodes
  down       end a DVM with all its jobs
  nodes      show the nodes of a DVM
  jobs       show its jobs
  ps         show their processes
  net        show the networks between its nodes
  attach     show the output of a job or process, and give it input
  io         list and follow the streams of processes
  events     watch, raise and list its events
  monitor    have processes watched, and see who is
  group      show and watch its groups of processes
  ctl        signal, pause, end, checkpoint ... its processes
  authority  make the authority of a DVM that nobody launches
  version    print the version

troupe help COMMAND tells about a command.
)";

constexpr std::pair<const char*, troupe::report_kind> reports[] = {
  {"nodes", troupe::report_kind::nodes},
  {"jobs", troupe::report_kind::jobs},
  {"ps", troupe::report_kind::processes},
  {"net", troupe::report_kind::networks}};

int run_command(const std::string& program,
                const std::vector<std::string>& args) {
  if (auto run = troupe::run_arguments(program, args))
    return troupe::run(std::move(*run));
  if (args.empty()) {
    std::cerr << usage;
    return 2;
  }
  auto command = args.front();
  auto rest = std::vector<std::string>{args.begin() + 1, args.end()};
  const auto asks = command == "help" || command == "--help" || command == "-h";
  if (asks && rest.empty()) {
    std::cout << usage;
    return 0;
  }
  if (asks) {
    // `troupe help run map-by` is `troupe run --help map-by`.
    command = rest.front();
    rest.front() = "--help";
  }
  if (command == "run")
    return troupe::run(std::move(rest));
  if (command == "up")
    return troupe::up(std::move(rest));
  // The other commands start no program. What these two start inherits the
  // flag and cannot take it off: jobs may need ping, sudo or fusermount.
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (command == "down")
    return troupe::down(std::move(rest));
  if (command == "events")
    return troupe::events(std::move(rest));
  if (command == "monitor")
    return troupe::monitor(std::move(rest));
  if (command == "group")
    return troupe::group(std::move(rest));
  if (command == "attach")
    return troupe::attach(std::move(rest));
  if (command == "io")
    return troupe::io(std::move(rest));
  if (command == "window")
    return troupe::window(rest);
  if (command == "ctl")
    return troupe::ctl(std::move(rest));
  if (command == "authority")
    return troupe::make_authority_file(std::move(rest));
  for (const auto& [name, kind] : reports)
    if (command == name)
      return troupe::ask(kind, command, std::move(rest));
  if (command == "version" || command == "--version" || command == "-V") {
    std::cout << "troupe " TROUPE_VERSION "\n";
    return 0;
  }
  std::cerr << troupe::notice("troupe",
                              "there is no command \"" + command + "\"")
            << '\n'
            << usage;
  return 2;
}

} // namespace

int main(int argc, char** argv) {
  return troupe::guarded_main("troupe", [&] {
    return run_command(argc > 0 ? argv[0] : "",
                       {argv + std::min(argc, 1), argv + argc});
  });
}
