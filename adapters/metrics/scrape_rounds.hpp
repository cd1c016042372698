#pragma once

#include "adapters/loop/timer.hpp"
#include "adapters/metrics/scrape_server.hpp"

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>

namespace troupe {

class event_loop;

/// Answers scrapes in rounds, so that many who ask cost little more than one: all
/// that have come when a round begins are answered by it, those that come later wait
/// for the next, which begins after a rest. Whoever comes first after a rest does not
/// wait; each answer is made after it was asked for. For the thread of the loop only.
class scrape_rounds {
public:
  struct bounds {
    /// Scrapes that wait for a round; of more the first is refused.
    size_t waiting = scrape_server::bounds{}.connections;

    /// From the end of a round to the next.
    std::chrono::milliseconds rest{100};
  };

  /// Makes an answer: in OpenMetrics, or in the older format.
  using maker = std::function<scrape_reply(bool is_open_metrics)>;

  /// @param loop Must outlive the rounds.
  /// @param begin Called when a round begins; somebody calls `finish` then, at once
  ///              or later.
  scrape_rounds(event_loop& loop, const bounds& limits,
                std::function<void()> begin);

  scrape_rounds(const scrape_rounds&) = delete;
  scrape_rounds& operator=(const scrape_rounds&) = delete;

  void add(bool is_open_metrics, scrape_server::responder reply);

  /// Ends the round; of each format that is wanted one answer is made.
  void finish(const maker& make);

private:
  struct scrape {
    bool is_open_metrics;
    scrape_server::responder reply;
  };

  void begin();

  bounds bounds_;
  std::function<void()> begin_;
  std::deque<scrape> waiting_;

  /// Those of the round that is under way.
  std::deque<scrape> served_;
  bool is_under_way_ = false;
  timer rest_;
};

} // namespace troupe
