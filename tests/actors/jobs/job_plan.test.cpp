// From a spawn request to what is started and what processes are told.

#include "actors/jobs/job_plan.hpp"

#include "actors/data/job_data.hpp"
#include "actors/data/job_memory.hpp"
#include "actors/jobs/node_mapping.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

#include <algorithm>

using namespace troupe;
using namespace troupe::fixtures;
using namespace std::chrono_literals;

namespace {

app program(std::string cmd, int32_t max_procs = 1) {
  app result;
  result.cmd = cmd;
  result.argv = {std::move(cmd)};
  result.max_procs = max_procs;
  return result;
}

info change(std::string_view key, std::string name, std::string text,
            char separator = ':') {
  return with(key, value{data_type::envar,
                         box<envar>{{std::move(name), std::move(text),
                                     static_cast<uint8_t>(separator)}}});
}

spawn_request one(std::vector<info> job_infos) {
  return {std::move(job_infos), {program("prog")}};
}

job_options options_of(std::vector<info> job_infos) {
  const auto result = read_options(one(std::move(job_infos)));
  if (!result)
    CAF_FAIL("refused: " << reason_of(result.error()));
  return *result;
}

/// A key of the registration and the type that its value must have.
struct typed_key {
  std::string_view key;
  data_type type;
};

void check_types(const std::vector<info>& infos,
                 const std::vector<typed_key>& wanted) {
  for (const auto& x : wanted) {
    const auto* found = find(infos, x.key);
    if (found == nullptr)
      CAF_ERROR("there is no " << std::string{x.key});
    else if (found->type != x.type)
      CAF_ERROR(std::string{x.key} << " is a " << to_string(found->type));
    else
      CAF_CHECK(true);
  }
}

struct fixture {
  fixture() {
    context.server = {"server", 0};
    context.hostname = "node";
    context.universe = 8;
    context.environment = {"PATH=/bin", "HOME=/home/me", "EMPTY="};
    context.session_directory = "/tmp/session";
    context.working_directory = "/work";
    request.apps = {program("first", 2), program("second", 3)};
  }

  /// On one node, whose processors are `topology`.
  caf::expected<job_plan> make_plan() {
    auto shares = map_job(request, options, {{0, "node", context.universe, 0}});
    if (!shares)
      return shares.error();
    map = {"server@1", 1, std::move(*shares)};
    if (auto why = bind_share(map.shares.front(), options, topology))
      return why;
    return plan_job(map, request, parent, options, context, topology);
  }

  job_plan plan() {
    auto result = make_plan();
    if (!result)
      CAF_FAIL("refused: " << reason_of(result.error()));
    return std::move(*result);
  }

  /// The status with which the plan is refused.
  status refusal(std::string* reason = nullptr) {
    const auto result = make_plan();
    if (result)
      return status::success;
    if (reason != nullptr)
      *reason = reason_of(result.error());
    return status_of(result.error());
  }

  /// A variable of a process, or `unset`.
  std::string variable(const std::string& name, uint32_t rank = 0) {
    auto result = std::string{"unset"};
    auto found = 0;
    const auto env = plan().processes.at(rank).env;
    for (const auto& x : env)
      if (x.compare(0, name.size() + 1, name + "=") == 0) {
        result = x.substr(name.size() + 1);
        ++found;
      }
    CAF_CHECK(found <= 1);
    return result;
  }

  void two_cores() {
    for (uint32_t i = 0; i < 2; ++i) {
      processing_unit x;
      x.os_index = x.hwthread = x.core = x.l1 = x.l2 = i;
      topology.units.push_back(x);
    }
    topology.signature = "2 cores";
  }

  spawn_request request;
  requester parent = asks({"launcher", 0});
  job_options options;
  job_context context;
  node_topology topology;

  /// Of the last plan.
  job_map map;
};

} // namespace

// -- options -----------------------------------------------------------------

