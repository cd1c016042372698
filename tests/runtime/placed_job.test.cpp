// From where a resource manager puts processes to what servers and processes
// are told.

#include "runtime/placed_job.hpp"

#include "actors/mesh/embedded/registered_map.hpp"
#include "messages/attributes.hpp"
#include "tests/test.hpp"

#include <unistd.h>

#include <algorithm>

using namespace troupe;

namespace {

/// Three processes on two nodes, of which one has a name.
placed_job job_of_three() {
  auto result = placed_job{"job", {"prog", "--fast"}, {0, 1, 1}};
  result.hosts[1] = "beta";
  result.env = {"COLOUR=red"};
  result.wdir = "/work";
  return result;
}

placed_share share_on(uint32_t node, const placed_job& job = job_of_three()) {
  auto result = share_of(job, node, {"server", 7});
  if (!result)
    CAF_FAIL(reason_of(result.error()));
  return std::move(*result);
}

/// A variable of a process, or `unset`.
std::string variable(const start_process& x, const std::string& name) {
  auto result = std::string{"unset"};
  for (const auto& y : x.env)
    if (y.compare(0, name.size() + 1, name + "=") == 0)
      result = y.substr(name.size() + 1);
  return result;
}

std::string refusal(const placed_job& job) {
  const auto result = share_of(job, 0, {"server", 0});
  if (result || status_of(result.error()) != status::bad_param)
    return "not refused";
  return reason_of(result.error());
}

} // namespace

CAF_TEST(C12.11 the server of a node is told of the whole job) {
  const auto what = share_on(1).registration;
  const auto& infos = what.infos;
  CAF_CHECK_EQUAL(what.nspace, "job");
  CAF_CHECK_EQUAL(what.owner.uid, ::getuid());
  CAF_CHECK(what.local_ranks == (std::vector<uint32_t>{1, 2}));
  for (const auto key : {attr::job_size, attr::univ_size, attr::max_procs})
    CAF_CHECK_EQUAL(number<uint32_t>(infos, key).value_or(0), 3u);
  CAF_CHECK_EQUAL(number<uint32_t>(infos, attr::local_size).value_or(0), 2u);
  CAF_CHECK_EQUAL(text(infos, attr::local_peers).value_or(""), "1,2");
  CAF_CHECK_EQUAL(text(infos, attr::node_list).value_or(""), "node0,beta");
  CAF_CHECK_EQUAL(text(infos, attr::server_nspace).value_or(""), "server");
  // The mesh of the job finds its nodes in it.
  const auto map = map_of(what);
  CAF_REQUIRE(map);
  CAF_CHECK_EQUAL(map->own, 1u);
  CAF_REQUIRE_EQUAL(map->map.shares.size(), 2u);
  CAF_CHECK_EQUAL(map->map.shares[0].hostname, "node0");
  CAF_CHECK_EQUAL(map->map.shares[1].procs.size(), 2u);
}

CAF_TEST(C12.11 nothing is said that only the resource manager knows) {
  const auto infos = share_on(0).registration.infos;
  for (const auto key :
       {attr::rm_name, attr::mapby, attr::bindto, attr::session_info_array})
    CAF_CHECK(find(infos, key) == nullptr);
}

CAF_TEST(C12.11 processes of a node get their place beside what the job sets) {
  ::setenv("OF_THE_DAEMON", "yes", 1);
  ::setenv("COLOUR", "blue", 1);
  const auto procs = share_on(1).processes;
  CAF_REQUIRE_EQUAL(procs.size(), 2u);
  const auto& last = procs.back();
  CAF_CHECK(last.proc == (proc_id{"job", 2}));
  CAF_CHECK_EQUAL(last.program, "prog");
  CAF_CHECK(last.argv == (std::vector<std::string>{"prog", "--fast"}));
  CAF_CHECK_EQUAL(last.wdir, "/work");
  CAF_CHECK(last.with_stdin);
  CAF_CHECK_EQUAL(variable(last, "TROUPE_RANK"), "2");
  CAF_CHECK_EQUAL(variable(last, "TROUPE_LOCAL_RANK"), "1");
  CAF_CHECK_EQUAL(variable(last, "TROUPE_SIZE"), "3");
  CAF_CHECK_EQUAL(variable(last, "TROUPE_HOSTNAME"), "beta");
  CAF_CHECK_EQUAL(variable(last, "OF_THE_DAEMON"), "yes");
  CAF_CHECK_EQUAL(variable(last, "COLOUR"), "red");
  // What Open MPI 4.1 needs.
  CAF_CHECK_EQUAL(variable(last, "OMPI_MCA_schizo"), "ompi");
}

CAF_TEST(C12.11 a node without processes hears of the job and starts none) {
  const auto x = share_on(5);
  CAF_CHECK(x.registration.local_ranks.empty());
  CAF_CHECK(x.processes.empty());
  CAF_CHECK_EQUAL(
    number<uint32_t>(x.registration.infos, attr::job_size).value_or(0), 3u);
}

CAF_TEST(C12.11 slots beyond the processes are those of the universe) {
  auto job = job_of_three();
  job.universe = 12;
  const auto infos = share_on(0, job).registration.infos;
  CAF_CHECK_EQUAL(number<uint32_t>(infos, attr::univ_size).value_or(0), 12u);
}

CAF_TEST(C12.11 what is no job is refused with the member to set) {
  auto job = job_of_three();
  job.nspace.clear();
  CAF_CHECK(refusal(job).find("nspace") != std::string::npos);
  job = job_of_three();
  job.argv.clear();
  CAF_CHECK(refusal(job).find("argv") != std::string::npos);
  job = job_of_three();
  job.nodes.clear();
  CAF_CHECK(refusal(job).find("nodes") != std::string::npos);
  job.nodes.assign(65537, 0);
  CAF_CHECK(refusal(job).find("65537") != std::string::npos);
}
