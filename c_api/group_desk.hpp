#pragma once

#include "actors/groups/invitations.hpp"
#include "adapters/loop/timer.hpp"
#include "c_api/library.hpp"
#include "messages/event.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace troupe::c_api {

/// What a process does about groups beside its calls: carries out what becomes
/// of its invitations, keeps the book of its groups, and tells the server what
/// handlers decided. Lives from the first init to the last finalize; for the
/// progress thread only.
class group_desk {
public:
  /// Gets what a call has come to, once.
  using on_outcome =
    std::function<void(pmix_status_t code, const std::vector<info>& infos)>;

  explicit group_desk(library& lib);

  ~group_desk();

  group_desk(const group_desk&) = delete;

  group_desk& operator=(const group_desk&) = delete;

  /// The desk; null before init and after finalize.
  static group_desk* current();

  /// As `invitations::invite`, and `done` is not called if it fails.
  status invite(const std::string& id, std::vector<proc_id> range,
                const std::vector<info>& directives, on_outcome done);

  /// As `invitations::join`, and `done` is not called if it fails.
  status join(const std::string& id, const proc_id* leader, bool accepts,
              const std::vector<info>& directives, on_outcome done);

  /// We are in a group: what becomes of its members matters.
  void follow_members();

  // -- events
  // ------------------------------------------------------------------

  /// Events have come; our handlers have not run yet.
  void observe(const event_batch& what);

  /// The handlers of an event have run.
  void decide(const event& what, handler_verdict verdict);

  /// The program raises an event.
  void raise(const notify_request& what);

  /// There is a new server: it does not know what we listen to.
  void meet_server();

  /// Leaves out the codes that we listen to ourselves.
  void keep(std::vector<status>& codes) const;

private:
  static invitations::time now();

  void listen(const std::vector<status>& codes);

  void observe(const event& what);

  void follow(const event& what);

  void carry_out(invitations::effects what);

  library& lib_;
  invitations invitations_;

  /// Absent until it is started first: most processes need none.
  std::optional<timer> timer_;
  uint64_t last_call_ = 0;
  std::map<uint64_t, on_outcome> calls_;

  /// What the server has been asked to send, whatever the program wants.
  std::set<status> codes_;
};

/// All ranks of those that stand for a whole namespace, as far as we know it.
std::vector<proc_id> spell_out(const library& lib,
                               const std::vector<proc_id>& xs);

} // namespace troupe::c_api
