// What monitors of named kinds make of what they see, and of their settings.

#include "actors/monitors/monitor_rules.hpp"

#include "messages/status.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace std::chrono_literals;

namespace {

start_monitor request(std::vector<std::pair<std::string, value>> settings) {
  auto result = start_monitor{};
  result.proc = {"job", 1};
  result.pid = 7;
  for (auto& [key, x] : settings)
    result.settings.push_back({"troupe.monitor." + key, 0, std::move(x)});
  return result;
}

template <class Rule>
Rule make(std::vector<std::pair<std::string, value>> settings) {
  auto result = Rule::make(request(std::move(settings)));
  if (!result)
    CAF_FAIL(reason_of(result.error()));
  return std::move(*result);
}

template <class Rule>
std::string refusal(std::vector<std::pair<std::string, value>> settings) {
  auto result = Rule::make(request(std::move(settings)));
  if (result)
    return "accepted";
  CAF_CHECK_EQUAL(status_of(result.error()), status::bad_param);
  return reason_of(result.error());
}

process_probe used(std::chrono::nanoseconds cpu) {
  auto result = process_probe{};
  result.cpu_time = cpu;
  return result;
}

process_probe silent_for(std::chrono::nanoseconds x) {
  auto result = process_probe{};
  result.silence = x;
  return result;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

value text(std::string x) {
  return value::string(std::move(x));
}

} // namespace

// -- settings -----------------------------------------------------------------

CAF_TEST(a number may be of any type) {
  CAF_CHECK_EQUAL(decimal(value::uint32(2)).value_or(-1), 2.0);
  CAF_CHECK_EQUAL(decimal(value::integer(-2)).value_or(-1), -2.0);
  CAF_CHECK_EQUAL(decimal(value{data_type::double_, 2.5}).value_or(-1), 2.5);
  CAF_CHECK_EQUAL(decimal(text("0.5")).value_or(-1), 0.5);
  for (const auto* wrong : {"", "x", "1x", "1 ", "nan", "inf", "1e999"})
    CAF_CHECK(!decimal(text(wrong)));
  CAF_CHECK(!decimal(value{}));
}

CAF_TEST(bytes may have a unit) {
  CAF_CHECK_EQUAL(byte_count(value::uint64(5)).value_or(0), 5u);
  CAF_CHECK_EQUAL(byte_count(text("5")).value_or(0), 5u);
  CAF_CHECK_EQUAL(byte_count(text("2K")).value_or(0), 2048u);
  CAF_CHECK_EQUAL(byte_count(text("0.5M")).value_or(0), 512u * 1024u);
  CAF_CHECK_EQUAL(byte_count(text("1T")).value_or(0), uint64_t{1} << 40);
  for (const auto* wrong : {"", "M", "1MB", "-1", "1X", "1e300", "9999999T"})
    CAF_CHECK(!byte_count(text(wrong)));
}

CAF_TEST(a setting that makes no sense is named with its remedy) {
  using rule = cpu_progress_rule;
  const auto short_one = refusal<rule>({{"interval", text("0.001")}});
  CAF_CHECK(contains(short_one, "troupe.monitor.interval must be 0.01 to"));
  CAF_CHECK(contains(refusal<rule>({{"interval", text("soon")}}), "interval"));
  CAF_CHECK(contains(refusal<rule>({{"drops", text("-1")}}), "drops"));
  CAF_CHECK(contains(refusal<rule>({{"drops", text("0.5")}}), "drops"));
  const auto unknown = refusal<rule>({{"limit", text("5")}});
  CAF_CHECK(contains(unknown, "no setting troupe.monitor.limit; it has "));
  CAF_CHECK(contains(unknown, "troupe.monitor.interval"));
  CAF_CHECK(contains(refusal<memory_limit_rule>({}), "limit must be a number"));
  CAF_CHECK(contains(refusal<memory_limit_rule>({{"limit", text("0")}}),
                     "limit must be a number"));
  CAF_CHECK(contains(refusal<command_rule>({}), "command must be a text"));
}

CAF_TEST(what all kinds know is no unknown setting) {
  auto rule = make<cpu_progress_rule>(
    {{"kind", text("cpu_progress")}, {"reaction", text("kill")}});
  CAF_CHECK(rule.judge(used(1s), 0s).reason.empty());
}

// -- progress -----------------------------------------------------------------

CAF_TEST(M6 CPU time that does not grow is an alert) {
  auto rule = make<cpu_progress_rule>({{"interval", value::uint32(2)}});
  CAF_CHECK(rule.judge(used(5s), 0s).reason.empty());
  const auto well = rule.judge(used(5010ms), 2s);
  CAF_CHECK(well.reason.empty());
  CAF_CHECK(well.next == 2s);
  CAF_CHECK_EQUAL(rule.judge(used(5010ms), 4s).reason, "no CPU time for 2 s");
  CAF_CHECK_EQUAL(rule.judge(used(5010ms), 6s).reason, "no CPU time for 4 s");
  CAF_CHECK(rule.judge(used(5020ms), 8s).reason.empty());
}

CAF_TEST(M16 as many looks may be missed as the request says) {
  auto rule = make<cpu_progress_rule>(
    {{"interval", text("1")}, {"drops", value::uint32(2)}});
  rule.judge(used(1s), 0s);
  CAF_CHECK(rule.judge(used(1s), 1s).reason.empty());
  CAF_CHECK(rule.judge(used(1s), 2s).reason.empty());
  CAF_CHECK_EQUAL(rule.judge(used(1s), 3s).reason, "no CPU time for 3 s");
}

CAF_TEST(less progress than asked for is none) {
  auto rule = make<cpu_progress_rule>(
    {{"interval", text("1")}, {"minimum", text("0.5")}});
  rule.judge(used(1s), 0s);
  CAF_CHECK(rule.judge(used(1500ms), 1s).reason.empty());
  CAF_CHECK_EQUAL(rule.judge(used(1900ms), 2s).reason,
                  "too little CPU time for 1 s");
}

CAF_TEST(MON-2 a stopped process and a late daemon are excused) {
  auto rule = make<cpu_progress_rule>({{"interval", text("1")}});
  rule.judge(used(1s), 0s);
  auto stopped = used(1s);
  stopped.is_stopped = true;
  CAF_CHECK(rule.judge(stopped, 1s).reason.empty());
  // It goes on: it has a whole interval.
  CAF_CHECK(!rule.judge(used(1s), 2s).reason.empty());
  CAF_CHECK(rule.judge(used(2s), 3s).reason.empty());
  // Nobody has looked for long: perhaps nobody could run.
  CAF_CHECK(rule.judge(used(2s), 10s).reason.empty());
  CAF_CHECK(!rule.judge(used(2s), 11s).reason.empty());
  // A descendant is lost to another parent.
  CAF_CHECK(rule.judge(used(500ms), 12s).reason.empty());
}

// -- memory -------------------------------------------------------------------

CAF_TEST(M6 memory beyond the limit is an alert that says how much) {
  auto rule = make<memory_limit_rule>(
    {{"limit", text("64M")}, {"drops", value::uint32(1)}});
  auto seen = process_probe{};
  seen.resident = uint64_t{64} << 20;
  CAF_CHECK(rule.judge(seen, 0s).reason.empty());
  seen.resident = uint64_t{100} << 20;
  CAF_CHECK(rule.judge(seen, 1s).reason.empty());
  const auto found = rule.judge(seen, 2s);
  CAF_CHECK_EQUAL(found.reason, "uses 100 MiB of memory, more than 64 MiB");
  CAF_CHECK_EQUAL(number<uint64_t>(found.infos, "troupe.monitor.value"),
                  std::optional<uint64_t>{seen.resident});
  seen.resident = 1;
  CAF_CHECK(rule.judge(seen, 3s).reason.empty());
}

// -- silence ------------------------------------------------------------------

CAF_TEST(M6 a silent output is an alert and looked at when it is due) {
  auto rule = make<output_silence_rule>({{"interval", text("10")}});
  // What was before the monitor does not count.
  CAF_CHECK(rule.judge(silent_for(1h), 100s).next == 10s);
  const auto early = rule.judge(silent_for(4s), 110s);
  CAF_CHECK(early.reason.empty());
  CAF_CHECK(early.next == 6s);
  const auto late = rule.judge(silent_for(10s), 116s);
  CAF_CHECK_EQUAL(late.reason, "nothing on standard output for 10 s");
}

CAF_TEST(A19 silence may last for all intervals that may be missed) {
  auto rule = make<output_silence_rule>(
    {{"interval", text("10")}, {"drops", value::uint32(2)}});
  CAF_CHECK(rule.judge(silent_for(0s), 0s).next == 30s);
  CAF_CHECK(rule.judge(silent_for(29s), 29s).reason.empty());
  CAF_CHECK(!rule.judge(silent_for(30s), 30s).reason.empty());
}

CAF_TEST(MON-2 silence while stopped is excused) {
  auto rule = make<output_silence_rule>({{"interval", text("10")}});
  rule.judge(silent_for(0s), 0s);
  auto stopped = silent_for(10s);
  stopped.is_stopped = true;
  CAF_CHECK(rule.judge(stopped, 10s).reason.empty());
  const auto after = rule.judge(silent_for(15s), 15s);
  CAF_CHECK(after.reason.empty());
  CAF_CHECK(after.next == 5s);
  CAF_CHECK(!rule.judge(silent_for(20s), 20s).reason.empty());
}

CAF_TEST(output that passes elsewhere cannot be watched) {
  CAF_CHECK(!output_silence_rule::fitness(silent_for(0s)));
  CAF_CHECK_EQUAL(status_of(output_silence_rule::fitness(process_probe{})),
                  status::not_supported);
}

// -- commands -----------------------------------------------------------------

CAF_TEST(M6 a command that fails or hangs is an alert) {
  auto rule = make<command_rule>({{"command", text("nvidia-smi -L")},
                                  {"expect", text("GPU 0")},
                                  {"timeout", text("2.5")}});
  const auto& run = rule.question();
  CAF_CHECK(
    (run.argv == std::vector<std::string>{"/bin/sh", "-c", "nvidia-smi -L"}));
  CAF_CHECK(run.limit == 2500ms);
  auto seen = command_result{};
  seen.output = "GPU 0: A100";
  const auto well = rule.judge(seen, 0s);
  CAF_CHECK(well.reason.empty());
  CAF_CHECK(well.next == defaults::command_interval);
  seen.output = "\nNo devices found\nat all";
  CAF_CHECK_EQUAL(rule.judge(seen, 1s).reason,
                  "the command does not say \"GPU 0\": No devices found");
  seen.exit_code = 9;
  CAF_CHECK_EQUAL(rule.judge(seen, 2s).reason,
                  "the command failed with status 9: No devices found");
  seen = {};
  seen.signal = 11;
  CAF_CHECK_EQUAL(rule.judge(seen, 3s).reason,
                  "the command was ended by signal 11");
  seen = {};
  seen.timed_out = true;
  CAF_CHECK_EQUAL(rule.judge(seen, 4s).reason,
                  "the command was not over after 2.5 s");
}

CAF_TEST(a command learns whom it is about and nothing is smuggled in) {
  const auto rule = make<command_rule>({{"command", text("true")}});
  const auto& env = rule.question().env;
  const auto has = [&](const std::string& x) {
    return std::find(env.begin(), env.end(), x) != env.end();
  };
  CAF_CHECK(has("TROUPE_MONITOR_KIND=command"));
  CAF_CHECK(has("TROUPE_MONITOR_NSPACE=job"));
  CAF_CHECK(has("TROUPE_MONITOR_RANK=1"));
  CAF_CHECK(has("TROUPE_MONITOR_PID=7"));
  auto about = react_to_alert{};
  about.reason = std::string{"a\0b", 3};
  for (const auto& x : monitor_environment(about))
    CAF_CHECK(x.find('\0') == std::string::npos);
}
