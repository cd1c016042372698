#pragma once

#include "actors/groups/group_names.hpp"
#include "c_api/library.hpp"
#include "config/defaults.hpp"
#include "messages/proc_id.hpp"
#include "messages/value.hpp"

#include <caf/actor.hpp>

#include <pmix_common.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace troupe::c_api {

/// Values that stay the library's after they were shown to a caller.
/// Source: PMIx Standard v5, PMIX_GET_POINTER_VALUES.
class value_keeper {
public:
  value_keeper() = default;

  value_keeper(const value_keeper&) = delete;

  value_keeper& operator=(const value_keeper&) = delete;

  ~value_keeper();

  /// @returns a value that lives as long as this object; the same one for the
  ///          same value of the same key; null without memory.
  pmix_value_t* keep(const proc_id& proc, const std::string& key,
                     const value& x);

private:
  struct entry {
    value val;
    pmix_value_t* shown = nullptr;
  };

  std::mutex mutex_;
  std::map<std::pair<proc_id, std::string>, entry> entries_; // by mutex_
  std::vector<pmix_value_t*> old_;                           // by mutex_
};

/// The groups that this process is in. Safe on any thread.
class group_book {
public:
  void add(std::string id, std::vector<proc_id> members,
           std::optional<uint64_t> context_id = {}) {
    const auto guard = std::lock_guard{mutex_};
    if (context_id)
      by_context_[*context_id] = id;
    learn(std::move(id),
          std::make_shared<const std::vector<proc_id>>(std::move(members)));
  }

  void remove(std::string id) {
    const auto guard = std::lock_guard{mutex_};
    for (auto i = by_context_.begin(); i != by_context_.end();)
      i = i->second == id ? by_context_.erase(i) : std::next(i);
    learn(std::move(id), nullptr);
  }

  /// One member is none any more; the ranks of those after it follow.
  void remove_member(const std::string& id, const proc_id& member) {
    const auto guard = std::lock_guard{mutex_};
    const auto* found = names_.find(id);
    if (found == nullptr)
      return;
    auto all = *found;
    all.erase(std::remove(all.begin(), all.end(), member), all.end());
    learn(id, std::make_shared<const std::vector<proc_id>>(std::move(all)));
  }

  /// These groups are invited to and not complete: they may not be named yet.
  /// Source: RFC0033, Group_invite.
  void keep_out(const std::vector<std::string>& ids) {
    const auto guard = std::lock_guard{mutex_};
    for (const auto& id : ids)
      if (names_.find(id) == nullptr)
        learn(id, nullptr);
  }

  /// @returns the members in the order of their ranks in the group.
  std::optional<std::vector<proc_id>> members(const std::string& id) const {
    const auto guard = std::lock_guard{mutex_};
    const auto* found = names_.find(id);
    return found != nullptr ? std::optional{*found} : std::nullopt;
  }

  /// @returns the name of the group with a context identifier, if a process is a
  ///          member of it.
  std::optional<std::string> find(uint64_t context_id,
                                  const proc_id& member) const {
    if (!is_used_)
      return std::nullopt;
    const auto guard = std::lock_guard{mutex_};
    const auto i = by_context_.find(context_id);
    if (i == by_context_.end())
      return std::nullopt;
    const auto* found = names_.find(i->second);
    const auto is_member =
      found != nullptr
      && std::find(found->begin(), found->end(), member) != found->end();
    return is_member ? std::optional{i->second} : std::nullopt;
  }

  /// Puts members in the place of groups: in a process, in processes, or in
  /// infos. Costs nothing in a process that is in no group.
  template <class T>
  caf::error spell_out(T& x) const {
    if (!is_used_)
      return {};
    const auto guard = std::lock_guard{mutex_};
    auto room = defaults::group_participants;
    return names_.spell_out(x, room);
  }

private:
  void learn(std::string id,
             std::shared_ptr<const std::vector<proc_id>> members) {
    names_.learn({std::move(id), std::move(members)});
    is_used_ = true;
  }

