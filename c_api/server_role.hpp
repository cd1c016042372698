#pragma once

#include "actors/control/local_control.hpp"
#include "adapters/c_host/host_module.hpp"
#include "adapters/c_host/registered_attributes.hpp"
#include "c_api/library.hpp"
#include "c_api/request.hpp"
#include "c_api/server_calls.hpp"
#include "messages/actors.hpp"
#include "messages/host.hpp"
#include "runtime/node_streams.hpp"
#include "runtime/server_node.hpp"

#include <caf/event_based_actor.hpp>

#include <pmix_server.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace troupe::c_api {

/// Counts bytes that a host has delivered and nobody has taken: it may go on
/// without waiting for answers, but not for ever. For any thread.
/// Source: guarantees 5.7; LIM14.
class delivered_bytes {
public:
  /// @returns what gives the room back when its last copy goes; null if too
  ///          much waits.
  std::shared_ptr<void> add(size_t size);

private:
  std::shared_ptr<std::atomic<size_t>> waiting_ =
    std::make_shared<std::atomic<size_t>>(0);
};

/// Output from a host as messages for the I/O DESK: bytes, and the end of the
/// stream if there are none, or PMIX_IOF_COMPLETE says so.
/// Source: PMIx Standard v5, `PMIx_server_IOF_deliver`.
std::vector<process_output> outputs_of(const proc_id& source,
                                       io_channels channel, std::string bytes,
                                       const std::vector<info>& infos);

/// What PMIx_server_setup_fork needs. It is called in forked children as well
/// (Slurm does), where no thread of ours runs and no lock may be taken: a
/// snapshot that is replaced as a whole and never changed.
struct fork_snapshot {
  /// What every client needs in its environment besides namespace and rank.
  std::vector<std::string> variables;

  /// Changes of the environment of a namespace's processes, each under the key
  /// that says what to do: PMIX_SET_ENVAR and its neighbours.
  std::map<std::string, std::vector<info>> changes;
};

/// The library's server, from the first PMIx_server_init to the last
/// PMIx_server_finalize. Constant, or safe on any thread, unless a function
/// says otherwise.
class server_role {
public:
  /// Starts the server, its host and its own session. On the thread of the
  /// loop.
  /// @param with_mesh Whether servers of a job do among themselves what the
  ///                  host does not; see `wants_mesh`.
  static caf::expected<std::shared_ptr<server_role>>
  start(library& lib, server_node_options options,
        const pmix_server_module_t& module, size_t module_size,
        bool with_mesh = false);

  /// Makes its session the library's. Not on the thread of the loop.
  void join(library& lib) const;

  /// Ends them. On the thread of the loop.
  void stop();

  /// The server; null if the library has none.
  static std::shared_ptr<server_role> current();

  static void set_current(std::shared_ptr<server_role> x);

  const proc_id& id() const {
    return id_;
  }

  /// Names this server, and no other, in events that its host gets.
  const std::string& origin() const {
    return origin_;
  }

  const std::string& hostname() const {
    return hostname_;
  }

  const std::string& uri() const {
    return uri_;
  }

  /// What forked processes need; null if there is no server. Lives until the
  /// server stops.
  static const fork_snapshot* snapshot() noexcept;

  server_objects& objects() {
    return *objects_;
  }

  /// What the host says that it acts upon.
  registered_attributes& attributes() {
    return *attributes_;
  }

  /// Gives whoever wants it what the host delivers. `on_taken` runs on the
  /// progress thread when they have taken it.
  /// @returns false if too much of it waits already.
  bool deliver(std::vector<process_output> what,
               std::function<void(pmix_status_t)> on_taken);

  /// Stops those that push input, or lets them go on.
  bool control_input(const proc_id& source, bool is_stopped,
                     std::function<void()> done);

  const server_actor& server() const {
    return server_;
  }

  const event_cache_actor& events() const {
    return events_;
  }

