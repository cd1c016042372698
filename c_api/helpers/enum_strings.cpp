#include "messages/status.hpp"

#include <pmix.h>
#include <strings.h>

#include <array>
#include <climits>
#include <string>

// The names of numbers. The texts are OpenPMIx's: tools print and compare them.

namespace {

struct entry {
  uint64_t number;
  const char* text;
};

template <size_t N>
const char* find(const entry (&entries)[N], uint64_t number,
                 const char* otherwise) {
  for (const auto& x : entries)
    if (x.number == number)
      return x.text;
  return otherwise;
}

// -- tables ------------------------------------------------------------------

constexpr entry proc_states[] = {
  {PMIX_PROC_STATE_UNDEF, "UNDEFINED"},
  {PMIX_PROC_STATE_PREPPED, "PREPPED FOR LAUNCH"},
  {PMIX_PROC_STATE_LAUNCH_UNDERWAY, "LAUNCH UNDERWAY"},
  {PMIX_PROC_STATE_RESTART, "PROC READY FOR RESTART"},
  {PMIX_PROC_STATE_TERMINATE, "PROC MARKED FOR TERMINATION"},
  {PMIX_PROC_STATE_RUNNING, "PROC EXECUTING"},
  {PMIX_PROC_STATE_CONNECTED, "PROC HAS CONNECTED TO LOCAL PMIX SERVER"},
  {PMIX_PROC_STATE_UNTERMINATED, "PROC HAS NOT TERMINATED"},
  {PMIX_PROC_STATE_TERMINATED, "PROC HAS TERMINATED"},
  {PMIX_PROC_STATE_ERROR, "PROC ERROR"},
  {PMIX_PROC_STATE_KILLED_BY_CMD, "PROC KILLED BY CMD"},
  {PMIX_PROC_STATE_ABORTED, "PROC ABNORMALLY ABORTED"},
  {PMIX_PROC_STATE_FAILED_TO_START, "PROC FAILED TO START"},
  {PMIX_PROC_STATE_ABORTED_BY_SIG, "PROC ABORTED BY SIGNAL"},
  {PMIX_PROC_STATE_TERM_WO_SYNC,
   "PROC TERMINATED WITHOUT CALLING PMIx_Finalize"},
  {PMIX_PROC_STATE_COMM_FAILED, "PROC LOST COMMUNICATION"},
  {PMIX_PROC_STATE_SENSOR_BOUND_EXCEEDED, "PROC SENSOR BOUND EXCEEDED"},
  {PMIX_PROC_STATE_CALLED_ABORT, "PROC CALLED PMIx_Abort"},
  {PMIX_PROC_STATE_HEARTBEAT_FAILED, "PROC FAILED TO REPORT HEARTBEAT"},
  {PMIX_PROC_STATE_MIGRATING, "PROC WAITING TO MIGRATE"},
  {PMIX_PROC_STATE_CANNOT_RESTART, "PROC CANNOT BE RESTARTED"},
  {PMIX_PROC_STATE_TERM_NON_ZERO, "PROC TERMINATED WITH NON-ZERO STATUS"},
  {PMIX_PROC_STATE_FAILED_TO_LAUNCH, "PROC FAILED TO LAUNCH"},
};

constexpr entry job_states[] = {
  {PMIX_JOB_STATE_UNDEF, "UNDEFINED"},
  {PMIX_JOB_STATE_PREPPED, "PREPPED FOR LAUNCH"},
  {PMIX_JOB_STATE_LAUNCH_UNDERWAY, "LAUNCHING"},
  {PMIX_JOB_STATE_RUNNING, "RUNNING"},
  {PMIX_JOB_STATE_SUSPENDED, "SUSPENDED"},
  {PMIX_JOB_STATE_CONNECTED, "CONNECTED"},
  {PMIX_JOB_STATE_UNTERMINATED, "UNTERMINATED"},
  {PMIX_JOB_STATE_TERMINATED, "TERMINATED"},
  {PMIX_JOB_STATE_TERMINATED_WITH_ERROR, "TERMINATED WITH ERROR"},
};

constexpr entry scopes[] = {
  {PMIX_SCOPE_UNDEF, "UNDEFINED"},
  {PMIX_LOCAL, "SHARE ON LOCAL NODE ONLY"},
  {PMIX_REMOTE, "SHARE ON REMOTE NODES ONLY"},
  {PMIX_GLOBAL, "SHARE ACROSS ALL NODES"},
  {PMIX_INTERNAL, "STORE INTERNALLY"},
};

constexpr entry persistences[] = {
  {PMIX_PERSIST_INDEF, "INDEFINITE"},
  {PMIX_PERSIST_FIRST_READ, "DELETE ON FIRST ACCESS"},
  {PMIX_PERSIST_PROC, "RETAIN UNTIL PUBLISHING PROCESS TERMINATES"},
  {PMIX_PERSIST_APP,
   "RETAIN UNTIL APPLICATION OF PUBLISHING PROCESS TERMINATES"},
  {PMIX_PERSIST_SESSION,
   "RETAIN UNTIL ALLOCATION OF PUBLISHING PROCESS TERMINATES"},
  {PMIX_PERSIST_INVALID, "INVALID"},
};

constexpr entry ranges[] = {
  {PMIX_RANGE_UNDEF, "UNDEFINED"},
  {PMIX_RANGE_RM, "INTENDED FOR HOST RESOURCE MANAGER ONLY"},
  {PMIX_RANGE_LOCAL, "AVAIL ON LOCAL NODE ONLY"},
  {PMIX_RANGE_NAMESPACE, "AVAIL TO PROCESSES IN SAME JOB ONLY"},
  {PMIX_RANGE_SESSION, "AVAIL TO PROCESSES IN SAME ALLOCATION ONLY"},
  {PMIX_RANGE_GLOBAL, "AVAIL TO ANYONE WITH AUTHORIZATION"},
  {PMIX_RANGE_CUSTOM, "AVAIL AS SPECIFIED IN DIRECTIVES"},
  {PMIX_RANGE_PROC_LOCAL, "AVAIL ON LOCAL PROC ONLY"},
  {PMIX_RANGE_INVALID, "INVALID"},
};

constexpr entry alloc_directives[] = {
  {PMIX_ALLOC_NEW, "NEW"},
  {PMIX_ALLOC_EXTEND, "EXTEND"},
  {PMIX_ALLOC_RELEASE, "RELEASE"},
  {PMIX_ALLOC_REAQUIRE, "REACQUIRE"},
  {PMIX_ALLOC_REQ_CANCEL, "CANCEL REQUEST"},
};

constexpr entry alloc_inheritances[] = {
  {PMIX_ALLOC_INHERIT_NONE, "NONE"},
  {PMIX_ALLOC_INHERIT_CHILD, "CHILD"},
  {PMIX_ALLOC_INHERIT_DEFAULT, "DEFAULT"},
  {PMIX_ALLOC_INHERIT_CHILD_DEFAULT, "CHILD_DEFAULT"},
};

constexpr entry block_directives[] = {
  {PMIX_RESOURCE_BLOCK_DEFINE, "DEFINE"},
  {PMIX_RESOURCE_BLOCK_EXTEND, "EXTEND"},
  {PMIX_RESOURCE_BLOCK_REMOVE, "REMOVE"},
  {PMIX_RESOURCE_BLOCK_DELETE, "DELETE"},
};

constexpr entry link_states[] = {
  {PMIX_LINK_DOWN, "INACTIVE"},
  {PMIX_LINK_UP, "ACTIVE"},
};

constexpr entry device_types[] = {
  {PMIX_DEVTYPE_BLOCK, "BLOCK"},     {PMIX_DEVTYPE_GPU, "GPU"},
  {PMIX_DEVTYPE_NETWORK, "NETWORK"}, {PMIX_DEVTYPE_OPENFABRICS, "OPENFABRICS"},
  {PMIX_DEVTYPE_DMA, "DMA"},         {PMIX_DEVTYPE_COPROC, "COPROCESSOR"},
  {PMIX_DEVTYPE_MEMORY, "MEMORY"},   {PMIX_DEVTYPE_CORE, "CORE"},
  {PMIX_DEVTYPE_HWT, "HWT"},         {PMIX_DEVTYPE_CPU, "CPU"},
  {PMIX_DEVTYPE_NODE, "NODE"},
};

constexpr entry comparisons[] = {
  {PMIX_EQUAL, "EQUAL"},
  {PMIX_VALUE1_GREATER, "VALUE1 GREATER"},
  {PMIX_VALUE2_GREATER, "VALUE2 GREATER"},
  {PMIX_VALUE_TYPE_DIFFERENT, "DIFFERENT TYPES"},
  {PMIX_VALUE_INCOMPATIBLE_OBJECTS, "INCOMPATIBLE OBJECTS"},
  {PMIX_VALUE_COMPARISON_NOT_AVAIL, "COMPARISON NOT AVAILABLE"},
};

constexpr entry group_operations[] = {
  {PMIX_GROUP_CONSTRUCT, "CONSTRUCT"},
  {PMIX_GROUP_DESTRUCT, "DESTRUCT"},
  {PMIX_GROUP_NONE, "NONE"},
};

/// With its text inside: a pointer the loader would write at every start.
struct status_entry {
  pmix_status_t number;
  char text[40];
};

constexpr status_entry statuses[] = {
#define TROUPE_STATUS(name, number, c_name) {number, c_name},
#include "messages/status.def"
#undef TROUPE_STATUS
};

/// The streams of a mask, for all 16 of them.
std::array<std::string, 16> make_channels() {
  constexpr const char* names[] = {"STDIN ", "STDOUT ", "STDERR ", "STDDIAG "};
  auto result = std::array<std::string, 16>{};
  for (size_t mask = 0; mask < result.size(); ++mask)
    for (size_t bit = 0; bit < 4; ++bit)
      if ((mask >> bit & 1) != 0)
        result[mask] += names[bit];
  result[0] = "NONE";
  return result;
}

} // namespace

