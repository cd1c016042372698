#include "adapters/process/cleaner.hpp"

#include "adapters/local/directory.hpp"
#include "adapters/loop/thread_pool.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace troupe {

namespace {

/// Names looked at in one directory.
constexpr size_t max_names = 65536;

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

} // namespace

void remove_path(const cleanup_path& what) {
  auto path = what.path;
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  const auto slash = path.rfind('/');
  if (slash == std::string::npos || slash + 1 == path.size())
    return;
  const auto parent = directory::open(slash == 0 ? "/" : path.substr(0, slash));
  if (!parent)
    return;
  const auto name = path.substr(slash + 1);
  const auto identity = parent->identify(name);
  if (!identity)
    return;
  if (!what.leave_top) {
    remove_entry(*parent, name, *identity, what);
    return;
  }
  const auto top = directory::open(path);
  if (!top || !(top->identity() == identity))
    return;
  auto below = what;
  below.leave_top = false;
  for (const auto& entry : top->list(max_names))
    if (const auto x = top->identify(entry)) {
      below.is_directory = false;
      remove_entry(*top, entry, *x, below);
      below.is_directory = what.recursive;
      remove_entry(*top, entry, *x, below);
    }
}

cleaner_actor::behavior_type
cleaner(cleaner_actor::stateful_pointer<cleaner_state> self,
        thread_pool* pool) {
  return {
    [=](remove_paths& request) -> caf::result<ack> {
      if (request.paths.empty())
        return ack{};
      auto promise = self->make_response_promise<ack>();
      auto work = [paths = std::move(request.paths)] {
        for (const auto& x : paths)
          remove_path(x);
      };
      auto done = [promise]() mutable { promise.deliver(ack{}); };
      if (!pool->post(std::move(work), std::move(done)))
        return make_error(status::resource_busy,
                          "too much is to be removed already");
      return promise;
    },
  };
}

} // namespace troupe
