#include "actors/data/get_options.hpp"

#include "actors/data/qualified_value.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <array>

namespace troupe {

namespace {

constexpr std::array node_keys = {
  attr::local_peers,
  attr::local_size,
  attr::node_size,
  attr::localldr,
  attr::local_procs,
  attr::local_cpusets,
  attr::hostname_aliases,
  attr::avail_phys_memory,
  attr::node_oversubscribed,
  attr::fabric_devices,
  attr::nodeid,
  attr::hostname,
};

constexpr std::array app_keys = {
  attr::app_size,     attr::appldr,        attr::app_argv,
  attr::app_map_type, attr::app_map_regex,
};

constexpr std::array session_keys = {
  attr::session_id, attr::univ_size,  attr::cluster_id,
  attr::rm_name,    attr::rm_version, attr::hostname_keep_fqdn,
};

/// Of a job, and of one process in it.
constexpr std::array host_keys = {
  attr::job_size,  attr::jobid,        attr::job_num_apps,
  attr::node_list, attr::node_map,     attr::node_map_raw,
  attr::proc_map,  attr::proc_map_raw, attr::num_nodes,
  attr::nsdir,     attr::max_procs,    attr::num_slots,
  attr::nspace,    attr::procid,       attr::rank,
  attr::appnum,    attr::app_rank,     attr::local_rank,
  attr::node_rank, attr::global_rank,  attr::reincarnation,
  attr::parent_id, attr::spawned,      attr::nproc_offset,
};

template <size_t N>
bool has(const std::array<std::string_view, N>& keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

} // namespace

get_options get_options_of(const std::vector<info>& directives) {
  auto x = get_options{};
  x.qualifiers = qualifiers_of(directives);
  for (const auto& y : directives) {
    if ((y.flags & info_qualifier) != 0)
      continue;
    if (y.key == attr::node_info)
      x.node_info = y.val.truth();
    else if (y.key == attr::app_info)
      x.app_info = y.val.truth();
    else if (y.key == attr::session_info)
      x.session_info = y.val.truth();
    else if (y.key == attr::hostname && y.val.text() != nullptr)
      x.hostname = *y.val.text();
    else if (y.key == attr::nodeid)
      x.node_id = y.val.number<uint32_t>();
    else if (y.key == attr::appnum)
      x.app_number = y.val.number<uint32_t>();
    else if (y.key == attr::session_id)
      x.session_id = y.val.number<uint32_t>();
    else if (y.key == attr::optional)
      x.optional = y.val.truth();
    else if (y.key == attr::immediate)
      x.immediate = y.val.truth();
    else if (y.key == attr::get_refresh_cache)
      x.refresh = y.val.truth();
    else if (y.key == attr::get_static_values)
      x.static_values = y.val.truth();
    else if (y.key == attr::get_pointer_values)
      x.pointer_values = y.val.truth();
    else if (y.key == attr::data_scope)
      x.data_scope = static_cast<scope>(y.val.number<uint8_t>().value_or(0));
    else if (y.key == attr::timeout)
      x.timeout_s = y.val.number<uint32_t>().value_or(0);
  }
  return x;
}

bool is_reserved_key(std::string_view key) {
  return key.substr(0, 4) == "pmix";
}

bool is_given_by_host(std::string_view key) {
  // Where a process runs, Open MPI 4 says itself.
  return is_reserved_key(key) && key != attr::hostname && key != attr::nodeid
         && (has(node_keys, key) || has(app_keys, key) || has(session_keys, key)
             || has(host_keys, key));
}

key_level level_of(std::string_view key) {
  if (has(node_keys, key))
    return key_level::node;
  if (has(app_keys, key))
    return key_level::app;
  return has(session_keys, key) ? key_level::session : key_level::job;
}

} // namespace troupe
