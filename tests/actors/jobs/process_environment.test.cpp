// What processes find in their environment: their place in the job, and what
// Open MPI and MPICH need to run well; never the marks of another launcher.

#include "actors/jobs/job_plan.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

#include <map>
#include <set>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

struct fixture {
  fixture() {
    request.apps.resize(2);
    request.apps[0].cmd = "first";
    request.apps[0].max_procs = 2;
    request.apps[1].cmd = "second";
    request.apps[1].max_procs = 3;
    context.universe = 8;
    place.proc = {"server@7", 3};
    place.size = 5;
    place.local_rank = 1;
    place.local_size = 2;
    place.node = 1;
    place.num_nodes = 2;
    place.hostname = "b";
    place.app = 1;
  }

  std::map<std::string, std::string> all() {
    const auto env =
      process_environment{request, request.apps[place.app], context}.of(place);
    auto result = std::map<std::string, std::string>{};
    for (const auto& x : env) {
      const auto sign = x.find('=');
      CAF_CHECK(result.emplace(x.substr(0, sign), x.substr(sign + 1)).second);
    }
    return result;
  }

  std::string variable(const std::string& name) {
    const auto env = all();
    const auto found = env.find(name);
    return found != env.end() ? found->second : "unset";
  }

  /// The user asks for it, as `-x` does.
  void set(std::string name, std::string val) {
    auto change = envar{};
    change.name = std::move(name);
    change.val = std::move(val);
    request.job_infos.push_back(with(
      attr::set_envar, value{data_type::envar, box<envar>{std::move(change)}}));
  }

