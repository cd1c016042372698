// The command line of `troupe monitor`, and what `list` shows.

#include "config/monitor_settings.hpp"
#include "messages/attributes.hpp"
#include "messages/custom_monitor.hpp"
#include "messages/enums.hpp"
#include "messages/status.hpp"
#include "tests/test.hpp"
#include "tools/monitor.hpp"
#include "tools/report.hpp"

#include <nlohmann/json.hpp>

using namespace troupe;

namespace {

template <class T>
T parse(std::vector<std::string> args) {
  auto x = parse_monitor_options(std::move(args));
  auto* order = std::get_if<monitor_order>(&x);
  if (order == nullptr || !std::holds_alternative<T>(*order))
    CAF_FAIL("not what was asked for");
  return std::move(std::get<T>(*order));
}

int refused(std::vector<std::string> args) {
  auto x = parse_monitor_options(std::move(args));
  const auto* result = std::get_if<int>(&x);
  return result != nullptr ? *result : -1;
}

} // namespace

CAF_TEST(a monitor is of a kind and watches one process) {
  const auto x = parse<add_monitor>(
    {"add",        "cpu_progress", "--proc",     "job:3",
     "--interval", "2.5",          "--drops",    "1",
     "--set",      "minimum=0.1",  "--set",      "text=a=b",
     "--reaction", "stack",        "--reaction", "command:echo a, b",
     "--id",       "m1",           "--code",     "-3001",
     "--range",    "global",       "--dvm",      "d"});
  CAF_CHECK_EQUAL(x.dvm, "d");
  CAF_CHECK_EQUAL(x.what.monitor.key, monitor_kind_key);
  CAF_CHECK_EQUAL(*x.what.monitor.val.text(), "cpu_progress");
  CAF_CHECK_EQUAL(x.what.error_code, static_cast<status>(-3001));
  const auto& all = x.what.directives;
  CAF_CHECK((procs_of(*find(all, attr::monitor_target_procs))
             == std::vector<proc_id>{{"job", 3}}));
  CAF_CHECK_EQUAL(text(all, monitor_interval_key).value_or(""), "2.5");
  CAF_CHECK_EQUAL(text(all, monitor_drops_key).value_or(""), "1");
  CAF_CHECK_EQUAL(text(all, "troupe.monitor.minimum").value_or(""), "0.1");
  CAF_CHECK_EQUAL(text(all, "troupe.monitor.text").value_or(""), "a=b");
  CAF_CHECK_EQUAL(text(all, attr::monitor_id).value_or(""), "m1");
  auto reactions = std::vector<std::string>{};
  for (const auto& y : all)
    if (y.key == monitor_reaction_key)
      reactions.push_back(*y.val.text());
  CAF_CHECK(
    (reactions == std::vector<std::string>{"stack", "command:echo a, b"}));
  CAF_CHECK_EQUAL(number<uint8_t>(all, attr::range).value_or(0),
                  static_cast<uint8_t>(data_range::global));
}

CAF_TEST(alerts may pass by handlers that are registered for all codes) {
  auto args =
    std::vector<std::string>{"add", "cpu_progress", "--proc", "job:3"};
  const auto told = [&] {
    return flag(parse<add_monitor>(args).what.directives,
                attr::event_non_default);
  };
  CAF_CHECK(!told());
  args.emplace_back("--non-default");
  CAF_CHECK(told());
}

CAF_TEST(alerts of kinds have a code of the Standard unless one is given) {
  const auto x = parse<add_monitor>({"add", "queue", "--proc", "job:0"});
  CAF_CHECK_EQUAL(x.what.error_code, status::proc_sensor_bound_exceeded);
}

CAF_TEST(M11 a monitor is cancelled by its number) {
  const auto x = parse<cancel_monitor>({"cancel", "4294967297"});
  CAF_CHECK_EQUAL(x.what.monitor.key, attr::monitor_cancel);
  CAF_CHECK_EQUAL(
    number<uint64_t>(x.what.directives, monitor_number_key).value_or(0),
    4294967297u);
}

CAF_TEST(what makes no sense is refused with status 2) {
  for (const auto& args : std::vector<std::vector<std::string>>{
         {},
         {"watch"},
         {"add"},
         {"add", "cpu_progress"},
         {"add", "cpu_progress", "--proc", "job"},
         {"add", "cpu_progress", "--proc", "job:*"},
         {"add", "cpu_progress", "--proc", "job:0", "--set", "x"},
         {"add", "cpu_progress", "--proc", "job:0", "--set", "=x"},
         {"add", "cpu_progress", "--proc", "job:0", "--reaction", "hit"},
         {"add", "cpu_progress", "--proc", "job:0", "--range", "far"},
         {"cancel"},
         {"cancel", "x"}})
    CAF_CHECK_EQUAL(refused(args), 2);
  CAF_CHECK_EQUAL(refused({"--help"}), 0);
  CAF_CHECK_EQUAL(refused({"add", "--help"}), 0);
}

CAF_TEST(what a site says on monitors is checked) {
  auto x = monitor_settings{};
  CAF_CHECK(!apply_settings(
    x, {"plugins=/a/b", "reaction=log", "reaction=command:a=b"}));
  CAF_CHECK_EQUAL(x.plugins, "/a/b");
  CAF_CHECK((x.reactions == std::vector<std::string>{"log", "command:a=b"}));
  for (const auto* wrong :
       {"", "plugins", "plugins=", "plugins=a", "reaction=", "other=1"})
    CAF_CHECK_EQUAL(status_of(apply_setting(x, wrong)), status::bad_param);
}

CAF_TEST(monitors are shown in a table) {
  const auto row = [](uint64_t number, const char* kind) {
    return info{
      "item", 0,
      value::infos({{std::string{monitor_number_key}, 0, value::uint64(number)},
                    {std::string{attr::hostname}, 0, value::string("n1")},
                    {std::string{attr::procid}, 0, value::of_proc({"job", 3})},
                    {std::string{monitor_kind_key}, 0, value::string(kind)}})};
  };
  auto beats = row(7, "heartbeat");
  const auto say = [&](std::string_view key, double x) {
    auto infos = infos_of(beats.val);
    infos.push_back({std::string{key}, 0, value{data_type::double_, x}});
    beats.val = value::infos(std::move(infos));
  };
  say(monitor_last_key, 0.125);
  say(monitor_due_key, 2);
  auto updates = infos_of(row(12, "disk_resource_usage").val);
  updates.push_back(
    {std::string{monitor_requestor_key}, 0, value::of_proc({"job", 3})});
  updates.push_back(
    {std::string{monitor_target_key}, 0, value::string("disk sda")});
  updates.push_back({std::string{monitor_interval_key}, 0, value::uint32(30)});
  const auto shown = to_json(
    value::infos({beats, {"item", 0, value::infos(std::move(updates))}}));
  CAF_CHECK_EQUAL(
    to_text(report_kind::monitors, shown),
    "NUMBER  PROCESS  NODE  KIND                 ID   LAST  DUE  EVERY  FILE"
    "  USE OF    ASKED BY  ALERT\n"
    "     7  job:3    n1    heartbeat            -   0.125  2.0      -  -   "
    "  -         -         -\n"
    "    12  job:3    n1    disk_resource_usage  -       -    -     30  -   "
    "  disk sda  job:3     -\n");
}
