#include "actors/monitors/monitor_directives.hpp"

#include "actors/monitors/defaults.hpp"
#include "base/directives.hpp"
#include "messages/attributes.hpp"
#include "messages/custom_monitor.hpp"
#include "messages/monitor.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <utility>

namespace troupe {

namespace defaults {

/// The longest time without a sign of life that can be asked for.
inline constexpr auto monitor_window = std::chrono::hours{24 * 366};

/// Files of one request, and the bytes of a name of a file.
inline constexpr size_t monitored_files = 64;
inline constexpr size_t monitored_path_bytes = 4096;

} // namespace defaults

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// The newer form: what the files are is said by PMIX_MONITOR_TARGET_FILES,
/// which has the key of PMIX_MONITOR_FILE.
constexpr std::string_view file_changes = "pmix.monitor.fchg";

template <size_t N>
bool is_any(const std::array<std::string_view, N>& keys, std::string_view x) {
  return std::find(keys.begin(), keys.end(), x) != keys.end();
}

constexpr auto file_keys = std::array<std::string_view, 5>{
  attr::monitor_file, attr::monitor_file_size, attr::monitor_file_access,
  attr::monitor_file_modify, file_changes};

constexpr auto usage_keys = std::array<std::string_view, 4>{
  attr::monitor_proc_resource_usage, attr::monitor_node_resource_usage,
  attr::monitor_disk_resource_usage, attr::monitor_net_resource_usage};

/// What samples are told: PMIX_MONITOR_PROC_RESOURCE_USAGE and its neighbours.
constexpr auto sampling_keys = std::array<std::string_view, 8>{
  attr::monitor_resource_rate,  attr::monitor_target_procs,
  attr::monitor_target_pids,    attr::monitor_target_nodes,
  attr::monitor_target_nodeids, attr::monitor_target_disks,
  attr::monitor_target_nets,    attr::monitor_local_only};

/// What an alert carries as it was given.
constexpr auto event_keys = std::array<std::string_view, 4>{
  attr::event_custom_range, attr::event_non_default, attr::event_do_not_cache,
  attr::event_stays_local};

caf::error bad(std::string what) {
  return make_error(status::bad_param, std::move(what));
}

/// How an attribute is called in C, for messages.
std::string name_of(std::string_view key) {
  const auto* known = attribute_of(key);
  return std::string{known != nullptr ? known->c_name : key};
}

/// A number, if the directive is there.
caf::error read_number(const std::vector<info>& directives,
                       std::string_view key, std::optional<uint32_t>& out) {
  const auto* found = find(directives, key);
  if (found == nullptr)
    return {};
  out = found->number<uint32_t>();
  if (!out)
    return bad(name_of(key) + " must be a number (PMIX_UINT32)");
  return {};
}

/// The time between two signs of life, in seconds or by our own attribute in
/// milliseconds, and how many may be missed.
struct rhythm {
  nanoseconds period{0};
  uint32_t drops = 0;
};

caf::error read_rhythm(const std::vector<info>& directives,
                       std::string_view seconds_key, std::string_view ms_key,
                       std::string_view drops_key, rhythm& out) {
  auto seconds = std::optional<uint32_t>{};
  auto ms = std::optional<uint32_t>{};
  auto drops = std::optional<uint32_t>{};
  for (auto [key, to] : {std::pair{seconds_key, &seconds},
                         std::pair{ms_key, &ms}, std::pair{drops_key, &drops}})
    if (auto why = read_number(directives, key, *to))
      return why;
  const auto period =
    ms ? milliseconds{*ms} : milliseconds{1000 * int64_t{seconds.value_or(0)}};
  if (period == milliseconds{0})
    return bad(name_of(seconds_key) + " is missing or 0; give it in seconds");
  out.drops = drops.value_or(0);
  const auto longest = milliseconds{defaults::monitor_window};
  if (period > longest || longest / period <= out.drops)
    return bad(name_of(seconds_key) + " times " + name_of(drops_key)
               + " is more than a year; give less");
  out.period = period;
  return {};
}

/// Presence is enough; libraries make a number or nothing of a pointer.
/// Source: reading A22.
bool is_off(const value& x) {
  const auto* flag = std::get_if<bool>(&x.data);
  return flag != nullptr && !*flag;
}

// -- files -------------------------------------------------------------------

struct file_list {
  std::vector<watched_file> files;