CAF_TEST(F5.3 F5.4 policies are read) {
  CAF_CHECK(options_of({}).map_by == resource_kind::slot);
  CAF_CHECK(options_of({}).bind_to == resource_kind::none);
  struct row {
    const char* text;
    resource_kind kind;
  };
  for (const auto& x : std::vector<row>{{"slot", resource_kind::slot},
                                        {"node", resource_kind::slot},
                                        {"hwthread", resource_kind::hwthread},
                                        {"core", resource_kind::core},
                                        {"CORE", resource_kind::core},
                                        {"l3cache", resource_kind::l3},
                                        {"numa", resource_kind::numa},
                                        {"package", resource_kind::package},
                                        {"socket", resource_kind::package},
                                        {"", resource_kind::slot}})
    CAF_CHECK(options_of({with(attr::mapby, value::string(x.text))}).map_by
              == x.kind);
  CAF_CHECK(options_of({with(attr::bindto, value::string("core"))}).bind_to
            == resource_kind::core);
  CAF_CHECK(options_of({with(attr::bindto, value::string("none"))}).bind_to
            == resource_kind::none);
}

CAF_TEST(F5.3 F5.4 an unknown policy is refused by name) {
  for (const auto key : {attr::mapby, attr::bindto}) {
    const auto x = read_options(one({with(key, value::string("planet"))}));
    CAF_REQUIRE(!x);
    CAF_CHECK_EQUAL(status_of(x.error()), status::not_supported);
    CAF_CHECK(reason_of(x.error()).find("planet") != std::string::npos);
  }
  const auto x = read_options(one({with(attr::mapby, value::string("none"))}));
  CAF_REQUIRE(!x);
  CAF_CHECK_EQUAL(status_of(x.error()), status::bad_param);
}

CAF_TEST(MAP-11 unknown words are refused with those that are known) {
  struct row {
    std::string_view key;
    const char* text;
    std::vector<const char*> says;
  };
  const auto rows = std::vector<row>{
    {attr::mapby, "nonsense", {"PMIX_MAPBY", "\"nonsense\"", "known are slot"}},
    {attr::mapby, "slot:foo=3", {"PMIX_MAPBY", "\"foo=3\"", "pe=N"}},
    {attr::mapby, "core:SPAN,Foo", {"\"core:SPAN,Foo\"", "\"foo\""}},
    {attr::mapby, "slot:ordered", {"\"ordered\""}},
    {attr::mapby, "slot:pe=0", {"\"pe=0\"", "above 0"}},
    {attr::mapby, "slot:pe=x", {"\"pe=x\""}},
    {attr::mapby, "core:file=x", {"\"file=x\""}},
    {attr::mapby, "ppr:2:socket:foo", {"\"foo\""}},
    {attr::mapby, "rankfile", {"rankfile:file=FILE"}},
    {attr::mapby, "rankfile:file=A:b", {"rankfile:file=A:b", "troupe.mapfile"}},
    {attr::mapby, "pe-list=1-x", {"\"1-x\"", "0-3,5"}},
    {attr::ppr, "2:planet", {"PMIX_PPR", "ppr:N:OBJECT"}},
    {attr::rankby, "planet", {"PMIX_RANKBY", "fill"}},
    {attr::rankby, "slot:foo", {"\"foo\""}},
    {attr::bindto, "planet", {"PMIX_BINDTO", "l3cache"}},
    {attr::bindto, "core:foo", {"\"foo\"", "overload-allowed"}},
    {attr::bindto, "cpu-list", {"PMIX_CPU_LIST"}},
    {attr::cpu_list, "a", {"PMIX_CPU_LIST", "\"a\""}},
  };
  for (const auto& x : rows) {
    const auto options =
      read_options(one({with(x.key, value::string(x.text))}));
    if (options) {
      CAF_ERROR("accepted: " << x.text);
      continue;
    }
    const auto why = reason_of(options.error());
    for (const auto* what : x.says)
      if (why.find(what) == std::string::npos)
        CAF_ERROR(x.text << " is refused without " << what << ": " << why);
  }
  CAF_CHECK(!read_options(one({with(attr::mapby, value::string("numa:pe=2")),
                               with(attr::bindto, value::string("numa"))})));
  CAF_CHECK(!read_options(one({with(attr::cpus_per_proc, value::uint32(0))})));
}

CAF_TEST(MAP-11 words are read whatever their case) {
  const auto x = options_of({
    with(attr::mapby, value::string("NUMA:PE=2,Span:NOLOCAL:hwtcpus")),
    with(attr::rankby, value::string("FILL")),
    with(attr::bindto, value::string("Core:Overload-Allowed,IF-SUPPORTED")),
    with(attr::report_bindings),
  });
  CAF_CHECK(x.map_by == resource_kind::numa && x.map_given);
  CAF_CHECK_EQUAL(x.cpus_per_proc, 2u);
  CAF_CHECK(x.spans && x.no_local && x.threads_are_cpus);
  CAF_CHECK(x.rank_by == rank_policy::fill);
  CAF_CHECK(x.bind_to == resource_kind::core && x.bind_given);
  CAF_CHECK(x.overload && x.bind_if_possible && x.report_bindings);
  CAF_CHECK_EQUAL(mapping_of(x), "numa:pe=2:span");
  const auto dealt =
    options_of({with(attr::mapby, value::string("ppr:2:socket"))});
  CAF_CHECK_EQUAL(mapping_of(dealt), "ppr:2:package");
}

