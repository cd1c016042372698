// What calls do of their attributes: the table, the check and what is said of it.

#include "base/directives.hpp"

#include "messages/attributes.hpp"
#include "messages/status.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

#include <set>
#include <tuple>
#include <utility>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

/// The names in C of the attributes in an info of `supported`.
std::vector<std::string> names_in(const info& x) {
  std::vector<std::string> result;
  for (const auto& element : x.val.array()->elements)
    result.push_back(
      std::get<box<regattr>>(element.data)->name.value_or("unnamed"));
  return result;
}

info required(std::string_view key) {
  auto result = with(key);
  result.flags |= info_required;
  return result;
}

status outcome(pmix_call call, const std::vector<info>& infos, next_host host) {
  const auto why = check_required(call, infos, host);
  return why ? status_of(why) : status::success;
}

} // namespace

// -- what is required --------------------------------------------------------

CAF_TEST(F4.41 each row of the table is required as it says) {
  auto seen = size_t{0};
  for (const auto& x : all_directives()) {
    if (x.is_query_key)
      continue;
    ++seen;
    CAF_MESSAGE(all_calls()[static_cast<size_t>(x.call)].function << " "
                                                                  << x.c_name);
    const auto infos = std::vector<info>{required(x.key)};
    const auto is_done = x.how == treatment::done;
    const auto is_given = is_done || x.how == treatment::host;
    CAF_CHECK(outcome(x.call, infos, next_host::ours)
              == (is_done ? status::success : status::not_supported));
    CAF_CHECK(outcome(x.call, infos, next_host::foreign)
              == (is_given ? status::success : status::not_supported));
    // Optional ones stay ignored.
    CAF_CHECK(outcome(x.call, {with(x.key)}, next_host::ours)
              == status::success);
  }
  CAF_CHECK(seen > 300);
}

CAF_TEST(F4.41 what nobody knows is for a host of another alone) {
  const auto infos = std::vector<info>{required("their.key")};
  CAF_CHECK(outcome(pmix_call::fence, infos, next_host::ours)
            == status::not_supported);
  CAF_CHECK(outcome(pmix_call::fence, infos, next_host::foreign)
            == status::success);
  CAF_CHECK(outcome(pmix_call::fence, {required("troupe.key")}, next_host::ours)
            == status::success);
}

CAF_TEST(F4.41 a qualifier is part of a name) {
  auto x = required("their.key");
  x.flags |= info_qualifier;
  CAF_CHECK(outcome(pmix_call::get, {x}, next_host::ours) == status::success);
}

CAF_TEST(F4.41 the refusal names call and attribute) {
  const auto why =
    check_required(pmix_call::get, {required(attr::job_info)}, next_host::ours);
  const auto text = reason_of(why);
  CAF_CHECK(text.find("PMIX_JOB_INFO") != std::string::npos);
  CAF_CHECK(text.find("PMIx_Get") != std::string::npos);
}

CAF_TEST(F4.41 no attribute of a call has two rows) {
  auto seen = std::set<std::tuple<pmix_call, std::string_view, bool>>{};
  for (const auto& x : all_directives())
    CAF_CHECK(seen.insert({x.call, x.key, x.is_query_key}).second);
}

// -- what is supported -------------------------------------------------------

CAF_TEST(F4.31 the functions are listed) {
  for (const auto key : {attr::server_functions, attr::host_functions}) {
    const auto found = supported({with(key)});
    CAF_REQUIRE_EQUAL(found.size(), 1u);
    CAF_CHECK_EQUAL(found[0].key, std::string{key});
    const auto* names = found[0].val.text();
    CAF_REQUIRE(names != nullptr);
    for (const auto* name : {"PMIx_Fence", "PMIx_Get", "PMIx_Spawn"})
      CAF_CHECK(names->find(name) != std::string::npos);
  }
}

CAF_TEST(F4.31 what only a host may call is listed for servers alone) {
  for (const auto key : {attr::client_functions, attr::tool_functions,
                         attr::server_functions, attr::host_functions}) {
    const auto found = supported({with(key)});
    CAF_REQUIRE_EQUAL(found.size(), 1u);
    const auto* names = found[0].val.text();
    CAF_REQUIRE(names != nullptr);
    CAF_MESSAGE(*names);
    CAF_CHECK_EQUAL(names_function(*names, "PMIx_server_IOF_deliver"),
                    key == attr::server_functions);
    CAF_CHECK_EQUAL(names_function(*names, "PMIx_Init"),
                    key == attr::client_functions);
    CAF_CHECK(names_function(*names, "PMIx_Spawn"));
  }
}

CAF_TEST(F4.31 the attributes of a function are described) {
  const auto found =
    supported({with(attr::server_attributes, value::string("PMIx_Fence"))});
  CAF_REQUIRE_EQUAL(found.size(), 1u);
  CAF_CHECK_EQUAL(found[0].key, "PMIx_Fence");
  const auto names = names_in(found[0]);
  CAF_CHECK((names
             == std::vector<std::string>{"PMIX_COLLECT_DATA", "PMIX_TIMEOUT",
                                         "PMIX_GROUP_FT_COLLECTIVE"}));
  const auto& described =
    *std::get<box<regattr>>(found[0].val.array()->elements[0].data);
  CAF_CHECK_EQUAL(described.key, std::string{attr::collect_data});
  CAF_CHECK(described.type == data_type::bool_);
}

CAF_TEST(F4.31 F4.42 every attribute said to be supported exists) {
  const auto found =
    supported({with(attr::host_attributes, value::string("all"))});
  CAF_CHECK(found.size() > 5);
  for (const auto& x : found)
    for (const auto& name : names_in(x))
      CAF_CHECK(attribute_named(name) != nullptr);
}

CAF_TEST(F4.31 several functions are asked for at once and unknown ones pass) {
  const auto found = supported({with(
    attr::server_attributes, value::string("PMIx_Get,PMIx_Nothing,PMIx_Log"))});
  CAF_REQUIRE_EQUAL(found.size(), 2u);
  CAF_CHECK_EQUAL(found[0].key, "PMIx_Log");
  CAF_CHECK_EQUAL(found[1].key, "PMIx_Get");
  CAF_CHECK(supported({}).empty());
  CAF_CHECK(supported({with("pmix.other")}).empty());
  CAF_CHECK(
    supported({with(attr::server_attributes, value::uint32(1))}).empty());
}

CAF_TEST(F4.31 F4.42 keys of queries are listed and what may stand beside them) {
  const auto keys = supported_keys();
  const auto qualifiers = supported_qualifiers();
  CAF_CHECK(names_function(keys, attr::query_supported_keys));
  CAF_CHECK(!names_function(keys, attr::rank));
  CAF_CHECK(names_function(qualifiers, attr::rank));
  CAF_CHECK(!names_function(qualifiers, attr::query_supported_keys));
  for (const auto& x : all_directives())
    if (x.call == pmix_call::query_info)
      CAF_CHECK_EQUAL(names_function(x.is_query_key ? keys : qualifiers, x.key),
                      x.how == treatment::done);
}
