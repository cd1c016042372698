// What `troupe group` understands and says.

#include "tests/test.hpp"
#include "tools/group.hpp"

#include <nlohmann/json.hpp>

using namespace troupe;

namespace {

using nlohmann::json;

json make_group(const std::string& id, const std::string& phase,
                json members = json::array(), json missing = json::array()) {
  return {{"id", id},           {"participants", 1u},
          {"generation", 1u},   {"phase", phase},
          {"members", members}, {"leaders", json::array()},
          {"missing", missing}, {"entries", 2u}};
}

const auto three = json::array({"job:2", "job:0", "other:1"});

/// `ID: WORDS` of each change.
std::vector<std::string> changes(const json& before, const json& now) {
  auto result = std::vector<std::string>{};
  for (const auto& x : group_changes(before, now))
    result.push_back(x.group.at("id").get<std::string>() + ": " + x.words);
  return result;
}

using lines = std::vector<std::string>;

} // namespace

CAF_TEST(G3 groups are shown as a table) {
  auto led = make_group("halo", "complete", three);
  led["leaders"] = {"job:2"};
  led["context_id"] = 12u;
  const auto late = make_group(
    "late", "constructing", three,
    {"job:0", "other:1", "other:2", "other:3", "other:4", "other:5"});
  CAF_CHECK_EQUAL(group_table({led, late}),
                  "GROUP  PHASE         MEMBERS  CONTEXT  LEADERS  WAITS FOR\n"
                  "halo   complete            3       12  job:2    -\n"
                  "late   constructing        3        -  -        "
                  "job:0 other:1 other:2 other:3 and 2 more\n");
  CAF_CHECK_EQUAL(group_table(json::array()),
                  "GROUP  PHASE  MEMBERS  CONTEXT  LEADERS  WAITS FOR\n");
  // Whatever a server answers.
  CAF_CHECK_EQUAL(group_table(nullptr), group_table(json::array()));
  CAF_CHECK_EQUAL(group_table({1, "x"}), group_table(json::array()));
  CAF_CHECK(group_table(json::array({json::object()})).find('-')
            != std::string::npos);
  CAF_CHECK(
    group_table(json::array({make_group("\x1b[2J", "complete")})).find('\x1b')
    == std::string::npos);
}

CAF_TEST(G4 members are shown by rank) {
  auto x = make_group("halo", "destructing", three, {"other:1"});
  x["leaders"] = {"job:0"};
  x["context_id"] = 12u;
  CAF_CHECK_EQUAL(group_details(x), "halo: destructing, 3 members, context 12\n"
                                    "waits for other:1\n"
                                    "RANK  PROCESS  LEADS  HERE\n"
                                    "   0  job:2    -      yes\n"
                                    "   1  job:0    yes    yes\n"
                                    "   2  other:1  -      missing\n");
  // Before it is complete there are no ranks.
  CAF_CHECK_EQUAL(group_details(make_group("g", "inviting", {"job:2"})),
                  "g: inviting, 1 member\n"
                  "RANK  PROCESS  LEADS  HERE\n"
                  "-     job:2    -      yes\n");
}

CAF_TEST(G3 each change of a group is told once) {
  const auto none = json::array();
  const auto begun =
    json::array({make_group("g", "constructing", three, {"job:0"})});
  CAF_CHECK(changes(none, begun)
            == lines{"g: constructing, 3 members, waits for job:0"});
  CAF_CHECK(changes(begun, begun).empty());
  // How far the log is does not matter.
  auto further = begun;
  further[0]["entries"] = 9u;
  CAF_CHECK(changes(begun, further).empty());
  auto complete = json::array({make_group("g", "complete", three)});
  complete[0]["context_id"] = 3u;
  CAF_CHECK(changes(begun, complete)
            == lines{"g: complete, context 3, waits for nobody"});
  auto less = complete;
  less[0]["members"] = {"job:0", "other:1"};
  CAF_CHECK(changes(complete, less) == lines{"g: gone: job:2, 2 members"});
  CAF_CHECK(changes(less, complete) == lines{"g: new: job:2, 3 members"});
  auto turned = complete;
  turned[0]["members"] = {"other:1", "job:0", "job:2"};
  CAF_CHECK(changes(complete, turned) == lines{"g: other ranks"});
  auto led = complete;
  led[0]["leaders"] = {"job:0"};
  CAF_CHECK(changes(complete, led) == lines{"g: led by job:0"});
  CAF_CHECK(changes(led, complete) == lines{"g: led by nobody"});
  CAF_CHECK(changes(complete, none) == lines{"g: over"});
  const auto ended = group_changes(complete, none);
  CAF_CHECK_EQUAL(ended.at(0).group.at("phase").get<std::string>(), "over");
  // Another group of the same name.
  auto next = complete;
  next[0]["generation"] = 2u;
  CAF_CHECK((changes(complete, next)
             == lines{"g: complete, 3 members, context 3", "g: over"}));
}

CAF_TEST(G3 the command line of group) {
  const auto order = [](std::vector<std::string> args) {
    return std::get<group_order>(parse_group_options(std::move(args)));
  };
  CAF_CHECK(order({"list"}).what == group_order::verb::list);
  CAF_CHECK(order({"list", "--json", "--dvm", "d"}).json);
  CAF_CHECK_EQUAL(order({"list", "--dvm", "d"}).dvm, "d");
  CAF_CHECK_EQUAL(order({"show", "g"}).id, "g");
  CAF_CHECK(order({"watch"}).id.empty());
  CAF_CHECK(order({"watch", "g", "--every", "0.25"}).interval
            == std::chrono::milliseconds{250});
  const std::vector<std::string> wrong[] = {
    {},
    {"lst"},
    {"list", "g"},
    {"list", "--every", "1"},
    {"show"},
    {"show", "g", "h"},
    {"show", std::string(256, 'x')},
    {"watch", "--every", "0.01"},
    {"watch", "--every", "nan"},
    {"watch", "--every", "soon"},
    {"watch", "--every", "1e9"},
  };
  for (const auto& x : wrong) {
    const auto parsed = parse_group_options(x);
    CAF_REQUIRE(std::holds_alternative<int>(parsed));
    CAF_CHECK_EQUAL(std::get<int>(parsed), 2);
  }
  const auto helped = parse_group_options({"--help"});
  CAF_REQUIRE(std::holds_alternative<int>(helped));
  CAF_CHECK_EQUAL(std::get<int>(helped), 0);
}
