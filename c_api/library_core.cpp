#include "c_api/library_core.hpp"

#include "adapters/c_values/convert.hpp"
#include "adapters/loop/event_loop.hpp"
#include "c_api/helpers/failure.hpp"
#include "c_api/node_fence.hpp"
#include "c_api/node_groups.hpp"
#include "c_api/shared_posts.hpp"

#include <pthread.h>

#include <csignal>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace troupe::c_api {

namespace {

/// Loops that the calling thread is in.
thread_local int depth_of_loops = 0;

/// Signals are the application's: none is to be taken by our thread.
class signal_block {
public:
  signal_block() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }

  ~signal_block() {
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

private:
  sigset_t before_{};
};

/// Most clients end before they need it.
loop_system::settings late_loop() {
  auto result = loop_system::settings{};
  result.starts_late = true;
  return result;
}

} // namespace

library_core::library_core(bool external)
  : is_external(external), loop(late_loop()),
    groups(std::make_shared<group_book>()),
    shared(std::make_shared<shared_posts>()),
    fences(std::make_shared<node_fence>(shared)),
    shared_groups(std::make_shared<node_groups>(shared)) {
  // nop
}

bool library_core::may_go_on() {
  if (has_begun())
    return true;
  const auto guard = std::lock_guard{drive_mutex_};
  return !is_ending_ || ender_ == std::this_thread::get_id();
}

bool library_core::begin() {
  const auto guard = std::lock_guard{drive_mutex_};
  if (has_begun())
    return true;
  if (is_ending_)
    return ender_ == std::this_thread::get_id();
  try {
    loop.loop().prepare();
  } catch (const std::runtime_error&) {
    throw std::system_error{
      std::make_error_code(std::errc::too_many_files_open)};
  }
  if (!is_external) {
    const auto block = signal_block{};
    thread_ = std::thread{[this] {
      pthread_setname_np(pthread_self(), "pmix");
      run_loop();
    }};
  }
  has_begun_ = true;
  return true;
}

void library_core::begin_end() {
  const auto guard = std::lock_guard{drive_mutex_};
  is_ending_ = true;
  ender_ = std::this_thread::get_id();
}

bool library_core::runs_some_loop() noexcept {
  return depth_of_loops > 0;
}

void library_core::run_loop() {
  ++depth_of_loops;
  insist([this] {
    try {
      loop.run();
    } catch (const std::runtime_error&) {
      throw std::bad_alloc{}; // What it wants for: nothing has been lost.
    }
  });
  --depth_of_loops;
}

library_core::~library_core() {
  if (thread_.joinable())
    shut_down();
}

void library_core::shut_down() {
  begin_end();
  const auto has_thread = thread_.joinable();
  auto last = std::shared_ptr<waiter>{};
  insist([&] { last = std::make_shared<waiter>(); });
  const auto finish = [this, last] {
    on_events = nullptr;
    on_output = nullptr;
    on_server = nullptr;
    last->set(PMIX_SUCCESS);
  };
  auto is_posted = false;
  insist([&] { is_posted = loop.loop().post(finish); });
  if (!has_thread) {
    // Twice: what the first pass posted has its turn in the second.
    for (auto i = 0; i < 2; ++i)
      progress();
  } else if (is_posted) {
    last->wait();
  }
  {
    const auto guard = std::lock_guard{mutex};
    session = nullptr;
    if (to)
      forget_for_fork(to.get());
    for (const auto& x : links)
      forget_for_fork(x.get());
    links.clear();
    to = nullptr;
  }
  if (has_thread) {
    loop.stop();
    thread_.join();
  }
  loop.loop().close();
}

void library_core::interrupt() {
  {
    const auto guard = std::lock_guard{drive_mutex_};
    drive_changed_.notify_all();
  }
  loop.stop();
}

void library_core::progress() {
  {
    const auto guard = std::lock_guard{drive_mutex_};
    if (std::exchange(is_driven_, true))
      return;
  }
  ++depth_of_loops;
  loop.loop().run_once();
  --depth_of_loops;
  const auto guard = std::lock_guard{drive_mutex_};
  is_driven_ = false;
  drive_changed_.notify_all();
}

value_keeper::~value_keeper() {
  for (auto& x : entries_)
    old_.push_back(x.second.shown);
  for (auto* x : old_)
    free_array(x, x != nullptr ? 1 : 0);
}

pmix_value_t* value_keeper::keep(const proc_id& proc, const std::string& key,
                                 const value& x) {
  const auto guard = std::lock_guard{mutex_};
  auto& kept = entries_[{proc, key}];
  if (kept.shown != nullptr && kept.val == x)
    return kept.shown;
  auto code = pmix_status_t{PMIX_SUCCESS};
  auto* fresh = to_c_value(x, code);
  if (fresh == nullptr)
    return nullptr;
  if (kept.shown != nullptr)
    old_.push_back(kept.shown);
  kept = {x, fresh};
  return fresh;
}

} // namespace troupe::c_api
