// What hosts register, and what is told of it.

#include "adapters/c_host/registered_attributes.hpp"

#include "messages/attributes.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

std::string names_in(const info& x) {
  auto result = std::string{};
  for (const auto& y : x.val.array()->elements)
    result += std::get<box<regattr>>(y.data)->name.value_or("unnamed") + " ";
  return result;
}

} // namespace

CAF_TEST(F4.42 what a host registers is what it supports) {
  auto uut = registered_attributes{};
  CAF_CHECK(uut.describe({with(attr::host_functions)}).empty());
  CAF_CHECK(uut.add("fence_nb", {"PMIX_COLLECT_DATA", "PMIX_THEIR_OWN"}));
  CAF_CHECK(uut.add("abort", {"N/A"}));
  // Once a function.
  CAF_CHECK(!uut.add("fence_nb", {"PMIX_TIMEOUT"}));
  const auto functions = uut.describe({with(attr::host_functions)});
  CAF_REQUIRE_EQUAL(functions.size(), 1u);
  CAF_CHECK_EQUAL(*functions[0].val.text(), "abort,fence_nb");
  for (const auto* asked : {"all", "fence_nb", "abort,fence_nb"}) {
    const auto found =
      uut.describe({with(attr::host_attributes, value::string(asked))});
    CAF_REQUIRE_EQUAL(found.size(), 1u);
    CAF_CHECK_EQUAL(found[0].key, "fence_nb");
    CAF_CHECK_EQUAL(names_in(found[0]), "PMIX_COLLECT_DATA PMIX_THEIR_OWN ");
  }
  CAF_CHECK(
    uut.describe({with(attr::host_attributes, value::string("log"))}).empty());
  // Of the server, others tell.
  CAF_CHECK(uut.describe({with(attr::server_functions)}).empty());
}
