// What requests to monitor come to.

#include "actors/monitors/monitor_directives.hpp"

#include "messages/attributes.hpp"
#include "messages/custom_monitor.hpp"
#include "messages/monitor.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace std::chrono_literals;
using fixtures::with;
using fixtures::with_range;

namespace {

using infos = std::vector<info>;

/// A value as PMIX_INFO_LOAD makes it of NULL and PMIX_POINTER.
value pointer() {
  return value{data_type::pointer, std::monostate{}};
}

monitor_request ask(info what, infos directives = {},
                    status code = status::success) {
  return {std::move(what), code, std::move(directives)};
}

info beats(value x = pointer()) {
  return with(attr::monitor_heartbeat, std::move(x));
}

info seconds(uint32_t x) {
  return with(attr::monitor_heartbeat_time, value::uint32(x));
}

info drops(uint32_t x) {
  return with(attr::monitor_heartbeat_drops, value::uint32(x));
}

info check_time(uint32_t x) {
  return with(attr::monitor_file_check_time, value::uint32(x));
}

monitor_plan plan_of(const monitor_request& x) {
  auto result = plan_monitor(x);
  if (!result)
    CAF_FAIL("refused: " + reason_of(result.error()));
  return *result;
}

/// Checks that a request is refused by a sentence with `culprit` in it.
void check_refused(const monitor_request& x, const std::string& culprit,
                   status code = status::bad_param) {
  const auto result = plan_monitor(x);
  if (result)
    CAF_FAIL("not refused: " + culprit);
  CAF_CHECK_EQUAL(status_of(result.error()), code);
  CAF_CHECK(reason_of(result.error()).find(culprit) != std::string::npos);
}

} // namespace

CAF_TEST(M15 M16 104 105 the window is the period times the drops and one) {
  CAF_CHECK(plan_of(ask(beats(), {seconds(5)})).window == 5s);
  CAF_CHECK(plan_of(ask(beats(), {seconds(5), drops(2)})).window == 15s);
  CAF_CHECK(plan_of(ask(beats(), {seconds(5), drops(0)})).window == 5s);
}

CAF_TEST(M26 a period may be in milliseconds) {
  const auto ms = with(heartbeat_ms_key, value::uint32(50));
  CAF_CHECK(plan_of(ask(beats(), {ms, drops(3)})).window == 200ms);
  CAF_CHECK(plan_of(ask(beats(), {seconds(9), ms})).window == 50ms);
}

CAF_TEST(M13 A22 a heartbeat is asked for by the presence of its key) {
  for (const auto& x : {pointer(), value{}, value::boolean(true)})
    CAF_CHECK(plan_of(ask(beats(x), {seconds(1)})).task
              == monitor_task::heartbeat);
  CAF_CHECK(plan_of(ask(beats(value::boolean(false)))).task
            == monitor_task::no_heartbeat);
}

CAF_TEST(M14 111 a beat in whatever form is one) {
  for (const auto& x : {pointer(), value{}, value::boolean(true)})
    CAF_CHECK(plan_of(ask(with(attr::send_heartbeat, x))).task
              == monitor_task::beat);
}

CAF_TEST(M2 108 the code is that of the request or the built in one) {
  CAF_CHECK_EQUAL(plan_of(ask(beats(), {seconds(1)})).code,
                  status::monitor_heartbeat_alert);
  CAF_CHECK_EQUAL(
    plan_of(ask(beats(), {seconds(1)}, status::proc_aborted)).code,
    status::proc_aborted);
  const auto file = with(attr::monitor_file, value::string("/a"));
  CAF_CHECK_EQUAL(plan_of(ask(file, {check_time(1)})).code,
                  status::monitor_file_alert);
}

CAF_TEST(M3 109 the range is the namespace unless one is given) {
  CAF_CHECK(plan_of(ask(beats(), {seconds(1)})).range == data_range::nspace);
  CAF_CHECK(
    plan_of(ask(beats(), {seconds(1), with_range(data_range::undef)})).range
    == data_range::nspace);
  CAF_CHECK(
    plan_of(ask(beats(), {seconds(1), with_range(data_range::global)})).range
    == data_range::global);
  check_refused(ask(beats(), {seconds(1), with_range(data_range::custom)}),
                "PMIX_EVENT_CUSTOM_RANGE");
  check_refused(ask(beats(), {seconds(1), with_range(data_range{77})}),
                "PMIX_RANGE");
  const auto to = with(attr::event_custom_range, value::procs({{"job", 3}}));
  const auto custom =
    plan_of(ask(beats(), {seconds(1), with_range(data_range::custom), to}));
  CAF_REQUIRE_EQUAL(custom.event_infos.size(), 1u);
  CAF_CHECK(custom.event_infos[0] == to);
}

