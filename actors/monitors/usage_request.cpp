#include "actors/monitors/usage_request.hpp"

#include "actors/monitors/defaults.hpp"
#include "base/make_info.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace defaults {

/// Seconds between updates at most.
inline constexpr uint32_t usage_longest_rate = 86400 * 366;

/// Bytes that a list says of what a request is of.
inline constexpr size_t usage_target_bytes = 256;

} // namespace defaults

namespace {

std::optional<usage_subject> subject_of(std::string_view key) {
  if (key == attr::monitor_proc_resource_usage)
    return usage_subject::procs;
  if (key == attr::monitor_node_resource_usage)
    return usage_subject::node;
  if (key == attr::monitor_disk_resource_usage)
    return usage_subject::disks;
  if (key == attr::monitor_net_resource_usage)
    return usage_subject::nets;
  return std::nullopt;
}

caf::error bad(std::string_view key, const char* what) {
  const auto* known = attribute_of(key);
  return make_error(status::bad_param,
                    std::string{known != nullptr ? known->c_name : key} + " "
                      + what);
}

/// The elements of an array; none for what means no array, such as NULL.
/// @returns `false` if the value is something else, or too long.
bool take_array(const value& x, data_type type, size_t most,
                std::vector<value>& to) {
  if (std::holds_alternative<std::monostate>(x.data))
    return true;
  const auto* array = x.array();
  if (array == nullptr || to.size() + array->elements.size() > most
      || (array->element_type != type && !array->elements.empty()))
    return false;
  to.insert(to.end(), array->elements.begin(), array->elements.end());
  return true;
}

/// Adds the strings of an array to those that are there.
bool add_texts(const value& x, std::vector<std::string>& to) {
  auto found = std::vector<value>{};
  if (!take_array(x, data_type::string, defaults::usage_names - to.size(),
                  found))
    return false;
  for (const auto& y : found) {
    const auto* name = y.text();
    if (name == nullptr || name->empty())
      return false;
    if (std::find(to.begin(), to.end(), *name) == to.end())
      to.push_back(*name);
  }
  return true;
}

/// What an attribute names has room in a list.
bool add_name(const value& x, std::vector<std::string>& to) {
  const auto* name = x.text();
  if (name == nullptr || name->empty() || to.size() >= defaults::usage_names)
    return false;
  if (std::find(to.begin(), to.end(), *name) == to.end())
    to.push_back(*name);
  return true;
}

bool starts_with(std::string_view x, std::string_view prefix) {
  return x.substr(0, prefix.size()) == prefix;
}

/// Reads one request.
class parser {
public:
  caf::expected<usage_request> parse(const monitor_request& x) {
    const auto subject = subject_of(x.monitor.key);
    if (!subject)
      return make_error(status::bad_param,
                        x.monitor.key
                          + " is no use of resources; name one of "
                            "PMIX_MONITOR_PROC_RESOURCE_USAGE and its like");
    out_.subject = *subject;
    // Whoever gives no code of its own has the one of the Standard.
    if (x.error_code != status::success)
      out_.code = x.error_code;
    if (auto err = take_fields(x.monitor))
      return err;
    for (const auto& y : x.directives)
      if (auto err = take(y))
        return err;
    if (out_.range == data_range::custom && !out_.custom_range)
      return bad(attr::range,
                 "is PMIX_RANGE_CUSTOM: PMIX_EVENT_CUSTOM_RANGE says whom "
                 "that means; give it, too");
    return std::move(out_);
  }

private:
  /// The keys that are wanted: their values do not matter, except for names.
  caf::error take_fields(const info& monitor) {
    auto found = std::vector<value>{};
    if (!take_array(monitor.val, data_type::info, defaults::usage_names, found))
      return bad(monitor.key, "is no array of infos; write one");
    auto of_disks = false;
    auto of_nets = false;
    for (const auto& x : found) {
      const auto* field = std::get_if<box<info>>(&x.data);
      if (field == nullptr)
        return bad(monitor.key, "is no array of infos; write one");
      const auto& key = (**field).key;
      of_disks |= starts_with(key, "pmix.disk.");
      of_nets |= starts_with(key, "pmix.net.");
      if (key == attr::disk_id) {
        if (!add_name((**field).val, out_.disk_names))
          return bad(key, "is no name of a disk; write one such as sda");
      } else if (key == attr::network_id) {
        if (!add_name((**field).val, out_.net_names))
          return bad(key, "is no name of a network; write one such as eth0");
      } else {
        out_.fields.insert(key);
      }
    }
    const auto all = found.empty();
    out_.with_disks = out_.subject == usage_subject::node && (all || of_disks);
    out_.with_nets = out_.subject == usage_subject::node && (all || of_nets);
    return caf::none;
  }

