// PMIx_Spawn.

#include "c_api/client_output.hpp"
#include "c_api/helpers/failure.hpp"
#include "c_api/request.hpp"
#include "messages/spawn.hpp"

#include <unistd.h>

#include <climits>

using namespace troupe;
using namespace troupe::c_api;

namespace {

std::optional<std::string> working_directory() {
  char path[PATH_MAX];
  if (::getcwd(path, sizeof(path)) == nullptr)
    return std::nullopt;
  return std::string{path};
}

/// Whether who is named as the parent, if somebody is, is a process.
/// Source: PMIx Standard v5, PMIX_PARENT_ID (`pmix_proc_t*`).
bool has_odd_parent(const std::vector<info>& xs) {
  const auto* parent = find(xs, attr::parent_id);
  return parent != nullptr && parent->proc() == nullptr;
}

caf::expected<spawn_request> make_request(const pmix_info_t* infos,
                                          size_t ninfo, const pmix_app_t* apps,
                                          size_t napps) {
  if (apps == nullptr || napps == 0)
    return make_error(status::bad_param);
  auto job_infos = to_infos(infos, ninfo);
  if (!job_infos)
    return std::move(job_infos.error());
  auto programs = to_apps(apps, napps);
  if (!programs)
    return std::move(programs.error());
  if (has_odd_parent(*job_infos))
    return make_error(status::bad_param,
                      "PMIX_PARENT_ID must be a process (PMIX_PROC)");
  // Launchers of others read it with programs only.
  auto of_job = std::optional<std::string>{};
  if (const auto* wdir = find(*job_infos, attr::wdir))
    if (const auto* text = wdir->text(); text != nullptr && !text->empty())
      of_job = *text;
  for (auto& x : *programs) {
    if (has_odd_parent(x.infos))
      return make_error(status::bad_param,
                        "PMIX_PARENT_ID must be a process (PMIX_PROC)");
    if (x.cmd.empty()) {
      if (x.argv.empty())
        return make_error(status::bad_param);
      x.cmd = x.argv.front();
    }
    if (x.argv.empty())
      x.argv.push_back(x.cmd);
    if (x.max_procs <= 0)
      x.max_procs = 1;
    if (!x.cwd && find(x.infos, attr::wdir) == nullptr)
      x.cwd = of_job ? of_job : working_directory();
  }
  return spawn_request{std::move(*job_infos), std::move(*programs)};
}

/// A job whose output may have to be formatted here.
class shown_job {
public:
  shown_job(const library& lib, const std::vector<info>& infos)
    : handlers_(lib.core()->outputs), shape_(shape_for(lib, infos)) {
    if (shape_)
      handlers_->expect_job(shape_);
  }

  void name(const caf::expected<spawn_result>& x) const {
    if (shape_)
      handlers_->name_job(shape_, x ? x->nspace : std::string{});
  }

private:
  std::shared_ptr<output_handlers> handlers_;
  output_shape shape_;
};

/// Keeps what is known of the new job.
pmix_status_t keep(const library& lib, const caf::expected<spawn_result>& x) {
  const auto store = lib.store();
  if (x && store && !x->nspace.empty())
    store->add_job(*x);
  return code_of(x);
}

} // namespace

pmix_status_t PMIx_Spawn(const pmix_info_t job_info[], size_t ninfo,
                         const pmix_app_t apps[], size_t napps,
                         pmix_nspace_t nspace) try {
  TROUPE_ENTER_BLOCKING(lib)
  if (nspace != nullptr)
    set_text(nspace, PMIX_MAX_NSLEN + 1, {});
  TROUPE_TAKE(x, make_request(job_info, ninfo, apps, napps));
  const auto shown = shown_job{lib, x->job_infos};
  const auto result = lib.ask_and_wait<spawn_result>(std::move(*x));
  shown.name(result);
  if (result && nspace != nullptr)
    set_text(nspace, PMIX_MAX_NSLEN + 1, result->nspace);
  return keep(lib, result);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Spawn_nb(const pmix_info_t job_info[], size_t ninfo,
                            const pmix_app_t apps[], size_t napps,
                            pmix_spawn_cbfunc_t cbfunc, void* cbdata) try {
  TROUPE_ENTER(lib)
  TROUPE_TAKE(x, make_request(job_info, ninfo, apps, napps));
  const auto shown = shown_job{lib, x->job_infos};
  const auto asked = lib.ask<spawn_result>(
    std::move(*x),
    [cbfunc, cbdata, shown](const caf::expected<spawn_result>& y) {
      shown.name(y);
      const auto code = keep(library::instance(), y);
      pmix_nspace_t nspace;
      set_text(nspace, y ? std::string_view{y->nspace} : std::string_view{});
      if (cbfunc != nullptr)
        cbfunc(code, nspace, cbdata);
    });
  if (asked != PMIX_SUCCESS)
    shown.name(make_error(static_cast<status>(asked)));
  return asked;
} catch (...) {
  return status_of_exception();
}
