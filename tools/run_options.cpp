#include "tools/run_options.hpp"

#include "actors/data/job_memory.hpp"
#include "actors/jobs/job_options.hpp"
#include "actors/monitors/reaction_policy.hpp"
#include "adapters/sockets/system_error.hpp"
#include "adapters/wire/number_range.hpp"
#include "base/make_info.hpp"
#include "messages/attributes.hpp"
#include "messages/spawn.hpp"
#include "messages/status.hpp"
#include "tools/command_words.hpp"
#include "tools/dvm_options.hpp"
#include "tools/environment_export.hpp"
#include "tools/output_options.hpp"
#include "tools/own_libpmix.hpp"
#include "tools/printing.hpp"
#include "tools/run_flags.hpp"
#include "tools/terminal_mode.hpp"

#include <caf/expected.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe {

// -- spans of time -----------------------------------------------------------

namespace {

constexpr auto most = uint64_t{std::numeric_limits<int32_t>::max()};

using span = std::optional<std::chrono::seconds>;

/// Adds up numbers that each count some seconds.
class total {
public:
  /// @returns whether `digits` is a number and the sum has room for it.
  bool add(std::string_view digits, uint64_t unit) {
    const auto number = wire::parse_number(digits);
    if (!number || *number > (most - sum_) / unit)
      return false;
    sum_ += *number * unit;
    return true;
  }

  span get() const {
    return std::chrono::seconds{sum_};
  }

private:
  uint64_t sum_ = 0;
};

/// Reads `1h30m`.
span parse_units(std::string_view text) {
  auto result = total{};
  while (!text.empty()) {
    const auto end = text.find_first_not_of("0123456789");
    if (end == std::string_view::npos)
      return std::nullopt;
    const auto sign = text[end];
    const auto unit = sign == 's'   ? 1
                      : sign == 'm' ? 60
                      : sign == 'h' ? 3600
                      : sign == 'd' ? 86400
                                    : 0;
    if (unit == 0 || !result.add(text.substr(0, end), unit))
      return std::nullopt;
    text.remove_prefix(end + 1);
  }
  return result.get();
}

/// Reads `D-HH[:MM[:SS]]`, `HH:MM:SS` and `MM:SS`.
span parse_clock(std::string_view text) {
  auto result = total{};
  const auto dash = text.find('-');
  const auto has_days = dash != std::string_view::npos;
  if (has_days) {
    if (!result.add(text.substr(0, dash), 86400))
      return std::nullopt;
    text.remove_prefix(dash + 1);
  }
  auto parts = std::vector<std::string_view>{};
  for (;;) {
    const auto colon = text.find(':');
    parts.push_back(text.substr(0, colon));
    if (colon == std::string_view::npos)
      break;
    text.remove_prefix(colon + 1);
  }
  if (parts.size() > 3)
    return std::nullopt;
  auto unit = has_days || parts.size() == 3 ? uint64_t{3600} : uint64_t{60};
  for (const auto part : parts) {
    if (!result.add(part, unit))
      return std::nullopt;
    unit /= 60;
  }
  return result.get();
}

} // namespace

span parse_time_span(std::string_view text, std::chrono::seconds plain) {
  if (text.empty())
    return std::nullopt;
  if (text.find_first_of("-:") != std::string_view::npos)
    return parse_clock(text);
  if (text.find_first_not_of("0123456789") != std::string_view::npos)
    return parse_units(text);
  auto result = total{};
  return result.add(text, static_cast<uint64_t>(plain.count())) ? result.get()
                                                                : std::nullopt;
}

// -- files that go to the nodes first ----------------------------------------

namespace {

/// Here: the file is the input of the job, and its sum the last argument.
constexpr auto here = R"sh(sum=$(cksum <"$0") && exec "$@" "$sum" <"$0")sh";

/// On each node.
constexpr auto there = R"sh(to=$1 mode=$2 sum=$3 new=$1.$PMIX_RANK.$$
[ "$(cksum 2>/dev/null <"$to")" = "$sum" ] && exec cat >/dev/null
mkdir -p "${to%/*}" && cat >"$new" && chmod "$mode" "$new" && mv -f "$new" "$to"
)sh";

