// Checkpoints that can be started from, and how.

#include "actors/control/checkpoint_records.hpp"

#include "messages/attributes.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

#include <algorithm>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

std::shared_ptr<const recorded_job> two_programs(uint32_t uid = our_uid) {
  auto result = std::make_shared<recorded_job>();
  result->owner.uid = uid;
  result->request.job_infos = {with(attr::mapby, value::string("node")),
                               with(attr::wdir, value::string("/w"))};
  for (const auto* name : {"solver", "viewer"}) {
    auto x = app{};
    x.cmd = name;
    x.argv = {name, "-v"};
    x.env = {"A=1"};
    x.max_procs = 2;
    result->request.apps.push_back(std::move(x));
  }
  result->hosts = {"n0", "n1", "n0", "n1"};
  result->apps = {0, 0, 1, 1};
  return result;
}

checkpoint record(const std::string& id, uint32_t uid = our_uid) {
  auto result = checkpoint{};
  result.id = id;
  result.nspace = "job@1";
  result.job = two_programs(uid);
  result.ranks = {0, 1, 2, 3};
  return result;
}

spawn_request restart(const checkpoint& x, const std::set<uint32_t>& ranks = {},
                      const std::vector<std::string>& command = {}) {
  auto result = make_restart(x, ranks, command);
  if (!result)
    CAF_FAIL("refused: " << reason_of(result.error()));
  return std::move(*result);
}

std::vector<std::string> hosts_of(const spawn_request& x) {
  auto result = std::vector<std::string>{};
  if (const auto* list = find(x.job_infos, wanted_hosts))
    for (const auto& y : list->array()->elements)
      result.push_back(*y.text());
  return result;
}

bool has(const app& x, const std::string& line) {
  return std::count(x.env.begin(), x.env.end(), line) == 1;
}

} // namespace

CAF_TEST(J10 a restart has the command and environment and places of then) {
  const auto x = restart(record("c1"));
  CAF_REQUIRE_EQUAL(x.apps.size(), 2u);
  CAF_CHECK_EQUAL(x.apps[1].cmd, "viewer");
  CAF_CHECK_EQUAL(x.apps[1].max_procs, 2);
  CAF_CHECK(has(x.apps[0], "A=1"));
  CAF_CHECK(has(x.apps[0], "TROUPE_CHECKPOINT_ID=c1"));
  CAF_CHECK(has(x.apps[1], "TROUPE_CHECKPOINT_ID=c1"));
  CAF_CHECK(hosts_of(x) == (std::vector<std::string>{"n0", "n1", "n0", "n1"}));
  CAF_CHECK_EQUAL(text(x.job_infos, attr::wdir), "/w");
  const auto* preset = find(x.job_infos, preset_data);
  CAF_REQUIRE(preset != nullptr);
  CAF_CHECK_EQUAL(text(infos_of(*preset), attr::job_ctrl_restart), "c1");
}

CAF_TEST(J10 a restart of a restart hands over the newer checkpoint only) {
  auto again = record("c2");
  auto job = *again.job;
  job.request = restart(record("c1"));
  again.job = std::make_shared<const recorded_job>(job);
  const auto x = restart(again);
  CAF_CHECK(has(x.apps[0], "TROUPE_CHECKPOINT_ID=c2"));
  CAF_CHECK(!has(x.apps[0], "TROUPE_CHECKPOINT_ID=c1"));
  const auto preset = infos_of(*find(x.job_infos, preset_data));
  CAF_REQUIRE_EQUAL(preset.size(), 1u);
  CAF_CHECK_EQUAL(text(preset, attr::job_ctrl_restart), "c2");
  CAF_CHECK_EQUAL(
    std::count_if(x.job_infos.begin(), x.job_infos.end(),
                  [](const info& y) { return y.key == wanted_hosts; }),
    1);
}

