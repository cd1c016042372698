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
  : where_(std::move(where)) {
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

bool node_fence::enter(const std::shared_ptr<store_access>& where) {
  const auto guard = std::lock_guard{mutex_};
  if (is_stopped_ || meeting_ || unanswered_ > 0)
    return false;
  meeting_ = where;
  return true;
}

bool node_fence::meet(fence_request& x) {
  const auto at = is_plain(x) ? where_->access() : nullptr;
  if (!at || !enter(at)) {
    begin(x);
    return false;
  }
  const auto met = at->meet(flag(x.directives, attr::collect_data));
  const auto is_complete = met.what == collective_cell::outcome::complete;
  auto delayed = std::vector<std::function<void()>>{};
  {
    const auto guard = std::lock_guard{mutex_};
    meeting_ = nullptr;
    // No other thread may enter the round that this one asks about.
    if (!is_complete)
      ++unanswered_;
    delayed.swap(delayed_);
  }
  changed_.notify_all();
  for (const auto& ask : delayed)
    ask();
  if (met.round && !is_complete)
    x.directives.push_back(make_info(fence_round, value::uint32(*met.round)));
  return is_complete;
}

void node_fence::break_up() {
  if (meeting_)
    meeting_->break_up();
}

void node_fence::begin(const fence_request& x) {
  const auto must_wait = may_be_of_job(x);
  auto lock = std::unique_lock{mutex_};
  ++unanswered_;
  if (!must_wait)
    return;
  break_up();
  changed_.wait(lock, [this] { return !meeting_; });
}

bool node_fence::delay(const fence_request& x, std::function<void()> ask) {
  const auto must_wait = may_be_of_job(x);
  const auto guard = std::lock_guard{mutex_};
  const auto is_delayed = must_wait && meeting_ != nullptr;
  if (is_delayed) {
    delayed_.push_back(std::move(ask));
    break_up();
  }
  ++unanswered_;
  return is_delayed;
}

void node_fence::end() {
  const auto guard = std::lock_guard{mutex_};
  --unanswered_;
}

void node_fence::stop() {
  const auto guard = std::lock_guard{mutex_};
  is_stopped_ = true;
  break_up();
}

void node_fence::start() {
  const auto guard = std::lock_guard{mutex_};
  is_stopped_ = false;
}

} // namespace troupe::c_api