/// Runs a command to its end.
/// @returns its wait status, or the error of its start.
caf::expected<int> run_to_end(std::vector<std::string> words) {
  auto arguments = std::vector<char*>{};
  for (auto& x : words)
    arguments.push_back(x.data());
  arguments.push_back(nullptr);
  auto pid = pid_t{0};
  if (const auto code = ::posix_spawnp(&pid, arguments.front(), nullptr,
                                       nullptr, arguments.data(), environ))
    return make_error(status::error, "cannot start " + words.front() + ": "
                                       + std::strerror(code)
                                       + "; free memory, or raise ulimit -u");
  auto result = 0;
  while (::waitpid(pid, &result, 0) < 0)
    if (errno != EINTR)
      return system_error("cannot wait for " + words.front());
  return result;
}

} // namespace

std::vector<std::string> preload_command(const preloaded_file& file,
                                         const std::string& launcher,
                                         const std::vector<std::string>& nodes,
                                         unsigned mode) {
  auto result =
    std::vector<std::string>{"/bin/sh", "-c", here, file.from, launcher, "run"};
  result.insert(result.end(), nodes.begin(), nodes.end());
  for (auto word : {std::string{"-q"}, std::string{"--map-by=ppr:1:node"},
                    std::string{"--bind-to=none"}, std::string{"--stdin=all"},
                    std::string{"--"}, std::string{"/bin/sh"},
                    std::string{"-c"}, std::string{there}, std::string{"sh"},
                    file.to, fmt::format("{:o}", mode)})
    result.push_back(std::move(word));
  return result;
}

caf::error preload(const std::vector<preloaded_file>& files,
                   const std::vector<std::string>& nodes) {
  auto failure = std::error_code{};
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failure);
  if (failure)
    return make_error(
      status::error,
      "cannot copy files: /proc is not there to find troupe; mount it, or "
      "leave out --preload-files and --preload-binary");
  for (const auto& x : files) {
    struct stat what = {};
    if (::stat(x.from.c_str(), &what) != 0)
      return system_error("cannot copy " + x.from);
    if (!S_ISREG(what.st_mode))
      return make_error(status::bad_param,
                        "cannot copy " + x.from
                          + ": it is no file; name the files of a directory "
                            "one by one");
    const auto ended =
      run_to_end(preload_command(x, self.string(), nodes, what.st_mode & 0777));
    if (!ended)
      return ended.error();
    if (*ended != 0)
      return make_error(status::error, "could not copy " + x.from
                                         + " to all nodes as " + x.to
                                         + ": the lines above name the node; "
                                           "see that the directory is there "
                                           "and yours");
  }
  return caf::none;
}

// -- what the options say of a job -------------------------------------------

