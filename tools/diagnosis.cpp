#include "tools/diagnosis.hpp"

#include "base/escape.hpp"
#include "tools/environment_export.hpp"
#include "tools/printing.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace troupe {

namespace {

/// What daemons of a DVM need of a node, and what is less than usual. Sources:
/// docs/operating.md, "Limits of a process", "How daemons start" and "Keys".
constexpr int64_t descriptors_of_daemon = 40 + 64;
constexpr int64_t descriptors_of_process = 5;
constexpr int64_t least_memory = int64_t{128} << 20;
constexpr int64_t locked_memory = int64_t{1} << 20;
constexpr int64_t worst_clock_ms = int64_t{24} * 3600 * 1000;
constexpr int64_t munge_clock_ms = int64_t{300} * 1000;
constexpr int64_t bad_clock_ms = 1000;

/// Of the node's own: threads and processes of daemons, and one of a job for each
/// processor.
constexpr int64_t processes_of_daemon = 64;

/// Bytes of /dev/shm that MPI libraries take for each process, and of a directory
/// in which events and files of jobs are kept.
constexpr int64_t shared_bytes_of_process = int64_t{8} << 20;
constexpr int64_t temporary_bytes = int64_t{256} << 20;

/// Ports that the kernel should have to give away, beside one for each process.
constexpr uint32_t usual_ports = 1024;

/// A remote shell that takes longer than that looks for something that is not
/// there.
constexpr auto slow_start = std::chrono::seconds{5};

/// Of what a remote shell says, and of a list.
constexpr size_t most_shown = 300;
constexpr size_t most_places = 4;

/// Findings of a node, and characters of each: nodes say what they like.
constexpr size_t most_findings = 64;
constexpr size_t most_text = 2000;

/// Gathers findings.
class collector {
public:
  void error(const char* check, std::string text, std::string remedy) {
    add(check, gravity::error, std::move(text), std::move(remedy));
  }

  void warning(const char* check, std::string text, std::string remedy) {
    add(check, gravity::warning, std::move(text), std::move(remedy));
  }

  void note(const char* check, std::string text, std::string remedy) {
    add(check, gravity::note, std::move(text), std::move(remedy));
  }

  void add(const char* check, gravity level, std::string text,
           std::string remedy) {
    if (found_.size() < most_findings)
      found_.push_back(
        {check, level, fitted(text, most_text), fitted(remedy, most_text)});
  }

