#include "adapters/spool/spool.hpp"

#include "adapters/loop/thread_pool.hpp"
#include "adapters/spool/spool_store.hpp"
#include "base/answer.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace troupe {

namespace {

/// What the threads of the pool work on, one at a time.
struct spool_file {
  std::string directory;
  std::unique_ptr<spool_store> store;

  caf::error open() {
    if (store)
      return {};
    auto opened = spool_store::open(directory);
    if (!opened)
      return std::move(opened.error());
    store = std::move(*opened);
    return {};
  }
};

/// Work on the file, and what follows on the thread of the loop.
struct spool_job {
  std::function<void()> work;
  std::function<void()> done;
};

/// Requests in their order. Shared with what the pool calls, which may outlive
/// the actor.
struct spool_queue : std::enable_shared_from_this<spool_queue> {
  thread_pool* pool = nullptr;
  std::shared_ptr<spool_file> file = std::make_shared<spool_file>();
  std::deque<spool_job> jobs;
  bool is_busy = false;

  void add(spool_job x) {
    jobs.push_back(std::move(x));
    go_on();
  }

  void go_on() {
    while (!is_busy && !jobs.empty()) {
      auto job = std::move(jobs.front());
      jobs.pop_front();
      is_busy = true;
      auto self = shared_from_this();
      if (pool->post(job.work, [self, done = job.done] {
            self->is_busy = false;
            done();
            self->go_on();
          }))
        return;
      // Too much waits on this node: the request fails as if the disk did.
      is_busy = false;
      job.done();
    }
  }
};

struct spool_state {
  static inline const char* name = "spool";

  std::shared_ptr<spool_queue> queue = std::make_shared<spool_queue>();
};

TROUPE_SELF_POINTER(spool_actor, spool_state);

caf::result<ack> write(self_pointer self, write_spool& request) {
  auto owed = std::make_shared<answer<ack>>(self->make_response_promise<ack>());
  auto promise = owed->promise();
  const auto error = std::make_shared<caf::error>(make_error(
    status::resource_busy, "too much work waits on this node; ask later"));
  const auto file = self->state.queue->file;
  self->state.queue->add(
    {[file, error,
      request = std::make_shared<write_spool>(std::move(request))] {
       *error = file->open();
       if (!*error)
         *error = file->store->write(*request);
     },
     [owed, error] {
       if (*error)
         owed->fail(std::move(*error));
       else
         owed->give(ack{});
     }});
  return promise;
}

caf::result<spool_content> read(self_pointer self, read_spool& request) {
  auto owed = std::make_shared<answer<spool_content>>(
    self->make_response_promise<spool_content>());
  auto promise = owed->promise();
  // What could not be looked for is not lost.
  const auto found = std::make_shared<std::optional<spool_content>>();
  const auto file = self->state.queue->file;
  self->state.queue->add(
    {[file, found, request = std::make_shared<read_spool>(std::move(request))] {
       *found = file->store ? file->store->read(*request) : spool_content{};
     },
     [owed, found] {
       if (*found)
         owed->give(std::move(**found));
       else
         owed->fail(status::resource_busy,
                    "too much work waits on this node; ask later");
     }});
  return promise;
}

void erase(self_pointer self, erase_spool& request) {
  const auto file = self->state.queue->file;
  self->state.queue->add(
    {[file, request = std::make_shared<erase_spool>(std::move(request))] {
       if (!file->store)
         return;
       file->store->erase(*request);
       // The space of a log that is over goes back to the file system.
       if (request->numbers.empty() && file->store->is_empty())
         file->store.reset();
     },
     [] {
       // Nobody waits for it.
     }});
}

spool_actor::behavior_type behavior(self_pointer self, thread_pool* pool,
                                    std::string directory) {
  self->state.queue->pool = pool;
  self->state.queue->file->directory = std::move(directory);
  return {
    [self](write_spool& request) { return write(self, request); },
    [self](read_spool& request) { return read(self, request); },
    [self](erase_spool& request) { erase(self, request); },
  };
}

} // namespace

spool_actor spawn_spool(caf::actor_system& sys, thread_pool& pool,
                        std::string directory) {
  return sys.spawn(behavior, &pool, std::move(directory));
}

} // namespace troupe
