#pragma once

#include "actors/groups/group_directory.hpp"
#include "actors/groups/group_tracker.hpp"
#include "actors/server/gets.hpp"
#include "actors/server/group_meetings.hpp"
#include "actors/server/registry.hpp"
#include "actors/server/server.hpp"
#include "actors/server/sessions.hpp"
#include "base/pass_on.hpp"

#include <caf/timespan.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

/// The groups of a node: names, participants, and which GROUP TRACKER a call, an
/// event or an entry of a log is for. The fate of a group is its tracker's.
/// Source: PMIx Standard v5, "Process Groups"; RFC0033.
class groups {
public:
  using call_later = std::function<void(caf::timespan, std::function<void()>)>;

  /// @param self The SERVER, whose messages they carry on.
  groups(server_actor::pointer self, const server_options& options,
         const server_directory& directory, registry& known, gets& data,
         const sessions& connections, call_later later);

  // -- calls of processes --

  caf::result<group_construct_result>
  construct(const requester& who, group_construct_request& request);

  caf::result<ack> destruct(const requester& who,
                            group_destruct_request& request);

  caf::result<ack> leave(const requester& who, group_leave_request& request);

  /// A process has connected that shares memory: once all of a job do that are
  /// here, they make groups of them all there.
  /// @param is_first Whether it is the only one of its rank.
  void share(const proc_id& proc, bool is_first);

  /// There is a namespace of this name.
  void note_namespace(const std::string& nspace) {
    meetings_.note_namespace(nspace);
  }

  /// Takes an event of a group; `not_found` if it is about none.
  caf::result<ack> notify(const requester& who, notify_request& request);

  // -- logs of groups, and trackers --

  /// The next entry of the log of a group.
  caf::result<ack> take(group_entry_ordered& what);

  /// Notes the members of a group, and tells their sessions.
  void change(const group_changed& what);

  /// Lets the tracker of a group go, unless something is under way to it.
  void let_rest(group_rests& what);

  void close(const group_over& what);

  /// Keeps entries that members have for each other; of processes without
  /// entries, says what they have posted for others.
  group_data exchange(const group_data& what);

  /// Whether two processes are members of a group that the first one calls so.
  bool are_members(const proc_id& who, const std::string& id,
                   const proc_id& other);

  // -- processes, nodes and sessions --

  /// A local process takes part in nothing any more.
  void tell(const proc_ended& what);

  void tell(const host_node_lost& what);

  /// Tells a new session the groups of its process.
  void greet(const sessions::entry& session);

  /// A namespace is gone.
  void forget(const std::string& nspace) {
    meetings_.forget(nspace);
    directory_.forget(nspace);
  }

  /// A process is gone for good, though its namespace is there.
  void forget(const proc_id& proc) {
    directory_.forget(proc);
  }

  /// The group of this name that has `proc` among its members.
  std::optional<group_key> find_member(const proc_id& proc,
                                       const std::string& id);

  /// All groups, as their trackers describe them.
  caf::result<group_list> list();

  /// The tracker of a group; refused with `not_found`.
  caf::result<group_tracker_actor> tracker_of(const group_key& key);

  /// What processes have done to groups without us is known.
  void catch_up() {
    meetings_.catch_up();
  }

  const group_directory& known() const {
    return directory_;
  }

private:
  using use = group_directory::use;
  using open_group = group_directory::open_group;

  /// Members of the groups that processes may name; null: none.
  using news_of_sessions =
    std::map<proc_id, std::shared_ptr<const std::vector<proc_id>>>;

  /// Makes the request again when a namespace is known.
  template <class Result, class Request>
  caf::result<Result> ask_again(const requester& who, const std::string& nspace,
                                Request& request);

  // -- checks --

  /// Why nobody may make a group of this name, if so. Source: RFC0033,
  /// Description, Critical Note; PMIx Standard v5, PMIX_MAX_NSLEN.
  caf::error id_refusal(const std::string& id) const;

  /// Why these processes cannot be a group, if so.
  caf::error procs_refusal(const std::string& id,
                           const std::vector<proc_id>& procs) const;

  /// Why a call may not begin or join a construction, if so.
  caf::error refusal(const requester& who,
                     const group_construct_request& request) const;

  /// Whether nobody is left who could lead the construction of a group: whoever
  /// lives names nobody, and all of them are here.
  bool is_leaderless(const open_group& group) const;

  /// The first namespace that a call names and that may be on other nodes only,
  /// those whom it adds included.
  std::optional<std::string>
  first_elsewhere(const group_construct_request& request) const;

