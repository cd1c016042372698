// Which nodes of a DVM that is up a job may use.

#include "messages/status.hpp"
#include "tests/test.hpp"
#include "tools/dvm_options.hpp"

using namespace troupe;

namespace {

std::string chosen(std::string hosts, std::string hostfile = {},
                   std::string text = {}) {
  auto x = dvm_options{};
  x.hosts = std::move(hosts);
  x.hostfile = std::move(hostfile);
  const auto result = choose_nodes(
    x, [&](const std::string&) -> caf::expected<std::string> { return text; });
  return result ? to_string(*result) : reason_of(result.error());
}

bool says(const std::string& text, const char* what) {
  return text.find(what) != std::string::npos;
}

} // namespace

CAF_TEST(O15 nodes of a DVM are chosen by name and range with their slots) {
  CAF_CHECK_EQUAL(chosen(""), "");
  CAF_CHECK_EQUAL(chosen("n2"), "n2");
  CAF_CHECK_EQUAL(chosen("n1,n[3-4]:2,n9:*"), "n1,n3:2,n4:2,n9");
  CAF_CHECK_EQUAL(chosen("n[1,3]"), "n1,n3");
  CAF_CHECK_EQUAL(chosen("", "f", "a slots=3\nb # all\nb\n"), "a:3,b:2");
}

CAF_TEST(X48 a choice that makes no sense is named) {
  CAF_CHECK(says(chosen("n1:0"), "'n1:0' has no number of slots"));
  CAF_CHECK(says(chosen("n1:x"), "write NAME:4"));
  CAF_CHECK(says(chosen("n[1-"), "--host"));
  CAF_CHECK(says(chosen("a", "f"), "give one of them"));
}

CAF_TEST(O15 the choice limits the slots of its nodes) {
  const auto x = std::vector<chosen_node>{{"a", 2}, {"b", std::nullopt}};
  CAF_CHECK_EQUAL(slots_of({}, "a", 8), 8u);
  CAF_CHECK_EQUAL(slots_of(x, "a.site.org", 8), 2u);
  CAF_CHECK_EQUAL(slots_of(x, "a", 1), 1u);
  CAF_CHECK_EQUAL(slots_of(x, "b", 8), 8u);
  CAF_CHECK_EQUAL(slots_of(x, "c", 8), 0u);
}
