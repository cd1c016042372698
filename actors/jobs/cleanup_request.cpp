#include "actors/jobs/cleanup_request.hpp"

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

/// The paths of a comma-separated list.
caf::expected<std::vector<std::string>> read_paths(const std::string& list) {
  auto result = std::vector<std::string>{};
  for (size_t begin = 0; begin <= list.size();) {
    const auto end = std::min(list.find(',', begin), list.size());
    auto path = list.substr(begin, end - begin);
    if (!is_plain(path))
      return make_error(status::bad_param,
                        "\"" + path
                          + "\" is no absolute path without .. in it");
    result.push_back(std::move(path));
    begin = end + 1;
  }
  return result;
}

bool says_how(const std::string& key) {
  return key == attr::cleanup_recursive || key == attr::cleanup_leave_topdir
         || key == attr::cleanup_empty;
}

/// Whether `path` is `folder` or below it.
bool is_within(const std::string& path, const std::string& folder) {
  return path.compare(0, folder.size(), folder) == 0
         && (path.size() == folder.size() || folder.back() == '/'
             || path[folder.size()] == '/');
}

bool spares(const cleanup_path& x, const std::string& kept) {
  const auto takes_all = x.is_directory && (x.recursive || x.leave_top);
  return !(takes_all ? is_within(kept, x.path) : kept == x.path);
}

} // namespace

caf::expected<cleanup_request>
read_cleanup(const job_control_request& request) {
  auto result = cleanup_request{};
  auto like = cleanup_path{};
  like.recursive = flag(request.directives, attr::cleanup_recursive)
                   && !flag(request.directives, attr::cleanup_empty);
  like.leave_top = flag(request.directives, attr::cleanup_leave_topdir);
  for (const auto& x : request.directives) {
    if (says_how(x.key))
      continue;
    const auto is_kept = x.key == attr::cleanup_ignore;
    const auto is_directory = x.key == attr::register_cleanup_dir;
    const auto* list = x.val.text();
    if ((!is_kept && !is_directory && x.key != attr::register_cleanup)
        || list == nullptr)
      return make_error(status::not_supported,
                        "job control by " + x.key + " is not supported");
    auto paths = read_paths(*list);
    if (!paths)
      return std::move(paths.error());
    like.is_directory = is_directory;
    for (auto& path : *paths)
      if (is_kept) {
        result.kept.push_back(std::move(path));
      } else {
        like.path = std::move(path);
        result.paths.push_back(like);
      }
  }
  if (result.paths.empty() && result.kept.empty())
    return make_error(status::not_supported,
                      "job control without directives is not supported");
  for (const auto& x : result.paths)
    if (std::find(result.kept.begin(), result.kept.end(), x.path)
        != result.kept.end())
      return make_error(status::conflicting_cleanup_directives,
                        x.path + " is to be removed and to be left alone");
  return result;
}

caf::error cleanup_list::add(cleanup_request what) {
  if (all_.paths.size() + all_.kept.size() + what.paths.size()
        + what.kept.size()
      > max_paths)
    return make_error(status::out_of_resource,
                      "the job may register " + std::to_string(max_paths)
                        + " paths for cleanup, and no more");
  std::move(what.paths.begin(), what.paths.end(),
            std::back_inserter(all_.paths));
  std::move(what.kept.begin(), what.kept.end(), std::back_inserter(all_.kept));
  return caf::none;
}

std::vector<cleanup_path> cleanup_list::take() {
  auto all = std::exchange(all_, {});
  auto& paths = all.paths;
  paths.erase(std::remove_if(paths.begin(), paths.end(),
                             [&](const cleanup_path& x) {
                               return !std::all_of(all.kept.begin(),
                                                   all.kept.end(),
                                                   [&](const auto& kept) {
                                                     return spares(x, kept);
                                                   });
                             }),
              paths.end());
  return std::move(paths);
}

} // namespace troupe
