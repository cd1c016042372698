#pragma once

#include "adapters/c_host/c_host_streams.hpp"

namespace troupe {

/// Requests of one process that the host answers, and groups: each up-call as
/// its entry stands in the module. Every `done` is called once.
/// Source: PMIx Standard v5, "Server Function Pointers".
class c_host_requests {
public:
  /// @param settings, calls, streams Outlive this object.
  c_host_requests(const c_host_settings& settings, c_host_calls& calls,
                  c_host_streams& streams)
    : settings_(settings), module_(settings.module), calls_(calls),
      streams_(streams) {
    // nop
  }

  c_host_requests(const c_host_requests&) = delete;
  c_host_requests& operator=(const c_host_requests&) = delete;

  /// Requests that the CLIENT passes to the HOST, and nobody but the host knows.
  /// No targets stay none: they are the requester's namespace (RFC0015,
  /// `pmix_server_job_control_fn_t`). Output of a job that is spawned is forwarded
  /// before anybody hears of it.
#define TROUPE_HOST_REQUEST(number, command, request, answer)                  \
  void carry_out(const requester& who, request& what,                          \
                 upcall_receiver<answer> done);
#include "messages/requests.def"

  /// Events for the resource manager go to the handlers of the host as well.
  /// Source: RFC0002, "RM-Host Registrations".
  void notify(const requester& who, notify_request& request,
              upcall_receiver<ack> done);

  void register_events(const requester& who,
                       const register_events_request& request,
                       upcall_receiver<ack> done);

  void deregister_events(const requester& who,
                         const deregister_events_request& request);

  void log(const requester& who, const log_request& request,
           upcall_receiver<ack> done);

  void query(const requester& who, const query_request& request,
             upcall_receiver<info_result> done);

  void monitor(const requester& who, monitor_request& request,
               upcall_receiver<info_result> done);

  /// All local members have called. Groups of the same processes differ by
  /// their identifiers, unlike fences.
  /// Source: RFC0033, "implementation note" of Group_construct.
  void conduct_group(host_group& request, upcall_receiver<info_result> done);

private:
  void ask_fabric(const requester& who, pmix_fabric_operation_t operation,
                  const std::vector<info>& directives,
                  upcall_receiver<info_result> done);

  const c_host_settings& settings_;
  const pmix_server_module_t& module_;
  c_host_calls& calls_;
  c_host_streams& streams_;
};

} // namespace troupe