  /// Tells the desk, and the mesh if there is one, of a job.
  void tell_hosts(const register_nspace& what) const;

  /// Tells them, and whoever stands before the host, that it is over.
  void tell_hosts(const deregister_nspace& what) const;

  void add_changes(const std::string& nspace, const std::vector<info>& changes);

  void forget_changes(const std::string& nspace);

  /// Asks the server. `on_answer` runs on the progress thread exactly once.
  template <class Answer, class Request>
  void ask(Request x, std::function<void(caf::expected<Answer>)> on_answer) {
    auto answer = std::make_shared<one_answer<Answer>>(std::move(on_answer));
    library::instance().post(
      [self = weak_, answer, x = std::move(x)]() mutable {
        const auto role = self.lock();
        if (!role || role->asker_ == nullptr)
          return;
        role->asker_->request(role->server_, caf::infinite, std::move(x))
          .then([answer](Answer& y) { (*answer)(std::move(y)); },
                [answer](caf::error& err) { (*answer)(std::move(err)); });
      });
  }

  /// Asks the session of this process. On the progress thread.
  void ask_session(wire::request what,
                   std::shared_ptr<one_answer<wire::reply_body>> answer);

private:
  server_role() = default;

  void open_session(library& lib);

  std::weak_ptr<server_role> weak_;
  std::unique_ptr<server_node> node_;
  std::shared_ptr<server_objects> objects_ = std::make_shared<server_objects>();
  std::shared_ptr<registered_attributes> attributes_ =
    std::make_shared<registered_attributes>();
  io_desk_actor desk_;
  delivered_bytes delivered_;

  /// Of the thread of the loop.
  std::shared_ptr<input_gate> gate_;
  proc_id id_;
  std::string origin_;
  std::string hostname_;
  std::string uri_;
  server_actor server_;
  event_cache_actor events_;
  std::shared_ptr<cleanup_book> cleanup_ = std::make_shared<cleanup_book>();
  caf::actor control_;
  caf::actor mesh_;
  client_actor session_;
  connection_actor connection_;
  caf::actor asker_handle_;
  caf::event_based_actor* asker_ = nullptr;

  /// Takes a new snapshot; old ones may be in use.
  void publish(fork_snapshot x);

  std::mutex mutex_;
  std::vector<std::unique_ptr<fork_snapshot>> snapshots_; // guarded by mutex_

  /// Has the desk.
  std::unique_ptr<node_streams> streams_;
  journal log_;
};

/// What a function of a server may begin with: the server, or null and why not.
std::shared_ptr<server_role> server_or(pmix_status_t& code);

/// Begins a call of a server: names its role `name`, or returns why there is
/// none.
#define TROUPE_ENTER_SERVER(name)                                              \
  auto code = pmix_status_t{};                                                 \
  const auto name = ::troupe::c_api::server_or(code);                          \
  if (!name)                                                                   \
    return code;

/// Sends the server something. With a callback it is called once; without one
/// the call waits.
/// @returns PMIX_SUCCESS if the callback will come;
///          PMIX_OPERATION_SUCCEEDED if the call has waited and it is done.
/// Source: OpenPMIx, for a null callback.
template <class Request>
pmix_status_t tell_server(const std::shared_ptr<server_role>& role, Request x,
                          pmix_op_cbfunc_t f, void* data) {
  if (f != nullptr) {
    role->ask<ack>(std::move(x), [f, data](const caf::expected<ack>& y) {
      f(code_of(y), data);
    });
    return PMIX_SUCCESS;
  }
  if (library::instance().in_progress_thread())
    return PMIX_ERR_WOULD_BLOCK;
  const auto done = std::make_shared<waiter>();
  role->ask<ack>(std::move(x), [done](const caf::expected<ack>& y) {
    done->set(code_of(y));
  });
  const auto code = done->wait();
  return code == PMIX_SUCCESS ? PMIX_OPERATION_SUCCEEDED : code;
}

} // namespace troupe::c_api
