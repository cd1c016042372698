#include "actors/mesh/embedded/registered_map.hpp"

#include "messages/attributes.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

info entry(std::string_view key, value x) {
  return {std::string{key}, 0, std::move(x)};
}

info node(uint32_t id, const std::string& name) {
  return entry(attr::node_info_array,
               value::infos({entry(attr::hostname, value::string(name)),
                             entry(attr::nodeid, value::uint32(id))}));
}

info proc(uint32_t rank, uint32_t on) {
  return entry(attr::proc_data,
               value::infos({entry(attr::rank, value::rank(rank)),
                             entry(attr::nodeid, value::uint32(on))}));
}

register_nspace job(std::vector<info> infos, std::vector<uint32_t> local) {
  auto result = register_nspace{};
  result.nspace = "job";
  result.infos = std::move(infos);
  result.local_ranks = std::move(local);
  return result;
}

} // namespace

CAF_TEST(O10 a registration says which processes are on which nodes) {
  const auto map = map_of(job(
    {node(0, "a"), node(1, "b"), proc(0, 0), proc(1, 1), proc(2, 0), proc(3, 1),
     entry(attr::proc_data,
           value::infos({entry(attr::rank, value::rank(9)),
                         entry(attr::nodeid, value::uint32(0)),
                         entry(attr::hostname, value::string("wrong"))}))},
    {1, 3}));
  CAF_REQUIRE(map);
  CAF_CHECK_EQUAL(map->own, 1u);
  CAF_CHECK_EQUAL(map->map.nspace, "job");
  CAF_REQUIRE_EQUAL(map->map.shares.size(), 2u);
  const auto& first = map->map.shares[0];
  CAF_CHECK_EQUAL(first.hostname, "a");
  CAF_REQUIRE_EQUAL(first.procs.size(), 3u);
  CAF_CHECK_EQUAL(first.procs[0].rank, 0u);
  CAF_CHECK_EQUAL(first.procs[1].rank, 2u);
  CAF_CHECK_EQUAL(map->map.shares[1].node, 1u);
}

CAF_TEST(O10 the list of a node counts more than what its processes say) {
  const auto listed = [](uint32_t id, const char* ranks) {
    return entry(
      attr::node_info_array,
      value::infos({entry(attr::nodeid, value::uint32(id)),
                    entry(attr::local_peers, value::string(ranks))}));
  };
  // All processes claim to be on the node that registers them.
  const auto map = map_of(job({proc(0, 1), proc(1, 1), proc(2, 1), proc(3, 1),
                               listed(0, "0,1"), listed(1, "2,3")},
                              {2, 3}));
  CAF_REQUIRE(map);
  CAF_CHECK_EQUAL(map->own, 1u);
  CAF_REQUIRE_EQUAL(map->map.shares.size(), 2u);
  CAF_CHECK_EQUAL(map->map.shares[0].procs.size(), 2u);
  CAF_CHECK_EQUAL(map->map.shares[0].hostname, "node0");
  // What is no list says nothing.
  const auto other = map_of(
    job({proc(0, 0), proc(1, 0), listed(0, "0-1;x"), listed(1, ",")}, {0}));
  CAF_REQUIRE(other);
  CAF_CHECK_EQUAL(other->map.shares[0].procs.size(), 2u);
  CAF_CHECK(other->map.shares[1].procs.empty());
}

CAF_TEST(X44 a registration that does not say enough makes no mesh) {
  CAF_CHECK(!map_of(job({}, {0})));
  // Nobody is here.
  CAF_CHECK(!map_of(job({node(0, "a"), proc(0, 0)}, {})));
  CAF_CHECK(!map_of(job({node(0, "a"), proc(0, 0)}, {1})));
  // Places that nobody has, or that no machine has.
  CAF_CHECK(!map_of(job({node(0, "a"), proc(0, 0), proc(1, 2)}, {0})));
  CAF_CHECK(!map_of(job({node(0, "a"), proc(1, 0x7fffffff)}, {1})));
  CAF_CHECK(!map_of(job({proc(0, 0xffffffff)}, {0})));
}

CAF_TEST(X40 names of jobs and nodes are fit for certificates and differ) {
  CAF_CHECK_EQUAL(mesh_name("slurm.pmix.1.0").substr(0, 15), "slurm.pmix.1.0-");
  CAF_CHECK(mesh_name("a/b") != mesh_name("a_b"));
  CAF_CHECK(mesh_name(std::string(200, 'x')).size() <= 64);
  CAF_CHECK(mesh_name(std::string(200, 'x'))
            != mesh_name(std::string(201, 'x')));
  CAF_CHECK_EQUAL(mesh_name("a/b").substr(0, 4), "a_b-");
  CAF_CHECK_EQUAL(mesh_node_name("n1.cluster"), "n1.cluster");
  CAF_CHECK_EQUAL(mesh_node_name("n 1/x"), "n_1_x");
  CAF_CHECK_EQUAL(mesh_node_name(""), "_");
}
