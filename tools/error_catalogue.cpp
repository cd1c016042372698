#include "tools/error_catalogue.hpp"

#include "messages/status.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>

namespace troupe {

// -- what there is -----------------------------------------------------------

const std::vector<exit_status_entry>& exit_statuses() {
  static const auto entries = std::vector<exit_status_entry>{
    {"0", "all",
     "all is done; of a job: all processes ended with 0, and so did all jobs "
     "that they had started",
     ""},
    {"1", "all",
     "refused, or it failed; of a job: a process exited with 1, or the job "
     "could "
     "not be started",
     "read the line on standard error: it names what, where and the remedy"},
    {"2", "all",
     "a wrong command line, or a setting that is wrong; nothing was started",
     "troupe help COMMAND lists the options"},
    {"3", "up run trouped",
     "a daemon of another node could not be started, or did not join in time",
     "the line names the node: see that the remote shell asks for nothing, "
     "that "
     "trouped is there, and that the nodes reach each other"},
    {"3", "ctl", "done to some of the processes; the line names the others",
     "troupe ps shows which of them run"},
    {"3", "log", "some nodes have not answered; the lines name them",
     "troupe net shows which nodes are reached; ask again"},
    {"3", "attach io", "detached; the process goes on", ""},
    {"4", "attach io", "nobody reads what the command shows any more",
     "attach again with the --offset that the line names"},
    {"74", "all", "what was printed could not be written",
     "make room where the output goes, or raise the limit of files (ulimit "
     "-f)"},
    {"124", "run ctl events",
     "not in time: of a job --timeout or --time; of ctl --timeout; of events "
     "watch fewer events than --count before --timeout",
     "give more time, or see what it waits for: troupe help hang"},
    {"125", "all",
     "the program cannot do its work here: a limit, a directory, a file "
     "system; "
     "of a job: nothing was started for want of something here",
     "the line names what is too little and how to raise it"},
    {"126", "run", "a program of the job is there and cannot be executed",
     "see its permissions and the first line of a script (ls -l, file)"},
    {"127", "run", "a program of the job is not there on a node",
     "write it with its directory, or copy it with --preload-binary"},
    {"129-192", "run",
     "128 and the number of the signal that ended a process, or the launcher: "
     "130 is Ctrl-C, 134 abort, 137 KILL, 139 a fault of memory, 143 TERM",
     "of 137 without anybody who killed it: no memory was left; the log names "
     "the process"},
    {"141", "all", "nobody reads what the command prints, or the job's output",
     ""},
  };
  return entries;
}

const std::vector<error_entry>& error_texts() {
  static const auto entries = std::vector<error_entry>{
    // Command lines.
    {" is no option of troupe run; ",
     "a word that neither Troupe nor mpirun, prterun or srun has",
     "troupe run --help lists the options, troupe run --help words the words "
     "of "
     "others; the program's own options go behind it"},
    {" is not done here: ",
     "a word of another launcher for something that Troupe does not do",
     "what stands behind the colon"},
    {"without meaning here and left out: ",
     "words of another launcher that change nothing here; the job runs",
     "leave them out, or say -q"},
    {"no program given; see troupe run --help",
     "the command line has options and no program",
     "name the program behind the options; an option without its value may "
     "have "
     "taken it"},
    {" is one of mpirun itself; it only reaches the processes",
     "a setting of Open MPI's launcher, which does not run here",
     "use the option of troupe run that does the same: docs/habits.md"},
    {" names no processes; write NAMESPACE or NAMESPACE:RANKS",
     "a target that is neither a job nor ranks of one",
     "troupe jobs shows the names of jobs; ranks are a list such as 0,4-7"},
    {"there is no job ", "the DVM runs no job of that name, or no longer",
     "troupe jobs --dvm NAME shows those there are"},
    {"--set is for daemons that are started",
     "a job of a DVM that is up sets nothing of it", "give --set to troupe up"},
    {"there is no setting ", "a name that no setting has, in a file or --set",
     "troupe help settings lists them; troupe config check FILE finds all "
     "faults "
     "of a file"},
    {": root takes no settings that others may write",
     "a file of settings that is not root's own, found by root",
     "chown it to root and chmod go-w, or unset XDG_CONFIG_HOME and HOME"},

    // Starting a job.
    {" processes do not fit into ",
     "the job has more processes than its nodes have slots",
     "name more nodes or slots (--host n1:8), run fewer, or --oversubscribe"},
    {"no node has slots for ", "all nodes that the program may use have none",
     "give slots in --host or the host file: NAME slots=4"},
    {"cannot find the program ",
     "the program is not on that node, or not in the PATH of its daemon",
     "write it with its directory; --preload-binary copies it"},
    {"cannot execute ",
     "no permission, a script without an interpreter, or a program of another "
     "machine",
     "chmod +x, correct its first line, or build it for the node"},
    {" in the directory ",
     "the working directory is not on that node, or not open to you",
     "--wdir names another one; without it, it is the launcher's"},
    {"the limit of open files (ulimit -n) is ",
     "processes need pipes and connections, and the limit is too low",
     "raise its hard value (ulimit -Hn, limits.conf, LimitNOFILE of the unit), "
     "or run fewer processes on the node"},
    {"the limit of memory (ulimit -v) is ",
     "less address space than a server and the stacks of its threads take",
     "raise it: ulimit -v unlimited"},
    {"out of memory; free some, or raise the limit of this process (ulimit -v)",
     "an allocation was refused", "free memory, or raise the limit"},
    {"cannot start a thread: ", "a limit of processes or of memory",
     "raise ulimit -u and ulimit -v"},
    {"set TMPDIR to a directory that exists, has room, and ",
     "the directory for sessions cannot be made",
     "df -h $TMPDIR and ls -ld $TMPDIR tell what is wrong with it"},
    {"cannot write standard output; make room where it goes",
     "a file or a file system is full", "make room; the exit status is 74"},

    // How jobs end.
    {" exited with status ", "a process of the job failed, and the job ended",
     "its own output says why; --rtos recoverable lets the job go on"},
    {" without calling PMIx_Finalize (or MPI_Finalize)",
     "a process that had connected ended in the middle, by exit or a fault",
     "look for exit() between MPI_Init and MPI_Finalize"},
    {" was killed by ", "a signal ended a process, and with it the job",
     "SEGV and ABRT are faults of the program; KILL without anybody who sent "
     "it "
     "is the kernel's, for want of memory"},
    {" called PMIx_Abort with status ", "the program ended the job (MPI_Abort)",
     "what it said stands behind the colon"},
    {" was lost", "a node, its daemon, or all its networks are gone",
     "troupe nodes and troupe net say what is left; --rtos recoverable lets "
     "jobs "
     "go on"},
    {" takes no events, and others wait for it to go on",
     "a process has registered for events and does not take them",
     "see what it does (troupe monitor add cpu_progress ... --reaction stack), "
     "or "
     "set events.disconnect_stalled"},
    {"nobody reads the output of the job any more",
     "what reads the launcher's output has ended, such as head", ""},

    // Finding a DVM.
    {"you have no DVM on this node; start one by troupe up",
     "a command needs a DVM, and you have none here",
     "run it on the node of troupe up, as the same user, with the same TMPDIR"},
    {"you have several DVMs on this node (",
     "more than one is up, and none was named", "--dvm NAME"},
    {"you have no DVM ", "none of that name is up here",
     "the line lists those that are; a file or URI may be named as well"},
    {" is up already; give another one by --name, or end it by troupe down "
     "--dvm ",
     "two DVMs of one user have different names", "--name, or troupe down"},
    {" does not answer: it is stopped, or too busy (",
     "the process is there and does not greet anybody within 4 s",
     "kill -CONT it if it was stopped; else see what its processor does (top)"},
    {"cannot connect to the DVM", "its file is there and its port is not open",
     "it has just ended, or another TMPDIR is meant"},
    {"is it a DVM of Troupe?",
     "a server of another PMIx that does not know what was asked",
     "name another one by --dvm"},
    {"the DVM has ended, or the connection to it is lost",
     "the root is gone, or this node was cut off", "troupe nodes on its node"},
    {"the DVM did not start the job: ", "the root refused it, with the code",
     "troupe help errors CODE tells about the code"},
    {"the DVM was lost before it answered: it may have done it or not",
     "the connection broke between request and answer",
     "look by troupe ps before asking again"},
    {"the DVM is still there after ", "its jobs take long to end",
     "troupe down --timeout, or kill the root: daemons end after 30 s"},

    // Daemons.
    {"cannot start a daemon on ",
     "the remote shell failed, or trouped is not there",
     "run the same by hand: ssh -x -o BatchMode=yes NODE trouped --version; it "
     "must ask for nothing"},
    {"no answer within the time-out",
     "the daemon was started and does not reach the root",
     "firewall between the nodes, or interfaces that lead elsewhere: "
     "--networks; "
     "a slow file system: --join-timeout"},
    {"cannot reach the root ", "no address of the root answers this node",
     "ping the addresses that the line names; open TCP between the nodes; "
     "--networks"},
    {"this node cannot take connections on any network",
     "no interface is up, or the port of the bootstrap file is taken",
     "ip -br address, ss -tlnp; --networks"},
    {", and the troupe that starts it is another release; ",
     "trouped of that node is of another release",
     "install the same release on all nodes, or --launch-agent"},
    {" is open to others; make it yours by chown and chmod 600, or a new one "
     "by "
     "troupe authority",
     "the file of keys may be read by others, who could be any node",
     "chown, chmod 600; make a new one if others may have read it"},
    {" does not name this node, ", "the bootstrap file has another name for it",
     "add the name, or trouped --node NAME"},
    {"somebody has removed the session directory; ",
     "a program that cleans /tmp has taken it; it is made anew",
     "leave troupe-UID out of what cleans"},
    {" takes no input (any more); its output is still shown",
     "the process is over or has closed its standard input", ""},
  };
  return entries;
}

const std::vector<status_entry>& status_codes() {
  static const auto entries = std::vector<status_entry>{
    {"PMIX_ERR_BAD_PARAM", "an argument or attribute makes no sense",
     "the text behind the code names it"},
    {"PMIX_ERR_NOT_FOUND", "there is no such key, process, group or request",
     "PMIx_Get: has the process committed it, and did a fence follow?"},
    {"PMIX_ERR_NOT_SUPPORTED",
     "the server does not do it, or not with a directive that is required",
     "docs/conformance.md has what each call does of each attribute"},
    {"PMIX_ERR_TIMEOUT", "not done within PMIX_TIMEOUT, or a server is silent",
     "see who is missing: troupe help hang"},
    {"PMIX_ERR_UNREACH", "no server, or no process to talk to",
     "started by troupe run? is the DVM up? the same TMPDIR?"},
    {"PMIX_ERR_LOST_CONNECTION", "the server or its node is gone",
     "troupe nodes; the job has ended if it is not recoverable"},
    {"PMIX_ERR_NO_PERMISSIONS", "it belongs to another user",
     "ask as its user, or as root"},
    {"PMIX_ERR_OUT_OF_RESOURCE",
     "a bound is met: posted data, events, descriptors, requests",
     "the log names the bound; troupe help settings has those to raise"},
    {"PMIX_ERR_EXISTS", "there is one of that name already",
     "another name, or end that one"},
    {"PMIX_ERR_PARTIAL_SUCCESS", "done to some of those that were named",
     "the line names the others"},
    {"PMIX_ERR_PROC_ABORTED", "a process of the operation is gone, or its node",
     "the end of the job says which and why"},
    {"PMIX_ERR_PROC_TERM_WO_SYNC",
     "a process that had connected exited without PMIx_Finalize",
     "look for exit() before MPI_Finalize"},
    {"PMIX_ERR_JOB_FAILED_TO_MAP", "the job does not fit as it was asked for",
     "troupe run --dry-run shows where processes would go"},
    {"PMIX_ERR_JOB_INSUFFICIENT_RESOURCES",
     "more processes than slots, or processors than there are",
     "name more nodes or slots, or --oversubscribe"},
    {"PMIX_ERR_JOB_EXE_NOT_FOUND", "the program is not there on a node",
     "write it with its directory, or --preload-binary"},
    {"PMIX_ERR_JOB_APP_NOT_EXECUTABLE", "it is there and cannot be executed",
     "permissions, the first line of a script"},
    {"PMIX_ERR_SYS_LIMITS_FILES", "the limit of open files of a node",
     "raise ulimit -Hn where its daemon starts"},
    {"PMIX_ERR_SYS_LIMITS_CHILDREN", "the limit of processes of a node",
     "raise ulimit -u where its daemon starts"},
    {"PMIX_ERR_NOT_A_MEMBER", "the caller is not of the group or operation",
     "troupe group show ID lists the members"},
    {"PMIX_ERR_HANDSHAKE_FAILED",
     "the two ends do not trust each other, or speak different protocols",
     "the same user? munge on both sides (--security)?"},
  };
  return entries;
}

// -- how it is shown ---------------------------------------------------------

namespace {

using nlohmann::json;

constexpr size_t width = 79;

/// Breaks a text at blanks.
std::string filled(std::string_view text, size_t indent) {
  auto result = std::string{};
  auto line = std::string(indent, ' ');
  for (size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find(' ', begin), text.size());
    const auto word = text.substr(begin, end - begin);
    begin = end + 1;
    if (word.empty())
      continue;
    if (line.size() > indent && line.size() + 1 + word.size() > width) {
      result += line + "\n";
      line.assign(indent, ' ');
    }
    if (line.size() > indent)
      line += ' ';
    line += word;
  }
  return result + line + "\n";
}

/// A text without the blanks and colons at its ends.
std::string_view trimmed(std::string_view x) {
  constexpr auto ends = std::string_view{" ;:,("};
  const auto begin = std::min(x.find_first_not_of(ends), x.size());
  const auto end = x.find_last_not_of(ends);
  return end == std::string_view::npos ? std::string_view{}
                                       : x.substr(begin, end + 1 - begin);
}

/// Such as `3 (up, run)`.
std::string title_of(const exit_status_entry& x) {
  auto result = std::string{x.number};
  if (x.commands == "all")
    return result;
  auto commands = std::string{x.commands};
  for (auto at = commands.find(' '); at != std::string::npos;
       at = commands.find(' ', at + 2))
    commands.replace(at, 1, ", ");
  return result + " (" + commands + ")";
}

std::string title_of(const error_entry& x) {
  return "\"" + std::string{trimmed(x.text)} + "\"";
}

/// With its number: `PMIX_ERR_TIMEOUT (-24)`.
std::string title_of(const status_entry& x) {
  const auto code = status_named(x.name);
  return std::string{x.name}
         + (code ? " (" + std::to_string(static_cast<int32_t>(*code)) + ")"
                 : std::string{});
}

std::string_view why_of(const exit_status_entry& x) {
  return x.meaning;
}

std::string_view why_of(const error_entry& x) {
  return x.why;
}

std::string_view why_of(const status_entry& x) {
  return x.why;
}

template <class T>
std::string paragraph(const T& x) {
  auto result = filled(title_of(x), 2) + filled(why_of(x), 6);
  if (!x.remedy.empty())
    result += filled("-> " + std::string{x.remedy}, 6);
  return result;
}

template <class T>
std::string section(const char* title, const std::vector<T>& entries) {
  auto result = std::string{title} + "\n\n";
  for (const auto& x : entries)
    result += paragraph(x);
  return result;
}

std::string in_lower_case(std::string_view x) {
  auto result = std::string{x};
  std::transform(result.begin(), result.end(), result.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return result;
}

/// Whether an exit status is a number, or in a range of them.
bool has(const exit_status_entry& x, int number) {
  const auto text = std::string{x.number};
  const auto dash = text.find('-');
  const auto first = std::stoi(text.substr(0, dash));
  const auto last =
    dash == std::string::npos ? first : std::stoi(text.substr(dash + 1));
  return number >= first && number <= last;
}

/// @returns nothing for what is no number of at most four digits and a sign.
std::optional<int> small_number(std::string_view x) {
  const auto digits = x.substr(x.substr(0, 1) == "-" ? 1 : 0);
  if (digits.empty() || digits.size() > 4
      || digits.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  return std::stoi(std::string{x});
}

} // namespace

std::string catalogue_text() {
  return section("Exit statuses (of which commands; none: all)",
                 exit_statuses())
         + "\n" + section("What is said, why, and what helps", error_texts())
         + "\n" + section("Codes of PMIx", status_codes());
}

json catalogue_json() {
  auto result = json{{"exit_statuses", json::array()},
                     {"texts", json::array()},
                     {"codes", json::array()}};
  for (const auto& x : exit_statuses())
    result["exit_statuses"].push_back({{"number", x.number},
                                       {"commands", x.commands},
                                       {"meaning", x.meaning},
                                       {"remedy", x.remedy}});
  for (const auto& x : error_texts())
    result["texts"].push_back(
      {{"text", x.text}, {"meaning", x.why}, {"remedy", x.remedy}});
  for (const auto& x : status_codes()) {
    const auto code = status_named(x.name);
    result["codes"].push_back(
      {{"name", x.name},
       {"number", code ? static_cast<int32_t>(*code) : 0},
       {"meaning", x.why},
       {"remedy", x.remedy}});
  }
  return result;
}

std::optional<std::string> about_error(std::string_view words) {
  auto result = std::string{};
  const auto number = small_number(words);
  const auto wanted = in_lower_case(trimmed(words));
  if (wanted.empty())
    return std::nullopt;
  for (const auto& x : exit_statuses())
    if (number && has(x, *number))
      result += paragraph(x);
  for (const auto& x : status_codes()) {
    const auto code = status_named(x.name);
    const auto name = in_lower_case(x.name);
    if (number ? code && static_cast<int32_t>(*code) == *number
               : name.find(wanted) != std::string::npos)
      result += paragraph(x);
  }
  // What was typed may have more of the message than stays the same.
  if (!number)
    for (const auto& x : error_texts()) {
      const auto text = in_lower_case(trimmed(x.text));
      if (text.find(wanted) != std::string::npos
          || wanted.find(text) != std::string::npos)
        result += paragraph(x);
    }
  if (result.empty())
    return std::nullopt;
  return result;
}

} // namespace troupe
