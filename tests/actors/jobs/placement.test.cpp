// Which processors ranks get, on made-up nodes.

#include "actors/jobs/placement.hpp"

#include "messages/attributes.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

using kind = resource_kind;

/// A node whose operating system numbers the first threads of all cores, then
/// the second ones, as Linux on x86 does.
node_topology make_node(uint32_t packages, uint32_t numas, uint32_t cores,
                        uint32_t threads) {
  node_topology result;
  const auto all_cores = packages * numas * cores;
  for (uint32_t core = 0; core < all_cores; ++core)
    for (uint32_t thread = 0; thread < threads; ++thread) {
      processing_unit x;
      x.os_index = core + all_cores * thread;
      x.hwthread = core * threads + thread;
      x.core = x.l1 = x.l2 = core;
      x.numa = core / cores;
      x.package = x.l3 = core / cores / numas;
      result.units.push_back(x);
    }
  return result;
}

/// Two packages of two cores with two threads each.
const auto smt = make_node(2, 1, 2, 2);

/// Two packages of two numa nodes of two cores each.
const auto numa = make_node(2, 2, 2, 1);

/// Two packages of two numa nodes of four cores with two threads each;
/// core c has the threads c and c + 16.
const auto big = make_node(2, 2, 4, 2);

/// What a job of so many processes, all on this node, is asked for.
job_options asked_for(uint32_t num_procs, const std::vector<info>& infos) {
  auto request = spawn_request{infos, {}};
  const auto options = read_options(request);
  if (!options)
    CAF_FAIL("refused: " << reason_of(options.error()));
  auto result = *options;
  settle(result, num_procs);
  return result;
}

/// The processors of each rank as ranges, ranks separated by a blank, or why
/// they have none.
std::string placed(uint32_t num_procs, const job_options& options,
                   const node_topology& node, std::set<uint32_t> taken = {}) {
  auto share = local_share{{}, "n1", std::move(taken)};
  for (uint32_t rank = 0; rank < num_procs; ++rank)
    share.ranks.push_back(rank);
  const auto cpus = place(share, options, node);
  if (!cpus)
    return reason_of(cpus.error());
  std::string result;
  for (const auto& x : *cpus)
    result += (result.empty() ? "" : " ") + (x.empty() ? "free" : to_ranges(x));
  return result;
}

std::string placed(uint32_t num_procs, kind map_by, kind bind_to,
                   const node_topology& node) {
  job_options options;
  options.map_by = map_by;
  options.bind_to = bind_to;
  options.overload = true;
  return placed(num_procs, options, node);
}

info maps(const char* text) {
  return fixtures::with(attr::mapby, value::string(text));
}

info binds(const char* text) {
  return fixtures::with(attr::bindto, value::string(text));
}

info ranks(const char* text) {
  return fixtures::with(attr::rankby, value::string(text));
}

/// By the words of the launchers.
std::string words(uint32_t num_procs, const std::vector<info>& infos,
                  const node_topology& node = big,
                  std::set<uint32_t> taken = {}) {
  return placed(num_procs, asked_for(num_procs, infos), node, std::move(taken));
}

bool says(const std::string& text, const char* what) {
  if (text.find(what) != std::string::npos)
    return true;
  CAF_MESSAGE(text);
  return false;
}

} // namespace

CAF_TEST(F5.4 nobody is bound if none is asked for) {
  CAF_CHECK_EQUAL(placed(3, kind::slot, kind::none, smt), "free free free");
  CAF_CHECK_EQUAL(placed(2, kind::package, kind::none, smt), "free free");
  CAF_CHECK_EQUAL(placed(2, kind::core, kind::core, {}), "free free");
  CAF_CHECK_EQUAL(placed(0, kind::core, kind::core, smt), "");
}

CAF_TEST(F5.3 F5.4 cores are dealt one after the other) {
  CAF_CHECK_EQUAL(placed(4, kind::core, kind::core, smt), "0,4 1,5 2,6 3,7");
  CAF_CHECK_EQUAL(placed(4, kind::slot, kind::core, smt), "0,4 1,5 2,6 3,7");
  CAF_CHECK_EQUAL(placed(4, kind::slot, kind::slot, smt), "0,4 1,5 2,6 3,7");
  CAF_CHECK_EQUAL(placed(3, kind::core, kind::core, numa), "0 1 2");
}

