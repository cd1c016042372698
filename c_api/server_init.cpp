// PMIx_server_init and PMIx_server_finalize.

#include "actors/data/job_memory.hpp"
#include "adapters/log/logger.hpp"
#include "adapters/spool/spool.hpp"
#include "c_api/helpers/failure.hpp"
#include "c_api/mesh_hook.hpp"
#include "c_api/server_role.hpp"
#include "messages/monitor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace troupe::c_api {

namespace {

/// The key by which RFC0002, "Description", sets the size of the event cache.
constexpr auto cache_size_key = "PMIx_server_cache_size";

/// The key by which a host says whether events that are kept, and that memory has
/// no room for, go to disk; a boolean. TROUPE_EVENT_SPOOL says so for hosts that
/// cannot be changed: 0 for no. By default they do, as under our own daemons.
/// Source: guarantees 5.1, "Spool".
constexpr auto event_spool_key = "troupe.event.spool";

bool wants_spool(const std::vector<info>& infos) {
  if (find(infos, event_spool_key) != nullptr)
    return flag(infos, event_spool_key);
  const auto* text = std::getenv("TROUPE_EVENT_SPOOL");
  return text == nullptr || std::string_view{text} != "0";
}

/// What the server writes to standard error: nothing below an error, unless
/// TROUPE_LOG_LEVEL asks for more.
journal server_log() {
  const auto* level = std::getenv("TROUPE_LOG_LEVEL");
  const auto wanted = std::string{level != nullptr ? level : ""};
  auto settings = logger_settings{};
  settings.level = wanted == "debug"     ? severity::debug
                   : wanted == "info"    ? severity::info
                   : wanted == "warning" ? severity::warning
                                         : severity::error;
  return open_log(settings);
}

/// Which files tools find the server by.
/// Source: PMIx Standard v5, "Server Initialization", PMIX_SERVER_TOOL_SUPPORT
/// and its neighbours; OpenPMIx, which makes none without being asked.
std::vector<rendezvous_kind> rendezvous_of(const std::vector<info>& infos) {
  auto result = std::vector<rendezvous_kind>{};
  const auto add_if = [&](std::string_view key, rendezvous_kind kind) {
    if (flag(infos, key))
      result.push_back(kind);
  };
  const auto has_tools = flag(infos, attr::server_tool_support)
                         || flag(infos, attr::server_session_support);
  if (has_tools)
    result = {rendezvous_kind::by_pid, rendezvous_kind::by_nspace};
  add_if(attr::server_session_support, rendezvous_kind::session);
  add_if(attr::server_system_support, rendezvous_kind::system);
  add_if(attr::server_scheduler, rendezvous_kind::scheduler);
  add_if(attr::server_sys_controller, rendezvous_kind::system_controller);
  return result;
}

/// Before the name of a setting of ours (config/settings.def): the host sets it.
/// A boolean, a number, or text as people write it; times are text.
constexpr auto setting_prefix = std::string_view{"troupe."};

/// Sets what an info asks for.
caf::error apply(site_settings& to, const setting_info& x, const value& val) {
  const auto key = std::string{setting_prefix} + std::string{x.name};
  if (const auto* text = val.text())
    return to.set(x.id, std::string_view{*text}, key);
  if (x.type == setting_type::flag
      && (val.type == data_type::bool_ || val.type == data_type::undef))
    return to.set(x.id, val.truth() ? uint64_t{1} : uint64_t{0}, key);
  if (x.type == setting_type::number || x.type == setting_type::bytes)
    if (const auto count = val.number<uint64_t>())
      return to.set(x.id, *count, key);
  return make_error(status::bad_param,
                    key + " has a value of another type; give it as text");
}

/// What the environment sets, for hosts that cannot be changed, and over it what
/// the host does.
/// @returns `bad_param` in a sentence.
caf::expected<site_settings> settings_of(const std::vector<info>& infos) {
  auto result = site_settings{};
  if (auto err = result.apply_environment(environ))
    return err;
  if (const auto x = number<uint64_t>(infos, cache_size_key)) {
    const auto most = info_of(setting_id::events_environment).most;
    if (auto err = result.set(setting_id::events_environment,
                              std::min(*x, most), cache_size_key))
      return err;
  }
  for (const auto& x : infos) {
    const auto key = std::string_view{x.key};
    if (key.substr(0, setting_prefix.size()) != setting_prefix)
      continue;
    if (const auto* known = find_setting(key.substr(setting_prefix.size())))
      if (auto err = apply(result, *known, x.val))
        return err;
  }
  return result;
}

/// @returns `bad_param` for settings that are none, which has been logged.
caf::expected<server_node_options> options_of(const std::vector<info>& infos) {
  auto result = server_node_options{};
  result.log = server_log();
  auto settings = settings_of(infos);
  if (!settings) {
    result.log(severity::error, reason_of(settings.error()));
    return std::move(settings.error());
  }
  result.settings = std::move(*settings);
  result.id.nspace = text(infos, attr::server_nspace).value_or("");
  if (const auto* x = find(infos, attr::server_rank))
    result.id.rank = x->number<uint32_t>().value_or(0);
  result.hostname = text(infos, attr::hostname).value_or("");
  result.session_directory = text(infos, attr::server_tmpdir).value_or("");
  if (const auto x = text(infos, attr::system_tmpdir))
    result.system_directory = *x;
  if (wants_spool(infos))
    result.make_spool = [](loop_system& loop, const std::string& directory) {
      return spawn_spool(loop.actors(), loop.pool(), directory);
    };
  result.tools = rendezvous_of(infos);
  result.may_lack_files = true;
  // Source: RFC0015, PMIX_SERVER_ENABLE_MONITORING; requirements A18.
  result.enable_monitoring = flag(infos, attr::server_enable_monitoring);
  result.monitoring_fallback = flag(infos, monitor_fallback_key);
  result.share_memory = !flag(infos, no_shared_memory_key);
  return result;
}

/// Checks that what the host requires is acted upon. The size of the cache has
/// no name in the Standard, and so no row among the attributes.
/// @returns `not_supported`, which has been logged.
caf::error check_host_infos(std::vector<info> infos) {
  infos.erase(
    std::remove_if(infos.begin(), infos.end(),
                   [](const info& x) { return x.key == cache_size_key; }),
    infos.end());
  auto why = check_required(pmix_call::server_init, infos, next_host::ours);
  if (why)
    server_log()(severity::error, reason_of(why));
  return why;
}

/// Writes a line to a descriptor, or to a file that nobody else can read.
bool write_line(const std::string& where, const std::string& line) {
  const auto text = line + "\n";
  const auto is_stream = where == "-" || where == "+";
  const auto fd =
    where == "-" ? STDOUT_FILENO
    : where == "+"
      ? STDERR_FILENO
      : ::open(where.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0)
    return false;
  const auto n = ::write(fd, text.data(), text.size());
  if (!is_stream)
    ::close(fd);
  return n == static_cast<ssize_t>(text.size());
}

/// Source: PMIx Standard v5, PMIX_TCP_REPORT_URI ("-" standard output, "+"
/// standard error, else a file), PMIX_LAUNCHER_RENDEZVOUS_FILE.
pmix_status_t report_uri(const std::vector<info>& infos,
                         const std::string& uri) {
  for (const auto key : {attr::tcp_report_uri, attr::launcher_rendezvous_file})
    if (const auto where = text(infos, key))
      if (!where->empty() && !write_line(*where, uri))
        return PMIX_ERR_FILE_OPEN_FAILURE;
  return PMIX_SUCCESS;
}

/// Ends the server of this library, if there is one.
void take_down(library& lib) {
  if (const auto old = server_role::current())
    lib.run_in_loop([&] { old->stop(); });
  server_role::set_current(nullptr);
}

pmix_status_t bring_up(library& lib, const std::vector<info>& infos,
                       const pmix_server_module_t& module, size_t size) {
  auto code = PMIX_SUCCESS;
  lib.run_in_loop([&] {
    auto options = options_of(infos);
    if (!options) {
      code = to_c(options.error());
      return;
    }
    const auto mesh = wants_mesh(infos, options->log);
    if (!mesh) {
      code = to_c(mesh.error());
      return;
    }
    auto started =
      server_role::start(lib, std::move(*options), module, size, *mesh);
    if (started)
      server_role::set_current(std::move(*started));
    else
      code = to_c(started.error());
  });
  if (code == PMIX_SUCCESS) {
    server_role::current()->join(lib);
    code = report_uri(infos, server_role::current()->uri());
  }
  if (code != PMIX_SUCCESS)
    take_down(lib);
  return code;
}

} // namespace

