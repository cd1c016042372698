#include "actors/monitors/monitor_rules.hpp"

#include "actors/monitors/monitor_settings.hpp"
#include "config/defaults.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace troupe {

namespace {

constexpr std::string_view limit_key = "troupe.monitor.limit";
constexpr std::string_view value_key = "troupe.monitor.value";
constexpr std::string_view minimum_key = "troupe.monitor.minimum";
constexpr std::string_view command_key = "troupe.monitor.command";
constexpr std::string_view expect_key = "troupe.monitor.expect";
constexpr std::string_view timeout_key = "troupe.monitor.timeout";

/// How much later than it should be a look may come without being excused.
constexpr auto lateness_excused = 2;

probe_process probe_of(const start_monitor& request) {
  return {request.proc, request.pid};
}

std::string in_seconds(std::chrono::nanoseconds x) {
  const auto tenths =
    std::chrono::round<std::chrono::duration<int64_t, std::deci>>(x).count();
  auto result = std::to_string(tenths / 10);
  if (tenths % 10 != 0)
    result += "." + std::to_string(tenths % 10);
  return result + " s";
}

std::string in_mebibytes(uint64_t bytes) {
  return std::to_string(bytes >> 20) + " MiB";
}

/// The first line of a command's output, as far as it fits into a sentence.
std::string first_line(const std::string& output) {
  constexpr size_t longest = 160;
  const auto begin = output.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos)
    return {};
  const auto end = output.find_first_of("\r\n", begin);
  return output.substr(begin, std::min(end - begin, longest));
}

} // namespace

// -- progress of CPU time
// ----------------------------------------------------

caf::expected<cpu_progress_rule>
cpu_progress_rule::make(const start_monitor& request) {
  auto read = monitor_settings_reader{kind, request.settings};
  auto result = cpu_progress_rule{};
  result.question_ = probe_of(request);
  result.interval_ = read.interval(defaults::cpu_progress_interval);
  result.missed_ = missed_looks{read.drops()};
  result.least_ =
    read.seconds(minimum_key, std::chrono::nanoseconds{1},
                 std::chrono::nanoseconds{0}, defaults::monitor_interval_max);
  if (auto why = read.finish())
    return why;
  return result;
}

judgement cpu_progress_rule::judge(const process_probe& seen,
                                   monitor_time now) {
  auto result = judgement{{}, {}, interval_};
  const auto is_excused = !used_ || seen.is_stopped || seen.cpu_time < *used_
                          || now - looked_ > lateness_excused * interval_;
  const auto progress = is_excused ? seen.cpu_time : seen.cpu_time - *used_;
  looked_ = now;
  used_ = seen.cpu_time;
  if (is_excused || progress >= std::max(least_, caf::timespan{1})) {
    since_ = now;
    missed_.forgive();
  } else if (missed_.miss()) {
    result.reason = least_ > std::chrono::milliseconds{1}
                      ? "too little CPU time for " + in_seconds(now - since_)
                      : "no CPU time for " + in_seconds(now - since_);
  }
  return result;
}

// -- a limit of memory
// -------------------------------------------------------

caf::expected<memory_limit_rule>
memory_limit_rule::make(const start_monitor& request) {
  auto read = monitor_settings_reader{kind, request.settings};
  auto result = memory_limit_rule{};
  result.question_ = probe_of(request);
  result.interval_ = read.interval(defaults::memory_limit_interval);
  result.missed_ = missed_looks{read.drops()};
  result.limit_ = read.bytes(limit_key, true);
  if (auto why = read.finish())
    return why;
  return result;
}

judgement memory_limit_rule::judge(const process_probe& seen, monitor_time) {
  auto result = judgement{{}, {}, interval_};
  if (seen.resident <= limit_) {
    missed_.forgive();
  } else if (missed_.miss()) {
    result.reason = "uses " + in_mebibytes(seen.resident)
                    + " of memory, more than " + in_mebibytes(limit_);
    result.infos = {{std::string{value_key}, 0, value::uint64(seen.resident)},
                    {std::string{limit_key}, 0, value::uint64(limit_)}};
  }
  return result;
}

// -- silence of the output
// ------------------------------------------------

caf::expected<output_silence_rule>
output_silence_rule::make(const start_monitor& request) {
  auto read = monitor_settings_reader{kind, request.settings};
  auto result = output_silence_rule{};
  result.question_ = probe_of(request);
  const auto interval = read.interval(defaults::output_silence_interval);
  const auto most =
    static_cast<uint64_t>(defaults::monitor_interval_max / interval);
  result.patience_ =
    interval * static_cast<int64_t>(std::min(uint64_t{read.drops()} + 1, most));
  if (auto why = read.finish())
    return why;
  return result;
}

