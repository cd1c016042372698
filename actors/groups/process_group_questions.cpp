#include "actors/groups/process_group.hpp"

namespace troupe {

void process_group::take(const group_verdicts&, effects&) {
  // nop
}

void process_group::question_time_up(uint64_t, effects&) {
  // nop
}

void process_group::stop_asking(const proc_id&, effects&) {
  // nop
}

void process_group::ask(topic, const proc_id&, status, const proc_id&,
                        std::vector<proc_id>, std::vector<info>, effects&) {
  // nop
}

} // namespace troupe
