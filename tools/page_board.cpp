#include "tools/page_board.hpp"

#include <cstddef>
#include <utility>

namespace troupe {

namespace {

std::string event_text(const char* name, const std::string& data) {
  return std::string{"event: "} + name + "\ndata: " + data + "\n\n";
}

} // namespace

page_board::page_board() : answered_(clock::now()) {
  // nop
}

page_board::~page_board() = default;

void page_board::update(const std::function<void(page_state&)>& f) {
  const auto guard = std::lock_guard{mutex_};
  f(state_);
  const auto change = state_.take_change();
  if (change.empty())
    return;
  ++version_;
  changes_.push_back(std::make_shared<const std::string>(
    event_text("change", json_text(change))));
  change_bytes_ += changes_.back()->size();
  while (changes_.size() > defaults::page_changes
         || change_bytes_ > defaults::page_change_bytes) {
    change_bytes_ -= changes_.front()->size();
    changes_.pop_front();
  }
  changed_.notify_all();
}

void page_board::note_answer() {
  const auto guard = std::lock_guard{mutex_};
  answered_ = clock::now();
  ++answers_;
}

std::string page_board::whole() {
  const auto guard = std::lock_guard{mutex_};
  if (on_watcher_ && clock::now() - wanted_ >= defaults::page_pulse) {
    wanted_ = clock::now();
    on_watcher_();
  }
  auto all = state_.whole();
  all["page"]["page"] = {{"browsers", watchers_}, {"answers", answers_}};
  return json_text(all);
}

std::optional<nlohmann::json> page_board::rank(const proc_id& x) const {
  const auto guard = std::lock_guard{mutex_};
  const auto* found = state_.item("ranks", to_string(x));
  return found != nullptr ? std::optional<nlohmann::json>{*found}
                          : std::nullopt;
}

void page_board::on_watcher(std::function<void()> f) {
  const auto guard = std::lock_guard{mutex_};
  on_watcher_ = std::move(f);
}

std::unique_ptr<page_board::watcher> page_board::watch() {
  const auto guard = std::lock_guard{mutex_};
  if (is_closed_ || watchers_ >= defaults::page_watchers)
    return nullptr;
  auto result = std::make_unique<watcher>(*this);
  ++watchers_;
  if (on_watcher_)
    on_watcher_();
  return result;
}

size_t page_board::watchers() const {
  const auto guard = std::lock_guard{mutex_};
  return watchers_;
}

void page_board::close() {
  const auto guard = std::lock_guard{mutex_};
  is_closed_ = true;
  changed_.notify_all();
}

page_board::watcher::~watcher() {
  const auto guard = std::lock_guard{from_.mutex_};
  --from_.watchers_;
}

std::optional<std::string>
page_board::watcher::next(std::chrono::milliseconds patience) {
  auto& x = from_;
  auto lock = std::unique_lock{x.mutex_};
  x.changed_.wait_for(lock, patience,
                      [&] { return x.is_closed_ || seen_ < x.version_; });
  if (x.is_closed_)
    return std::nullopt;
  const auto behind = x.version_ - seen_;
  if (behind == 0) {
    const auto silent = std::chrono::duration_cast<std::chrono::milliseconds>(
      clock::now() - x.answered_);
    return event_text("idle", json_text({{"silent_ms", silent.count()}}));
  }
  const auto is_new = seen_ == 0 || behind > x.changes_.size();
  seen_ = x.version_;
  if (is_new)
    return event_text("whole", json_text(x.state_.whole()));
  auto missed = std::deque<std::shared_ptr<const std::string>>{
    x.changes_.end() - static_cast<std::ptrdiff_t>(behind), x.changes_.end()};
  lock.unlock();
  auto result = std::string{};
  for (const auto& change : missed)
    result += *change;
  return result;
}

} // namespace troupe
