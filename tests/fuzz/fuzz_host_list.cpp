// Lists of nodes from options, files and resource managers: bounded, each node
// once, and errors that fit on a line. The first byte chooses what reads.

#include "messages/status.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tools/defaults.hpp"
#include "tools/host_list.hpp"

#include <algorithm>
#include <set>

using namespace troupe;
using wire::fuzz::require;

namespace {

void check_error(const caf::error& err) {
  const auto text = reason_of(err);
  require(!text.empty() && text.size() < 512, "an error is one short line");
  require(
    std::all_of(text.begin(), text.end(),
                [](char c) { return static_cast<unsigned char>(c) >= ' '; }),
    "an error has no control characters");
}

void check_name(const std::string& name) {
  require(!name.empty() && name.size() <= 255 && name.front() != '-'
            && name.find_first_of(" ,;[]@'\"$`\n") == std::string::npos,
          "a name is harmless");
}

void check(const host_list& hosts) {
  require(!hosts.empty() && hosts.size() <= defaults::host_list_names,
          "a list is bounded");
  auto seen = std::set<std::string>{};
  // Large lists are slow to fuzz and no different.
  auto again = std::string{};
  for (size_t i = 0; i < std::min(hosts.size(), size_t{1000}); ++i) {
    check_name(hosts[i].name);
    require(seen.insert(hosts[i].name).second, "a node is listed once");
    require(hosts[i].max_slots == 0 || hosts[i].slots <= hosts[i].max_slots,
            "slots have a bound");
    again += hosts[i].name;
    again += hosts[i].slots > 0 ? " slots=" + std::to_string(hosts[i].slots)
                                : std::string{};
    again += hosts[i].max_slots > 0
               ? " max_slots=" + std::to_string(hosts[i].max_slots)
               : std::string{};
    again += '\n';
  }
  const auto parsed = parse_hostfile(again, "again");
  require(parsed && std::equal(parsed->begin(), parsed->end(), hosts.begin()),
          "a list survives as a hostfile");
}

template <class T, class F>
void check(const caf::expected<T>& x, F f) {
  if (x)
    f(*x);
  else
    check_error(x.error());
}

} // namespace

TROUPE_FUZZ(input) {
  const auto kind = wire::fuzz::take_byte(input) % 5;
  const auto list = [](const host_list& x) { check(x); };
  if (kind == 0) {
    check(parse_host_option(input), list);
  } else if (kind == 1) {
    check(parse_hostfile(input, "file"), list);
  } else if (kind == 2) {
    check(parse_bootstrap(input, "file"), [](const bootstrap_settings& x) {
      require(!x.nodes.empty() && x.nodes.front() == x.controller,
              "the controller comes first");
    });
  } else {
    const auto line = input.find('\n');
    const auto variables =
      kind == 3 ? environment{{"SLURM_JOB_NODELIST",
                               std::string{input.substr(0, line)}},
                              {"SLURM_TASKS_PER_NODE",
                               std::string{input.substr(
                                 std::min(line, input.size() - 1) + 1)}}}
                : environment{{"PBS_NODEFILE", "file"}};
    check(find_allocation(variables,
                          [&](const std::string&) {
                            return caf::expected<std::string>{
                              std::string{input}};
                          }),
          [](const std::optional<allocation>& x) {
            require(x.has_value(), "an allocation is found");
            check(x->hosts);
          });
  }
}
