#include "c_api/node_groups.hpp"

#include "actors/data/get_options.hpp"
#include "actors/data/job_memory.hpp"
#include "c_api/shared_posts.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <utility>

namespace troupe::c_api {

namespace {

/// There is one cell.
constexpr auto the_cell = uint32_t{0};

} // namespace

node_groups::node_groups(std::shared_ptr<shared_posts> where)
  : where_(std::move(where)),
    gate_([](store_access& x, uint32_t) { x.break_up_groups(); }) {
  // nop
}

bool node_groups::is_plain(const group_construct_request& x,
                           store_access& at) const {
  const auto is_known = [](const info& y) {
    return y.key == attr::group_assign_context_id;
  };
  if (x.procs.empty() || !where_->is_of_job(x.procs.front())
      || may_be_name_of_job(x.id)
      || !std::all_of(x.directives.begin(), x.directives.end(), is_known))
    return false;
  if (x.procs.size() == 1 && x.procs.front().rank == rank_wildcard)
    return true;
  // In the order of the job, which is that of the group.
  if (x.procs.size() != at.ranks())
    return false;
  for (uint32_t rank = 0; rank < at.ranks(); ++rank)
    if (x.procs[rank].rank != rank
        || x.procs[rank].nspace != x.procs.front().nspace)
      return false;
  return true;
}

std::optional<uint32_t>
node_groups::cell_of(const std::vector<proc_id>& procs) const {
  const auto at = where_->access();
  const auto may_be_of_job =
    !at || procs.size() >= at->ranks()
    || std::any_of(procs.begin(), procs.end(),
                   [](const proc_id& y) { return y.rank == rank_wildcard; });
  return may_be_of_job ? std::optional{the_cell} : std::nullopt;
}

node_groups::outcome node_groups::construct(const group_construct_request& x) {
  const auto at = where_->access();
  if (!at || !is_plain(x, *at) || !gate_.enter(at, the_cell)) {
    begin(x);
    return {};
  }
  const auto wants_number = flag(x.directives, attr::group_assign_context_id);
  const auto met =
    at->meet({group_call::kind::construct, x.id, wants_number}, std::nullopt);
  if (met.is_done) {
    const auto guard = std::lock_guard{mutex_};
    made_[x.id] = met.round;
  }
  gate_.leave(!met.is_done);
  if (!met.is_done)
    return {};
  auto result = outcome{true, {}, met.is_behind};
  for (uint32_t rank = 0; rank < at->ranks(); ++rank)
    result.result.members.push_back({x.procs.front().nspace, rank});
  if (wants_number)
    result.result.context_id = met.number;
  return result;
}

node_groups::outcome node_groups::destruct(const group_destruct_request& x) {
  const auto at = x.directives.empty() ? where_->access() : nullptr;
  auto made = std::optional<uint32_t>{};
  {
    const auto guard = std::lock_guard{mutex_};
    if (const auto i = made_.find(x.id); i != made_.end())
      made = i->second;
  }
  if (!at || !made || !gate_.enter(at, the_cell)) {
    begin_end(x.id);
    return {};
  }
  const auto met = at->meet({group_call::kind::destruct, x.id, false}, made);
  {
    const auto guard = std::lock_guard{mutex_};
    made_.erase(x.id);
  }
  gate_.leave(!met.is_done);
  return {met.is_done, {}, met.is_behind};
}

void node_groups::begin(const group_construct_request& x) {
  gate_.begin(cell_of(x.procs));
}

bool node_groups::delay(const group_construct_request& x,
                        std::function<void()> ask) {
  return gate_.delay(cell_of(x.procs), std::move(ask));
}

void node_groups::begin_end(const std::string& id) {
  {
    const auto guard = std::lock_guard{mutex_};
    made_.erase(id);
  }
  gate_.begin(std::nullopt);
}

void node_groups::end() {
  gate_.end();
}

void node_groups::stop() {
  gate_.stop();
  // Another server would know nothing of them.
  const auto guard = std::lock_guard{mutex_};
  made_.clear();
}

void node_groups::start() {
  gate_.start();
}

} // namespace troupe::c_api
