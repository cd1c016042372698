#include "tools/probe_answer.hpp"

#include "adapters/hwloc/allowed_processors.hpp"
#include "adapters/link/link_socket.hpp"
#include "adapters/local/rendezvous.hpp"
#include "adapters/local/security_policy.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "adapters/settings/settings_file.hpp"
#include "messages/status.hpp"
#include "tools/bootstrap.hpp"
#include "tools/call_apart.hpp"
#include "tools/command_line.hpp"
#include "tools/dvm_options.hpp"
#include "tools/printing.hpp"
#include "tools/tcp_reach.hpp"

#include <caf/config.hpp>

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pwd.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <string_view>
#include <utility>

namespace troupe {

namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

/// How long the request may take to come, an attempt to connect, munge, and whoever
/// reads the answer. With what names may take it is less than a node has to answer,
/// so that one where nothing works says so.
constexpr auto request_time = 30s;
constexpr auto reach_time = 3s;
constexpr auto munge_time = 4s;
constexpr auto reader_time = 60s;

/// Connections that the kernel keeps: one for each address of the other node.
constexpr int backlog = 64;

/// Bytes of a bootstrap file that are compared.
constexpr size_t most_bootstrap = size_t{64} << 10;

/// What of the environment is a setting of an MPI library or of what it uses.
constexpr auto setting_prefixes = std::array<std::string_view, 6>{
  "OMPI_MCA_", "PMIX_MCA_", "MPIR_CVAR_", "HYDRA_", "UCX_", "FI_"};

/// What launchers tell a process of itself.
constexpr auto job_names = std::array<std::string_view, 6>{
  "PMIX_NAMESPACE", "PMIX_RANK", "OMPI_COMM_WORLD_RANK",
  "PMI_RANK",       "PMI_FD",    "PMI_SIZE"};

int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
           std::chrono::system_clock::now().time_since_epoch())
    .count();
}

/// The numbers that a file of the kernel begins with.
std::vector<int64_t> numbers_in(const char* path) {
  auto result = std::vector<int64_t>{};
  auto file = std::ifstream{path};
  for (int64_t x = 0; file >> x && result.size() < 8;)
    result.push_back(x);
  return result;
}

std::string user_name() {
  const auto* found = ::getpwuid(::geteuid());
  return found != nullptr ? found->pw_name : std::to_string(::geteuid());
}

void look_at_limits(node_facts& to) {
  struct row {
    const char* name;
    int what;
    bool is_hard;
  };
  constexpr row rows[] = {{"n", RLIMIT_NOFILE, true},
                          {"u", RLIMIT_NPROC, false},
                          {"l", RLIMIT_MEMLOCK, false},
                          {"v", RLIMIT_AS, false},
                          {"f", RLIMIT_FSIZE, false}};
  for (const auto& x : rows) {
    auto limit = rlimit{};
    if (::getrlimit(x.what, &limit) != 0)
      continue;
    const auto n = x.is_hard ? limit.rlim_max : limit.rlim_cur;
    to.limits[x.name] = n == RLIM_INFINITY ? -1
                        : n > static_cast<rlim_t>(INT64_MAX)
                          ? INT64_MAX
                          : static_cast<int64_t>(n);
  }
}

/// Whether a file can be made there. It has no name, where that is possible.
directory_fact look_at_directory(const std::string& path) {
  auto result = directory_fact{path, {}, -1};
  auto fd = unique_fd{
    ::open(path.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR)};
  if (!fd && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
    auto name = path + "/troupe.XXXXXX";
    fd.reset(::mkostemp(name.data(), O_CLOEXEC));
    if (fd)
      ::unlink(name.c_str());
  }
  if (!fd)
    result.trouble = std::strerror(errno);
  struct statvfs room {};
  if (::statvfs(path.c_str(), &room) == 0)
    result.free_bytes =
      static_cast<int64_t>(room.f_bavail) * static_cast<int64_t>(room.f_frsize);
  return result;
}

/// Where processes start: they need not write there.
directory_fact look_at_work(const std::string& path) {
  auto result = directory_fact{path, {}, -1};
  auto failure = std::error_code{};
  if (!std::filesystem::is_directory(path, failure))
    result.trouble = failure ? failure.message() : "it is no directory";
  else if (::access(path.c_str(), X_OK) != 0)
    result.trouble = std::strerror(errno);
  return result;
}

