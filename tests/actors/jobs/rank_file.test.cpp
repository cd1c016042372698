// Rank files and lists of nodes.

#include "actors/jobs/rank_file.hpp"

#include "messages/status.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

/// `n1/0:1 n2/`, or why it is none.
std::string read(const char* text) {
  const auto ranks = parse_rank_file(text);
  if (!ranks)
    return reason_of(ranks.error());
  auto result = std::string{};
  for (const auto& x : *ranks)
    result += (result.empty() ? "" : " ") + x.host + "/" + x.slot;
  return result;
}

bool says(const std::string& text, const char* what) {
  if (text.find(what) != std::string::npos)
    return true;
  CAF_MESSAGE(text);
  return false;
}

} // namespace

CAF_TEST(MAP-8 ranks stand in any order with comments between) {
  CAF_CHECK_EQUAL(read("# ours\nrank 1=n2 slot=0-1\n\n"
                       "  rank 0=+n0\tslot=1:* # first\r\nrank 2=n2"),
                  "+n0/1:* n2/0-1 n2/");
}

CAF_TEST(MAP-8 a rank file that is none is refused with its line) {
  CAF_CHECK(says(read(""), "names no rank"));
  CAF_CHECK(says(read("rank 0=n1\nrank 0=n2"), "line 2"));
  CAF_CHECK(says(read("rank 1=n1"), "no line for rank 0"));
  CAF_CHECK(says(read("\nrnk 0=n1"), "line 2"));
  for (const auto* wrong :
       {"rank", "rank 0", "rank 0=", "rank x=n1", "rank =n1", "rank 0=n1 0",
        "rank 0=n1 slot=", "rank 0=n1 slot=1 2", "rank -1=n1", "rank 99999=n1"})
    CAF_CHECK(says(read(wrong), "write rank N=HOST"));
}

CAF_TEST(MAP-10 a sequence has a node a line) {
  CAF_CHECK((parse_sequence("n1\n# no\n n2 slots=4\n\nn1 # again")
             == std::vector<std::string>{"n1", "n2", "n1"}));
  CAF_CHECK(parse_sequence("# nobody\n").empty());
}