CAF_TEST(MAP-12 the right to oversubscribe can be taken back) {
  CAF_CHECK(options_of({with(attr::mapby, value::string(":nooversubscribe"))})
              .never_oversubscribe);
  const auto x = options_of({with(attr::mapby, value::string(":oversubscribe")),
                             with(attr::no_oversubscribe)});
  CAF_CHECK(!x.oversubscribe && x.never_oversubscribe);
}

CAF_TEST(F5.11 oversubscription is a modifier of the mapping) {
  const auto oversubscribes = [](const char* text) {
    return options_of({with(attr::mapby, value::string(text))}).oversubscribe;
  };
  CAF_CHECK(!oversubscribes("core"));
  CAF_CHECK(oversubscribes("core:OVERSUBSCRIBE"));
  CAF_CHECK(oversubscribes(":oversubscribe"));
  CAF_CHECK(oversubscribes("slot:PE=1:OVERSUBSCRIBE"));
  CAF_CHECK(!oversubscribes("core:NOOVERSUBSCRIBE"));
  CAF_CHECK(
    options_of({with(attr::mapby, value::string(":oversubscribe"))}).map_by
    == resource_kind::slot);
}

CAF_TEST(F5.7 F5.14 how the job ends is read) {
  const auto plain = options_of({});
  CAF_CHECK(!plain.recoverable);
  CAF_CHECK(plain.abort_non_zero);
  CAF_CHECK(!plain.timeout);
  const auto x =
    options_of({with(attr::job_recoverable),
                with(attr::abort_non_zero_term, value::boolean(false)),
                with(attr::job_timeout, value::integer(90))});
  CAF_CHECK(x.recoverable);
  CAF_CHECK(!x.abort_non_zero);
  CAF_CHECK(x.timeout == caf::timespan{90s});
  for (const int32_t never : {0, -1})
    CAF_CHECK(
      !options_of({with(attr::job_timeout, value::integer(never))}).timeout);
}

CAF_TEST(F5.10 the target of standard input is a rank or a process) {
  CAF_CHECK_EQUAL(options_of({}).io.stdin_target, rank_undef);
  CAF_CHECK_EQUAL(
    options_of({with(attr::stdin_tgt, value::rank(2))}).io.stdin_target, 2u);
  CAF_CHECK_EQUAL(
    options_of({with(attr::stdin_tgt, value::of_proc({"job", rank_wildcard}))})
      .io.stdin_target,
    rank_wildcard);
}

CAF_TEST(directives of the first program count for the job) {
  auto request = one({with(attr::bindto, value::string("none"))});
  request.apps[0].infos = {with(attr::mapby, value::string("numa")),
                           with(attr::bindto, value::string("core"))};
  const auto x = read_options(request);
  CAF_REQUIRE(x);
  CAF_CHECK(x->map_by == resource_kind::numa);
  CAF_CHECK(x->bind_to == resource_kind::none); // The job's own goes first.
}

CAF_TEST(the processors are looked at only if it matters) {
  CAF_CHECK(!needs_topology({}));
  auto options = options_of({with(attr::mapby, value::string("core"))});
  settle(options, 1);
  CAF_CHECK(needs_topology(options));
  CAF_CHECK(
    needs_topology(options_of({with(attr::bindto, value::string("core"))})));
}

// -- what is started ---------------------------------------------------------

CAF_TEST_FIXTURE_SCOPE(job_plan_tests, fixture)

CAF_TEST(SPW-1 processes may have their rank behind their name) {
  options.index_argv = true;
  const auto x = plan();
  CAF_CHECK_EQUAL(x.processes.at(1).argv.front(), "first-1");
  CAF_CHECK_EQUAL(x.processes.at(3).argv.front(), "second-3");
  CAF_CHECK_EQUAL(x.processes.at(3).program, "second");
}