  caf::error take(const info& x) {
    const auto fine = [&](bool is_fine, const char* what) {
      return is_fine ? caf::error{} : bad(x.key, what);
    };
    if (x.key == attr::monitor_id) {
      const auto* id = x.val.text();
      const auto is_fine =
        id != nullptr && id->size() <= defaults::monitor_id_bytes;
      if (is_fine && !id->empty() && !out_.id)
        out_.id = *id;
      return fine(is_fine, "is no string of up to 511 bytes");
    }
    if (x.key == attr::monitor_resource_rate) {
      const auto rate = x.val.number<uint32_t>();
      out_.rate = rate.value_or(0);
      return fine(rate && *rate <= defaults::usage_longest_rate,
                  "is no number of seconds up to a year");
    }
    if (x.key == attr::range)
      return fine(take_range(x.val), "is no pmix_data_range_t");
    if (x.key == attr::event_custom_range) {
      out_.custom_range = x.val;
      return fine(!procs_of(x.val).empty(), "names no process");
    }
    if (x.key == attr::monitor_local_only) {
      out_.is_local = x.val.truth();
      return caf::none;
    }
    if (x.key == attr::monitor_target_procs)
      return fine(take_procs(x.val), "is no array of processes");
    if (x.key == attr::monitor_target_pids)
      return fine(take_pids(x.val), "is no array of nodes and pids");
    if (x.key == attr::monitor_target_nodes)
      return fine(add_texts(x.val, some(out_.hostnames)),
                  "is no array of names");
    if (x.key == attr::monitor_target_nodeids)
      return fine(take_node_ids(x.val), "is no array of numbers");
    if (x.key == attr::monitor_target_disks)
      return fine(add_texts(x.val, out_.disk_names), "is no array of names");
    if (x.key == attr::monitor_target_nets)
      return fine(add_texts(x.val, out_.net_names), "is no array of names");
    if ((x.flags & info_required) != 0 && x.key != attr::monitor_app_control
        && x.key != attr::timeout)
      return make_error(status::not_supported,
                        x.key
                          + " is required, but not known here; leave it out, "
                            "or do not require it");
    return caf::none;
  }

  /// Whoever names the process alone, or no range, has what is usual.
  bool take_range(const value& x) {
    const auto range = x.number<uint8_t>();
    if (!range || *range > static_cast<uint8_t>(data_range::proc_local))
      return false;
    const auto which = static_cast<data_range>(*range);
    if (which != data_range::undef && which != data_range::proc_local)
      out_.range = which;
    return true;
  }

  template <class T>
  static std::vector<T>& some(std::optional<std::vector<T>>& x) {
    return x ? *x : x.emplace();
  }

  bool take_procs(const value& x) {
    auto found = std::vector<value>{};
    auto& to = some(out_.procs);
    if (!take_array(x, data_type::proc, defaults::usage_procs - to.size(),
                    found))
      return false;
    for (const auto& y : found) {
      if (y.proc() == nullptr)
        return false;
      to.push_back(*y.proc());
    }
    return true;
  }

  bool take_pids(const value& x) {
    auto found = std::vector<value>{};
    auto& to = some(out_.pids);
    if (!take_array(x, data_type::node_pid, defaults::usage_procs - to.size(),
                    found))
      return false;
    for (const auto& y : found) {
      const auto* pid = std::get_if<box<node_pid>>(&y.data);
      if (pid == nullptr)
        return false;
      to.push_back(**pid);
    }
    return true;
  }

  bool take_node_ids(const value& x) {
    auto found = std::vector<value>{};
    auto& to = some(out_.node_ids);
    if (!take_array(x, data_type::uint32, defaults::usage_names - to.size(),
                    found))
      return false;
    for (const auto& y : found) {
      const auto number = y.number<uint32_t>();
      if (!number)
        return false;
      to.push_back(*number);
    }
    return true;
  }

  usage_request out_;
};

value time_value(int64_t seconds) {
  return {data_type::time,
          static_cast<uint64_t>(std::max<int64_t>(seconds, 0))};
}

/// Collects the infos of one array.
class builder {
public:
  explicit builder(const usage_request& request) : request_(request) {
    // nop
  }

  /// Always.
  void put(std::string_view key, value x) {
    infos_.push_back(make_info(key, std::move(x)));
  }

  void put_node(const usage_node& node) {
    put(attr::hostname, value::string(node.hostname));
    if (node.id)
      put(attr::nodeid, value::uint32(*node.id));
  }

