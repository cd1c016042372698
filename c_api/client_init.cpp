// PMIx_Init, PMIx_Finalize and what says whether they were called.

#include "adapters/link/server_search.hpp"
#include "c_api/client_link.hpp"
#include "c_api/helpers/failure.hpp"
#include "c_api/request.hpp"
#include "messages/collective.hpp"
#include "messages/spawn.hpp"

#include <pmix/src/include/pmix_frameworks.h>

#include <cstdlib>

namespace troupe::c_api {

namespace {

pmix_status_t connect_client(library& lib) {
  const auto environment = variable_lookup{
    [](const char* x) { return const_cast<const char*>(std::getenv(x)); }};
  auto settings = is_launched(environment) ? client_settings(environment)
                                           : singleton_settings(environment);
  if (!settings)
    return to_c(settings.error());
  settings->retry_refusals = true;
  return attach(lib, *settings);
}

/// What a process may be told at its end.
pmix_status_t wait_at_end(const library& lib, const std::vector<info>& xs) {
  if (!flag(xs, attr::embed_barrier) || !lib.current_link())
    return PMIX_SUCCESS;
  auto everybody = fence_request{};
  everybody.procs.push_back({lib.proc().nspace, rank_wildcard});
  return await_op(lib, std::move(everybody), limit_of(xs));
}

} // namespace

} // namespace troupe::c_api

using namespace troupe;
using namespace troupe::c_api;

pmix_status_t PMIx_Init(pmix_proc_t* proc, pmix_info_t info[],
                        size_t ninfo) try {
  auto& lib = library::instance();
  TROUPE_TAKE(infos, to_infos(info, ninfo));
  const auto external = flag(*infos, attr::external_progress);
  const auto code = lib.start(
    role::client,
    [&] {
      // A server or tool that becomes a client as well keeps its server.
      return lib.server().nspace.empty() ? connect_client(lib) : PMIX_SUCCESS;
    },
    external);
  if (code == PMIX_SUCCESS && proc != nullptr)
    to_c(lib.proc(), *proc);
  return code;
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Finalize(const pmix_info_t info[], size_t ninfo) try {
  auto& lib = library::instance();
  if (!lib.has_role(role::client))
    return PMIX_ERR_INIT;
  TROUPE_TAKE(infos, to_infos(info, ninfo));
  return lib.stop(role::client, [&] {
    wait_at_end(lib, *infos);
    if (!lib.has_role(role::tool) && !lib.has_role(role::server))
      detach_all(lib);
  });
} catch (...) {
  return status_of_exception();
}

int PMIx_Initialized(void) try {
  return library::instance().is_up() ? 1 : 0;
} catch (...) {
  return 0;
}

pmix_status_t PMIx_Abort(int status, const char msg[], pmix_proc_t procs[],
                         size_t nprocs) try {
  auto& lib = library::instance();
  if (const auto code = lib.check_blocking(); code != PMIX_SUCCESS)
    return code;
  TROUPE_TAKE(targets, to_procs(procs, nprocs));
  auto x = abort_request{};
  x.exit_status = status;
  if (msg != nullptr)
    x.message = msg;
  x.procs = std::move(*targets);
  for (auto& y : x.procs)
    if (y.nspace.empty())
      y.nspace = lib.proc().nspace;
  return await_op(lib, std::move(x));
} catch (...) {
  return status_of_exception();
}

void PMIx_Progress(void) try { library::instance().progress(); } catch (...) {
  static_cast<void>(status_of_exception());
}

void PMIx_Progress_thread_stop(const pmix_info_t*, size_t) {
  // The thread ends with the last finalize; without work it sleeps.
}

// -- names of frameworks -----------------------------------------------------

// The prefixes by which Open MPI 5 knows OpenPMIx's parameters from its own, as
// of OpenPMIx 5.0; not constant, since its header says so.

static char mca[] = "mca", bfrops[] = "bfrops", gds[] = "gds",
            pcompress[] = "pcompress", pdl[] = "pdl", pfexec[] = "pfexec",
            pgpu[] = "pgpu", pif[] = "pif", pinstalldirs[] = "pinstalldirs",
            plog[] = "plog", pmdl[] = "pmdl", pnet[] = "pnet", preg[] = "preg",
            prm[] = "prm", psec[] = "psec", psensor[] = "psensor",
            pshmem[] = "pshmem", psquash[] = "psquash", pstat[] = "pstat",
            pstrg[] = "pstrg", ptl[] = "ptl";

char* pmix_framework_names[] = {
  mca,          bfrops,  gds,   pcompress, pdl,  pfexec, pgpu, pif,
  pinstalldirs, plog,    pmdl,  pnet,      preg, prm,    psec, psensor,
  pshmem,       psquash, pstat, pstrg,     ptl,  nullptr};
