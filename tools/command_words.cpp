#include "tools/command_words.hpp"

#include "messages/status.hpp"

#include <caf/error.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>

namespace troupe {

// -- words of other launchers, and what becomes of them here -----------------

namespace {

constexpr auto ours = word_fate::translated;
constexpr auto notice = word_fate::left_out;
constexpr auto refused = word_fate::refused;

// Reasons that several words share.
constexpr std::string_view own_network =
  "nodes find each other by themselves (docs/operating.md)";
constexpr std::string_view ask_manager =
  "it asks a resource manager for nodes; ask yours with salloc or sbatch and "
  "start troupe run inside, or name nodes with --host";
constexpr std::string_view ask_bind =
  "here it is called --bind-to, with --map-by OBJECT:PE=N for several "
  "processors each";
constexpr std::string_view use_log = "here it is called --log-level debug";
constexpr std::string_view no_debugger =
  "no debugger is started; start it on the processes, or use --monitor and "
  "--on-alert stack";
constexpr std::string_view of_prte =
  "it is of prte; troupe up starts a DVM that stays";
constexpr std::string_view shell_does =
  "let the shell do it: < FILE, > FILE and 2> FILE, or --output dir=DIR";
constexpr std::string_view wrap =
  "have processes start a script that does it and then runs the program";

} // namespace

const std::vector<option_word>& all_words() {
  static const auto words = std::vector<option_word>{
    // Where processes go.
    {"--n", 1, ours, "--np={1}"},
    {"--rankfile", 1, ours, "--map-by=rankfile:file={1}"},
    {"--rf", 1, ours, "--map-by=rankfile:file={1}"},
    {"--ppr", 1, ours, "--map-by=ppr:{1}"},
    {"--pernode", 0, ours, "--npernode=1"},
    {"--npersocket", 1, ours, "--map-by=ppr:{1}:package"},
    {"--ntasks-per-socket", 1, ours, "--map-by=ppr:{1}:package"},
    {"--ntasks-per-core", 1, ours, "--map-by=ppr:{1}:core"},
    {"--bynode", 0, ours, "--map-by=node"},
    {"--byslot", 0, ours, "--map-by=slot"},
    {"--bycore", 0, ours, "--map-by=core"},
    {"--bysocket", 0, ours, "--map-by=package"},
    {"--cpus-per-proc", 1, ours, "--map-modifier=PE={1}"},
    {"--cpus-per-rank", 1, ours, "--map-modifier=PE={1}"},
    {"--cpus-per-task", 1, ours, "--map-modifier=PE={1}"},
    {"--nolocal", 0, ours, "--map-modifier=NOLOCAL"},
    {"--nooversubscribe", 0, ours, "--map-modifier=NOOVERSUBSCRIBE"},
    {"--overcommit", 0, ours, "--oversubscribe"},
    {"-O", 0, ours, "--oversubscribe"},
    {"--use-hwthread-cpus", 0, ours, "--map-modifier=HWTCPUS"},
    {"--bind-to-core", 0, ours, "--bind-to=core"},
    {"--bind-to-socket", 0, ours, "--bind-to=package"},
    {"--bind-to-none", 0, ours, "--bind-to=none"},
    {"--cpu-set", 1, ours, "--cpu-list={1}"},
    {"--distribution", 1, refused,
     "here it is called --map-by: slot for block, node for cyclic"},
    {"-m", 1, refused,
     "here it is called --map-by: slot for block, node for cyclic"},
    {"--cpu-bind", 1, refused, ask_bind},
    {"--hint", 1, refused, ask_bind},
    {"--mem-bind", 1, refused,
     "memory is where the processors of a process are; bind with --bind-to, "
     "or run numactl PROGRAM"},
    {"--membind", 1, refused,
     "memory is where the processors of a process are; bind with --bind-to, "
     "or run numactl PROGRAM"},
    {"--threads-per-core", 1, refused, ask_bind},
    {"--cartofile", 1, notice,
     "the topology is what hwloc finds; nobody has to describe it"},
    {"--cf", 1, notice,
     "the topology is what hwloc finds; nobody has to describe it"},

    // Nodes.
    {"--default-hostfile", 1, ours, "--hostfile={1}"},
    {"--hosts", 1, ours, "--host={1}"},
    {"-f", 1, ours, "--hostfile={1}"},
    {"--nodelist", 1, ours, "--host={1}"},
    {"-w", 1, ours, "--host={1}"},
    {"--nodes", 1, refused,
     "name the nodes with --host; -N here is the number of processes on each"},
    {"--relative", 1, refused, "name the nodes with --host"},
    {"-r", 1, refused, "name the nodes with --host"},
    {"--exclude", 1, refused,
     "name the nodes that you want with --host; -x here is a variable for the "
     "processes"},
    {"--use-min-nodes", 0, notice, "nodes are what --host names"},
    {"--spread-job", 0, ours, "--map-by=node"},
    {"--max-vm-size", 1, refused, "name as many nodes as you want with --host"},
    {"--novm", 0, notice, "daemons start on the nodes that --host names"},
    {"--launcher", 1, refused, "here it is called --remote-shell"},
    {"--rsh-agent", 1, ours, "--remote-shell={1}"},
    {"--iface", 1, ours, "--networks={1}"},
    {"--threads", 1, ours, "--radix={1}"},
    {"-T", 1, ours, "--radix={1}"},

    // What is shown.
    {"--display-map", 0, ours, "--display=map"},
    {"--display-allocation", 0, ours, "--display=allocation"},
    {"--display-devel-map", 0, ours, "--display=bind"},
    {"--display-diffable-map", 0, ours, "--display=bind"},
    {"--display-devel-allocation", 0, ours, "--display=allocation"},
    {"--display-topo", 0, refused, "lstopo of hwloc shows the topology"},
    {"--do-not-launch", 0, ours, "--dry-run"},
    {"--output-proctable", only_attached, ours, "--display=map"},
    {"--show-progress", 0, ours, "--progress"},
    {"--info", 0, refused, "troupe version tells it"},
    {"-Q", 0, ours, "--quiet"},
    {"--prepend-rank", 0, ours, "--label"},
    {"--xterm", 1, refused,
     "here it is called --screen 'xterm -T %r -e'; it shows all ranks"},
    {"--xml-file", 1, refused, "here it is --output xml, and > FILE"},
    {"--error", 1, refused, shell_does},
    {"-e", 1, refused, shell_does},
    {"--input", 1, refused, "write < FILE, with --stdin all if all want it"},
    {"-i", 1, refused, "write < FILE, with --stdin all if all want it"},
    {"-o", 1, refused, shell_does},
    {"--unbuffered", 0, notice, "output is passed on as it comes"},
    {"-u", 0, notice, "output is passed on as it comes"},
    {"--stream-buffering", 1, refused,
     "how a program buffers is its own affair; run stdbuf PROGRAM"},
    {"--print-all-exitcodes", 0, refused,
     "--json shows how each process ended"},

    // How the job runs and ends.
    {"--enable-recovery", 0, ours, "--rtos=recoverable"},
    {"--continuous", 0, ours, "--rtos=recoverable"},
    {"--no-kill", only_attached, ours, "--rtos=recoverable"},
    {"-k", 0, ours, "--rtos=recoverable"},
    {"--disable-auto-cleanup", 0, ours, "--rtos=recoverable"},
    {"--disable-recovery", 0, notice,
     "a job ends with its first process that fails unless --rtos recoverable "
     "is given"},
    {"--kill-on-bad-exit", only_attached, notice,
     "a job ends with its first process that fails unless --rtos recoverable "
     "is given"},
    {"-K", 0, notice,
     "a job ends with its first process that fails unless --rtos recoverable "
     "is given"},
    {"--with-ft", 1, refused,
     "fault tolerance is a setting of the program: --rtos recoverable --mca "
     "mpi_ft_enable 1"},
    {"-t", 1, ours, "--time={1}"},
    {"--wait", 1, refused, "--timeout limits the whole job"},
    {"-W", 1, refused, "--timeout limits the whole job"},
    {"--report-state-on-timeout", 0, refused,
     "troupe ps shows the states of processes; --json every change"},
    {"--get-stack-traces", 0, refused,
     "here it is a reaction of a monitor: --on-alert stack "
     "(docs/monitoring.md)"},
    {"--signal", 1, refused, "troupe ctl signal sends one to a job"},
    {"--quit-on-interrupt", 0, notice,
     "the first Ctrl-C ends the job, the second kills it"},
    {"--disable-status", 0, notice,
     "the first Ctrl-C ends the job, the second kills it"},
    {"-X", 0, notice, "the first Ctrl-C ends the job, the second kills it"},
    {"--stop-on-exec", 0, refused,
     "--stop-in-init has processes wait for a debugger in PMIx_Init; or start "
     "the program under gdbserver"},
    {"--debug", 0, refused, no_debugger},
    {"--debugger", 1, refused, no_debugger},
    {"--tv", 0, refused, no_debugger},
    {"--test-suicide", 1, refused, "it is a test of prterun itself"},
    {"--report-events", 1, refused,
     "troupe events watch shows what happens (docs/events.md)"},
    {"--set-cwd-to-session-dir", 0, refused, "name a directory with --wdir"},

    // The environment.
    {"--mca", 2, ours, "-xOMPI_MCA_{1}={2}"},
    {"--gmca", 2, ours, "--every-variable=OMPI_MCA_{1}={2}"},
    {"--pmixmca", 2, ours, "-xPMIX_MCA_{1}={2}"},
    {"--gpmixmca", 2, ours, "--every-variable=PMIX_MCA_{1}={2}"},
    {"--genv", 2, ours, "--every-variable={1}={2}"},
    {"--env", 2, ours, "-x{1}={2}"},
    {"--genvall", 0, ours, "--export=ALL"},
    {"--envall", 0, ours, "--export=ALL"},
    {"--genvnone", 0, ours, "--export=NONE"},
    {"--envnone", 0, ours, "--export=NONE"},
    {"--genvlist", 1, ours, "--export={1}"},
    {"--envlist", 1, ours, "--export={1}"},
    {"--am", 1, ours, "--tune={1}"},
    {"--initial-errhandler", 1, ours,
     "--every-variable=OMPI_MCA_mpi_initial_errhandler={1}"},
    {"--display-comm", 0, ours,
     "--every-variable=OMPI_MCA_ompi_display_comm=mpi_init"},
    {"--display-comm-finalize", 0, ours,
     "--every-variable=OMPI_MCA_ompi_display_comm=mpi_finalize"},
    {"--prtemca", 2, notice, "there is no PRRTE here that could have settings"},
    {"--gprtemca", 2, notice,
     "there is no PRRTE here that could have settings"},
    {"--preserve-env", 0, notice, "no variable stands for an option"},
    {"-E", 0, notice, "no variable stands for an option"},
    {"--propagate", only_attached, refused,
     "processes have the limits of their daemon; set them where it starts"},

    // The programs.
    {"--configfile", 1, ours, "--app={1}"},
    {"--file", 1, ours, "--app={1}"},
    {"--multi-prog", 0, refused,
     "here it is called --app FILE, with a line `-n N PROGRAM` for each"},
    {"--bcast", only_attached, refused,
     "here it is called --preload-binary; programs go to where they are here"},
    {"--bcast-exclude", 1, refused, "--preload-files names what is copied"},
    {"--compress", only_attached, refused, "what is copied is not compressed"},
    {"--send-libs", only_attached, refused,
     "name the libraries with --preload-files"},
    {"--chdir", 1, ours, "--wdir={1}"},
    {"-D", 1, ours, "--wdir={1}"},
    {"--prolog", 1, refused, wrap},
    {"--epilog", 1, refused, wrap},
    {"--task-prolog", 1, refused, wrap},
    {"--task-epilog", 1, refused, wrap},
    {"--container", 1, refused, "run the container's own command"},
    {"--soft", 1, refused, "give the number of processes by -n"},
    {"--arch", 1, refused, "name nodes of that kind with --host"},
    {"--noprefix", 0, notice, "no prefix is used unless --prefix is given"},
    {"--personality", 1, notice, "programs of all models find what they need"},
    {"--mpi", 1, notice, "PMIx and PMI-1 are both there"},

    // The DVM.
    {"--hnp", 1, ours, "--dvm={1}"},
    {"--dvm-uri", 1, ours, "--dvm={1}"},
    {"--namespace", 1, ours, "--dvm={1}"},
    {"--pid", 1, ours, "--dvm=pid:{1}"},
    {"--jobid", 1, refused, "here it is called --dvm NAME"},
    {"--system-server-first", 0, ours, "--dvm"},
    {"--system-server-only", 0, refused, "name the DVM with --dvm"},
    {"--wait-to-connect", 1, refused, "start it when troupe up says DVM ready"},
    {"--num-connect-retries", 1, refused,
     "start it when troupe up says DVM ready"},
    {"--system-server", 0, refused, of_prte},
    {"--report-uri", 1, refused, of_prte},
    {"--daemonize", 0, refused, of_prte},
    {"--set-sid", 0, notice, "daemons leave the session by themselves"},
    {"--no-ready-msg", 0, notice, "troupe run prints none"},
    {"--keepalive", 1, refused, of_prte},
    {"--singleton", 1, refused, of_prte},
    {"--ompi-server", 1, refused,
     "jobs of one DVM find what others publish; run them with --dvm"},
    {"--tmpdir", 1, refused, "set TMPDIR before troupe run"},
    {"--debug-daemons", 0, refused, use_log},
    {"--debug-daemons-file", 0, refused,
     "here it is called --log-directory DIR"},
    {"--debug-devel", 0, refused, use_log},
    {"-d", 0, refused, use_log},
    {"--slurmd-debug", 1, refused, use_log},
    {"--fwd-mpirun-port", 0, notice, own_network},
    {"--use-regexp", 0, notice, own_network},
    {"--enable-instant-on-support", 0, notice, own_network},
    {"--do-not-resolve", 0, notice, own_network},
    {"--allow-run-as-root", 0, notice, "nobody is kept from running as root"},

    // What asks Slurm for something.
    {"--account", 1, refused, ask_manager},
    {"-A", 1, refused, ask_manager},
    {"--acctg-freq", 1, refused, ask_manager},
    {"--bb", 1, refused, ask_manager},
    {"--bbf", 1, refused, ask_manager},
    {"--begin", 1, refused, ask_manager},
    {"-b", 1, refused, ask_manager},
    {"--cluster-constraint", 1, refused, ask_manager},
    {"--clusters", 1, refused, ask_manager},
    {"-M", 1, refused, ask_manager},
    {"--comment", 1, refused, ask_manager},
    {"--constraint", 1, refused, ask_manager},
    {"-C", 1, refused, ask_manager},
    {"--contiguous", 0, refused, ask_manager},
    {"--core-spec", 1, refused, ask_manager},
    {"-S", 1, refused, ask_manager},
    {"--cores-per-socket", 1, refused, ask_manager},
    {"--cpu-freq", 1, refused, ask_manager},
    {"--cpus-per-gpu", 1, refused, ask_manager},
    {"--deadline", 1, refused, ask_manager},
    {"--delay-boot", 1, refused, ask_manager},
    {"--dependency", 1, refused, ask_manager},
    {"--exact", 0, refused, ask_manager},
    {"--exclusive", only_attached, refused, ask_manager},
    {"--extra-node-info", 1, refused, ask_manager},
    {"-B", 1, refused, ask_manager},
    {"--gpu-bind", 1, refused, ask_manager},
    {"--gpu-freq", 1, refused, ask_manager},
    {"--gpus", 1, refused, ask_manager},
    {"-G", 1, refused, ask_manager},
    {"--gpus-per-node", 1, refused, ask_manager},
    {"--gpus-per-socket", 1, refused, ask_manager},
    {"--gpus-per-task", 1, refused, ask_manager},
    {"--gres", 1, refused, ask_manager},
    {"--gres-flags", 1, refused, ask_manager},
    {"--het-group", 1, refused, ask_manager},
    {"--hold", 0, refused, ask_manager},
    {"--immediate", only_attached, refused, ask_manager},
    {"-I", 0, refused, ask_manager},
    {"--job-name", 1, refused, ask_manager},
    {"-J", 1, refused, ask_manager},
    {"--licenses", 1, refused, ask_manager},
    {"-L", 1, refused, ask_manager},
    {"--mail-type", 1, refused, ask_manager},
    {"--mail-user", 1, refused, ask_manager},
    {"--mcs-label", 1, refused, ask_manager},
    {"--mem", 1, refused, ask_manager},
    {"--mem-per-cpu", 1, refused, ask_manager},
    {"--mem-per-gpu", 1, refused, ask_manager},
    {"--mincpus", 1, refused, ask_manager},
    {"--nice", only_attached, refused, ask_manager},
    {"--no-allocate", 0, refused, ask_manager},
    {"-Z", 0, refused, ask_manager},
    {"--overlap", 0, refused, ask_manager},
    {"--partition", 1, refused, ask_manager},
    {"-p", 1, refused, ask_manager},
    {"--power", 1, refused, ask_manager},
    {"--priority", 1, refused, ask_manager},
    {"--profile", 1, refused, ask_manager},
    {"--qos", 1, refused, ask_manager},
    {"--reboot", 0, refused, ask_manager},
    {"--reservation", 1, refused, ask_manager},
    {"--resv-ports", only_attached, refused, ask_manager},
    {"--sockets-per-node", 1, refused, ask_manager},
    {"--switches", 1, refused, ask_manager},
    {"--thread-spec", 1, refused, ask_manager},
    {"--time-min", 1, refused, ask_manager},
    {"--tmp", 1, refused, ask_manager},
    {"--wckey", 1, refused, ask_manager},
  };
  return words;
}

const option_word* find_word(std::string_view name) {
  const auto& words = all_words();
  const auto i =
    std::find_if(words.begin(), words.end(),
                 [&](const option_word& x) { return x.name == name; });
  return i == words.end() ? nullptr : &*i;
}

std::vector<std::string> translate(const option_word& word,
                                   const std::vector<std::string>& values) {
  auto result = std::vector<std::string>{};
  for (auto rest = word.text; !rest.empty();) {
    const auto end = std::min(rest.find(' '), rest.size());
    auto& option = result.emplace_back();
    for (size_t i = 0; i < end; ++i) {
      const auto is_value = rest[i] == '{';
      const auto number =
        is_value ? static_cast<size_t>(rest[i + 1] - '1') : size_t{0};
      if (!is_value) {
        option += rest[i];
        continue;
      }
      if (number < values.size())
        option += values[number];
      i += 2;
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return result;
}

namespace {

/// How many letters have to be changed, added, left out or swapped with their
/// neighbour to make one word of the other.
size_t distance(std::string_view x, std::string_view y) {
  auto last = std::vector<size_t>{};
  auto before = std::vector<size_t>(y.size() + 1);
  std::iota(before.begin(), before.end(), size_t{0});
  for (size_t i = 1; i <= x.size(); ++i) {
    auto now = std::vector<size_t>(y.size() + 1);
    now[0] = i;
    for (size_t j = 1; j <= y.size(); ++j) {
      const auto is_same = x[i - 1] == y[j - 1];
      now[j] = std::min(
        {before[j] + 1, now[j - 1] + 1, before[j - 1] + (is_same ? 0 : 1)});
      if (i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1])
        now[j] = std::min(now[j], last[j - 2] + 1);
    }
    last = std::move(before);
    before = std::move(now);
  }
  return before.back();
}

} // namespace

std::optional<std::string> nearest_name(std::string_view name,
                                        const std::vector<std::string>& names) {
  // A third of its letters may be wrong, else it is another word.
  auto best = name.find_first_not_of('-') == std::string_view::npos
                ? size_t{0}
                : (name.size() - name.find_first_not_of('-')) / 3 + 1;
  auto result = std::optional<std::string>{};
  for (const auto& x : names)
    if (const auto d = distance(name, x); d < best) {
      best = d;
      result = x;
    }
  return result;
}

// -- names of other launchers ------------------------------------------------

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

// -- a command line ----------------------------------------------------------

namespace {

/// A word of the command line that begins with a dash, taken apart.
struct option_token {
  std::string name;
  std::optional<std::string> value;
};

option_token split_token(const std::string& text) {
  const auto sign = text.find('=');
  if (sign == std::string::npos)
    return {text, std::nullopt};
  return {text.substr(0, sign), text.substr(sign + 1)};
}

bool takes_value(const CLI::Option& x) {
  return x.get_items_expected_max() > 0;
}

/// Whether it may be followed by its value, and need not.
bool value_is_optional(const CLI::Option& x) {
  return takes_value(x) && x.get_items_expected_min() == 0;
}

/// The first of its names; CLI11 keeps those of hidden options to itself.
std::string name_of(const CLI::Option& x) {
  return x.get_lnames().empty() ? "-" + x.get_snames().front()
                                : "--" + x.get_lnames().front();
}

/// Whether a word may be what `--dvm` names, rather than the program.
bool may_be_dvm(const std::string& word) {
  return !word.empty() && word.front() != '-' && word != ":"
         && word.find(':') <= word.find('/');
}

/// Reads a command line word by word.
class reader {
public:
  reader(const std::vector<std::string>& args, const CLI::App& ours)
    : args_(args), ours_(ours) {
    // nop
  }

  caf::expected<command_words> read() {
    result_.segments.emplace_back();
    while (at_ < args_.size() && !is_done())
      if (auto why = step())
        return why;
    return std::move(result_);
  }

private:
  bool is_done() const {
    return result_.wants_help || result_.wants_version;
  }

  command_segment& segment() {
    return result_.segments.back();
  }

  /// Reads one option with its values, or a program with its arguments.
  caf::error step() {
    const auto& word = args_[at_];
    if (word == ":") {
      ++at_;
      result_.segments.emplace_back();
      return caf::none;
    }
    if (word == "--" || word.size() < 2 || word.front() != '-') {
      at_ += word == "--" ? 1 : 0;
      while (at_ < args_.size() && args_[at_] != ":")
        segment().command.push_back(args_[at_++]);
      return caf::none;
    }
    ++at_;
    return read_option(word);
  }

  const CLI::Option* our_option(const std::string& name) const {
    return ours_.get_option_no_throw(name);
  }

  bool is_known(const std::string& name) const {
    return our_option(name) != nullptr || find_word(name) != nullptr
           || name == "--version" || name == "--help" || name == "--usage";
  }

  caf::error read_option(const std::string& typed) {
    auto token = split_token(typed);
    if (token.name.compare(0, 2, "--") == 0)
      return read_known(typed, token);
    // A long name with one dash, as mpirun takes it.
    if (token.name.size() > 2 && is_known("-" + token.name)) {
      token.name.insert(0, 1, '-');
      return read_known(typed, token);
    }
    if (token.name.size() == 2)
      return read_known(typed, token);
    return read_cluster(typed);
  }

  /// Reads `-n4`, or flags of a letter each.
  caf::error read_cluster(const std::string& typed) {
    const auto first = typed.substr(0, 2);
    const auto* option = our_option(first);
    const auto* word = find_word(first);
    if ((option != nullptr && takes_value(*option))
        || (option == nullptr && word != nullptr && word->values == 1))
      return read_known(first, {first, typed.substr(2)});
    for (size_t i = 1; i < typed.size(); ++i) {
      const auto* flag = our_option({'-', typed[i]});
      if (flag == nullptr || takes_value(*flag))
        return unknown(typed);
    }
    for (size_t i = 1; i < typed.size(); ++i)
      if (auto why = read_known(typed, {{'-', typed[i]}, std::nullopt}))
        return why;
    return caf::none;
  }

  caf::error read_known(const std::string& typed, const option_token& x) {
    if (x.name == "--help" || x.name == "-h" || x.name == "--usage") {
      result_.wants_help = true;
      result_.topic = x.value              ? *x.value
                      : at_ < args_.size() ? args_[at_]
                                           : std::string{};
      return caf::none;
    }
    if (x.name == "--version" || x.name == "-V") {
      result_.wants_version = true;
      return caf::none;
    }
    const auto name = split_token(typed).name;
    if (const auto* option = our_option(x.name))
      return take_ours(name, x, *option, "");
    if (const auto* word = find_word(x.name))
      return take_word(name, x, *word);
    return unknown(typed);
  }

  /// @param whole What was typed; empty: the name and its value.
  caf::error take_ours(const std::string& typed, const option_token& x,
                       const CLI::Option& option, std::string whole) {
    if (!takes_value(option)) {
      add(typed, option, x.value, typed);
      return caf::none;
    }
    auto value = x.value;
    if (!value && value_is_optional(option)) {
      // The last word is the program.
      if (at_ + 1 < args_.size() && may_be_dvm(args_[at_]))
        value = args_[at_++];
    } else if (!value) {
      if (at_ == args_.size())
        return make_error(
          status::bad_param,
          typed + " has no value; troupe run --help "
            + name_of(option).substr(name_of(option).find_first_not_of('-'))
            + " tells what it takes");
      value = args_[at_++];
    }
    if (whole.empty())
      whole = value ? typed + " " + *value : typed;
    if (option.get_items_expected_max() == 1) {
      const auto& given = segment().given;
      const auto before =
        std::find_if(given.begin(), given.end(),
                     [&](const auto& y) { return y.name == name_of(option); });
      if (before != given.end() && before->value != value.value_or(""))
        return make_error(status::bad_param, whole + ": there is "
                                               + before->whole
                                               + " before; give one of them");
      if (before != given.end())
        return caf::none;
    }
    add(typed, option, value, whole);
    return caf::none;
  }

  caf::error take_word(const std::string& typed, const option_token& x,
                       const option_word& word) {
    auto values = std::vector<std::string>{};
    if (x.value && word.values == 0)
      return make_error(status::bad_param,
                        typed + "=" + *x.value
                          + ": it takes no value; leave it out");
    if (x.value)
      values.push_back(*x.value);
    while (static_cast<int>(values.size()) < word.values) {
      if (at_ == args_.size())
        return make_error(
          status::bad_param,
          typed + " takes "
            + (word.values == 1 ? "a value" : "a name and a value")
            + ", and here the command line ends");
      values.push_back(args_[at_++]);
    }
    if (word.fate == word_fate::refused)
      return make_error(status::bad_param,
                        typed + " is not done here: " + std::string{word.text});
    if (word.fate == word_fate::left_out) {
      auto& all = result_.left_out;
      if (std::find(all.begin(), all.end(), typed) == all.end())
        all.push_back(typed);
      return caf::none;
    }
    auto whole = typed;
    for (const auto& value : values)
      whole += " " + value;
    for (const auto& text : translate(word, values)) {
      const auto token = text.compare(0, 2, "--") == 0
                           ? split_token(text)
                           : option_token{text.substr(0, 2), text.substr(2)};
      const auto* option = our_option(token.name);
      if (option == nullptr)
        return make_error(status::error, "there is no option " + token.name
                                           + "; troupe run --help lists them");
      // `--dvm` alone takes nothing that follows.
      if (takes_value(*option) && !token.value)
        add(typed, *option, std::nullopt, whole);
      else if (auto why = take_ours(typed, token, *option, whole))
        return why;
    }
    return caf::none;
  }

  void add(const std::string& typed, const CLI::Option& option,
           const std::optional<std::string>& value, const std::string& whole) {
    const auto name = name_of(option);
    const auto is_long = name.compare(0, 2, "--") == 0;
    segment().given.push_back({name, typed, value.value_or(""), whole});
    const auto is_bare =
      !value || (value->empty() && value_is_optional(option));
    segment().options.push_back(is_bare ? name
                                        : name + (is_long ? "=" : "") + *value);
  }

  caf::error unknown(const std::string& typed) const {
    auto names = std::vector<std::string>{};
    for (const auto* x : ours_.get_options()) {
      for (const auto& name : x->get_lnames())
        names.push_back("--" + name);
    }
    for (const auto& x : all_words())
      if (x.fate == word_fate::translated && x.name.size() > 2)
        names.emplace_back(x.name);
    auto name = split_token(typed).name;
    const auto dashes = name.compare(0, 2, "--") == 0 ? "" : "-";
    const auto near = nearest_name(dashes + name, names);
    return make_error(status::bad_param,
                      name + " is no option of troupe run; "
                        + (near ? "did you mean " + *near + "?"
                                : "troupe run --help lists them"));
  }

  const std::vector<std::string>& args_;
  const CLI::App& ours_;
  command_words result_;
  size_t at_ = 0;
};

} // namespace

caf::expected<command_words> read_words(const std::vector<std::string>& args,
                                        const CLI::App& ours) {
  return reader{args, ours}.read();
}

std::vector<std::string> typed_as(const command_segment& segment,
                                  std::initializer_list<const char*> names) {
  auto result = std::vector<std::string>{};
  for (const auto& x : segment.given)
    if (std::find(names.begin(), names.end(), x.name) != names.end())
      result.push_back(x.whole);
  return result;
}

std::string in_typed_words(const std::string& error,
                           const command_segment& segment) {
  const auto colon = error.find(": ");
  const auto name = error.substr(0, colon);
  for (auto i = segment.given.rbegin(); i != segment.given.rend(); ++i)
    if (colon != std::string::npos && i->name == name)
      return i->typed + error.substr(colon);
  return error;
}

} // namespace troupe
