#pragma once

#include "actors/data/process_store.hpp"
#include "adapters/c_values/convert.hpp"
#include "adapters/link/link.hpp"
#include "adapters/link/link_replies.hpp"
#include "adapters/loop/loop_system.hpp"
#include "c_api/server_calls.hpp"
#include "c_api/waiter.hpp"
#include "messages/actors.hpp"

#include <caf/event_based_actor.hpp>
#include <caf/expected.hpp>

#include <pmix_common.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace troupe::c_api {

/// In which role a process uses the library; it may be in several.
enum class role : uint8_t { client, tool, server };

class library_core;

/// The library of this process: the roles it is in, the loop and its thread,
/// the way to the server, and what is known of processes. Nothing exists before
/// the first init; nothing is destroyed at exit. All functions are safe on any
/// thread unless they say otherwise.
///
/// What is virtual the server's half calls as well, which may be a library of
/// its own (c_api/halves): it has no copy of these functions.
///
/// In a forked child the library is as before the first init: what belongs to
/// the parent is left alone, PMIx_Init may be called anew.
class library {
public:
  static library& instance() noexcept;

  // -- life --

  /// Brings a role up, or counts one more init of it. With the first role the
  /// loop starts; its thread as well, but for a client's: see `begin`.
  /// @param bring_up Runs on the calling thread, once the loop runs but for a
  ///                 client's; not if the role is up already.
  /// @param external Whether the program drives progress: no thread.
  /// @returns what `bring_up` returns; `would_block` on the progress thread.
  virtual pmix_status_t start(role which,
                              const std::function<pmix_status_t()>& bring_up,
                              bool external = false);

  /// Takes back one init; with the last one `take_down` runs, and with the last
  /// role the loop ends and its thread is joined.
  /// @returns `init` if the role is not up, `would_block` on the progress
  ///          thread.
  virtual pmix_status_t stop(role which,
                             const std::function<void()>& take_down);

  /// What is up; null before init. For this folder only.
  virtual std::shared_ptr<library_core> core() const;

  /// Whether any role is up.
  virtual bool is_up() const noexcept;

  virtual bool has_role(role which) const noexcept;

  /// Makes the thread of the loop, unless there is one or the program drives
  /// progress. A client that asks nothing, waits for nobody and has no handlers
  /// needs none: what comes waits in its socket.
  /// @returns PMIX_SUCCESS, PMIX_ERR_INIT, or PMIX_ERR_OUT_OF_RESOURCE if the
  ///          system has no more threads or descriptors.
  virtual pmix_status_t begin() const noexcept;

  /// What a call that only needs the library may begin with: PMIX_SUCCESS, or
  /// PMIX_ERR_INIT; or why there is no thread.
  pmix_status_t check() const noexcept {
    return is_up() ? begin() : PMIX_ERR_INIT;
  }

  /// The same for a call that blocks: also PMIX_ERR_WOULD_BLOCK on the progress
  /// thread.
  pmix_status_t check_blocking() const noexcept {
    const auto code = check();
    return code == PMIX_SUCCESS && in_progress_thread() ? PMIX_ERR_WOULD_BLOCK
                                                        : code;
  }

  // -- progress --

  /// Whether the calling thread is the one that runs callbacks.
  virtual bool in_progress_thread() const noexcept;

  /// Does what is due, if the program drives progress; else nothing.
  void progress();

  /// The loop and the actors. @pre some role is up.
  virtual loop_system& loop() const;

  /// Runs `task` on the progress thread.
  /// @returns `false` if no role is up; then it is not kept.
  virtual bool post(std::function<void()> task) const;

  /// Runs `task` on the progress thread and waits for its end; at once if that
  /// is the calling thread, or does not run the loop yet. What it throws, this
  /// function throws. @pre some role is up.
  virtual void run_in_loop(const std::function<void()>& task) const;

  // -- who we are --

  /// Our own identity; empty before init.
  virtual proc_id proc() const;
  void set_proc(proc_id x);

  /// Takes an identity on, and keeps what every process knows of itself,
  /// whatever its server says.
  /// @param uri Address of its server; its own if it is a server.
  virtual void set_self(const proc_id& self, const std::string& hostname,
                        const std::string& uri);

  /// The server we ask; for a server itself. Undefined rank if there is none.
  virtual proc_id server() const;

  /// What is known of processes. Lives until the last finalize, and as long as
  /// the pointer; null before init.
  virtual std::shared_ptr<process_store> store() const;

