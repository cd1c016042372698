#pragma once

#include "adapters/c_host/host_streams.hpp"

namespace troupe {

/// Requests of one process that the host answers, and groups: each up-call as
/// its entry stands in the module. Every `done` is called once.
/// Source: PMIx Standard v5, "Server Function Pointers".
class host_requests {
public:
  /// @param settings, calls, streams Outlive this object.
  host_requests(const c_host_settings& settings, host_calls& calls,
                host_streams& streams)
    : settings_(settings), module_(settings.module), calls_(calls),
      streams_(streams) {
    // nop
  }

  host_requests(const host_requests&) = delete;
  host_requests& operator=(const host_requests&) = delete;

  void abort(const requester& who, const abort_request& request,
             upcall_receiver<ack> done);

  void publish(const requester& who, publish_request& request,
               upcall_receiver<ack> done);

  void look_up(const requester& who, lookup_request& request,
               upcall_receiver<lookup_result> done);

  void unpublish(const requester& who, unpublish_request& request,
                 upcall_receiver<ack> done);

  /// Starts a job; its output is forwarded before anybody hears of it.
  void spawn(const requester& who, spawn_request& request,
             upcall_receiver<spawn_result> done);

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

  /// No targets stay none: they are the requester's namespace.
  /// Source: RFC0015, `pmix_server_job_control_fn_t`.
  void control_job(const requester& who, job_control_request& request,
                   upcall_receiver<info_result> done);

  void monitor(const requester& who, monitor_request& request,
               upcall_receiver<info_result> done);

  void allocate(const requester& who, allocation_request& request,
                upcall_receiver<info_result> done);

  void control_session(const requester& who, session_control_request& request,
                       upcall_receiver<info_result> done);

  void change_block(const requester& who, resource_block_request& request,
                    upcall_receiver<ack> done);

  void get_credential(const requester& who, get_credential_request& request,
                      upcall_receiver<get_credential_result> done);

  void validate(const requester& who, validate_credential_request& request,
                upcall_receiver<info_result> done);

  void register_fabric(const requester& who,
                       const fabric_register_request& request,
                       upcall_receiver<info_result> done);

  void update_fabric(const requester& who, const fabric_update_request& request,
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
  host_calls& calls_;
  host_streams& streams_;
};

} // namespace troupe
