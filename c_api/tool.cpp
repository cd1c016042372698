// Tools: init, finalize, and the servers they are connected to.

#include "adapters/link/server_search.hpp"
#include "base/make_info.hpp"
#include "c_api/client_link.hpp"
#include "c_api/helpers/failure.hpp"
#include "c_api/library_core.hpp"
#include "c_api/request.hpp"
#include "c_api/server_calls.hpp"

#include <pmix_tool.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>

using namespace troupe;
using namespace troupe::c_api;

namespace {

/// Whether this tool is a server, too.
std::atomic<bool> is_serving{false};

const char* variable(const char* name) {
  return std::getenv(name);
}

/// What the directives say of the server that is wanted.
server_search search_of(const std::vector<troupe::info>& xs) {
  auto x = server_search{};
  x.uri = text(xs, attr::server_uri);
  if (!x.uri)
    x.uri = text(xs, attr::tcp_uri);
  x.attachment_file = text(xs, attr::tool_attachment_file);
  for (const auto& y : xs) {
    if (!y.val.truth())
      continue;
    if (y.key == attr::connect_to_system) {
      x.node_servers.push_back(rendezvous_kind::system);
      x.node_servers_only = true;
    } else if (y.key == attr::connect_system_first) {
      x.node_servers.push_back(rendezvous_kind::system);
    } else if (y.key == attr::connect_to_scheduler) {
      x.node_servers.push_back(rendezvous_kind::scheduler);
      x.node_servers_only = true;
    } else if (y.key == attr::connect_to_sys_controller) {
      x.node_servers.push_back(rendezvous_kind::system_controller);
      x.node_servers_only = true;
    }
  }
  x.pid = number<uint32_t>(xs, attr::server_pidinfo);
  x.nspace = text(xs, attr::server_nspace);
  if (const auto y = text(xs, attr::system_tmpdir))
    x.directory = *y;
  if (const auto y = number<uint32_t>(xs, attr::connect_retry_delay))
    x.retry_delay = std::chrono::seconds{*y};
  if (const auto y = number<uint32_t>(xs, attr::connect_max_retries))
    x.retries = *y;
  return x;
}

/// The identity that the caller wants, if he says.
caf::expected<std::optional<proc_id>>
wanted_identity(const std::vector<troupe::info>& xs) {
  const auto nspace = text(xs, attr::tool_nspace);
  const auto rank = number<uint32_t>(xs, attr::tool_rank);
  if (!nspace)
    return std::optional<proc_id>{};
  if (nspace->empty() || nspace->size() > max_nspace_length || !rank
      || *rank > rank_valid_max)
    return make_error(status::bad_param);
  return std::optional{proc_id{*nspace, *rank}};
}

std::string command_line() {
  auto in = std::ifstream{"/proc/self/cmdline", std::ios::binary};
  auto result = std::string{};
  for (char c = 0; in.get(c) && result.size() < 4096;)
    result.push_back(c == '\0' ? ' ' : c);
  while (!result.empty() && result.back() == ' ')
    result.pop_back();
  return result;
}

/// What servers are told of a tool.
/// Source: OpenPMIx wire protocol, connect.
std::vector<troupe::info> introduction(bool is_launcher) {
  auto result = std::vector<troupe::info>{};
  result.push_back(
    make_info(attr::proc_pid, value::pid(static_cast<uint32_t>(::getpid()))));
  if (is_launcher)
    result.push_back(make_info(attr::launcher, value::boolean(true)));
  result.push_back(make_info(attr::cmd_line, value::string(command_line())));
  return result;
}

/// In which role a tool connects.
peer_role role_of(const link_settings& x, bool is_launcher) {
  if (x.role == peer_role::tool_client)
    return is_launcher ? peer_role::launcher_client : peer_role::tool_client;
  if (x.self)
    return is_launcher ? peer_role::launcher_with_identity
                       : peer_role::tool_with_identity;
  return is_launcher ? peer_role::launcher_needs_identity
                     : peer_role::tool_needs_identity;
}

/// Connects to the first server of those found that takes us.
pmix_status_t connect_tool(library& lib, const std::vector<troupe::info>& xs,
                           bool make_primary) {
  auto identity = wanted_identity(xs);
  if (!identity)
    return to_c(identity.error());
  auto found = find_servers(search_of(xs), variable);
  if (!found)
    return to_c(found.error());
  const auto is_launcher = flag(xs, attr::launcher);
  auto code = pmix_status_t{PMIX_ERR_UNREACH};
  for (auto& x : *found) {
    if (*identity) {
      x.self = **identity;
      if (x.role == peer_role::tool_client)
        x.role = peer_role::tool_with_identity;
    }
    x.role = role_of(x, is_launcher);
    x.infos = introduction(is_launcher);
    code = attach(lib, x, make_primary);
    if (code == PMIX_SUCCESS)
      return code;
  }
  return code;
}

/// A tool without a server names itself.
void name_self(library& lib, const std::vector<troupe::info>& xs) {
  auto self = proc_id{};
  if (auto wanted = wanted_identity(xs); wanted && *wanted)
    self = **wanted;
  else
    self = {"tool." + node_name() + "." + std::to_string(::getpid()), 0};
  lib.store()->set_self(self, node_name());
  lib.set_proc(self);
}

pmix_status_t bring_up(library& lib, const std::vector<troupe::info>& xs) {
  if (!lib.server().nspace.empty())
    return PMIX_SUCCESS; // A client or server that becomes a tool as well.
  if (auto wanted = wanted_identity(xs); !wanted)
    return to_c(wanted.error());
  if (flag(xs, attr::tool_do_not_connect)) {
    name_self(lib, xs);
    return PMIX_SUCCESS;
  }
  const auto code = connect_tool(lib, xs, true);
  if (code != PMIX_SUCCESS && flag(xs, attr::tool_connect_optional)) {
    name_self(lib, xs);
    return PMIX_SUCCESS;
  }
  return code;
}

std::shared_ptr<troupe::link> find_link(const library& lib,
                                        const proc_id& server) {
  for (const auto& x : links(lib))
    if (matches(server, x->server()))
      return x;
  return nullptr;
}

} // namespace