  /// Keeps a value for a caller until the last finalize.
  pmix_value_t* keep_value(const proc_id& proc, const std::string& key,
                           const value& x) const;

  // -- the way to the server --

  /// Where requests go; null if there is no server.
  virtual client_actor session() const;

  /// Requests go to a session in this process: that of our own server.
  virtual void set_session(client_actor x, proc_id server);

  /// Requests go to a remote server; null: there is none.
  void set_link(std::shared_ptr<link> x);

  virtual std::shared_ptr<link> current_link() const;

  /// Asks the server.
  /// @param on_answer Runs on the progress thread exactly once, also if the
  ///                  server is lost or the library is finalized.
  /// @returns PMIX_SUCCESS; otherwise `on_answer` is not called: PMIX_ERR_INIT,
  ///          or PMIX_ERR_UNREACH if there is no server.
  template <class Answer, class Request>
  pmix_status_t ask(Request request,
                    std::function<void(caf::expected<Answer>)> on_answer) const;

  /// Asks the server without wishing to hear the answer.
  template <class Answer, class Request>
  pmix_status_t tell(Request request) const;

  /// Asks the server and waits for the answer: not on the progress thread.
  /// @param limit How long to wait at most; nothing: for as long as the server
  ///              is there.
  template <class Answer, class Request>
  caf::expected<Answer>
  ask_and_wait(Request request,
               std::optional<std::chrono::milliseconds> limit = {}) const;

  // -- pushes --

  /// Events or output for this process, from the server or from our own: go to
  /// the sinks, on the progress thread.
  virtual void push(event_batch x) const;
  virtual void push(io_delivery x, output_receipt receipt = {}) const;

  /// Whether a handler of ours may wait for events of this code.
  virtual bool expects_event(status code) const;

  /// Who takes pushes; called on the progress thread. To be set when the loop
  /// starts (`start_events`), gone with the last finalize.
  void set_event_sink(std::function<void(event_batch)> f);
  void set_output_sink(std::function<void(io_delivery, output_receipt)> f);

  /// Who hears, on the progress thread, that there is a new server: it knows
  /// nothing of our handlers yet.
  void set_server_sink(std::function<void()> f);

private:
  library() = default;

  ~library() = default;

  void end();
  void tell_of_server() const;
};

/// Brings up and takes down what is behind events and output (c_api/events.cpp,
/// c_api/client_output.cpp): up on the thread of the first init, before the loop begins, down
/// on that of the last finalize while it still runs.
void start_events(library& lib);
void stop_events(library& lib);
void start_output(library& lib);
void stop_output(library& lib);

// -- implementation -----------------------------------------------------------

template <class Answer, class Request>
pmix_status_t
library::ask(Request request,
             std::function<void(caf::expected<Answer>)> on_answer) const {
  if (!core())
    return PMIX_ERR_INIT;
  auto done = [f = std::move(on_answer)](link::outcome x) {
    f(answer_in<Answer>(std::move(x)));
  };
  const auto to = current_link();
  if (!to)
    return ask_session(wire::request{std::move(request)}, std::move(done));
  to->submit(wire::request{std::move(request)}, std::move(done));
  return PMIX_SUCCESS;
}

template <class Answer, class Request>
pmix_status_t library::tell(Request request) const {
  if (const auto to = current_link()) {
    // Nobody is to be woken for the answer.
    to->submit(
      wire::request{std::move(request)}, [](const link::outcome&) {},
      hand_over::anywhere);
    return PMIX_SUCCESS;
  }
  return ask<Answer>(std::move(request), [](const caf::expected<Answer>&) {});
}

template <class Answer, class Request>
caf::expected<Answer>
library::ask_and_wait(Request request,
                      std::optional<std::chrono::milliseconds> limit) const {
  if (const auto code = check_blocking(); code != PMIX_SUCCESS)
    return make_error(static_cast<status>(code));
  if (const auto to = current_link())
    return answer_in<Answer>(
      to->call(wire::request{std::move(request)}, limit));
  auto result = std::make_shared<caf::expected<Answer>>(
    make_error(status::unreach, "no answer"));
  auto done = std::make_shared<waiter>();
  const auto code =
    ask<Answer>(std::move(request), [result, done](caf::expected<Answer> x) {
      *result = std::move(x);
      done->set(PMIX_SUCCESS);
    });
  if (code != PMIX_SUCCESS)
    return make_error(static_cast<status>(code));
  done->wait();
  return std::move(*result);
}

} // namespace troupe::c_api
