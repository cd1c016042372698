#pragma once

#include "actors/events/handler_chain.hpp"
#include "adapters/c_values/convert.hpp"
#include "c_api/library.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <pmix.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

namespace troupe::c_api {

/// A handler as the program registered it.
struct c_handler {
  pmix_notification_fn_t function = nullptr;

  /// PMIX_EVENT_RETURN_OBJECT, if given.
  std::optional<void*> object;

  bool is_oneshot = false;
};

/// Events that threads of the program raise for the process itself, on their
/// way to the progress thread. Threads that raise more than the handlers take
/// have to wait. On any thread, unless a function says otherwise.
class own_events {
public:
  /// Puts an event into the queue, once there is room.
  /// @returns PMIX_ERR_OUT_OF_RESOURCE if there still is none after a while,
  ///          PMIX_ERR_INIT if the library is finalized.
  pmix_status_t push(const library& lib, event what);

  /// Empties the queue. On the progress thread.
  void drain();

  /// A handler for these codes, or for all, is about to be registered: it comes
  /// after what was raised before, and before what is raised from now on.
  /// Events that no handler waits for need not wake the progress thread.
  void expect(const library& lib, const std::vector<status>& codes);

  /// Whether there has been a handler for a code.
  bool is_expected(status code);

  /// Whether there is room behind the queue.
  void set_open(bool x);

  /// Drops what there is.
  void reset();

private:
  /// A bit for each code that handlers wait for; several codes share one.
  std::atomic<uint64_t> expected_{0};

  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<status> codes_; // guarded by mutex_
  event_batch queue_;      // guarded by mutex_
  bool is_posted_ = false; // guarded by mutex_
  bool is_open_ = true;    // guarded by mutex_
  size_t blocked_ = 0;     // guarded by mutex_
};

/// Between the program's event handlers and the handler chain: runs the
/// handlers on the progress thread, waits for their completion, and takes
/// registrations and events to the chain. Lives from the first init to the last
/// finalize, its actors from the first handler or event on: most clients have
/// neither. For the progress thread only, unless a function says otherwise.
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

  /// Events from outside, or such as are for us.
  void take(event_batch what);

  /// There is a new server, or none any more.
  void meet_server();

  /// A handler has completed what it got under this ticket.
  void complete(uint64_t ticket, handler_verdict verdict);

  /// The desk; null before init and after finalize.
  static event_desk* current();

  static own_events& events_of_ours();

private:
  /// What the handlers of an event are given; from handler to handler the
  /// results grow. A handler that has been passed over may still read them.
  struct arguments {
    pmix_proc_t source;
    c_infos infos;
    std::vector<c_infos> owned_results;
    std::vector<pmix_info_t> results; // Shallow copies of those.
    std::vector<std::vector<pmix_info_t>> outgrown;
  };

  using arguments_ptr = std::shared_ptr<arguments>;

  /// A handler that has not completed.
  struct call {
    uint64_t handler = 0;
    uint64_t walk = 0;
    uint64_t turn = 0;
    arguments_ptr given;

    /// The event's infos and the object to return, which is not ours to free.
    std::vector<pmix_info_t> with_object;
  };

  void begin();

  void tell_identity();

  arguments_ptr& arguments_of_walk(uint64_t walk);

  caf::expected<arguments_ptr> arguments_of(const handler_turn& x);

  void end_walk(uint64_t walk);

  std::optional<handler_verdict> run(const handler_turn& x);

  library& lib_;

  /// Lives longer: see `library::end`.
  const library_core* core_;

  caf::actor handle_;
  caf::event_based_actor* self_ = nullptr;
  event_session_actor session_;
  handler_chain_actor chain_;
  std::unordered_map<uint64_t, c_handler> handlers_;
  std::unordered_map<uint64_t, call> calls_;

  /// What the handlers of an event are given: of the one whose turn was last,
  /// which is mostly the only one, and of others.
  uint64_t last_walk_ = 0;
  arguments_ptr last_given_;
  std::unordered_map<uint64_t, arguments_ptr> walks_;

  /// The ticket of the handler that runs now, and what it has reported.
  uint64_t running_ = 0;
  std::optional<handler_verdict> reported_;

  /// Which of `library_core::identities` the chain knows.
  uint64_t told_ = 0;
};

} // namespace troupe::c_api