/// Looks for a library as the loader does.
/// @param symbol A function without arguments that returns the version as text;
///               null: there is none.
library_fact look_at_library(const char* name, const char* symbol) {
  auto result = library_fact{name, {}, {}, {}};
  // It stays: what some libraries start cannot be taken back.
  auto* handle = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) {
    const auto* why = ::dlerror();
    result.trouble = why != nullptr ? why : "it cannot be loaded";
    return result;
  }
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr)
    result.path = map->l_name;
  if (symbol != nullptr)
    if (auto* found = ::dlsym(handle, symbol))
      if (const auto* text = reinterpret_cast<const char* (*)()>(found)())
        result.version = text;
  return result;
}

void look_at_settings(node_facts& to) {
  for (auto** x = environ; *x != nullptr; ++x) {
    const auto text = std::string_view{*x};
    const auto sign = std::min(text.find('='), text.size());
    const auto name = text.substr(0, sign);
    const auto is_one =
      std::any_of(setting_prefixes.begin(), setting_prefixes.end(),
                  [&](std::string_view y) { return name.rfind(y, 0) == 0; });
    if (is_one && sign < text.size())
      to.settings.push_back({std::string{name},
                             std::string{text.substr(sign + 1)}, "environment",
                             false});
    if (std::find(job_names.begin(), job_names.end(), name) != job_names.end())
      to.job_variables.emplace_back(name);
  }
  auto files = std::vector<std::pair<std::string, const char*>>{
    {"/etc/openmpi/openmpi-mca-params.conf", "OMPI_MCA_"},
    {"/etc/pmix-mca-params.conf", "PMIX_MCA_"}};
  if (const auto* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    files.emplace_back(std::string{home} + "/.openmpi/mca-params.conf",
                       "OMPI_MCA_");
    files.emplace_back(std::string{home} + "/.pmix/mca-params.conf",
                       "PMIX_MCA_");
  }
  for (const auto& [path, prefix] : files)
    if (const auto text = read_text_file(path))
      for (auto& x : read_mca_file(*text, prefix, path))
        to.settings.push_back(std::move(x));
  for (auto& x : to.settings)
    x.is_missing = !x.value.empty() && x.value.front() == '/'
                   && ::access(x.value.c_str(), F_OK) != 0;
}

/// The file has to be the same on all nodes, and a daemon has to begin with it.
void look_at_bootstrap(const probe_request& what, node_facts& to) {
  if (auto text = read_text_file(what.bootstrap))
    to.bootstrap_text = text->substr(0, most_bootstrap);
  if (const auto part = read_bootstrap(what.bootstrap, what.own_name); !part)
    to.bootstrap_trouble = reason_of(part.error());
}

/// Why munge vouches for nobody, and does not take the credential of another node.
struct munge_fact {
  std::string trouble;
  std::string foreign_trouble;
};

munge_fact try_munge(const std::string& foreign) {
  auto result = munge_fact{};
  auto own = std::string{};
  if (const auto why = make_munge_credential(own))
    result.trouble = reason_of(why);
  else if (const auto who = decode_munge({}, own); !who)
    result.trouble = reason_of(who.error());
  if (!foreign.empty() && result.trouble.empty())
    if (const auto who = decode_munge({}, foreign); !who)
      result.foreign_trouble = reason_of(who.error());
  return result;
}

/// Its library asks again and again where munged takes connections and says
/// nothing.
void look_at_munge(const probe_request& what, node_facts& to) {
  auto call =
    call_apart([foreign = what.credential] { return try_munge(foreign); });
  if (call.wait_for(munge_time) != std::future_status::ready) {
    to.munge_trouble = "munge: munged does not answer";
    return;
  }
  auto found = call.get();
  to.munge_trouble = std::move(found.trouble);
  to.foreign_munge_trouble = std::move(found.foreign_trouble);
}