  watched_file& add(const std::string& path) {
    for (auto& x : files)
      if (x.path == path)
        return x;
    files.emplace_back();
    files.back().path = path;
    return files.back();
  }
};

/// The paths that a value names; a text or an array of them.
std::vector<std::string> paths_in(const value& x) {
  auto result = std::vector<std::string>{};
  if (const auto* one = x.text())
    result.push_back(*one);
  if (const auto* many = x.array())
    for (const auto& element : many->elements)
      if (const auto* path = element.text())
        result.push_back(*path);
  return result;
}

caf::error check_path(const std::string& path) {
  if (path.empty() || path.front() != '/')
    return bad("file \"" + path.substr(0, defaults::monitored_path_bytes)
               + "\" cannot be monitored: give its absolute path");
  if (path.size() >= defaults::monitored_path_bytes)
    return bad(
      "the path of the file to monitor is too long; name one that is shorter");
  return {};
}

bool has_sign(const file_signs& x) {
  return x.size || x.access || x.modify;
}

/// Source: reading A23: a text is the path for that check, a flag is for all
/// files that are named.
caf::error read_files(const std::vector<info>& all, monitor_plan& plan) {
  auto named = file_list{};
  auto flags = file_signs{};
  for (const auto& x : all)
    if (x.key == attr::monitor_file)
      for (const auto& path : paths_in(x.val))
        named.add(path);
  const auto count = named.files.size();
  const auto read_sign = [&](std::string_view key, bool file_signs::*sign) {
    for (const auto& x : all) {
      if (x.key != key)
        continue;
      if (const auto* path = x.val.text())
        named.add(*path).signs.*sign = true;
      else if (!is_off(x.val))
        flags.*sign = true;
    }
  };
  read_sign(attr::monitor_file_size, &file_signs::size);
  read_sign(attr::monitor_file_access, &file_signs::access);
  read_sign(attr::monitor_file_modify, &file_signs::modify);
  for (size_t i = 0; i < count; ++i) {
    auto& signs = named.files[i].signs;
    signs.size |= flags.size;
    signs.access |= flags.access;
    signs.modify |= flags.modify;
    if (!has_sign(signs))
      signs.size = signs.modify = true;
  }
  if (named.files.empty())
    return bad("no file to monitor: PMIX_MONITOR_FILE has to name one");
  if (named.files.size() > defaults::monitored_files)
    return bad("more than " + std::to_string(defaults::monitored_files)
               + " files to monitor in one request; ask twice");
  auto pace = rhythm{};
  if (auto why = read_rhythm(all, attr::monitor_file_check_time,
                             file_check_ms_key, attr::monitor_file_drops, pace))
    return why;
  for (auto& x : named.files) {
    if (auto why = check_path(x.path))
      return why;
    x.period = pace.period;
    x.drops = pace.drops;
  }
  plan.files = std::move(named.files);
  return {};
}

// -- all else ----------------------------------------------------------------

monitor_task task_of(const monitor_request& request) {
  const auto& what = request.monitor;
  if (what.key == attr::monitor_cancel
      || find(request.directives, attr::monitor_cancel) != nullptr)
    return monitor_task::cancel;
  if (what.key == attr::send_heartbeat)
    return monitor_task::beat;
  if (what.key == attr::monitor_heartbeat)
    return is_off(what.val) ? monitor_task::no_heartbeat
                            : monitor_task::heartbeat;
  if (is_usage_key(what.key))
    return monitor_task::usage;
  if (what.key == monitor_kind_key
      || find(request.directives, monitor_kind_key) != nullptr)
    return monitor_task::kind;
  if (is_any(file_keys, what.key))
    return monitor_task::files;
  return monitor_task::other;
}

caf::error read_range(const std::vector<info>& directives, monitor_plan& plan) {
  const auto* found = find(directives, attr::range);
  if (found == nullptr)
    return {};
  const auto range = found->number<uint8_t>();
  if (!range || *range > static_cast<uint8_t>(data_range::proc_local))
    return bad("PMIX_RANGE of an alert must be a pmix_data_range_t");
  plan.range = static_cast<data_range>(*range);
  if (plan.range == data_range::undef)
    plan.range = data_range::nspace;
  if (plan.range == data_range::custom
      && find(directives, attr::event_custom_range) == nullptr)
    return bad("PMIX_RANGE_CUSTOM needs PMIX_EVENT_CUSTOM_RANGE");
  return {};
}

caf::error read_id(const std::vector<info>& all, monitor_plan& plan) {
  const auto is_cancel = plan.task == monitor_task::cancel;
  const auto key = is_cancel ? attr::monitor_cancel : attr::monitor_id;
  const auto* found = find(all, key);
  if (found == nullptr)
    return {};
  const auto* id = found->text();
  // Source: reading A21: anything that is no text means all.
  if (id == nullptr && is_cancel)
    return {};
  if (id == nullptr || id->empty())
    return bad(name_of(key) + " must be a text that is not empty");
  if (id->size() > defaults::monitor_id_bytes)
    return bad(name_of(key) + " is longer than "
               + std::to_string(defaults::monitor_id_bytes)
               + " bytes; choose another");
  plan.id = *id;
  return {};
}

/// Our own desk reads them, whoever the host is.
/// Source: PMIx Standard v5, PMIX_INFO_REQD.
caf::error check_required(const std::vector<info>& directives,
                          monitor_task task) {
  for (const auto& x : directives)
    if ((x.flags & info_required) != 0 && is_any(sampling_keys, x.key)
        && !(task == monitor_task::kind && x.key == attr::monitor_target_procs))
      return make_error(status::not_supported,
                        name_of(x.key)
                          + " is required, but is of samples, not of monitors; "
                            "leave it out, or do not require it");
  return check_required(pmix_call::process_monitor, directives,
                        next_host::ours);
}

} // namespace

