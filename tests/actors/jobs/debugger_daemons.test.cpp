// Where daemons of a debugger go, and whom they debug.

#include "actors/jobs/debugger_daemons.hpp"

#include "actors/jobs/job_options.hpp"
#include "actors/jobs/node_mapping.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

#include <map>
#include <string>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

info target(proc_id x) {
  return with(attr::debug_target, value::of_proc(std::move(x)));
}

const auto all = target({"app", rank_wildcard});

spawn_request daemons(std::vector<info> infos) {
  auto result = spawn_request{std::move(infos), {}};
  result.job_infos.push_back(with(attr::debugger_daemons));
  result.apps.emplace_back();
  result.apps.back().cmd = "daemon";
  result.apps.back().max_procs = 1;
  return result;
}

/// A job with three processes on one node and one on another.
job_map debugged() {
  auto result = job_map{"app", 1, {}};
  result.shares.push_back({0, "n0", {{0, 0, {}}, {1, 0, {}}, {3, 0, {}}}});
  result.shares.push_back({2, "n2", {{2, 0, {}}}});
  return result;
}

status refusal(const spawn_request& request) {
  const auto found = read_debugger_daemons(request);
  if (found)
    return status::success;
  CAF_MESSAGE(reason_of(found.error()));
  return status_of(found.error());
}

/// Where they are put: the nodes by rank, or why they are not.
std::string places(std::vector<info> infos) {
  auto request = daemons(std::move(infos));
  const auto found = read_debugger_daemons(request);
  if (!found)
    return reason_of(found.error());
  CAF_REQUIRE(*found);
  if (auto why = put_beside(**found, debugged(), request))
    return to_string(status_of(why));
  const auto options = read_options(request);
  CAF_REQUIRE(options);
  CAF_CHECK(options->bind_to == resource_kind::none);
  // It is started again as it was placed.
  const auto again = read_debugger_daemons(request);
  CAF_CHECK(again && !*again);
  auto shares = map_job(request, *options,
                        {{0, "n0", 1, 0}, {1, "n1", 8, 0}, {2, "n2", 1, 0}});
  if (!shares)
    return reason_of(shares.error());
  auto result = std::map<uint32_t, std::string>{};
  for (const auto& x : *shares)
    for (const auto& y : x.procs)
      result[y.rank] = x.hostname;
  auto text = std::string{};
  for (const auto& [rank, name] : result)
    text += (text.empty() ? "" : " ") + name;
  return text;
}

} // namespace

CAF_TEST(SPW-4 daemons go where their target is) {
  CAF_CHECK_EQUAL(places({all}), "n0 n0 n0 n2");
  CAF_CHECK_EQUAL(places({target({"app", 2})}), "n2");
  CAF_CHECK_EQUAL(
    places({all, with(attr::debug_daemons_per_proc, value::uint16(2))}),
    "n0 n0 n0 n0 n0 n0 n2 n2");
  CAF_CHECK_EQUAL(
    places({all, with(attr::debug_daemons_per_node, value::uint16(2))}),
    "n0 n0 n2 n2");
  CAF_CHECK_EQUAL(places({all, with(attr::mapby, value::string("ppr:1:node"))}),
                  "n0 n2");
  CAF_CHECK_EQUAL(places({with(attr::debug_job, value::string("app"))}),
                  "n0 n0 n0 n2");
  CAF_CHECK_EQUAL(places({target({"app", 9})}), to_string(status::not_found));
  CAF_CHECK_EQUAL(
    places({all, with(attr::debug_daemons_per_proc, value::uint16(20000))}),
    to_string(status::job_insufficient_resources));
}

CAF_TEST(SPW-4 other jobs are none) {
  auto request = daemons({all});
  request.job_infos.back() =
    with(attr::debugger_daemons, value::boolean(false));
  const auto found = read_debugger_daemons(request);
  CAF_REQUIRE(found);
  CAF_CHECK(!*found);
  // What they are told does not depend on that.
  const auto whole = proc_id{"app", rank_wildcard};
  CAF_CHECK(debug_target_of(request) == whole);
}

CAF_TEST(SPW-4 what cannot be met is refused) {
  CAF_CHECK_EQUAL(refusal(daemons({all})), status::success);
  CAF_CHECK_EQUAL(refusal(daemons({})), status::bad_param);
  CAF_CHECK_EQUAL(refusal(daemons({target({"", 0})})), status::bad_param);
  for (const auto key :
       {attr::debug_daemons_per_node, attr::debug_daemons_per_proc}) {
    CAF_CHECK_EQUAL(refusal(daemons({all, with(key, value::uint16(0))})),
                    status::bad_param);
    CAF_CHECK_EQUAL(refusal(daemons({all, with(key, value::string("x"))})),
                    status::bad_param);
  }
  for (const auto* mapping : {"core", "ppr:1:core", "seq"})
    CAF_CHECK_EQUAL(
      refusal(daemons({all, with(attr::mapby, value::string(mapping))})),
      status::not_supported);
  CAF_CHECK_EQUAL(
    refusal(daemons({all, with(attr::host, value::string("n1"))})),
    status::not_supported);
  auto request = daemons({all});
  request.apps.push_back(request.apps.front());
  CAF_CHECK_EQUAL(refusal(request), status::not_supported);
  // A part of a job may not say so either.
  request.job_infos = {all};
  request.apps.back().infos = {with(attr::debugger_daemons)};
  CAF_CHECK_EQUAL(refusal(request), status::not_supported);
  request.apps.erase(request.apps.begin());
  CAF_CHECK_EQUAL(refusal(request), status::success);
}
