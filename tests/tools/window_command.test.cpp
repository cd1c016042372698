// The commands of windows.

#include "tools/window_command.hpp"

#include "tests/test.hpp"

using namespace troupe;

CAF_TEST(I16 the command of a window has rank and job in it) {
  CAF_CHECK_EQUAL(window_command("xterm -T %r -e", 12, "d@1"),
                  "xterm -T 12 -e");
  CAF_CHECK_EQUAL(window_command("%n:%r 100%% %x %", 0, "d@1"),
                  "d@1:0 100% %x %");
  CAF_CHECK_EQUAL(window_command("", 0, "d@1"), "");
}

CAF_TEST(I16 the name of a job is no command of a shell) {
  CAF_CHECK_EQUAL(window_command("tmux -n \"%n\"", 0, "a$(x)`y`\" ';\n-1@2"),
                  "tmux -n \"a__x__y______-1@2\"");
}