namespace {

/// Raised for what CLI11 cannot check.
[[noreturn]] void refuse(const std::string& what) {
  throw CLI::ValidationError(what, usage_error);
}

/// The value of an outcome; its reason, behind the option to blame, is raised.
template <class T>
T value_or_refuse(caf::expected<T> x, const std::string& option) {
  if (!x)
    refuse((option.empty() ? option : option + ": ") + reason_of(x.error()));
  return std::move(*x);
}

/// What a window has if nobody knows better.
constexpr auto usual_window = winsize{24, 80, 0, 0};

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

/// Writes what the options say of the streams of processes into the job, and
/// into what the launcher itself does.
/// @throws CLI::ValidationError with the option, what is wrong and the remedy.
/// Source: PMIx Standard v5, PMIX_STDIN_TGT; OpenPMIx, PMIX_SPAWN_PTY.
void add_streams(run_options& result, const job_flags& x) {
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

/// What comes before the name of a file in a policy.
constexpr std::string_view file_sign = ":file=";

/// Where processes go: the policy that was given, by whatever word, with all
/// modifiers.
std::string mapping(const job_flags& x, const command_segment& from) {
  auto policies = std::vector<std::string>{};
  auto modifiers = std::string{};
  for (const auto& text : x.map_by)
    if (!text.empty() && text.front() == ':')
      modifiers += text;
    else
      policies.push_back(text);
  if (x.per_node > 0)
    policies.push_back("ppr:" + std::to_string(x.per_node) + ":node");
  if (policies.size() > 1) {
    auto words = typed_as(from, {"--map-by", "--npernode"});
    words.erase(std::remove_if(words.begin(), words.end(),
                               [](const std::string& word) {
                                 return word.find(" :") != std::string::npos;
                               }),
                words.end());
    refuse(words.at(0) + " and " + words.at(1)
           + " both say where processes go; give one of them");
  }
  for (const auto& text : x.map_modifiers)
    modifiers += ":" + text;
  if (x.oversubscribe)
    modifiers += ":OVERSUBSCRIBE";
  auto result = policies.empty() ? std::string{} : policies.front();
  // The name of a file goes up to the end.
  const auto file = std::min(result.find(file_sign), result.size());
  return result.insert(file, modifiers);
}

/// Checks by the rules of whoever puts processes there; in the place of an
/// attribute an error names what was typed.
void check(const spawn_request& job, const command_segment& from) {
  const auto options = read_options(job);
  if (options)
    return;
  auto what = reason_of(options.error());
  const std::pair<std::string_view, std::vector<std::string>> words[] = {
    {"PMIX_MAPBY", typed_as(from, {"--map-by", "--npernode", "--map-modifier",
                                   "--oversubscribe"})},
    {"PMIX_RANKBY", typed_as(from, {"--rank-by"})},
    {"PMIX_BINDTO", typed_as(from, {"--bind-to"})},
    {"PMIX_CPU_LIST", typed_as(from, {"--cpu-list"})}};
  for (const auto& [key, typed] : words)
    for (auto at = what.find(key); !typed.empty() && at != std::string::npos;
         at = what.find(key)) {
      auto text = std::string{};
      for (const auto& word : typed)
        text += (text.empty() ? "" : " ") + word.substr(0, word.find(' '));
      what.replace(at, key.size(), text);
    }
  refuse(what);
}

/// Writes what the options say of places, ranks and processors into the job,
/// in the Standard's attributes, and checks it by the rules of whoever puts
/// processes there, so that it is refused before anything is started.
/// @param from The options as they were typed, for errors.
/// @throws CLI::ValidationError that names what was typed, and the remedy.
/// Source: PMIx Standard v5, PMIX_MAPBY, PMIX_RANKBY, PMIX_BINDTO,
/// PMIX_CPU_LIST, PMIX_REPORT_BINDINGS.
void add_places(spawn_request& job, const job_flags& x,
                const command_segment& from) {
  auto& infos = job.job_infos;
  const auto map_by = mapping(x, from);
  const std::pair<std::string_view, std::string> texts[] = {
    {attr::mapby, map_by},
    {attr::rankby, x.rank_by},
    {attr::bindto, x.bind_to},
    {attr::cpu_list, x.cpu_list}};
  for (const auto& [key, text] : texts)
    if (!text.empty())
      infos.push_back(make_info(key, value::string(text)));
  if (const auto path = mapping_file_of(job); !path.empty()) {
    auto content = value_or_refuse(read_text_file(path),
                                   typed_as(from, {"--map-by"}).front());
    infos.push_back(
      make_info(mapping_file_key, value::string(std::move(content))));
  }
  if (x.report_bindings)
    infos.push_back(make_info(attr::report_bindings, value::boolean(true)));
  check(job, from);
  // A modifier of the binding says the same: launchers look at the attribute.
  if (const auto options = read_options(job);
      options && options->report_bindings
      && !flag(infos, attr::report_bindings))
    infos.push_back(make_info(attr::report_bindings, value::boolean(true)));
}

/// Writes what the options of the job say of the environment of processes into
/// the job. A variable that a program names itself is left as it says. Tells
/// the user of settings that have no effect here, unless he wants quiet.
/// @throws CLI::ValidationError with the option, what is wrong and the remedy.
/// Source: PMIx Standard v5, PMIX_UNSET_ENVAR, PMIX_PREPEND_ENVAR.
void add_variables(spawn_request& job, const job_flags& x,
                   const environment& launcher) {
  auto first = variable_list{};
  auto has_all = true;
  for (const auto& list : x.exports) {
    auto choice = value_or_refuse(read_export(list, launcher), "--export");
    has_all = has_all && choice.has_all;
    if (choice.has_all)
      first = all_of(launcher);
    first.insert(first.end(), choice.variables.begin(), choice.variables.end());
  }
  for (const auto& file : x.tune_files) {
    const auto text = value_or_refuse(read_text_file(file), "--tune");
    for (auto& y :
         value_or_refuse(read_tune_file(text, file, launcher), "--tune"))
      first.push_back(std::move(y));
  }
  first.insert(first.end(), x.variables.begin(), x.variables.end());
  for (auto& program : job.apps)
    program.env.insert(program.env.begin(), first.begin(), first.end());
  if (!has_all)
    for (const auto& [name, val] : launcher)
      if (name != "PATH")
        job.job_infos.push_back(
          make_info(attr::unset_envar, value::string(name)));
  const auto prepend = [&](const char* name, std::string folder) {
    auto change = envar{name, std::move(folder), ':'};
    job.job_infos.push_back(
      make_info(attr::prepend_envar,
                value{data_type::envar, box<envar>{std::move(change)}}));
  };
  if (!x.prefix.empty()) {
    prepend("PATH", x.prefix + "/bin");
    prepend("LD_LIBRARY_PATH", x.prefix + "/lib");
  }
  if (x.own_libpmix) {
    auto failure = std::error_code{};
    auto folder = value_or_refuse(
      own_libpmix(std::filesystem::read_symlink("/proc/self/exe", failure)),
      "--own-libpmix");
    if (!x.display.empty() && !x.is_quiet)
      std::cerr << notice("troupe run", "processes find libpmix.so.2 in "
                                          + folder + " (LD_LIBRARY_PATH)");
    prepend("LD_LIBRARY_PATH", std::move(folder));
  }
  if (x.is_quiet)
    return;
  for (const auto& program : job.apps)
    for (const auto& name : settings_of_mpirun(program.env))
      std::cerr << notice(
        "troupe run",
        "the setting " + name
          + " is one of mpirun itself; it only reaches the processes");
}

/// Notes which files are copied to the nodes before the job starts, and which
/// options say what nodes these are.
/// @param cli  All options, as they were read.
/// @param from The same as they were given.
/// @throws CLI::ValidationError for a program that is written without its
///         directory, since it may be another one elsewhere.
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

// -- the command line --------------------------------------------------------

/// A local rank has 16 bits.
constexpr int most_processes = 65535;

/// Splits a list at commas.
std::vector<std::string> parts(const std::string& list) {
  return CLI::detail::split(list, ',');
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
  if (!x.spawn_timeout.empty()) {
    const auto limit =
      parse_time_span(x.spawn_timeout, std::chrono::seconds{1});
    if (!limit)
      refuse("--spawn-timeout is no time; write 90, 5m, 1h30m or MM:SS");
    infos.push_back(
      make_info(attr::spawn_timeout,
                value::integer(static_cast<int32_t>(limit->count()))));
  }
  if (x.max_restarts)
    infos.push_back(
      make_info(attr::max_restarts, value::uint32(*x.max_restarts)));
  if (x.index_argv)
    infos.push_back(make_info(attr::index_argv, value::boolean(true)));
  for (const auto& reaction : x.reactions) {
    if (const auto parsed = parse_reaction(reaction); !parsed)
      refuse(reason_of(parsed.error()));
    infos.push_back(make_info(monitor_reaction_key, value::string(reaction)));
  }
  auto stops_in_init = x.stops_in_init;
  auto stops_in_app = x.stops_in_app;
  for (const auto& list : x.rtos)
    for (const auto& option : parts(list)) {
      if (option == "recoverable")
        infos.push_back(make_info(attr::job_recoverable, value::boolean(true)));
      else if (option == "stop-in-init")
        stops_in_init = true;
      else if (option == "stop-in-app")
        stops_in_app = true;
      else if (!option.empty())
        refuse("--rtos knows recoverable, stop-in-init and stop-in-app, not "
               + option);
    }
  if (stops_in_init)
    infos.push_back(make_info(attr::debug_stop_in_init, value::boolean(true)));
  if (stops_in_app)
    infos.push_back(make_info(attr::debug_stop_in_app, value::boolean(true)));
  add_streams(result, x);
  apply_display(x, result);
  result.signals = x.signals;
  add_variables(result.job, x, launcher);
  result.json = x.json;
  result.shows_progress = x.shows_progress;
  result.only_primary = x.only_primary;
  result.report_pid = x.report_pid;
  result.node.log_level = level_of(x);
  if (x.json)
    result.node.logs_as = log_format::json;
  result.node.sensors = x.sensors;
  result.node.monitors = x.monitors;
  result.node.share_memory = x.share_memory;
  // In a DVM that is up it is the job's affair alone.
  if (!x.share_memory)
    infos.push_back(make_info(no_shared_memory_key, value::boolean(true)));
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
           + ": there is no such option; troupe run --help lists them, troupe "
             "help the commands, troupe help topics the topics");
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
                      + std::to_string(size - 1) + "; name one of them");
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
    return complain("troupe run", x.what());
  }
}

} // namespace troupe