CAF_TEST(SPW-1 what is below a prefix comes first) {
  request.job_infos = {with(attr::prefix, value::string("/opt/x"))};
  CAF_CHECK_EQUAL(variable("PATH"), "/opt/x/bin:/bin");
  CAF_CHECK_EQUAL(variable("LD_LIBRARY_PATH"), "/opt/x/lib");
}

CAF_TEST(RST-1 processes that may come back share no memory) {
  const auto shares = [this] {
    const auto infos = plan().registration.infos;
    CAF_CHECK(flag(infos, restarts_key) == flag(infos, no_shared_memory_key));
    return !flag(infos, no_shared_memory_key);
  };
  CAF_CHECK(shares());
  options.max_restarts = 0;
  CAF_CHECK(!shares());
}

CAF_TEST(SPW-3 processes are told whether to wait for a debugger) {
  const auto told = [this](std::string_view key) {
    const auto infos = plan().registration.infos;
    const auto* x = find(infos, key);
    return x != nullptr ? *x : value::string("nothing");
  };
  CAF_CHECK(told(attr::debug_stop_in_init) == value::string("nothing"));
  options.stops.in_init = rank_wildcard;
  CAF_CHECK(told(attr::debug_stop_in_init) == value::boolean(true));
  CAF_CHECK(told(attr::debug_stop_in_app) == value::string("nothing"));
  options.stops.in_app = 4;
  CAF_CHECK(told(attr::debug_stop_in_app) == value::rank(4));
}

CAF_TEST(F5.1 F5.2 programs follow one another with their processes) {
  const auto x = plan();
  CAF_REQUIRE_EQUAL(x.processes.size(), 5u);
  const auto& procs = map.shares.at(0).procs;
  CAF_REQUIRE_EQUAL(procs.size(), 5u);
  for (uint32_t rank = 0; rank < 5; ++rank) {
    CAF_CHECK(x.processes[rank].proc == (proc_id{"server@1", rank}));
    CAF_CHECK_EQUAL(x.processes[rank].program, rank < 2 ? "first" : "second");
    CAF_CHECK_EQUAL(procs[rank].rank, rank);
    CAF_CHECK_EQUAL(procs[rank].app, rank < 2 ? 0u : 1u);
  }
  CAF_CHECK_EQUAL(map.shares[0].hostname, "node");
}

CAF_TEST(X30 arguments are passed on as they are) {
  request.apps = {program("prog")};
  request.apps[0].argv = {"other name", "a b", "$HOME;rm -rf", ""};
  CAF_CHECK(
    (plan().processes[0].argv
     == std::vector<std::string>{"other name", "a b", "$HOME;rm -rf", ""}));
  request.apps[0].argv.clear();
  CAF_CHECK((plan().processes[0].argv == std::vector<std::string>{"prog"}));
}

CAF_TEST(F5.2 a job without program or process is refused) {
  request.apps[1].max_procs = 0;
  CAF_CHECK_EQUAL(refusal(), status::bad_param);
  request.apps[1].max_procs = -1;
  CAF_CHECK_EQUAL(refusal(), status::bad_param);
  request.apps[1] = program("", 1);
  CAF_CHECK_EQUAL(refusal(), status::job_no_exe_specified);
  request.apps.clear();
  CAF_CHECK_EQUAL(refusal(), status::bad_param);
}

CAF_TEST(F5.11 more processes than slots are refused with the remedy) {
  context.universe = 4;
  std::string reason;
  CAF_CHECK_EQUAL(refusal(&reason), status::job_insufficient_resources);
  CAF_CHECK(reason.find("5 processes") != std::string::npos);
  CAF_CHECK(reason.find("4 slots") != std::string::npos);
  CAF_CHECK(reason.find("--oversubscribe") != std::string::npos);
  options.oversubscribe = true;
  CAF_CHECK_EQUAL(refusal(), status::success);
}

CAF_TEST(F5.2 a job has at most as many processes as a rank on a node can say) {
  context.universe = UINT32_MAX;
  request.apps = {program("prog", 65536)};
  CAF_CHECK_EQUAL(refusal(), status::bad_param);
  request.apps = std::vector<app>(4, program("prog", INT32_MAX));
  CAF_CHECK_EQUAL(refusal(), status::bad_param);
}

