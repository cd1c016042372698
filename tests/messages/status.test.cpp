// The status codes and their way through CAF's errors.

#include "messages/status.hpp"

#include "tests/test.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>
#include <caf/sec.hpp>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

using namespace troupe;

namespace {

struct row {
  int32_t number;
  std::string c_name;
};

/// Numbers that programs have compiled in, written down from the Standard's
/// headers.
const auto known = std::vector<row>{
  {0, "PMIX_SUCCESS"},
  {-1, "PMIX_ERROR"},
  {-4, "PMIX_ERR_PROC_RESTART"},
  {-7, "PMIX_ERR_PROC_ABORTED"},
  {-8, "PMIX_ERR_PROC_REQUESTED_ABORT"},
  {-11, "PMIX_EXISTS"},
  {-12, "PMIX_ERR_INVALID_CRED"},
  {-15, "PMIX_ERR_WOULD_BLOCK"},
  {-16, "PMIX_ERR_UNKNOWN_DATA_TYPE"},
  {-18, "PMIX_ERR_TYPE_MISMATCH"},
  {-19, "PMIX_ERR_UNPACK_INADEQUATE_SPACE"},
  {-23, "PMIX_ERR_NO_PERMISSIONS"},
  {-24, "PMIX_ERR_TIMEOUT"},
  {-25, "PMIX_ERR_UNREACH"},
  {-27, "PMIX_ERR_BAD_PARAM"},
  {-29, "PMIX_ERR_OUT_OF_RESOURCE"},
  {-31, "PMIX_ERR_INIT"},
  {-32, "PMIX_ERR_NOMEM"},
  {-44, "PMIX_ERR_INVALID_NAMESPACE"},
  {-46, "PMIX_ERR_NOT_FOUND"},
  {-47, "PMIX_ERR_NOT_SUPPORTED"},
  {-52, "PMIX_ERR_PARTIAL_SUCCESS"},
  {-53, "PMIX_ERR_DUPLICATE_KEY"},
  {-61, "PMIX_ERR_LOST_CONNECTION"},
  {-104, "PMIX_QUERY_PARTIAL_SUCCESS"},
  {-109, "PMIX_MONITOR_HEARTBEAT_ALERT"},
  {-144, "PMIX_ERR_EVENT_REGISTRATION"},
  {-157, "PMIX_OPERATION_SUCCEEDED"},
  {-180, "PMIX_ERR_JOB_CANCELED"},
  {-190, "PMIX_ERR_JOB_EXE_NOT_FOUND"},
  {-200, "PMIX_ERR_PROC_TERM_WO_SYNC"},
  {-231, "PMIX_ERR_NODE_DOWN"},
  {-331, "PMIX_EVENT_NO_ACTION_TAKEN"},
  {-334, "PMIX_EVENT_ACTION_COMPLETE"},
  {-3000, "PMIX_EXTERNAL_ERR_BASE"},
};

/// Every name and number of the table, in its order.
const row table[] = {
#define TROUPE_STATUS(name, number, c_name) {number, c_name},
#include "messages/status.def"
#undef TROUPE_STATUS
};

} // namespace

CAF_TEST(F2.2 G59 codes have the numbers and names of the Standard) {
  for (const auto& x : known) {
    const auto code = static_cast<status>(x.number);
    CAF_CHECK_EQUAL(to_string(code), x.c_name);
    CAF_CHECK(status_named(x.c_name) == code);
  }
}

CAF_TEST(F2.2 names are unique and begin as in C) {
  std::set<std::string> names;
  for (const auto& x : table) {
    const auto is_ours = x.number < -3000;
    CAF_CHECK_EQUAL(x.c_name.rfind(is_ours ? "TROUPE_" : "PMIX_", 0), 0u);
    CAF_CHECK(names.insert(x.c_name).second);
    CAF_CHECK(status_named(x.c_name) == static_cast<status>(x.number));
  }
  CAF_CHECK(names.size() > 160);
}

