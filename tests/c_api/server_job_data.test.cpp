// What comes of a host's maps and data when it registers a job.

#include "c_api/server_job_data.hpp"

#include "adapters/wire/node_map.hpp"
#include "messages/attributes.hpp"
#include "messages/status.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::c_api;
using namespace troupe::fixtures;

namespace {

std::vector<info> maps(const std::string& nodes, const std::string& procs) {
  return {with(attr::node_map, value::string(nodes)),
          with(attr::proc_map, value::string(procs))};
}

/// The arrays under `key`.
std::vector<std::vector<info>> arrays(const registered_job& job,
                                      std::string_view key) {
  auto result = std::vector<std::vector<info>>{};
  for (const auto& x : job.infos)
    if (x.key == key)
      result.push_back(infos_of(x.val));
  return result;
}

using ranks = std::vector<uint32_t>;

} // namespace

CAF_TEST(C4.6 C4.9 maps give nodes and places and sizes) {
  const auto job = complete_job(maps("n1,n2", "0-1;2"), "n2", 1);
  CAF_REQUIRE(job);
  CAF_CHECK(job->local_ranks == ranks{2});
  CAF_CHECK(number<uint32_t>(job->infos, attr::job_size) == 3u);
  CAF_CHECK(number<uint32_t>(job->infos, attr::max_procs) == 3u);
  CAF_CHECK(number<uint32_t>(job->infos, attr::num_nodes) == 2u);
  CAF_CHECK(text(job->infos, attr::node_list) == "n1,n2");
  CAF_CHECK(text(job->infos, attr::local_peers) == "2");
  const auto nodes = arrays(*job, attr::node_info_array);
  CAF_REQUIRE_EQUAL(nodes.size(), 2u);
  CAF_CHECK(text(nodes[0], attr::hostname) == "n1");
  CAF_CHECK(text(nodes[0], attr::local_peers) == "0,1");
  CAF_CHECK(number<uint32_t>(nodes[1], attr::nodeid) == 1u);
  CAF_CHECK(number<uint32_t>(nodes[1], attr::localldr) == 2u);
  const auto procs = arrays(*job, attr::proc_data);
  CAF_REQUIRE_EQUAL(procs.size(), 3u);
  CAF_CHECK(number<uint32_t>(procs[1], attr::rank) == 1u);
  CAF_CHECK(number<uint32_t>(procs[1], attr::local_rank) == 1u);
  CAF_CHECK(text(procs[2], attr::hostname) == "n2");
  CAF_CHECK(procs[0][0].key == attr::rank);
  CAF_CHECK(find(job->infos, attr::node_map) == nullptr);
  CAF_CHECK(find(job->infos, attr::proc_map) == nullptr);
}

CAF_TEST(C4.9 maps in every form and type mean the same) {
  const auto names = std::vector<std::string>{"n01", "n02", "n03"};
  const auto places = wire::proc_map{{0, 1}, {2, 3}, {4}};
  const auto expected =
    complete_job(maps("n01,n02,n03", "0,1;2,3;4"), "n02", 2);
  for (const auto form :
       {wire::map_form::ranges, wire::map_form::raw, wire::map_form::blob}) {
    const auto nodes = *wire::format_node_map(names, form);
    const auto procs = wire::format_proc_map(places, form);
    for (const auto type :
         {data_type::string, data_type::regex, data_type::byte_object}) {
      const auto job = complete_job({with(attr::node_map, value{type, nodes}),
                                     with(attr::proc_map, value{type, procs})},
                                    "n02", 2);
      CAF_REQUIRE(job);
      CAF_CHECK(job->local_ranks == (ranks{2, 3}));
      CAF_CHECK(job->infos == expected->infos);
    }
  }
}

