// Checkpoints that can be started from, and how.

#include "actors/control/checkpoint_records.hpp"

#include "messages/attributes.hpp"
#include "messages/status.hpp"
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
                  "checkpoint c1 has no state of job@1:3; restart those it "
                  "has, or the whole job");
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
  CAF_CHECK(uut.add(record("c1")).empty());
  CAF_CHECK(uut.add(record("c2")).empty());
  CAF_CHECK(uut.add(record("c1")).empty());
  CAF_CHECK(uut.add(record("c3")) == std::vector<std::string>{"c2"});
  CAF_CHECK(uut.find(our_uid, "c1") != nullptr);
  CAF_CHECK(uut.find(our_uid, "c2") == nullptr);
}

CAF_TEST(J11 checkpoints have a bound in bytes and the newest is kept) {
  auto one = checkpoint_records{};
  one.add(record("c1"));
  const auto bytes = one.size_bytes();
  CAF_CHECK(bytes > 100u);
  auto uut = checkpoint_records{256, 3 * bytes};
  uut.add(record("c1"));
  uut.add(record("c2"));
  CAF_CHECK(uut.add(record("c1")).empty());
  CAF_CHECK_EQUAL(uut.size_bytes(), 2 * bytes);
  auto large = record("c3");
  auto job = *large.job;
  job.request.apps[0].env.push_back(std::string(2 * bytes, 'x'));
  large.job = std::make_shared<const recorded_job>(std::move(job));
  const auto gone = uut.add(std::move(large));
  CAF_CHECK(gone == (std::vector<std::string>{"c2", "c1"}));
  CAF_CHECK_EQUAL(uut.size(), 1u);
  CAF_CHECK(uut.find(our_uid, "c3") != nullptr);
  // Nor does a file bring more.
  auto many = checkpoint_records{};
  for (const auto* id : {"a", "b", "c", "d"})
    many.add(record(id));
  auto after = checkpoint_records{256, 2 * bytes};
  CAF_REQUIRE(!after.load(many.save()));
  CAF_CHECK_EQUAL(after.size(), 2u);
  CAF_CHECK(after.find(our_uid, "d") != nullptr);
  CAF_CHECK(after.size_bytes() <= 2 * bytes);
}

CAF_TEST(J10 J11 what is kept can be started from in another DVM) {
  auto before = checkpoint_records{};
  before.add(record("first"));
  before.add(record("second", 2000));
  const auto bytes = before.save();
  auto after = checkpoint_records{};
  CAF_CHECK(!after.load(bytes));
  CAF_CHECK_EQUAL(after.size(), 2u);
  CAF_CHECK(after.find(our_uid, "second") == nullptr);
  const auto* x = after.find(our_uid, "first");
  CAF_REQUIRE(x != nullptr);
  // The name of its job may be another one's.
  CAF_CHECK_EQUAL(x->latest, "");
  CAF_CHECK_EQUAL(x->nspace, "job@1");
  const auto again = make_restart(*x, {}, {});
  const auto first = make_restart(*before.find(our_uid, "first"), {}, {});
  CAF_REQUIRE(again && first);
  CAF_CHECK(*again == *first);
  CAF_CHECK_EQUAL(after.save(), bytes);
}

CAF_TEST(J10 X14 bytes of something else are refused and nothing is taken) {
  auto before = checkpoint_records{};
  before.add(record("first"));
  const auto bytes = before.save();
  auto after = checkpoint_records{};
  for (size_t size = 0; size < bytes.size(); ++size)
    CAF_CHECK_EQUAL(status_of(after.load(bytes.substr(0, size))),
                    status::bad_param);
  CAF_CHECK_EQUAL(status_of(after.load("x" + bytes)), status::bad_param);
  CAF_CHECK_EQUAL(status_of(after.load(bytes + "x")), status::bad_param);
  // A rank without a program.
  auto wrong = record("wrong");
  auto job = std::make_shared<recorded_job>(*wrong.job);
  job->apps.back() = 2;
  wrong.job = job;
  auto of_wrong = checkpoint_records{};
  of_wrong.add(wrong);
  CAF_CHECK_EQUAL(status_of(after.load(of_wrong.save())), status::bad_param);
  CAF_CHECK_EQUAL(after.size(), 0u);
}
