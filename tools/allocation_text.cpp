#include "tools/allocation_text.hpp"

#include "config/escape.hpp"

namespace troupe {

std::string allocation_text(const std::vector<dvm_node>& nodes) {
  auto result = "troupe: allocation of " + std::to_string(nodes.size())
                + (nodes.size() == 1 ? " node\n" : " nodes\n");
  for (const auto& x : nodes) {
    result += "troupe:   " + escape_control_characters(x.name) + ": ";
    if (!x.slots)
      result += "a slot for each core";
    else
      result += std::to_string(*x.slots) + (*x.slots == 1 ? " slot" : " slots");
    if (x.max_slots > 0)
      result += ", at most " + std::to_string(x.max_slots);
    result += "\n";
  }
  return result;
}

} // namespace troupe
