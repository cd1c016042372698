#pragma once

#include "messages/collective.hpp"
#include "messages/group_entry.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace troupe {

/// Participants of a collective operation on this node: those that have joined,
/// and those that are missing. Repeats are harmless.
/// Source: PMIx Standard v5, `PMIx_Fence`; guarantees COLL-3, COLL-5.
class joiners {
public:
  explicit joiners(std::set<proc_id> expected)
    : expected_(std::move(expected)) {
    // nop
  }

  /// Notes that all who are expected take part.
  void join_all() {
    joined_ = expected_;
  }

  /// Notes that `proc` takes part now. Who has gone and comes back joins the
  /// next operation.
  /// @returns whether it was missing.
  bool join(const proc_id& proc) {
    return is_missing(proc) && joined_.insert(proc).second;
  }

  /// Notes that `proc` will never join.
  /// @returns whether it was missing.
  bool drop(const proc_id& proc) {
    return is_missing(proc) && gone_.insert(proc).second;
  }

  /// Notes that `proc` begins anew: it is missing again.
  void renew(const proc_id& proc) {
    joined_.erase(proc);
    gone_.erase(proc);
  }

  /// Whether `proc` is expected and has neither joined nor gone.
  bool is_missing(const proc_id& proc) const {
    return expected_.count(proc) > 0 && joined_.count(proc) == 0
           && gone_.count(proc) == 0;
  }

  /// Whether nobody is missing.
  bool is_settled() const {
    return joined_.size() + gone_.size() == expected_.size();
  }

  const std::set<proc_id>& joined() const {
    return joined_;
  }

  const std::set<proc_id>& gone() const {
    return gone_;
  }

  /// Those that have neither joined nor gone.
  std::vector<proc_id> missing() const {
    auto result = std::vector<proc_id>{};
    for (const auto& proc : expected_)
      if (is_missing(proc))
        result.push_back(proc);
    return result;
  }

private:
  std::set<proc_id> expected_;
  std::set<proc_id> joined_;
  std::set<proc_id> gone_;
};

/// The collective operations in flight, and which of them a call belongs to.
///
/// Operations over the same set of processes may overlap: the n-th call of a
/// process belongs to the n-th operation that it has not joined, so that two
/// rounds never mix. The order in which a caller names the processes does not
/// matter, nor does naming one twice.
/// Source: PMIx Standard v5, `PMIx_Fence`; guarantees 5.5.
class collective_table {
public:
  /// One operation.
  struct operation {
    uint64_t id;
    collective_kind kind;

    /// As the first caller named them.
    std::vector<proc_id> procs;

    joiners members;

    /// Counts the operations of this kind and these participants, from 1; all
    /// nodes count alike. 0 if it is not counted.
    uint64_t generation = 0;

    /// The host has been asked to let it fail for all nodes alike, and to say
    /// if others do.
    bool is_given_up = false;
    bool is_watched = false;

    /// Whether it goes on without those who end or leave.
    /// Source: PMIX_GROUP_FT_COLLECTIVE.
    bool is_fault_tolerant = false;

    /// The group by whose name the participants are meant.
    std::optional<group_key> group{};

    /// Whether members have left the group meanwhile.
    bool is_reduced = false;

    /// Some participant can no longer join, or the time is up: everybody who
    /// joins late learns the failure as well.
    bool failed = false;
  };

  /// Finds the operation that a call of `caller` belongs to, or begins one.
  /// @param procs All participants; a wildcard stands for a whole namespace.
  /// @param expected Lists the participants that are on this node; asked only
  ///                 when an operation begins.
  /// @param is_counted Whether other nodes take part, likewise.
  /// @param group By whose name they are meant: another operation than one of
  ///              the same processes.
  /// @returns the operation, in which `caller` now counts as joined, and
  /// whether
  ///          it is new.
  std::pair<operation*, bool>
  join(collective_kind kind, const proc_id& caller,
       const std::vector<proc_id>& procs,
       const std::function<std::set<proc_id>()>& expected,
       const std::function<bool()>& is_counted = nullptr,
       const std::optional<group_key>& group = {});

  /// Begins a counted operation that all participants of this node have joined.
  /// @param here The participants of this node.
  /// @pre none of the same processes, meant by no group's name, is in flight
  operation& begin_joined(collective_kind kind,
                          const std::vector<proc_id>& procs,
                          std::set<proc_id> here);

  /// Stands for a group in the generations of its operations: in their upper
  /// half. The same on all nodes.
  static uint32_t salt_of(const group_key& group);

  operation* find(uint64_t id);

  /// Whether a fence over these processes is in flight, meant by no group's name.
  bool has_fence(const std::vector<proc_id>& procs) const;

  /// The operation over a group, begun before some of its members left, to
  /// which a call belongs that names the others only; `caller` now counts as
  /// joined.
  operation* join_reduced(const group_key& group, const proc_id& caller);

  /// Operations over a group that members have left in their midst.
  struct reduced {
    /// Those that go on without them, and may be complete now.
    std::vector<uint64_t> remaining;

    /// Those that cannot.
    std::vector<uint64_t> failing;
  };

  reduced reduce(const group_key& group, const std::vector<proc_id>& departed);

  /// A group is over: its operations are not counted any more.
  void forget(const group_key& group);

  /// Ends an operation.
  void retire(uint64_t id);

  /// Forgets how often processes of a namespace have had operations.
  void forget(const std::string& nspace);

  /// The sets of participants whose operations are counted.
  size_t counted() const {
    return counts_.size();
  }

  /// Notes that `proc` will join nothing any more.
  /// @returns the operations that missed it.
  std::vector<operation*> drop(const proc_id& proc);

  /// Notes that `proc` begins anew: those that wait for others on this node wait
  /// for it again.
  void renew(const proc_id& proc);

  /// The operations in flight.
  size_t size() const {
    return operations_.size();
  }

  /// Those that other nodes take part in and that miss participants of this
  /// one, without those that are about to fail.
  std::vector<uint64_t> incomplete() const;

  /// Operations in flight, oldest first; for diagnosis.
  std::vector<const operation*> list() const;

private:
  /// Kind and participants as text: equal for equal sets.
  using signature = std::string;

  static signature signature_of(collective_kind kind,
                                std::vector<proc_id> procs);

  operation& create(signature k, collective_kind kind,
                    const std::vector<proc_id>& procs, std::set<proc_id> here,
                    bool is_counted, const std::optional<group_key>& group);

  /// How the signatures of operations over a group end.
  static std::string ending_of(const group_key& group);

  std::map<uint64_t, operation> operations_;
  std::map<signature, std::vector<uint64_t>> open_;
  std::map<uint64_t, signature> signatures_;
  std::map<signature, uint64_t> counts_;
  uint64_t next_id_ = 1;
};

} // namespace troupe