CAF_TEST(F2.2 of several names for one number the first is printed) {
  std::set<int32_t> seen;
  for (const auto& x : table)
    if (seen.insert(x.number).second)
      CAF_CHECK_EQUAL(to_string(static_cast<status>(x.number)), x.c_name);
  CAF_CHECK(status_named("PMIX_EXISTS") == status_named("PMIX_ERR_EXISTS"));
  CAF_CHECK_EQUAL(to_string(status::err_exists), "PMIX_EXISTS");
  CAF_CHECK_EQUAL(to_string(status::job_end), "PMIX_ERR_JOB_TERMINATED");
}

CAF_TEST(F2.2 a code without a name prints as its number) {
  CAF_CHECK_EQUAL(to_string(static_cast<status>(-99999)), "-99999");
  CAF_CHECK_EQUAL(to_string(static_cast<status>(17)), "17");
  CAF_CHECK(!status_named("PMIX_ERR_NO_SUCH_THING"));
  CAF_CHECK(!status_named(""));
  CAF_CHECK(!status_named("TIMEOUT"));
}

CAF_TEST(a failure travels through an error with its reason) {
  for (const auto& x : table) {
    if (x.number == 0)
      continue;
    const auto code = static_cast<status>(x.number);
    const auto err = make_error(code, "because");
    CAF_CHECK(static_cast<bool>(err));
    CAF_CHECK_EQUAL(status_of(err), code);
    CAF_CHECK_EQUAL(reason_of(err), "because");
  }
}

CAF_TEST(a failure without a reason is named by its code) {
  CAF_CHECK_EQUAL(reason_of(make_error(status::timeout)), "PMIX_ERR_TIMEOUT");
  const auto strange = static_cast<status>(-77777);
  CAF_CHECK_EQUAL(status_of(make_error(strange)), strange);
  CAF_CHECK_EQUAL(reason_of(make_error(strange)), "-77777");
}

CAF_TEST(errors of the actor system map to the closest status) {
  CAF_CHECK_EQUAL(status_of({}), status::success);
  CAF_CHECK_EQUAL(status_of(make_error(caf::sec::request_timeout)),
                  status::timeout);
  CAF_CHECK_EQUAL(status_of(make_error(caf::sec::request_receiver_down)),
                  status::unreach);
  CAF_CHECK_EQUAL(status_of(make_error(caf::exit_reason::user_shutdown)),
                  status::unreach);
  CAF_CHECK_EQUAL(status_of(make_error(caf::exit_reason::kill)),
                  status::unreach);
  CAF_CHECK_EQUAL(status_of(make_error(caf::sec::runtime_error)),
                  status::error);
  CAF_CHECK_EQUAL(status_of(make_error(caf::sec::unexpected_message)),
                  status::error);
  CAF_CHECK(
    reason_of(make_error(caf::sec::request_timeout)).find("request_timeout")
    != std::string::npos);
}

CAF_TEST(an error of our category with a strange context is just an error) {
  const auto category = make_error(status::timeout).category();
  CAF_CHECK_EQUAL(status_of(caf::error{1, category}), status::error);
  CAF_CHECK_EQUAL(status_of(caf::error{1, category, caf::make_message(1.5)}),
                  status::error);
  CAF_CHECK(!reason_of(caf::error{1, category}).empty());
}

CAF_TEST(F2.4 an error survives serialisation) {
  caf::actor_system_config config;
  caf::actor_system sys{config};
  for (const auto code : {status::timeout, status::external_err_base}) {
    auto before = make_error(code, "a reason");
    std::vector<char> bytes;
    caf::binary_serializer sink{sys, bytes};
    CAF_REQUIRE(!sink(before));
    caf::error after;
    caf::binary_deserializer source{sys, bytes};
    CAF_REQUIRE(!source(after));
    CAF_CHECK_EQUAL(status_of(after), code);
    CAF_CHECK_EQUAL(reason_of(after), "a reason");
  }
}