caf::error output_silence_rule::fitness(const process_probe& seen) {
  if (seen.silence)
    return caf::none;
  return make_error(status::not_supported,
                    "monitor output_silence: the output of the process does "
                    "not pass this server");
}

judgement output_silence_rule::judge(const process_probe& seen,
                                     monitor_time now) {
  auto result = judgement{{}, {}, patience_};
  if (!counts_from_ || seen.is_stopped || !seen.silence) {
    counts_from_ = now;
    return result;
  }
  const auto silence = std::min(*seen.silence, now - *counts_from_);
  if (silence >= patience_)
    result.reason = "nothing on standard output for " + in_seconds(silence);
  else
    result.next = std::max<caf::timespan>(patience_ - silence,
                                          defaults::monitor_interval_min);
  return result;
}

// -- a command
// ---------------------------------------------------------------

caf::expected<command_rule> command_rule::make(const start_monitor& request) {
  auto read = monitor_settings_reader{kind, request.settings};
  auto result = command_rule{};
  result.interval_ = read.interval(defaults::command_interval);
  result.missed_ = missed_looks{read.drops()};
  result.expected_ = read.text(expect_key, false);
  auto& run = result.question_;
  run.argv = {"/bin/sh", "-c", read.text(command_key, true)};
  run.limit =
    read.seconds(timeout_key, defaults::monitor_command_time,
                 defaults::monitor_interval_min, defaults::command_time_max);
  auto about = react_to_alert{};
  about.proc = request.proc;
  about.pid = request.pid;
  about.kind = kind;
  run.env = monitor_environment(about);
  if (auto why = read.finish())
    return why;
  return result;
}

judgement command_rule::judge(const command_result& seen, monitor_time) {
  auto result = judgement{{}, {}, interval_};
  auto reason = std::string{};
  if (seen.timed_out)
    reason = "the command was not over after " + in_seconds(question_.limit);
  else if (seen.signal != 0)
    reason = "the command was ended by signal " + std::to_string(seen.signal);
  else if (seen.exit_code != 0)
    reason = "the command failed with status " + std::to_string(seen.exit_code);
  else if (seen.output.find(expected_) == std::string::npos)
    reason = "the command does not say \"" + expected_ + "\"";
  if (reason.empty()) {
    missed_.forgive();
  } else if (missed_.miss()) {
    const auto said = first_line(seen.output);
    result.reason = reason + (said.empty() ? "" : ": " + said);
  }
  return result;
}

// -- a plugin
// ----------------------------------------------------------------

caf::expected<plugin_rule> plugin_rule::make(const std::string& kind,
                                             caf::timespan interval,
                                             const start_monitor& request) {
  // All other settings are the plugin's own.
  auto common = std::vector<info>{};
  for (const auto& x : request.settings)
    if (x.key == monitor_interval_key || x.key == monitor_drops_key)
      common.push_back(x);
  auto read = monitor_settings_reader{kind, common};
  auto result = plugin_rule{};
  result.question_ = {request.proc, request.pid};
  result.interval_ = read.interval(interval);
  result.missed_ = missed_looks{read.drops()};
  if (auto why = read.finish())
    return why;
  return result;
}

judgement plugin_rule::judge(const check_result& seen, monitor_time) {
  auto result = judgement{{}, {}, interval_};
  if (seen.reason.empty())
    missed_.forgive();
  else if (missed_.miss())
    result.reason = seen.reason;
  return result;
}

// -- what commands learn
// ------------------------------------------------------

std::vector<std::string> monitor_environment(const react_to_alert& about) {
  auto result = std::vector<std::string>{
    "TROUPE_MONITOR_KIND=" + about.kind,
    "TROUPE_MONITOR_ID=" + about.id,
    "TROUPE_MONITOR_NSPACE=" + about.proc.nspace,
    "TROUPE_MONITOR_RANK=" + std::to_string(about.proc.rank),
    "TROUPE_MONITOR_FILE=" + about.file,
    "TROUPE_MONITOR_REASON=" + about.reason};
  if (about.pid != 0)
    result.push_back("TROUPE_MONITOR_PID=" + std::to_string(about.pid));
  // A zero byte would end the variable.
  for (auto& x : result)
    x.erase(std::remove(x.begin(), x.end(), '\0'), x.end());
  return result;
}

} // namespace troupe
