#include "adapters/metrics/scrape_rounds.hpp"

#include <array>
#include <optional>
#include <utility>

namespace troupe {

scrape_rounds::scrape_rounds(event_loop& loop, const bounds& limits,
                             std::function<void()> begin)
  : bounds_(limits), begin_(std::move(begin)), rest_(loop, [this] {
      if (!waiting_.empty())
        this->begin();
    }) {
  // nop
}

void scrape_rounds::add(bool is_open_metrics, scrape_server::responder reply) {
  waiting_.push_back({is_open_metrics, std::move(reply)});
  if (waiting_.size() > bounds_.waiting) {
    waiting_.front().reply(scrape_text(503, "too many ask at a time"));
    waiting_.pop_front();
  }
  if (!is_under_way_ && !rest_.is_running())
    begin();
}

void scrape_rounds::begin() {
  is_under_way_ = true;
  served_.swap(waiting_);
  begin_();
}

void scrape_rounds::finish(const maker& make) {
  if (!std::exchange(is_under_way_, false))
    return;
  rest_.start(bounds_.rest);
  auto made = std::array<std::optional<scrape_reply>, 2>{};
  for (const auto& x : std::exchange(served_, {})) {
    auto& answer = made.at(x.is_open_metrics ? 1 : 0);
    if (!answer)
      answer = make(x.is_open_metrics);
    x.reply(*answer);
  }
}

} // namespace troupe
