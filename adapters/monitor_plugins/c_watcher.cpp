#include "adapters/monitor_plugins/c_watcher.hpp"

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

namespace troupe {

namespace {

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
  std::vector<char> text_ = std::vector<char>(512);
};

/// A monitor whose functions are C.
class c_watcher : public watcher {
public:
  c_watcher(const troupe_monitor_kind* kind, const start_monitor& request)
    : kind_(kind) {
    auto texts = std::vector<std::string>{};
    for (const auto& x : request.settings)
      texts.push_back(setting_text(x.val));
    auto settings = std::vector<troupe_monitor_setting>{};
    for (size_t i = 0; i < texts.size(); ++i)
      settings.push_back({request.settings[i].key.c_str(), texts[i].c_str()});
    const auto target =
      troupe_monitor_target{request.proc.nspace.c_str(), request.proc.rank,
                            static_cast<pid_t>(request.pid)};
    auto why = sentence{};
    begun_ = kind->start(&target, settings.data(), settings.size(), why.data(),
                         why.size());
    if (begun_ == nullptr)
      throw std::invalid_argument{
        why.get("the plugin does not say why it refuses")};
  }

  c_watcher(const c_watcher&) = delete;
  c_watcher& operator=(const c_watcher&) = delete;

  ~c_watcher() override {
    kind_->stop(begun_);
  }

  std::string look() override {
    auto why = sentence{};
    const auto found = kind_->check(begun_, why.data(), why.size());
    if (found < 0)
      throw std::runtime_error{why.get("the plugin could not look")};
    return found == 0 ? std::string{} : why.get("the plugin does not say why");
  }

private:
  const troupe_monitor_kind* kind_;
  void* begun_ = nullptr;
};

} // namespace

watcher_kind c_watchers(const troupe_monitor_kind* kind) {
  return {std::chrono::duration_cast<caf::timespan>(
            std::chrono::duration<double>{kind->interval}),
          [kind](const start_monitor& request) {
            return std::make_unique<c_watcher>(kind, request);
          }};
}

} // namespace troupe
