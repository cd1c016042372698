// Whom the host has told to push no more input (edge case 202).

#include "adapters/c_host/host_module.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

const auto everybody = proc_id{"", rank_wildcard};

struct world {
  input_gate uut;
  std::vector<int> open;

  void wait(int number, const proc_id& who) {
    uut.when_open(who, [this, number] { open.push_back(number); });
  }
};

} // namespace

CAF_TEST(I18 nobody is stopped at first) {
  world x;
  x.wait(1, {"tool", 0});
  CAF_CHECK(x.open == std::vector<int>{1});
}

CAF_TEST(I18 who is stopped waits until it may go on) {
  world x;
  x.uut.set({"tool", 0}, true);
  x.wait(1, {"tool", 0});
  x.wait(2, {"tool", 1});
  x.wait(3, {"tool", 0});
  CAF_CHECK(x.open == std::vector<int>{2});
  x.uut.set({"other", 0}, false);
  CAF_CHECK(x.open == std::vector<int>{2});
  x.uut.set({"tool", rank_wildcard}, false);
  CAF_CHECK(x.open == (std::vector<int>{2, 1, 3}));
  CAF_CHECK(!x.uut.is_stopped({"tool", 0}));
}

CAF_TEST(I18 what was said last counts) {
  world x;
  x.uut.set(everybody, true);
  x.uut.set({"tool", 1}, false);
  CAF_CHECK(x.uut.is_stopped({"tool", 0}));
  CAF_CHECK(!x.uut.is_stopped({"tool", 1}));
  x.uut.set({"tool", rank_wildcard}, true);
  CAF_CHECK(x.uut.is_stopped({"tool", 1}));
  x.wait(1, {"tool", 1});
  x.wait(2, {"job", 7});
  x.uut.set(everybody, false);
  CAF_CHECK(x.open == (std::vector<int>{1, 2}));
}

CAF_TEST(I18 who goes on may be stopped again at once) {
  input_gate uut;
  auto calls = 0;
  uut.set(everybody, true);
  uut.when_open({"tool", 0}, [&] {
    ++calls;
    uut.set(everybody, true);
    uut.when_open({"tool", 0}, [&] { ++calls; });
  });
  uut.set(everybody, false);
  CAF_CHECK_EQUAL(calls, 1);
  uut.set(everybody, false);
  CAF_CHECK_EQUAL(calls, 2);
}
