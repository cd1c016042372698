#include "adapters/monitor_plugins/plugin_monitor.hpp"

#include <caf/all.hpp>

#include <exception>
#include <string>
#include <utility>

namespace troupe {

/// Used on one thread at a time: whoever looks at it keeps it.
struct plugin_monitor_state::monitor {
  decltype(watcher_kind::make) make;
  start_monitor request;
  std::unique_ptr<watcher> begun;
};

plugin_monitor_state::~plugin_monitor_state() {
  if (watched && post)
    post([last = std::move(watched)]() mutable { last = nullptr; }, [] {});
}

namespace {

using monitor = plugin_monitor_state::monitor;

/// Of a sentence, which goes into an event.
constexpr size_t longest_reason = 511;

/// What a look has come to.
struct look_outcome {
  status code = status::error;
  std::string reason = "the plugin has thrown an exception";
};

/// @returns whether the watcher is there.
bool begin(monitor& x, look_outcome& result) {
  try {
    x.begun = x.make(x.request);
    if (x.begun == nullptr)
      result = {status::bad_param, "the plugin does not say why it refuses"};
  } catch (const std::exception& why) {
    result = {status::bad_param, why.what()};
  }
  return x.begun != nullptr;
}

/// What is no `std::exception` goes to the thread, which drops it.
void look(monitor& x, look_outcome& result) {
  if (x.begun == nullptr && !begin(x, result))
    return;
  try {
    result = {status::success, x.begun->look()};
  } catch (const std::exception& why) {
    result.reason = why.what();
  }
}

} // namespace

monitor_plugin_actor::behavior_type plugin_monitor(
  monitor_plugin_actor::stateful_pointer<plugin_monitor_state> self,
  work_poster post, const std::string& kind, const watcher_kind& how,
  const start_monitor& request) {
  self->state.post = std::move(post);
  self->state.watched =
    std::make_shared<monitor>(monitor{how.make, request, nullptr});
  return {
    [self, kind](const check_process& question) {
      auto reply = self->make_response_promise<check_result>();
      auto& state = self->state;
      const auto refuse = [&](const std::string& why) {
        reply.deliver(make_error(status::resource_busy, kind + ": " + why));
        return reply;
      };
      if (*state.is_busy)
        return refuse("the plugin does not return; see what it waits for, its "
                      "looks must end");
      auto& x = state.watched;
      if (x->begun == nullptr)
        x->request.pid = question.pid;
      const auto result = std::make_shared<look_outcome>();
      const auto work = [watched = x, result] { look(*watched, *result); };
      const auto done = [reply, result, kind, busy = state.is_busy]() mutable {
        *busy = false;
        if (result->reason.size() > longest_reason)
          result->reason.resize(longest_reason);
        if (result->code == status::success)
          reply.deliver(check_result{std::move(result->reason)});
        else
          reply.deliver(make_error(result->code, kind + ": " + result->reason));
      };
      if (!state.post(work, done))
        return refuse(
          "too many of its monitors are at work on this node; cancel some");
      *state.is_busy = true;
      return reply;
    },
  };
}

} // namespace troupe
