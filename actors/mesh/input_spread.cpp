#include "actors/mesh/input_spread.hpp"

#include "messages/status.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace troupe {

namespace {

/// Input on its way to several nodes.
struct input_round {
  io_input_taken result;
  bool has_offset = false;
  caf::error why;
  size_t left = 1;
  input_taken_callback done;

  void take(const io_input_taken& x) {
    result.readers += x.readers;
    result.closed.insert(result.closed.end(), x.closed.begin(), x.closed.end());
    if (x.readers == 0)
      return;
    result.offset = has_offset ? std::min(result.offset, x.offset) : x.offset;
    has_offset = true;
  }

  void refuse(const caf::error& x, const std::vector<proc_id>& procs) {
    // Who is lost, or has no share any more, reads nothing any more.
    if (status_of(x) != status::unreach && status_of(x) != status::not_found
        && !why)
      why = x;
    result.closed.insert(result.closed.end(), procs.begin(), procs.end());
  }

  void finish_one() {
    if (--left > 0)
      return;
    if (why && result.readers == 0)
      done(std::move(why));
    else
      done(std::move(result));
  }
};

/// The processes that are meant, by node. Ranks that the job does not have are
/// left out.
std::map<uint32_t, std::vector<proc_id>> targets_of(const job_locations& places,
                                                    const io_input& what) {
  auto procs = std::vector<proc_id>{};
  for (const auto rank : what.ranks)
    procs.push_back({what.nspace, rank});
  auto result = std::map<uint32_t, std::vector<proc_id>>{};
  for (const auto node : places.nodes_of(procs))
    result[node] = places.procs_on(node, procs);
  return result;
}

} // namespace

void spread_input(const job_locations& places, const io_input& what,
                  const input_sender& send, input_taken_callback done) {
  auto round = std::make_shared<input_round>();
  round->done = std::move(done);
  const auto is_for_all =
    std::find(what.ranks.begin(), what.ranks.end(), rank_wildcard)
    != what.ranks.end();
  for (auto& [node, procs] : targets_of(places, what)) {
    auto part = what;
    part.ranks.clear();
    if (is_for_all)
      part.ranks.push_back(rank_wildcard);
    else
      for (const auto& proc : procs)
        part.ranks.push_back(proc.rank);
    ++round->left;
    send(node, std::move(part),
         [round, procs = std::move(procs)](caf::expected<io_input_taken> x) {
           if (x)
             round->take(*x);
           else
             round->refuse(x.error(), procs);
           round->finish_one();
         });
  }
  round->finish_one();
}

} // namespace troupe
