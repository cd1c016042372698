#include "actors/control/control_targets.hpp"

#include "actors/control/defaults.hpp"
#include "base/may_act_for.hpp"

#include <map>
#include <set>
#include <utility>

namespace troupe {

namespace {

/// Names in an error: so many, then only how many more.
constexpr size_t names_shown = 8;

/// Gathers targets; all mistakes are found before anything is decided.
class collector {
public:
  collector(const requester& who, uint32_t node, const control_lookup& lookup)
    : who_(who), node_(node), lookup_(lookup) {
    // nop
  }

  void add(const proc_id& x) {
    const auto* job = find(x.nspace);
    if (job != nullptr) {
      add_of_job(x, *job);
      return;
    }
    if (lookup_.set) {
      if (const auto members = lookup_.set(x.nspace)) {
        add_of_set(x, *members);
        return;
      }
    }
    if (lookup_.has_ended && lookup_.has_ended(x.nspace))
      absent_.insert(x);
    else
      note(unknown_, x.rank == rank_wildcard ? "no job " + x.nspace
                                             : "no process " + to_string(x));
  }

  caf::expected<control_targets> finish() {
    if (!error_.empty())
      return make_error(status::bad_param, error_);
    if (!unknown_.first.empty())
      return make_error(status::not_found, text_of(unknown_));
    if (!foreign_.first.empty())
      return make_error(status::no_permissions, text_of(foreign_));
    auto result = control_targets{};
    auto count = size_t{0};
    for (auto& [where, ranks] : shares_) {
      count += ranks.size();
      result.shares.push_back(
        {where.first, where.second, {ranks.begin(), ranks.end()}});
    }
    if (count > defaults::control_targets)
      return make_error(status::out_of_resource,
                        "more than " + std::to_string(defaults::control_targets)
                          + " targets in one request; name whole jobs");
    result.absent.assign(absent_.begin(), absent_.end());
    result.whole.assign(whole_.begin(), whole_.end());
    return result;
  }

private:
  using names = std::pair<std::string, size_t>;

  const controlled_job* find(const std::string& nspace) {
    auto i = jobs_.find(nspace);
    if (i == jobs_.end())
      i = jobs_.emplace(nspace, lookup_.job(nspace)).first;
    return i->second ? &*i->second : nullptr;
  }

  /// Source: PMIx Standard v5, `PMIx_Job_control`: processes of the requester's
  /// own user; and the administrator's word counts, too.
  bool may_control(const std::string& nspace, const controlled_job& job) {
    if (may_act_for(who_, job.owner.uid))
      return true;
    if (named_foreign_.insert(nspace).second)
      note(foreign_, "job " + nspace + " is another user's: "
                       + std::to_string(job.owner.uid) + " owns it, "
                       + std::to_string(who_.creds.uid) + " asks");
    return false;
  }

  void add_of_job(const proc_id& x, const controlled_job& job) {
    if (!may_control(x.nspace, job))
      return;
    const auto size = static_cast<uint32_t>(job.procs.size());
    if (x.rank == rank_wildcard || x.rank == rank_local_node) {
      if (x.rank == rank_wildcard)
        whole_.insert(x.nspace);
      for (uint32_t rank = 0; rank < size; ++rank)
        if (job.procs[rank].is_running
            && (x.rank == rank_wildcard || job.procs[rank].node == node_))
          shares_[{x.nspace, job.procs[rank].node}].insert(rank);
      return;
    }
    if (x.rank > rank_valid_max) {
      error_ = "rank " + std::to_string(x.rank) + " of " + x.nspace
               + " names nobody that can be controlled";
      return;
    }
    if (x.rank >= size)
      note(unknown_, "no process " + to_string(x));
    else if (job.procs[x.rank].is_running)
      shares_[{x.nspace, job.procs[x.rank].node}].insert(x.rank);
    else
      absent_.insert(x);
  }

  void add_of_set(const proc_id& x, const std::vector<proc_id>& members) {
    if (x.rank != rank_wildcard && x.rank != rank_undef) {
      error_ = "of the process set " + x.nspace
               + " all members are meant: use PMIX_RANK_WILDCARD";
      return;
    }
    for (const auto& member : members) {
      if (const auto* job = find(member.nspace))
        add_of_job(member, *job);
      else
        absent_.insert(member);
    }
  }

  static void note(names& to, const std::string& what) {
    if (++to.second <= names_shown)
      to.first += (to.first.empty() ? "" : ", ") + what;
  }

  static std::string text_of(const names& x) {
    if (x.second <= names_shown)
      return x.first;
    return x.first + " and " + std::to_string(x.second - names_shown) + " more";
  }

  const requester& who_;
  uint32_t node_;
  const control_lookup& lookup_;
  std::map<std::string, std::optional<controlled_job>> jobs_;
  std::map<std::pair<std::string, uint32_t>, std::set<uint32_t>> shares_;
  std::set<proc_id> absent_;
  std::set<std::string> whole_;
  std::set<std::string> named_foreign_;
  names unknown_;
  names foreign_;
  std::string error_;
};

} // namespace

size_t control_targets::size() const {
  auto result = size_t{0};
  for (const auto& x : shares)
    result += x.ranks.size();
  return result;
}

std::vector<proc_id> control_targets::procs() const {
  auto result = std::vector<proc_id>{};
  result.reserve(size());
  for (const auto& x : shares)
    for (const auto rank : x.ranks)
      result.push_back({x.nspace, rank});
  return result;
}

bool control_targets::has_whole(const std::string& nspace) const {
  for (const auto& x : whole)
    if (x == nspace)
      return true;
  return false;
}

caf::expected<control_targets>
resolve_targets(const requester& who, uint32_t node,
                const std::vector<proc_id>& named,
                const control_lookup& lookup) {
  if (named.size() > defaults::control_targets)
    return make_error(status::out_of_resource,
                      "more than " + std::to_string(defaults::control_targets)
                        + " targets in one request; name whole jobs");
  auto found = collector{who, node, lookup};
  if (named.empty()) {
    if (!lookup.job(who.proc.nspace))
      return make_error(status::bad_param, to_string(who.proc)
                                             + " belongs to no job here: name "
                                               "the processes to control");
    found.add({who.proc.nspace, rank_wildcard});
  }
  for (const auto& x : named)
    found.add(x);
  return found.finish();
}

} // namespace troupe