CAF_TEST(F5.3 F5.4 more ranks than cores begin again) {
  CAF_CHECK_EQUAL(placed(6, kind::core, kind::core, smt),
                  "0,4 1,5 2,6 3,7 0,4 1,5");
}

CAF_TEST(F5.3 F5.4 threads are dealt in their logical order) {
  CAF_CHECK_EQUAL(placed(4, kind::hwthread, kind::hwthread, smt), "0 4 1 5");
  CAF_CHECK_EQUAL(placed(2, kind::hwthread, kind::core, smt), "0,4 0,4");
}

CAF_TEST(F5.3 F5.4 ranks mapped by core take its second thread second) {
  CAF_CHECK_EQUAL(placed(9, kind::core, kind::hwthread, smt),
                  "0 1 2 3 4 5 6 7 0");
}

CAF_TEST(F5.3 F5.4 packages are dealt in turn) {
  CAF_CHECK_EQUAL(placed(3, kind::package, kind::package, smt),
                  "0-1,4-5 2-3,6-7 0-1,4-5");
}

CAF_TEST(F5.3 F5.4 ranks of one package get cores of their own) {
  CAF_CHECK_EQUAL(placed(5, kind::package, kind::core, smt),
                  "0,4 2,6 1,5 3,7 0,4");
  CAF_CHECK_EQUAL(placed(4, kind::package, kind::hwthread, smt), "0 2 4 6");
}

CAF_TEST(F5.3 F5.4 numa nodes are dealt in turn) {
  CAF_CHECK_EQUAL(placed(5, kind::numa, kind::numa, numa),
                  "0-1 2-3 4-5 6-7 0-1");
  CAF_CHECK_EQUAL(placed(4, kind::package, kind::numa, numa),
                  "0-1 4-5 2-3 6-7");
  CAF_CHECK_EQUAL(placed(5, kind::numa, kind::core, numa), "0 2 4 6 1");
}

CAF_TEST(F5.4 binding to more than was mapped by takes all of it) {
  CAF_CHECK_EQUAL(placed(4, kind::core, kind::package, smt),
                  "0-1,4-5 0-1,4-5 2-3,6-7 2-3,6-7");
  CAF_CHECK_EQUAL(placed(2, kind::core, kind::l3, numa), "0-3 0-3");
}

CAF_TEST(F5.3 F5.4 a level that the node does not have is the node) {
  auto node = numa;
  for (auto& x : node.units)
    x.l3 = UINT32_MAX;
  CAF_CHECK_EQUAL(placed(2, kind::l3, kind::l3, node), "0-7 0-7");
  CAF_CHECK_EQUAL(placed(2, kind::l3, kind::core, node), "0 1");
}

CAF_TEST(F5.3 a daemon that may use a part of the node uses that part) {
  auto node = numa;
  node.units.erase(node.units.begin(), node.units.begin() + 3);
  CAF_CHECK_EQUAL(placed(6, kind::core, kind::core, node), "3 4 5 6 7 3");
  CAF_CHECK_EQUAL(placed(3, kind::numa, kind::numa, node), "3 4-5 6-7");
}

CAF_TEST(MAP-1 few processes are bound to cores and more to numa nodes) {
  CAF_CHECK_EQUAL(words(1, {}), "0,16");
  CAF_CHECK_EQUAL(words(2, {}), "0,16 1,17");
  CAF_CHECK_EQUAL(words(5, {}),
                  "0-3,16-19 4-7,20-23 8-11,24-27 12-15,28-31 0-3,16-19");
  // Who maps by objects is bound to those.
  CAF_CHECK_EQUAL(words(3, {maps("core")}), "0,16 1,17 2,18");
  CAF_CHECK_EQUAL(words(2, {maps("socket")}), "0-7,16-23 8-15,24-31");
  CAF_CHECK_EQUAL(words(2, {maps("slot")}), "0,16 1,17");
  CAF_CHECK_EQUAL(words(2, {maps("hwthread")}), "0 16");
  CAF_CHECK_EQUAL(words(2, {binds("none")}), "free free");
}