CAF_TEST(M10 M12 118 identifier and control are read) {
  const auto x = plan_of(
    ask(beats(), {seconds(1), with(attr::monitor_id, value::string("m")),
                  with(attr::monitor_app_control)}));
  CAF_CHECK(x.id == "m");
  CAF_CHECK(x.app_control);
  CAF_CHECK(!plan_of(ask(beats(), {seconds(1)})).app_control);
  check_refused(ask(beats(), {seconds(1), with(attr::monitor_id, pointer())}),
                "PMIX_MONITOR_ID");
  check_refused(
    ask(beats(), {seconds(1), with(attr::monitor_id, value::string(""))}),
    "PMIX_MONITOR_ID");
  check_refused(
    ask(beats(), {seconds(1), with(attr::monitor_id,
                                   value::string(std::string(512, 'x')))}),
    "PMIX_MONITOR_ID");
}

CAF_TEST(M11 A21 110 a cancellation without a text is for all) {
  for (const auto& x : {pointer(), value{}, value::boolean(true),
                        value{data_type::string, std::monostate{}}}) {
    const auto got = plan_of(ask(with(attr::monitor_cancel, x)));
    CAF_CHECK(got.task == monitor_task::cancel);
    CAF_CHECK(!got.id);
  }
  const auto one = plan_of(ask(with(attr::monitor_cancel, value::string("m"))));
  CAF_CHECK(one.task == monitor_task::cancel);
  CAF_CHECK(one.id == "m");
  const auto among =
    plan_of(ask(beats(), {with(attr::monitor_cancel, value::string("m"))}));
  CAF_CHECK(among.task == monitor_task::cancel);
  auto strange = with("strange.key");
  strange.flags = info_required;
  check_refused(ask(with(attr::monitor_cancel), {strange}), "strange.key",
                status::not_supported);
}

CAF_TEST(M15 M16 numbers that make no sense are refused by name) {
  check_refused(ask(beats()), "PMIX_MONITOR_HEARTBEAT_TIME");
  check_refused(ask(beats(), {seconds(0)}), "PMIX_MONITOR_HEARTBEAT_TIME");
  check_refused(
    ask(beats(), {with(attr::monitor_heartbeat_time, value::string("5"))}),
    "PMIX_MONITOR_HEARTBEAT_TIME");
  check_refused(
    ask(beats(), {with(attr::monitor_heartbeat_time, value::integer(-1))}),
    "PMIX_MONITOR_HEARTBEAT_TIME");
  check_refused(ask(beats(), {seconds(1), with(attr::monitor_heartbeat_drops,
                                               value::string("x"))}),
                "PMIX_MONITOR_HEARTBEAT_DROPS");
  check_refused(ask(beats(), {seconds(UINT32_MAX), drops(UINT32_MAX)}),
                "more than a year");
  check_refused(ask(beats(), {seconds(1), drops(UINT32_MAX)}),
                "more than a year");
  // Signed numbers are common in C.
  CAF_CHECK(plan_of(ask(beats(), {with(attr::monitor_heartbeat_time,
                                       value::integer(3))}))
              .window
            == 3s);
}

CAF_TEST(M17 M21 M22 116 a file is named by the old key) {
  const auto x = plan_of(
    ask(with(attr::monitor_file, value::string("/a")),
        {check_time(2), with(attr::monitor_file_drops, value::uint32(3)),
         with(attr::monitor_file_size, value::boolean(true))}));
  CAF_CHECK(x.task == monitor_task::files);
  CAF_REQUIRE_EQUAL(x.files.size(), 1u);
  CAF_CHECK_EQUAL(x.files[0].path, "/a");
  CAF_CHECK(x.files[0].period == 2s);
  CAF_CHECK_EQUAL(x.files[0].drops, 3u);
  CAF_CHECK(x.files[0].signs.size);
  CAF_CHECK(!x.files[0].signs.access);
  CAF_CHECK(!x.files[0].signs.modify);
}

