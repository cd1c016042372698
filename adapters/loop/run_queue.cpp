#include "adapters/loop/run_queue.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/memory_reserve.hpp"
#include "adapters/loop/send_home.hpp"
#include "adapters/loop/turn.hpp"

#include <caf/abstract_actor.hpp>
#include <caf/actor_control_block.hpp>
#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/logger.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/system_messages.hpp>

#include <new>
#include <utility>

namespace troupe {

namespace {

/// How long to wait for memory that others may give back.
constexpr auto memory_pause = std::chrono::milliseconds{10};

bool has_begun(const caf::scheduled_actor& x) {
  return x.getf(caf::abstract_actor::is_initialized_flag);
}

/// Urgent messages come first, and no handler can refuse this one.
void send_kill(caf::abstract_actor& x, caf::execution_unit* host) {
  x.eq_impl(caf::make_message_id(caf::message_priority::high), nullptr, host,
            caf::exit_msg{x.address(), caf::exit_reason::kill});
}

} // namespace

run_queue::run_queue(caf::actor_system& sys, event_loop& loop,
                     actor_roster& roster)
  : caf::execution_unit(&sys), loop_(loop), roster_(roster),
    ready_(loop.base(), -1, 0, [this] { run_turn(); }) {
  // nop
}

run_queue::~run_queue() {
  take_posted();
  while (auto* job = pop())
    caf::intrusive_ptr_release(job);
}

void run_queue::post(caf::resumable* job) {
  if (send_home(job, system()))
    return;
  if (loop_.in_loop_thread()) {
    jobs_.push_back(job);
    if (is_running_jobs_ || is_turn_due_)
      return;
    is_turn_due_ = true;
    ready_.fire_now();
    return;
  }
  {
    const auto guard = std::lock_guard{mutex_};
    posted_.push_back(job);
    if (posted_.size() > 1)
      return; // The loop has been told.
  }
  ready_.fire_after(std::chrono::nanoseconds::zero());
}

void run_queue::run_turn() {
  is_turn_due_ = false;
  is_running_jobs_ = true;
  // CAF's own log, which nobody writes, would note twice per message whose it
  // is, in a table of threads. Each `spawn` gives the thread that logger again.
  caf::logger::set_current_actor_system(nullptr);
  const auto has_all = take_posted();
  for (turn t; !jobs_.empty() && t.next();)
    run(pop());
  is_running_jobs_ = false;
  if (!has_all) {
    is_turn_due_ = true;
    ready_.fire_after(memory_pause);
    return;
  }
  if (jobs_.empty())
    return;
  is_turn_due_ = true;
  ready_.fire_after(std::chrono::nanoseconds::zero());
}

void run_queue::run_until(std::chrono::steady_clock::time_point deadline) {
  take_posted();
  while (auto* job = pop()) {
    run(job);
    if (std::chrono::steady_clock::now() >= deadline)
      return;
    take_posted();
  }
}

void run_queue::kill_all() {
  for (const auto& x : roster_.all())
    send_kill(*x->get(), this); // Wakes it, thus queues it.
  take_posted();
  while (auto* job = pop()) {
    kill(job);
    take_posted();
  }
}

/// @returns `false` if there was no memory for some: they stay where they are.
bool run_queue::take_posted() noexcept {
  const auto guard = std::lock_guard{mutex_};
  auto i = posted_.begin();
  try {
    for (; i != posted_.end(); ++i)
      jobs_.push_back(*i);
  } catch (const std::bad_alloc&) {
    // See below.
  }
  posted_.erase(posted_.begin(), i);
  return posted_.empty();
}

caf::resumable* run_queue::pop() {
  if (jobs_.empty())
    return nullptr;
  auto* job = jobs_.front();
  jobs_.pop_front();
  return job;
}

void run_queue::run(caf::resumable* job) {
  if (auto* self = actor_of(job); self != nullptr && !has_begun(*self))
    roster_.add(self);
  auto result = caf::resumable::done;
  try {
    result = job->resume(this, messages_per_job);
  } catch (const std::bad_alloc&) {
    // What handlers throw does not come here: an actor was ending or beginning.
    refill_memory_reserve();
  }
  if (result == caf::resumable::resume_later)
    jobs_.push_back(job);
  else
    caf::intrusive_ptr_release(job);
}

void run_queue::kill(caf::resumable* job) {
  auto* self = actor_of(job);
  if (self == nullptr) {
    run(job); // It runs once.
    return;
  }
  if (has_begun(*self)) {
    send_kill(*self, this);
    self->resume(this, 1);
  }
  // What has not begun is spared the beginning. And an actor that awaits an
  // answer puts off everything else.
  if (!self->getf(caf::abstract_actor::is_cleaned_up_flag)) {
    self->quit(caf::exit_reason::kill);
    self->on_exit();
    self->cleanup(caf::exit_reason::kill, this);
  }
  caf::intrusive_ptr_release(job);
}

// -- actor roster ------------------------------------------------------------

void actor_roster::add(caf::abstract_actor* x) {
  const auto guard = std::lock_guard{mutex_};
  actors_.insert(x);
}

void actor_roster::remove(caf::abstract_actor* x) {
  const auto guard = std::lock_guard{mutex_};
  actors_.erase(x);
}

std::vector<caf::strong_actor_ptr> actor_roster::all() const {
  const auto guard = std::lock_guard{mutex_};
  std::vector<caf::strong_actor_ptr> result;
  result.reserve(actors_.size());
  for (auto* x : actors_)
    result.emplace_back(x->ctrl());
  return result;
}

} // namespace troupe