pmix_status_t become_server(library& lib, const pmix_server_module_t* module) {
  return lib.start(role::server, [&] {
    auto code = pmix_status_t{PMIX_SUCCESS};
    lib.run_in_loop([&] {
      auto options = options_of({});
      if (!options) {
        code = to_c(options.error());
        return;
      }
      auto started =
        server_role::start(lib, std::move(*options),
                           copy_module(module, module_size_4), module_size_4);
      if (started)
        server_role::set_current(std::move(*started));
      else
        code = to_c(started.error());
    });
    if (code == PMIX_SUCCESS && !lib.current_link())
      server_role::current()->join(lib);
    return code;
  });
}

void cease_server(library& lib) {
  lib.stop(role::server, [&] { take_down(lib); });
}

} // namespace troupe::c_api

using namespace troupe;
using namespace troupe::c_api;

pmix_status_t PMIx_server_init_sized(pmix_server_module_t* module, size_t size,
                                     pmix_info_t info[], size_t ninfo) try {
  TROUPE_TAKE(infos, to_infos(info, ninfo));
  if (module != nullptr && size < module_size_4)
    return PMIX_ERR_BAD_PARAM;
  const auto nspace = text(*infos, attr::server_nspace);
  if (nspace && (nspace->empty() || nspace->size() > max_nspace_length))
    return PMIX_ERR_BAD_PARAM;
  if (auto why = check_host_infos(*infos))
    return to_c(why);
  auto& lib = library::instance();
  return lib.start(
    role::server,
    [&] { return bring_up(lib, *infos, copy_module(module, size), size); },
    flag(*infos, attr::external_progress));
} catch (...) {
  return status_of_exception();
}

// A host that was compiled with other headers: they all agree on the first 28
// entries, and nobody says whether there are more.
pmix_status_t PMIx_server_init(pmix_server_module_t* module, pmix_info_t info[],
                               size_t ninfo) try {
  return PMIx_server_init_sized(module, module_size_4, info, ninfo);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_server_finalize(void) try {
  auto& lib = library::instance();
  if (!lib.has_role(role::server))
    return PMIX_ERR_INIT;
  return lib.stop(role::server, [&] { take_down(lib); });
} catch (...) {
  return status_of_exception();
}
