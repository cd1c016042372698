#include "adapters/local/connection_output.hpp"

#include "config/defaults.hpp"
#include "messages/status.hpp"

#include <utility>

namespace troupe {

// -- what waits --------------------------------------------------------------

void connection_output::add(piece x) {
  waiting_bytes_ += x.what.bytes.size();
  waiting_.push_back(std::move(x));
}

std::optional<connection_output::piece> connection_output::next() {
  const auto is_behind = counts_ && written_ - consumed_ >= defaults::io_credit;
  if (waiting_.empty() || is_behind)
    return std::nullopt;
  auto result = std::move(waiting_.front());
  waiting_.pop_front();
  waiting_bytes_ -= result.what.bytes.size();
  return result;
}

void connection_output::forget_waiting() {
  for (auto& x : std::exchange(waiting_, {}))
    x.owed.fail(status::lost_connection, "the connection is being closed");
  waiting_bytes_ = 0;
}

// -- what has been written ---------------------------------------------------

void connection_output::wrote(answer<ack> owed, uint64_t end, size_t size) {
  written_ += size;
  sent_.push_back({end, std::move(owed)});
}

void connection_output::wrote_event(uint64_t end) {
  event_ends_.push_back(end);
}

void connection_output::note_sent(uint64_t sent) {
  for (; !sent_.empty() && sent_.front().end <= sent; sent_.pop_front())
    sent_.front().owed.give(ack{});
  for (; !event_ends_.empty() && event_ends_.front() <= sent;
       event_ends_.pop_front())
    ++events_taken_;
}

std::optional<uint64_t> connection_output::news_of_events() {
  if (std::exchange(events_told_, events_taken_) == events_taken_)
    return std::nullopt;
  return events_taken_;
}

void connection_output::forget() {
  for (auto& x : std::exchange(sent_, {}))
    x.owed.fail(status::lost_connection, "the peer has gone");
  forget_waiting();
}

// -- peers that count --------------------------------------------------------

bool connection_output::take_credit(uint64_t total) noexcept {
  if (total > written_ || total < consumed_)
    return false;
  consumed_ = total;
  return true;
}

} // namespace troupe
