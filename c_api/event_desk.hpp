#pragma once

#include "adapters/c_values/convert.hpp"
#include "c_api/library.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <pmix.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace troupe::c_api {

/// A handler as the program registered it.
struct c_handler {
  pmix_notification_fn_t function = nullptr;

  /// PMIX_EVENT_RETURN_OBJECT, if given.
  std::optional<void*> object;

  bool is_oneshot = false;
};

/// Between the program's event handlers and the handler chain: runs the
/// handlers on the progress thread, waits for their completion, and takes
/// registrations and events to the chain. Lives from the first init to the last
/// finalize; for the progress thread only, unless a function says otherwise.
class event_desk {
public:
  /// Gets the number of a new handler.
  using on_registered = std::function<void(caf::expected<handler_registered>)>;

  /// Gets the outcome of anything else.
  using on_done = std::function<void(caf::expected<ack>)>;

  explicit event_desk(library& lib);

  ~event_desk();

  event_desk(const event_desk&) = delete;

  event_desk& operator=(const event_desk&) = delete;

  void register_handler(struct register_handler request, c_handler handler,
                        on_registered done);

  /// From the return of this function on the handler is not called.
  /// @returns whether the handler is there; if not, `done` is not called.
  bool deregister_handler(uint64_t id, on_done done);

  void notify(notify_request request, on_done done);

  /// An event from outside, or one that is for this process only.
  void take(event what);

  /// There is a new server, or none any more.
  void meet_server();

  /// A handler has completed what it got under this ticket.
  void complete(uint64_t ticket, handler_verdict verdict);

  /// The desk; null before init and after finalize.
  static event_desk* current();

private:
  /// What a handler was given, and whom it owes an answer.
  struct call {
    pmix_proc_t source;
    c_infos infos;
    c_infos results;

    /// `infos` and the object to return, which is not ours to free.
    std::vector<pmix_info_t> with_object;

    caf::typed_response_promise<handler_verdict> reply;
  };

  void tell_identity();

  caf::result<handler_verdict> run(handler_call& x);

  library& lib_;
  event_handler_actor handle_;
  event_handler_actor::pointer self_ = nullptr;
  event_session_actor session_;
  handler_chain_actor chain_;
  std::map<uint64_t, c_handler> handlers_;
  std::map<uint64_t, std::unique_ptr<call>> calls_;

  /// The ticket of the handler that runs now, and what it has reported.
  uint64_t running_ = 0;
  std::optional<handler_verdict> reported_;

  /// Who the chain thinks we are.
  proc_id told_;
};

} // namespace troupe::c_api