CAF_TEST(MAP-1 without a core for each process nobody is bound by default) {
  CAF_CHECK_EQUAL(words(3, {}, make_node(1, 1, 2, 2)), "free free free");
  CAF_CHECK_EQUAL(words(2, {}, make_node(1, 1, 1, 2)), "free free");
}

CAF_TEST(MAP-2 jobs of one node do not meet on a core) {
  CAF_CHECK_EQUAL(words(1, {}, big, {0, 16}), "1,17");
  CAF_CHECK_EQUAL(words(1, {}, big, {0}), "1,17");
  const auto small = make_node(1, 1, 2, 1);
  CAF_CHECK_EQUAL(words(1, {}, small, {0}), "1");
  CAF_CHECK_EQUAL(words(1, {}, small, {0, 1}), "free");
  CAF_CHECK_EQUAL(words(2, {}, small, {0}), "free free");
  // Who asks for a binding gets it, apart if there is room.
  CAF_CHECK_EQUAL(words(1, {binds("core")}, small, {0}), "1");
  CAF_CHECK_EQUAL(words(2, {binds("core")}, small, {0}), "0 1");
}

CAF_TEST(MAP-3 too many processes for their processors are refused) {
  const auto small = make_node(1, 1, 2, 1);
  const auto why = words(3, {binds("core")}, small);
  CAF_CHECK(says(why, "3 processes"));
  CAF_CHECK(says(why, "2 cores of node n1"));
  CAF_CHECK(says(why, "core:overload-allowed"));
  CAF_CHECK_EQUAL(words(3, {binds("core:overload-allowed")}, small), "0 1 0");
  CAF_CHECK_EQUAL(words(3, {binds("core:IF-SUPPORTED")}, small),
                  "free free free");
  CAF_CHECK(says(words(17, {binds("numa")}), "16 cores"));
  CAF_CHECK(says(words(5, {maps("ppr:5:numa"), binds("numa")}), "16 cores"));
  CAF_CHECK_EQUAL(
    words(2, {maps("hwthread"), binds("hwthread")}, make_node(1, 1, 1, 2)),
    "0 1");
}

CAF_TEST(MAP-4 processes have several processors each) {
  CAF_CHECK_EQUAL(words(2, {maps("slot:pe=3")}), "0-2,16-18 3-5,19-21");
  CAF_CHECK_EQUAL(words(3, {maps("numa:PE=2")}),
                  "0-1,16-17 4-5,20-21 8-9,24-25");
  CAF_CHECK_EQUAL(words(3, {maps("package:pe=4")}),
                  "0-3,16-19 8-11,24-27 4-7,20-23");
  CAF_CHECK_EQUAL(words(2, {maps("numa:pe=2:hwtcpus")}), "0,16 4,20");
  CAF_CHECK_EQUAL(
    words(2, {fixtures::with(attr::cpus_per_proc, value::uint32(2))}),
    words(2, {maps(":pe=2")}));
  // An object that is too small, and a node that is full.
  CAF_CHECK(says(words(1, {maps("core:pe=2")}), "2 processors each"));
  CAF_CHECK(says(words(9, {maps("slot:pe=2")}), "16 cores"));
  CAF_CHECK_EQUAL(words(2, {maps("slot:pe=2"), binds("core:overload-allowed")},
                        make_node(1, 1, 2, 1)),
                  "0-1 0-1");
}

CAF_TEST(MAP-5 so many processes go to each object) {
  CAF_CHECK_EQUAL(words(4, {maps("ppr:1:numa"), binds("core")}),
                  "0,16 4,20 8,24 12,28");
  CAF_CHECK_EQUAL(words(4, {maps("ppr:2:package"), binds("core")}),
                  "0,16 1,17 8,24 9,25");
  CAF_CHECK_EQUAL(words(3, {maps("ppr:2:l3cache"), binds("l3cache")}),
                  "0-7,16-23 0-7,16-23 8-15,24-31");
  CAF_CHECK_EQUAL(words(2, {maps("ppr:2:core"), binds("hwthread")}), "0 16");
}

