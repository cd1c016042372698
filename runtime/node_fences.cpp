#include "runtime/node_fences.hpp"

#include "messages/actors.hpp"
#include "messages/status.hpp"

#include <caf/deep_to_string.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace troupe {

namespace {

constexpr auto most_fences = size_t{65536};

/// All nodes count the operations of the same participants alike.
std::string key_of(const host_collective& call) {
  return std::to_string(static_cast<unsigned>(call.kind)) + "/"
         + std::to_string(call.generation) + "/"
         + caf::deep_to_string(call.procs);
}

} // namespace

void node_fences::add(const placed_job& job) {
  remove(job.nspace, "another job of its name has started");
  jobs_[job.nspace] = job.nodes;
}

std::set<uint32_t>
node_fences::nodes_of(const std::vector<proc_id>& procs) const {
  auto result = std::set<uint32_t>{};
  for (const auto& x : procs) {
    const auto job = jobs_.find(x.nspace);
    if (job == jobs_.end())
      return {};
    const auto& nodes = job->second;
    if (x.rank == rank_wildcard)
      result.insert(nodes.begin(), nodes.end());
    else if (x.rank < nodes.size())
      result.insert(nodes[x.rank]);
    else
      return {};
  }
  return result;
}

void node_fences::join(uint32_t node, host_collective& call, promise answer) {
  if (call.failure != status::success) {
    answer.deliver(make_error(
      status::not_supported,
      "join() takes calls without a failure; report the end instead"));
    return;
  }
  const auto key = key_of(call);
  auto i = fences_.find(key);
  const auto is_new = i == fences_.end();
  if (is_new) {
    auto nodes = nodes_of(call.procs);
    if (nodes.empty()) {
      answer.deliver(make_error(
        status::not_found,
        "not all of " + std::to_string(call.procs.size())
          + " processes are of jobs that run; name processes of those"));
      return;
    }
    if (fences_.size() >= most_fences) {
      answer.deliver(
        make_error(status::out_of_resource,
                   std::to_string(most_fences)
                     + " fences wait for nodes already; try again"));
      return;
    }
    i = fences_.emplace(key, fence{call.procs, std::move(nodes), {}, {}}).first;
  }
  auto& x = i->second;
  if (x.missing.erase(node) == 0) {
    if (is_new)
      fences_.erase(i);
    answer.deliver(
      make_error(status::bad_param,
                 "node " + std::to_string(node)
                   + " has joined already, or has none of the processes; "
                     "let each join once"));
    return;
  }
  x.all.data.insert(x.all.data.end(),
                    std::make_move_iterator(call.data.begin()),
                    std::make_move_iterator(call.data.end()));
  x.owed.push_back(std::move(answer));
  if (!x.missing.empty())
    return;
  const auto done = std::move(x);
  fences_.erase(i);
  for (auto y : done.owed)
    y.deliver(done.all);
}

void node_fences::remove(const std::string& nspace, const std::string& reason) {
  jobs_.erase(nspace);
  for (auto i = fences_.begin(); i != fences_.end();) {
    const auto& procs = i->second.procs;
    const auto is_in =
      std::any_of(procs.begin(), procs.end(),
                  [&](const proc_id& x) { return x.nspace == nspace; });
    if (!is_in) {
      ++i;
      continue;
    }
    const auto failed = std::move(i->second);
    i = fences_.erase(i);
    for (auto x : failed.owed)
      x.deliver(make_error(status::lost_connection, reason));
  }
}

} // namespace troupe
