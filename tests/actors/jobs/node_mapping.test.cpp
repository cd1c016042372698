// Which processes go to which node.

#include "actors/jobs/node_mapping.hpp"

#include "messages/attributes.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

/// Programs of so many processes each.
spawn_request programs(std::vector<int32_t> sizes,
                       std::vector<info> job_infos = {}) {
  auto result = spawn_request{std::move(job_infos), {}};
  for (const auto size : sizes) {
    result.apps.emplace_back();
    result.apps.back().cmd = "prog";
    result.apps.back().max_procs = size;
  }
  return result;
}

std::vector<info> map_by(const char* policy, std::vector<info> more = {}) {
  more.push_back(with(attr::mapby, value::string(policy)));
  return more;
}

info hosts(const char* list) {
  return with(attr::host, value::string(list));
}

/// Three nodes with four, two and four slots.
const auto three = std::vector<mapping_node>{
  {0, "n0", 4, 0}, {1, "n1.site.org", 2, 0}, {2, "n2", 4, 0}};

/// The ranks on each node, `n0: 0 1; n2: 2`, or why there is no map.
std::string map(spawn_request request,
                const std::vector<mapping_node>& nodes = three) {
  const auto options = read_options(request);
  if (!options)
    return reason_of(options.error());
  const auto shares = map_job(request, *options, nodes);
  if (!shares)
    return reason_of(shares.error());
  auto result = std::string{};
  for (const auto& share : *shares) {
    result += (result.empty() ? "" : "; ") + share.hostname + ":";
    for (const auto& x : share.procs)
      result += " " + std::to_string(x.rank);
  }
  return result;
}

bool says(const std::string& text, const char* what) {
  if (text.find(what) != std::string::npos)
    return true;
  CAF_MESSAGE(text);
  return false;
}

} // namespace

CAF_TEST(F5.3 a node is filled before the next) {
  CAF_CHECK_EQUAL(map(programs({3})), "n0: 0 1 2");
  CAF_CHECK_EQUAL(map(programs({5})), "n0: 0 1 2 3; n1.site.org: 4");
  CAF_CHECK_EQUAL(map(programs({10}, map_by("slot"))),
                  "n0: 0 1 2 3; n1.site.org: 4 5; n2: 6 7 8 9");
}

CAF_TEST(F5.3 processes go to one node after the other) {
  CAF_CHECK_EQUAL(map(programs({4}, map_by("node"))),
                  "n0: 0 3; n1.site.org: 1; n2: 2");
  // A node that is full is passed over.
  CAF_CHECK_EQUAL(map(programs({10}, map_by("node"))),
                  "n0: 0 3 6 8; n1.site.org: 1 4; n2: 2 5 7 9");
}

CAF_TEST(F5.3 so many processes go to each node) {
  CAF_CHECK_EQUAL(map(programs({5}, map_by("ppr:2:node"))),
                  "n0: 0 1; n1.site.org: 2 3; n2: 4");
  // Without a number there are as many as fit.
  CAF_CHECK_EQUAL(map(programs({0}, map_by("ppr:1:node"))),
                  "n0: 0; n1.site.org: 1; n2: 2");
  CAF_CHECK(says(map(programs({7}, map_by("ppr:2:node"))), "raise N"));
  CAF_CHECK(says(map(programs({9}, map_by("ppr:3:node"))), "10 slots"));
  CAF_CHECK_EQUAL(map(programs({9}, map_by("ppr:3:node:oversubscribe"))),
                  "n0: 0 1 2; n1.site.org: 3 4 5; n2: 6 7 8");
  for (const auto* wrong :
       {"ppr:0:node", "ppr:x:node", "ppr:2", "ppr:2:planet"})
    CAF_CHECK(says(map(programs({1}, map_by(wrong))), "ppr:N:node"));
}

CAF_TEST(F5.3 ranks follow one another on nodes or across them) {
  const auto ranked = [](const char* by) {
    return std::vector<info>{with(attr::rankby, value::string(by))};
  };
  CAF_CHECK_EQUAL(map(programs({6}, ranked("node"))),
                  "n0: 0 2 4 5; n1.site.org: 1 3");
  CAF_CHECK_EQUAL(map(programs({5}, map_by("node", ranked("slot")))),
                  "n0: 0 1; n1.site.org: 2 3; n2: 4");
  CAF_CHECK(says(map(programs({1}, ranked("planet"))), "planet"));
}

CAF_TEST(F5.1 programs follow one another and share the slots) {
  CAF_CHECK_EQUAL(map(programs({3, 3, 4})),
                  "n0: 0 1 2 3; n1.site.org: 4 5; n2: 6 7 8 9");
}

