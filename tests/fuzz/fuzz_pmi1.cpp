// Commands of PMI-1 clients, whole and in pieces, and what they spawn.

#include "adapters/pmi1/command.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <algorithm>

using namespace troupe;
using namespace troupe::wire::fuzz;

TROUPE_FUZZ(input) {
  auto whole = pmi1::command_reader{};
  auto pieces = pmi1::command_reader{};
  auto spawn = pmi1::spawn_builder{};
  whole.push(input);
  auto rest = input;
  for (;;) {
    const auto x = whole.next();
    auto y = pieces.next();
    while (y && !*y && !rest.empty()) {
      pieces.push(rest.substr(0, 3));
      rest.remove_prefix(std::min<size_t>(3, rest.size()));
      y = pieces.next();
    }
    require(static_cast<bool>(x) == static_cast<bool>(y),
            "pieces make no difference");
    if (!x || !*x)
      return;
    require(*y && (*x)->name == (*y)->name && (*x)->args == (*y)->args,
            "pieces make the same commands");
    if (const auto request = spawn.add(**x); request && *request)
      for (const auto& program : (*request)->apps)
        require(program.max_procs > 0 && !program.argv.empty(),
                "a program is one");
  }
}
