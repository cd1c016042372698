// The commands of a site, on the command line.

#include "messages/status.hpp"
#include "tests/test.hpp"
#include "tools/local_node.hpp"

using namespace troupe;

namespace {

std::string refusal(const std::vector<std::string>& settings) {
  const auto x = read_hooks(settings);
  return x ? "" : reason_of(x.error());
}

} // namespace

CAF_TEST(J11 J10 J16 hooks are named commands) {
  const auto x = read_hooks({"checkpoint=/site/save -q 'a b'",
                             "provision=install", "restart=/site/restore"});
  CAF_REQUIRE(x);
  CAF_CHECK(x->checkpoint
            == (std::vector<std::string>{"/site/save", "-q", "a b"}));
  CAF_CHECK(x->restart == std::vector<std::string>{"/site/restore"});
  CAF_CHECK(x->provision == std::vector<std::string>{"install"});
  CAF_CHECK(read_hooks({})->checkpoint.empty());
}

CAF_TEST(J16 what is no hook is named) {
  CAF_CHECK_EQUAL(refusal({"swap=x"}),
                  "--hook \"swap=x\" is none; write checkpoint=COMMAND, "
                  "restart=COMMAND or provision=COMMAND");
  CAF_CHECK(!refusal({"checkpoint"}).empty());
  CAF_CHECK_EQUAL(refusal({"provision= "}),
                  "--hook provision is empty; name a program");
}
