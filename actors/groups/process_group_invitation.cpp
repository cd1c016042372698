#include "actors/groups/process_group.hpp"

namespace troupe {

void process_group::take(const group_notice&, effects&) {
  // nop
}

void process_group::take(const group_data&, effects&) {
  // nop
}

void process_group::invitee_ended(participant&, effects&) {
  // nop
}

} // namespace troupe
