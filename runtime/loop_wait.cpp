#include "runtime/loop_wait.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/loop_system.hpp"
#include "messages/status.hpp"

#include <caf/scoped_actor.hpp>

#include <utility>

namespace troupe {

caf::error await_mail(caf::scoped_actor& me, loop_system& where,
                      std::chrono::nanoseconds absence) {
  using clock = std::chrono::high_resolution_clock; // As CAF has it.
  auto& loop = where.loop();
  const auto slice = absence / 10;
  auto turns = loop.turns();
  for (auto absent = std::chrono::nanoseconds{0}; absent < absence;) {
    const auto until = clock::now() + slice;
    if (me->await_data(std::chrono::time_point_cast<clock::duration>(until)))
      return caf::none;
    const auto before = std::exchange(turns, loop.turns());
    const auto is_there = turns % 2 == 1 || turns != before;
    absent = is_there ? std::chrono::nanoseconds{0} : absent + slice;
  }
  return make_error(status::timeout,
                    "nobody runs the loop that has to answer: call"
                    " loop_system::run on a thread of your own");
}

} // namespace troupe