CAF_TEST(C4.6 what the host says itself stays as it is) {
  auto infos = maps("n1,n2", "0-1;2-3");
  infos.push_back(with(attr::job_size, value::uint32(9)));
  infos.push_back(with(attr::local_peers, value::string("0,1")));
  infos.push_back(with(attr::proc_data,
                       value::infos({with(attr::rank, value::rank(1)),
                                     with(attr::local_rank, value::uint16(7)),
                                     with("x", value::string("y"))})));
  infos.push_back(with(attr::node_info_array,
                       value::infos({with(attr::nodeid, value::uint32(0)),
                                     with("memory", value::uint64(5))})));
  const auto job = complete_job(infos, "n1", 2);
  CAF_REQUIRE(job);
  CAF_CHECK(number<uint32_t>(job->infos, attr::job_size) == 9u);
  const auto procs = arrays(*job, attr::proc_data);
  CAF_REQUIRE_EQUAL(procs.size(), 4u);
  CAF_CHECK(number<uint32_t>(procs[0], attr::local_rank) == 7u);
  CAF_CHECK(text(procs[0], attr::hostname) == "n1");
  CAF_CHECK(text(procs[0], "x") == "y");
  const auto nodes = arrays(*job, attr::node_info_array);
  CAF_REQUIRE_EQUAL(nodes.size(), 2u);
  CAF_CHECK(number<uint64_t>(nodes[0], "memory") == 5u);
  CAF_CHECK(text(nodes[0], attr::hostname) == "n1");
}

CAF_TEST(C4.6 local ranks come from whatever agrees with their number) {
  const auto local = [](std::vector<info> infos, int num_local) {
    return complete_job(std::move(infos), "here", num_local)->local_ranks;
  };
  CAF_CHECK(local({with(attr::local_peers, value::string("3,5"))}, 2)
            == (ranks{3, 5}));
  CAF_CHECK(local({with(attr::job_size, value::uint32(3))}, 3)
            == (ranks{0, 1, 2}));
  CAF_CHECK(local(maps("here.example.org,there", "0-1;2"), 2) == (ranks{0, 1}));
  CAF_CHECK(local(maps("elsewhere", "0-1"), 2) == (ranks{0, 1}));
  CAF_CHECK(local(maps("a,b", "0;1"), 0).empty());
  CAF_CHECK(local({}, 4).empty());
  CAF_CHECK(local(maps("here,there", "0-1;2"), 1).empty()); // They disagree.
}

CAF_TEST(C4.6 maps that cannot be read are named) {
  const auto refused = [](std::vector<info> infos, const char* name) {
    const auto job = complete_job(std::move(infos), "n1", 1);
    CAF_REQUIRE(!job);
    CAF_CHECK_EQUAL(status_of(job.error()), status::bad_param);
    CAF_CHECK(reason_of(job.error()).find(name) != std::string::npos);
  };
  refused(maps("pmix[n[1:1-", "0"), "PMIX_NODE_MAP");
  refused(maps("n1", "x"), "PMIX_PROC_MAP");
  refused(maps("n1", "0-4294967295"), "PMIX_PROC_MAP");
  refused(maps("n1,n2", "0;1;2"), "PMIX_PROC_MAP");
}

CAF_TEST(C4.6 C4.9 local processes are named in the job and on our node) {
  const auto names = [](const std::vector<info>& infos) {
    auto result = std::string{};
    const auto* x = find(infos, attr::local_procs);
    if (x != nullptr && x->array() != nullptr)
      for (const auto& y : x->array()->elements)
        result += to_string(*std::get_if<proc_id>(&y.data)) + " ";
    return result;
  };
  const auto expected =
    to_string(proc_id{"job", 2}) + " " + to_string(proc_id{"job", 4}) + " ";
  const auto job = complete_job(maps("n1,n2", "0-1;2,4"), "n2", 2, "job");
  CAF_REQUIRE(job);
  CAF_CHECK_EQUAL(names(job->infos), expected);
  const auto nodes = arrays(*job, attr::node_info_array);
  CAF_REQUIRE_EQUAL(nodes.size(), 2u);
  CAF_CHECK_EQUAL(names(nodes[0]), "");
  CAF_CHECK_EQUAL(names(nodes[1]), expected);
  // Without maps, from what the host says of the peers; what it names stays.
  auto infos = std::vector{with(attr::local_peers, value::string("2,4"))};
  CAF_CHECK_EQUAL(names(complete_job(infos, "n2", 2, "job")->infos), expected);
  infos.push_back(with(attr::local_procs, value::procs({{"job", 7}})));
  CAF_CHECK_EQUAL(names(complete_job(infos, "n2", 2, "job")->infos),
                  to_string(proc_id{"job", 7}) + " ");
}
