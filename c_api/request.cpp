#include "c_api/request.hpp"

#include "base/timeout.hpp"
#include "c_api/library_core.hpp"

namespace troupe::c_api {

namespace {

/// What the server gets to answer beyond the time that the caller gives.
constexpr auto grace = std::chrono::milliseconds{2000};

} // namespace

caf::expected<std::vector<info>>
to_directives(pmix_call call, const pmix_info_t* infos, size_t ninfo) {
  auto result = to_infos(infos, ninfo);
  if (result)
    if (auto why = check_required(call, *result, next_host::ours))
      return why;
  return result;
}

std::optional<std::chrono::milliseconds>
limit_of(const std::vector<info>& directives) {
  const auto patience = timeout_of(directives);
  if (!patience)
    return std::nullopt;
  return std::chrono::duration_cast<std::chrono::milliseconds>(*patience)
         + grace;
}

caf::expected<std::vector<proc_id>>
to_procs_of_jobs(const library& lib, const pmix_proc_t* procs, size_t n) {
  auto asked = to_procs(procs, n);
  if (!asked)
    return asked;
  for (auto& x : *asked)
    if (x.nspace.empty())
      x.nspace = lib.proc().nspace;
  if (auto why = spell_out_groups(lib, *asked))
    return why;
  return asked;
}

caf::expected<std::vector<proc_id>>
to_members(const library& lib, const pmix_proc_t* procs, size_t n) {
  if (n > 0)
    return to_procs_of_jobs(lib, procs, n);
  return std::vector<proc_id>{{lib.proc().nspace, rank_wildcard}};
}

void show_infos(pmix_status_t code, const std::vector<info>& xs,
                pmix_info_cbfunc_t f, void* data) {
  auto array = to_c_infos(xs);
  if (!array) {
    f(to_c(array.error()), nullptr, 0, data, nullptr, nullptr);
    return;
  }
  auto* parcel = new c_infos(std::move(*array));
  f(
    code, parcel->data(), parcel->size(), data,
    [](void* x) { delete static_cast<c_infos*>(x); }, parcel);
}

pmix_status_t give_infos(pmix_status_t code, const std::vector<info>& xs,
                         pmix_info_t** results, size_t* count) {
  clear(results, count);
  if (results == nullptr || count == nullptr || xs.empty())
    return code;
  auto array = to_c_infos(xs);
  if (!array)
    return to_c(array.error());
  *count = array->size();
  *results = array->release();
  return code;
}

} // namespace troupe::c_api