CAF_TEST(F5.3 a job may be limited to some nodes) {
  CAF_CHECK_EQUAL(map(programs({4}, {hosts("n2")})), "n2: 0 1 2 3");
  CAF_CHECK_EQUAL(map(programs({3}, {hosts("n2:1,n1")})),
                  "n1.site.org: 0 1; n2: 2");
  CAF_CHECK_EQUAL(map(programs({2}, {hosts("n2:*")})), "n2: 0 1");
  CAF_CHECK(says(map(programs({5}, {hosts("n2")})), "4 slots of n2"));
  CAF_CHECK(says(map(programs({1}, {hosts("n7")})), "node n7"));
  for (const auto* wrong : {"n0:0", "n0:x", "n0:-1", "n0:99999999999"})
    CAF_CHECK(says(map(programs({1}, {hosts(wrong)})), "NAME:SLOTS"));
}

CAF_TEST(F5.3 each program may have nodes of its own) {
  auto request = programs({2, 2});
  request.apps[0].infos = {hosts("n2")};
  request.apps[1].infos = {hosts("n0")};
  CAF_CHECK_EQUAL(map(std::move(request)), "n0: 2 3; n2: 0 1");
}

CAF_TEST(F5.11 what does not fit is refused with nodes and remedy) {
  const auto why = map(programs({11}));
  CAF_CHECK(says(why, "11 processes"));
  CAF_CHECK(says(why, "10 slots of n0 (4), n1.site.org (2), n2 (4)"));
  CAF_CHECK(says(why, "--oversubscribe"));
}

CAF_TEST(F5.11 what does not fit is spread evenly if it may) {
  CAF_CHECK_EQUAL(map(programs({13}, map_by(":oversubscribe"))),
                  "n0: 0 1 2 3 4; n1.site.org: 5 6 7; n2: 8 9 10 11 12");
}

CAF_TEST(F5.11 nodes without slots take nothing) {
  const auto nodes =
    std::vector<mapping_node>{{0, "root", 0, 0}, {1, "n1", 1, 0}};
  CAF_CHECK_EQUAL(map(programs({1}), nodes), "n1: 0");
  CAF_CHECK_EQUAL(map(programs({3}, map_by(":oversubscribe")), nodes),
                  "n1: 0 1 2");
  CAF_CHECK(says(map(programs({1}), {{0, "root", 0, 0}}), "no node has slots"));
  CAF_CHECK(says(map(programs({1}), {}), "no node has slots"));
}

CAF_TEST(F5.11 free slots are taken first) {
  auto nodes = three;
  nodes[0].used = 3;
  CAF_CHECK_EQUAL(map(programs({3}), nodes), "n0: 0; n1.site.org: 1 2");
  // A job may have as many processes as there are slots, whatever else runs.
  CAF_CHECK_EQUAL(map(programs({10}), nodes),
                  "n0: 0 1 2 3; n1.site.org: 4 5; n2: 6 7 8 9");
}

CAF_TEST(MAP-5 so many processes go to each object of a node) {
  auto nodes = three;
  nodes[0].objects = nodes[2].objects = 2;
  CAF_CHECK_EQUAL(map(programs({0}, map_by("ppr:1:package")), nodes),
                  "n0: 0 1; n1.site.org: 2; n2: 3 4");
  CAF_CHECK_EQUAL(map(programs({3}, map_by("ppr:1:package")), nodes),
                  "n0: 0 1; n1.site.org: 2");
  CAF_CHECK(says(map(programs({6}, map_by("ppr:1:package")), nodes),
                 "raise N of ppr:N:package"));
}

CAF_TEST(MAP-13 objects of all nodes are dealt to as if of one) {
  auto nodes = three;
  nodes[0].objects = 2;
  CAF_CHECK_EQUAL(map(programs({5}, map_by("package:span")), nodes),
                  "n0: 0 1 2; n1.site.org: 3; n2: 4");
  CAF_CHECK_EQUAL(map(programs({4}, map_by("slot:span"))),
                  "n0: 0 1; n1.site.org: 2; n2: 3");
  // Ranks in turn over the objects.
  CAF_CHECK_EQUAL(
    map(programs({7}, map_by("package:span",
                             {with(attr::rankby, value::string("span"))})),
        nodes),
    "n0: 0 1 4 5; n1.site.org: 2 6; n2: 3");
}

CAF_TEST(MAP-14 no node has more than its largest number) {
  auto nodes = three;
  nodes[0].max_slots = 5;
  nodes[1].max_slots = 2;
  nodes[2].max_slots = 4;
  CAF_CHECK_EQUAL(map(programs({11}, map_by(":oversubscribe")), nodes),
                  "n0: 0 1 2 3 4; n1.site.org: 5 6; n2: 7 8 9 10");
  const auto why = map(programs({12}, map_by(":oversubscribe")), nodes);
  CAF_CHECK(says(why, "11 places that max_slots leaves"));
  CAF_CHECK(says(why, "raise max_slots"));
  CAF_CHECK(says(map(programs({12}), nodes), "raise max_slots"));
  CAF_CHECK(says(map(programs({11}), nodes), "--oversubscribe"));
  // Of all jobs, or of one.
  nodes[0].used = 5;
  CAF_CHECK_EQUAL(map(programs({2}, map_by(":oversubscribe")), nodes),
                  "n1.site.org: 0 1");
  CAF_CHECK(says(
    map(programs(
      {3}, map_by(":oversubscribe",
                  {hosts("n1"), with(max_slots_key, value::string("n1:2"))}))),
    "raise max_slots"));
}

