// Files of settings: what is read, and what is said of what is wrong.

#include "adapters/settings/settings_text.hpp"

#include "tests/test.hpp"

#include <algorithm>

using namespace troupe;

namespace {

/// The only fault of a text; empty if it has none, or several.
std::string fault_of(std::string_view text) {
  site_settings x;
  const auto faults = read_settings(text, "f.toml", x);
  for (const auto& line : faults)
    CAF_MESSAGE(line);
  return faults.size() == 1 ? faults.front() : std::string{};
}

bool begins(const std::string& text, std::string_view with) {
  return text.compare(0, with.size(), with) == 0;
}

} // namespace

CAF_TEST(sections and all kinds of values are read with their lines) {
  site_settings x;
  const auto faults = read_settings("# a site\n"
                                    "[events]\n"
                                    "history = true\n"
                                    "memory = 8388608\n"
                                    "disk = \"1G\"\n"
                                    "stall = \"250ms\"\n"
                                    "\n"
                                    "[tools]\n"
                                    "per_user = 3\n",
                                    "f.toml", x);
  CAF_CHECK(faults.empty());
  CAF_CHECK_EQUAL(x.get(setting_id::events_history), 1u);
  CAF_CHECK_EQUAL(x.get(setting_id::events_memory), 8388608u);
  CAF_CHECK_EQUAL(x.get(setting_id::events_disk), uint64_t{1} << 30);
  CAF_CHECK_EQUAL(x.get(setting_id::events_stall), 250u);
  CAF_CHECK_EQUAL(x.origin_of(setting_id::events_stall), "f.toml:6");
  CAF_CHECK_EQUAL(x.get(setting_id::tools_per_user), 3u);
  CAF_CHECK_EQUAL(x.origin_of(setting_id::tools_per_user), "f.toml:9");
  CAF_CHECK(!x.has(setting_id::posted_bytes));
}

CAF_TEST(a file may be empty and its keys may be dotted) {
  site_settings x;
  CAF_CHECK(read_settings("", "f.toml", x).empty());
  CAF_CHECK(read_settings("tools.per_user = 4", "f.toml", x).empty());
  CAF_CHECK_EQUAL(x.get(setting_id::tools_per_user), 4u);
}

CAF_TEST(each fault names file and line and what to write) {
  CAF_CHECK(begins(fault_of("[events]\n\nhistroy = true\n"),
                   "f.toml:3: there is no setting \"events.histroy\""));
  CAF_CHECK(begins(fault_of("\n[event]\nhistory = true\n"),
                   "f.toml:2: there is no section \"event\""));
  CAF_CHECK(begins(fault_of("events = 3\n"), "f.toml:1: events is a section"));
  CAF_CHECK(begins(fault_of("[[events]]\n"), "f.toml:1: events is a section"));
  CAF_CHECK(begins(fault_of("[tools]\nper_user = \"3\"\n"),
                   "f.toml:2: tools.per_user is a string"));
  CAF_CHECK(begins(fault_of("[tools]\nper_user = 3.5\n"),
                   "f.toml:2: tools.per_user is a fraction"));
  CAF_CHECK(begins(fault_of("[tools]\nper_user = true\n"),
                   "f.toml:2: tools.per_user is true or false"));
  CAF_CHECK(begins(fault_of("[tools]\nper_user = [1]\n"),
                   "f.toml:2: tools.per_user is an array"));
  CAF_CHECK(begins(fault_of("[tools]\nper_user = 2020-01-01\n"),
                   "f.toml:2: tools.per_user is a date"));
  CAF_CHECK(begins(fault_of("[events]\nstall = 30\n"),
                   "f.toml:2: events.stall is a whole number"));
  CAF_CHECK(begins(fault_of("[events]\nhistory = 1\n"),
                   "f.toml:2: events.history is a whole number"));
  const auto outside = fault_of("[tools]\nper_user = 5000\n");
  CAF_CHECK(begins(outside, "f.toml:2: tools.per_user is 5000, out of"));
  CAF_CHECK(outside.find("write 1 to 4096") != std::string::npos);
  CAF_CHECK(begins(fault_of("[tools]\nper_user = -1\n"),
                   "f.toml:2: tools.per_user is \"-1\""));
  CAF_CHECK(begins(fault_of("[events]\nmemory = \"4 MB\"\n"),
                   "f.toml:2: events.memory is \"4 MB\""));
}

CAF_TEST(a text that is no TOML is told with its line) {
  for (const auto* text :
       {"[events\n", "[events]\nhistory\n", "\xff\xfe", "a = \"unfinished",
        "x = 99999999999999999999", "[%a]\n",
        "tools.per_user = 1\ntools.per_user = 2\n"}) {
    CAF_MESSAGE(text);
    const auto line = fault_of(text);
    CAF_CHECK(begins(line, "f.toml:"));
    CAF_CHECK(std::all_of(line.begin(), line.end(), [](char x) {
      return static_cast<unsigned char>(x) >= ' ';
    }));
  }
  // Deep, and long.
  CAF_CHECK(begins(fault_of("x = " + std::string(100'000, '[')), "f.toml:"));
  CAF_CHECK(
    begins(fault_of(std::string(defaults::settings_file_bytes + 1, '\n')),
           "f.toml: "));
}

CAF_TEST(bytes that no such file has are told before the parser sees them) {
  CAF_CHECK_EQUAL(fault_of(std::string_view{"# a\n[\0EVENT)= \n", 14}),
                  "f.toml:2: has a character that no setting has (\\x00); "
                  "write settings in TOML, see docs/settings.md");
  CAF_CHECK(begins(fault_of("\x7f"), "f.toml:1: has a character"));
  CAF_CHECK(begins(fault_of("\xc6\x98"), "f.toml:1: has a character"));
  CAF_CHECK_EQUAL(fault_of("# f\xc3\xbcr a\tb\r\n"), "");
}

CAF_TEST(what is right beside a fault is taken and all faults are told) {
  site_settings x;
  auto text = std::string{"[tools]\nper_user = 3\n[events]\n"};
  for (auto i = 0; i < 100; ++i)
    text += "unknown_" + std::to_string(i) + " = 1\n";
  CAF_CHECK_EQUAL(read_settings(text, "f.toml", x).size(),
                  defaults::settings_faults);
  CAF_CHECK_EQUAL(x.get(setting_id::tools_per_user), 3u);
}
