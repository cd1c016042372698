#pragma once

// A real loop with a real launcher, an owner and a sink that note what they
// hear. Nothing sleeps: the loop runs until a condition holds, or the test
// fails after a limit.

#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/loop_system.hpp"
#include "adapters/loop/timer.hpp"
#include "adapters/process/process_launcher.hpp"
#include "tests/test.hpp"

#include <caf/all.hpp>

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// Other folders have a `world` of their own in the same binary.
namespace troupe::fixtures {
inline namespace processes {

using namespace std::chrono_literals;

/// A sanitizer keeps memory and needs descriptors for its own checks.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr auto is_sanitized = true;
#elif defined(__has_feature)
#  if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr auto is_sanitized = true;
#  else
inline constexpr auto is_sanitized = false;
#  endif
#else
inline constexpr auto is_sanitized = false;
#endif

/// What became of a request.
template <class T>
struct answer_to {
  std::optional<T> value;
  std::optional<status> refusal;
  std::string reason;

  bool has_come() const {
    return value.has_value() || refusal.has_value();
  }
};

/// What was heard of a process.
struct history {
  uint32_t pid = 0;
  std::map<io_channels, std::string> output;
  std::map<io_channels, size_t> ends;
  size_t bytes_after_end = 0;
  std::vector<process_ended> ended;
  size_t drained = 0;

  const std::string& out() {
    return output[io_channels::stdout_];
  }

  const std::string& err() {
    return output[io_channels::stderr_];
  }
};

/// A folder that goes away with its content.
class scratch_folder {
public:
  scratch_folder() {
    std::string path = std::filesystem::temp_directory_path() / "troupe-XXXXXX";
    CAF_REQUIRE(mkdtemp(path.data()) != nullptr);
    path_ = path;
  }

  scratch_folder(const scratch_folder&) = delete;

  scratch_folder& operator=(const scratch_folder&) = delete;

  ~scratch_folder() {
    std::filesystem::remove_all(path_);
  }

  std::string operator/(const std::string& name) const {
    return path_ / name;
  }

  std::string path() const {
    return path_;
  }

  /// Writes a file and returns its path.
  std::string file(const std::string& name, const std::string& text,
                   bool executable = false) const {
    std::ofstream{path_ / name} << text;
    if (executable)
      std::filesystem::permissions(path_ / name,
                                   std::filesystem::perms::owner_all);
    return path_ / name;
  }

private:
  std::filesystem::path path_;
};

/// Whether there is such a process, dead or alive.
inline bool exists(pid_t pid) {
  return kill(pid, 0) == 0;
}

class world {
public:
  using clock = std::chrono::steady_clock;

  loop_system sys;
  std::map<proc_id, history> heard;
  std::vector<std::string> journal_lines;

  /// Takes output and answers `true`, or keeps it and answers `false`: then it
  /// is answered by `release`.
  std::function<bool(const process_output&)> on_output =
    [](const process_output&) { return true; };

  process_owner_actor owner;
  output_receiver_actor sink;
  process_launcher_actor launcher;

  explicit world(process_launcher_settings settings = {}) {
    settings.log = [this](severity, const std::string& line) {
      journal_lines.push_back(line);
    };
    owner = spawn_owner();
    sink = sys.actors().spawn(
      [](output_receiver_actor::pointer self,
         world* w) -> output_receiver_actor::behavior_type {
        return {[self, w](const process_output& x) {
          auto reply = self->make_response_promise<ack>();
          w->take(x, reply);
          return reply;
        }};
      },
      this);
    launcher = sys.actors().spawn(process_launcher, &sys.loop(), settings);
  }

  ~world() {
    owner = nullptr;
    sink = nullptr;
    kept_.clear();
    end_launcher();
  }

  process_owner_actor spawn_owner() {
    return sys.actors().spawn(
      [](process_owner_actor::pointer,
         world* w) -> process_owner_actor::behavior_type {
        return {[w](const process_ended& x) {
                  w->heard[x.proc].ended.push_back(x);
                  w->check();
                },
                [w](const process_drained& x) {
                  ++w->heard[x.proc].drained;
                  w->check();
                }};
      },
      this);
  }

  /// Runs the loop until `condition` holds: looks after everything that is
  /// heard, and now and then for what nobody tells us.
  /// @returns whether it did within `limit`.
  bool run_until(std::function<bool()> condition, clock::duration limit = 30s) {
    if (condition())
      return true;
    condition_ = std::move(condition);
    auto in_time = true;
    timer deadline{sys.loop(), [&] {
                     in_time = false;
                     sys.stop();
                   }};
    deadline.start(limit);
    std::optional<timer> look;
    look.emplace(sys.loop(), [&] {
      check();
      look->start(2ms);
    });
    look->start(2ms);
    sys.run();
    condition_ = nullptr;
    return in_time;
  }

  /// Runs the loop for a while, to see that something does not happen.
  void run_for(clock::duration length) {
    run_until([] { return false; }, length);
  }

  /// Looks at the condition of `run_until` again.
  void check() {
    if (condition_ && condition_())
      sys.stop();
  }

  /// Asks an actor and runs the loop until the answer has come.
  template <class T, class Handle, class... Ts>
  answer_to<T> ask(const Handle& receiver, Ts... xs) {
    const auto result = request<T>(receiver, std::move(xs)...);
    CAF_REQUIRE(run_until([&] { return result->has_come(); }));
    return *result;
  }

  /// Asks an actor without waiting.
  template <class T, class Handle, class... Ts>
  std::shared_ptr<answer_to<T>> request(const Handle& receiver, Ts... xs) {
    auto result = std::make_shared<answer_to<T>>();
    sys.actors().spawn(
      [this, receiver, result, xs...](caf::event_based_actor* self) {
        self->request(receiver, caf::infinite, xs...)
          .then(
            [this, result](const T& x) {
              result->value = x;
              check();
            },
            [this, result](const caf::error& err) {
              result->refusal = status_of(err);
              result->reason = reason_of(err);
              check();
            });
      });
    return result;
  }

  // -- processes
  // ---------------------------------------------------------------

  static proc_id proc(uint32_t rank, std::string nspace = "job-1") {
    return {std::move(nspace), rank};
  }

  static start_process shell(const proc_id& who, const std::string& script) {
    start_process result;
    result.proc = who;
    result.program = "/bin/sh";
    result.argv = {"sh", "-c", script};
    result.env = {"PATH=/usr/local/bin:/usr/bin:/bin",
                  "PMIX_NAMESPACE=" + who.nspace};
    return result;
  }

  answer_to<process_started> start(const start_process& x) {
    auto result = ask<process_started>(launcher, x, owner, sink);
    if (result.value)
      heard[x.proc].pid = result.value->pid;
    return result;
  }

  /// Starts a process that must start.
  history& run(const start_process& x) {
    const auto result = start(x);
    if (!result.value)
      CAF_FAIL("did not start: " << result.reason);
    return heard[x.proc];
  }

  bool is_over(const proc_id& who) {
    return heard[who].drained > 0;
  }

  /// Starts a process and waits until all has been heard of it.
  history& run_to_end(const start_process& x) {
    heard.erase(x.proc);
    run(x);
    CAF_REQUIRE(run_until([&] { return is_over(x.proc); }));
    return heard[x.proc];
  }

  history& run_to_end(const std::string& script) {
    return run_to_end(shell(proc(0), script));
  }

  answer_to<ack> sweep(const std::string& nspace = "job-1") {
    return ask<ack>(launcher, sweep_job{nspace});
  }

  void send(const signal_process& x) {
    caf::anon_send(launcher, x);
  }

  void end_launcher() {
    if (!launcher)
      return;
    caf::anon_send_exit(launcher, caf::exit_reason::user_shutdown);
    launcher = nullptr;
    sys.loop().post([this] { sys.loop().post([this] { sys.stop(); }); });
    sys.run();
  }

  // -- output
  // ------------------------------------------------------------------

  /// Bytes kept without an answer.
  size_t kept_bytes() const {
    return kept_bytes_;
  }

  size_t kept_fragments() const {
    return kept_.size();
  }

  /// Answers what was kept.
  void release() {
    kept_bytes_ = 0;
    for (auto& x : std::exchange(kept_, {}))
      x.deliver(ack{});
  }

private:
  void take(const process_output& x, caf::typed_response_promise<ack> reply) {
    auto& h = heard[x.proc];
    if (h.ends[x.channel] > 0)
      h.bytes_after_end += x.bytes.size() + 1;
    if (x.bytes.empty())
      ++h.ends[x.channel];
    if (on_output(x)) {
      reply.deliver(ack{});
      h.output[x.channel] += x.bytes;
    } else {
      kept_bytes_ += x.bytes.size();
      kept_.push_back(std::move(reply));
    }
    check();
  }

  std::function<bool()> condition_;
  std::deque<caf::typed_response_promise<ack>> kept_;
  size_t kept_bytes_ = 0;
};

/// FNV-1a over everything that is added.
class digest {
public:
  void add(const std::string& bytes) {
    for (const auto c : bytes) {
      value_ ^= static_cast<uint8_t>(c);
      value_ *= 0x100000001b3;
    }
    size_ += bytes.size();
  }

  uint64_t size() const {
    return size_;
  }

  friend bool operator==(const digest& x, const digest& y) {
    return x.value_ == y.value_ && x.size_ == y.size_;
  }

private:
  uint64_t value_ = 0xcbf29ce484222325;
  uint64_t size_ = 0;
};

} // namespace processes
} // namespace troupe::fixtures
