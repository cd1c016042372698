#include "adapters/settings/settings_file.hpp"

#include "adapters/loop/read_write.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "adapters/settings/settings_text.hpp"
#include "messages/status.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace troupe {

namespace {

std::string_view variable(const char* name) {
  const auto* text = ::getenv(name);
  return text != nullptr ? text : "";
}

/// @returns one fault.
std::vector<std::string> unreadable(const std::string& path,
                                    const std::string& why) {
  return {path + ": cannot be read: " + why
          + "; put it right, or take it away for the defaults"};
}

/// Whether a user's file may say what holds for us: `sudo -E` leaves root the
/// home of somebody else, and root takes settings of root alone.
bool is_trusted(const struct stat& st) {
  return ::geteuid() != 0 || (st.st_uid == 0 && (st.st_mode & S_IWOTH) == 0);
}

/// As `read_settings_file`.
/// @param must_be_trusted Whether it is to hold for us and is in a home.
std::vector<std::string> read_file(const std::string& path,
                                   bool must_be_trusted, site_settings& out) {
  // A pipe or a terminal must not hold us up.
  const auto fd = unique_fd{
    ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
  if (!fd && (errno == ENOENT || errno == ENOTDIR))
    return {};
  struct stat st;
  if (!fd || ::fstat(fd.get(), &st) != 0)
    return unreadable(path, std::strerror(errno));
  if (!S_ISREG(st.st_mode))
    return unreadable(path, "it is no file");
  if (must_be_trusted && !is_trusted(st))
    return {path
            + ": root takes no settings that others may write; chown it to "
              "root and chmod it 644, or set HOME to that of root"};
  // One byte more than there may be.
  const auto text = read_up_to(fd.get(), defaults::settings_file_bytes + 1);
  if (!text)
    return unreadable(path, std::strerror(errno));
  return read_settings(*text, path, out);
}

} // namespace

std::string user_settings_file() {
  auto base = std::string{variable("XDG_CONFIG_HOME")};
  if (base.empty() || base.front() != '/') {
    const auto home = variable("HOME");
    if (home.empty() || home.front() != '/')
      return {};
    base = std::string{home} + "/.config";
  }
  return base + "/troupe/troupe.toml";
}

std::vector<std::string> read_settings_file(const std::string& path,
                                            site_settings& out) {
  return read_file(path, false, out);
}

caf::expected<site_settings>
load_settings(const std::vector<std::string>& words) {
  auto result = site_settings{};
  for (const auto& path :
       {std::string{system_settings_file}, user_settings_file()}) {
    if (path.empty())
      continue;
    const auto faults = read_file(path, path != system_settings_file, result);
    if (faults.empty())
      continue;
    const auto others = faults.size() - 1;
    return make_error(status::bad_param,
                      faults.front()
                        + (others > 0
                             ? " (and " + std::to_string(others)
                                 + " more: troupe config check " + path + ")"
                             : std::string{}));
  }
  if (auto err = result.apply_environment(environ))
    return err;
  if (auto err = result.apply_words(words, "--set"))
    return err;
  return result;
}

} // namespace troupe
