// The job that copies a file to the nodes.

#include "tests/test.hpp"
#include "tools/run_options.hpp"

#include <algorithm>

using namespace troupe;

CAF_TEST(HAB-10 a file is the input of a job on all nodes) {
  const auto words =
    preload_command({"/a b", "/there/a b"}, "/bin/troupe",
                    {"--host=n[1-2]", "--remote-shell=x y"}, 0750);
  const auto at = [&](const char* word) {
    return std::find(words.begin(), words.end(), word) - words.begin();
  };
  CAF_REQUIRE(words.size() > 8);
  CAF_CHECK_EQUAL(words[3], "/a b");
  CAF_CHECK_EQUAL(words[4], "/bin/troupe");
  CAF_CHECK(at("run") < at("--host=n[1-2]"));
  CAF_CHECK(at("--remote-shell=x y") < at("--"));
  CAF_CHECK(at("--stdin=all") < at("--"));
  CAF_CHECK_EQUAL(words[words.size() - 2], "/there/a b");
  CAF_CHECK_EQUAL(words.back(), "750");
}
