#include "tools/run_flags.hpp"

#include "actors/jobs/process_sets.hpp"
#include "adapters/wire/number_range.hpp"
#include "tools/command_words.hpp"
#include "tools/local_node.hpp"
#include "tools/output_options.hpp"

#include <CLI/CLI.hpp>

#include <string_view>
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

namespace {

/// A local rank has 16 bits.
constexpr uint64_t most_processes = 65535;

// Under what options stand in the help.
constexpr auto programs_group = "Programs";
constexpr auto places_group = "Places of processes";
constexpr auto variables_group = "Environment";
constexpr auto streams_group = "Output and input";
constexpr auto ends_group = "Time and failures";
constexpr auto shows_group = "What is shown";
constexpr auto watching_group = "Watching";
constexpr auto hidden = "";

/// Refuses what is no number of processes.
std::string number_refusal(const std::string& text) {
  const auto number = wire::parse_number(text);
  if (number && *number > 0 && *number <= most_processes)
    return {};
  return text + " is no whole number from 1 to "
         + std::to_string(most_processes);
}

/// Refuses what is no word of a list.
auto one_of(std::vector<std::string> words) {
  return [words = std::move(words)](const std::string& text) {
    auto known = std::string{};
    for (const auto& x : words) {
      if (x == text)
        return std::string{};
      known += (known.empty() ? "" : x == words.back() ? " or " : ", ") + x;
    }
    return text + " is not known; write " + known;
  };
}

void add_places(CLI::App& cli, job_flags& x) {
  cli
    .add_option("--map-by", x.map_by,
                "slot, hwthread, core, l3cache, numa, package, node, seq, "
                "ppr:N:OBJECT or rankfile:file=FILE, with modifiers such as "
                ":PE=N (--help map-by)")
    ->allow_extra_args(false)
    ->group(places_group);
  cli.add_option("--map-modifier", x.map_modifiers)
    ->allow_extra_args(false)
    ->group(hidden);
  cli
    .add_option("-N,--npernode,--ppn,--ntasks-per-node", x.per_node,
                "Number of processes on each node")
    ->check(number_refusal)
    ->group(places_group);
  cli
    .add_option("--rank-by", x.rank_by,
                "How ranks follow one another: slot, node, fill or span")
    ->group(places_group);
  cli
    .add_option("--bind-to", x.bind_to,
                "none, hwthread, core, l3cache, numa or package, with "
                ":overload-allowed (--help bind-to)")
    ->group(places_group);
  cli
    .add_option("--cpu-list", x.cpu_list,
                "Processors that the job may use: 0-3,8")
    ->group(places_group);
  cli
    .add_flag("--oversubscribe", x.oversubscribe,
              "Allow more processes than slots")
    ->group(places_group);
}

void add_variables(CLI::App& cli, job_flags& x) {
  cli
    .add_option("--export", x.exports,
                "ALL, NONE, or names with commas: which variables of this "
                "shell the processes get (--help export)")
    ->allow_extra_args(false)
    ->group(variables_group);
  cli.add_option("--every-variable", x.variables)
    ->allow_extra_args(false)
    ->group(hidden);
  cli
    .add_option("--tune", x.tune_files,
                "FILE of settings of Open MPI, NAME = VALUE a line, for the "
                "processes")
    ->allow_extra_args(false)
    ->group(variables_group);
  cli
    .add_option("--prefix", x.prefix,
                "DIR whose bin and lib come first in the PATH and "
                "LD_LIBRARY_PATH of processes")
    ->group(variables_group);
  cli
    .add_flag("--own-libpmix", x.own_libpmix,
              "Put Troupe's libpmix.so.2 into the place of the system's, by "
              "LD_LIBRARY_PATH: fences, puts and gets of a node without a "
              "message")
    ->group(variables_group);
}

void add_streams(CLI::App& cli, job_flags& x) {
  cli.add_flag("-l,--label", x.label, "Put the rank in front of each line")
    ->group(streams_group);
  cli
    .add_flag("--timestamp", x.timestamp, "Put the time in front of each line")
    ->group(streams_group);
  cli.add_option("--output", x.outputs, job_output_help)
    ->allow_extra_args(false)
    ->group(streams_group);
  add_former_options(cli, x.outputs);
  cli
    .add_option("--stdin", x.standard_input,
                "Rank that gets standard input (default 0), all or none")
    ->group(streams_group);
  cli
    .add_flag("--pty", x.with_pty,
              "Give each process a terminal of its own; keys are passed on "
              "as they are typed")
    ->group(streams_group);
  cli
    .add_option("--screen", x.screen,
                "COMMAND that opens a window for each process, such as "
                "'xterm -T %r -e' or 'tmux new-window -n %r'; %r is the rank, "
                "%n the job")
    ->group(streams_group);
}

void add_ends(CLI::App& cli, job_flags& x) {
  cli
    .add_option("--timeout", x.timeout,
                "End the job after so many seconds, or 5m, 1h30m, 1:30:00, "
                "2-12:00 (exit status 124)")
    ->group(ends_group);
  cli
    .add_option("--time", x.time,
                "The same as srun has it: a number counts minutes")
    ->group(ends_group);
  cli
    .add_option("--spawn-timeout", x.spawn_timeout,
                "Give the job up if not all its processes run by then, as "
                "--timeout has it")
    ->group(ends_group);
  cli
    .add_option("--max-restarts", x.max_restarts,
                "Start a process that fails again, in its place, up to so many "
                "times each; 0: only troupe ctl restart does it")
    ->group(ends_group);
  cli
    .add_option("--rtos,--runtime-options", x.rtos,
                "recoverable: the job goes on when a process fails; "
                "stop-in-init, stop-in-app: as the options of that name")
    ->allow_extra_args(false)
    ->group(ends_group);
  cli
    .add_option_function<std::string>(
      "--forward-signals",
      [&x](const std::string& text) {
        auto signals = read_forwarded_signals(text);
        if (!signals)
          throw CLI::ValidationError(reason_of(signals.error()), 2);
        x.signals = std::move(*signals);
      },
      forward_signals_help)
    ->group(ends_group);
  cli
    .add_flag("--report-child-jobs-separately", x.only_primary,
              "Exit with the status of the job itself, whatever became of the "
              "jobs that it started")
    ->group(ends_group);
}

void add_shows(CLI::App& cli, job_flags& x) {
  cli
    .add_option("--display", x.display,
                "map, bind, allocation, summary; with commas")
    ->allow_extra_args(false)
    ->group(shows_group);
  cli
    .add_flag("--report-bindings", x.report_bindings,
              "Show to which processors each process is bound")
    ->group(shows_group);
  cli
    .add_flag("--dry-run", x.is_dry,
              "Show where processes would go, and start nothing")
    ->group(shows_group);
  cli.add_flag("--json", x.json, "Report everything as lines of JSON")
    ->group(shows_group);
  cli
    .add_flag("--progress", x.shows_progress,
              "At a terminal, show how far the start or the end of the job is "
              "if it takes longer than a second")
    ->group(shows_group);
  cli
    .add_option("--report-pid", x.report_pid,
                "Write the number of this process to standard output (-), "
                "standard error (+) or a file")
    ->group(shows_group);
  cli.add_flag("-v,--verbose", x.verbosity, "Log more; twice: all")
    ->group(shows_group);
  cli
    .add_flag("-q,--quiet", x.is_quiet, "Log errors only, and leave out hints")
    ->group(shows_group);
  cli
    .add_option("--log-level", x.log_level,
                "debug, info, warning (default), error")
    ->check(one_of({"debug", "info", "warning", "error"}))
    ->group(shows_group);
}

void add_watching(CLI::App& cli, job_flags& x) {
  cli.add_option("--sensor", x.sensors, sensor_help)
    ->allow_extra_args(false)
    ->group(watching_group);
  cli.add_option("--monitor", x.monitors, monitor_help)
    ->allow_extra_args(false)
    ->group(watching_group);
  cli
    .add_option("--on-alert", x.reactions,
                "What is done when a monitor of the job raises an alert, such "
                "as stack, kill or command:TEXT; may come again "
                "(docs/monitoring.md)")
    ->allow_extra_args(false)
    ->group(watching_group);
}

} // namespace

