#include "c_api/node_fence.hpp"

#include "actors/data/get_options.hpp"
#include "actors/data/job_memory.hpp"
#include "base/make_info.hpp"
#include "c_api/shared_posts.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace troupe::c_api {

node_fence::node_fence(std::shared_ptr<shared_posts> where)
  : where_(std::move(where)),
    gate_([](store_access& x, uint32_t cell) { x.break_up(cell); }) {
  // nop
}

std::optional<meeting_place>
node_fence::place_of(const fence_request& x, const store_access& at) const {
  if (x.procs.empty() || !where_->is_of_job(x.procs.front()))
    return std::nullopt;
  auto ranks = std::vector<uint32_t>{};
  if (x.procs.size() == 1 && x.procs.front().rank == rank_wildcard)
    return at.find_meeting(ranks);
  ranks.reserve(x.procs.size());
  for (const auto& proc : x.procs) {
    if (proc.nspace != x.procs.front().nspace)
      return std::nullopt;
    ranks.push_back(proc.rank);
  }
  return at.find_meeting(ranks);
}

std::optional<uint32_t> node_fence::cell_of(const fence_request& x) const {
  constexpr auto whole_job = uint32_t{0};
  const auto at = where_->access();
  const auto may_be_of_job =
    !at || x.procs.size() >= at->ranks()
    || std::any_of(x.procs.begin(), x.procs.end(),
                   [](const proc_id& y) { return y.rank == rank_wildcard; });
  if (may_be_of_job)
    return whole_job;
  const auto where = place_of(x, *at);
  return where ? std::optional{where->cell} : std::nullopt;
}

bool node_fence::meet(fence_request& x) {
  // What they post for others of the node is in the memory already.
  const auto is_idle = [](const info& y) {
    return y.key == attr::collect_data;
  };
  const auto is_plain =
    std::all_of(x.directives.begin(), x.directives.end(), is_idle);
  const auto at = is_plain ? where_->access() : nullptr;
  const auto where = at ? place_of(x, *at) : std::nullopt;
  if (!where || !gate_.enter(at, where->cell)) {
    begin(x);
    return false;
  }
  const auto met = at->meet(*where, flag(x.directives, attr::collect_data));
  const auto is_complete = met.what == collective_cell::outcome::complete;
  gate_.leave(!is_complete);
  if (met.round && !is_complete)
    x.directives.push_back(make_info(fence_round, value::uint32(*met.round)));
  return is_complete;
}

void node_fence::begin(const fence_request& x) {
  gate_.begin(cell_of(x));
}

bool node_fence::delay(const fence_request& x, std::function<void()> ask) {
  return gate_.delay(cell_of(x), std::move(ask));
}

void node_fence::end() {
  gate_.end();
}

void node_fence::stop() {
  gate_.stop();
}

void node_fence::start() {
  gate_.start();
}

} // namespace troupe::c_api
