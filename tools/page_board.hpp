#pragma once

#include "tools/page_state.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace troupe {

namespace defaults {

/// Browsers that watch at a time. Each has a thread of the server.
inline constexpr size_t page_watchers = 16;

/// Changes that are kept for watchers that lag, and their bytes together; who lags more
/// gets all anew.
inline constexpr size_t page_changes = 32;
inline constexpr size_t page_change_bytes = size_t{8} << 20;

/// How often a watcher hears something at least.
inline constexpr auto page_pulse = std::chrono::milliseconds{1000};

} // namespace defaults

/// What the page shows, between who asks the DVM and those who watch. Nothing waits
/// for a slow watcher: it misses steps, not the outcome. Safe on any thread.
class page_board {
public:
  /// A browser that watches; its place is free when this is gone.
  class watcher;

  page_board();

  ~page_board();

  page_board(const page_board&) = delete;

  page_board& operator=(const page_board&) = delete;

  /// Changes the state by `f`, and tells watchers what has become another.
  void update(const std::function<void(page_state&)>& f);

  /// The DVM has answered one of our questions, whatever it said.
  void note_answer();

  /// All of it, as JSON on a line; with the part `page`, which is not told to watchers:
  /// `browsers` that watch, and `answers` that the DVM has given. Who asks for it counts
  /// as one who begins to watch, once in a while.
  std::string whole();

  /// What is shown of a process; nothing: it is not.
  std::optional<nlohmann::json> rank(const proc_id& x) const;

  /// Calls `f` whenever somebody begins to watch, on whatever thread.
  void on_watcher(std::function<void()> f);

  /// A place for another watcher; null: all are taken.
  std::unique_ptr<watcher> watch();

  /// How many there are.
  size_t watchers() const;

  /// All `next` return, and nobody can watch any more.
  void close();

private:
  using clock = std::chrono::steady_clock;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  page_state state_;                 // guarded by mutex_
  uint64_t version_ = 1;             // guarded by mutex_
  size_t watchers_ = 0;              // guarded by mutex_
  bool is_closed_ = false;           // guarded by mutex_
  std::function<void()> on_watcher_; // guarded by mutex_
  clock::time_point answered_;       // guarded by mutex_
  uint64_t answers_ = 0;             // guarded by mutex_
  clock::time_point wanted_;         // guarded by mutex_

  /// What has led to the last versions, the last one to `version_`.
  std::deque<std::shared_ptr<const std::string>> changes_; // guarded by mutex_
  size_t change_bytes_ = 0;                                // guarded by mutex_
};

class page_board::watcher {
public:
  explicit watcher(page_board& from) : from_(from) {
    // nop
  }

  ~watcher();

  watcher(const watcher&) = delete;

  watcher& operator=(const watcher&) = delete;

  /// What comes next, as server-sent events: `whole`, all there is; `change`, as
  /// `page_state::take_change` has it; `idle`, after `patience` without either, with
  /// the milliseconds since the DVM has answered.
  /// @returns nothing after `close`.
  /// Source: WHATWG HTML, "Server-sent events".
  std::optional<std::string> next(std::chrono::milliseconds patience);

private:
  page_board& from_;
  uint64_t seen_ = 0;
};

} // namespace troupe
