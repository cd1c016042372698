#include "actors/jobs/job_state.hpp"

#include <csignal>

// What is done to single processes of the share while it runs.

namespace troupe::job_internals {

namespace {

/// Whether it leaves processes standing still.
bool pauses(const control_procs& what) {
  return what.action == control_action::pause
         || (what.action == control_action::signal && what.signal == SIGSTOP);
}

/// Whether it has processes go on that stand still.
bool resumes(const control_procs& what) {
  switch (what.action) {
    case control_action::resume:
    case control_action::terminate:
    case control_action::kill:
      return true;
    default:
      return what.action == control_action::signal && what.signal == SIGCONT;
  }
}

/// Tells those who watch processes what they cannot expect of them.
void note_paused(self_pointer self, const std::vector<uint32_t>& ranks,
                 bool paused) {
  auto& state = self->state;
  auto what = procs_paused{{}, paused};
  for (const auto rank : ranks) {
    auto* x = state.find({state.nspace(), rank});
    if (x == nullptr || x->has_ended() || x->is_paused == paused)
      continue;
    x->is_paused = paused;
    what.procs.push_back(proc_of(state, *x));
  }
  if (!what.procs.empty())
    self->send(state.directory.server, std::move(what));
}

/// Who runs: known when those who have ended, or are about to, have been
/// reaped.
caf::result<procs_controlled> find_running(self_pointer self,
                                           control_procs order) {
  const auto promise = self->make_response_promise<procs_controlled>();
  auto owed = std::make_shared<answer<procs_controlled>>(promise);
  self->request(self->state.directory.launcher, caf::infinite, order)
    .then(
      [self, owed, order](const procs_controlled&) {
        when_ends_are_known(self, [self, owed, order] {
          auto result = procs_controlled{};
          for (const auto rank : order.ranks)
            if (const auto* x = self->state.find({order.nspace, rank});
                x != nullptr && x->is_running())
              result.ranks.push_back(rank);
          owed->give(std::move(result));
        });
      },
      [owed](caf::error& why) { owed->fail(std::move(why)); });
  return promise;
}

} // namespace

void note_resumed(self_pointer self, const std::vector<uint32_t>& ranks) {
  note_paused(self, ranks, false);
}

caf::result<procs_controlled> control(self_pointer self,
                                      const control_procs& what) {
  auto& state = self->state;
  const auto ends = what.action == control_action::terminate
                    || what.action == control_action::kill;
  auto order = what;
  order.ranks.clear();
  for (const auto rank : what.ranks)
    if (auto* x = state.find({what.nspace, rank});
        x != nullptr && x->is_running()) {
      x->told_to_end |= ends;
      order.ranks.push_back(rank);
    }
  if (order.ranks.empty())
    return procs_controlled{};
  if (what.action == control_action::signal && what.signal == 0)
    return find_running(self, std::move(order));
  // Excused before it stands still.
  if (pauses(what))
    note_paused(self, order.ranks, true);
  const auto promise = self->make_response_promise<procs_controlled>();
  auto owed = std::make_shared<answer<procs_controlled>>(promise);
  self->request(state.directory.launcher, caf::infinite, std::move(order))
    .then(
      [self, owed, what](procs_controlled& x) {
        if (resumes(what))
          note_paused(self, x.ranks, false);
        owed->give(std::move(x));
      },
      [owed](caf::error& why) { owed->fail(std::move(why)); });
  return promise;
}

} // namespace troupe::job_internals