void add_app_flags(CLI::App& cli, app_flags& x) {
  cli.add_option("-n,--np,-c,--ntasks", x.np, "Number of processes")
    ->check(number_refusal)
    ->group(programs_group);
  cli.add_option("--wdir,--wd", x.wdir, "Directory in which they start")
    ->group(programs_group);
  cli.add_option("--pset", x.pset, "Name of the process set that they become")
    ->check([](const std::string& name) {
      const auto why = set_name_refusal(name);
      return why ? reason_of(why) : std::string{};
    })
    ->group(programs_group);
  cli
    .add_option("--path", x.path,
                "Directories in which the program is looked for first, with "
                "colons between")
    ->allow_extra_args(false)
    ->group(programs_group);
  cli
    .add_option("-x", x.exported,
                "NAME, NAME=VALUE or BEGIN*: variable for the processes; may "
                "be repeated")
    ->allow_extra_args(false)
    ->group(variables_group);
}

void add_later_app_flags(CLI::App& cli, app_flags& x) {
  add_app_flags(cli, x);
  cli.add_option("--host,-H", x.hosts);
}

void add_job_flags(CLI::App& cli, job_flags& x, dvm_options& nodes) {
  cli
    .add_flag("--index-argv-by-rank", x.index_argv,
              "Put its rank behind the name that each process finds as its "
              "first argument, as in prog-3")
    ->group(programs_group);
  cli
    .add_flag("--stop-in-init", x.stops_in_init,
              "Have processes wait in PMIx_Init until a debugger releases them")
    ->group(programs_group);
  cli
    .add_flag("--stop-in-app", x.stops_in_app,
              "The same where their program has a place for it, as MPI_Init of "
              "Open MPI 5 is")
    ->group(programs_group);
  cli
    .add_option("--app", x.app_file,
                "FILE with a line `[options] program [arguments]` for each "
                "program")
    ->group(programs_group);
  cli
    .add_flag("-s,--preload-binary", x.preloads_program,
              "Copy the programs to the nodes first, to where they are here")
    ->group(programs_group);
  cli
    .add_option("--preload-files", x.preloaded,
                "Copy files, with commas between, to the directory in which "
                "processes start")
    ->group(programs_group);
  add_places(cli, x);
  add_variables(cli, x);
  add_streams(cli, x);
  add_ends(cli, x);
  add_shows(cli, x);
  cli
    .add_option("--dvm", x.dvm,
                "Run in a DVM that is up: its name, pid:N, file:PATH or URI; "
                "--dvm without any: your only one")
    ->expected(0, 1)
    ->group(nodes_group);
  cli.option_defaults()->group(nodes_group);
  add_dvm_options(cli, nodes);
  cli.add_flag("!--no-shared-memory", x.share_memory, shared_memory_help);
  cli.add_option("--security", x.security, "native (default) or munge")
    ->check(one_of({"native", "munge"}));
  cli.option_defaults()->group("Options");
  add_watching(cli, x);
}

