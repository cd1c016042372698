#include "tools/preload.hpp"

#include "adapters/sockets/system_error.hpp"

#include <caf/expected.hpp>

#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace troupe {

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
    return make_error(status::error,
                      words.front() + ": " + std::strerror(code));
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
    return make_error(status::error,
                      "cannot copy files: /proc is not there to find troupe");
  for (const auto& x : files) {
    struct stat what = {};
    if (::stat(x.from.c_str(), &what) != 0)
      return system_error("cannot copy " + x.from);
    if (!S_ISREG(what.st_mode))
      return make_error(status::bad_param,
                        "cannot copy " + x.from + ": it is no file");
    const auto ended =
      run_to_end(preload_command(x, self.string(), nodes, what.st_mode & 0777));
    if (!ended)
      return ended.error();
    if (*ended != 0)
      return make_error(status::error, "could not copy " + x.from
                                         + " to all nodes as " + x.to);
  }
  return caf::none;
}

} // namespace troupe
