#include "tools/run_options.hpp"

#include "actors/jobs/job_options.hpp"
#include "actors/monitors/reaction_policy.hpp"
#include "messages/attributes.hpp"
#include "tools/chosen_nodes.hpp"
#include "tools/command_words.hpp"
#include "tools/environment_export.hpp"
#include "tools/notice.hpp"
#include "tools/run_flags.hpp"
#include "tools/run_help.hpp"
#include "tools/run_places.hpp"
#include "tools/run_preloads.hpp"
#include "tools/run_refusal.hpp"
#include "tools/run_streams.hpp"
#include "tools/run_variables.hpp"
#include "tools/time_span.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

namespace troupe {

namespace {

/// A local rank has 16 bits.
constexpr int most_processes = 65535;

/// Splits a list at commas.
std::vector<std::string> parts(const std::string& list) {
  return CLI::detail::split(list, ',');
}

info make_info(std::string_view key, value val) {
  return {std::string{key}, 0, std::move(val)};
}

/// Where a program is that is to be looked for in `path` first.
std::string found_in(const std::vector<std::string>& path,
                     const std::string& program) {
  if (program.find('/') != std::string::npos)
    return program;
  for (const auto& list : path)
    for (const auto& directory : CLI::detail::split(list, ':')) {
      const auto file = directory + "/" + program;
      if (::access(file.c_str(), X_OK) == 0)
        return std::filesystem::absolute(file).string();
    }
  return program;
}

app make_app(const app_flags& x, const command_segment& from,
             const environment& launcher) {
  auto result = app{};
  result.argv = from.command;
  result.cmd = found_in(x.path, from.command.front());
  result.max_procs = x.np;
  if (!x.wdir.empty())
    result.cwd = x.wdir;
  if (!x.pset.empty())
    result.infos.push_back(make_info(attr::pset_name, value::string(x.pset)));
  for (const auto& word : x.exported)
    for (auto& variable : value_or_refuse(exported_by(word, launcher), "-x"))
      result.env.push_back(std::move(variable));
  return result;
}

severity level_of(const job_flags& x) {
  const auto& name = x.log_level;
  return name == "debug" || (name.empty() && x.verbosity > 1)  ? severity::debug
         : name == "info" || (name.empty() && x.verbosity > 0) ? severity::info
         : name == "error" || (name.empty() && x.is_quiet)     ? severity::error
                                                           : severity::warning;
}

/// The time-out; 0: none.
int32_t timeout_of(const job_flags& x, const command_segment& from) {
  using std::chrono::seconds;
  if (!x.timeout.empty() && !x.time.empty()) {
    const auto words = typed_as(from, {"--timeout", "--time"});
    refuse(words.at(0) + " and " + words.at(1)
           + " both limit the job; give one of them");
  }
  const auto& text = x.timeout.empty() ? x.time : x.timeout;
  if (text.empty())
    return 0;
  const auto plain = x.timeout.empty() ? seconds{60} : seconds{1};
  const auto result = parse_time_span(text, plain);
  if (!result)
    refuse(typed_as(from, {"--timeout", "--time"}).at(0)
           + " is no time; write 90, 5m, 1h30m, MM:SS, HH:MM:SS or "
             "D-HH:MM:SS");
  return static_cast<int32_t>(result->count());
}

void apply_display(const job_flags& x, run_options& result) {
  for (const auto& list : x.display)
    for (const auto& what : parts(list)) {
      if (what != "map" && what != "bind" && what != "summary"
          && what != "allocation" && !what.empty())
        refuse("--display knows map, bind, allocation and summary, not "
               + what);
      result.display.insert(what);
    }
  if (!x.is_dry)
    return;
  // A DVM tells the map as the end of the job.
  if (!result.dvm)
    result.display.insert("map");
  result.job.job_infos.push_back(make_info(dry_run_key, value::boolean(true)));
}

void apply(const job_flags& x, const command_segment& from,
           const environment& launcher, run_options& result) {
  auto& infos = result.job.job_infos;
  add_places(result.job, x, from);
  if (const auto seconds = timeout_of(x, from); seconds > 0)
    infos.push_back(make_info(attr::job_timeout, value::integer(seconds)));
  for (const auto& reaction : x.reactions) {
    if (const auto parsed = parse_reaction(reaction); !parsed)
      refuse(reason_of(parsed.error()));
    infos.push_back(make_info(monitor_reaction_key, value::string(reaction)));
  }
  for (const auto& list : x.rtos)
    for (const auto& option : parts(list)) {
      if (option == "recoverable")
        infos.push_back(make_info(attr::job_recoverable, value::boolean(true)));
      else if (!option.empty())
        refuse("--rtos knows recoverable, not " + option);
    }
  add_streams(result, x);
  apply_display(x, result);
  result.signals = x.signals;
  add_variables(result.job, x, launcher);
  result.json = x.json;
  result.only_primary = x.only_primary;
  result.report_pid = x.report_pid;
  result.node.log_level = level_of(x);
  result.node.log_json = x.json;
  result.node.sensors = x.sensors;
  result.node.monitors = x.monitors;
  if (x.security == "munge")
    result.node.security.mechanism = security_mechanism::munge;
}

/// Gives CLI11 its arguments in the order it wants.
void parse(CLI::App& cli, const command_segment& from) {
  auto args = from.options;
  std::reverse(args.begin(), args.end());
  try {
    cli.parse(std::move(args));
  } catch (const CLI::ParseError& x) {
    throw CLI::ValidationError(in_typed_words(x.what(), from), usage_error);
  }
}

/// Has a program run on some of the job's nodes.
void limit_to(app& program, const std::string& hosts) {
  if (hosts.empty())
    return;
  auto choice = dvm_options{};
  choice.hosts = hosts;
  const auto nodes = value_or_refuse(choose_nodes(choice, read_text_file), "");
  program.infos.push_back(
    make_info(attr::host, value::string(to_string(nodes))));
}

/// Reads the options of one program, which may not have those of the job.
/// @param all_hosts Gets the program's own nodes, too.
app read_app(const command_segment& from, const environment& launcher,
             std::string& all_hosts) {
  auto x = app_flags{};
  auto cli = CLI::App{"", "troupe run ... :"};
  add_later_app_flags(cli, x);
  for (const auto& option : from.given)
    if (cli.get_option_no_throw(option.name) == nullptr)
      refuse(option.typed
             + " is for the whole job: give it before the first program");
  parse(cli, from);
  if (from.command.empty())
    refuse("a program is missing behind a colon; see troupe run --help");
  auto result = make_app(x, from, launcher);
  limit_to(result, x.hosts);
  if (!x.hosts.empty())
    all_hosts += (all_hosts.empty() ? "" : ",") + x.hosts;
  return result;
}

/// The programs that a file lists.
std::vector<command_segment> read_app_file(const std::string& file,
                                           const CLI::App& cli) {
  const auto text = value_or_refuse(read_text_file(file), "--app");
  auto result = std::vector<command_segment>{};
  auto number = 0;
  for (const auto& line : CLI::detail::split(text, '\n')) {
    const auto place = file + ":" + std::to_string(++number);
    const auto options = CLI::detail::trim_copy(line.substr(0, line.find('#')));
    if (options.empty())
      continue;
    const auto words = value_or_refuse(split_words(options, place), "");
    auto read = value_or_refuse(read_words(words, cli), place);
    for (auto& x : read.segments)
      result.push_back(std::move(x));
  }
  if (result.empty())
    refuse("--app " + file + " names no program; write a line `-n 2 PROGRAM`");
  return result;
}

/// What was asked for, and nothing is run.
std::optional<int> answer(const command_words& words, const CLI::App& cli) {
  if (words.wants_version) {
    std::cout << "troupe " TROUPE_VERSION "\n";
    return 0;
  }
  if (!words.wants_help)
    return std::nullopt;
  if (words.topic.empty()) {
    std::cout << cli.help();
    return 0;
  }
  const auto text = help_about(words.topic, cli);
  if (!text)
    refuse("--help " + words.topic
           + ": there is no such option; troupe run --help lists them");
  std::cout << *text;
  return 0;
}

void tell_left_out(const command_words& words) {
  if (words.left_out.empty())
    return;
  auto list = std::string{};
  for (const auto& x : words.left_out)
    list += (list.empty() ? "" : ", ") + x;
  const auto& first = words.left_out.front();
  std::cerr << notice(
    "troupe run",
    "without meaning here and left out: " + list + " (troupe run --help "
      + first.substr(first.find_first_not_of('-')) + " says why)");
}

std::variant<run_options, int> read(CLI::App& cli, job_flags& flags,
                                    run_options& result,
                                    const std::vector<std::string>& args) {
  auto first = app_flags{};
  add_job_flags(cli, flags, result.nodes);
  add_app_flags(cli, first);
  auto words = value_or_refuse(read_words(args, cli), "");
  if (const auto status = answer(words, cli))
    return *status;
  const auto launcher = dvm_surroundings::find().variables;
  auto& segments = words.segments;
  parse(cli, segments.front());
  if (!flags.is_quiet)
    tell_left_out(words);
  if (!flags.app_file.empty()) {
    if (!segments.front().command.empty() || segments.size() > 1)
      refuse("--app " + flags.app_file
             + " names the programs: leave out those of the command line");
    for (const auto& x : read_app_file(flags.app_file, cli))
      result.job.apps.push_back(read_app(x, launcher, result.nodes.hosts));
  } else {
    if (segments.front().command.empty())
      refuse("no program given; see troupe run --help");
    const auto hosts = result.nodes.hosts;
    result.job.apps.push_back(make_app(first, segments.front(), launcher));
    for (size_t i = 1; i < segments.size(); ++i)
      result.job.apps.push_back(
        read_app(segments[i], launcher, result.nodes.hosts));
    if (result.nodes.hosts != hosts)
      limit_to(result.job.apps.front(), hosts);
  }
  if (cli.count("--dvm") > 0)
    result.dvm = flags.dvm;
  apply(flags, segments.front(), launcher, result);
  const auto& apps = result.job.apps;
  const auto is_one = apps.size() == 1 && apps.front().max_procs == 1;
  result.node.output_is_shared = !is_one && !result.with_pty;
  add_preloads(result, flags, cli, segments.front());
  return std::move(result);
}

/// Settings of programs that their launchers pass on.
constexpr auto passed_on = std::string_view{"OMPI_"};

/// Whether the job takes a variable, `NAME=value`, away.
bool is_unset(const spawn_request& job, std::string_view variable) {
  const auto name = variable.substr(0, variable.find('='));
  return std::any_of(
    job.job_infos.begin(), job.job_infos.end(), [&](const info& x) {
      return x.key == attr::unset_envar && x.val.text() != nullptr
             && *x.val.text() == name;
    });
}

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
  const auto size = job_size(options);
  const auto& apps = options.job.apps;
  if (std::any_of(apps.begin(), apps.end(),
                  [](const app& x) { return x.max_procs == 0; })) {
    if (options.screen.empty())
      return caf::none; // Whoever counts them says.
    return make_error(status::bad_param, "--screen needs the number of "
                                         "processes; give it by -n");
  }
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
      if (std::string_view{*y}.substr(0, passed_on.size()) == passed_on
          && !is_unset(job, *y))
        variables.emplace_back(*y);
    x.env.insert(x.env.begin(), variables.begin(), variables.end());
  }
}

std::variant<run_options, int> parse_run(std::vector<std::string> args) {
  auto cli =
    CLI::App{"Starts a job, on this node or on others, and waits for its end.",
             "troupe run"};
  cli.footer(run_help_footer);
  auto flags = job_flags{};
  auto result = run_options{};
  try {
    return read(cli, flags, result, args);
  } catch (const CLI::ParseError& x) {
    std::cerr << notice("troupe run", x.what());
    return usage_error;
  }
}

} // namespace troupe
