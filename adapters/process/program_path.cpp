#include "adapters/process/program_path.hpp"

#include "messages/process.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

namespace troupe {

namespace {

using namespace std::string_literals;

/// What execvp(3) takes if there is no PATH.
constexpr auto default_path = std::string_view{"/bin:/usr/bin"};

std::string_view path_of(const std::vector<std::string>& env) {
  constexpr auto prefix = std::string_view{"PATH="};
  for (const auto& x : env)
    if (x.compare(0, prefix.size(), prefix) == 0)
      return std::string_view{x}.substr(prefix.size());
  return default_path;
}

/// Where `path` is for us, who are not in the working directory.
std::string from_here(const std::string& wdir, const std::string& path) {
  if (wdir.empty() || path.front() == '/')
    return path;
  return wdir + '/' + path;
}

/// @returns 0 if `path` can be executed, else an error number.
int check_executable(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0)
    return errno;
  if (S_ISDIR(info.st_mode))
    return EISDIR;
  if (!S_ISREG(info.st_mode))
    return EACCES;
  return faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

bool is_missing(int error) {
  return error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG;
}

launch_failure not_executable(const std::string& program, int error) {
  return {status::job_app_not_executable, "cannot execute " + program + ": "
                                            + std::strerror(error)
                                            + "; check its permissions"};
}

} // namespace

std::variant<std::string, launch_failure>
find_program(const start_process& request) {
  const auto& program = request.program;
  if (program.empty())
    return launch_failure{status::job_no_exe_specified,
                          "no program is given; name the one to start"};
  if (program.find('/') != std::string::npos) {
    const auto path = from_here(request.wdir, program);
    const auto error = check_executable(path);
    if (error == 0)
      return program;
    if (is_missing(error))
      return launch_failure{status::job_exe_not_found,
                            "cannot find the program " + path
                              + "; check the path"};
    return not_executable(path, error);
  }
  const auto path = path_of(request.env);
  auto worst = launch_failure{status::job_exe_not_found,
                              "cannot find the program " + program
                                + " in the PATH (" + std::string{path}
                                + "); give its full path or extend the PATH"};
  for (size_t begin = 0; begin <= path.size();) {
    const auto end = std::min(path.find(':', begin), path.size());
    const auto folder = path.substr(begin, end - begin);
    // An empty entry stands for the working directory; the slash keeps the
    // result from being looked up again.
    auto candidate =
      (folder.empty() ? "."s : std::string{folder}) + '/' + program;
    const auto error = check_executable(from_here(request.wdir, candidate));
    if (error == 0)
      return candidate;
    if (error == EACCES)
      worst = not_executable(candidate, error);
    begin = end + 1;
  }
  return worst;
}

launch_failure check_directory(const start_process& request) {
  const auto& wdir = request.wdir;
  if (wdir.empty())
    return {status::success, {}};
  const auto refuse = [&](status code, int error) {
    return launch_failure{code, "cannot start " + request.program
                                  + " in the directory " + wdir + ": "
                                  + std::strerror(error)
                                  + "; create it or name another one"};
  };
  struct stat info {};
  if (stat(wdir.c_str(), &info) != 0)
    return refuse(is_missing(errno) ? status::job_wdir_not_found
                                    : status::job_wdir_not_accessible,
                  errno);
  if (!S_ISDIR(info.st_mode))
    return refuse(status::job_wdir_not_accessible, ENOTDIR);
  if (faccessat(AT_FDCWD, wdir.c_str(), X_OK, AT_EACCESS) != 0)
    return refuse(status::job_wdir_not_accessible, errno);
  return {status::success, {}};
}

} // namespace troupe
