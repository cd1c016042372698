// Which names process sets may have, and the sets that the programs of a job
// name.

#include "actors/jobs/process_sets.hpp"

#include "messages/attributes.hpp"
#include "messages/status.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

app program(const std::string& set) {
  auto result = app{};
  if (!set.empty())
    result.infos.push_back(
      {std::string{attr::pset_name}, 0, value::string(set)});
  return result;
}

} // namespace

CAF_TEST(a set has no name that is or may become the namespace of a job) {
  struct row {
    const char* name;
    status code;
  };
  const auto rows = std::vector<row>{
    {"dvm", status::bad_param},    {"dvm@1", status::bad_param},
    {"dvm@", status::bad_param},   {"dvm@no job", status::bad_param},
    {"dvm1", status::success},     {"dv", status::success},
    {"my dvm@1", status::success}, {"", status::bad_param},
    {"a,b", status::bad_param},
  };
  for (const auto& x : rows) {
    CAF_MESSAGE(x.name);
    auto uut = process_sets{"dvm"};
    const auto why = uut.define({x.name, {{"dvm@1", 0}}});
    CAF_CHECK_EQUAL(why ? status_of(why) : status::success, x.code);
  }
}

CAF_TEST(programs of a job name sets of their processes) {
  auto uut = process_sets{"dvm"};
  const auto sets = uut.define_of_job(
    "dvm@1", {program("even"), program("odd"), program(""), program("even")},
    {0, 1, 0, 2, 3});
  CAF_REQUIRE(sets);
  CAF_REQUIRE_EQUAL(sets->size(), 2u);
  CAF_CHECK_EQUAL(sets->front().name, "even");
  CAF_CHECK_EQUAL(
    sets->front().members,
    (std::vector<proc_id>{{"dvm@1", 0}, {"dvm@1", 2}, {"dvm@1", 4}}));
  CAF_CHECK_EQUAL(sets->back().members, (std::vector<proc_id>{{"dvm@1", 1}}));
  CAF_CHECK_EQUAL(uut.size(), 2u);
  CAF_CHECK_EQUAL(uut.job_over("dvm@1"),
                  (std::vector<std::string>{"even", "odd"}));
}

CAF_TEST(a job whose programs name a set of others is refused) {
  auto uut = process_sets{"dvm"};
  CAF_REQUIRE(!uut.define({"mine", {{"dvm@1", 0}}}));
  const auto sets = uut.define_of_job("dvm@2", {program("mine")}, {0});
  CAF_REQUIRE(!sets);
  CAF_CHECK_EQUAL(status_of(sets.error()), status::exists);
}
