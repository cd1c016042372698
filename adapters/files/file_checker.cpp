#include "adapters/files/file_checker.hpp"

#include "actors/monitors/file_batches.hpp"
#include "adapters/files/file_look.hpp"
#include "adapters/files/user_rights.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/loop_system.hpp"
#include "adapters/loop/read_write.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "config/defaults.hpp"

#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

namespace troupe {

namespace defaults {

/// How many files a thread looks at in a row.
inline constexpr size_t file_check_batch = 1024;

/// Paths that wait to be looked at.
inline constexpr size_t file_checks_waiting = 65536;

} // namespace defaults

namespace {

/// What reminds the actor of what.
constexpr uint64_t flush_id = 1;
constexpr uint64_t table_id = 2;
constexpr uint64_t table_late_id = 3;
constexpr uint64_t tick_id = 4;
constexpr uint64_t first_batch_id = 16;

constexpr auto grace_of_threads = std::chrono::milliseconds{100};

/// Shared with a thread, and left to it if it hangs.
struct batch_work {
  file_batches::batch what;
  std::vector<file_batches::finding> found;
  std::atomic<size_t> progress{0};
};

using look_function =
  std::function<look_result(const std::string& point, const std::string& path)>;

void look_at_all(batch_work& x, const look_function& look) {
  const auto rights = user_rights{x.what.who};
  for (const auto& path : x.what.paths) {
    auto found = file_batches::finding{};
    found.stamp.state = file_state::no_permission;
    if (rights.held()) {
      auto result = look(x.what.point, path);
      found.stamp = result.stamp;
      found.elsewhere = tidy_path(result.elsewhere);
      if (result.elsewhere.empty())
        found.elsewhere.clear();
    }
    x.found.push_back(std::move(found));
    ++x.progress;
  }
}

struct file_checker_state {
  static inline const char* name = "file-checker";

  file_checker_options options;
  std::optional<file_batches> batches;

  mount_table mounts;
  std::optional<file_batches::time> mounts_read;

  /// The list of mounts, while a thread reads it.
  std::shared_ptr<std::string> reading;

  std::map<uint64_t, std::shared_ptr<batch_work>> work;
  std::map<uint64_t, caf::typed_response_promise<file_stamps>> owed;
  uint64_t next_request = 1;