bool is_usage_key(const std::string& key) {
  return is_any(usage_keys, key);
}

caf::expected<monitor_plan> plan_monitor(const monitor_request& request) {
  auto plan = monitor_plan{};
  plan.task = task_of(request);
  if (plan.task == monitor_task::other || plan.task == monitor_task::usage)
    return plan;
  auto all = request.directives;
  all.insert(all.begin(), request.monitor);
  if (auto why = read_id(all, plan))
    return why;
  if (auto why = check_required(request.directives, plan.task))
    return why;
  if (plan.task == monitor_task::cancel || plan.task == monitor_task::beat)
    return plan;
  if (auto why = read_range(request.directives, plan))
    return why;
  plan.code = request.error_code;
  const auto* control = find(request.directives, attr::monitor_app_control);
  plan.app_control = control != nullptr && !is_off(*control);
  for (const auto& x : all) {
    if (is_any(event_keys, x.key))
      plan.event_infos.push_back(x);
    else if (x.key == monitor_reaction_key)
      plan.settings.push_back(x);
  }
  if (plan.task == monitor_task::heartbeat) {
    auto pace = rhythm{};
    if (auto why =
          read_rhythm(request.directives, attr::monitor_heartbeat_time,
                      heartbeat_ms_key, attr::monitor_heartbeat_drops, pace))
      return why;
    plan.window = pace.period * (int64_t{pace.drops} + 1);
  } else if (plan.task == monitor_task::files) {
    if (auto why = read_files(all, plan))
      return why;
  } else if (plan.task == monitor_task::kind) {
    const auto kind = text(all, monitor_kind_key);
    if (!kind || kind->empty())
      return bad(std::string{monitor_kind_key} + " must be a text");
    plan.kind = *kind;
  }
  if (plan.code == status::success)
    plan.code = plan.task == monitor_task::files
                  ? status::monitor_file_alert
                  : status::monitor_heartbeat_alert;
  return plan;
}

} // namespace troupe
