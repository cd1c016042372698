#pragma once

#include "adapters/loop/timer.hpp"
#include "messages/event.hpp"
#include "messages/io.hpp"
#include "tools/page_board.hpp"
#include "tools/page_service.hpp"
#include "tools/tool_session.hpp"

#include <caf/expected.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

namespace defaults {

/// Bytes that are shown of each stream of a process.
inline constexpr uint64_t page_lines_bytes = 16384;

/// How long the answer to a question about a process is waited for.
inline constexpr auto page_answer = std::chrono::seconds{3};

/// The same of a stack, which may take longer.
inline constexpr auto page_stack = std::chrono::seconds{15};

/// Events that wait to be shown together.
inline constexpr size_t page_events_waiting = 4096;

} // namespace defaults

/// Asks a DVM for what the page shows, as any tool of it does: what `troupe ps`,
/// `jobs --waits`, `net`, `group list`, `io list` and `monitor list` ask. Subjects
/// that change often are asked for often, none while its last answer is missing, and
/// each so seldom that the DVM has a tenth of the time at most to do with it; ten times
/// less often while nobody watches. How many watch, and how often they come back, is
/// nothing to the DVM.
class page_feed {
public:
  struct settings {
    /// See `find_dvm`.
    std::string dvm;

    /// How often jobs and processes are asked for; other subjects five or ten times
    /// less often.
    std::chrono::milliseconds interval{200};

    /// Called on the thread of the loop when the DVM is lost.
    std::function<void()> on_lost;
  };

  /// Connects.
  /// @returns why there is no connection, in a sentence.
  static caf::expected<std::unique_ptr<page_feed>> open(settings x,
                                                        page_board& board);

  /// Nobody may be in `run` of the loop, nor in one of the questions.
  ~page_feed();

  page_feed(const page_feed&) = delete;

  page_feed& operator=(const page_feed&) = delete;

  loop_system& loop() {
    return session_->loop();
  }

  /// Begins to ask; from then on the loop has to run.
  void start();

  /// What can be asked about one process, on any thread but that of the loop.
  page_service::questions questions();

private:
  using clock = std::chrono::steady_clock;

  /// What is asked again and again.
  struct subject {
    wire::request question;
    std::chrono::milliseconds interval;

    /// Gets the infos of the answer.
    std::function<void(const std::vector<info>&)> take;
    std::unique_ptr<timer> next = {};
    clock::time_point asked = {};

    /// When it may be asked for again.
    clock::time_point due = {};
    bool is_asked = false;
  };

  /// Somebody who waits for the last lines of a process.
  struct reading;

  page_feed(settings x, page_board& board);

  void add_subjects();
  void add(wire::request question, int intervals,
           std::function<void(const std::vector<info>&)> take);
  void ask(subject& x);
  void on_answer(subject& x, const link::outcome& got);
  void hurry();

  void register_events();
  void on_events(const event_batch& x);
  void show_events();

  nlohmann::json lines(const proc_id& proc);
  void begin(const std::shared_ptr<reading>& x);
  void end(const std::shared_ptr<reading>& x);
  void on_output(const io_delivery& x);

  nlohmann::json usage(const proc_id& proc);
  nlohmann::json stack(const proc_id& proc);

  settings settings_;
  page_board& board_;

  /// Lives longer than what is attached to its loop.
  std::unique_ptr<tool_session> session_;
  std::list<subject> subjects_;

  std::vector<std::shared_ptr<const event>> events_;
  std::unique_ptr<timer> showing_;

  /// By the number under which output comes.
  std::map<uint64_t, std::shared_ptr<reading>> readings_;
  uint64_t last_reading_ = 0;

  /// Whether somebody waits for a stack: one at a time.
  std::atomic<bool> takes_stack_{false};
};

} // namespace troupe
