// What becomes of the directives of PMIx_Spawn.

#include "actors/jobs/spawn_directives.hpp"

#include "actors/jobs/job_options.hpp"
#include "base/directives.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

spawn_request job(info x) {
  auto result = spawn_request{{std::move(x)}, {}};
  result.apps.emplace_back();
  result.apps.back().cmd = "prog";
  result.apps.back().max_procs = 1;
  return result;
}

info required(info x) {
  x.flags = info_required;
  return x;
}

/// Whether a job with it is refused with a sentence that has this in it.
bool refuses(info x, const char* culprit, status code = status::not_supported) {
  const auto options = read_options(job(std::move(x)));
  const auto why = options ? caf::error{} : options.error();
  CAF_MESSAGE(reason_of(why));
  return why && status_of(why) == code
         && reason_of(why).find(culprit) != std::string::npos;
}

} // namespace

CAF_TEST(SPW-1 what says where processes go is never passed over) {
  CAF_CHECK(
    refuses(with(attr::hostfile, value::string("nodes")), "PMIX_HOST,"));
  CAF_CHECK(refuses(with(attr::colocate_npernode, value::uint16(1)),
                    "PMIX_COLOCATE_NPERNODE"));
  CAF_CHECK(refuses(with(attr::cospawn_app), "PMIX_COSPAWN_APP"));
  CAF_CHECK(refuses(with(attr::debug_stop_on_exec), "gdbserver"));
  CAF_CHECK(
    !check_directives(job(with(attr::cospawn_app, value::boolean(false)))));
}

CAF_TEST(SPW-1 F4.42 whatever the table refuses has a remedy) {
  auto seen = size_t{0};
  for (const auto& x : all_directives()) {
    if (x.call != pmix_call::spawn || x.how != treatment::refused)
      continue;
    ++seen;
    CAF_MESSAGE(x.c_name);
    CAF_CHECK(fate_of_directive(x.key) == spawn_fate::refused);
    CAF_CHECK(refuses(with(x.key), "is not done here: "));
  }
  CAF_CHECK(seen > 10);
}

CAF_TEST(SPW-1 directives of a program count as well) {
  auto request = job(with(attr::index_argv));
  CAF_CHECK(!check_directives(request));
  request.apps.front().infos.push_back(with(attr::cospawn_app));
  CAF_CHECK_EQUAL(status_of(check_directives(request)), status::not_supported);
}

CAF_TEST(SPW-2 a mapping of a later program is refused and not dropped) {
  const std::pair<std::string_view, value> wishes[] = {
    {attr::mapby, value::string("node")},
    {attr::ppr, value::string("1:node")},
    {attr::rankby, value::string("fill")},
    {attr::bindto, value::string("numa")},
    {attr::cpus_per_proc, value::uint32(2)},
    {attr::cpu_list, value::string("0,1")},
    {attr::no_oversubscribe, value::boolean(true)},
    {attr::no_procs_on_head, value::boolean(true)},
    {attr::report_bindings, value::boolean(true)},
    {attr::display_map, value::boolean(true)},
    {attr::index_argv, value::boolean(true)},
    {attr::runtime_options, value::string("recoverable")},
    {attr::job_recoverable, value::boolean(true)},
    {attr::abort_non_zero_term, value::boolean(false)},
    {attr::max_restarts, value::uint32(1)},
    {attr::job_timeout, value::integer(9)},
    {attr::spawn_timeout, value::integer(9)},
  };
  for (const auto& [key, val] : wishes) {
    CAF_MESSAGE(std::string{key});
    auto request = job(with("nobody.knows"));
    request.apps.push_back(request.apps.front());
    request.apps[1].cmd = "other";
    request.apps[1].infos = {with(key, val)};
    const auto refused = read_options(request);
    CAF_REQUIRE(!refused);
    CAF_CHECK_EQUAL(status_of(refused.error()), status::not_supported);
    CAF_CHECK(
      reason_of(refused.error()).find("of program 2, other, is not that")
      != std::string::npos);
    // The same with the job, or with its first program, is no other wish.
    request.apps[0].infos = request.apps[1].infos;
    CAF_CHECK(read_options(request));
    request.apps[0].infos = {};
    request.job_infos.push_back(with(key, val));
    CAF_CHECK(read_options(request));
    request.apps[1].infos = {with(key, value::string("another"))};
    CAF_CHECK(!read_options(request));
  }
}

CAF_TEST(SPW-2 a later program may ask for nothing and has nodes of its own) {
  auto request = job(with(attr::mapby, value::string("node")));
  request.apps.push_back(request.apps.front());
  request.apps[1].infos = {with(attr::host, value::string("n1")),
                           with(attr::wdir, value::string("/tmp")),
                           with(attr::bindto, value::string("")),
                           with(attr::no_oversubscribe, value::boolean(false))};
  CAF_CHECK(read_options(request));
}

CAF_TEST(SPW-2 streams of a job go one way) {
  auto request = job(with(attr::index_argv));
  request.apps.push_back(request.apps.front());
  request.apps[1].infos = {with(attr::output_to_file, value::string("kept"))};
  CAF_CHECK(read_options(request)->io.file == "kept");
  request.apps[0].infos = {
    with(attr::output_to_file, value::string("elsewhere"))};
  const auto refused = read_options(request);
  CAF_REQUIRE(!refused);
  CAF_CHECK(reason_of(refused.error()).find("PMIX_OUTPUT_TO_FILE of program 2")
            != std::string::npos);
}