const char* PMIx_Error_string(pmix_status_t status) {
  for (const auto& x : statuses)
    if (x.number == status)
      return x.text;
  return "ERROR STRING NOT FOUND";
}

pmix_status_t PMIx_Error_code(const char* name) {
  if (name != nullptr)
    for (const auto& x : statuses)
      if (strcasecmp(x.text, name) == 0)
        return x.number;
  return INT_MIN;
}

const char* PMIx_Proc_state_string(pmix_proc_state_t state) {
  return find(proc_states, state, "UNKNOWN STATE");
}

const char* PMIx_Job_state_string(pmix_job_state_t state) {
  return find(job_states, state, "UNKNOWN");
}

const char* PMIx_Scope_string(pmix_scope_t scope) {
  return find(scopes, scope, "UNKNOWN SCOPE");
}

const char* PMIx_Persistence_string(pmix_persistence_t persist) {
  return find(persistences, persist, "UNKNOWN PERSISTENCE");
}

const char* PMIx_Data_range_string(pmix_data_range_t range) {
  return find(ranges, range, "UNKNOWN");
}

const char* PMIx_Alloc_directive_string(pmix_alloc_directive_t directive) {
  return find(alloc_directives, directive, "UNSPECIFIED");
}

const char*
PMIx_Alloc_inheritance_string(pmix_alloc_inheritance_t inheritance) {
  return find(alloc_inheritances, inheritance, "UNSPECIFIED");
}

const char* PMIx_Resource_block_directive_string(
  pmix_resource_block_directive_t directive) {
  return find(block_directives, directive, "UNSPECIFIED");
}

const char* PMIx_Link_state_string(pmix_link_state_t state) {
  return find(link_states, state, "UNKNOWN");
}

const char* PMIx_Device_type_string(pmix_device_type_t type) {
  return find(device_types, type, "UNKNOWN");
}

const char* PMIx_Value_comparison_string(pmix_value_cmp_t comparison) {
  return find(comparisons, comparison, "UNKNOWN VALUE");
}

const char* PMIx_Group_operation_string(pmix_group_operation_t operation) {
  return find(group_operations, operation, "UNKNOWN VALUE");
}

const char* PMIx_IOF_channel_string(pmix_iof_channel_t channel) try {
  static const auto channels = make_channels();
  return channels[channel & 15].c_str();
} catch (...) {
  return "";
}
