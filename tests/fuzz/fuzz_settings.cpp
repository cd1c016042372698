// Files of settings, words of the command line and variables: whatever the text,
// what is taken is within its bounds, and faults fit on a line. The first byte
// chooses what reads.

#include "adapters/settings/settings_text.hpp"
#include "messages/status.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <algorithm>

using namespace troupe;
using wire::fuzz::require;

namespace {

void check_line(const std::string& text) {
  require(!text.empty() && text.size() < 1024, "a fault is one short line");
  require(
    std::all_of(text.begin(), text.end(),
                [](char c) { return static_cast<unsigned char>(c) >= ' '; }),
    "a fault has no control characters");
}

void check_error(const caf::error& err) {
  if (err)
    check_line(reason_of(err));
}

} // namespace

TROUPE_FUZZ(input) {
  auto found = site_settings{};
  const auto kind = wire::fuzz::take_byte(input) % 4;
  if (kind == 0) {
    check_error(found.apply_word(input, "--set"));
  } else if (kind == 1) {
    const auto variable = "TROUPE_" + std::string{input};
    const char* const variables[] = {variable.c_str(), nullptr};
    check_error(found.apply_environment(variables));
  } else {
    const auto faults = read_settings(input, "file", found);
    require(faults.size() <= defaults::settings_faults, "faults are bounded");
    for (const auto& x : faults)
      check_line(x);
  }
  for (const auto& x : all_settings()) {
    require(x.allows(found.get(x.id)), "values are within their bounds");
    const auto again = parse_setting(x, text_of(x, found.get(x.id)));
    require(again && *again == found.get(x.id), "a value survives as text");
  }
}
