// What the short options say beside --output.

#include "messages/status.hpp"
#include "tests/test.hpp"
#include "tools/output_options.hpp"

using namespace troupe;

CAF_TEST(I16 other options say nothing else than the list) {
  const auto add = [](const std::string& list, bool label, bool timestamp,
                      bool json) {
    auto x = read_output_options({list}, "/here");
    CAF_REQUIRE(x);
    const auto why = add_flags(label, timestamp, json, *x);
    return why ? reason_of(why) : std::string{};
  };
  CAF_CHECK_EQUAL(add("tag", true, true, false), "");
  CAF_CHECK_EQUAL(add("timestamp", true, false, true), "");
  CAF_CHECK_EQUAL(add("raw", false, false, false), "");
  CAF_CHECK_EQUAL(add("tag:raw", true, false, false), "");
  CAF_CHECK(!add("raw", true, false, false).empty());
  CAF_CHECK(!add("raw", false, true, false).empty());
  for (const auto* word : {"tag", "rank", "xml", "raw", "label"})
    CAF_CHECK(!add(word, false, false, true).empty());
}

CAF_TEST(I16 what the options say is added to the list) {
  auto x = output_options{};
  x.format.tag = true;
  CAF_REQUIRE(!add_flags(true, true, false, x));
  CAF_CHECK(x.format.tag && x.format.label && x.format.timestamp);
  CAF_CHECK(x.format.iso_time && !x.format.json);
}
