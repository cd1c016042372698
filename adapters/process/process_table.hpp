#pragma once

#include "adapters/loop/timer.hpp"
#include "adapters/process/child.hpp"
#include "adapters/process/children.hpp"
#include "adapters/process/control_groups.hpp"
#include "adapters/process/daemon_memory.hpp"
#include "adapters/process/input_pipe.hpp"
#include "adapters/process/output_pipe.hpp"
#include "adapters/process/process_launcher.hpp"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace troupe {

/// The processes that a launcher started, and what they left behind. Works for
/// the launcher's actor, in whose name it sends.
///
/// Nobody is ever signalled by a number that may belong to somebody else by
/// now: a process keeps its number until it is reaped, which only we do; a
/// process group keeps its number as long as it has members, and once its
/// leader is reaped it is used only while one of our own children (orphans come
/// to us) is in it. Source: waitpid(2); requirement X29.
class process_table {
public:
  using self_pointer =
    process_launcher_actor::stateful_pointer<process_launcher_state>;

  process_table(self_pointer self, event_loop& loop,
                process_launcher_settings settings);

  process_table(const process_table&) = delete;

  process_table& operator=(const process_table&) = delete;

  /// Kills everything.
  ~process_table();

  caf::result<process_started> start(const start_process& request,
                                     const process_owner_actor& owner,
                                     const output_receiver_actor& sink);

  void signal(const signal_process& request);

  /// Pauses and the like.
  procs_controlled control(const control_procs& what);

  caf::result<local_process> find(const find_process& request);

  void sweep(const std::string& nspace, caf::typed_response_promise<ack> reply);

  void write(write_stdin&& request, caf::typed_response_promise<ack> reply);

  void close(const close_stdin& request);

  /// Whoever started processes is gone: so are they.
  void abandon(const caf::actor_addr& owner);

private:
  /// A process from its start until nothing of it is left.
  struct record {
    proc_id proc;
    pid_t pid = -1;
    unique_fd pidfd;

    /// Until the process has been reaped.
    std::unique_ptr<fd_watch> exit_watch;

    /// The other end of its terminal, if that follows a window.
    unique_fd terminal;

    /// Whether signals may still reach members of its process group.
    bool has_group = true;

    process_owner_actor owner;
    output_receiver_actor sink;

    /// When it last wrote to standard output; before that, when it started.
    std::chrono::steady_clock::time_point wrote =
      std::chrono::steady_clock::now();

    /// What it wrote there that has not been taken: if its sink is slow, it is
    /// not the process that is silent.
    size_t untaken = 0;

    std::unique_ptr<input_pipe> in;
    std::map<io_channels, std::unique_ptr<output_pipe>> out;
    bool is_drained = false;

    /// Whether it stands still because somebody wants it to, and the group of
    /// the freezer that it has been moved to.
    bool is_paused = false;
    std::string frozen_group;

    bool is_running() const {
      return exit_watch != nullptr;
    }

    /// Whether nothing is on its way of what it wrote, nor expected.
    bool is_quiet() const;

    /// Whether its streams have come to their ends.
    bool is_silent() const;
  };

  /// A `sweep_job` that is not finished.
  struct sweep_state {
    std::vector<caf::typed_response_promise<ack>> replies;
    std::chrono::steady_clock::time_point deadline;
    std::chrono::milliseconds pause{1};
    std::unique_ptr<timer> next;

    /// Known once the processes are gone, or do not go.
    std::optional<caf::error> outcome;
  };

  using records = std::map<uint64_t, record>;

  void open_output(uint64_t id, io_channels channel, unique_fd fd);
  void open_input(record& x, unique_fd fd, bool is_terminal);
  void deliver(uint64_t id, io_channels channel, std::string bytes);
  void on_taken(uint64_t id, io_channels channel, size_t bytes);
  void look_for_end(uint64_t id);
  void on_ended(uint64_t id);
  void tell_ended();
  void tell_memory(const process_ended& what, pid_t pid);
  void settle(records::iterator pos);
  void watch_owner(const process_owner_actor& owner);
  void forget_owner(const process_owner_actor& owner);

  record* running(const proc_id& proc);
  void signal_group(const record& x, int number);
  void signal_on_request(record& x, int number);
  std::map<pid_t, std::vector<process_entry>>
  families_of(const std::vector<record*>& xs) const;
  void pause(const std::vector<record*>& xs);
  std::vector<record*> freeze(const std::vector<record*>& xs);
  void stop(const std::vector<record*>& xs);
  void resume(const std::vector<record*>& xs);
  void kill_families(const std::vector<record*>& xs);
  void reap_children();
  void check_groups();

  void continue_sweep(const std::string& nspace);
  bool is_swept(const std::string& nspace);
  void finish_sweep(const std::string& nspace, bool done);
  void answer_sweep(const std::string& nspace);
  size_t kill_leftovers(const std::string& nspace);

  void log(severity how, const std::string& what) const;

  self_pointer self_;
  event_loop& loop_;
  process_launcher_settings settings_;
  output_credit credit_;
  freezer freezer_;

  /// Where processes are killed if they take too much memory, and how many had
  /// been when last looked at.
  memory_group memory_;
  uint64_t memory_kills_ = memory_.kills();
  bool is_limited_ = memory_.limit().has_value();
  uint64_t last_id_ = 0;
  records records_;
  std::map<pid_t, uint64_t> running_;

  /// How processes ended of whom nobody has been told yet.
  std::vector<std::pair<uint64_t, process_ended>> ended_;
  std::map<proc_id, uint64_t> latest_;
  std::map<caf::actor_addr, size_t> owners_;
  std::map<std::string, sweep_state> sweeps_;
  freed_memory freed_;
  timer reap_later_;
};

} // namespace troupe
