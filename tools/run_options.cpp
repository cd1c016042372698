#include "tools/run_options.hpp"

#include "actors/jobs/job_options.hpp"
#include "actors/jobs/process_sets.hpp"
#include "actors/monitors/reaction_policy.hpp"
#include "messages/attributes.hpp"
#include "tools/former_options.hpp"
#include "tools/mapping_file.hpp"
#include "tools/output_flags.hpp"
#include "tools/terminal_mode.hpp"

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iostream>

namespace troupe {

namespace {

/// The exit status for a wrong command line.
constexpr int usage_error = 2;

/// What a window has if nobody knows better.
constexpr auto usual_window = winsize{24, 80, 0, 0};

/// A local rank has 16 bits.
constexpr int most_processes = 65535;

/// Options of one program of a job.
struct app_options {
  int32_t np = 0;
  std::string wdir;
  std::string pset;
  std::vector<std::string> exported;
};

/// Options of the whole job.
struct job_flags {
  std::string map_by;
  std::string bind_to;
  std::string standard_input;
  std::string screen;
  std::string display;
  std::string rtos;
  std::string log_level = "warning";
  std::string security = "native";
  std::string dvm;
  std::vector<std::string> sensors;
  std::vector<std::string> monitors;
  std::vector<std::string> reactions;
  std::vector<std::string> outputs;
  int32_t timeout = 0;
  bool label = false;
  bool timestamp = false;
  bool oversubscribe = false;
  bool json = false;
  bool with_pty = false;
};

void add_app_options(CLI::App& cli, app_options& x) {
  cli.add_option("-n,--np,-c,--ntasks", x.np, "Number of processes")
    ->check(CLI::Range(1, most_processes));
  cli.add_option("--wdir,--wd", x.wdir, "Directory in which they start");
  cli.add_option("--pset", x.pset, "Name of the process set that they become")
    ->check([](const std::string& name) {
      const auto why = set_name_refusal(name);
      return why ? reason_of(why) : std::string{};
    });
  cli
    .add_option("-x", x.exported,
                "NAME or NAME=VALUE: variable for the processes; may be "
                "repeated")
    ->allow_extra_args(false);
}

void add_job_options(CLI::App& cli, job_flags& x) {
  cli.add_option("--map-by", x.map_by,
                 "slot, hwthread, core, l3cache, numa, package, node or "
                 "ppr:N:node");
  cli.add_option("--bind-to", x.bind_to,
                 "none (default), hwthread, core, l3cache, numa or package");
  cli.add_flag("--oversubscribe", x.oversubscribe,
               "Allow more processes than slots");
  cli
    .add_option("--timeout", x.timeout,
                "End the job after this many seconds (exit status 124)")
    ->check(CLI::NonNegativeNumber);
  cli.add_flag("-l,--label", x.label, "Put the rank in front of each line");
  cli.add_flag("--timestamp", x.timestamp,
               "Put the time in front of each line");
  cli.add_option("--output", x.outputs, job_output_help)
    ->allow_extra_args(false);
  add_former_options(cli, x.outputs);
  cli.add_option("--stdin", x.standard_input,
                 "Rank that gets standard input (default 0), all or none");
  cli.add_flag("--pty", x.with_pty,
               "Give each process a terminal of its own; keys are passed on "
               "as they are typed");
  cli.add_option("--screen", x.screen,
                 "COMMAND that opens a window for each process, such as "
                 "'xterm -T %r -e' or 'tmux new-window -n %r'; %r is the rank, "
                 "%n the job");
  cli.add_option("--display", x.display, "map, bind, summary; with commas");
  cli.add_flag("--json", x.json, "Report everything as lines of JSON");
  cli.add_option("--rtos,--runtime-options", x.rtos,
                 "recoverable: the job goes on when a process fails");
  cli
    .add_option("--dvm", x.dvm,
                "Run in a DVM that is up: its name, pid:N, file:PATH or URI; "
                "--dvm without any: your only one")
    ->expected(0, 1);
  cli.add_option("--security", x.security, "native (default) or munge")
    ->check(CLI::IsMember({"native", "munge"}));
  cli.add_option("--log-level", x.log_level, "debug, info, warning, error")
    ->check(CLI::IsMember({"debug", "info", "warning", "error"}));
  cli.add_option("--sensor", x.sensors, sensor_help)->allow_extra_args(false);
  cli.add_option("--monitor", x.monitors, monitor_help)
    ->allow_extra_args(false);
  cli
    .add_option("--on-alert", x.reactions,
                "What is done when a monitor of the job raises an alert, such "
                "as stack, kill or command:TEXT; may come again "
                "(docs/monitoring.md)")
    ->allow_extra_args(false);
}

/// Splits a list at commas.
std::vector<std::string> parts(const std::string& list) {
  return CLI::detail::split(list, ',');
}

/// Splits the arguments at each lone `:`.
std::vector<std::vector<std::string>>
segments(const std::vector<std::string>& args) {
  auto result = std::vector<std::vector<std::string>>(1);
  for (const auto& x : args)
    if (x == ":")
      result.emplace_back();
    else
      result.back().push_back(x);
  return result;
}

/// Raised for what CLI11 cannot check.
[[noreturn]] void refuse(const std::string& what) {
  throw CLI::ValidationError(what, usage_error);
}

info make_info(std::string_view key, value val) {
  return {std::string{key}, 0, std::move(val)};
}

app make_app(const app_options& x, std::vector<std::string> command) {
  if (command.empty())
    refuse("no program given; see troupe run --help");
  if (command.front().front() == '-')
    refuse("unknown option " + command.front() + "; see troupe run --help");
  auto result = app{};
  result.cmd = command.front();
  result.argv = std::move(command);
  result.max_procs = x.np;
  if (!x.wdir.empty())
    result.cwd = x.wdir;
  if (!x.pset.empty())
    result.infos.push_back(make_info(attr::pset_name, value::string(x.pset)));
  for (const auto& variable : x.exported) {
    if (variable.find('=') != std::string::npos)
      result.env.push_back(variable);
    else if (const auto* val = std::getenv(variable.c_str()))
      result.env.push_back(variable + "=" + val);
    else
      refuse("-x " + variable + ": there is no such variable");
  }
  return result;
}

severity level_named(const std::string& name) {
  return name == "debug"   ? severity::debug
         : name == "info"  ? severity::info
         : name == "error" ? severity::error
                           : severity::warning;
}

uint32_t stdin_target(const std::string& given) {
  if (given.empty())
    return 0;
  if (given == "all")
    return rank_wildcard;
  if (given == "none")
    return rank_undef;
  auto rank = uint32_t{0};
  const auto* end = given.data() + given.size();
  const auto [rest, err] = std::from_chars(given.data(), end, rank);
  if (err != std::errc{} || rest != end || rank > rank_valid_max)
    refuse("--stdin takes a rank, all or none, not " + given);
  return rank;
}

/// How the streams are wired.
void apply_streams(const job_flags& x, run_options& result) {
  auto failure = std::error_code{};
  auto output = read_output_options(
    x.outputs, std::filesystem::current_path(failure).string());
  if (!output)
    refuse(reason_of(output.error()));
  result.output = std::move(*output);
  auto& infos = result.job.job_infos;
  for (auto& info : to_infos(result.output))
    infos.push_back(std::move(info));
  if (const auto why = add_flags(x.label, x.timestamp, x.json, result.output))
    refuse(reason_of(why));
  result.node.output = result.output.format;
  result.stdin_target = stdin_target(x.standard_input);
  result.screen = x.screen;
  if (!x.screen.empty()) {
    if (!x.standard_input.empty() || x.json)
      refuse("--screen shows each process in a window and takes its input "
             "there: leave out --stdin and --json");
    infos.push_back(make_info(attr::stdin_tgt, value::rank(rank_wildcard)));
    result.stdin_target = rank_undef;
  } else {
    infos.push_back(
      make_info(attr::stdin_tgt, value::rank(result.stdin_target)));
  }
  result.with_pty = x.with_pty;
  if (!x.with_pty)
    return;
  infos.push_back(make_info(attr::spawn_pty, value::boolean(true)));
  // With a size it is a screen, which echoes: our terminal must not.
  auto size = ::isatty(STDIN_FILENO) != 0 || !x.screen.empty() ? terminal_size()
                                                               : std::nullopt;
  if (!size && !x.screen.empty())
    size = usual_window;
  if (size)
    infos.push_back(make_info(
      attr::pty_wsize,
      value::bytes({reinterpret_cast<const char*>(&*size), sizeof(*size)})));
}

void apply(const job_flags& x, bool in_dvm, run_options& result) {
  if (in_dvm)
    result.dvm = x.dvm;
  auto& infos = result.job.job_infos;
  auto map_by = x.map_by;
  if (x.oversubscribe)
    map_by += ":OVERSUBSCRIBE";
  if (!map_by.empty())
    infos.push_back(make_info(attr::mapby, value::string(map_by)));
  if (!x.bind_to.empty())
    infos.push_back(make_info(attr::bindto, value::string(x.bind_to)));
  if (const auto why = add_mapping_file(result.job))
    refuse(reason_of(why));
  if (const auto read = read_options(result.job); !read)
    refuse(reason_of(read.error()));
  if (x.timeout > 0)
    infos.push_back(make_info(attr::job_timeout, value::integer(x.timeout)));
  for (const auto& reaction : x.reactions) {
    if (const auto parsed = parse_reaction(reaction); !parsed)
      refuse(reason_of(parsed.error()));
    infos.push_back(make_info(monitor_reaction_key, value::string(reaction)));
  }
  for (const auto& option : parts(x.rtos)) {
    if (option == "recoverable")
      infos.push_back(make_info(attr::job_recoverable, value::boolean(true)));
    else if (!option.empty())
      refuse("--rtos knows recoverable, not " + option);
  }
  apply_streams(x, result);
  for (const auto& what : parts(x.display)) {
    if (what != "map" && what != "bind" && what != "summary" && !what.empty())
      refuse("--display knows map, bind and summary, not " + what);
    result.display.insert(what);
  }
  result.json = x.json;
  result.node.log_level = level_named(x.log_level);
  result.node.log_json = x.json;
  result.node.sensors = x.sensors;
  result.node.monitors = x.monitors;
  if (x.security == "munge")
    result.node.security.mechanism = security_mechanism::munge;
}

/// Gives CLI11 its arguments in the order it wants.
void parse(CLI::App& cli, std::vector<std::string> args) {
  std::reverse(args.begin(), args.end());
  cli.parse(std::move(args));
}

run_options parse_segments(CLI::App& cli, job_flags& flags,
                           const std::vector<std::string>& args) {
  auto result = run_options{};
  add_dvm_options(cli, result.nodes);
  auto first = app_options{};
  add_app_options(cli, first);
  const auto all = segments(args);
  parse(cli, all.front());
  result.job.apps.push_back(make_app(first, cli.remaining()));
  for (size_t i = 1; i < all.size(); ++i) {
    auto x = app_options{};
    auto next = CLI::App{"", "troupe run ... :"};
    next.prefix_command();
    add_app_options(next, x);
    parse(next, all[i]);
    result.job.apps.push_back(make_app(x, next.remaining()));
  }
  const auto in_dvm = cli.count("--dvm") > 0;
  apply(flags, in_dvm, result);
  return result;
}

/// Settings of programs that their launchers pass on.
constexpr auto passed_on = std::string_view{"OMPI_"};

} // namespace

void fill_in_processes(spawn_request& job, uint32_t slots) {
  // Whoever maps them counts them.
  if (const auto options = read_options(job);
      options && counts_processes(*options))
    return;
  const auto count = std::clamp<uint32_t>(slots, 1, most_processes);
  for (auto& x : job.apps)
    if (x.max_procs == 0)
      x.max_procs = static_cast<int32_t>(count);
}

uint32_t job_size(const run_options& options) {
  auto result = uint32_t{0};
  for (const auto& x : options.job.apps)
    result += static_cast<uint32_t>(x.max_procs);
  return result;
}

std::vector<uint32_t> stdin_ranks(const run_options& options) {
  if (options.stdin_target == rank_undef)
    return {};
  return {options.stdin_target};
}

caf::error check_stdin(const run_options& options) {
  const auto& apps = options.job.apps;
  if (std::any_of(apps.begin(), apps.end(),
                  [](const app& x) { return x.max_procs == 0; }))
    return caf::none; // Whoever counts them says.
  const auto size = job_size(options);
  if (options.stdin_target > rank_valid_max || options.stdin_target < size)
    return caf::none;
  return make_error(status::bad_param,
                    "--stdin " + std::to_string(options.stdin_target)
                      + ": the job has no such process, its ranks are 0 to "
                      + std::to_string(size - 1));
}

void add_surroundings(spawn_request& job) {
  auto failure = std::error_code{};
  const auto here = std::filesystem::current_path(failure).string();
  for (auto& x : job.apps) {
    if (!x.cwd && !failure)
      x.cwd = here;
    else if (x.cwd && !x.cwd->empty() && x.cwd->front() != '/' && !failure)
      x.cwd = here + "/" + *x.cwd;
    auto variables = std::vector<std::string>{};
    for (auto** y = environ; *y != nullptr; ++y)
      if (std::string_view{*y}.substr(0, passed_on.size()) == passed_on)
        variables.emplace_back(*y);
    x.env.insert(x.env.begin(), variables.begin(), variables.end());
  }
}

std::variant<run_options, int> parse_run(std::vector<std::string> args) {
  auto cli =
    CLI::App{"Starts a job, on this node or on others, and waits for its end.",
             "troupe run"};
  cli.prefix_command();
  cli.footer("The options end with the program: troupe run [options] program "
             "[arguments]\n[: [options] program [arguments]]...\n\nExit "
             "status: that of the worst process; 128 + signal; 127 not "
             "found; 126 not executable; 124 time-out.");
  auto flags = job_flags{};
  add_job_options(cli, flags);
  try {
    return parse_segments(cli, flags, args);
  } catch (const CLI::Success& x) {
    return cli.exit(x);
  } catch (const CLI::ParseError& x) {
    std::cerr << "troupe run: " << x.what() << '\n';
    return usage_error;
  }
}

} // namespace troupe