  spawn_request request;
  job_context context;
  process_place place;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(process_environment_tests, fixture)

CAF_TEST(RUN-2 a process is told its place in the words of all) {
  const auto env = all();
  for (const auto& [name, val] :
       std::map<std::string, std::string>{{"TROUPE_JOB", "server@7"},
                                          {"TROUPE_RANK", "3"},
                                          {"TROUPE_SIZE", "5"},
                                          {"TROUPE_LOCAL_RANK", "1"},
                                          {"TROUPE_LOCAL_SIZE", "2"},
                                          {"TROUPE_NODE", "1"},
                                          {"TROUPE_NUM_NODES", "2"},
                                          {"TROUPE_HOSTNAME", "b"},
                                          {"TROUPE_APP", "1"},
                                          {"TROUPE_UNIVERSE_SIZE", "8"},
                                          {"TROUPE_OVERSUBSCRIBED", "0"},
                                          {"OMPI_COMM_WORLD_RANK", "3"},
                                          {"OMPI_COMM_WORLD_SIZE", "5"},
                                          {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                          {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                                          {"OMPI_COMM_WORLD_NODE_RANK", "1"},
                                          {"OMPI_NUM_APP_CTX", "2"},
                                          {"OMPI_APP_CTX_NUM_PROCS", "2 3"},
                                          {"OMPI_FIRST_RANKS", "0 2"},
                                          {"OMPI_COMMAND", "second"},
                                          {"MPI_LOCALRANKID", "1"},
                                          {"MPI_LOCALNRANKS", "2"},
                                          {"PMIX_LOCAL_RANK", "1"},
                                          {"PMIX_LOCAL_SIZE", "2"}}) {
    const auto found = env.find(name);
    if (found == env.end())
      CAF_ERROR("there is no " << name);
    else
      CAF_CHECK_EQUAL(name + "=" + found->second, name + "=" + val);
  }
}

// By this variable it knows that it runs inside itself, and refuses.
CAF_TEST(RUN-3 mpirun runs inside a job) {
  context.environment = {"OMPI_UNIVERSE_SIZE=2"};
  CAF_CHECK_EQUAL(variable("OMPI_UNIVERSE_SIZE"), "unset");
}

CAF_TEST(RUN-2 the place of a process is ours to say) {
  set("OMPI_COMM_WORLD_RANK", "99");
  context.environment = {"TROUPE_RANK=99"};
  CAF_CHECK_EQUAL(variable("OMPI_COMM_WORLD_RANK"), "3");
  CAF_CHECK_EQUAL(variable("TROUPE_RANK"), "3");
}

CAF_TEST(F4.39 the server of MPICH is told once and only where there is one) {
  CAF_CHECK_EQUAL(variable("PMI_RANK"), "unset");
  context.with_pmi1 = true;
  request.apps[1].env = {"PMI_RANK=99"};
  CAF_CHECK_EQUAL(variable("PMI_RANK"), "3");
  CAF_CHECK_EQUAL(variable("PMI_SIZE"), "5");
  CAF_CHECK_EQUAL(variable("PMI_FD"), std::to_string(pmi1_descriptor));
  CAF_CHECK_EQUAL(variable("PMI_SPAWNED"), "unset");
  place.spawned = true;
  CAF_CHECK_EQUAL(variable("PMI_SPAWNED"), "1");
}

// A process that sees the marks of another launcher believes to be its child.
CAF_TEST(F4.39 the marks of other launchers are not handed on) {
  context.environment = {
    "OMPI_COMM_WORLD_RANK=1", "OMPI_MCA_orte_hnp_uri=x", "PMI_RANK=1",
    "OMPI_MCA_ess=pmi",       "ORTE_SCHIZO_DETECTION=x", "PRTE_LAUNCHED=1",
    "OMPI_MCA_btl=self",      "PMIX_MCA_gds=hash",       "MPI_LOCALRANKID=7",
    "OMPI_FILE_LOCATION=/x"};
  for (const auto* name :
       {"OMPI_MCA_orte_hnp_uri", "PMI_RANK", "ORTE_SCHIZO_DETECTION",
        "PRTE_LAUNCHED", "OMPI_FILE_LOCATION"})
    CAF_CHECK_EQUAL(variable(name), "unset");
  CAF_CHECK_EQUAL(variable("OMPI_COMM_WORLD_RANK"), "3");
  CAF_CHECK_EQUAL(variable("MPI_LOCALRANKID"), "1");
  CAF_CHECK_EQUAL(variable("OMPI_MCA_btl"), "self");
  CAF_CHECK_EQUAL(variable("PMIX_MCA_gds"), "hash");
}

CAF_TEST(RUN-3 Open MPI is told without the sign of another resource manager) {
  CAF_CHECK_EQUAL(variable("FLUX_JOB_ID"), "unset");
  CAF_CHECK_EQUAL(variable("OMPI_MCA_schizo"), "ompi");
  context.environment = {"FLUX_JOB_ID=f23"}; // Inside a job of Flux.
  CAF_CHECK_EQUAL(variable("FLUX_JOB_ID"), "f23");
  set("OMPI_MCA_schizo", "^orte");
  CAF_CHECK_EQUAL(variable("OMPI_MCA_schizo"), "^orte");
}

CAF_TEST(RUN-1 libraries are told to yield on an oversubscribed node only) {
  CAF_CHECK_EQUAL(variable("OMPI_MCA_mpi_oversubscribe"), "unset");
  CAF_CHECK_EQUAL(variable("MPIR_CVAR_POLLS_BEFORE_YIELD"), "unset");
  place.oversubscribed = true;
  CAF_CHECK_EQUAL(variable("TROUPE_OVERSUBSCRIBED"), "1");
  CAF_CHECK_EQUAL(variable("OMPI_MCA_mpi_oversubscribe"), "1");
  CAF_CHECK_EQUAL(variable("MPIR_CVAR_POLLS_BEFORE_YIELD"), "1");
}

CAF_TEST(RUN-1 what the user sets goes before our advice) {
  place.oversubscribed = true;
  context.environment = {"OMPI_MCA_mpi_oversubscribe=0"};
  CAF_CHECK_EQUAL(variable("OMPI_MCA_mpi_oversubscribe"), "0");
  context.environment.clear();
  set("MPIR_CVAR_POLLS_BEFORE_YIELD", "0");
  CAF_CHECK_EQUAL(variable("MPIR_CVAR_POLLS_BEFORE_YIELD"), "0");
}

CAF_TEST(RUN-1 the advice of another launcher is no wish of the user) {
  place.oversubscribed = true;
  const auto parent = std::vector<std::string>{"OMPI_COMM_WORLD_RANK=0",
                                               "OMPI_MCA_mpi_oversubscribe=0",
                                               "OMPI_MCA_btl=self"};
  context.environment = parent; // Troupe under mpirun.
  CAF_CHECK_EQUAL(variable("OMPI_MCA_mpi_oversubscribe"), "1");
  CAF_CHECK_EQUAL(variable("OMPI_MCA_btl"), "self");
  context.environment.clear();
  request.apps[1].env = parent; // MPI_Comm_spawn.
  CAF_CHECK_EQUAL(variable("OMPI_MCA_mpi_oversubscribe"), "1");
  CAF_CHECK_EQUAL(variable("OMPI_COMM_WORLD_RANK"), "3");
  CAF_CHECK_EQUAL(variable("OMPI_MCA_btl"), "self");
}

CAF_TEST_FIXTURE_SCOPE_END()
