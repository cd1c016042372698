#pragma once

#include "actors/server/meeting_door.hpp"
#include "actors/server/memory_fences.hpp"
#include "actors/server/registry.hpp"
#include "messages/proc_id.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

namespace defaults {

/// How many fences the processes of a part make by messages before they get a cell:
/// parts that are used once cost nothing.
inline constexpr uint32_t fences_before_cell = 2;

/// Parts of a job that are remembered.
inline constexpr size_t parts_remembered = 64;

/// How often other parts have wanted a cell before one that nobody has used
/// meanwhile is taken back: parts that are more than there are cells, and are used
/// in turn, do not take them from each other.
inline constexpr uint32_t looks_at_idle_cell = 32;

} // namespace defaults

/// Which parts of jobs, all of whose processes are on this node, meet in fences by
/// themselves, in the memory that they share with us. Who cannot or may not meet
/// there asks us, and then all of that part do: no process does both at a time in
/// fences of one part, so that its n-th call is in the n-th of them for all.
/// See docs/decisions/0014.
class part_meetings {
public:
  explicit part_meetings(registry& known) : known_(known) {
    // nop
  }

  /// Whether processes of a list might meet at all; a quick look.
  bool may_meet(const std::vector<proc_id>& procs) const;

  /// All processes of a list have asked us for a fence: lets them meet if they can,
  /// and have asked before. @pre no fence of them is in flight
  void note(const std::vector<proc_id>& procs);

  /// One of them asks us for a fence, and so have all to.
  /// @param has_arrived Whether it has met others before.
  void interrupt(const std::vector<proc_id>& procs, bool has_arrived);

  /// Who left while others of a list met: the fence that these ask us for had begun
  /// before. Says it once.
  std::vector<proc_id> take_departed(const std::vector<proc_id>& procs);

  /// Has them ask us until they have asked twice: what they do next may concern us.
  void release(const std::vector<proc_id>& procs);

  /// A process has ended, or lost its connection.
  void leave(const proc_id& proc);

  /// Has all parts of a job ask us, for good.
  void bar(const std::string& nspace);

  /// A namespace is gone.
  void forget(const std::string& nspace);

  /// Parts that are remembered.
  size_t size() const;

  /// Fences that have gone on without us in the cells that parts have, roughly.
  uint64_t fences() const;

  /// Fences in these cells that wait for somebody.
  std::vector<memory_fence> waits() const;

private:
  /// Ascending, each once.
  using ranks = std::vector<uint32_t>;

  struct part {
    /// Fences by messages that all have joined.
    uint32_t seen = 0;

    /// When the last one was; counts up.
    uint64_t last = 0;

    std::optional<job_memory::cell_number> cell{};
    meeting_door door{};

    /// How often it was looked at without a new round, and its rounds then.
    uint32_t idle = 0;
    uint64_t looked_at = 0;

    std::vector<proc_id> departed{};
  };

  struct job {
    std::map<ranks, part> parts{};
    bool is_barred = false;
    uint64_t clock = 0;
  };

  /// @returns nothing for a list that is not a part of one job.
  static std::optional<ranks> ranks_of(const std::vector<proc_id>& procs);

  /// Whether all of them share memory with us.
  static bool can_meet(const namespace_entry& entry, const ranks& who);

  /// @returns null if it is not remembered.
  part* find(const std::vector<proc_id>& procs);

  /// The memory of a job; null if there is none.
  job_memory* memory_of(const std::string& nspace) const;

  /// Gets a part a cell, of one that is idle if none is free.
  static std::optional<job_memory::cell_number>
  get_cell(job& of, const ranks& who, job_memory& memory);

  static void drop_cell(part& x, job_memory* memory);

  /// Makes room for one that is to be remembered.
  static void make_room(job& in);

  registry& known_;
  std::map<std::string, job> jobs_; // by namespace
};

} // namespace troupe