CAF_TEST(SPW-1 what is not done is refused if it is required) {
  CAF_CHECK(!check_directives(job(with(attr::nohup))));
  CAF_CHECK(refuses(required(with(attr::nohup)), "PMIX_NOHUP is required"));
  CAF_CHECK(!check_directives(job(with("nobody.knows"))));
  CAF_CHECK(refuses(required(with("nobody.knows")), "nobody.knows"));
}

CAF_TEST(SPW-1 what is done may be required) {
  for (const auto key : {attr::mapby, attr::non_pmi, attr::index_argv,
                         attr::job_recoverable, attr::report_bindings})
    CAF_CHECK(!check_directives(job(required(with(key)))));
  CAF_CHECK(!check_directives(job(required(with("troupe.dry_run")))));
}

CAF_TEST(SPW-3 a job says who waits for a debugger) {
  const auto stops = [](info x) {
    const auto options = read_options(job(std::move(x)));
    return options ? options->stops : debug_stops{7, 7};
  };
  const auto in_init = [&](value x) {
    return stops(with(attr::debug_stop_in_init, std::move(x))).in_init;
  };
  CAF_CHECK(!stops(with(attr::index_argv)).any());
  CAF_CHECK(in_init({}) == rank_wildcard);
  CAF_CHECK(in_init(value::boolean(true)) == rank_wildcard);
  CAF_CHECK(!in_init(value::boolean(false)));
  CAF_CHECK(in_init(value::rank(0)) == 0u);
  CAF_CHECK(in_init(value::rank(3)) == 3u);
  CAF_CHECK(in_init(value::rank(rank_wildcard)) == rank_wildcard);
  CAF_CHECK(!stops(with(attr::debug_stop_in_init)).in_app);
  CAF_CHECK(stops(with(attr::debug_stop_in_app)).in_app == rank_wildcard);
  CAF_CHECK(stops(required(with(attr::debug_stop_in_init))).in_init
            == rank_wildcard);
  const auto words = [&](const char* x) {
    return stops(with(attr::runtime_options, value::string(x)));
  };
  CAF_CHECK(words("stop-in-init,recoverable").in_init == rank_wildcard);
  CAF_CHECK(words("recoverable,stop-in-app=mpi-init").in_app == rank_wildcard);
  CAF_CHECK(!words("stop-in-init=0").any());
}

CAF_TEST(SPW-3 whoever would have to stop and cannot is refused) {
  CAF_CHECK(refuses(
    with(attr::debug_stop_in_init, value::procs({{"job", 0}, {"job", 1}})),
    "PMIX_DEBUG_STOP_IN_INIT is not done for a list"));
  CAF_CHECK(refuses(with(attr::debug_stop_in_app, value::rank(rank_undef)),
                    "PMIX_DEBUG_STOP_IN_APP is no rank"));
  CAF_CHECK(refuses(with(attr::debug_stop_in_init, value::uint32(1)),
                    "PMIX_DEBUG_STOP_IN_INIT"));
  CAF_CHECK(refuses(with(attr::runtime_options, value::string("stop-on-exec")),
                    "PMIX_DEBUG_STOP_ON_EXEC"));
  auto request = job(with(attr::debug_stop_in_init));
  CAF_CHECK(read_options(request));
  request.job_infos.push_back(with(attr::max_restarts, value::uint32(1)));
  CAF_CHECK_EQUAL(status_of(read_options(request).error()),
                  status::not_supported);
}

CAF_TEST(SPW-3 programs may say it for their job) {
  auto request = job(with(attr::index_argv));
  request.apps.push_back(request.apps.front());
  const auto outcome = [&] {
    const auto options = read_options(request);
    return options ? status::success : status_of(options.error());
  };
  request.apps[0].infos = {with(attr::debug_stop_in_init)};
  CAF_CHECK_EQUAL(outcome(), status::not_supported);
  request.apps[1].infos = request.apps[0].infos;
  CAF_REQUIRE_EQUAL(outcome(), status::success);
  CAF_CHECK(read_options(request)->stops.in_init == rank_wildcard);
  request.apps[0].infos = {};
  CAF_CHECK_EQUAL(outcome(), status::not_supported);
  request.job_infos.push_back(with(attr::debug_stop_in_init));
  CAF_CHECK_EQUAL(outcome(), status::success);
  request.job_infos.pop_back();
  // A rank of which program?
  request.apps[0].infos = {with(attr::debug_stop_in_init, value::rank(0))};
  request.apps[1].infos = request.apps[0].infos;
  CAF_CHECK_EQUAL(outcome(), status::not_supported);
  request.apps.pop_back();
  CAF_REQUIRE_EQUAL(outcome(), status::success);
  CAF_CHECK(read_options(request)->stops.in_init == 0u);
}

CAF_TEST(RST-1 a job says how often its processes are started again) {
  const auto restarts = [](info x) {
    return read_options(job(std::move(x)))->max_restarts;
  };
  CAF_CHECK(!restarts(with(attr::index_argv)));
  CAF_CHECK(restarts(with(attr::max_restarts, value::uint32(3))) == 3u);
  CAF_CHECK(restarts(with(attr::max_restarts, value::integer(0))) == 0u);
  CAF_CHECK(restarts(with(attr::job_continuous)) == UINT32_MAX);
  CAF_CHECK(refuses(with(attr::max_restarts, value::string("many")),
                    "PMIX_MAX_RESTARTS", status::bad_param));
  CAF_CHECK(refuses(with(attr::spawn_timeout, value::string("soon")),
                    "PMIX_SPAWN_TIMEOUT", status::bad_param));
}
