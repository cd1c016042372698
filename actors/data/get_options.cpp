#include "actors/data/get_options.hpp"

#include "messages/attributes.hpp"
#include "messages/value_inspect.hpp"

#include <caf/binary_serializer.hpp>

#include <algorithm>
#include <array>

namespace troupe {

namespace {

bool is_qualifier(const info& x) {
  return (x.flags & info_qualifier) != 0;
}

const info* info_of(const value& x) {
  const auto* entry = std::get_if<box<info>>(&x.data);
  return entry != nullptr ? &**entry : nullptr;
}

/// The info that holds key and value; null if it is missing.
const info* primary_of(const value& posted) {
  if (const auto* array = posted.array())
    for (const auto& x : array->elements)
      if (const auto* entry = info_of(x);
          entry != nullptr && !is_qualifier(*entry))
        return entry;
  return nullptr;
}

/// The same bytes for the same qualifiers, in whatever order.
std::string fingerprint(const value& posted) {
  auto xs = std::vector<std::pair<std::string, std::vector<char>>>{};
  for (const auto& x : posted.array()->elements)
    if (const auto* entry = info_of(x);
        entry != nullptr && is_qualifier(*entry)) {
      auto bytes = std::vector<char>{};
      caf::binary_serializer sink{nullptr, bytes};
      auto copy = entry->val;
      static_cast<void>(sink(copy));
      xs.emplace_back(entry->key, std::move(bytes));
    }
  std::sort(xs.begin(), xs.end());
  auto result = std::string{};
  for (const auto& [key, bytes] : xs) {
    result += key;
    result += '\0';
    result += std::to_string(bytes.size()) + ":";
    result.append(bytes.begin(), bytes.end());
  }
  return result;
}

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

std::string storage_key(const std::string& key, const value& val) {
  if (key != attr::qualified_value)
    return key;
  const auto* primary = primary_of(val);
  return primary != nullptr ? qualified_prefix(primary->key) + fingerprint(val)
                            : key;
}

std::string_view posted_key(std::string_view stored) {
  const auto& mark = attr::qualified_value;
  const auto is_qualified = stored.size() > mark.size()
                            && stored.substr(0, mark.size()) == mark
                            && stored[mark.size()] == '\0';
  return is_qualified ? mark : stored;
}

std::string qualified_prefix(std::string_view key) {
  auto result = std::string{attr::qualified_value};
  result += '\0';
  result += key;
  result += '\0';
  return result;
}

const value* match_qualifiers(const value& posted,
                              const std::vector<info>& wanted) {
  const auto* primary = primary_of(posted);
  if (primary == nullptr)
    return nullptr;
  const auto has = [&](const info& x) {
    const auto& all = posted.array()->elements;
    return std::any_of(all.begin(), all.end(), [&](const value& y) {
      const auto* entry = info_of(y);
      return entry != nullptr && is_qualifier(*entry) && entry->key == x.key
             && entry->val == x.val;
    });
  };
  return std::all_of(wanted.begin(), wanted.end(), has) ? &primary->val
                                                        : nullptr;
}

std::vector<info> qualifiers_of(const std::vector<info>& xs) {
  auto result = std::vector<info>{};
  std::copy_if(xs.begin(), xs.end(), std::back_inserter(result), is_qualifier);
  return result;
}

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
  }
  return x;
}

bool is_given_by_host(std::string_view key) {
  // Where a process runs, Open MPI 4 says itself.
  return is_reserved_key(key) && key != attr::hostname && key != attr::nodeid
         && (has(node_keys, key) || has(app_keys, key) || has(session_keys, key)
             || has(host_keys, key));
}

key_level level_of(std::string_view key) {
  if (!is_reserved_key(key))
    return key_level::job;
  if (has(node_keys, key))
    return key_level::node;
  if (has(app_keys, key))
    return key_level::app;
  return has(session_keys, key) ? key_level::session : key_level::job;
}

} // namespace troupe