pmix_status_t PMIx_tool_init(pmix_proc_t* proc, pmix_info_t info[],
                             size_t ninfo) try {
  auto& lib = library::instance();
  TROUPE_TAKE(infos, to_directives(pmix_call::tool_init, info, ninfo));
  const auto code = lib.start(
    role::tool, [&] { return bring_up(lib, *infos); },
    flag(*infos, attr::external_progress));
  if (code == PMIX_SUCCESS && proc != nullptr)
    to_c(lib.proc(), *proc);
  return code;
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_tool_finalize(void) try {
  auto& lib = library::instance();
  if (!lib.has_role(role::tool))
    return PMIX_ERR_INIT;
  auto is_last = false;
  const auto code = lib.stop(role::tool, [&] {
    is_last = true;
    if (!lib.has_role(role::client))
      detach_all(lib);
  });
  if (is_last && is_serving.exchange(false))
    cease_server(lib);
  return code;
} catch (...) {
  return status_of_exception();
}

bool PMIx_tool_is_connected(void) try {
  const auto& lib = library::instance();
  // Somebody has to read that it is lost.
  if (lib.check() != PMIX_SUCCESS)
    return false;
  const auto to = lib.current_link();
  return to && to->is_open();
} catch (...) {
  return false;
}

pmix_status_t PMIx_tool_attach_to_server(pmix_proc_t* myproc,
                                         pmix_proc_t* server,
                                         pmix_info_t info[], size_t ninfo) try {
  auto& lib = library::instance();
  if (const auto code = lib.check_blocking(); code != PMIX_SUCCESS)
    return code;
  if (info == nullptr || ninfo == 0)
    return PMIX_ERR_BAD_PARAM; // Which one?
  TROUPE_TAKE(infos,
              to_directives(pmix_call::tool_attach_to_server, info, ninfo));
  const auto make_primary =
    flag(*infos, attr::primary_server) || !lib.current_link();
  const auto before = links(lib);
  const auto code = connect_tool(lib, *infos, make_primary);
  if (code != PMIX_SUCCESS)
    return code;
  for (const auto& x : links(lib))
    if (std::find(before.begin(), before.end(), x) == before.end()) {
      if (myproc != nullptr)
        to_c(x->self(), *myproc);
      if (server != nullptr)
        to_c(x->server(), *server);
    }
  return PMIX_SUCCESS;
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_tool_connect_to_server(pmix_proc_t* proc, pmix_info_t info[],
                                          size_t ninfo) try {
  auto& lib = library::instance();
  if (const auto code = lib.check_blocking(); code != PMIX_SUCCESS)
    return code;
  if (info == nullptr || ninfo == 0)
    return PMIX_ERR_BAD_PARAM;
  TROUPE_TAKE(infos,
              to_directives(pmix_call::tool_connect_to_server, info, ninfo));
  const auto old = lib.current_link();
  const auto code = connect_tool(lib, *infos, true);
  if (code != PMIX_SUCCESS)
    return code;
  // The new one takes the place of the old.
  if (old)
    detach(lib, old);
  if (proc != nullptr)
    to_c(lib.proc(), *proc);
  return PMIX_SUCCESS;
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_tool_disconnect(const pmix_proc_t* server) try {
  auto& lib = library::instance();
  if (const auto code = lib.check_blocking(); code != PMIX_SUCCESS)
    return code;
  if (server == nullptr)
    return PMIX_ERR_BAD_PARAM;
  const auto to = find_link(lib, to_proc(*server));
  if (!to)
    return PMIX_ERR_NOT_FOUND;
  detach(lib, to);
  return PMIX_SUCCESS;
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_tool_get_servers(pmix_proc_t* servers[],
                                    size_t* nservers) try {
  TROUPE_ENTER(lib)
  if (servers == nullptr || nservers == nullptr)
    return PMIX_ERR_BAD_PARAM;
  *servers = nullptr;
  *nservers = 0;
  auto procs = std::vector<proc_id>{};
  for (const auto& x : links(lib))
    procs.push_back(x->server());
  if (procs.empty())
    return PMIX_ERR_UNREACH;
  auto array = to_c_procs(procs);
  if (!array)
    return to_c(array.error());
  *nservers = array->size();
  *servers = array->release();
  return PMIX_SUCCESS;
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_tool_set_server(const pmix_proc_t* server,
                                   pmix_info_t info[], size_t ninfo) try {
  auto& lib = library::instance();
  if (const auto code = lib.check_blocking(); code != PMIX_SUCCESS)
    return code;
  if (server == nullptr)
    return PMIX_ERR_BAD_PARAM;
  TROUPE_TAKE(infos, to_directives(pmix_call::tool_set_server, info, ninfo));
  const auto to = find_link(lib, to_proc(*server));
  if (!to || !to->is_open())
    return PMIX_ERR_UNREACH;
  choose(lib, to);
  return PMIX_SUCCESS;
} catch (...) {
  return status_of_exception();
}

// From then on the functions of servers are there. Once in a tool's life.
pmix_status_t PMIx_tool_set_server_module(pmix_server_module_t* module) try {
  auto& lib = library::instance();
  if (const auto code = lib.check_blocking(); code != PMIX_SUCCESS)
    return code;
  if (module == nullptr)
    return PMIX_ERR_BAD_PARAM;
  if (!lib.has_role(role::tool))
    return PMIX_ERR_INIT;
  if (lib.has_role(role::server))
    return PMIX_ERR_EXISTS;
  const auto code = become_server(lib, module);
  is_serving = code == PMIX_SUCCESS;
  return code;
} catch (...) {
  return status_of_exception();
}
