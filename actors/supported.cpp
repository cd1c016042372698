#include "actors/supported.hpp"

#include "messages/attributes.hpp"

#include <string_view>
#include <utility>

namespace troupe {

namespace {

struct function {
  std::string_view name;

  /// Names in C of the attributes, separated by commas.
  std::string_view attributes;
};

// What the local host and the server act upon; extended with every feature.
constexpr function functions[] = {
  {"PMIx_Abort", ""},
  {"PMIx_Commit", ""},
  {"PMIx_Connect", "PMIX_TIMEOUT"},
  {"PMIx_Disconnect", "PMIX_TIMEOUT"},
  {"PMIx_Fence", "PMIX_COLLECT_DATA,PMIX_TIMEOUT"},
  {"PMIx_Finalize", ""},
  {"PMIx_Get", "PMIX_IMMEDIATE,PMIX_OPTIONAL,PMIX_TIMEOUT,PMIX_NODE_INFO,"
               "PMIX_APP_INFO,PMIX_SESSION_INFO,PMIX_HOSTNAME,PMIX_NODEID,"
               "PMIX_APPNUM"},
  {"PMIx_Group_construct",
   "PMIX_GROUP_LEADER,PMIX_GROUP_OPTIONAL,PMIX_GROUP_NOTIFY_TERMINATION,"
   "PMIX_GROUP_FT_COLLECTIVE,PMIX_GROUP_ASSIGN_CONTEXT_ID,"
   "PMIX_GROUP_LOCAL_CID,PMIX_GROUP_INFO,PMIX_GROUP_ADD_MEMBERS,"
   "PMIX_GROUP_BOOTSTRAP,PMIX_GROUP_FINAL_MEMBERSHIP_ORDER,PMIX_TIMEOUT"},
  {"PMIx_Group_destruct", "PMIX_GROUP_FT_COLLECTIVE,PMIX_TIMEOUT"},
  {"PMIx_Group_invite", "PMIX_GROUP_OPTIONAL,PMIX_GROUP_NOTIFY_TERMINATION,"
                        "PMIX_GROUP_ASSIGN_CONTEXT_ID,PMIX_TIMEOUT"},
  {"PMIx_Group_join", "PMIX_TIMEOUT"},
  {"PMIx_Group_leave", ""},
  {"PMIx_IOF_deregister", ""},
  {"PMIx_IOF_pull",
   "PMIX_IOF_CACHE_SIZE,PMIX_IOF_DROP_OLDEST,PMIX_IOF_DROP_NEWEST,"
   "PMIX_IOF_BUFFERING_SIZE,PMIX_IOF_BUFFERING_TIME,PMIX_IOF_TAG_OUTPUT,"
   "PMIX_IOF_TAG_DETAILED_OUTPUT,PMIX_IOF_TAG_FULLNAME_OUTPUT,"
   "PMIX_IOF_RANK_OUTPUT,PMIX_IOF_TIMESTAMP_OUTPUT,PMIX_IOF_XML_OUTPUT,"
   "PMIX_IOF_OUTPUT_RAW,PMIX_IOF_COPY"},
  {"PMIx_IOF_push", "PMIX_IOF_PUSH_STDIN,PMIX_IOF_COMPLETE,PMIX_IOF_STOP,"
                    "PMIX_IOF_CACHE_SIZE,PMIX_IOF_DROP_OLDEST,"
                    "PMIX_IOF_DROP_NEWEST"},
  {"PMIx_Init", ""},
  {"PMIx_Log", "PMIX_LOG_STDOUT,PMIX_LOG_STDERR,PMIX_LOG_SYSLOG,"
               "PMIX_LOG_LOCAL_SYSLOG,PMIX_LOG_GLOBAL_SYSLOG,"
               "PMIX_LOG_SYSLOG_PRI,PMIX_LOG_EMAIL,PMIX_LOG_EMAIL_ADDR,"
               "PMIX_LOG_EMAIL_SENDER_ADDR,PMIX_LOG_EMAIL_SUBJECT,"
               "PMIX_LOG_EMAIL_MSG,PMIX_LOG_ONCE,PMIX_LOG_TAG_OUTPUT,"
               "PMIX_LOG_TIMESTAMP_OUTPUT,PMIX_LOG_TIMESTAMP"},
  {"PMIx_Lookup", "PMIX_RANGE,PMIX_TIMEOUT,PMIX_WAIT"},
  {"PMIx_Notify_event", "PMIX_EVENT_NON_DEFAULT,PMIX_EVENT_CUSTOM_RANGE,"
                        "PMIX_EVENT_DO_NOT_CACHE,PMIX_EVENT_STAYS_LOCAL"},
  {"PMIx_Process_monitor",
   "PMIX_MONITOR_ID,PMIX_MONITOR_CANCEL,PMIX_MONITOR_APP_CONTROL,PMIX_RANGE,"
   "PMIX_MONITOR_HEARTBEAT,PMIX_SEND_HEARTBEAT,PMIX_MONITOR_HEARTBEAT_TIME,"
   "PMIX_MONITOR_HEARTBEAT_DROPS,PMIX_MONITOR_FILE,PMIX_MONITOR_FILE_SIZE,"
   "PMIX_MONITOR_FILE_ACCESS,PMIX_MONITOR_FILE_MODIFY,"
   "PMIX_MONITOR_FILE_CHECK_TIME,PMIX_MONITOR_FILE_DROPS,"
   "PMIX_MONITOR_PROC_RESOURCE_USAGE,PMIX_MONITOR_NODE_RESOURCE_USAGE,"
   "PMIX_MONITOR_DISK_RESOURCE_USAGE,PMIX_MONITOR_NET_RESOURCE_USAGE,"
   "PMIX_MONITOR_RESOURCE_RATE,PMIX_MONITOR_TARGET_PROCS,"
   "PMIX_MONITOR_TARGET_PIDS,PMIX_MONITOR_TARGET_NODES,"
   "PMIX_MONITOR_TARGET_NODEIDS,PMIX_MONITOR_TARGET_DISKS,"
   "PMIX_MONITOR_TARGET_NETS,PMIX_MONITOR_LOCAL_ONLY"},
  {"PMIx_Publish", "PMIX_RANGE,PMIX_PERSISTENCE"},
  {"PMIx_Query_info", "PMIX_QUERY_NAMESPACES,PMIX_QUERY_NAMESPACE_INFO,"
                      "PMIX_QUERY_JOB_STATUS,PMIX_QUERY_PROC_TABLE,"
                      "PMIX_QUERY_LOCAL_PROC_TABLE,PMIX_QUERY_MEMORY_USAGE,"
                      "PMIX_QUERY_SPAWN_SUPPORT,PMIX_QUERY_DEBUG_SUPPORT,"
                      "PMIX_QUERY_ATTRIBUTE_SUPPORT,PMIX_QUERY_NUM_GROUPS,"
                      "PMIX_QUERY_GROUP_NAMES,PMIX_QUERY_GROUP_MEMBERSHIP,"
                      "PMIX_GROUP_ID,"
                      "PMIX_QUERY_STABLE_ABI_VERSION,"
                      "PMIX_QUERY_PROVISIONAL_ABI_VERSION,PMIX_VERSION_INFO"},
  {"PMIx_Register_event_handler", ""},
  {"PMIx_Resolve_nodes", ""},
  {"PMIx_Resolve_peers", ""},
  {"PMIx_Spawn", "PMIX_WDIR,PMIX_MAPBY,PMIX_BINDTO,PMIX_STDIN_TGT,"
                 "PMIX_JOB_TIMEOUT,PMIX_JOB_RECOVERABLE,PMIX_SET_ENVAR,"
                 "PMIX_UNSET_ENVAR,PMIX_ADD_ENVAR,PMIX_PREPEND_ENVAR,"
                 "PMIX_APPEND_ENVAR,PMIX_FWD_STDIN,PMIX_FWD_STDOUT,"
                 "PMIX_FWD_STDERR,PMIX_FWD_STDDIAG,PMIX_IOF_CACHE_SIZE,"
                 "PMIX_IOF_DROP_OLDEST,PMIX_IOF_DROP_NEWEST,"
                 "PMIX_IOF_BUFFERING_SIZE,PMIX_IOF_BUFFERING_TIME,"
                 "PMIX_IOF_TAG_OUTPUT,PMIX_IOF_TAG_DETAILED_OUTPUT,"
                 "PMIX_IOF_TAG_FULLNAME_OUTPUT,PMIX_IOF_RANK_OUTPUT,"
                 "PMIX_IOF_TIMESTAMP_OUTPUT,PMIX_IOF_XML_OUTPUT,"
                 "PMIX_IOF_OUTPUT_RAW,PMIX_IOF_OUTPUT_TO_FILE,"
                 "PMIX_IOF_OUTPUT_TO_DIRECTORY,PMIX_IOF_FILE_PATTERN,"
                 "PMIX_IOF_FILE_ONLY,PMIX_IOF_MERGE_STDERR_STDOUT,"
                 "PMIX_IOF_INHERIT,PMIX_SPAWN_PTY,PMIX_PTY_WSIZE"},
  {"PMIx_Unpublish", ""},
};

/// Calls `f` with each part of a comma-separated list.
template <class F>
void for_each_part(std::string_view list, F f) {
  while (!list.empty()) {
    const auto comma = list.find(',');
    f(list.substr(0, comma));
    list = comma == std::string_view::npos ? std::string_view{}
                                           : list.substr(comma + 1);
  }
}

value function_names() {
  auto result = std::string{};
  for (const auto& x : functions) {
    if (!result.empty())
      result += ',';
    result += x.name;
  }
  return value::string(std::move(result));
}

info attributes_of(const function& x) {
  auto elements = std::vector<value>{};
  for_each_part(x.attributes, [&](std::string_view c_name) {
    auto described = regattr{};
    // Older tools do not survive an attribute without a description.
    described.description = {"acted upon by this server"};
    described.name = std::string{c_name};
    if (const auto* known = attribute_named(c_name)) {
      described.key = std::string{known->key};
      described.type = known->type;
    }
    elements.push_back({data_type::regattr, box<regattr>{described}});
  });
  return {std::string{x.name}, 0,
          value::array(data_type::regattr, std::move(elements))};
}

} // namespace

std::vector<info> supported(const std::vector<info>& qualifiers) {
  auto result = std::vector<info>{};
  for (const auto& qualifier : qualifiers) {
    if (qualifier.key == attr::server_functions
        || qualifier.key == attr::host_functions) {
      result.push_back({qualifier.key, 0, function_names()});
    } else if (qualifier.key == attr::server_attributes
               || qualifier.key == attr::host_attributes) {
      const auto* wanted = qualifier.val.text();
      if (wanted == nullptr)
        continue;
      for (const auto& x : functions) {
        auto is_wanted = false;
        for_each_part(*wanted, [&](std::string_view part) {
          is_wanted = is_wanted || part == "all" || part == x.name;
        });
        if (is_wanted && !x.attributes.empty())
          result.push_back(attributes_of(x));
      }
    }
  }
  return result;
}

} // namespace troupe
