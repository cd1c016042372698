#include "adapters/process/cleaner.hpp"

#include "adapters/files/directory.hpp"
#include "adapters/loop/thread_pool.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>
#include <string>
#include <vector>

namespace troupe {

namespace {

/// Names looked at in one directory.
constexpr size_t max_names = 65536;

/// What stays: absolute paths.
using kept_paths = std::set<std::string>;

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  return path;
}

/// Whether something below a directory stays.
bool leads_to_kept(const std::string& path, const kept_paths& kept) {
  const auto below = path + "/";
  const auto i = kept.lower_bound(below);
  return i != kept.end() && i->compare(0, below.size(), below) == 0;
}

void remove_path(const cleanup_path& what, const kept_paths& kept);

void remove_entry(const directory& parent, const std::string& name,
                  const file_identity& identity, const cleanup_path& what) {
  struct stat found {};
  if (fstatat(parent.fd(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0
      || found.st_uid != geteuid()
      || !(file_identity{found.st_dev, found.st_ino} == identity))
    return;
  if (!S_ISDIR(found.st_mode)) {
    if (!what.is_directory)
      parent.unlink(name, identity);
    return;
  }
  if (!what.is_directory)
    return;
  if (what.recursive && !what.leave_top)
    parent.remove_tree(name, identity);
  else if (!what.leave_top)
    unlinkat(parent.fd(), name.c_str(), AT_REMOVEDIR); // Fails if not empty.
}

/// Removes what is in a directory.
void remove_below(const std::string& path, const file_identity& identity,
                  bool recursive, const kept_paths& kept) {
  const auto top = directory::open(path);
  if (!top || !(top->identity() == identity))
    return;
  auto below = cleanup_path{};
  below.recursive = recursive;
  for (const auto& entry : top->list(max_names)) {
    below.path = path + "/" + entry;
    below.is_directory = false;
    remove_path(below, kept);
    below.is_directory = recursive;
    if (recursive)
      remove_path(below, kept);
  }
}

void remove_path(const cleanup_path& what, const kept_paths& kept) {
  const auto path = without_slash(what.path);
  const auto slash = path.rfind('/');
  if (slash == std::string::npos || slash + 1 == path.size()
      || kept.count(path) > 0)
    return;
  const auto parent = directory::open(slash == 0 ? "/" : path.substr(0, slash));
  if (!parent)
    return;
  const auto name = path.substr(slash + 1);
  const auto identity = parent->identify(name);
  if (!identity)
    return;
  const auto is_needed = what.is_directory && leads_to_kept(path, kept);
  if (what.leave_top || (is_needed && what.recursive))
    remove_below(path, *identity, what.recursive, kept);
  else if (!is_needed)
    remove_entry(*parent, name, *identity, what);
}

} // namespace

void remove_all(const std::vector<cleanup_path>& paths) {
  auto kept = kept_paths{};
  for (const auto& x : paths)
    if (!x.is_directory && x.leave_top)
      kept.insert(without_slash(x.path));
  for (const auto& x : paths)
    if (x.is_directory || !x.leave_top)
      remove_path(x, kept);
}

cleaner_actor::behavior_type
cleaner(cleaner_actor::stateful_pointer<cleaner_state> self,
        thread_pool* pool) {
  return {
    [=](remove_paths& request) -> caf::result<ack> {
      if (request.paths.empty())
        return ack{};
      auto promise = self->make_response_promise<ack>();
      auto work = [paths = std::move(request.paths)] { remove_all(paths); };
      auto done = [promise]() mutable { promise.deliver(ack{}); };
      if (!pool->post(std::move(work), std::move(done)))
        return make_error(status::resource_busy,
                          "too much is to be removed already; ask later");
      return promise;
    },
  };
}

} // namespace troupe
