// What a host needs to start processes and to join servers: environment,
// support of an application, modex, output, inventory.

#include "actors/io/io_patterns.hpp"
#include "adapters/c_host/modex_blob.hpp"
#include "adapters/c_values/c_types.hpp"
#include "adapters/hwloc/handles.hpp"
#include "adapters/wire/uri.hpp"
#include "base/make_info.hpp"
#include "c_api/helpers/failure.hpp"
#include "c_api/server_role.hpp"
#include "messages/io.hpp"

#include <caf/send.hpp>

#include <cstring>

namespace troupe::c_api {

namespace {

// -- an environment in C -----------------------------------------------------

/// A list of `NAME=value`, taken from a caller and given back.
class environment_list {
public:
  explicit environment_list(char** x) : entries_(to_strings(x)) {
    // nop
  }

  std::string* find(std::string_view name) {
    for (auto& x : entries_)
      if (x.size() > name.size() && x[name.size()] == '='
          && x.compare(0, name.size(), name) == 0)
        return &x;
    return nullptr;
  }

  void set(const std::string& name, const std::string& val) {
    unset(name);
    entries_.push_back(name + "=" + val);
  }

  void unset(std::string_view name) {
    if (const auto* x = find(name))
      entries_.erase(entries_.begin() + (x - entries_.data()));
  }

  /// Takes out what would lead a client to another server.
  void remove_hostile() {
    auto kept = std::vector<std::string>{};
    for (auto& x : entries_)
      if (!wire::is_hostile_variable(x.substr(0, x.find('='))))
        kept.push_back(std::move(x));
    entries_ = std::move(kept);
  }

  char** release() const {
    return to_c_strings(entries_);
  }

private:
  std::vector<std::string> entries_;
};

bool is_change(std::string_view key) {
  return key == attr::set_envar || key == attr::add_envar
         || key == attr::unset_envar || key == attr::prepend_envar
         || key == attr::append_envar;
}

/// Source: PMIx Standard v5, PMIX_SET_ENVAR and its neighbours.
void apply(environment_list& env, const info& change) {
  if (change.key == attr::unset_envar) {
    if (const auto* name = change.val.text())
      env.unset(*name);
    return;
  }
  const auto* x = std::get_if<box<envar>>(&change.val.data);
  if (x == nullptr)
    return;
  const auto& what = **x;
  const auto name = what.name.value_or("");
  if (name.empty())
    return;
  const auto val = what.val.value_or("");
  const auto separator = std::string(1, static_cast<char>(what.separator));
  const auto* old = env.find(name);
  const auto rest = old != nullptr ? old->substr(name.size() + 1) : "";
  if (change.key == attr::add_envar && old != nullptr)
    return;
  if (change.key == attr::prepend_envar && old != nullptr)
    env.set(name, val + separator + rest);
  else if (change.key == attr::append_envar && old != nullptr)
    env.set(name, rest + separator + val);
  else
    env.set(name, val);
}

/// Frees what a host's callback has looked at.
void release_array(pmix_status_t, void*) {
  // Nothing was made: an application needs nothing from us.
}

} // namespace

} // namespace troupe::c_api

using namespace troupe;
using namespace troupe::c_api;