CAF_TEST(J10 some ranks are started again and know which they were) {
  const auto x = restart(record("c1"), {1, 2});
  CAF_REQUIRE_EQUAL(x.apps.size(), 2u);
  CAF_CHECK_EQUAL(x.apps[0].cmd, "solver");
  CAF_CHECK_EQUAL(x.apps[0].max_procs, 1);
  CAF_CHECK(has(x.apps[0], "TROUPE_CHECKPOINT_RANK=1"));
  CAF_CHECK_EQUAL(x.apps[1].cmd, "viewer");
  CAF_CHECK(has(x.apps[1], "TROUPE_CHECKPOINT_RANK=2"));
  CAF_CHECK(hosts_of(x) == (std::vector<std::string>{"n1", "n0"}));
  CAF_CHECK(find(x.job_infos, attr::mapby) == nullptr);
}

CAF_TEST(J10 a rank without a state cannot be started again) {
  auto x = record("c1");
  x.ranks = {0, 1};
  const auto refused = make_restart(x, {0, 3}, {});
  CAF_REQUIRE(!refused);
  CAF_CHECK_EQUAL(status_of(refused.error()), status::not_found);
  CAF_CHECK_EQUAL(reason_of(refused.error()),
                  "checkpoint c1 has no state of job@1:3");
  CAF_CHECK_EQUAL(restart(x).apps.size(), 2u);
}

CAF_TEST(J10 what a hook has saved a hook restores) {
  auto x = record("c1");
  x.is_by_hook = true;
  const auto refused = make_restart(x, {}, {});
  CAF_REQUIRE(!refused);
  CAF_CHECK_EQUAL(status_of(refused.error()), status::not_supported);
  const auto request = restart(x, {}, {"/site/restore", "-q"});
  CAF_CHECK_EQUAL(request.apps[0].cmd, "/site/restore");
  CAF_CHECK(
    request.apps[0].argv
    == (std::vector<std::string>{"/site/restore", "-q", "solver", "-v"}));
}

CAF_TEST(J10 J11 checkpoints are their owner s and root s) {
  auto uut = checkpoint_records{};
  uut.add(record("c1"));
  CAF_CHECK(uut.find(our_uid, "c1") != nullptr);
  CAF_CHECK(uut.find(our_uid, "c2") == nullptr);
  CAF_CHECK(uut.find(our_uid + 1, "c1") == nullptr);
  CAF_CHECK(uut.find(0, "c1") != nullptr);
  uut.add(record("c1", our_uid + 1));
  CAF_CHECK_EQUAL(uut.size(), 2u);
  CAF_CHECK_EQUAL(uut.find(our_uid, "c1")->job->owner.uid, our_uid);
}

CAF_TEST(J11 a newer checkpoint takes the place of one of its name) {
  auto uut = checkpoint_records{};
  uut.add(record("c1"));
  auto newer = record("c1");
  newer.nspace = "job@2";
  uut.add(std::move(newer));
  CAF_CHECK_EQUAL(uut.size(), 1u);
  CAF_CHECK_EQUAL(uut.find(our_uid, "c1")->nspace, "job@2");
  CAF_CHECK_EQUAL(uut.find(our_uid, "c1")->latest, "job@2");
  uut.restarted(our_uid, "c1", "job@3");
  CAF_CHECK_EQUAL(uut.find(our_uid, "c1")->latest, "job@3");
}

CAF_TEST(J11 the oldest checkpoint is forgotten by name) {
  auto uut = checkpoint_records{2};
  CAF_CHECK_EQUAL(uut.add(record("c1")), "");
  CAF_CHECK_EQUAL(uut.add(record("c2")), "");
  CAF_CHECK_EQUAL(uut.add(record("c1")), "");
  CAF_CHECK_EQUAL(uut.add(record("c3")), "c2");
  CAF_CHECK(uut.find(our_uid, "c1") != nullptr);
  CAF_CHECK(uut.find(our_uid, "c2") == nullptr);
}