CAF_TEST(MAP-6 ranks follow the objects in the order that is asked for) {
  CAF_CHECK_EQUAL(words(4, {maps("package"), binds("core"), ranks("slot")}),
                  "0,16 8,24 1,17 9,25");
  CAF_CHECK_EQUAL(words(4, {maps("package"), binds("core"), ranks("fill")}),
                  "0,16 1,17 8,24 9,25");
  // Mapped core after core, then counted in turn over the numa nodes.
  CAF_CHECK_EQUAL(words(6, {maps("core"), binds("core"), ranks("numa")}),
                  "0,16 4,20 1,17 5,21 2,18 3,19");
}

CAF_TEST(MAP-7 a list of processors is all that a job uses) {
  const auto list = [](const char* text) {
    return fixtures::with(attr::cpu_list, value::string(text));
  };
  CAF_CHECK_EQUAL(words(2, {list("4-5")}), "4,20 5,21");
  CAF_CHECK_EQUAL(words(3, {list("4-5")}), "4-5,20-21 4-5,20-21 4-5,20-21");
  CAF_CHECK_EQUAL(words(1, {list("2,8"), binds("none")}), "2,8,18,24");
  CAF_CHECK_EQUAL(words(2, {maps("pe-list=9,3:ordered")}), "9,25 3,19");
  CAF_CHECK_EQUAL(words(1, {maps("pe-list=1:hwtcpus")}), "16");
  CAF_CHECK(says(words(3, {maps("pe-list=9,3:ordered")}), "name one for each"));
  CAF_CHECK(says(words(1, {list("99")}), "names 99"));
}

CAF_TEST(MAP-8 a rank file names processors) {
  const auto by_file = [](const char* text, uint32_t num_procs,
                          std::vector<info> more = {}) {
    more.push_back(maps("rankfile:file=F"));
    more.push_back(fixtures::with(mapping_file_key, value::string(text)));
    return words(num_procs, more);
  };
  CAF_CHECK_EQUAL(by_file("rank 0=n1 slot=3\nrank 1=n1 slot=0-1,5\n", 2),
                  "3,19 0-1,5,16-17,21");
  CAF_CHECK_EQUAL(by_file("rank 1=n1 slot=1:0,2\nrank 0=n1 slot=0:*\n", 2),
                  "0-7,16-23 8,10,24,26");
  CAF_CHECK_EQUAL(by_file("rank 0=n1 slot=0:1;1:1\nrank 1=n1", 2),
                  "1,9,17,25 free");
  CAF_CHECK(says(by_file("rank 0=n1 slot=16", 1), "no processor 16"));
  CAF_CHECK(says(by_file("rank 0=n1 slot=1:8", 1), "no processor 8"));
  CAF_CHECK(says(by_file("rank 0=n1 slot=a", 1), "\"a\""));
}

CAF_TEST(MAP-9 caches and the node are objects) {
  CAF_CHECK_EQUAL(words(2, {maps("l2cache")}), "0,16 1,17");
  CAF_CHECK_EQUAL(words(2, {maps("l3cache")}), "0-7,16-23 8-15,24-31");
  CAF_CHECK_EQUAL(words(1, {binds("l1cache")}), "0,16");
  CAF_CHECK_EQUAL(words(1, {binds("board")}), "0-31");
}

CAF_TEST(F4.14 a locality names every level) {
  CAF_CHECK_EQUAL(locality_string({0}, smt), "SK0:L30:L20:L10:CR0:HT0:NM0");
  CAF_CHECK_EQUAL(locality_string({0, 4}, smt),
                  "SK0:L30:L20:L10:CR0:HT0-1:NM0");
  CAF_CHECK_EQUAL(locality_string({2, 3, 6, 7}, smt),
                  "SK1:L31:L22-3:L12-3:CR2-3:HT4-7:NM1");
  CAF_CHECK_EQUAL(locality_string({5}, numa), "SK1:L31:L25:L15:CR5:HT5:NM2");
}

CAF_TEST(F4.14 a locality leaves out levels that do not exist) {
  auto node = numa;
  for (auto& x : node.units)
    x.l3 = x.l1 = UINT32_MAX;
  CAF_CHECK_EQUAL(locality_string({1}, node), "SK0:L21:CR1:HT1:NM0");
  CAF_CHECK_EQUAL(locality_string({99}, node), "");
}