// Called in forked children as well: takes no lock and asks nobody.
pmix_status_t PMIx_server_setup_fork(const pmix_proc_t* proc, char*** env) try {
  const auto* known = server_role::snapshot();
  if (known == nullptr)
    return PMIX_ERR_INIT;
  if (proc == nullptr || env == nullptr)
    return PMIX_ERR_BAD_PARAM;
  const auto who = to_proc(*proc);
  auto list = environment_list{*env};
  list.remove_hostile();
  const auto changes = known->changes.find(who.nspace);
  if (changes != known->changes.end())
    for (const auto& x : changes->second)
      apply(list, x);
  for (const auto& x : known->variables) {
    const auto end = x.find('=');
    list.set(x.substr(0, end), x.substr(end + 1));
  }
  list.set("PMIX_NAMESPACE", who.nspace);
  list.set("PMIX_RANK", std::to_string(who.rank));
  auto** made = list.release();
  if (made == nullptr)
    return PMIX_ERR_NOMEM;
  for (auto** x = *env; x != nullptr && *x != nullptr; ++x)
    std::free(*x);
  std::free(*env);
  *env = made;
  return PMIX_SUCCESS;
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_server_setup_application(
  const pmix_nspace_t nspace, pmix_info_t info[], size_t ninfo,
  pmix_setup_application_cbfunc_t cbfunc, void* cbdata) try {
  TROUPE_ENTER_SERVER(role)
  if (nspace == nullptr || cbfunc == nullptr)
    return PMIX_ERR_BAD_PARAM;
  TROUPE_TAKE(infos,
              to_directives(pmix_call::server_setup_application, info, ninfo));
  const auto is_kept = library::instance().post([cbfunc, cbdata] {
    cbfunc(PMIX_SUCCESS, nullptr, 0, cbdata, release_array, nullptr);
  });
  return is_kept ? PMIX_SUCCESS : PMIX_ERR_INIT;
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_server_setup_local_support(const pmix_nspace_t nspace,
                                              pmix_info_t info[], size_t ninfo,
                                              pmix_op_cbfunc_t cbfunc,
                                              void* cbdata) try {
  TROUPE_ENTER_SERVER(role)
  if (nspace == nullptr)
    return PMIX_ERR_BAD_PARAM;
  TROUPE_TAKE(
    infos, to_directives(pmix_call::server_setup_local_support, info, ninfo));
  auto changes = std::vector<struct info>{};
  for (auto& x : *infos)
    if (is_change(x.key))
      changes.push_back(std::move(x));
  if (!changes.empty())
    role->add_changes(std::string{nspace_of(nspace)}, changes);
  if (cbfunc == nullptr)
    return PMIX_OPERATION_SUCCEEDED;
  const auto is_kept = library::instance().post(
    [cbfunc, cbdata] { cbfunc(PMIX_SUCCESS, cbdata); });
  return is_kept ? PMIX_SUCCESS : PMIX_ERR_INIT;
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_server_dmodex_request(const pmix_proc_t* proc,
                                         pmix_dmodex_response_fn_t cbfunc,
                                         void* cbdata) try {
  TROUPE_ENTER_SERVER(role)
  if (proc == nullptr || cbfunc == nullptr)
    return PMIX_ERR_BAD_PARAM;
  role->ask<get_result>(direct_modex{to_proc(*proc), {}},
                        [cbfunc, cbdata](caf::expected<get_result> x) {
                          if (!x) {
                            cbfunc(to_c(x.error()), nullptr, 0, cbdata);
                            return;
                          }
                          auto blob = to_modex_blob(x->blocks);
                          if (blob)
                            cbfunc(PMIX_SUCCESS, blob->data(), blob->size(),
                                   cbdata);
                          else
                            cbfunc(to_c(blob.error()), nullptr, 0, cbdata);
                        });
  return PMIX_SUCCESS;
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_server_IOF_deliver(const pmix_proc_t* source,
                                      pmix_iof_channel_t channel,
                                      const pmix_byte_object_t* bo,
                                      const pmix_info_t info[], size_t ninfo,
                                      pmix_op_cbfunc_t cbfunc,
                                      void* cbdata) try {
  TROUPE_ENTER_SERVER(role)
  if (source == nullptr)
    return PMIX_ERR_BAD_PARAM;
  TROUPE_TAKE(infos, to_directives(pmix_call::server_iof_deliver, info, ninfo));
  const auto from = to_proc(*source);
  const auto stream = static_cast<io_channels>(channel);
  if (!is_output(stream) || from.nspace.empty() || from.rank > rank_valid_max)
    return PMIX_ERR_BAD_PARAM;
  const auto is_kept =
    role->deliver(outputs_of(from, stream, to_bytes(bo), *infos),
                  [cbfunc, cbdata](pmix_status_t code) {
                    if (cbfunc != nullptr)
                      cbfunc(code, cbdata);
                  });
  if (!is_kept)
    return PMIX_ERR_OUT_OF_RESOURCE;
  return cbfunc == nullptr ? PMIX_OPERATION_SUCCEEDED : PMIX_SUCCESS;
} catch (...) {
  return status_of_exception();
}

// Not supported: output: only whoever reads it can hold it up.
pmix_status_t PMIx_server_IOF_flow_control(const pmix_proc_t* source,
                                           pmix_iof_channel_t channel,
                                           bool xoff, const pmix_info_t info[],
                                           size_t ninfo,
                                           pmix_op_cbfunc_t cbfunc,
                                           void* cbdata) try {
  TROUPE_ENTER_SERVER(role)
  if ((channel & PMIX_FWD_STDIN_CHANNEL) == 0)
    return PMIX_ERR_NOT_SUPPORTED;
  TROUPE_TAKE(infos,
              to_directives(pmix_call::server_iof_flow_control, info, ninfo));
  const auto whom =
    source != nullptr ? to_proc(*source) : proc_id{"", rank_wildcard};
  const auto is_kept = role->control_input(whom, xoff, [cbfunc, cbdata] {
    if (cbfunc != nullptr)
      cbfunc(PMIX_SUCCESS, cbdata);
  });
  if (!is_kept)
    return PMIX_ERR_INIT;
  return cbfunc == nullptr ? PMIX_OPERATION_SUCCEEDED : PMIX_SUCCESS;
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_server_collect_inventory(pmix_info_t directives[],
                                            size_t ndirs,
                                            pmix_info_cbfunc_t cbfunc,
                                            void* cbdata) try {
  TROUPE_ENTER_SERVER(role)
  if (cbfunc == nullptr)
    return PMIX_ERR_BAD_PARAM;
  TROUPE_TAKE(infos, to_directives(pmix_call::server_collect_inventory,
                                   directives, ndirs));
  auto node = std::vector<struct info>{
    make_info(attr::hostname, value::string(role->hostname()))};
  // All of the hardware that hwloc knows, as servers of OpenPMIx send it to their
  // root.
  if (auto xml = hwloc::export_topology(hwloc::shared_topology()))
    node.push_back(
      make_info(attr::hwloc_xml_v2, value::string(std::move(*xml))));
  auto found = std::vector<struct info>{
    make_info(attr::node_info_array, value::infos(std::move(node)))};
  const auto is_kept =
    library::instance().post([cbfunc, cbdata, found = std::move(found)] {
      show_infos(PMIX_SUCCESS, found, cbfunc, cbdata);
    });
  return is_kept ? PMIX_SUCCESS : PMIX_ERR_INIT;
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_server_deliver_inventory(pmix_info_t info[], size_t ninfo,
                                            pmix_info_t directives[],
                                            size_t ndirs,
                                            pmix_op_cbfunc_t cbfunc,
                                            void* cbdata) try {
  TROUPE_ENTER_SERVER(role)
  TROUPE_TAKE(infos, to_infos(info, ninfo));
  TROUPE_TAKE(ignored, to_directives(pmix_call::server_deliver_inventory,
                                     directives, ndirs));
  return tell_server(role, register_resources{std::move(*infos)}, cbfunc,
                     cbdata);
} catch (...) {
  return status_of_exception();
}

// Not supported: what other servers need of a job comes to them by their own
// hosts.
pmix_status_t PMIx_server_collect_job_info(pmix_proc_t*, size_t,
                                           pmix_data_buffer_t*) try {
  return library::instance().has_role(role::server) ? PMIX_ERR_NOT_SUPPORTED
                                                    : PMIX_ERR_INIT;
} catch (...) {
  return status_of_exception();
}