  bool flush_is_due = false;
  std::optional<file_batches::time> tick_at;
};

TROUPE_SELF_POINTER(file_checker_actor, file_checker_state);

file_batches::time now(self_pointer self) {
  return self->clock().now().time_since_epoch();
}

std::optional<file_batches::place> find_place(const file_checker_state& state,
                                              const std::string& path) {
  const auto* mount = state.mounts.find(path);
  if (mount == nullptr)
    return std::nullopt;
  return file_batches::place{mount->id, mount->point, mount->keeps_access_time,
                             mount->access_time_is_relative,
                             mount->is_of_kernel};
}

bool begin(self_pointer self, const file_batches::batch& what) {
  auto work = std::make_shared<batch_work>();
  work->what = what;
  const auto done = [to = file_checker_actor{self}, number = what.number] {
    caf::anon_send(to, deadline{first_batch_id + number});
  };
  if (!self->state.options.look_on(
        [work, look = self->state.options.look] { look_at_all(*work, look); },
        done))
    return false;
  self->state.work[what.number] = std::move(work);
  return true;
}

/// Has the actor look when the next batch is late.
void arm(self_pointer self) {
  auto& state = self->state;
  const auto next = state.batches->next_tick();
  if (!next || (state.tick_at && *state.tick_at <= *next))
    return;
  state.tick_at = next;
  self->delayed_send(file_checker_actor{self},
                     std::max(*next - now(self), file_batches::time{0}),
                     deadline{tick_id});
}

void flush(self_pointer self) {
  self->state.batches->flush(now(self));
  arm(self);
}

/// Begins what has come in since the last time, with a list of mounts that is
/// not too old.
void refresh(self_pointer self) {
  auto& state = self->state;
  state.flush_is_due = false;
  if (state.mounts_read
      && now(self) - *state.mounts_read < defaults::mount_table_age) {
    flush(self);
    return;
  }
  if (state.reading)
    return;
  auto text = std::make_shared<std::string>();
  const auto work = [text, read = state.options.mounts] { *text = read(); };
  const auto done = [to = file_checker_actor{self}] {
    caf::anon_send(to, deadline{table_id});
  };
  if (!state.options.read_on(work, done)) {
    flush(self);
    return;
  }
  state.reading = std::move(text);
  self->delayed_send(file_checker_actor{self}, defaults::file_check_patience,
                     deadline{table_late_id});
}

void take_table(self_pointer self) {
  auto& state = self->state;
  if (!state.reading)
    return;
  state.mounts = mount_table{*state.reading};
  state.mounts_read = now(self);
  state.reading = nullptr;
  flush(self);
}

void take_batch(self_pointer self, uint64_t number) {
  auto node = self->state.work.extract(number);
  if (node.empty())
    return;
  self->state.batches->looked(number, std::move(node.mapped()->found),
                              now(self));
  arm(self);
}

void remind(self_pointer self, uint64_t id) {
  auto& state = self->state;
  switch (id) {
    case flush_id:
      refresh(self);
      break;
    case table_id:
      take_table(self);
      break;
    case table_late_id:
      // As well as it can be done with the old one.
      if (state.reading)
        flush(self);
      break;
    case tick_id:
      state.tick_at = std::nullopt;
      state.batches->tick(now(self));
      arm(self);
      break;
    default:
      take_batch(self, id - first_batch_id);
  }
}

caf::result<file_stamps> check(self_pointer self, check_files& what) {
  auto& state = self->state;
  if (what.paths.size() > defaults::file_check_paths)
    return make_error(status::bad_param,
                      "at most " + std::to_string(defaults::file_check_paths)
                        + " files can be looked at together; name fewer");
  for (auto& path : what.paths) {
    if (path.empty() || path.front() != '/' || path.size() >= PATH_MAX
        || path.find('\0') != std::string::npos)
      return make_error(status::bad_param,
                        "not an absolute path of a file: " + path.substr(0, 64)
                          + "; write one from /");
    path = tidy_path(path);
  }
  auto promise = self->make_response_promise<file_stamps>();
  const auto number = state.next_request++;
  state.owed[number] = promise;
  if (!state.batches->add(number, std::move(what))) {
    state.owed.erase(number);
    promise.deliver(
      make_error(status::resource_busy,
                 "too many looks at files wait on this node; ask later"));
    return promise;
  }
  if (!std::exchange(state.flush_is_due, true))
    self->send(file_checker_actor{self}, deadline{flush_id});
  return promise;
}

file_batches make_batches(self_pointer self) {
  auto bounds = file_batches::limits{};
  bounds.waiting = defaults::file_checks_waiting;
  bounds.per_batch = defaults::file_check_batch;
  bounds.hung_per_user = self->state.options.limits.hung_per_user;
  bounds.patience = self->state.options.limits.patience;
  auto out = file_batches::effects{};
  out.find = [self](const std::string& path) {
    return find_place(self->state, path);
  };
  out.begin = [self](const file_batches::batch& x) { return begin(self, x); };
  out.progress = [self](uint64_t number) {
    const auto i = self->state.work.find(number);
    return i != self->state.work.end() ? i->second->progress.load() : 0;
  };
  out.answer = [self](uint64_t request, file_stamps x) {
    auto node = self->state.owed.extract(request);
    if (!node.empty())
      node.mapped().deliver(std::move(x));
  };
  return {bounds, std::move(out)};
}

file_checker_actor::behavior_type file_checker(self_pointer self,
                                               file_checker_options options) {
  self->state.options = std::move(options);
  if (!self->state.options.look)
    self->state.options.look = look_at;
  self->state.batches.emplace(make_batches(self));
  return {
    [self](check_files& what) { return check(self, what); },
    [self](get_gauges) {
      const auto& x = *self->state.batches;
      return gauge_list{
        {{"files.waiting", x.waiting(), defaults::file_checks_waiting, "paths"},
         {"files.under_way", x.under_way(), 0, "batches"},
         {"files.hung", x.hung(), self->state.options.limits.threads,
          "mounts"}}};
    },
    [self](const deadline& x) { remind(self, x.id); },
  };
}

/// /proc/self/mountinfo, or as much of it as may be.
std::string read_mounts() {
  const auto fd =
    unique_fd{::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)};
  return read_up_to(fd.get(), defaults::mount_table_bytes).value_or("");
}

} // namespace

file_checker_actor spawn_file_checker(caf::actor_system& sys,
                                      file_checker_options options) {
  return sys.spawn(file_checker, std::move(options));
}

struct file_checking::threads {
  /// Of the loop.
  thread_pool* common = nullptr;

  std::unique_ptr<thread_pool> own;
};

file_checking::file_checking(loop_system& loop, const file_check_limits& limits)
  : threads_(std::make_shared<threads>()) {
  auto bounds = thread_pool::limits{};
  bounds.threads = limits.threads;
  bounds.grace = grace_of_threads;
  threads_->own = std::make_unique<thread_pool>(loop.loop(), bounds);
  threads_->common = &loop.pool();
  auto options = file_checker_options{};
  options.look_on = [x = threads_](auto work, auto done) {
    return x->own && x->own->post(std::move(work), std::move(done));
  };
  options.read_on = [x = threads_](auto work, auto done) {
    return x->common != nullptr
           && x->common->post(std::move(work), std::move(done));
  };
  options.mounts = read_mounts;
  options.limits = limits;
  checker_ = spawn_file_checker(loop.actors(), std::move(options));
}

file_checking::~file_checking() {
  caf::anon_send_exit(checker_, caf::exit_reason::user_shutdown);
  threads_->common = nullptr;
  threads_->own.reset();
}

} // namespace troupe
