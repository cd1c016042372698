#include "actors/control/cleanup_request.hpp"

#include "messages/attributes.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace troupe {

namespace {

/// The most paths that a job may register.
constexpr size_t max_paths = 4096;

/// A path may be removed if nobody can be surprised where it leads.
bool is_plain(const std::string& path) {
  return path.size() > 1 && path.front() == '/'
         && (path + "/").find("/../") == std::string::npos;
}

/// Adds the paths of a comma-separated list.
caf::error add(std::vector<cleanup_path>& result, const std::string& list,
               const cleanup_path& like) {
  for (size_t begin = 0; begin <= list.size();) {
    const auto end = std::min(list.find(',', begin), list.size());
    auto x = like;
    x.path = list.substr(begin, end - begin);
    if (!is_plain(x.path))
      return make_error(
        status::bad_param,
        "\"" + x.path
          + "\" is no absolute path without .. in it; write one from /");
    result.push_back(std::move(x));
    begin = end + 1;
  }
  return {};
}

} // namespace

caf::expected<std::vector<cleanup_path>>
read_cleanup(const job_control_request& request) {
  auto result = std::vector<cleanup_path>{};
  auto like = cleanup_path{};
  like.recursive = flag(request.directives, attr::cleanup_recursive)
                   && !flag(request.directives, attr::cleanup_empty);
  like.leave_top = flag(request.directives, attr::cleanup_leave_topdir);
  for (const auto& x : request.directives) {
    if (x.key == attr::cleanup_recursive || x.key == attr::cleanup_leave_topdir
        || x.key == attr::cleanup_empty)
      continue;
    const auto is_directory = x.key == attr::register_cleanup_dir;
    const auto is_kept = x.key == attr::cleanup_ignore;
    const auto* list = x.val.text();
    if ((!is_directory && !is_kept && x.key != attr::register_cleanup)
        || list == nullptr)
      return make_error(status::not_supported,
                        "job control by " + x.key
                          + " is not supported; leave it out");
    auto what = like;
    what.is_directory = is_directory;
    what.leave_top &= is_directory;
    if (is_kept)
      what = {{}, false, false, true};
    if (auto err = add(result, *list, what))
      return err;
  }
  if (result.empty())
    return make_error(
      status::not_supported,
      "job control without directives is not supported; give one");
  return result;
}

caf::error cleanup_list::add(std::vector<cleanup_path> paths) {
  if (paths_.size() + paths.size() > max_paths)
    return make_error(
      status::out_of_resource,
      "the job has registered " + std::to_string(max_paths)
        + " paths already; register a directory that holds the others");
  std::move(paths.begin(), paths.end(), std::back_inserter(paths_));
  return {};
}

std::vector<cleanup_path> cleanup_list::take() {
  return std::exchange(paths_, {});
}

} // namespace troupe
