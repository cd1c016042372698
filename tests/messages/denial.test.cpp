// Errors that tell the requester more than a status.

#include "messages/denial.hpp"

#include "messages/attributes.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

const auto missing =
  std::vector<info>{{std::string{attr::event_affected_procs}, 0,
                     value::procs({{"job", 2}, {"job", 5}})}};

CAF_TEST(J4 a denial keeps its status and its sentence and its infos) {
  const auto why = make_error(status::timeout, "2 of 8 are missing", missing);
  CAF_CHECK(status_of(why) == status::timeout);
  CAF_CHECK_EQUAL(reason_of(why), "2 of 8 are missing");
  CAF_CHECK(infos_of(why) == missing);
}

CAF_TEST(J4 an error without infos has none) {
  CAF_CHECK(infos_of(make_error(status::not_found, "no job")).empty());
  CAF_CHECK(infos_of(caf::error{}).empty());
}

CAF_TEST(J4 the requester is told the sentence once) {
  const auto shown =
    explanation_of(make_error(status::timeout, "2 of 8 are missing", missing));
  CAF_REQUIRE_EQUAL(shown.size(), 2u);
  CAF_CHECK(shown.front() == missing.front());
  CAF_CHECK_EQUAL(text(shown, attr::event_text_message).value_or(""),
                  "2 of 8 are missing");
  CAF_CHECK(explanation_of(make_error(status::error, "other", shown)) == shown);
}

CAF_TEST(J4 a bare status explains nothing) {
  CAF_CHECK(explanation_of(make_error(status::not_supported)).empty());
}

} // namespace
