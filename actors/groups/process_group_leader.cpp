#include "actors/groups/process_group.hpp"

namespace troupe {

void process_group::leader_ended(const proc_id&, effects&) {
  // nop
}

} // namespace troupe