  /// If it is wanted.
  void add(std::string_view key, value x) {
    if (request_.wants(key))
      put(key, std::move(x));
  }

  void add(std::string_view key, uint64_t x) {
    add(key, value::uint64(x));
  }

  void add(std::string_view key, double x) {
    add(key, value{data_type::float_, x});
  }

  info finish(std::string_view key) {
    return make_info(key, value::infos(std::move(infos_)));
  }

private:
  const usage_request& request_;
  std::vector<info> infos_;
};

info report(const usage_request& request, const proc_stats& x, int64_t taken,
            const usage_node& node) {
  auto out = builder{request};
  out.put(attr::procid, value::of_proc(x.proc));
  out.put(attr::proc_pid, value::pid(x.pid));
  out.put(attr::hostname, value::string(node.hostname));
  out.add(attr::cmd_line, value::string(x.cmd.value_or("")));
  out.add(attr::proc_os_state,
          value::string(std::string(1, static_cast<char>(x.state))));
  out.add(attr::proc_time, value{data_type::timeval, x.time});
  out.add(attr::proc_percent_cpu, x.percent_cpu);
  out.add(attr::proc_priority,
          value{data_type::int32, static_cast<int64_t>(x.priority)});
  out.add(attr::proc_num_threads,
          value::uint16(static_cast<uint16_t>(x.num_threads)));
  out.add(attr::proc_cpu, value::uint16(x.processor));
  out.add(attr::proc_peak_vsize, x.peak_vsize);
  out.add(attr::proc_vsize, x.vsize);
  out.add(attr::proc_rss, x.rss);
  // Not everybody may know it, and a process that ends has none.
  if (x.pss > 0)
    out.add(attr::proc_pss, x.pss);
  out.put(attr::proc_sample_time, time_value(taken));
  return out.finish(attr::proc_resource_usage);
}

info report(const usage_request& request, const disk_stats& x, int64_t taken,
            const usage_node& node) {
  auto out = builder{request};
  out.put(attr::disk_id, value::string(x.disk.value_or("")));
  out.put(attr::hostname, value::string(node.hostname));
  out.add(attr::disk_read_completed, x.num_reads_completed);
  out.add(attr::disk_read_merged, x.num_reads_merged);
  out.add(attr::disk_read_sectors, x.num_sectors_read);
  out.add(attr::disk_read_millisec, x.milliseconds_reading);
  out.add(attr::disk_write_completed, x.num_writes_completed);
  out.add(attr::disk_write_merged, x.num_writes_merged);
  out.add(attr::disk_write_sectors, x.num_sectors_written);
  out.add(attr::disk_write_millisec, x.milliseconds_writing);
  out.add(attr::disk_io_in_progress, x.num_ios_in_progress);
  out.add(attr::disk_io_millisec, x.milliseconds_io);
  out.add(attr::disk_io_weighted, x.weighted_milliseconds_io);
  out.put(attr::disk_sample_time, time_value(taken));
  return out.finish(attr::disk_resource_usage);
}

info report(const usage_request& request, const net_stats& x, int64_t taken,
            const usage_node& node) {
  auto out = builder{request};
  out.put(attr::network_id, value::string(x.interface_name.value_or("")));
  out.put(attr::hostname, value::string(node.hostname));
  out.add(attr::net_recvd_bytes, x.num_bytes_received);
  out.add(attr::net_recvd_pckts, x.num_packets_received);
  out.add(attr::net_recvd_errs, x.num_receive_errors);
  out.add(attr::net_sent_bytes, x.num_bytes_sent);
  out.add(attr::net_sent_pckts, x.num_packets_sent);
  out.add(attr::net_sent_errs, x.num_send_errors);
  out.put(attr::net_sample_time, time_value(taken));
  return out.finish(attr::network_resource_usage);
}

void add_node(builder& out, const node_stats& x) {
  out.add(attr::node_load_avg, x.load_average);
  out.add(attr::node_load_avg5, x.load_average_5);
  out.add(attr::node_load_avg15, x.load_average_15);
  out.add(attr::node_mem_total, x.total_memory);
  out.add(attr::node_mem_free, x.free_memory);
  out.add(attr::node_mem_buffers, x.buffers);
  out.add(attr::node_mem_cached, x.cached);
  out.add(attr::node_mem_swap_cached, x.swap_cached);
  out.add(attr::node_swap_total, x.swap_total);
  out.add(attr::node_mem_swap_free, x.swap_free);
  out.add(attr::node_mem_mapped, x.mapped);
}

/// Adds a word to a list that is read by people; of many, the first ones.
void add_word(std::string& to, const std::string& word) {
  if (to.size() >= defaults::usage_target_bytes)
    return;
  if (!to.empty())
    to += ", ";
  to += word;
  if (to.size() < defaults::usage_target_bytes)
    return;
  to.resize(defaults::usage_target_bytes);
  to += "...";
}

std::string words_of(const node_pid& x) {
  auto result = x.pid == UINT32_MAX ? std::string{"all processes"}
                                    : "pid " + std::to_string(x.pid);
  if (x.hostname && !x.hostname->empty())
    result += " on " + *x.hostname;
  else if (x.node_id != UINT32_MAX)
    result += " on node " + std::to_string(x.node_id);
  return result;
}

} // namespace