  // -- conflicts --

  /// Has a tracker let its construction fail with this status, for this reason.
  void tell_fault(const proc_id& proc, open_group& group, status code,
                  std::string why);

  /// Has a tracker let its construction fail, or go on without a process.
  void tell_conflict(const proc_id& proc, open_group& group);

  /// A local participant that is in another group of the name.
  std::optional<proc_id> busy_participant(const group_key& key);

  void look_for_conflict(const group_key& key);

  // -- groups that are made without us --

  /// Has the processes of a job meet by themselves, once it is known which node
  /// this is.
  void let_meet(const std::string& nspace);

  void let_meet_again(const group_changed& what);

  /// Carries out what all processes of a job have done to a group.
  void carry_out(const std::string& nspace, const shared_group& what);

  void note_made(const std::string& nspace, const shared_group& what);

  void note_ended(const std::string& nspace, const std::string& id);

  /// Whether these are all processes of a job, which is on this node.
  bool are_whole_job(const std::vector<proc_id>& procs) const;

  // -- which group --

  /// The group in which a process takes part; null if there is none.
  open_group* joined(const proc_id& proc, const std::string& id);

  /// A construction that others may have added a process to.
  open_group* construction_of(const std::string& id);

  /// The group that an event is about; null if it is about none.
  open_group* group_of(const requester& who, const notify_request& request);

  /// A group to which others may have added a process later: an answer says
  /// which invitation it is about, or names the inviter.
  open_group* later_group_of(const std::optional<std::string>& id,
                             std::optional<uint64_t> invitation,
                             const std::vector<proc_id>& named);

  /// Whether a process takes part in a group of this name other than `but`.
  bool has_another(const proc_id& proc, const std::string& id,
                   const open_group* but);

  // -- trackers --

  /// The tracker of a group, for one message; makes one anew if the group rests.
  const group_tracker_actor& reach(open_group& group);

  // -- how a group begins --

  /// Makes the tracker of a group.
  /// @param nspace Whose process begins it.
  /// @param written The participants as they were named.
  open_group& open_tracker(const group_key& key, const std::string& nspace,
                           bool is_counted,
                           const std::vector<proc_id>& participants,
                           std::vector<proc_id> written,
                           std::vector<uint32_t> hosts);

  /// What the tracker of a group is told.
  group_tracker_options options_of(const group_key& key,
                                   const std::vector<proc_id>& participants,
                                   std::vector<proc_id> written) const;

  /// Keeps endpoints that clients from 6.0 on add to their call: what they have
  /// put since they last committed. Source: OpenPMIx 6.1, construct_msg.
  /// @returns why they are refused, if so.
  caf::error take_endpoints(const requester& who,
                            std::vector<info>& directives);

  /// An invitation makes a group of the invited and the inviter. So does the
  /// answer of a process that knows its leader otherwise.
  caf::expected<open_group*> begin_by_event(const requester& who,
                                            const std::string& id,
                                            const notify_request& request);

  /// A process accepts an invitation: it is in one group of a name at most, and
  /// whoever has invited it to another hears that it cannot come.
  caf::error begin_to_take_part(const proc_id& proc, open_group& group);

  /// Gives an answer to an invitation to its group. The tracker may be gone by
  /// then: whoever declines has its will, whoever accepts is too late.
  /// Source: requirements, G36.
  caf::result<ack> pass_answer(const requester& who, open_group& group,
                               notify_request request);

  /// Opens a group that has begun on another node, and gives its tracker what
  /// has come for it.
  caf::result<ack> enter(group_entry_ordered& what);

  /// Tells the sessions of processes whether they may name a group.
  void tell_sessions(const std::string& id, const news_of_sessions& news);

  server_actor::pointer self_;
  const server_options& options_;
  const server_directory& actors_;
  registry& known_;
  gets& data_;
  const sessions& sessions_;
  call_later call_later_;
  group_directory directory_;
  group_meetings meetings_;

  /// The rank of this node, for context identifiers; nothing: not known yet, and
  /// whether the host is being asked.
  std::optional<uint32_t> here_;
  bool is_host_asked_ = false;

  /// Jobs that wait for its answer to meet.
  std::set<std::string> asked_;

  /// Entries of groups whose participants are being made known.
  std::map<group_key,
           std::vector<std::pair<group_entry_ordered, completion<ack>>>>
    waiting_;
};

} // namespace troupe