CAF_TEST(F5.10 standard input goes to the ranks named) {
  const auto readers = [this] {
    std::string result;
    const auto processes = plan().processes;
    for (const auto& x : processes)
      result += x.with_stdin ? '1' : '0';
    return result;
  };
  CAF_CHECK_EQUAL(readers(), "00000");
  options.io.stdin_target = 3;
  CAF_CHECK_EQUAL(readers(), "00010");
  options.io.stdin_target = rank_wildcard;
  CAF_CHECK_EQUAL(readers(), "11111");
  options.io.stdin_target = 5;
  CAF_CHECK_EQUAL(refusal(), status::bad_param);
}

CAF_TEST(F5.6 the working directory is that of the program or the job) {
  const auto wdir = [this] { return plan().processes[0].wdir; };
  CAF_CHECK_EQUAL(wdir(), "/work");
  request.job_infos = {with(attr::wdir, value::string("/job"))};
  CAF_CHECK_EQUAL(wdir(), "/job");
  request.apps[0].cwd = "/cwd";
  CAF_CHECK_EQUAL(wdir(), "/cwd");
  request.apps[0].infos = {with(attr::wdir, value::string("/program"))};
  CAF_CHECK_EQUAL(wdir(), "/program");
  request.apps[0].cwd = "";
  CAF_CHECK_EQUAL(wdir(), "/program");
  CAF_CHECK_EQUAL(plan().processes[2].wdir, "/job");
}

// -- the environment ---------------------------------------------------------

CAF_TEST(F5.5 processes inherit the environment of the host) {
  CAF_CHECK_EQUAL(variable("PATH"), "/bin");
  CAF_CHECK_EQUAL(variable("HOME", 4), "/home/me");
  CAF_CHECK_EQUAL(variable("EMPTY"), "");
  CAF_CHECK_EQUAL(variable("OTHER"), "unset");
}

CAF_TEST(F5.5 a program sets variables of its own) {
  request.apps[0].env = {"NEW=1", "HOME=/else", "WITH=a=b", "=no name", "bare"};
  CAF_CHECK_EQUAL(variable("NEW"), "1");
  CAF_CHECK_EQUAL(variable("HOME"), "/else");
  CAF_CHECK_EQUAL(variable("WITH"), "a=b");
  CAF_CHECK_EQUAL(variable("bare"), "unset");
  CAF_CHECK_EQUAL(variable("NEW", 2), "unset");
  CAF_CHECK_EQUAL(variable("HOME", 2), "/home/me");
}

CAF_TEST(F5.5 directives change the environment) {
  request.job_infos = {change(attr::set_envar, "SET", "a"),
                       change(attr::set_envar, "HOME", "/set"),
                       change(attr::add_envar, "ADDED", "a"),
                       change(attr::add_envar, "PATH", "/not/this"),
                       change(attr::prepend_envar, "PATH", "/first"),
                       change(attr::append_envar, "PATH", "/last"),
                       change(attr::prepend_envar, "LIST", "x", ','),
                       change(attr::append_envar, "LIST", "y", ','),
                       with(attr::unset_envar, value::string("EMPTY"))};
  CAF_CHECK_EQUAL(variable("SET"), "a");
  CAF_CHECK_EQUAL(variable("HOME"), "/set");
  CAF_CHECK_EQUAL(variable("ADDED"), "a");
  CAF_CHECK_EQUAL(variable("PATH"), "/first:/bin:/last");
  CAF_CHECK_EQUAL(variable("LIST"), "x,y");
  CAF_CHECK_EQUAL(variable("EMPTY"), "unset");
}

CAF_TEST(F5.5 directives of a program follow those of the job) {
  request.job_infos = {change(attr::set_envar, "A", "job"),
                       change(attr::set_envar, "B", "job")};
  request.apps[0].env = {"A=program"};
  request.apps[0].infos = {change(attr::append_envar, "A", "more"),
                           with(attr::unset_envar, value::string("B"))};
  CAF_CHECK_EQUAL(variable("A"), "program:more");
  CAF_CHECK_EQUAL(variable("B"), "unset");
  CAF_CHECK_EQUAL(variable("A", 2), "job");
  CAF_CHECK_EQUAL(variable("B", 2), "job");
}

CAF_TEST(F5.5 a directive of another kind sets nothing) {
  request.job_infos = {change("my.own.key", "STRAY", "a"),
                       change(attr::set_envar, "", "a"),
                       with(attr::set_envar, value::string("STRAY=a")),
                       with(attr::unset_envar, value::uint32(1))};
  CAF_CHECK_EQUAL(variable("STRAY"), "unset");
  CAF_CHECK_EQUAL(variable("PATH"), "/bin");
}

