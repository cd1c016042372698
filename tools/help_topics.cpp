#include "tools/help_topics.hpp"

#include "config/settings.hpp"
#include "tools/command_line.hpp"
#include "tools/error_catalogue.hpp"
#include "tools/printing.hpp"
#include "tools/report.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>

namespace troupe {

namespace {

constexpr auto start_text = R"(Your first job, and your first DVM

  troupe run -n 4 ./app                 a job on this node, as mpirun runs it
  troupe run --host n1:4,n2:4 ./app     on others; ssh must ask for nothing

  troupe up --host n[1-4]:8 --daemonize a DVM: nodes that stay up for many jobs
  troupe run --dvm -n 32 ./app          a job in it
  troupe ps                             its processes
  troupe down                           its end

Within an allocation of Slurm or PBS no --host is needed. The words of mpirun,
prterun and srun are understood: troupe run --help words.
)";

constexpr auto hang_text = R"(When a job hangs

  troupe ps                        which processes run, and where
  troupe jobs --waits              who waits for whom in fences and groups
  troupe events list               what has happened to the job
  troupe trace                     the way of fences over nodes, with times
  troupe net                       lanes that are down, what was sent again
  troupe page, troupe top          all of it, as it changes
  troupe monitor add cpu_progress --proc JOB:RANK --interval 5 --reaction stack \
    --non-default                  the stack of one that gets no further (gdb)
  troupe attach JOB:RANK           what it has written last
  troupe ctl signal ABRT JOB:RANK  a core of it, if ulimit -c allows

Without a DVM, name the launcher: --dvm pid:N, as troupe run --report-pid - prints.
Next time: --timeout ends a job in any case, --on-alert stack tells where it was.
)";

constexpr auto environment_text = R"(Variables

What programs of Troupe read:

  TMPDIR               below it are the sessions, by which tools find a DVM; first
                       of PMIX_SYSTEM_TMPDIR, TMPDIR, TEMP and TMP that is set
  TROUPE_SECTION_KEY   a setting: TROUPE_EVENTS_HISTORY is events.history
  XDG_CONFIG_HOME      the user's settings: troupe/troupe.toml in it, else in
                       ~/.config
  SLURM_JOB_ID ...     an allocation of Slurm; PBS_NODEFILE one of PBS
  TROUPE_POSTED_BYTES  posted.bytes

What processes of jobs find:

  TROUPE_JOB, TROUPE_RANK, TROUPE_SIZE, TROUPE_LOCAL_RANK, TROUPE_LOCAL_SIZE,
  TROUPE_NODE, TROUPE_NUM_NODES, TROUPE_HOSTNAME, TROUPE_APP,
  TROUPE_UNIVERSE_SIZE, TROUPE_RESTARTS, TROUPE_OVERSUBSCRIBED
                       and the same as Open MPI, MPICH and PMIx call them
                       (docs/environment.md)
)";

constexpr auto files_text = R"(Files

  /etc/troupe/troupe.toml            settings of the node (troupe help settings)
  ~/.config/troupe/troupe.toml       settings of the user
  TMPDIR/troupe-UID/PID/             the session of a launcher or daemon; it goes
                                     with it
  an authority, a bootstrap file     for DVMs that nobody launches: troupe
                                     authority, trouped --bootstrap
  PREFIX/lib/troupe/pmix             libpmix.so.2 and its headers
)";

constexpr auto watch_text = R"(How a DVM is watched

  troupe top                       nodes, jobs and ranks at a terminal
  troupe page                      the same and more in a browser, live
  troupe up --metrics :9466 ...    metrics for Prometheus, of root and daemons
  troupe events watch              what happens to jobs and nodes, as it happens
  troupe net                       networks, and how full what can grow is (--json)
  troupe log set events=debug      what its nodes log, by subject, while it runs
  troupe up --log-format json      lines of the log for programs; journald: entries
                                   of the journal
  troupe trace ID                  the way of one fence or event over the nodes
  troupe doctor --host n[1-4]      what is wrong with nodes, and what to do

Rules for alerts and a dashboard of Grafana are in PREFIX/share/troupe.
)";

struct page {
  help_topic topic;

  /// Null: made when it is asked for.
  const char* text;
};

const std::vector<page>& pages() {
  static const auto result = std::vector<page>{
    {{"environment", "variables that are read and set"}, environment_text},
    {{"errors", "exit statuses, what is said, and what helps"}, nullptr},
    {{"files", "where things are"}, files_text},
    {{"hang", "what to look at when a job hangs"}, hang_text},
    {{"settings", "bounds and times that a site may set"}, nullptr},
    {{"start", "your first job, and your first DVM"}, start_text},
    {{"topics", "this list"}, nullptr},
    {{"watch", "how a DVM is watched: terminal, page, metrics, logs"},
     watch_text}};
  return result;
}

std::string topics_text() {
  auto rows = std::vector<std::vector<std::string>>{{"TOPIC", "ABOUT"}};
  for (const auto& x : help_topics())
    rows.push_back({std::string{x.name}, std::string{x.summary}});
  return align(rows)
         + "\nBeside these: troupe help COMMAND, troupe help OPTION of troupe "
           "run,\ntroupe help WORD of mpirun, prterun or srun.\n";
}

std::string settings_text() {
  auto result = std::string{
    "Settings: from /etc/troupe/troupe.toml, ~/.config/troupe/troupe.toml,\n"
    "variables and --set NAME=VALUE, the last one counts; troupe config show\n"
    "tells what holds here\n\n"};
  for (const auto& x : all_settings())
    result += "  " + std::string{x.name} + " (" + text_of(x, x.standard) + "; "
              + bounds_of(x) + ")\n      " + std::string{x.text} + "\n";
  return result;
}

/// `troupe help errors [WORDS] [--json]`.
int help_on_errors(std::vector<std::string> args) {
  auto words = std::vector<std::string>{};
  auto as_json = false;
  // By hand: a code below 0 would pass for an option.
  for (auto& x : args)
    if (x == "--json")
      as_json = true;
    else
      words.push_back(std::move(x));
  if (as_json) {
    std::cout << json_document(catalogue_json());
    return 0;
  }
  if (words.empty()) {
    std::cout << catalogue_text();
    return 0;
  }
  const auto wanted = CLI::detail::join(words, " ");
  const auto found = about_error(wanted);
  if (!found)
    return complain("troupe help errors",
                    "nothing is known of \"" + wanted
                      + "\"; troupe help errors lists what is");
  std::cout << *found;
  return 0;
}

} // namespace

const std::vector<help_topic>& help_topics() {
  static const auto result = [] {
    auto topics = std::vector<help_topic>{};
    for (const auto& x : pages())
      topics.push_back(x.topic);
    return topics;
  }();
  return result;
}

std::optional<int> help_on_topic(const std::vector<std::string>& words) {
  if (words.empty())
    return std::nullopt;
  const auto& name = words.front();
  if (name == "errors")
    return help_on_errors({words.begin() + 1, words.end()});
  if (name == "settings")
    std::cout << settings_text();
  else if (name == "topics")
    std::cout << topics_text();
  for (const auto& x : pages())
    if (x.topic.name == name) {
      if (x.text != nullptr)
        std::cout << x.text;
      return 0;
    }
  return std::nullopt;
}

} // namespace troupe
