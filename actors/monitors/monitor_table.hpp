#pragma once

#include "actors/monitors/defaults.hpp"
#include "messages/connection.hpp"
#include "messages/custom_monitor.hpp"
#include "messages/enums.hpp"
#include "messages/status.hpp"
#include "messages/value.hpp"

#include <caf/error.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// How a process or a file is watched, or the use of resources told.
enum class monitor_method : uint8_t { heartbeat, file, kind, usage };

/// What few monitors have.
struct monitor_extras {
  /// For the event.
  std::vector<info> event_infos;

  /// What is to be done on alerts.
  std::vector<info> settings;

  /// The name of the kind, and what its last alert was about.
  std::string kind;
  std::string reason;

  /// Who asked for it, if that is not whom it watches.
  std::optional<proc_id> requestor;

  /// Of updates on the use of resources: what they are of, and seconds between
  /// two.
  std::string target;
  uint32_t interval = 0;

  /// Whether its last alert is not out yet, and the newest one since then.
  bool is_telling = false;
  std::optional<monitor_alert> next;
};

/// A monitor: who asked for it, and how its alerts look.
struct monitor_entry {
  /// PMIX_MONITOR_ID; empty: it has none.
  std::string id;
  std::unique_ptr<monitor_extras> extras;
  status code = status::monitor_heartbeat_alert;
  data_range range = data_range::nspace;
  monitor_method method = monitor_method::heartbeat;
  bool app_control = false;
};

/// How many monitors there may be (L7).
struct monitor_limits {
  size_t per_process = defaults::monitors_per_client;
  size_t node = defaults::monitors_per_node;

  /// Those that tell of the use of resources are counted apart.
  size_t updates_per_process = defaults::usage_monitors_per_client;
  size_t updates = defaults::usage_monitors;
};

/// The monitors of a node, by small numbers that are used again, and by numbers
/// that are not.
/// Source: guarantees, L7.
class monitor_table {
public:
  using item = uint32_t;

  /// A process that has monitors, under a small number of its own.
  struct process {
    proc_id proc;
    credentials creds;
    std::vector<item> items;
  };

  explicit monitor_table(monitor_limits bounds = {}) : bounds_(bounds) {
    // nop
  }

  /// Whether there is room for more of a process.
  caf::error room(const proc_id& proc, size_t more,
                  monitor_method method = monitor_method::heartbeat) const;

  /// @pre `room(who.proc, 1, what.method)`
  item add(const requester& who, monitor_entry what);

  void remove(item x);

  bool holds(item x) const {
    return x < slots_.size() && slots_[x].process != none;
  }

  monitor_entry& operator[](item x) {
    return slots_[x].entry;
  }

  const monitor_entry& operator[](item x) const {
    return slots_[x].entry;
  }

  /// The small number of the process that asked for a monitor.
  uint32_t process_of(item x) const {
    return slots_[x].process;
  }

  const process& of(uint32_t process) const {
    return processes_[process];
  }

  uint32_t connection_of(item x) const {
    return slots_[x].connection;
  }

  /// The small number of a process that has monitors.
  std::optional<uint32_t> find(const proc_id& proc) const;

  /// All monitors that a process has asked for; with an identifier, those that
  /// have it.
  std::vector<item> select(const proc_id& proc,
                           const std::optional<std::string>& id = {}) const;

  std::vector<item> of_connection(const proc_id& proc, uint32_t index) const;
  std::vector<item> of_nspace(const std::string& nspace) const;
  std::vector<item> all() const;

  /// A number that no other monitor had before or will have.
  uint64_t number_of(item x) const {
    return (uint64_t{slots_[x].generation} << 32) | x;
  }

  /// Nothing if that monitor is gone.
  std::optional<item> item_of(uint64_t number) const;

  /// All of them.
  size_t size() const {
    return size_;
  }

  /// Those that tell of the use of resources.
  size_t updates() const {
    return updates_;
  }

private:
  static constexpr uint32_t none = UINT32_MAX;

  struct slot {
    monitor_entry entry;
    uint32_t process = none;
    uint32_t connection = 0;
    uint32_t generation = 1;
  };

  // With its place in the `heartbeat_watch` at most 128 bytes.
  static_assert(sizeof(slot) + sizeof(item) <= 80);

  monitor_limits bounds_;
  std::vector<slot> slots_;
  std::vector<item> free_slots_;
  std::vector<process> processes_;
  std::vector<uint32_t> free_processes_;
  std::map<proc_id, uint32_t> by_proc_;
  size_t size_ = 0;
  size_t updates_ = 0;
};

} // namespace troupe