void look_at_kernel(node_facts& to) {
  auto name = utsname{};
  if (::uname(&name) == 0)
    to.kernel = name.release;
  to.has_pidfd = static_cast<bool>(
    unique_fd{static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0))});
  to.has_proc = ::access("/proc/self/stat", R_OK) == 0;
  auto clock = timex{};
  to.clock_is_kept = ::adjtimex(&clock) != TIME_ERROR;
  const auto scope = numbers_in("/proc/sys/kernel/yama/ptrace_scope");
  if (!scope.empty())
    to.ptrace_scope = static_cast<int32_t>(scope.front());
  const auto ports = numbers_in("/proc/sys/net/ipv4/ip_local_port_range");
  if (ports.size() == 2) {
    to.first_port = static_cast<uint32_t>(ports[0]);
    to.last_port = static_cast<uint32_t>(ports[1]);
  }
}

/// A line from standard input; what there is if none comes.
std::string read_request() {
  const auto deadline = steady::now() + request_time;
  auto result = std::string{};
  while (result.size() < defaults::probe_request_bytes) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      deadline - steady::now());
    auto watched = pollfd{STDIN_FILENO, POLLIN, 0};
    if (left.count() <= 0
        || (::poll(&watched, 1, static_cast<int>(left.count())) < 0
            && errno != EINTR))
      break;
    if (watched.revents == 0)
      continue;
    char room[4096];
    const auto n = ::read(STDIN_FILENO, room, sizeof(room));
    if (n <= 0)
      break;
    result.append(room, static_cast<size_t>(n));
    if (const auto end = result.find('\n'); end != std::string::npos) {
      result.resize(end);
      break;
    }
  }
  return result;
}

/// Whoever reads the answer connects to us, and then ends our standard input.
void await_reader() {
  const auto deadline = steady::now() + reader_time;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      deadline - steady::now());
    auto watched = pollfd{STDIN_FILENO, POLLIN, 0};
    if (left.count() <= 0
        || (::poll(&watched, 1, static_cast<int>(left.count())) < 0
            && errno != EINTR))
      return;
    char room[256];
    if (watched.revents != 0 && ::read(STDIN_FILENO, room, sizeof(room)) <= 0)
      return;
  }
}

} // namespace

node_facts look_at_node(const probe_request& what, uint16_t port,
                        const std::string& port_trouble) {
  auto result = node_facts{};
  result.began_ms = now_ms();
  result.version = TROUPE_VERSION;
  result.caf = std::to_string(CAF_MAJOR_VERSION) + "."
               + std::to_string(CAF_MINOR_VERSION) + "."
               + std::to_string(CAF_PATCH_VERSION);
  auto failure = std::error_code{};
  result.program =
    std::filesystem::read_symlink("/proc/self/exe", failure).string();
  result.host = node_name();
  result.user = user_name();
  result.uid = ::geteuid();
  result.cpus = static_cast<uint32_t>(allowed_processors().size());
  look_at_kernel(result);
  look_at_limits(result);
  result.shared_memory = look_at_directory("/dev/shm");
  result.temporary = look_at_directory(system_tmpdir());
  if (!what.directory.empty())
    result.work = look_at_work(what.directory);
  if (const auto settings = load_settings({}); !settings)
    result.settings_trouble = reason_of(settings.error());
  if (!what.bootstrap.empty())
    look_at_bootstrap(what, result);
  auto networks = look_at_networks();
  result.interfaces = std::move(networks.interfaces);
  result.addresses = std::move(networks.addresses);
  result.port = port;
  result.port_trouble = port_trouble;
  auto names = std::vector<std::string>{result.host};
  names.insert(names.end(), what.names.begin(), what.names.end());
  result.names = resolve(names, name_time);
  look_at_munge(what, result);
  // Loaded by daemons when they first speak to others.
  result.libraries.push_back(look_at_library("libssl.so.3", nullptr));
  result.libraries.push_back(
    look_at_library("libpmix.so.2", "PMIx_Get_version"));
  result.libraries.push_back(look_at_library("libmpi.so.40", nullptr));
  result.libraries.push_back(look_at_library("libmpich.so.12", nullptr));
  look_at_settings(result);
  result.reached = try_to_reach(what.reach, reach_time);
  bound(result);
  result.time_ms = now_ms();
  return result;
}

int answer_probe() {
  const auto what = decode_probe_request(read_request());
  if (!what) {
    std::cerr << notice("trouped", reason_of(what.error()));
    return usage_error;
  }
  const auto port = open_any_port(backlog);
  const auto facts = look_at_node(*what, port.number, port.trouble);
  if (!(std::cout << encode(facts) << std::flush))
    return 1;
  await_reader();
  return 0;
}

} // namespace troupe
