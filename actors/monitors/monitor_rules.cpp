#include "actors/monitors/monitor_rules.hpp"

#include "base/make_info.hpp"
#include "config/defaults.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <utility>

namespace troupe {

namespace defaults {

using namespace std::chrono_literals;

/// The shortest and the longest time between two looks that one may ask for.
inline constexpr auto monitor_interval_min = 10ms;
inline constexpr auto monitor_interval_max = std::chrono::hours{24 * 366};

} // namespace defaults

namespace {

using fractional_seconds = std::chrono::duration<double>;

/// Every integer up to here is a double.
constexpr double largest_exact = 9007199254740992.0;

bool begins_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

/// Reads the number at the beginning of `text`.
/// @returns what follows it, or nothing if there is none.
std::optional<std::string_view> read_number(std::string_view text,
                                            double& result) {
  const auto* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, result);
  if (error != std::errc{} || !std::isfinite(result))
    return std::nullopt;
  return std::string_view{rest, static_cast<size_t>(end - rest)};
}

std::string shown(caf::timespan x) {
  auto text = std::to_string(std::chrono::duration<double>{x}.count());
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.')
    text.pop_back();
  return text;
}

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

std::optional<double> decimal(const value& x) {
  if (const auto* number = std::get_if<double>(&x.data))
    return std::isfinite(*number) ? std::optional<double>{*number}
                                  : std::nullopt;
  if (const auto number = x.number<int64_t>())
    return static_cast<double>(*number);
  if (const auto number = x.number<uint64_t>())
    return static_cast<double>(*number);
  const auto* text = x.text();
  if (text == nullptr)
    return std::nullopt;
  auto result = 0.0;
  const auto rest = read_number(*text, result);
  if (!rest || !rest->empty())
    return std::nullopt;
  return result;
}

std::optional<uint64_t> byte_count(const value& x) {
  if (const auto number = x.number<uint64_t>())
    return *number;
  const auto* text = x.text();
  if (text == nullptr)
    return std::nullopt;
  auto number = 0.0;
  const auto rest = read_number(*text, number);
  if (!rest || rest->size() > 1 || number < 0)
    return std::nullopt;
  constexpr auto units = std::string_view{"KMGT"};
  auto factor = 1.0;
  if (!rest->empty()) {
    const auto unit = units.find(rest->front());
    if (unit == std::string_view::npos)
      return std::nullopt;
    factor = std::pow(1024.0, static_cast<double>(unit + 1));
  }
  if (number * factor > largest_exact)
    return std::nullopt;
  return static_cast<uint64_t>(number * factor);
}

monitor_settings_reader::monitor_settings_reader(
  std::string kind, const std::vector<info>& settings)
  : kind_(std::move(kind)),
    settings_(settings), known_{monitor_kind_key, monitor_reaction_key} {
  // nop
}

const value* monitor_settings_reader::take(std::string_view key) {
  known_.push_back(key);
  return find(settings_, key);
}

void monitor_settings_reader::complain(std::string_view key,
                                       const std::string& remedy) {
  if (complaint_.empty())
    complaint_ = "monitor " + kind_ + ": " + std::string{key} + " " + remedy;
}

caf::timespan monitor_settings_reader::seconds(std::string_view key,
                                               caf::timespan otherwise,
                                               caf::timespan least,
                                               caf::timespan most) {
  const auto* x = take(key);
  if (x == nullptr)
    return otherwise;
  const auto number = decimal(*x);
  if (!number || *number < fractional_seconds{least}.count()
      || *number > fractional_seconds{most}.count()) {
    complain(key,
             "must be " + shown(least) + " to " + shown(most) + " seconds");
    return otherwise;
  }
  return std::chrono::duration_cast<caf::timespan>(fractional_seconds{*number});
}

caf::timespan monitor_settings_reader::interval(caf::timespan otherwise) {
  return seconds(monitor_interval_key, otherwise,
                 defaults::monitor_interval_min,
                 defaults::monitor_interval_max);
}

uint32_t monitor_settings_reader::count(std::string_view key,
                                        uint32_t otherwise) {
  const auto* x = take(key);
  if (x == nullptr)
    return otherwise;
  const auto number = decimal(*x);
  if (!number || *number < 0 || *number > UINT32_MAX
      || *number != std::floor(*number)) {
    complain(key, "must be a whole number from 0");
    return otherwise;
  }
  return static_cast<uint32_t>(*number);
}

uint32_t monitor_settings_reader::drops() {
  return count(monitor_drops_key, 0);
}

uint64_t monitor_settings_reader::bytes(std::string_view key, bool is_needed) {
  const auto* x = take(key);
  const auto number = x == nullptr ? std::nullopt : byte_count(*x);
  if (x == nullptr && !is_needed)
    return 0;
  if (number.value_or(0) == 0)
    complain(key, "must be a number of bytes, such as 512M");
  return number.value_or(0);
}

std::string monitor_settings_reader::text(std::string_view key,
                                          bool is_needed) {
  const auto* x = take(key);
  if (x == nullptr && !is_needed)
    return {};
  const auto* text = x == nullptr ? nullptr : x->text();
  if (text == nullptr || text->empty()
      || text->find('\0') != std::string::npos) {
    complain(key, "must be a text");
    return {};
  }
  return *text;
}

caf::error monitor_settings_reader::finish() const {
  if (!complaint_.empty())
    return make_error(status::bad_param, complaint_);
  for (const auto& x : settings_) {
    if (!begins_with(x.key, monitor_key_prefix)
        || std::find(known_.begin(), known_.end(), x.key) != known_.end())
      continue;
    auto wanted = std::string{};
    for (const auto& key : known_)
      wanted += (wanted.empty() ? "" : ", ") + std::string{key};
    return make_error(status::bad_param, "monitor " + kind_ + " has no setting "
                                           + x.key.substr(0, 64) + "; it has "
                                           + wanted);
  }
  return caf::none;
}

// -- progress of CPU time -----------------------------------------------------

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

// -- a limit of memory --------------------------------------------------------

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
    result.infos = {make_info(value_key, value::uint64(seen.resident)),
                    make_info(limit_key, value::uint64(limit_))};
  }
  return result;
}

// -- silence of the output ----------------------------------------------------

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
                    "not pass this server; use another kind");
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

// -- a command ----------------------------------------------------------------

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

// -- a plugin -----------------------------------------------------------------

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

// -- what commands learn ------------------------------------------------------

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