// -- help about a word -------------------------------------------------------

namespace {

/// What does not fit behind an option in the list.
constexpr std::pair<std::string_view, std::string_view> pages[] = {
  {"--map-by", R"(--map-by POLICY[:MODIFIER]...: where processes go.

  slot           a node is filled before the next (default)
  node           to one node after the other
  hwthread, core, l3cache, numa, package
                 in turn to the objects of a node
  seq            each to the next line of a host file
  ppr:N:OBJECT   N on each node, package, numa, l3cache or core
  rankfile:file=FILE
                 where a file says: `rank 0=node1 slot=0-3` a line

Modifiers:
  :PE=N          N processors for each process
  :SPAN          take the objects of all nodes as those of one
  :NOLOCAL       leave out the node of the launcher
  :OVERSUBSCRIBE, :NOOVERSUBSCRIBE
                 more processes than slots, or none
  :HWTCPUS, :CORECPUS
                 a processor is a hardware thread, or a core

-N N is ppr:N:node; --oversubscribe, --nolocal, --rankfile FILE, --bynode and
--cpus-per-proc N are the same as their modifiers and policies.
)"},
  {"--rank-by", R"(--rank-by POLICY: how ranks follow one another.

  slot, fill     on a node, then on the next (default)
  node           from node to node
  span           from object to object over all nodes
)"},
  {"--bind-to",
   R"(--bind-to OBJECT[:MODIFIER]: which processors a process may use.

  none           all
  hwthread, core, l3cache, numa, package
                 those of an object of the node

Modifiers:
  :overload-allowed   more processes than processors on an object
  :if-supported       no error where binding is not possible

--report-bindings shows what came of it.
)"},
  {"--host", R"(--host LIST: the nodes, with commas between.

  n1             one process; once more for each repetition
  n1:4           four
  n1:*           as many as it has hardware threads
  n[01-16]:4     n01 to n16, four each

With --dvm: which of the DVM's nodes. In a program behind a colon: where that
program runs, of the nodes of the whole job.
)"},
  {"--hostfile", R"(--hostfile FILE: the nodes, one a line.

  n1                  as many processes as hardware threads; with several
                      such lines as many as lines
  n1 slots=4          four
  n1:4                the same, as MPICH writes it
  n1 slots=4 max_slots=8

`#` begins a comment.
)"},
  {"--export",
   R"(--export LIST: which variables of this shell the processes get.

  ALL            all; in a DVM, too, whose processes have those of its daemons
  NONE           none but PATH
  A,B=c          A as it is here, B as it is given, and no others
  ALL,B=c        all, and B

Without it processes that this launcher starts on its own node get all. Those of
other nodes, and of a DVM that is up, have what their daemon has, and Open MPI's
settings (OMPI_*). -x NAME, -x NAME=VALUE and -x BEGIN* add some.
)"},
  {"--timeout",
   R"(--timeout TIME: the longest run; then the job ends with status 124.

  90             seconds
  5m, 1h30m, 2d  with units
  MM:SS, HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS

--time TIME is the same as srun has it: a number counts minutes.
)"},
};

/// The word with the dashes it has in tables.
const CLI::Option* our_option(const std::string& bare, const CLI::App& ours) {
  if (bare.size() == 1)
    return ours.get_option_no_throw("-" + bare);
  return ours.get_option_no_throw("--" + bare);
}

std::string about_word(const option_word& word) {
  auto result = std::string{word.name};
  switch (word.fate) {
    case word_fate::translated:
      result += " of other launchers is here";
      for (const auto& option : translate(word, {"VALUE", "VALUE"}))
        result += " " + option;
      break;
    case word_fate::left_out:
      result += " has no meaning here and is left out: ";
      result += word.text;
      break;
    case word_fate::refused:
      result += " is not done here: ";
      result += word.text;
      break;
  }
  return result + "\n";
}

} // namespace

std::optional<std::string> help_about(const std::string& topic,
                                      const CLI::App& ours) {
  const auto begin = topic.find_first_not_of('-');
  if (begin == std::string::npos)
    return std::nullopt;
  const auto bare = topic.substr(begin);
  if (const auto* option = our_option(bare, ours)) {
    for (const auto& [name, page] : pages)
      if (option->check_name(std::string{name}))
        return std::string{page};
    return option->get_name(false, true) + ": " + option->get_description()
           + "\n";
  }
  if (bare == "words") {
    auto result = std::string{};
    for (const auto& word : all_words())
      result += about_word(word);
    return result;
  }
  const auto* word = find_word((bare.size() == 1 ? "-" : "--") + bare);
  if (word == nullptr)
    return std::nullopt;
  return about_word(*word);
}

} // namespace troupe
