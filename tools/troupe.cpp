// The launcher and the administrator's command.

#include "tools/ask.hpp"
#include "tools/bootstrap.hpp"
#include "tools/command_words.hpp"
#include "tools/completion.hpp"
#include "tools/ctl.hpp"
#include "tools/doctor.hpp"
#include "tools/events.hpp"
#include "tools/group.hpp"
#include "tools/guarded_main.hpp"
#include "tools/help_page.hpp"
#include "tools/help_topics.hpp"
#include "tools/io.hpp"
#include "tools/log_command.hpp"
#include "tools/monitor.hpp"
#include "tools/page_command.hpp"
#include "tools/printing.hpp"
#include "tools/run.hpp"
#include "tools/settings_command.hpp"
#include "tools/top.hpp"
#include "tools/up.hpp"
#include "tools/version.hpp"
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
  top        watch its nodes, jobs and processes at a terminal
  attach     show the output of a job or process, and give it input
  io         list and follow the streams of processes
  events     watch, raise and list its events
  monitor    have processes watched, and see who is
  group      show and watch its groups of processes
  ctl        signal, pause, end, checkpoint ... its processes
  log        show and set what its nodes log
  trace      show what has become of a fence or an event
  doctor     look what is wrong with this node, and with others
  page       serve a live page about a DVM to browsers of this node
  config     show the settings that hold here, and check files of them
  authority  make the authority of a DVM that nobody launches
  version    print the version

troupe help COMMAND tells about a command, troupe help topics about the rest.
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
  if (asks && (rest.empty() || rest.front() == "help")) {
    std::cout << usage;
    return 0;
  }
  if (asks) {
    if (const auto status = troupe::help_on_topic(rest))
      return *status;
    // `troupe help run map-by` is `troupe run --help map-by`.
    command = rest.front();
    rest.front() = "--help";
  }
  if (command == "run")
    return troupe::run(std::move(rest));
  if (command == "up")
    return troupe::up(std::move(rest));
  if (command == "doctor")
    return troupe::doctor(std::move(rest));
  // The other commands start no program. What these three start inherits the
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
  if (command == "log")
    return troupe::log_command(std::move(rest));
  if (command == "trace")
    return troupe::trace_command(std::move(rest));
  if (command == "top")
    return troupe::top(std::move(rest));
  if (command == "page")
    return troupe::page(rest);
  if (command == "config")
    return troupe::settings_command(std::move(rest));
  if (command == "authority")
    return troupe::make_authority_file(std::move(rest));
  for (const auto& [name, kind] : reports)
    if (command == name)
      return troupe::ask(kind, command, std::move(rest));
  if (command == "version" || command == "--version" || command == "-V")
    return troupe::version(std::move(rest));
  if (command == "complete")
    return troupe::complete(std::move(rest));
  // An option of `troupe run`, or a word of another launcher.
  if (asks)
    return troupe::run({"--help", command});
  const auto near =
    troupe::nearest_name(command, troupe::read_help(usage).commands);
  std::cerr << troupe::notice("troupe",
                              "there is no command \"" + command + "\""
                                + (near ? "; did you mean " + *near + "?" : ""))
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