  /// The worst first.
  std::vector<finding> take() {
    std::stable_sort(
      found_.begin(), found_.end(),
      [](const finding& x, const finding& y) { return x.level > y.level; });
    return std::move(found_);
  }

private:
  std::vector<finding> found_;
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Bytes for people.
std::string bytes(int64_t n) {
  if (n >= int64_t{1} << 30)
    return fmt::format("{:.1f} GiB", static_cast<double>(n) / (1 << 30));
  return fmt::format("{} MiB", n >> 20);
}

/// Seconds for people.
std::string seconds(int64_t ms) {
  if (ms >= worst_clock_ms)
    return fmt::format("{:.1f} days", static_cast<double>(ms) / worst_clock_ms);
  return fmt::format("{:.1f} s", static_cast<double>(ms) / 1000);
}

std::optional<int64_t> limit_of(const node_facts& x, const char* name) {
  const auto i = x.limits.find(name);
  if (i == x.limits.end() || i->second < 0)
    return std::nullopt;
  return i->second;
}

/// The last line that says something.
std::string last_line(std::string_view text) {
  const auto end = text.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos)
    return {};
  text = text.substr(0, end + 1);
  text = text.substr(text.rfind('\n') + 1);
  return std::string{text.substr(0, most_shown)};
}

std::string place_text(const network_place& x) {
  return contains(x.address, ":") ? "[" + x.address + "]" : x.address;
}

// -- a node that does not answer -----------------------------------------------

/// What a remote shell says, and what to do about it. Source: ssh(1); the C
/// library's loader; the shell.
struct known_failure {
  const char* sign;
  const char* check;
  const char* remedy;
};

constexpr known_failure known_failures[] = {
  {"Permission denied", "ssh",
   "let ssh in without a password: ssh-copy-id {host}; ssh-add if the key has "
   "a passphrase"},
  {"Too many authentication failures", "ssh",
   "name the key for {host} in ~/.ssh/config: IdentityFile and IdentitiesOnly"},
  {"REMOTE HOST IDENTIFICATION HAS CHANGED", "ssh",
   "if {host} was installed anew: ssh-keygen -R {host}"},
  {"Host key verification failed", "ssh",
   "look whether it is the right host, then take its key: ssh-keyscan {host} "
   ">> ~/.ssh/known_hosts"},
  {"Could not resolve hostname", "name",
   "correct the name, or add it to DNS, /etc/hosts or ~/.ssh/config"},
  {"Connection refused", "ssh",
   "start sshd on {host} (systemctl start ssh), or name its port in "
   "~/.ssh/config"},
  {"No route to host", "ssh", "look at the network: ip route get {host}"},
  {"Connection timed out", "ssh",
   "look whether {host} runs, and whether a firewall is between"},
  {"error while loading shared libraries", "libraries",
   "install what is missing there (ldd trouped), or make LD_LIBRARY_PATH known "
   "to shells that are not interactive"},
  {"version `", "libraries",
   "install the same release of the system's libraries, or of Troupe for it, "
   "there"},
  {"Exec format error", "program",
   "trouped is for another kind of processor there; say where the right one is "
   "by --launch-agent"},
  {"not found", "program",
   "install Troupe there, or say where it is by --launch-agent"},
  {"No such file", "program",
   "install Troupe there, or say where it is by --launch-agent"},
  // Of an option that it does not know.
  {"is no option of trouped", "version",
   "another release of Troupe is there; install the same on all nodes"},
  {"not expected", "version",
   "another release of Troupe is there; install the same on all nodes"},
};

std::string filled(std::string text, const std::string& host) {
  constexpr auto word = std::string_view{"{host}"};
  for (auto at = text.find(word); at != std::string::npos;
       at = text.find(word, at + host.size()))
    text.replace(at, word.size(), host);
  return text;
}

std::string text_of_status(const std::optional<int>& x) {
  if (!x)
    return "it did not end";
  if (WIFSIGNALED(*x))
    return "it was killed by signal " + std::to_string(WTERMSIG(*x));
  return "it ended with status " + std::to_string(WEXITSTATUS(*x));
}

/// The line that a sign stands in.
std::string line_with(const std::string& text, size_t at) {
  const auto begin = text.rfind('\n', at);
  const auto first = begin == std::string::npos ? 0 : begin + 1;
  const auto end = std::min(text.find('\n', at), text.size());
  return last_line(std::string_view{text}.substr(first, end - first));
}

/// What our own program says before it ends: what is the matter, and behind the
/// last semicolon what to do.
/// @returns whether it says something.
bool explain_daemon(const std::string& said, collector& out) {
  constexpr auto mark = std::string_view{"trouped: "};
  if (said.compare(0, mark.size(), mark) != 0)
    return false;
  const auto end = std::min(said.rfind("; "), said.size());
  const auto reason = said.substr(mark.size(), end - mark.size());
  if (reason.empty())
    return false;
  auto remedy = said.substr(std::min(end + 2, said.size()));
  if (remedy.empty()) // Or it has been cut off.
    remedy = "start it there by hand: trouped";
  out.error("program", reason, std::move(remedy));
  return true;
}

/// Why another node does not answer.
void explain_silence(const node_report& x, collector& out) {
  constexpr auto same_release =
    "another release of Troupe is there; install the same on all nodes";
  const auto try_it = "look whether `" + x.command + " ... " + x.name
                      + " true` works without a question";
  const auto& outcome = x.outcome;
  auto said = last_line(outcome.errors);
  if (said.empty())
    said = last_line(outcome.output);
  if (!outcome.failure.empty()) {
    out.error("ssh", outcome.failure,
              "install it, or name another by --remote-shell");
    return;
  }
  if (outcome.is_garbled) {
    out.error("version", "its answer is not understood", same_release);
    return;
  }
  if (outcome.is_late) {
    out.error("ssh",
              "no answer within the time-out"
                + (said.empty() ? std::string{} : " (" + said + ")"),
              try_it + "; raise --timeout if it only takes long");
    return;
  }
  if (explain_daemon(said, out))
    return;
  const auto code = outcome.status && WIFEXITED(*outcome.status)
                      ? WEXITSTATUS(*outcome.status)
                      : -1;
  const auto what = said.empty() ? text_of_status(outcome.status) : said;
  if (code == 126) {
    out.error("program", what,
              "make it executable there (chmod +x), on a file system that is "
              "not mounted with noexec");
    return;
  }
  const auto all = outcome.errors + "\n" + outcome.output;
  for (const auto& y : known_failures)
    if (const auto at = all.find(y.sign); at != std::string::npos) {
      out.error(y.check, line_with(all, at), filled(y.remedy, x.name));
      return;
    }
  if (code == 127)
    out.error("program", what,
              "install Troupe there, or say where it is by --launch-agent");
  else
    out.error("ssh", what, try_it);
}

// -- a node by itself ----------------------------------------------------------

void look_at_kernel(const node_facts& x, collector& out) {
  if (!x.has_pidfd)
    out.error("kernel", "Linux " + x.kernel + " has no pidfd_open",
              "run Linux 5.4 or newer; in a container, let its seccomp profile "
              "allow pidfd_open");
  if (!x.has_proc)
    out.error("kernel", "/proc is not mounted",
              "mount it: mount -t proc proc /proc");
}

void look_at_limits(const node_facts& x, collector& out) {
  if (const auto n = limit_of(x, "n")) {
    const auto room =
      std::max<int64_t>(*n - descriptors_of_daemon, 0) / descriptors_of_process;
    if (room < x.cpus)
      out.error("limits",
                fmt::format("the hard limit of open files (ulimit -Hn) is {}: "
                            "enough for {} processes, and there are {} "
                            "processors",
                            *n, room, x.cpus),
                "raise it in /etc/security/limits.conf: * hard nofile 65536");
    else if (*n < 4096)
      out.note("limits",
               fmt::format("the hard limit of open files (ulimit -Hn) is {}: "
                           "enough for {} processes",
                           *n, room),
               "raise it for larger jobs: /etc/security/limits.conf, * hard "
               "nofile 65536");
  }
  if (const auto n = limit_of(x, "u");
      n && x.uid != 0 && *n < processes_of_daemon + 8 * int64_t{x.cpus})
    out.warning("limits",
                fmt::format("the limit of processes (ulimit -u) is {}", *n),
                "raise it in /etc/security/limits.conf: * hard nproc 65536");
  if (const auto n = limit_of(x, "v")) {
    if (*n < least_memory)
      out.error("limits", "the limit of memory (ulimit -v) is " + bytes(*n),
                "raise it to " + bytes(least_memory) + " at least: ulimit -v");
    else
      out.note("limits", "memory is limited (ulimit -v) to " + bytes(*n),
               "ulimit -v unlimited, if jobs run out of it");
  }
  if (const auto n = limit_of(x, "f"))
    out.warning("limits",
                "files are limited (ulimit -f) to " + bytes(*n)
                  + ": output in files, and events on disk, end there",
                "ulimit -f unlimited");
  if (const auto n = limit_of(x, "l"); n && *n < locked_memory && x.uid != 0)
    out.note("limits",
             "the limit of locked memory (ulimit -l) is "
               + std::to_string(*n >> 10) + " KiB: keys may be swapped",
             "raise it to 1024 (KiB): /etc/security/limits.conf, * hard "
             "memlock");
}

void look_at_directories(const node_facts& x, collector& out) {
  const auto& shared = x.shared_memory;
  const auto wanted = shared_bytes_of_process * int64_t{x.cpus};
  if (!shared.trouble.empty())
    out.error("shared-memory",
              shared.path + ": " + shared.trouble
                + "; MPI libraries keep what processes of a node share there",
              "mount -t tmpfs -o mode=1777 tmpfs /dev/shm");
  else if (shared.free_bytes >= 0 && shared.free_bytes < wanted)
    out.warning(
      "shared-memory",
      fmt::format("{} has {} free, and MPI libraries take some {} for "
                  "{} processes",
                  shared.path, bytes(shared.free_bytes), bytes(wanted), x.cpus),
      "remove what jobs have left there, or make it larger: mount -o "
      "remount,size=50% /dev/shm (docker run --shm-size)");
  const auto& temporary = x.temporary;
  if (!temporary.trouble.empty())
    out.error("directory", temporary.path + ": " + temporary.trouble,
              "set TMPDIR to a directory that is yours to write");
  else if (temporary.free_bytes >= 0 && temporary.free_bytes < temporary_bytes)
    out.warning("directory",
                temporary.path + " has " + bytes(temporary.free_bytes)
                  + " free, for files of jobs and events that memory does not "
                    "hold",
                "make room, or set TMPDIR to another directory");
  // Addresses of UNIX sockets have 107 characters.
  if (temporary.path.size() > 60)
    out.warning("directory",
                fmt::format("TMPDIR has {} characters; MPI libraries make "
                            "sockets below it, whose names have 107 at most",
                            temporary.path.size()),
                "set TMPDIR to a shorter one");
  if (!x.work.trouble.empty())
    out.warning("directory",
                x.work.path + ": " + x.work.trouble
                  + "; processes start where troupe run does",
                "share the directory between the nodes, or say where they "
                "start: --wdir");
}

/// Whether a name means the node that asks.
bool leads_to_itself(const resolved_name& x) {
  return !x.addresses.empty()
         && std::all_of(x.addresses.begin(), x.addresses.end(),
                        [](const std::string& y) {
                          return y.rfind("127.", 0) == 0 || y == "::1";
                        });
}

void look_at_names(const node_facts& x, const diagnosis_wish& wish,
                   collector& out) {
  if (!wish.has_others)
    return;
  constexpr auto whom =
    "; daemons without a launcher (trouped --bootstrap) and programs that ask "
    "for names need it";
  for (size_t i = 0; i < x.names.size(); ++i) {
    const auto& name = x.names[i];
    // The first is the node's own, the others those of its root.
    const auto level =
      i > 0 && wish.has_no_launcher ? gravity::error : gravity::note;
    const auto* whose = i == 0 ? "its own name " : "";
    if (!name.trouble.empty())
      out.add(
        "name", level,
        std::string{"it cannot resolve "} + whose + name.name + ": "
          + name.trouble,
        std::string{"look whether the servers of /etc/resolv.conf answer, "
                    "or add it to /etc/hosts"}
          + whom);
    else if (i > 0 && name.name != x.host && leads_to_itself(name))
      out.add("name", level,
              name.name + " leads to " + name.addresses.front() + " there",
              std::string{"correct its /etc/hosts"} + whom);
  }
}

void look_at_ports(const node_facts& x, collector& out) {
  if (x.port == 0)
    out.error(
      "ports", "it cannot listen: " + x.port_trouble,
      "look which limit or rule keeps it from that: ulimit -n, seccomp, "
      "SELinux");
  if (x.last_port < x.first_port || x.first_port == 0)
    return;
  const auto ports = x.last_port - x.first_port + 1;
  if (ports < usual_ports + 4 * x.cpus)
    out.warning("ports",
                fmt::format("the kernel has {} ports to give away ({} to {})",
                            ports, x.first_port, x.last_port),
                "sysctl net.ipv4.ip_local_port_range=\"32768 60999\"");
}

void look_at_libraries(const node_facts& x, const diagnosis_wish& wish,
                       collector& out) {
  for (const auto& library : x.libraries) {
    if (library.trouble.empty())
      continue;
    if (library.name.rfind("libssl", 0) == 0)
      out.add("libraries", wish.has_others ? gravity::error : gravity::note,
              library.trouble,
              "install OpenSSL 3 (libssl3), without which there is no DVM over "
              "nodes");
    else if (library.name.rfind("libpmix", 0) == 0)
      out.note("libraries", library.trouble,
               "install libpmix2, unless programs bring one; troupe run "
               "--own-libpmix gives them Troupe's");
  }
}

void look_at_munge(const node_facts& x, const diagnosis_wish& wish,
                   collector& out) {
  if (wish.wants_munge && !x.munge_trouble.empty())
    out.error(
      "munge", x.munge_trouble,
      "install munge with the key of the cluster (/etc/munge/munge.key), "
      "and start it: systemctl start munge");
}

// -- settings of MPI libraries -------------------------------------------------

std::vector<std::string> split(const std::string& list) {
  auto result = std::vector<std::string>{};
  for (size_t begin = 0; begin <= list.size();) {
    const auto end = std::min(list.find(',', begin), list.size());
    if (end > begin)
      result.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

/// Settings whose values are names of interfaces.
bool names_interfaces(std::string_view name) {
  constexpr auto end = std::string_view{"_if_include"};
  // Devices of InfiniBand and of usNIC have names of their own.
  if (contains(name, "openib") || contains(name, "usnic"))
    return false;
  return (name.size() > end.size()
          && name.substr(name.size() - end.size()) == end)
         || name == "FI_TCP_IFACE" || name == "FI_SOCKETS_IFACE"
         || name == "FI_UDP_IFACE" || name == "UCX_NET_DEVICES";
}

/// Settings whose values are directories.
bool names_directory(std::string_view name) {
  return contains(name, "backing_directory") || contains(name, "tmpdir_base")
         || contains(name, "backing_file_base_dir");
}

std::string shown(const mpi_setting& x) {
  return x.name + "=" + x.value.substr(0, most_shown) + " (" + x.from + ")";
}

/// Interfaces that a remedy names.
constexpr size_t most_known = 8;

void look_at_interfaces(const node_facts& x, const mpi_setting& setting,
                        collector& out) {
  for (const auto& name : split(setting.value)) {
    // A network, `10.0.0.0/8`; a device that is none of the kernel's network;
    // several at once; UCX's word for all.
    if (name.find_first_of("/:.*") != std::string::npos || name == "all")
      continue;
    if (std::find(x.interfaces.begin(), x.interfaces.end(), name)
        != x.interfaces.end())
      continue;
    auto known = std::string{};
    for (size_t i = 0; i < x.interfaces.size() && i < most_known; ++i)
      known += (i > 0 ? ", " : "") + x.interfaces[i];
    out.error("mpi",
              shown(setting) + ": there is no interface " + name
                + " that is up, and jobs hang or fail",
              "name one that all nodes have (it has " + known
                + "), or a network such as 10.0.0.0/16");
    return; // One is enough to correct it.
  }
}

/// Whether the security that processes are told to offer is none that the daemon
/// takes. A list after `^` is what they leave out.
bool offers_nothing(std::string_view value, const diagnosis_wish& wish) {
  const auto has_it = contains(value, wish.wants_munge ? "munge" : "native");
  return !value.empty() && has_it == (value.front() == '^');
}

void look_at_mpi(const node_facts& x, const diagnosis_wish& wish,
                 collector& out) {
  const auto find = [&](std::string_view name) -> const mpi_setting* {
    const auto i =
      std::find_if(x.settings.begin(), x.settings.end(),
                   [&](const mpi_setting& y) { return y.name == name; });
    return i == x.settings.end() ? nullptr : &*i;
  };
  // What takes its place needs no transports of Open MPI's own.
  const auto* pml = find("OMPI_MCA_pml");
  // A list after `^` is what it leaves out.
  const auto has_btl =
    pml == nullptr || contains(pml->value, "ob1") != contains(pml->value, "^");
  auto variables = variable_list{};
  for (const auto& setting : x.settings) {
    variables.push_back(setting.name + "=" + setting.value);
    if (names_interfaces(setting.name))
      look_at_interfaces(x, setting, out);
    if (names_directory(setting.name) && setting.is_missing)
      out.error("mpi",
                shown(setting) + ": there is no such directory, and jobs fail",
                "name one that all nodes have, such as /dev/shm");
    if (has_btl && setting.name == "OMPI_MCA_btl" && !setting.value.empty()
        && setting.value.front() != '^') {
      const auto all = split(setting.value);
      if (std::find(all.begin(), all.end(), "self") == all.end())
        out.error("mpi", shown(setting) + " leaves out self, and jobs fail",
                  "add it: self," + setting.value);
    }
    if (setting.name == "PMIX_MCA_psec" && offers_nothing(setting.value, wish))
      out.warning("mpi",
                  shown(setting)
                    + ": processes offer no proof of who they are "
                      "that the daemon takes",
                  "leave it out");
    if (setting.name.rfind("HYDRA_", 0) == 0)
      out.note("mpi", shown(setting) + " is for mpiexec of MPICH alone",
               "troupe run --help tells what its options are here");
  }
  if (const auto* include = find("OMPI_MCA_btl_tcp_if_include"))
    if (const auto* exclude = find("OMPI_MCA_btl_tcp_if_exclude"))
      out.error("mpi",
                shown(*include) + " and " + shown(*exclude)
                  + ": Open MPI takes one of them only",
                "remove one");
  for (const auto& name : settings_of_mpirun(variables))
    out.note("mpi", name + " is a setting of mpirun itself and has no effect",
             "troupe run --help tells what its options are here");
  if (x.ptrace_scope > 0)
    out.note(
      "mpi",
      fmt::format("kernel.yama.ptrace_scope is {}: processes cannot read "
                  "each other's memory, and large messages within a node "
                  "are copied twice",
                  x.ptrace_scope),
      "sysctl kernel.yama.ptrace_scope=0, if the node is for jobs alone");
  if (!x.job_variables.empty())
    out.note("mpi",
             "the environment has " + x.job_variables.front()
               + ", as if this were a process of a job",
             "start jobs and daemons from a shell of your own, not from one "
             "that a launcher has started");
}

// -- a node beside the one that we are on --------------------------------------

void compare_clocks(const node_report& x, const diagnosis_wish& wish,
                    collector& out) {
  const auto& facts = *x.outcome.facts;
  const auto ahead = facts.time_ms - x.outcome.after_ms;
  const auto behind = x.outcome.before_ms - facts.began_ms;
  const auto off = std::max(ahead, behind);
  if (off < bad_clock_ms)
    return;
  const auto text = "its clock is at least " + seconds(off)
                    + (ahead > behind ? " ahead of" : " behind")
                    + " that of this node";
  constexpr auto remedy = "set the clock, and have it kept: chronyc makestep, "
                          "timedatectl set-ntp true";
  if (off >= worst_clock_ms)
    out.error("clock", text + ": certificates of the DVM are not valid there",
              remedy);
  else if (off >= munge_clock_ms && wish.wants_munge)
    out.error("clock", text + ": munge takes no credentials of it", remedy);
  else
    out.warning(
      "clock", text + ": times of logs and events are hard to compare", remedy);
}

std::string tried(const std::vector<reached_place>& places) {
  auto result = std::string{};
  for (size_t i = 0; i < places.size() && i < most_places; ++i)
    result += (i > 0 ? ", " : "") + place_text(places[i].place) + ": "
              + places[i].trouble;
  if (places.size() > most_places)
    result += fmt::format(" and {} more", places.size() - most_places);
  return result;
}

bool none_of(const std::vector<reached_place>& places) {
  return !places.empty()
         && std::all_of(
           places.begin(), places.end(),
           [](const reached_place& x) { return !x.trouble.empty(); });
}

void compare_networks(const node_report& x, collector& out) {
  constexpr auto remedy =
    "let TCP through between the nodes in both directions, on all ports that "
    "the "
    "kernel gives away, or name the networks that work: --networks";
  if (none_of(x.outcome.facts->reached))
    out.error("ports",
              "it reaches no address of this node ("
                + tried(x.outcome.facts->reached) + ")",
              remedy);
  if (none_of(x.outcome.reached))
    out.warning("ports",
                "this node reaches none of its addresses ("
                  + tried(x.outcome.reached) + ")",
                remedy);
}

void compare_libraries(const node_facts& here, const node_facts& there,
                       collector& out) {
  for (const auto& mine : here.libraries)
    for (const auto& its : there.libraries) {
      if (mine.name != its.name || !mine.trouble.empty())
        continue;
      const auto is_mpi = mine.name.rfind("libmpi", 0) == 0;
      if (is_mpi && !its.trouble.empty())
        out.warning("libraries",
                    mine.name + " is on this node (" + mine.path
                      + ") and not on that one",
                    "install the same MPI library on all nodes, or share it");
      if (its.trouble.empty() && mine.version != its.version)
        out.warning("libraries",
                    mine.name + " there is " + its.version + ", and here "
                      + mine.version,
                    "install the same on all nodes");
    }
}

void compare(const node_report& x, const node_report& here,
             const diagnosis_wish& wish, collector& out) {
  const auto& there = *x.outcome.facts;
  const auto& mine = *here.outcome.facts;
  if (there.version != mine.version)
    out.error("version",
              "Troupe " + there.version + " is there, and here " + mine.version,
              "install the same release on all nodes, or say where it is by "
              "--launch-agent");
  if (there.caf != mine.caf)
    out.warning("version",
                "CAF " + there.caf + " is there, and here " + mine.caf,
                "install the same on all nodes");
  if (there.uid != mine.uid)
    out.warning("user",
                fmt::format("the daemon is {} ({}) there, and here {} ({})",
                            there.user, there.uid, mine.user, mine.uid),
                "have the same user on all nodes, with the same number");
  if (there.bootstrap_trouble.empty()
      && there.bootstrap_text != mine.bootstrap_text)
    out.error("bootstrap", "the bootstrap file there is not the same as here",
              "copy it to all nodes");
  compare_clocks(x, wish, out);
  compare_networks(x, out);
  compare_libraries(mine, there, out);
  if (mine.munge_trouble.empty()) {
    const auto& why = there.munge_trouble.empty() ? there.foreign_munge_trouble
                                                  : there.munge_trouble;
    if (!why.empty() && !(wish.wants_munge && !there.munge_trouble.empty()))
      out.add("munge", wish.wants_munge ? gravity::error : gravity::note,
              "munge works on this node, and there not: " + why,
              "copy /etc/munge/munge.key to all nodes, and start munge there");
  }
  if (x.outcome.took >= slow_start)
    out.warning(
      "ssh",
      fmt::format("it took {:.1f} s to get there",
                  static_cast<double>(x.outcome.took.count()) / 1000),
      "see what ssh waits for (ssh -vv " + x.name
        + "); often UseDNS or GSSAPIAuthentication of sshd, or a home "
          "directory that is slow");
  if (!x.address.trouble.empty())
    out.note("name",
             "this node cannot resolve " + x.name + ": " + x.address.trouble,
             "ssh knows it, which is enough; programs that ask for names need "
             "it in DNS or /etc/hosts");
}

size_t count(const std::vector<diagnosed_node>& nodes, gravity level) {
  auto result = size_t{0};
  for (const auto& x : nodes)
    result += static_cast<size_t>(
      std::count_if(x.findings.begin(), x.findings.end(),
                    [&](const finding& y) { return y.level == level; }));
  return result;
}

std::string counted(size_t n, const char* what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

/// Such as `: troupe 0.1.0, 4 processors, Linux 6.1.0`.
std::string summary(const diagnosed_node& x) {
  const auto& facts = x.report.outcome.facts;
  if (!facts)
    return ": no answer";
  return fmt::format(": Troupe {}, {}, Linux {}", facts->version,
                     counted(facts->cpus, "processor"), facts->kernel);
}

} // namespace

std::string_view text_of(gravity x) {
  switch (x) {
    case gravity::error:
      return "error";
    case gravity::warning:
      return "warning";
    default:
      return "note";
  }
}

std::vector<finding> diagnose(const node_report& x, const node_report* here,
                              const diagnosis_wish& wish) {
  auto out = collector{};
  if (!x.outcome.facts) {
    explain_silence(x, out);
    return out.take();
  }
  const auto& facts = *x.outcome.facts;
  look_at_kernel(facts, out);
  look_at_limits(facts, out);
  look_at_directories(facts, out);
  look_at_names(facts, wish, out);
  look_at_ports(facts, out);
  look_at_libraries(facts, wish, out);
  look_at_munge(facts, wish, out);
  if (!facts.settings_trouble.empty())
    out.error("settings", facts.settings_trouble,
              "correct it there: troupe config check FILE");
  if (!facts.bootstrap_trouble.empty())
    out.error("bootstrap", facts.bootstrap_trouble,
              "make the file and its authority the same on all nodes, readable "
              "for the daemons' user alone");
  if (wish.has_others && !facts.clock_is_kept)
    out.note("clock", "nothing keeps its clock right",
             "run a time service: chrony, systemd-timesyncd");
  look_at_mpi(facts, wish, out);
  if (!x.is_here && here != nullptr && here->outcome.facts)
    compare(x, *here, wish, out);
  return out.take();
}

int exit_status_of(const std::vector<diagnosed_node>& nodes, bool is_strict) {
  return count(nodes, gravity::error) > 0
             || (is_strict && count(nodes, gravity::warning) > 0)
           ? 1
           : 0;
}

std::string to_text(const std::vector<diagnosed_node>& nodes) {
  auto result = std::string{};
  for (const auto& x : nodes) {
    result += escape_control_characters(x.report.name)
              + (x.report.is_here ? " (this node)" : "")
              + escape_control_characters(summary(x))
              + (x.findings.empty() ? ", all well" : "") + "\n";
    for (const auto& y : x.findings)
      result += fmt::format(
        "  {:<7}  {}: {}\n           -> {}\n", text_of(y.level), y.check,
        escape_control_characters(y.text), escape_control_characters(y.remedy));
  }
  return result + counted(nodes.size(), "node") + ": "
         + counted(count(nodes, gravity::error), "error") + ", "
         + counted(count(nodes, gravity::warning), "warning") + ", "
         + counted(count(nodes, gravity::note), "note") + "\n";
}

nlohmann::json to_json(const std::vector<diagnosed_node>& nodes) {
  using nlohmann::json;
  auto list = json::array();
  for (const auto& x : nodes) {
    auto findings = json::array();
    for (const auto& y : x.findings)
      findings.push_back({{"check", y.check},
                          {"level", std::string{text_of(y.level)}},
                          {"text", y.text},
                          {"remedy", y.remedy}});
    auto node = json{{"name", x.report.name},
                     {"here", x.report.is_here},
                     {"answered", x.report.outcome.facts.has_value()},
                     {"findings", std::move(findings)}};
    if (const auto& facts = x.report.outcome.facts) {
      node["version"] = facts->version;
      node["host"] = facts->host;
      node["kernel"] = facts->kernel;
      node["processors"] = facts->cpus;
    }
    list.push_back(std::move(node));
  }
  return {{"nodes", std::move(list)},
          {"errors", count(nodes, gravity::error)},
          {"warnings", count(nodes, gravity::warning)},
          {"notes", count(nodes, gravity::note)}};
}

} // namespace troupe
