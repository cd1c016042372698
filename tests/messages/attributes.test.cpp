// The table of the attributes.

#include "messages/attributes.hpp"

#include "messages/proc_id.hpp"
#include "tests/test.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

using namespace troupe;

namespace {

struct row {
  std::string c_name;
  std::string key;
  data_type type;
};

/// Keys that clients of many years have compiled in, written down from the
/// Standard's headers.
const auto known = std::vector<row>{
  {"PMIX_APPNUM", "pmix.appnum", data_type::uint32},
  {"PMIX_COLLECT_DATA", "pmix.collect", data_type::bool_},
  {"PMIX_EVENT_AFFECTED_PROC", "pmix.evproc", data_type::proc},
  {"PMIX_HOSTNAME", "pmix.hname", data_type::string},
  {"PMIX_IMMEDIATE", "pmix.immediate", data_type::bool_},
  {"PMIX_JOBID", "pmix.jobid", data_type::string},
  {"PMIX_JOB_SIZE", "pmix.job.size", data_type::uint32},
  {"PMIX_LOCALITY_STRING", "pmix.locstr", data_type::string},
  {"PMIX_LOCAL_PEERS", "pmix.lpeers", data_type::string},
  {"PMIX_LOCAL_RANK", "pmix.lrank", data_type::uint16},
  {"PMIX_LOCAL_SIZE", "pmix.local.size", data_type::uint32},
  {"PMIX_NODE_RANK", "pmix.nrank", data_type::uint16},
  {"PMIX_OPTIONAL", "pmix.optional", data_type::bool_},
  {"PMIX_PARENT_ID", "pmix.parent", data_type::proc},
  {"PMIX_PERSISTENCE", "pmix.persist", data_type::persist},
  {"PMIX_PROC_DATA", "pmix.pdata", data_type::data_array},
  {"PMIX_RANGE", "pmix.range", data_type::data_range},
  {"PMIX_RANK", "pmix.rank", data_type::proc_rank},
  {"PMIX_TIMEOUT", "pmix.timeout", data_type::int_},
  {"PMIX_UNIV_SIZE", "pmix.univ.size", data_type::uint32},
};

std::vector<attribute> table() {
  auto count = size_t{0};
  const auto* first = all_attributes(count);
  return {first, first + count};
}

} // namespace

CAF_TEST(F2.3 well known attributes have their keys and types) {
  for (const auto& x : known) {
    const auto* found = attribute_named(x.c_name);
    CAF_REQUIRE(found != nullptr);
    CAF_CHECK_EQUAL(std::string{found->key}, x.key);
    CAF_CHECK_EQUAL(to_string(found->type), to_string(x.type));
    CAF_CHECK_EQUAL(std::string{attribute_of(x.key)->key}, x.key);
  }
  CAF_CHECK(attr::job_size == "pmix.job.size");
  CAF_CHECK(attr::rank == "pmix.rank");
}

CAF_TEST(F2.3 the table has every attribute once) {
  std::set<std::string_view> names;
  for (const auto& x : table()) {
    CAF_CHECK_EQUAL(std::string{x.c_name.substr(0, 5)}, "PMIX_");
    CAF_CHECK(names.insert(x.c_name).second);
  }
  CAF_CHECK_EQUAL(names.size(), 681u);
}

CAF_TEST(F2.3 the table is in the order of the names in C) {
  const auto all = table();
  CAF_CHECK(
    std::is_sorted(all.begin(), all.end(), [](const auto& x, const auto& y) {
      return x.c_name < y.c_name;
    }));
}

CAF_TEST(F2.3 every key fits the wire and every type exists) {
  for (const auto& x : table()) {
    CAF_CHECK(!x.key.empty());
    CAF_CHECK(x.key.size() <= max_key_length);
    CAF_CHECK(storage_of(x.type) != storage_class::unknown);
  }
}

CAF_TEST(F2.3 names and keys find each other) {
  for (const auto& x : table()) {
    const auto* by_name = attribute_named(x.c_name);
    CAF_REQUIRE(by_name != nullptr);
    CAF_CHECK_EQUAL(std::string{by_name->key}, std::string{x.key});
    const auto* by_key = attribute_of(x.key);
    CAF_REQUIRE(by_key != nullptr);
    // The first of several names.
    CAF_CHECK(by_key->c_name <= x.c_name);
    CAF_CHECK_EQUAL(std::string{by_key->key}, std::string{x.key});
  }
}

CAF_TEST(F2.3 what no release knows is not found) {
  CAF_CHECK(attribute_named("PMIX_NO_SUCH_THING") == nullptr);
  CAF_CHECK(attribute_named("") == nullptr);
  CAF_CHECK(attribute_named("pmix.rank") == nullptr);
  CAF_CHECK(attribute_of("pmix.no.such.thing") == nullptr);
  CAF_CHECK(attribute_of("PMIX_RANK") == nullptr);
}
