#include "adapters/loop/printer.hpp"

#include "tests/test.hpp"

#include <caf/all.hpp>

#include <string>
#include <vector>

using namespace troupe;

namespace {

struct fixture : test_coordinator_fixture<> {
  std::vector<std::string> lines;
  caf::actor out;

  fixture() {
    out = sys.spawn(printer,
                    [this](std::string x) { lines.push_back(std::move(x)); });
    sched.run();
  }

  void add(caf::actor_id author, std::string text) {
    caf::anon_send(out, caf::add_atom_v, author, std::move(text));
    sched.run();
  }
};

using trace = std::vector<std::string>;

} // namespace

CAF_TEST_FIXTURE_SCOPE(printer_tests, fixture)

CAF_TEST(text becomes lines) {
  add(1, "one ");
  add(1, "line\nand");
  CAF_CHECK_EQUAL(lines, trace({"one line"}));
  add(1, " another\n\n");
  CAF_CHECK_EQUAL(lines, trace({"one line", "and another", ""}));
}

CAF_TEST(actors do not write into the lines of others) {
  add(1, "a");
  add(2, "b");
  add(1, "a\n");
  add(2, "b\n");
  CAF_CHECK_EQUAL(lines, trace({"aa", "bb"}));
}

CAF_TEST(a line without end comes out on flush or when its actor ends) {
  add(1, "flushed");
  caf::anon_send(out, caf::flush_atom_v, caf::actor_id{1});
  sched.run();
  add(2, "left behind");
  caf::anon_send(out, caf::delete_atom_v, caf::actor_id{2});
  caf::anon_send(out, caf::delete_atom_v, caf::actor_id{3});
  sched.run();
  CAF_CHECK_EQUAL(lines, trace({"flushed", "left behind"}));
}

CAF_TEST(a line that is too long comes in pieces) {
  add(1, std::string(printer_state::max_line + 1, 'x'));
  add(1, "y\n");
  CAF_CHECK_EQUAL(lines,
                  trace({std::string(printer_state::max_line, 'x'), "xy"}));
}

CAF_TEST(other messages are dropped in silence) {
  caf::anon_send(out, 42);
  caf::anon_send(out, caf::redirect_atom_v, std::string{"/etc/x"}, 0);
  caf::anon_send(out, caf::redirect_atom_v, caf::actor_id{1},
                 std::string{"/etc/x"}, 0);
  sched.run();
  add(1, "still here\n");
  CAF_CHECK_EQUAL(lines, trace({"still here"}));
}

CAF_TEST_FIXTURE_SCOPE_END()
