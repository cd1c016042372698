#include "c_api/node_fence.hpp"

#include "actors/data/get_options.hpp"
#include "actors/data/job_memory.hpp"
#include "base/make_info.hpp"
#include "c_api/shared_posts.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <utility>

namespace troupe::c_api {

node_fence::node_fence(std::shared_ptr<shared_posts> where)
  : where_(std::move(where)), gate_([](store_access& x) { x.break_up(); }) {
  // nop
}

bool node_fence::is_plain(const fence_request& x) const {
  // What they post for others of the node is in the memory already.
  const auto is_idle = [](const info& y) {
    return y.key == attr::collect_data;
  };
  return x.procs.size() == 1 && x.procs.front().rank == rank_wildcard
         && where_->is_of_job(x.procs.front())
         && std::all_of(x.directives.begin(), x.directives.end(), is_idle);
}

bool node_fence::may_be_of_job(const fence_request& x) const {
  const auto at = where_->access();
  return !at || x.procs.size() >= at->ranks()
         || std::any_of(x.procs.begin(), x.procs.end(), [](const proc_id& y) {
              return y.rank == rank_wildcard;
            });
}

bool node_fence::meet(fence_request& x) {
  const auto at = is_plain(x) ? where_->access() : nullptr;
  if (!at || !gate_.enter(at)) {
    begin(x);
    return false;
  }
  const auto met = at->meet(flag(x.directives, attr::collect_data));
  const auto is_complete = met.what == collective_cell::outcome::complete;
  gate_.leave(!is_complete);
  if (met.round && !is_complete)
    x.directives.push_back(make_info(fence_round, value::uint32(*met.round)));
  return is_complete;
}

void node_fence::begin(const fence_request& x) {
  gate_.begin(may_be_of_job(x));
}

bool node_fence::delay(const fence_request& x, std::function<void()> ask) {
  return gate_.delay(may_be_of_job(x), std::move(ask));
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