  std::atomic<bool> is_used_{false};
  mutable std::mutex mutex_;
  group_names names_;                          // guarded by mutex_
  std::map<uint64_t, std::string> by_context_; // guarded by mutex_
};

class input_pusher;
class output_handlers;
class node_fence;
class node_groups;
class shared_posts;

/// What exists between the first init and the last finalize. Virtual is what
/// the server's half calls as well; see `library`.
class library_core {
public:
  /// Makes the loop, which takes nothing of the system before `begin`.
  /// @param external Whether the program drives progress: there is no thread.
  explicit library_core(bool external);

  virtual ~library_core();

  library_core(const library_core&) = delete;

  library_core& operator=(const library_core&) = delete;

  /// Makes the loop's thread, once. Until then the loop belongs to the thread that
  /// brings the library up or takes it down: what it does itself costs no switch to
  /// another. Safe on any thread.
  /// @returns whether the caller may go on: false while another thread takes the
  ///          library down, and did so before there was a thread.
  /// @throws std::system_error if the system has no more threads or descriptors.
  bool begin();

  /// What `begin` returns, without making the thread. Safe on any thread.
  bool may_go_on();

  /// From now on `begin` makes no thread: the caller, who takes the library down, does
  /// without, if there is none yet.
  void begin_end();

  bool has_begun() const noexcept {
    return has_begun_;
  }

  /// Ends the loop: what was asked is answered with errors first.
  void shut_down();

  /// Whether the calling thread runs the loop of some core. Costs no lock.
  static bool runs_some_loop() noexcept;

  /// Runs the loop, or waits for somebody who does, until `is_done`.
  template <class F>
  void drive(F is_done) {
    auto lock = std::unique_lock{drive_mutex_};
    while (!is_done()) {
      if (is_driven_) {
        drive_changed_.wait(lock);
        continue;
      }
      is_driven_ = true;
      lock.unlock();
      run_loop();
      lock.lock();
      is_driven_ = false;
      drive_changed_.notify_all();
    }
  }

  /// Makes those in `drive` look whether they are done.
  virtual void interrupt();

  /// One pass of the loop, unless somebody runs it already.
  void progress();

  const bool is_external;
  loop_system loop;
  const std::shared_ptr<process_store> store =
    std::make_shared<process_store>();

  value_keeper kept;

  /// Handlers of output, once the loop runs.
  std::shared_ptr<output_handlers> outputs;

  /// Who is in which group.
  const std::shared_ptr<group_book> groups;

  /// What the processes of our job share on this node.
  const std::shared_ptr<shared_posts> shared;

  /// Where they meet in fences, and to make groups of them all.
  const std::shared_ptr<node_fence> fences;
  const std::shared_ptr<node_groups> shared_groups;

  /// Whether it has been asked for what becomes of members of groups.
  std::atomic<bool> follows_members{false};

  /// Every server we are connected to.
  std::vector<std::shared_ptr<link>> links; // guarded by mutex

  // -- of the thread of the loop --
  std::function<void(event_batch)> on_events;
  std::function<void(io_delivery, output_receipt)> on_output;
  std::function<void()> on_server;
  std::shared_ptr<input_pusher> inputs;

  /// How often `self` has become another.
  std::atomic<uint64_t> identities{0};

  mutable std::mutex mutex;
  proc_id self;             // guarded by mutex
  proc_id server;           // guarded by mutex
  client_actor session;     // guarded by mutex
  std::shared_ptr<link> to; // guarded by mutex

private:
  virtual void run_loop();

  std::thread thread_;
  std::mutex drive_mutex_;
  std::condition_variable drive_changed_;
  bool is_driven_ = false; // guarded by drive_mutex_
  bool is_ending_ = false; // guarded by drive_mutex_
  std::thread::id ender_;  // guarded by drive_mutex_
  std::atomic<bool> has_begun_{false};
};

/// Remembers the connections of this process, so that a forked child can close
/// its copies.
void remember_for_fork(link* x) noexcept;
void forget_for_fork(link* x) noexcept;

} // namespace troupe::c_api
