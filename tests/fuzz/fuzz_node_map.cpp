// Node and process maps. Names may stand for more than their text, up to the
// bounds of a map.

#include "adapters/wire/node_map.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace troupe::wire;
using namespace troupe::wire::fuzz;

TROUPE_FUZZ(input) {
  constexpr map_form forms[] = {map_form::ranges, map_form::raw,
                                map_form::blob};
  // Large maps are slow to fuzz and no different.
  constexpr size_t few = 1000;
  if (const auto nodes = parse_node_map(input)) {
    require(nodes->size() <= max_map_entries, "a map has a bounded size");
    for (auto form : forms) {
      if (nodes->size() > few)
        break;
      if (const auto text = format_node_map(*nodes, form)) {
        const auto again = parse_node_map(*text);
        require(again && *again == *nodes, "a node map survives");
      }
    }
  }
  if (const auto ranks = parse_proc_map(input)) {
    auto total = size_t{0};
    for (const auto& node : *ranks)
      total += node.size() + 1;
    require(total <= 2 * max_map_entries, "a map has a bounded size");
    // A last node without ranks leaves no trace in the text.
    if (total > few || ranks->empty() || ranks->back().empty())
      return;
    for (auto form : forms) {
      const auto again = parse_proc_map(format_proc_map(*ranks, form));
      require(again && *again == *ranks, "a process map survives");
    }
  }
}
