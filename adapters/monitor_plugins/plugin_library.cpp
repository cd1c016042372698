#include "adapters/monitor_plugins/plugin_library.hpp"

#include "adapters/loop/unique_fd.hpp"
#include "adapters/monitor_plugins/c_watcher.hpp"
#include "config/defaults.hpp"
#include "messages/status.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <exception>
#include <optional>

namespace troupe {

namespace {

constexpr auto entry_point = "troupe_monitor_kind_1";
constexpr auto cxx_entry_point = "troupe_monitor_plugin";

constexpr double shortest_interval = 0.01;
constexpr double longest_interval = 31536000;

caf::error unusable(const std::string& path, const std::string& why) {
  return make_error(status::bad_param, "monitor plugin " + path + ": " + why);
}

/// Why what `fd` is must not be trusted.
std::optional<std::string> danger_of(int fd, uid_t owner, mode_t kind) {
  struct stat found {};
  if (::fstat(fd, &found) != 0)
    return std::strerror(errno);
  if ((found.st_mode & S_IFMT) != kind)
    return kind == S_IFDIR ? "no directory" : "no regular file";
  if (found.st_uid != 0 && found.st_uid != owner)
    return "belongs to user " + std::to_string(found.st_uid)
           + "; it must belong to root or to the daemon's user";
  if ((found.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return "others may write to it; take that right away (chmod go-w)";
  return std::nullopt;
}

unique_fd open_to_check(const std::string& path, int flags) {
  return unique_fd{::open(path.c_str(), flags | O_RDONLY | O_CLOEXEC
                                          | O_NOFOLLOW | O_NONBLOCK)};
}

std::string dl_reason() {
  const auto* const text = ::dlerror();
  return text == nullptr ? "unknown error" : text;
}

/// Why a kind cannot be used.
std::optional<std::string> fault_of(const troupe_monitor_kind* x) {
  if (x == nullptr)
    return "its entry point gives nothing";
  if (x->version != TROUPE_MONITOR_VERSION)
    return "it is made for version " + std::to_string(x->version)
           + ", this daemon knows version "
           + std::to_string(TROUPE_MONITOR_VERSION)
           + "; build it with this daemon's troupe_monitor.h";
  if (x->name == nullptr || x->start == nullptr || x->check == nullptr
      || x->stop == nullptr)
    return "its name or one of its functions is missing";
  if (!std::isfinite(x->interval) || x->interval < shortest_interval
      || x->interval > longest_interval)
    return "its interval must be 0.01 to 31536000 seconds";
  return std::nullopt;
}

/// Takes the kinds of a plugin in C++.
/// @returns why they cannot be used.
std::optional<std::string> take_kinds(const monitor_plugin& from,
                                      monitor_kind_map& kinds) {
  if (from.abi == nullptr || from.add == nullptr
      || std::strcmp(from.abi, TROUPE_MONITOR_ABI) != 0)
    return std::string{"it is made for "}
           + (from.abi == nullptr ? "nothing" : from.abi)
           + ", this daemon is " TROUPE_MONITOR_ABI
             "; build it with this daemon's headers";
  try {
    from.add(kinds);
  } catch (const std::exception& why) {
    return std::string{"does not tell its kinds: "} + why.what();
  } catch (...) {
    return "throws an exception instead of telling its kinds";
  }
  if (kinds.empty())
    return "has no kind of monitors";
  return std::nullopt;
}

/// The same for a plugin in either language.
std::optional<std::string> take_kinds(void* library, monitor_kind_map& kinds) {
  if (const auto* x = ::dlsym(library, cxx_entry_point))
    return take_kinds(*static_cast<const monitor_plugin*>(x), kinds);
  using entry = const troupe_monitor_kind* (*)();
  const auto get = reinterpret_cast<entry>(::dlsym(library, entry_point));
  if (get == nullptr)
    return std::string{"defines neither "} + cxx_entry_point + " nor "
           + entry_point + "(); see docs/extending.md";
  const auto* const kind = get();
  if (auto why = fault_of(kind))
    return why;
  kinds.emplace(kind->name, c_watchers(kind));
  return std::nullopt;
}

bool is_plugin(const std::string& name) {
  constexpr std::string_view ending = ".so";
  return name.size() > ending.size() && name.front() != '.'
         && std::string_view{name}.substr(name.size() - ending.size())
              == ending;
}

} // namespace

caf::expected<plugin_library> load_plugin(const std::string& path,
                                          uid_t owner) {
  auto fd = open_to_check(path, 0);
  if (!fd)
    return unusable(path, errno == ELOOP ? "a link; name the file itself"
                                         : std::strerror(errno));
  if (const auto why = danger_of(fd.get(), owner, S_IFREG))
    return unusable(path, *why);
  // By the descriptor: this is the file that was checked.
  const auto checked = "/proc/self/fd/" + std::to_string(fd.get());
  auto* const library = ::dlopen(checked.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return unusable(path, "cannot be loaded: " + dl_reason()
                            + "; build it as docs/extending.md says");
  // To the loader this is the name of what it has loaded, for good: with the
  // same number the next plugin would be this one.
  fd.release();
  auto result = plugin_library{path, {}};
  if (const auto why = take_kinds(library, result.kinds)) {
    result.kinds.clear(); // Their code goes with the library.
    ::dlclose(library);
    return unusable(path, *why);
  }
  return result;
}

plugin_set load_plugins(const std::string& directory, uid_t owner) {
  auto result = plugin_set{};
  const auto complain = [&](const std::string& why) {
    result.complaints.push_back("monitor plugins in " + directory + ": " + why);
  };
  auto fd = open_to_check(directory, O_DIRECTORY);
  if (!fd) {
    complain(std::strerror(errno));
    return result;
  }
  if (const auto why = danger_of(fd.get(), owner, S_IFDIR)) {
    complain(*why);
    return result;
  }
  const auto dir =
    std::unique_ptr<DIR, int (*)(DIR*)>{::fdopendir(fd.get()), closedir};
  if (dir == nullptr) {
    complain(std::strerror(errno));
    return result;
  }
  fd.release();
  auto names = std::vector<std::string>{};
  while (const auto* x = ::readdir(dir.get()))
    if (is_plugin(x->d_name))
      names.emplace_back(x->d_name);
  std::sort(names.begin(), names.end());
  if (names.size() > defaults::monitor_plugins) {
    complain(std::to_string(names.size()) + " files, of which the first "
             + std::to_string(defaults::monitor_plugins)
             + " are used; remove the others");
    names.resize(defaults::monitor_plugins);
  }
  for (const auto& name : names) {
    auto loaded = load_plugin(directory + "/" + name, owner);
    if (loaded)
      result.loaded.push_back(std::move(*loaded));
    else
      result.complaints.push_back(reason_of(loaded.error()));
  }
  return result;
}

} // namespace troupe
