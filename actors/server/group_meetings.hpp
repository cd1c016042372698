#pragma once

#include "actors/server/meeting_door.hpp"
#include "actors/server/registry.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace troupe {

/// In which jobs the processes make groups of them all by themselves, in the memory
/// that they share with us, and what they have done there since we looked last.
/// All that looks at groups catches up first. Who cannot or may not meet there asks
/// us, and then all of them do: no process does both at a time.
/// See docs/decisions/0013.
class group_meetings {
public:
  struct effects {
    /// All processes of a job have done this.
    std::function<void(const std::string& nspace, const shared_group&)>
      carry_out;

    /// Draws a context identifier.
    std::function<uint64_t()> next_number;

    /// How many groups a namespace may begin, beside those that it has.
    std::function<size_t(const std::string& nspace)> room;
  };

  group_meetings(registry& known, effects out);

  /// Lets the processes of a job meet, if all of them can. @pre none of them
  /// waits there any more
  void open(const std::string& nspace);

  /// Has those of a job ask us.
  void close(const std::string& nspace);

  /// The same for good.
  void bar(const std::string& nspace);

  /// The same, since one of them asks us.
  void interrupt(const std::string& nspace);

  /// One of a job asks us to end a group: it does not end there any more, and
  /// another one of its name may follow.
  void note_end(const std::string& nspace, const std::string& id);

  /// There is a namespace of this name: no group may have it.
  void note_namespace(const std::string& nspace);

  /// Whether they have been let meet once.
  bool is_known(const std::string& nspace) const {
    return meetings_.count(nspace) > 0;
  }

  /// Reads of what they have done since.
  void catch_up();

  /// A namespace is gone.
  void forget(const std::string& nspace);

private:
  struct meeting {
    meeting_door door{};

    /// Groups that have been made there since it was opened, and that may end
    /// there.
    std::set<std::string> made{};
  };

  /// Whether all processes of a job are here and share memory.
  static bool can_meet(const namespace_entry& entry);

  void take(const std::string& nspace, meeting& x, job_memory& memory);

  /// Carries out what they have done.
  /// @returns false, and nothing has been, if no library of ours would do that:
  ///          they have made a group that there is, or ended one that there is
  ///          not.
  bool carry_out(const std::string& nspace, meeting& x,
                 const std::vector<shared_group>& what);

  registry& known_;
  effects out_;
  std::map<std::string, meeting> meetings_; // by namespace
};

} // namespace troupe
