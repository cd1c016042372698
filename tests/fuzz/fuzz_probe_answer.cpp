// What a node says to `troupe doctor` in the output of a remote shell, what the
// daemon's program is asked, and files of settings of MPI libraries: whatever it is,
// what is taken is within its bounds, survives, and findings fit on lines with their
// remedies. The first byte chooses what reads.

#include "tests/fuzz/fuzz.hpp"
#include "tools/diagnosis.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace troupe;
using wire::fuzz::require;

namespace {

void check_bounds(const node_facts& x) {
  require(x.addresses.size() <= defaults::probe_places
            && x.reached.size() <= defaults::probe_places
            && x.settings.size() <= defaults::probe_settings
            && x.interfaces.size() <= defaults::probe_interfaces,
          "lists are bounded");
}

void check_lines(const std::string& text) {
  require(std::all_of(text.begin(), text.end(),
                      [](char c) {
                        return c == '\n' || c == '\t'
                               || (static_cast<unsigned char>(c) >= ' '
                                   && c != 0x7f);
                      }),
          "what is shown cannot command a terminal");
}

void check_report(node_report x) {
  auto here = node_report{};
  here.outcome.facts.emplace();
  here.is_here = true;
  for (const auto wish : {diagnosis_wish{}, diagnosis_wish{true, true, true}}) {
    auto found = diagnose(x, &here, wish);
    require(found.size() <= 100, "findings are bounded");
    for (const auto& y : found)
      require(!y.text.empty() && !y.remedy.empty(),
              "a finding has a text and a remedy");
    const auto nodes = std::vector<diagnosed_node>{{x, std::move(found)}};
    check_lines(to_text(nodes));
    static_cast<void>(to_json(nodes).dump(
      2, ' ', false, nlohmann::json::error_handler_t::replace));
  }
}

void answer(std::string_view input) {
  auto report = node_report{};
  report.name = "n1";
  report.command = "ssh";
  report.outcome.facts = find_facts(input);
  report.outcome.is_garbled = !report.outcome.facts && has_facts(input);
  if (const auto& x = report.outcome.facts) {
    require(has_facts(input), "what was found is there");
    check_bounds(*x);
    const auto line = encode(*x);
    const auto again = find_facts("Welcome\n" + line);
    require(again && encode(*again) == line, "an answer survives");
  }
  check_report(std::move(report));
}

/// What a remote shell says before it ends.
void silence(std::string_view input) {
  auto report = node_report{};
  report.name = "n1";
  report.command = "ssh";
  report.outcome.status = wire::fuzz::take_byte(input) << 8;
  report.outcome.is_late = wire::fuzz::take_byte(input) % 2 != 0;
  report.outcome.errors = std::string{input};
  report.outcome.output = report.outcome.errors;
  check_report(std::move(report));
}

void request(std::string_view input) {
  const auto got = decode_probe_request(input);
  if (!got)
    return;
  require(got->names.size() <= defaults::probe_places
            && got->reach.size() <= defaults::probe_places,
          "lists are bounded");
  const auto line = encode(*got);
  const auto again = decode_probe_request(line);
  require(again && encode(*again) == line, "a request survives");
}

void file(std::string_view input) {
  for (const auto& x : read_mca_file(input, "OMPI_MCA_", "file")) {
    require(x.name.size() > 9, "a setting has a name");
    require(x.value.find('\n') == std::string::npos, "a value is on a line");
  }
}

} // namespace

TROUPE_FUZZ(input) {
  switch (wire::fuzz::take_byte(input) % 4) {
    case 0:
      return answer(input);
    case 1:
      return silence(input);
    case 2:
      return request(input);
    default:
      return file(input);
  }
}
