#include "adapters/monitor_plugins/plugin_monitor.hpp"

#include <caf/all.hpp>

#include <string>
#include <utility>
#include <vector>

namespace troupe {

/// Used on one thread at a time: whoever looks at it keeps it.
struct plugin_monitor_state::monitor {
  monitor(const troupe_monitor_kind* kind, const start_monitor& request)
    : kind(kind), request(request) {
    // nop
  }

  monitor(const monitor&) = delete;
  monitor& operator=(const monitor&) = delete;

  ~monitor() {
    if (begun != nullptr)
      kind->stop(begun);
  }

  const troupe_monitor_kind* kind;
  start_monitor request;
  void* begun = nullptr;
};

namespace {

using monitor = plugin_monitor_state::monitor;

constexpr size_t longest_sentence = 512;

/// What a look has come to.
struct look_outcome {
  status code = status::error;
  std::string reason = "the plugin has thrown an exception";
};

/// A setting as text; empty: it has none.
std::string text_of(const value& x) {
  if (const auto* text = x.text())
    return *text;
  if (const auto* yes = std::get_if<bool>(&x.data))
    return *yes ? "true" : "false";
  if (const auto number = x.number<int64_t>())
    return std::to_string(*number);
  if (const auto number = x.number<uint64_t>())
    return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&x.data))
    return std::to_string(*number);
  return {};
}

/// A buffer for a sentence.
class sentence {
public:
  char* data() {
    return text_.data();
  }

  size_t size() const {
    return text_.size();
  }

  /// What has been written, or else `otherwise`.
  std::string get(const std::string& otherwise) {
    text_.back() = '\0';
    auto result = std::string{text_.data()};
    return result.empty() ? otherwise : result;
  }

private:
  std::vector<char> text_ = std::vector<char>(longest_sentence);
};

bool begin(monitor& x, look_outcome& result) {
  const auto& request = x.request;
  auto texts = std::vector<std::string>{};
  for (const auto& y : request.settings)
    texts.push_back(text_of(y.val));
  auto settings = std::vector<troupe_monitor_setting>{};
  for (size_t i = 0; i < texts.size(); ++i)
    settings.push_back({request.settings[i].key.c_str(), texts[i].c_str()});
  const auto target =
    troupe_monitor_target{request.proc.nspace.c_str(), request.proc.rank,
                          static_cast<pid_t>(request.pid)};
  auto why = sentence{};
  x.begun = x.kind->start(&target, settings.data(), settings.size(), why.data(),
                          why.size());
  if (x.begun == nullptr)
    result = {status::bad_param,
              why.get("the plugin does not say why it refuses")};
  return x.begun != nullptr;
}

void look(monitor& x, look_outcome& result) {
  if (x.begun == nullptr && !begin(x, result))
    return;
  auto why = sentence{};
  const auto found = x.kind->check(x.begun, why.data(), why.size());
  if (found == 0)
    result = {status::success, {}};
  else if (found > 0)
    result = {status::success, why.get("the plugin does not say why")};
  else
    result = {status::error, why.get("the plugin could not look")};
}

} // namespace

monitor_plugin_actor::behavior_type plugin_monitor(
  monitor_plugin_actor::stateful_pointer<plugin_monitor_state> self,
  work_poster post, const troupe_monitor_kind* kind,
  const start_monitor& request) {
  self->state.watched = std::make_shared<monitor>(kind, request);
  return {
    [self, post = std::move(post), kind](const check_process& question) {
      auto reply = self->make_response_promise<check_result>();
      auto& state = self->state;
      const auto refuse = [&](const std::string& why) {
        reply.deliver(make_error(status::resource_busy,
                                 std::string{kind->name} + ": " + why));
        return reply;
      };
      if (*state.is_busy)
        return refuse("the plugin does not return");
      auto& x = state.watched;
      if (x->begun == nullptr)
        x->request.pid = question.pid;
      const auto result = std::make_shared<look_outcome>();
      const auto work = [watched = x, result] { look(*watched, *result); };
      const auto done = [reply, result, kind, busy = state.is_busy]() mutable {
        *busy = false;
        if (result->code == status::success)
          reply.deliver(check_result{std::move(result->reason)});
        else
          reply.deliver(make_error(result->code, std::string{kind->name} + ": "
                                                   + result->reason));
      };
      if (!post(work, done))
        return refuse("too many plugins are at work on this node");
      *state.is_busy = true;
      return reply;
    },
  };
}

} // namespace troupe
