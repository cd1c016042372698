#include "actors/jobs/shares.hpp"

#include "messages/status.hpp"

#include <csignal>
#include <iterator>
#include <utility>

namespace troupe {

namespace {

void call_all(std::vector<shares::action>& what) {
  for (const auto& then : std::exchange(what, {}))
    then();
}

} // namespace

shares::share* shares::find(const std::string& nspace) {
  const auto i = all_.find(nspace);
  return i != all_.end() ? &i->second : nullptr;
}

caf::expected<ack> shares::end(const end_share& how) {
  if (!contains(how.how.nspace))
    return make_error(status::not_found, "no share of " + how.how.nspace);
  out_.end(how);
  return ack{};
}

void shares::tell(const std::string& nspace) {
  auto* x = find(nspace);
  if (x == nullptr || x->is_telling)
    return;
  if (!x->progress.empty()) {
    x->is_telling = true;
    out_.tell_progress({nspace, std::exchange(x->progress, {})},
                       [this, nspace] {
                         if (auto* x = find(nspace)) {
                           x->is_telling = false;
                           tell(nspace);
                         }
                       });
    return;
  }
  call_all(x->once_told);
  if (x->has_ended) {
    x->is_telling = true;
    // Nothing follows. A root that is gone fences this node.
    out_.tell_end({nspace}, [this, nspace] {
      if (auto* x = find(nspace)) {
        x->is_telling = false;
        call_all(x->once_told);
      }
    });
  }
}

void shares::note_progress(share_progress what) {
  auto* x = find(what.nspace);
  if (x == nullptr)
    return;
  auto ended = std::vector<proc_ended>{};
  for (const auto& proc : what.procs)
    if (proc.state >= proc_state::terminated)
      ended.push_back({proc.proc, proc.state});
  if (!ended.empty())
    out_.procs_ended(ended);
  std::move(what.procs.begin(), what.procs.end(),
            std::back_inserter(x->progress));
  tell(what.nspace);
}

void shares::note_end(const std::string& nspace) {
  auto* x = find(nspace);
  if (x == nullptr)
    return;
  x->has_ended = true;
  if (is_fenced_)
    out_.discard(nspace);
  else
    tell(nspace);
}

void shares::when_root_knows(const std::string& nspace, action then) {
  auto* x = find(nspace);
  if (x == nullptr || (x->progress.empty() && !x->is_telling))
    then();
  else
    x->once_told.push_back(std::move(then));
}

void shares::fence(const std::string& reason) {
  is_fenced_ = true;
  if (fence_reason_.empty())
    fence_reason_ = reason.empty() ? "the root is gone" : reason;
  // The end of a share waits for its output.
  out_.cut_off();
  auto over = std::vector<std::string>{};
  for (const auto& [nspace, x] : all_) {
    auto what = end_share{};
    what.how = {nspace, reason, std::nullopt, SIGKILL};
    out_.end(what);
    if (x.has_ended)
      over.push_back(nspace);
  }
  for (const auto& nspace : over)
    out_.discard(nspace);
  leave_if_empty();
}

void shares::leave_if_empty() {
  if (!is_fenced_ || !all_.empty() || is_leaving_)
    return;
  is_leaving_ = true;
  out_.leave(fence_reason_);
}

size_t shares::untold() const {
  auto result = size_t{0};
  for (const auto& [nspace, x] : all_)
    result += x.progress.size();
  return result;
}

} // namespace troupe
