// Links to our program that are called as other launchers are.

#include "tests/test.hpp"
#include "tools/command_words.hpp"

using namespace troupe;

CAF_TEST(HAB-2 links called as launchers run jobs) {
  using list = std::vector<std::string>;
  const auto args = list{"-np", "2", "x"};
  for (const auto* name :
       {"mpirun", "/opt/bin/mpiexec", "prterun", "./orterun"})
    CAF_CHECK(run_arguments(name, args) == args);
  CAF_CHECK(run_arguments("prun", args) == (list{"--dvm=", "-np", "2", "x"}));
  CAF_CHECK(run_arguments("prun", list{"--dvm-uri=u", "x"})
            == (list{"--dvm-uri=u", "x"}));
  for (const auto* name : {"troupe", "/x/mpirun/troupe", "", "mpirunner"})
    CAF_CHECK(!run_arguments(name, args));
}
