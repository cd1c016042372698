#include "adapters/local/rendezvous.hpp"

#include "adapters/local/server_presence.hpp"
#include "adapters/loop/read_write.hpp"
#include "adapters/sockets/system_error.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace troupe {

namespace {

/// The longest file that we read.
constexpr size_t max_file_size = size_t{64} << 10;

/// How long a server may take to write its file.
constexpr time_t time_to_write_s = 10;

/// The variable that names the system directory; null if none does.
const char* tmpdir_variable() {
  for (const auto* name : {"PMIX_SYSTEM_TMPDIR", "TMPDIR", "TEMP", "TMP"})
    if (const auto* value = ::getenv(name); value != nullptr && *value != '\0')
      return name;
  return nullptr;
}

std::string name_of(rendezvous_kind kind, const rendezvous_options& x) {
  switch (kind) {
    case rendezvous_kind::system:
      return "pmix.sys." + x.hostname;
    case rendezvous_kind::scheduler:
      return "pmix.sched." + x.hostname;
    case rendezvous_kind::system_controller:
      return "pmix.sysctrlr." + x.hostname;
    case rendezvous_kind::session:
      break;
    case rendezvous_kind::by_pid:
      return "pmix." + x.hostname + ".tool." + std::to_string(::getpid());
    case rendezvous_kind::by_nspace:
      return "pmix." + x.hostname + ".tool." + x.uri.server.nspace;
    case rendezvous_kind::by_own_name:
      return x.own_name;
  }
  return "pmix." + x.hostname + ".tool";
}

bool is_in_system_directory(rendezvous_kind x) {
  return x == rendezvous_kind::system || x == rendezvous_kind::scheduler
         || x == rendezvous_kind::system_controller;
}

bool is_file_name(const std::string& x) {
  return !x.empty() && x.size() <= NAME_MAX && x.find('/') == std::string::npos
         && x.find('\0') == std::string::npos;
}

std::string contents(const rendezvous_options& x) {
  const auto now = std::time(nullptr);
  std::array<char, 26> text{};
  if (::ctime_r(&now, text.data()) == nullptr)
    text[0] = '\n';
  wire::rendezvous result;
  result.uri = x.uri;
  result.version = x.version;
  result.pid = static_cast<uint32_t>(::getpid());
  result.owner = credentials{::geteuid(), ::getegid()};
  result.started = std::string{text.data()};
  result.started.erase(result.started.find_last_not_of('\n') + 1);
  return to_string(result);
}

/// What stands in our way.
struct obstacle {
  file_identity identity;
  time_t written = 0;
  std::string text;
};

/// Looks at `name`, which may be anything.
caf::expected<obstacle> inspect_file(const directory& where,
                                     const std::string& name) {
  const auto path = where.path_of(name);
  const auto odd = [&](const std::string& why) {
    return make_error(status::no_permissions, path + ": " + why);
  };
  const auto fd = unique_fd{
    ::openat(where.fd(), name.c_str(),
             O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
  if (!fd)
    return errno == ELOOP ? odd("is a link") : system_error("open " + path);
  struct stat st;
  if (::fstat(fd.get(), &st) != 0)
    return system_error("stat " + path);
  if (!S_ISREG(st.st_mode))
    return odd("is not a regular file");
  if (st.st_uid != ::geteuid())
    return odd("belongs to user " + std::to_string(st.st_uid));
  if (st.st_nlink != 1)
    return odd("has another name");
  auto text = read_up_to(fd.get(), max_file_size);
  if (!text)
    return system_error("read " + path);
  return obstacle{{st.st_dev, st.st_ino}, st.st_mtime, std::move(*text)};
}

/// Whether the server that wrote a file is no more. A file without number was left
/// in the middle of writing, or is being written: then it has the time of now.
bool is_of_the_dead(const obstacle& x) {
  const auto content = wire::parse_rendezvous(x.text);
  if (!content || !content->pid)
    return std::abs(std::time(nullptr) - x.written) > time_to_write_s;
  return is_server_gone(*content->pid, content->uri.port, x.written);
}

/// Whether a file is in nobody's use; one of this process is being replaced.
bool is_stale(const obstacle& x) {
  if (is_of_the_dead(x))
    return true;
  const auto content = wire::parse_rendezvous(x.text);
  return content && content->pid == static_cast<uint32_t>(::getpid());
}

/// A file under a name that nobody looks for.
struct draft {
  std::string name;
  file_identity identity;
};

caf::expected<draft> write_draft(const directory& where,
                                 const std::string& name,
                                 const std::string& text) {
  struct timespec now {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  auto result = draft{".troupe." + std::to_string(::getpid()) + "."
                        + std::to_string(now.tv_nsec),
                      {}};
  const auto path = where.path_of(name);
  const auto fd = unique_fd{::openat(
    where.fd(), result.name.c_str(),
    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR)};
  if (!fd)
    return system_error("create a file beside " + path);
  struct stat st;
  if (::fstat(fd.get(), &st) != 0)
    return system_error("stat " + path);
  result.identity = {st.st_dev, st.st_ino};
  if (!write_all(fd.get(), text)) {
    auto why = system_error("write");
    where.unlink(result.name, result.identity);
    return why;
  }
  return result;
}

int rename(const directory& where, const std::string& from,
           const std::string& to, unsigned flags) {
  return ::renameat2(where.fd(), from.c_str(), where.fd(), to.c_str(), flags);
}

/// Gives a file another name unless that name is taken.
int rename_to_new(const directory& where, const std::string& from,
                  const std::string& to) {
  const auto result = rename(where, from, to, RENAME_NOREPLACE);
  if (result == 0 || errno != EINVAL)
    return result;
  // A file system that only knows links, NFS for example.
  if (::linkat(where.fd(), from.c_str(), where.fd(), to.c_str(), 0) != 0)
    return -1;
  return ::unlinkat(where.fd(), from.c_str(), 0);
}

/// Puts the draft where a stale file is, which gets the draft's name and goes.
caf::error replace(const directory& where, const draft& x,
                   const std::string& name, const file_identity& stale) {
  if (rename(where, x.name, name, RENAME_EXCHANGE) != 0
      && (errno != EINVAL || rename(where, x.name, name, 0) != 0))
    return system_error("replace " + where.path_of(name));
  const auto taken_out = where.identify(x.name);
  if (!taken_out)
    return caf::none; // A file system that cannot exchange.
  if (taken_out == stale) {
    where.unlink(x.name, stale);
    return caf::none;
  }
  // Not what we looked at: put it back.
  rename(where, x.name, name, RENAME_EXCHANGE);
  return make_error(status::no_permissions,
                    where.path_of(name)
                      + ": was changed by somebody else; see who writes there");
}

/// Gives the draft its name.
caf::error install(const directory& where, const draft& x,
                   const std::string& name) {
  // Twice, because what stood in our way may have gone when we look at it.
  for (auto attempt = 0; attempt < 2; ++attempt) {
    if (rename_to_new(where, x.name, name) == 0)
      return caf::none;
    if (errno != EEXIST)
      return system_error("create " + where.path_of(name));
    const auto found = inspect_file(where, name);
    if (!found && !where.identify(name))
      continue;
    if (!found)
      return found.error();
    if (!is_stale(*found))
      return make_error(status::exists,
                        where.path_of(name)
                          + ": belongs to a server that runs; end that one, or "
                            "choose another name");
    return replace(where, x, name, found->identity);
  }
  return make_error(status::exists,
                    where.path_of(name)
                      + ": comes and goes; see who makes and removes it");
}

caf::expected<file_identity> write_file(const directory& where,
                                        const std::string& name,
                                        const std::string& text) {
  auto x = write_draft(where, name, text);
  if (!x)
    return std::move(x.error());
  if (auto err = install(where, *x, name)) {
    where.unlink(x->name, x->identity);
    return err;
  }
  return x->identity;
}

} // namespace

std::string system_tmpdir() {
  const auto* name = tmpdir_variable();
  return name != nullptr ? ::getenv(name) : "/tmp";
}

std::string blame_tmpdir(const std::string& directory, const std::string& why) {
  constexpr auto remedy =
    "set TMPDIR to a directory that exists, has room, and "
    "in which you may write";
  if (directory != system_tmpdir())
    return why;
  const auto* name = tmpdir_variable();
  if (name == nullptr)
    return why + "; " + remedy + " (it is not set, so /tmp is used)";
  auto result = std::string{name} + " is " + directory + ": " + why + "; ";
  if (std::string_view{name} != "TMPDIR")
    result += std::string{"unset "} + name + ", and ";
  return result + remedy;
}

void remove_stale_files(const std::string& system_directory,
                        const std::string& hostname) {
  const auto where = directory::open(system_directory);
  if (!where)
    return;
  auto x = rendezvous_options{};
  x.hostname = hostname;
  for (const auto kind : {rendezvous_kind::system, rendezvous_kind::scheduler,
                          rendezvous_kind::system_controller}) {
    const auto name = name_of(kind, x);
    if (!is_file_name(name) || !where->identify(name))
      continue;
    if (const auto found = inspect_file(*where, name);
        found && is_of_the_dead(*found))
      where->unlink(name, found->identity);
  }
}

std::string node_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

caf::expected<rendezvous_files>
rendezvous_files::publish(const rendezvous_options& x) {
  rendezvous_files result; // Removes what is done if we stop half way.
  const auto text = contents(x);
  for (const auto kind : x.kinds) {
    auto where = directory::open(
      is_in_system_directory(kind) ? x.system_directory : x.session_directory);
    if (!where)
      return std::move(where.error());
    auto name = name_of(kind, x);
    if (!is_file_name(name))
      return make_error(status::bad_param,
                        name + ": is not a file name; write one without /");
    auto identity = write_file(*where, name, text);
    if (!identity)
      return std::move(identity.error());
    result.entries_.push_back({std::move(*where), std::move(name), *identity});
  }
  return result;
}

rendezvous_files&
rendezvous_files::operator=(rendezvous_files&& other) noexcept {
  if (this != &other) {
    remove();
    entries_ = std::move(other.entries_);
    other.entries_.clear();
  }
  return *this;
}

rendezvous_files::~rendezvous_files() {
  remove();
}

bool rendezvous_files::are_in_place() const {
  return std::all_of(entries_.begin(), entries_.end(), [](const entry& x) {
    const auto now = directory::open(x.where.path());
    return now && now->identity() == x.where.identity()
           && x.where.identify(x.name) == x.identity;
  });
}

void rendezvous_files::touch() const noexcept {
  for (const auto& x : entries_)
    x.where.touch(x.name);
}

std::vector<std::string> rendezvous_files::paths() const {
  std::vector<std::string> result;
  for (const auto& x : entries_)
    result.push_back(x.where.path_of(x.name));
  return result;
}

void rendezvous_files::remove() noexcept {
  for (const auto& x : entries_)
    x.where.unlink(x.name, x.identity);
  entries_.clear();
}

} // namespace troupe
