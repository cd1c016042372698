#pragma once

#include "actors/monitors/timer_wheel.hpp"
#include "messages/files.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// What counts as a sign of life of a file; any of them is enough.
struct file_signs {
  /// It has become longer. PMIX_MONITOR_FILE_SIZE.
  bool size = false;

  /// It was read. PMIX_MONITOR_FILE_ACCESS.
  bool access = false;

  /// It was written to. PMIX_MONITOR_FILE_MODIFY.
  bool modify = false;
};

/// A file to watch.
struct watched_file {
  /// Absolute.
  std::string path;
  file_signs signs;

  /// Time between two looks.
  std::chrono::nanoseconds period{0};

  /// Looks without a sign that may be missed; the next one is an alert.
  uint32_t drops = 0;

  /// Whose rights decide what may be seen.
  credentials who;
};

/// Whether `now` shows a sign of life after `before`. A file that is not there,
/// or has become another one by the same name, shows none; one that has come
/// shows one.
bool shows_life(const file_signs& signs, const file_stamp& before,
                const file_stamp& now);

/// Which files have shown no sign of life for too long. A file is looked at
/// once in a period, counted from when it was to be looked at; one that was
/// paused with its process, from when that went on.
///
/// After an alert a monitor rests until the next sign: one alert for one
/// silence.
///
/// Monitors are small numbers of the owner's; time is that of a clock that
/// never goes back.
/// Source: RFC0015, "Monitoring"; guarantees 5.9, MON-4.
class file_watch {
public:
  using time = std::chrono::nanoseconds;
  using item = timer_wheel::item;

  /// What is to be asked; the answer goes to `take`.
  struct look {
    uint64_t ticket = 0;
    check_files request;
  };

  /// @param first How the file was found when it was registered.
  void add(item x, watched_file what, const file_stamp& first, time now);

  void remove(item x);

  /// The process whose monitor this is was stopped on purpose, or goes on.
  void pause(item x, bool paused, time now);

  /// When `advance` wants to be called, if ever.
  std::optional<time> next() const;

  /// Appends the looks that are due: one for all paths of a user on a mount.
  void advance(time now, std::vector<look>& out);

  /// Takes what was found. Files that are missing in an answer which is too
  /// short could not be looked at.
  /// @param silent Receives the monitors for which an alert is due.
  void take(uint64_t ticket, const file_stamps& found,
            std::vector<item>& silent);

  bool holds(item x) const {
    return x < monitors_.size() && monitors_[x] != nullptr;
  }

  bool is_silent(item x) const {
    return holds(x) && monitors_[x]->is_silent;
  }

  /// @pre `holds(x)`
  const std::string& path_of(item x) const {
    return monitors_[x]->what.path;
  }

  /// When the file was looked at last, and when it will be next; nothing: not
  /// yet, but for when it was registered. @pre `holds(x)`
  std::optional<time> looked_at(item x) const {
    return monitors_[x]->looked;
  }

  time due_at(item x) const {
    return monitors_[x]->due;
  }

  /// Why a monitor is silent, in a sentence. @pre `holds(x)`
  std::string reason_of(item x) const;

  size_t size() const {
    return size_;
  }

private:
  struct monitor {
    watched_file what;

    /// What signs are told from, and how the last look went.
    file_stamp last;
    file_state state = file_state::regular;
    uint32_t misses = 0;
    bool is_silent = false;
    bool is_paused = false;

    /// The look that is under way; 0: none.
    uint64_t ticket = 0;

    /// When the next look is due, and when the last one was asked for.
    time due{0};
    std::optional<time> looked;
  };

  struct open_look {
    std::vector<item> items;

    /// For each item, where its path stands in the request.
    std::vector<size_t> places;
  };

  void arm(item x, time due);
  bool judge(monitor& x, const file_stamp& found);

  timer_wheel wheel_;
  std::vector<std::unique_ptr<monitor>> monitors_;
  std::map<uint64_t, open_look> looks_;
  uint64_t next_ticket_ = 1;
  size_t size_ = 0;
};

} // namespace troupe
