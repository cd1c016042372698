// The catalogue of what may go wrong.

#include "tools/error_catalogue.hpp"

#include "messages/status.hpp"
#include "tests/test.hpp"

#include <nlohmann/json.hpp>

using namespace troupe;

namespace {

bool says(const std::optional<std::string>& text, const char* what) {
  return text && text->find(what) != std::string::npos;
}

} // namespace

CAF_TEST(MAN-6 each entry says why) {
  for (const auto& x : exit_statuses()) {
    CAF_CHECK(!x.number.empty());
    CAF_CHECK(!x.commands.empty());
    CAF_CHECK(!x.meaning.empty());
  }
  for (const auto& x : error_texts()) {
    CAF_CHECK(x.text.size() > 8);
    CAF_CHECK(!x.why.empty());
  }
  for (const auto& x : status_codes()) {
    CAF_CHECK(status_named(x.name).has_value());
    CAF_CHECK(!x.why.empty());
    CAF_CHECK(!x.remedy.empty());
  }
}

CAF_TEST(MAN-6 lines are no longer than a terminal) {
  const auto text = catalogue_text();
  for (size_t begin = 0; begin < text.size();) {
    const auto end = text.find('\n', begin);
    CAF_REQUIRE(end != std::string::npos);
    CAF_CHECK(end - begin < 80);
    begin = end + 1;
  }
}

CAF_TEST(MAN-6 an exit status is found by number and range) {
  CAF_CHECK(says(about_error("127"), "is not there on a node"));
  CAF_CHECK(says(about_error("139"), "129-192"));
  CAF_CHECK(!says(about_error("139"), "127"));
  CAF_CHECK(says(about_error("3"), "3 (up, run, trouped)"));
  CAF_CHECK(says(about_error("3"), "3 (log)"));
}

CAF_TEST(MAN-6 a code is found by name and number) {
  CAF_CHECK(says(about_error("PMIX_ERR_TIMEOUT"), "(-24)"));
  CAF_CHECK(says(about_error("err_timeout"), "PMIX_ERR_TIMEOUT"));
  CAF_CHECK(says(about_error("-24"), "PMIX_ERR_TIMEOUT"));
}

CAF_TEST(MAN-6 a message is found by a part of it and as a whole) {
  CAF_CHECK(says(about_error("do not fit"), "--oversubscribe"));
  CAF_CHECK(
    says(about_error("troupe: 7 processes do not fit into 6 slots of n1"),
         "--oversubscribe"));
  CAF_CHECK(!about_error("no such words anywhere"));
  CAF_CHECK(!about_error(""));
  CAF_CHECK(!about_error("99999999999999"));
}

CAF_TEST(MAN-6 programs get the same) {
  const auto all = catalogue_json();
  CAF_CHECK_EQUAL(all["exit_statuses"].size(), exit_statuses().size());
  CAF_CHECK_EQUAL(all["texts"].size(), error_texts().size());
  CAF_CHECK_EQUAL(all["codes"].size(), status_codes().size());
}