CAF_TEST(MAP-10 a sequence names the node of each process) {
  const auto listed = [](const char* text) {
    return map_by("seq:file=F", {with(mapping_file_key, value::string(text))});
  };
  CAF_CHECK_EQUAL(map(programs({0}, listed("n2\nn0\nn2\n"))), "n0: 1; n2: 0 2");
  CAF_CHECK_EQUAL(map(programs({1, 1}, listed("n1\nn0\n"))),
                  "n0: 1; n1.site.org: 0");
  CAF_CHECK(says(map(programs({3}, listed("n2\nn0\n"))), "2 entries"));
  CAF_CHECK(says(map(programs({0}, listed("n7\n"))), "node n7"));
  CAF_CHECK(says(map(programs({0}, listed("n1\nn1\nn1\n"))), "2 slots of n1"));
  // Without a file the nodes of the job, or all.
  CAF_CHECK_EQUAL(map(programs({0}, map_by("seq", {hosts("n2:2,n1")}))),
                  "n1.site.org: 2; n2: 0 1");
  CAF_CHECK_EQUAL(map(programs({0}, map_by("seq"))),
                  "n0: 0; n1.site.org: 1; n2: 2");
}

CAF_TEST(MAP-10 SPW-2 nodes of a program are its sequence or refused) {
  auto request = programs({0}, map_by("seq"));
  request.apps[0].infos = {hosts("n2:2,n1")};
  CAF_CHECK_EQUAL(map(request), "n1.site.org: 2; n2: 0 1");
  request.job_infos.push_back(hosts("n0"));
  CAF_CHECK(says(map(request), "PMIX_HOST of prog"));
  request = programs({1, 1}, map_by("seq"));
  request.apps[1].infos = {hosts("n2")};
  CAF_CHECK(says(map(request), "has one list of nodes"));
  request = programs(
    {1}, map_by("seq:file=F", {with(mapping_file_key, value::string("n1\n"))}));
  request.apps[0].infos = {hosts("n2")};
  CAF_CHECK(says(map(request), "PMIX_HOST of prog"));
}

CAF_TEST(MAP-8 a rank file names the node of each process) {
  const auto listed = [](const char* text) {
    return map_by("rankfile:file=F",
                  {with(mapping_file_key, value::string(text))});
  };
  CAF_CHECK_EQUAL(map(programs({0}, listed("rank 0=n2 slot=0\nrank 1=n1 "
                                           "slot=0\nrank 2=+n0 slot=0\n"))),
                  "n0: 2; n1.site.org: 1; n2: 0");
  CAF_CHECK_EQUAL(map(programs({1}, listed("rank 0=localhost slot=0"))),
                  "n0: 0");
  CAF_CHECK(says(map(programs({2}, listed("rank 0=n2"))), "1 entries"));
  CAF_CHECK(says(map(programs({1}, listed("rank 0=+n3"))), "node +n3"));
}

CAF_TEST(J10 processes go where they were if all of these nodes have room) {
  const auto where = [](std::vector<std::string> names,
                        std::vector<info> more = {}) {
    auto values = std::vector<value>{};
    for (auto& x : names)
      values.push_back(value::string(std::move(x)));
    more.push_back(
      with(wanted_hosts, value::array(data_type::string, std::move(values))));
    return more;
  };
  const auto dealt = map(programs({2, 2}));
  CAF_CHECK_EQUAL(
    map(programs({2, 2}, where({"n2", "n1.site.org", "n0", "n2"}))),
    "n0: 2; n1.site.org: 1; n2: 0 3");
  // One is gone, or full, or they are not as many.
  CAF_CHECK_EQUAL(map(programs({2, 2}, where({"n2", "n7", "n0", "n2"}))),
                  dealt);
  const auto crowd = std::vector<std::string>(4, "n1.site.org");
  CAF_CHECK_EQUAL(map(programs({2, 2}, where(crowd))), dealt);
  CAF_CHECK_EQUAL(map(programs({2, 2}, where({"n2", "n2"}))), dealt);
  CAF_CHECK_EQUAL(
    map(programs({2, 2}, where(crowd, map_by("slot:OVERSUBSCRIBE")))),
    "n1.site.org: 0 1 2 3");
}