CAF_TEST(RUN-2 each process is told its place) {
  request.apps = {program("first", 2), program("second", 3)};
  CAF_CHECK_EQUAL(variable("TROUPE_JOB", 3), "server@1");
  CAF_CHECK_EQUAL(variable("TROUPE_RANK", 3), "3");
  CAF_CHECK_EQUAL(variable("TROUPE_APP", 3), "1");
  CAF_CHECK_EQUAL(variable("TROUPE_APP", 1), "0");
  CAF_CHECK_EQUAL(variable("TROUPE_SIZE", 3), "5");
  CAF_CHECK_EQUAL(variable("TROUPE_HOSTNAME", 3), "node");
}

// -- oversubscribed nodes ----------------------------------------------------

// Open MPI takes the key for a yes, whatever its value.
CAF_TEST(RUN-1 only of an oversubscribed node there is a word) {
  CAF_CHECK_EQUAL(variable("TROUPE_OVERSUBSCRIBED"), "0");
  CAF_CHECK(find(plan().registration.infos, attr::node_oversubscribed)
            == nullptr);
  mark_oversubscribed(request, {0});
  CAF_CHECK_EQUAL(variable("TROUPE_OVERSUBSCRIBED"), "1");
  CAF_CHECK(flag(plan().registration.infos, attr::node_oversubscribed));
}

CAF_TEST(RUN-1 each node has the mark that the root gives it) {
  auto job = spawn_request{};
  job.job_infos = {with(attr::mapby, value::string("slot"))};
  const auto marks = [&] {
    auto result = std::string{};
    for (const auto node : {0u, 1u})
      result += is_oversubscribed(job, node) ? '1' : '0';
    return result;
  };
  CAF_CHECK_EQUAL(marks(), "00");
  mark_oversubscribed(job, {1});
  CAF_CHECK_EQUAL(marks(), "01");
  mark_oversubscribed(job, {0, 1});
  CAF_CHECK_EQUAL(marks(), "11");
  // What a request brings counts for nothing.
  mark_oversubscribed(job, {});
  CAF_CHECK_EQUAL(marks(), "00");
  CAF_CHECK_EQUAL(job.job_infos.size(), 1u);
}

// -- what processes are told -------------------------------------------------

CAF_TEST(F4.14 the registration names owner and ranks) {
  parent = asks({"launcher", 0}, 1, 4711);
  const auto x = plan().registration;
  CAF_CHECK_EQUAL(x.nspace, "server@1");
  CAF_CHECK_EQUAL(x.owner.uid, 4711u);
  CAF_CHECK((x.local_ranks == std::vector<uint32_t>{0, 1, 2, 3, 4}));
}

CAF_TEST(F4.14 job level keys have the types that Open MPI demands) {
  using t = data_type;
  const auto infos = plan().registration.infos;
  check_types(infos, {{attr::job_size, t::uint32},
                      {attr::max_procs, t::uint32},
                      {attr::univ_size, t::uint32},
                      {attr::num_nodes, t::uint32},
                      {attr::job_num_apps, t::uint32},
                      {attr::local_size, t::uint32},
                      {attr::nproc_offset, t::proc_rank},
                      {attr::server_rank, t::proc_rank},
                      {attr::server_nspace, t::string},
                      {attr::jobid, t::string},
                      {attr::node_list, t::string},
                      {attr::local_peers, t::string},
                      {attr::mapby, t::string},
                      {attr::rankby, t::string},
                      {attr::bindto, t::string},
                      {attr::tmpdir, t::string},
                      {attr::session_info_array, t::data_array},
                      {attr::node_info_array, t::data_array},
                      {attr::app_info_array, t::data_array},
                      {attr::proc_data, t::data_array}});
  CAF_CHECK(number<uint32_t>(infos, attr::job_size) == 5u);
  CAF_CHECK(number<uint32_t>(infos, attr::max_procs) == 5u);
  CAF_CHECK(number<uint32_t>(infos, attr::univ_size) == 8u);
  CAF_CHECK(number<uint32_t>(infos, attr::num_nodes) == 1u);
  CAF_CHECK(number<uint32_t>(infos, attr::job_num_apps) == 2u);
  CAF_CHECK(text(infos, attr::local_peers) == "0,1,2,3,4");
  CAF_CHECK(text(infos, attr::node_list) == "node");
  CAF_CHECK(text(infos, attr::jobid) == "server@1");
}

