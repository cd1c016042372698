#pragma once

#include "adapters/c_host/c_host.hpp"
#include "adapters/c_host/upcall.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace troupe {

/// Output and input of processes where a host owns their pipes: output that it
/// delivers comes to the I/O DESK of this server. Ends all sinks when it is
/// destroyed.
class c_host_streams {
public:
  struct effects {
    /// Subscribes a sink at the I/O DESK.
    std::function<void(io_subscription how, output_sink_actor sink,
                       upcall_receiver<io_pull_result> done)>
      subscribe;

    /// Ends a subscription there, and calls back whatever comes of it: it may
    /// have gone with its job.
    std::function<void(uint64_t subscription, std::function<void()> then)>
      unsubscribe;

    /// Ends a sink and its subscription.
    std::function<void(const output_sink_actor& sink)> end;
  };

  /// Output for the requester of a spawned job.
  struct wish {
    io_subscription how;
    std::vector<info> directives;
  };

  /// @param settings, calls Outlive this object.
  c_host_streams(const c_host_settings& settings, c_host_calls& calls,
                 effects fx)
    : settings_(settings), calls_(calls), fx_(std::move(fx)) {
    // nop
  }

  c_host_streams(const c_host_streams&) = delete;
  c_host_streams& operator=(const c_host_streams&) = delete;

  ~c_host_streams();

  /// Asks the host for output, and subscribes for it.
  void pull(const requester& who, io_pull_request& request,
            upcall_receiver<io_pull_result> done);

  /// Ends a subscription of the same requester, and tells the host so.
  void end_pull(const requester& who, io_deregister_request& request,
                upcall_receiver<ack> done);

  /// Output of a job for the requester of its spawn: a tool gets all that it
  /// does not refuse; a process, what it asks for.
  /// Source: PMIx Standard v5, PMIX_FWD_STDOUT and its neighbours; OpenPMIx,
  /// for what is not said.
  static wish forwarded(const requester& who,
                        const std::vector<info>& job_infos);

  /// Forwards output of `nspace`, from the first byte on, then calls back.
  void forward(const requester& who, wish what, const std::string& nspace,
               std::function<void()> then);

  /// Ends all subscriptions of a requester that is gone.
  void forget(const requester& who);

  /// Hands input to the host; calls back when the requester may push more.
  void push(const requester& who, io_push_request& request,
            upcall_receiver<ack> done);

private:
  /// A subscription that somebody has.
  struct output_pull {
    requester who;
    io_pull_request request;

    /// Number at the I/O DESK.
    uint64_t subscription = 0;
    output_sink_actor sink;
  };

  void stop(const requester& who, const io_pull_request& request,
            const std::vector<info>& directives, upcall_receiver<ack> done);

  void subscribe(const requester& who, io_subscription how,
                 io_pull_request request, upcall_receiver<io_pull_result> done);

  const c_host_settings& settings_;
  c_host_calls& calls_;
  effects fx_;

  /// By the numbers that requesters know.
  std::map<uint64_t, output_pull> pulls_;
  uint64_t last_pull_ = 0;
};

} // namespace troupe