CAF_TEST(M17 116 files are named by the new key which is the same text) {
  const auto files =
    with(attr::monitor_file,
         value::array(data_type::string,
                      {value::string("/a"), value::string("/b")}));
  const auto x =
    plan_of(ask(with("pmix.monitor.fchg", value::boolean(true)),
                {files, check_time(1),
                 with(attr::monitor_file_modify, value::boolean(true))}));
  CAF_REQUIRE_EQUAL(x.files.size(), 2u);
  for (const auto& file : x.files) {
    CAF_CHECK(file.signs.modify);
    CAF_CHECK(!file.signs.size);
  }
  const auto y = plan_of(ask(files, {check_time(1)}));
  CAF_REQUIRE_EQUAL(y.files.size(), 2u);
  CAF_CHECK(y.files[0].signs.size);
  CAF_CHECK(y.files[0].signs.modify);
  CAF_CHECK(!y.files[0].signs.access);
}

CAF_TEST(M19 M20 A23 116 a path is for its check and a flag for all files) {
  const auto x = plan_of(
    ask(with(attr::monitor_file, value::string("/a")),
        {check_time(1), with(attr::monitor_file_access, value::string("/b")),
         with(attr::monitor_file_modify, value::boolean(true))}));
  CAF_REQUIRE_EQUAL(x.files.size(), 2u);
  CAF_CHECK_EQUAL(x.files[0].path, "/a");
  CAF_CHECK(x.files[0].signs.modify);
  CAF_CHECK(!x.files[0].signs.access);
  CAF_CHECK_EQUAL(x.files[1].path, "/b");
  CAF_CHECK(x.files[1].signs.access);
  CAF_CHECK(!x.files[1].signs.modify);
  // The monitor itself may be the check.
  const auto y = plan_of(
    ask(with(attr::monitor_file_access, value::string("/c")), {check_time(1)}));
  CAF_REQUIRE_EQUAL(y.files.size(), 1u);
  CAF_CHECK(y.files[0].signs.access);
  CAF_CHECK(!y.files[0].signs.size);
  // The same file twice is one.
  const auto z = plan_of(
    ask(with(attr::monitor_file, value::string("/a")),
        {check_time(1), with(attr::monitor_file_access, value::string("/a"))}));
  CAF_REQUIRE_EQUAL(z.files.size(), 1u);
  CAF_CHECK(z.files[0].signs.access);
  CAF_CHECK(!z.files[0].signs.size);
}

CAF_TEST(M18 A23 a flag that is false asks for nothing) {
  const auto x = plan_of(
    ask(with(attr::monitor_file, value::string("/a")),
        {check_time(1), with(attr::monitor_file_access, value::boolean(false)),
         with(attr::monitor_file_size, value::boolean(true))}));
  CAF_CHECK(!x.files[0].signs.access);
  CAF_CHECK(x.files[0].signs.size);
}

CAF_TEST(M17 M21 files that make no sense are refused by name) {
  const auto file = [](const std::string& path) {
    return with(attr::monitor_file, value::string(path));
  };
  check_refused(ask(file("a/b"), {check_time(1)}), "\"a/b\"");
  check_refused(ask(file(""), {check_time(1)}), "absolute");
  check_refused(ask(file("/" + std::string(5000, 'x')), {check_time(1)}),
                "too long");
  check_refused(ask(file("/a")), "PMIX_MONITOR_FILE_CHECK_TIME");
  check_refused(
    ask(with(attr::monitor_file_size, value::boolean(true)), {check_time(1)}),
    "PMIX_MONITOR_FILE");
  auto many = std::vector<value>{};
  for (int i = 0; i < 65; ++i)
    many.push_back(value::string("/" + std::to_string(i)));
  check_refused(ask(with(attr::monitor_file,
                         value::array(data_type::string, std::move(many))),
                    {check_time(1)}),
                "64");
}

CAF_TEST(M4 an unknown directive is passed over unless it is required) {
  auto strange = with("strange.key", value::uint32(1));
  CAF_CHECK(plan_of(ask(beats(), {seconds(1), strange})).window == 1s);
  strange.flags = info_required;
  check_refused(ask(beats(), {seconds(1), strange}), "strange.key",
                status::not_supported);
  auto known = seconds(1);
  known.flags = info_required;
  CAF_CHECK(plan_of(ask(beats(), {known})).window == 1s);
}

CAF_TEST(M27 A24 what is not for us is left as it is) {
  CAF_CHECK(plan_of(ask(with(attr::monitor_proc_resource_usage))).task
            == monitor_task::usage);
  CAF_CHECK(plan_of(ask(with("site.monitor"))).task == monitor_task::other);
  const auto kind =
    plan_of(ask(with(monitor_kind_key, value::string("cpu_progress"))));
  CAF_CHECK(kind.task == monitor_task::kind);
  CAF_CHECK_EQUAL(kind.kind, "cpu_progress");
  check_refused(ask(with(monitor_kind_key, value::uint32(1))),
                "troupe.monitor.kind");
}