// Source: Open MPI 5.0, MPI_Group_from_session_pset.
CAF_TEST(F4.27 the process set of a program is told as Open MPI asks for it) {
  const auto name_of = [this](uint32_t rank) {
    const auto data = job_data{"server@1", plan().registration.infos};
    const auto* entries = data.of_rank(rank);
    const auto i =
      std::find_if(entries->begin(), entries->end(),
                   [](const key_value& x) { return x.key == attr::pset_name; });
    return i != entries->end() ? *i->val.text() : "none";
  };
  CAF_CHECK_EQUAL(name_of(0), "none");
  request.apps[1].infos.push_back(with(attr::pset_name, value::string("ice")));
  CAF_CHECK_EQUAL(name_of(4), "ice");
  // Open MPI gives up at the first process without the key.
  CAF_CHECK_EQUAL(name_of(0), "");
  const auto infos = plan().registration.infos;
  auto members = std::vector<proc_id>{};
  for (const auto& x : infos)
    if (x.key == attr::app_info_array)
      if (const auto of_app = infos_of(x.val);
          const auto* y = find(of_app, attr::pset_members))
        members = procs_of(*y);
  CAF_CHECK((members
             == std::vector<proc_id>{
               {"server@1", 2}, {"server@1", 3}, {"server@1", 4}}));
}

CAF_TEST(F4.14 every rank has the keys that Open MPI demands) {
  using t = data_type;
  const auto data = job_data{"server@1", plan().registration.infos};
  CAF_CHECK(data.job_size() == 5u);
  CAF_REQUIRE_EQUAL(data.all()->ranks.size(), 5u);
  for (uint32_t rank = 0; rank < 5; ++rank) {
    const auto* entries = data.of_rank(rank);
    CAF_REQUIRE(entries != nullptr);
    std::vector<info> infos;
    for (const auto& x : *entries)
      infos.push_back({x.key, 0, x.val});
    check_types(infos, {{attr::local_rank, t::uint16},
                        {attr::node_rank, t::uint16},
                        {attr::global_rank, t::proc_rank},
                        {attr::app_rank, t::proc_rank},
                        {attr::appnum, t::uint32},
                        {attr::nodeid, t::uint32},
                        {attr::reincarnation, t::uint32},
                        {attr::hostname, t::string}});
    CAF_CHECK(number<uint32_t>(infos, attr::local_rank) == rank);
    CAF_CHECK(number<uint32_t>(infos, attr::global_rank) == rank);
    CAF_CHECK(number<uint32_t>(infos, attr::appnum) == (rank < 2 ? 0u : 1u));
    CAF_CHECK(number<uint32_t>(infos, attr::app_rank)
              == (rank < 2 ? rank : rank - 2));
    CAF_CHECK(find(infos, attr::cpuset) == nullptr);
    CAF_CHECK(find(infos, attr::locality_string) == nullptr);
  }
}

CAF_TEST(F4.14 sessions and nodes and programs have arrays) {
  using t = data_type;
  request.apps[1].argv = {"second", "-v"};
  const auto data = job_data{"server@1", plan().registration.infos};
  check_types(data.of_session(),
              {{attr::session_id, t::uint32}, {attr::univ_size, t::uint32}});
  const auto node = data.of_node({});
  CAF_CHECK_EQUAL(node.front().key, std::string{attr::hostname});
  check_types(node, {{attr::nodeid, t::uint32},
                     {attr::local_peers, t::string},
                     {attr::local_size, t::uint32},
                     {attr::node_size, t::uint32},
                     {attr::localldr, t::proc_rank}});
  const auto second = data.of_app({with(attr::appnum, value::uint32(1))});
  CAF_CHECK_EQUAL(second.front().key, std::string{attr::appnum});
  check_types(second, {{attr::app_size, t::uint32},
                       {attr::appldr, t::proc_rank},
                       {attr::app_argv, t::string}});
  CAF_CHECK(number<uint32_t>(second, attr::app_size) == 3u);
  CAF_CHECK(number<uint32_t>(second, attr::appldr) == 2u);
  CAF_CHECK(text(second, attr::app_argv) == "second -v");
}

