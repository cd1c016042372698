// PMIx_Init, PMIx_Finalize and what says whether they were called.

#include "actors/events/handler_chain.hpp"
#include "actors/jobs/debug_stops.hpp"
#include "adapters/link/server_search.hpp"
#include "c_api/client_link.hpp"
#include "c_api/helpers/failure.hpp"
#include "c_api/request.hpp"
#include "c_api/waiter.hpp"
#include "messages/collective.hpp"
#include "messages/spawn.hpp"

#include <pmix/src/include/pmix_frameworks.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>

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

/// What says which programming model a library of the process implements.
bool is_of_model(const pmix_info_t& x) {
  const auto key = text_of(x.key);
  return key == attr::programming_model || key == attr::model_library_name
         || key == attr::model_library_version || key == attr::threading_model
         || key == attr::model_num_threads || key == attr::model_num_cpus
         || key == attr::model_cpu_type || key == attr::model_affinity_policy;
}

/// Tells the libraries of this process which programming model one of them
/// implements. Source: PMIx Standard v5, PMIX_MODEL_DECLARED.
void declare_model(const pmix_info_t* infos, size_t ninfo) {
  auto told = std::vector<pmix_info_t>{};
  for (size_t i = 0; i < ninfo; ++i)
    if (is_of_model(infos[i]))
      told.push_back(infos[i]);
  if (told.empty())
    return;
  auto is_quiet = pmix_info_t{};
  PMIx_Info_load(&is_quiet, PMIX_EVENT_NON_DEFAULT, nullptr, PMIX_BOOL);
  told.push_back(is_quiet);
  PMIx_Notify_event(PMIX_MODEL_DECLARED, nullptr, PMIX_RANGE_PROC_LOCAL,
                    told.data(), told.size(), nullptr, nullptr);
}

// -- a debugger --------------------------------------------------------------

/// Whether this process is to wait in PMIx_Init: the value is true, its rank, or
/// a list that has it.
/// Source: PMIx Standard v5, PMIX_DEBUG_STOP_IN_INIT.
bool stops_in_init(const library& lib) {
  const auto self = lib.proc();
  const auto all = proc_id{self.nspace, rank_wildcard};
  auto result = false;
  lib.store()->get({all, attr::debug_stop_in_init}, {}, [&](const value& x) {
    const auto procs = procs_of(x);
    if (x.type == data_type::proc_rank)
      result = x.number<uint32_t>() == self.rank
               || x.number<uint32_t>() == rank_wildcard;
    else if (procs.empty())
      result = x.truth();
    else
      result = std::any_of(procs.begin(), procs.end(),
                           [&](const auto& y) { return matches(y, self); });
  });
  return result;
}

/// Who waits, kept by the handler that ends that, too: it may still run.
using shared_waiter = std::shared_ptr<waiter>;

void on_release(size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t info[],
                size_t ninfo, pmix_info_t*, size_t,
                pmix_event_notification_cbfunc_fn_t done, void* data) {
  for (size_t i = 0; i < ninfo; ++i)
    if (text_of(info[i].key) == attr::event_return_object) {
      const auto whom = std::unique_ptr<shared_waiter>{
        static_cast<shared_waiter*>(info[i].value.data.ptr)};
      (*whom)->set(PMIX_SUCCESS);
    }
  // A handler of the program's waits for the next one.
  done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, data);
}

/// Tells the server that this process waits for a debugger, and waits until one
/// releases it, or the server is lost. A process that cannot say so does not
/// wait: nobody would know of it.
/// Source: PMIx Standard v5, PMIX_DEBUG_STOP_IN_INIT, PMIX_READY_FOR_DEBUG;
/// OpenPMIx 4.1 to 6.1.
void wait_for_debugger() {
  const auto done = std::make_shared<waiter>();
  auto object = std::make_unique<shared_waiter>(done);
  // Of the loss of others we would hear by the name of today.
  pmix_status_t codes[] = {PMIX_DEBUGGER_RELEASE,
                           PMIX_ERR_LOST_CONNECTION_TO_SERVER};
  pmix_info_t about[4];
  PMIx_Info_load(&about[0], PMIX_EVENT_RETURN_OBJECT, object.get(),
                 PMIX_POINTER);
  PMIx_Info_load(&about[1], PMIX_EVENT_ONESHOT, nullptr, PMIX_BOOL);
  PMIx_Info_load(&about[2], PMIX_EVENT_HDLR_NAME, "WAIT-FOR-DEBUGGER",
                 PMIX_STRING);
  PMIx_Info_load(&about[3], own_handler_key.data(), nullptr, PMIX_BOOL);
  // From here on the handler may have it.
  auto* const kept = object.release();
  const auto handler =
    PMIx_Register_event_handler(codes, std::size(codes), about,
                                std::size(about), on_release, nullptr, nullptr);
  for (auto& x : about)
    PMIx_Info_destruct(&x);
  if (handler < 0) {
    object.reset(kept);
    return;
  }
  pmix_info_t where[2];
  PMIx_Info_load(&where[0], PMIX_EVENT_NON_DEFAULT, nullptr, PMIX_BOOL);
  PMIx_Info_load(&where[1], PMIX_BREAKPOINT, init_breakpoint.data(),
                 PMIX_STRING);
  const auto code =
    PMIx_Notify_event(PMIX_READY_FOR_DEBUG, nullptr, PMIX_RANGE_RM, where,
                      std::size(where), nullptr, nullptr);
  for (auto& x : where)
    PMIx_Info_destruct(&x);
  if (code == PMIX_SUCCESS || code == PMIX_OPERATION_SUCCEEDED) {
    done->wait();
    return;
  }
  // Unless it has been called meanwhile.
  if (PMIx_Deregister_event_handler(static_cast<size_t>(handler), nullptr,
                                    nullptr)
      == PMIX_SUCCESS)
    object.reset(kept);
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
  TROUPE_TAKE(infos, to_directives(pmix_call::init, info, ninfo));
  const auto external = flag(*infos, attr::external_progress);
  auto is_new = false;
  const auto code = lib.start(
    role::client,
    [&] {
      // A server or tool that becomes a client as well keeps its server.
      is_new = lib.server().nspace.empty();
      return is_new ? connect_client(lib) : PMIX_SUCCESS;
    },
    external);
  if (code != PMIX_SUCCESS)
    return code;
  if (proc != nullptr)
    to_c(lib.proc(), *proc);
  if (is_new && stops_in_init(lib))
    wait_for_debugger();
  declare_model(info, ninfo);
  return PMIX_SUCCESS;
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Finalize(const pmix_info_t info[], size_t ninfo) try {
  auto& lib = library::instance();
  if (!lib.has_role(role::client))
    return PMIX_ERR_INIT;
  TROUPE_TAKE(infos, to_directives(pmix_call::finalize, info, ninfo));
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
