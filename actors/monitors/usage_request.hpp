#pragma once

#include "messages/connection.hpp"
#include "messages/control.hpp"
#include "messages/enums.hpp"
#include "messages/usage.hpp"

#include <caf/expected.hpp>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Whether a request is for the use of resources: its monitor is
/// PMIX_MONITOR_PROC_RESOURCE_USAGE or one of its neighbours.
bool is_usage_request(const monitor_request& x);

/// What the use of resources is wanted of.
enum class usage_subject : uint8_t { procs, node, disks, nets };

/// The kind of a monitor that tells of it, in lists: as the attribute is
/// called, such as `proc_resource_usage`.
const char* kind_of(usage_subject x);

/// A request for the use of resources, understood.
/// Source: OpenPMIx, "Process & Resource Statistics"; row M27.
struct usage_request {
  usage_subject subject = usage_subject::procs;

  /// Keys of the values that are wanted; empty: all.
  std::set<std::string, std::less<>> fields;

  /// With PMIX_MONITOR_NODE_RESOURCE_USAGE, what else is wanted of the node.
  bool with_disks = false;
  bool with_nets = false;

  /// Which; empty: all.
  std::vector<std::string> disk_names;
  std::vector<std::string> net_names;

  /// The processes; none: those of the requester's job, or all there are for a
  /// tool.
  std::optional<std::vector<proc_id>> procs;
  std::optional<std::vector<node_pid>> pids;

  /// The nodes, by name and number; none: all that are concerned.
  std::optional<std::vector<std::string>> hostnames;
  std::optional<std::vector<uint32_t>> node_ids;

  /// PMIX_MONITOR_ID.
  std::optional<std::string> id;

  /// Seconds between updates; 0: the answer is all.
  uint32_t rate = 0;

  /// PMIX_MONITOR_LOCAL_ONLY.
  bool is_local = false;

  /// Who hears of the updates; nothing: the requester alone. With
  /// PMIX_RANGE_CUSTOM, PMIX_EVENT_CUSTOM_RANGE says whom it means.
  std::optional<data_range> range;
  std::optional<value> custom_range;

  /// The code of the updates.
  status code = status::monitor_resusage_update;

  bool wants(std::string_view key) const {
    return fields.empty() || fields.count(key) > 0;
  }

  /// Whether a node is among those that are named, or none is.
  bool names_node(std::string_view hostname,
                  std::optional<uint32_t> node_id) const;

  /// Whether nodes are named, and one of them is another.
  bool names_other_nodes(std::string_view hostname,
                         std::optional<uint32_t> node_id) const;
};

/// @returns what is wrong with the request: `bad_param` names the key,
///          `not_supported` a required directive that is not known.
caf::expected<usage_request> parse_usage_request(const monitor_request& x);

/// What a request is of, in words for lists: `job@1:*`, `disk sda on n1`; of
/// much, the beginning.
std::string target_of(const usage_request& request, const requester& who);

/// The node of a report.
struct usage_node {
  std::string hostname;
  std::optional<uint32_t> id;
};

/// What is wanted of a sample, as arrays of infos: PMIX_PROC_RESOURCE_USAGE for
/// each process and its neighbours for node, disks and networks; in each, first
/// whose it is, at last when it was taken.
/// @param samples Those of processes say which process it is in `proc`.
/// Source: OpenPMIx, PMIX_PROC_RESOURCE_USAGE and neighbours.
std::vector<info> usage_report(const usage_request& request,
                               const usage_samples& samples,
                               const usage_node& node);

} // namespace troupe
