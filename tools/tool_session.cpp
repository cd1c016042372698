#include "tools/tool_session.hpp"

#include "messages/attributes.hpp"
#include "tools/dvm_search.hpp"

#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace troupe {

namespace {

using namespace std::chrono_literals;

/// How long a server may take to say good-bye.
constexpr auto goodbye = 1s;

/// How long a server may take to greet a tool that only asks: one that was
/// stopped never does. Who starts a job gives a busy one more time.
constexpr auto greeting = 4s;

/// How long the answer to a question may take before we doubt that anybody works
/// on it, and how long we then believe so.
constexpr auto first_doubt = 2s;
constexpr auto next_doubt = 4s;

/// How long `is_gone` waits for an answer of whoever listens.
constexpr auto last_try = 500ms;

/// What servers are told of a tool. Source: OpenPMIx wire protocol, connect.
std::vector<info> introduction(bool launcher) {
  auto result = std::vector<info>{};
  result.push_back({std::string{attr::proc_pid}, 0,
                    value::pid(static_cast<uint32_t>(::getpid()))});
  if (launcher)
    result.push_back({std::string{attr::launcher}, 0, value::boolean(true)});
  result.push_back({std::string{attr::cmd_line}, 0, value::string("troupe")});
  return result;
}

} // namespace

link::callbacks each_event(std::function<void(const event&)> f) {
  auto result = link::callbacks{};
  result.on_events = [f = std::move(f)](const event_batch& x) {
    for (const auto& what : x.events)
      f(*what);
  };
  return result;
}

caf::expected<std::unique_ptr<tool_session>>
tool_session::open(const std::string& dvm, bool launcher,
                   link::callbacks handlers) {
  auto settings = find_dvm(dvm);
  if (!settings)
    return std::move(settings.error());
  auto result = std::unique_ptr<tool_session>{new tool_session};
  settings->role = launcher ? peer_role::launcher_needs_identity
                            : peer_role::tool_needs_identity;
  settings->infos = introduction(launcher);
  if (!launcher) {
    settings->connect_time = greeting;
    settings->answer_time = greeting;
  }
  auto peer = connect_to_server(*settings);
  if (!peer && status_of(peer.error()) == status::timeout)
    return make_error(status::timeout,
                      "the DVM" + (dvm.empty() ? std::string{} : " " + dvm)
                        + " does not answer: it is stopped, or too busy ("
                        + reason_of(peer.error()) + ")");
  if (!peer)
    return make_error(status_of(peer.error()),
                      "cannot connect to the DVM"
                        + (dvm.empty() ? std::string{} : " " + dvm) + ": "
                        + reason_of(peer.error()));
  result->settings_ = std::move(*settings);
  result->link_ = std::make_shared<link>(result->loop_.loop(), std::move(*peer),
                                         std::move(handlers));
  result->link_->start();
  return result;
}

tool_session::~tool_session() {
  if (link_ == nullptr)
    return; // It was refused.
  if (link_->is_open())
    link_->call(wire::request{finalize_request{}}, goodbye);
  link_->close();
}

link::outcome
tool_session::ask(const wire::request& x,
                  std::optional<std::chrono::milliseconds> limit) {
  auto mutex = std::mutex{};
  auto changed = std::condition_variable{};
  auto is_done = false;
  auto is_silent = false;
  auto doubt = std::thread{[&] {
    auto wait = std::chrono::milliseconds{first_doubt};
    auto lock = std::unique_lock{mutex};
    while (!changed.wait_for(lock, wait, [&] { return is_done; })) {
      lock.unlock();
      const auto silent = status_of(greet(greeting)) == status::timeout;
      lock.lock();
      if (silent && !is_done) {
        is_silent = true;
        link_->close(); // Ends the call.
        return;
      }
      wait = next_doubt;
    }
  }};
  auto result = link_->call(x, limit);
  {
    const auto guard = std::lock_guard{mutex};
    is_done = true;
  }
  changed.notify_one();
  doubt.join();
  if (!result && is_silent)
    return make_error(status::timeout, "it is stopped, or too busy");
  return result;
}

caf::error tool_session::greet(std::chrono::milliseconds limit) const {
  auto settings = settings_;
  settings.connect_time = limit;
  settings.answer_time = limit;
  const auto peer = connect_to_server(settings);
  return peer ? caf::error{} : peer.error();
}

bool tool_session::is_gone() const {
  return status_of(greet(last_try)) == status::unreach;
}

} // namespace troupe