CAF_TEST(F5.4 F4.14 bound processes know where they are) {
  two_cores();
  options.map_by = options.bind_to = resource_kind::core;
  options.overload = true;
  const auto x = plan();
  CAF_CHECK((x.processes[0].cpus == std::vector<uint32_t>{0}));
  CAF_CHECK((x.processes[1].cpus == std::vector<uint32_t>{1}));
  CAF_CHECK((x.processes[2].cpus == std::vector<uint32_t>{0}));
  CAF_CHECK((map.shares[0].procs[1].cpus == std::vector<uint32_t>{1}));
  const auto data = job_data{"server@1", x.registration.infos};
  const auto* entries = data.of_rank(1);
  CAF_REQUIRE(find(*entries, attr::cpuset) != nullptr);
  CAF_CHECK(*find(*entries, attr::cpuset) == value::string("1"));
  CAF_REQUIRE(find(*entries, attr::locality_string) != nullptr);
  CAF_CHECK(*find(*entries, attr::locality_string)
            == value::string("SK0:L30:L21:L11:CR1:HT1:NM0"));
  CAF_REQUIRE(data.find(attr::topology_signature) != nullptr);
  CAF_CHECK(*data.find(attr::topology_signature) == value::string("2 cores"));
}

CAF_TEST(F4.28 a spawned job knows its parent) {
  auto infos = plan().registration.infos;
  CAF_CHECK(flag(infos, attr::spawned));
  CAF_REQUIRE(find(infos, attr::parent_id) != nullptr);
  CAF_CHECK(*find(infos, attr::parent_id) == value::of_proc({"launcher", 0}));
  parent.role = peer_role::launcher_with_identity;
  infos = plan().registration.infos;
  CAF_CHECK(find(infos, attr::spawned) == nullptr);
  CAF_CHECK(find(infos, attr::parent_id) == nullptr);
}

CAF_TEST(policies have names) {
  for (const auto* name :
       {"none", "slot", "hwthread", "core", "l3cache", "numa", "package"})
    CAF_CHECK_EQUAL(
      to_string(options_of({with(attr::bindto, value::string(name))}).bind_to),
      name);
}

// -- PMI-1 -------------------------------------------------------------------

CAF_TEST(C6.8 a process is told where its server of PMI-1 is) {
  CAF_CHECK_EQUAL(variable("PMI_FD"), "unset");
  CAF_CHECK(!plan().processes.at(0).with_pmi1);
  context.environment.push_back("PMI_FD=99");
  context.with_pmi1 = true;
  CAF_CHECK(plan().processes.at(0).with_pmi1);
  CAF_CHECK_EQUAL(variable("PMI_FD"), std::to_string(pmi1_descriptor));
  CAF_CHECK_EQUAL(variable("PMI_RANK", 4), "4");
  CAF_CHECK_EQUAL(variable("PMI_SIZE", 4), "5");
  CAF_CHECK_EQUAL(variable("PMI_SPAWNED"), "1");
  parent.role = peer_role::tool_with_identity;
  CAF_CHECK_EQUAL(variable("PMI_SPAWNED"), "unset");
}

CAF_TEST(C6.8 whoever asks for a job may give it data but not the reserved) {
  request.job_infos.push_back(
    with(preset_data, value::infos({with("PARENT", value::string("port")),
                                    with(attr::job_size, value::uint32(99))})));
  const auto infos = plan().registration.infos;
  CAF_CHECK(text(infos, "PARENT") == std::string{"port"});
  auto sizes = 0;
  for (const auto& x : infos)
    sizes += x.key == attr::job_size ? 1 : 0;
  CAF_CHECK_EQUAL(sizes, 1);
}

CAF_TEST(a job that shares no memory says so to the servers of all its nodes) {
  CAF_CHECK(!flag(plan().registration.infos, no_shared_memory_key));
  request.job_infos.push_back(with(no_shared_memory_key, value::boolean(true)));
  CAF_CHECK(flag(plan().registration.infos, no_shared_memory_key));
}

CAF_TEST(variables that are set take the place of what they were) {
  auto env = std::vector<std::string>{"A=1", "AB=2", "B", "C=3", "=x"};
  set_variables(env, {"C=4", "A=5", "D=", "C=6", "B=7"});
  const auto expected =
    std::vector<std::string>{"AB=2", "B", "=x", "A=5", "D=", "C=6", "B=7"};
  CAF_CHECK_EQUAL(env, expected);
}

CAF_TEST_FIXTURE_SCOPE_END()
