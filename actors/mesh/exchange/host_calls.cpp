#include "actors/mesh/exchange/host_calls.hpp"

#include <algorithm>

namespace troupe {

host_calls::host_calls(mesh_calls::member self, mesh_calls::effects out,
                       job_locations& places, call_later later)
  : now_(out.now), call_later_(std::move(later)), places_(places),
    calls_(self, std::move(out)) {
  // nop
}

void host_calls::ask(uint32_t node, host_question what,
                     mesh_calls::completion then, std::optional<time> limit) {
  calls_.call(node, std::move(what), std::move(then), limit);
  arm();
}

void host_calls::tell(uint32_t node, host_question what) {
  calls_.tell(node, std::move(what));
  arm();
}

void host_calls::locate(const std::string& nspace,
                        std::function<void(const caf::error&)> then) {
  auto& waiting = locating_[nspace];
  waiting.push_back(std::move(then));
  if (waiting.size() > 1)
    return;
  ask_for<job_map>(root, locate_job{nspace},
                   [this, nspace](caf::expected<job_map> map) {
                     if (map)
                       places_.add(*map);
                     auto node = locating_.extract(nspace);
                     if (node.empty())
                       return;
                     const auto why = map ? caf::error{} : map.error();
                     for (const auto& then : node.mapped())
                       then(why);
                   });
}

void host_calls::take(member_message what) {
  calls_.take(std::move(what));
  arm();
}

void host_calls::change_member(const member_changed& what) {
  calls_.member_changed(what);
  arm();
}

void host_calls::arm() {
  const auto due = calls_.next_due();
  if (!due || (next_tick_ && *next_tick_ <= *due))
    return;
  next_tick_ = due;
  call_later_(std::max(*due - now_(), time{0}), [this, due] {
    if (next_tick_ == due)
      next_tick_.reset();
    calls_.tick();
    arm();
  });
}

} // namespace troupe