const char* kind_of(usage_subject x) {
  switch (x) {
    case usage_subject::procs:
      return "proc_resource_usage";
    case usage_subject::node:
      return "node_resource_usage";
    case usage_subject::disks:
      return "disk_resource_usage";
    default:
      return "net_resource_usage";
  }
}

std::string target_of(const usage_request& request, const requester& who) {
  auto nodes = std::string{};
  if (request.hostnames)
    for (const auto& x : *request.hostnames)
      add_word(nodes, x);
  if (request.node_ids)
    for (const auto x : *request.node_ids)
      add_word(nodes, "node " + std::to_string(x));
  if (request.subject == usage_subject::node) {
    if (nodes.empty())
      nodes = request.is_local ? "this node" : "all nodes";
    return nodes;
  }
  auto result = std::string{};
  if (request.subject == usage_subject::procs) {
    if (request.procs)
      for (const auto& x : *request.procs)
        add_word(result, to_string(x));
    if (request.pids)
      for (const auto& x : *request.pids)
        add_word(result, words_of(x));
    if (result.empty())
      result = is_tool(who.role)
                 ? "all jobs"
                 : to_string(proc_id{who.proc.nspace, rank_wildcard});
  } else {
    const auto is_of_disks = request.subject == usage_subject::disks;
    for (const auto& x : is_of_disks ? request.disk_names : request.net_names)
      add_word(result, (is_of_disks ? "disk " : "network ") + x);
    if (result.empty())
      result = is_of_disks ? "all disks" : "all networks";
  }
  if (!nodes.empty())
    result += " on " + nodes;
  return result;
}

bool is_usage_request(const monitor_request& x) {
  return subject_of(x.monitor.key).has_value();
}

bool usage_request::names_node(std::string_view hostname,
                               std::optional<uint32_t> node_id) const {
  if (!hostnames && !node_ids)
    return true;
  // An empty list is as good as none. Source: OpenPMIx.
  const auto by_name =
    hostnames
    && (hostnames->empty()
        || std::find(hostnames->begin(), hostnames->end(), hostname)
             != hostnames->end());
  const auto by_number =
    node_ids
    && (node_ids->empty()
        || (node_id
            && std::find(node_ids->begin(), node_ids->end(), *node_id)
                 != node_ids->end()));
  return by_name || by_number;
}

bool usage_request::names_other_nodes(std::string_view hostname,
                                      std::optional<uint32_t> node_id) const {
  const auto is_other = [&](const std::string& x) { return x != hostname; };
  const auto has_other_id = [&](uint32_t x) { return x != node_id; };
  return (hostnames
          && (hostnames->empty()
              || std::any_of(hostnames->begin(), hostnames->end(), is_other)))
         || (node_ids
             && (node_ids->empty()
                 || std::any_of(node_ids->begin(), node_ids->end(),
                                has_other_id)));
}

caf::expected<usage_request> parse_usage_request(const monitor_request& x) {
  return parser{}.parse(x);
}

std::vector<info> usage_report(const usage_request& request,
                               const usage_samples& samples,
                               const usage_node& node) {
  auto result = std::vector<info>{};
  const auto taken = samples.taken;
  for (const auto& x : samples.procs)
    result.push_back(report(request, x, taken, node));
  auto devices = std::vector<info>{};
  for (const auto& x : samples.nets)
    devices.push_back(report(request, x, taken, node));
  for (const auto& x : samples.disks)
    devices.push_back(report(request, x, taken, node));
  if (request.subject != usage_subject::node) {
    std::move(devices.begin(), devices.end(), std::back_inserter(result));
    return result;
  }
  auto out = builder{request};
  out.put_node(node);
  if (samples.node)
    add_node(out, *samples.node);
  for (auto& x : devices)
    out.put(x.key, std::move(x.val));
  out.put(attr::node_sample_time, time_value(taken));
  result.push_back(out.finish(attr::node_resource_usage));
  return result;
}

} // namespace troupe
