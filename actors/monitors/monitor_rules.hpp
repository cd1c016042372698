// What monitors of the kinds that come with us make of what they see. Each rule
// has a question for somebody who can look, and judges the answer.

#pragma once

#include "messages/custom_monitor.hpp"

#include <caf/error.hpp>
#include <caf/expected.hpp>
#include <caf/timespan.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

namespace defaults {

using namespace std::chrono_literals;

/// How often monitors look that are not told how often: progress of CPU time,
/// memory, output, commands.
inline constexpr auto cpu_progress_interval = 10s;
inline constexpr auto memory_limit_interval = 1s;
inline constexpr auto output_silence_interval = 60s;
inline constexpr auto command_interval = 30s;

/// How long a command of a monitor may take.
inline constexpr auto monitor_command_time = 10s;

} // namespace defaults

/// The number that a value holds, whatever its type: callers write 2, 2.0 and
/// "2".
std::optional<double> decimal(const value& x);

/// The number of bytes that a value holds: an integer, or a text such as
/// `512M`, with K, M, G or T for powers of 1024.
std::optional<uint64_t> byte_count(const value& x);

/// Reads the settings of a monitor of some kind, the directives that begin with
/// `troupe.monitor.`. What cannot be used is noted; `finish` tells of the
/// first.
class monitor_settings_reader {
public:
  monitor_settings_reader(std::string kind, const std::vector<info>& settings);

  /// A time in seconds, within these bounds.
  caf::timespan seconds(std::string_view key, caf::timespan otherwise,
                        caf::timespan least, caf::timespan most);

  /// The time between two looks.
  caf::timespan interval(caf::timespan otherwise);

  /// A number of 32 bits.
  uint32_t count(std::string_view key, uint32_t otherwise);

  /// How many looks in a row may be missed.
  uint32_t drops();

  /// A number of bytes above zero.
  /// @returns 0 if there is none, which is an error if it is needed.
  uint64_t bytes(std::string_view key, bool is_needed);

  /// A text that is not empty.
  std::string text(std::string_view key, bool is_needed);

  /// @returns `bad_param` for the first setting that cannot be used, and for
  /// one
  ///          that nobody has asked for.
  caf::error finish() const;

private:
  const value* take(std::string_view key);
  void complain(std::string_view key, const std::string& remedy);

  std::string kind_;
  const std::vector<info>& settings_;
  std::vector<std::string_view> known_;
  std::string complaint_;
};

/// What a look has shown.
struct judgement {
  /// Why this is an alert, in a sentence; empty: all is well so far.
  std::string reason;

  /// For the event.
  std::vector<info> infos;

  /// When to look again, from now.
  caf::timespan next{0};
};

/// Steady time.
using monitor_time = std::chrono::nanoseconds;

/// What all rules have.
struct monitor_rule {
  /// Whether a monitor can work at all, by what its first look shows.
  template <class Answer>
  static caf::error fitness(const Answer&) {
    return caf::none;
  }
};

/// Counts looks that showed no sign of life: reading A19, an alert after one
/// more than may be missed.
class missed_looks {
public:
  explicit missed_looks(uint32_t drops = 0) : drops_(drops) {
    // nop
  }

  /// @returns whether this one is the one too many, or comes after it.
  bool miss() {
    return ++missed_ > drops_;
  }

  void forgive() {
    missed_ = 0;
  }

  uint64_t count() const {
    return missed_;
  }

private:
  uint32_t drops_;
  uint64_t missed_ = 0;
};

/// Kind `cpu_progress`: the process and its descendants get no CPU time. A
/// process that is stopped is excused, and so is everybody when the daemon
/// itself stood still.
class cpu_progress_rule : public monitor_rule {
public:
  static constexpr auto kind = "cpu_progress";
  using answer_type = process_probe;

  static caf::expected<cpu_progress_rule> make(const start_monitor& request);

  probe_process question() const {
    return question_;
  }

  /// Between two looks.
  caf::timespan interval() const {
    return interval_;
  }

  judgement judge(const process_probe& seen, monitor_time now);

private:
  probe_process question_;
  caf::timespan interval_{0};

  /// CPU time per interval that is progress.
  caf::timespan least_{0};
  missed_looks missed_;

  /// What was seen last, and when.
  std::optional<std::chrono::nanoseconds> used_;
  monitor_time looked_{0};

  /// Since when there has been no progress.
  monitor_time since_{0};
};

/// Kind `memory_limit`: the process and its descendants use more resident
/// memory than they should.
class memory_limit_rule : public monitor_rule {
public:
  static constexpr auto kind = "memory_limit";
  using answer_type = process_probe;

  static caf::expected<memory_limit_rule> make(const start_monitor& request);

  probe_process question() const {
    return question_;
  }

  /// Between two looks.
  caf::timespan interval() const {
    return interval_;
  }

  judgement judge(const process_probe& seen, monitor_time now);

private:
  probe_process question_;
  caf::timespan interval_{0};
  uint64_t limit_ = 0;
  missed_looks missed_;
};

/// Kind `output_silence`: nothing on standard output for an interval, or as
/// many in a row as may be missed and one more. Time before the monitor began,
/// and time in which the process was stopped, does not count.
class output_silence_rule : public monitor_rule {
public:
  static constexpr auto kind = "output_silence";
  using answer_type = process_probe;

  static caf::expected<output_silence_rule> make(const start_monitor& request);

  /// @returns `not_supported` if the output does not pass here.
  static caf::error fitness(const process_probe& seen);

  probe_process question() const {
    return question_;
  }

  /// How long it may be silent.
  caf::timespan interval() const {
    return patience_;
  }

  judgement judge(const process_probe& seen, monitor_time now);

private:
  probe_process question_;
  caf::timespan patience_{0};

  /// From when on silence counts.
  std::optional<monitor_time> counts_from_;
};

/// Kind `command`: a command fails, lasts too long, or does not say what it
/// should. It finds whom it is about in its environment, `TROUPE_MONITOR_*`.
class command_rule : public monitor_rule {
public:
  static constexpr auto kind = "command";
  using answer_type = command_result;

  static caf::expected<command_rule> make(const start_monitor& request);

  const run_command& question() const {
    return question_;
  }

  /// Between two looks.
  caf::timespan interval() const {
    return interval_;
  }

  judgement judge(const command_result& seen, monitor_time now);

private:
  run_command question_;
  caf::timespan interval_{0};
  std::string expected_;
  missed_looks missed_;
};

/// The rule of a plugin, which decides by itself what is an alert.
class plugin_rule : public monitor_rule {
public:
  using answer_type = check_result;

  /// @param kind     The name of the plugin.
  /// @param interval Between two looks, unless the request says otherwise.
  static caf::expected<plugin_rule> make(const std::string& kind,
                                         caf::timespan interval,
                                         const start_monitor& request);

  const check_process& question() const {
    return question_;
  }

  /// Between two looks.
  caf::timespan interval() const {
    return interval_;
  }

  judgement judge(const check_result& seen, monitor_time now);

private:
  check_process question_;
  caf::timespan interval_{0};
  missed_looks missed_;
};

/// What a command learns of the process, monitor and file that it is about, as
/// variables of its environment: docs/monitoring.md.
std::vector<std::string> monitor_environment(const react_to_alert& about);

} // namespace troupe
