// What the root is told of the shares of a node, in which order, and how a
// fenced node ends them.

#include "actors/jobs/shares.hpp"

#include "tests/test.hpp"

#include <deque>

using namespace troupe;

namespace {

using texts = std::vector<std::string>;

const auto a = std::string{"dvm@1"};
const auto b = std::string{"dvm@2"};

struct fixture {
  texts log;
  std::deque<shares::action> calls;
  bool forgets_at_once = true;
  shares uut{means()};

  shares::effects means() {
    auto out = shares::effects{};
    out.tell_progress = [this](const share_progress& x, shares::action then) {
      auto line = "progress of " + x.nspace + ":";
      for (const auto& y : x.procs)
        line += " " + std::to_string(y.proc.rank);
      log.push_back(line);
      calls.push_back(std::move(then));
    };
    out.tell_end = [this](const share_ended& x, shares::action then) {
      log.push_back("end of " + x.nspace);
      calls.push_back(std::move(then));
    };
    out.procs_ended = [this](const std::vector<proc_ended>& procs) {
      for (const auto& x : procs)
        log.push_back("ended " + to_string(x.proc));
    };
    out.end = [this](const end_share& x) {
      log.push_back("signal " + std::to_string(x.how.signal) + " to "
                    + x.how.nspace);
    };
    out.discard = [this](const std::string& nspace) {
      log.push_back("discard " + nspace);
      if (forgets_at_once && uut.remove(nspace))
        uut.removed();
    };
    out.cut_off = [this] { log.push_back("cut off"); };
    out.leave = [this](const std::string& why) {
      log.push_back("leave: " + why);
    };
    return out;
  }

  void change(const std::string& nspace, uint32_t rank,
              proc_state state = proc_state::running) {
    uut.note_progress({nspace, {{{nspace, rank}, state, 1, 0, 0}}});
  }

  /// The root answers the oldest call.
  void answer() {
    const auto then = std::move(calls.front());
    calls.pop_front();
    then();
  }

  texts heard() {
    return std::exchange(log, {});
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(shares_tests, fixture)

CAF_TEST(the root gets the news of a share one call at a time) {
  uut.add(a);
  change(a, 0);
  change(a, 1);
  change(a, 2);
  CAF_CHECK_EQUAL(heard(), (texts{"progress of dvm@1: 0"}));
  CAF_CHECK_EQUAL(uut.untold(), 2u);
  answer();
  CAF_CHECK_EQUAL(heard(), (texts{"progress of dvm@1: 1 2"}));
  CAF_CHECK_EQUAL(uut.untold(), 0u);
  answer();
  CAF_CHECK(heard().empty());
}

CAF_TEST(the end of a share follows all of its news) {
  uut.add(a);
  change(a, 0, proc_state::terminated);
  uut.note_end(a);
  CAF_CHECK_EQUAL(heard(), (texts{"ended dvm@1:0", "progress of dvm@1: 0"}));
  answer();
  CAF_CHECK_EQUAL(heard(), (texts{"end of dvm@1"}));
  answer();
  CAF_CHECK(calls.empty());
}

CAF_TEST(shares do not wait for each other) {
  uut.add(a);
  uut.add(b);
  change(a, 0);
  change(b, 0);
  CAF_CHECK_EQUAL(heard(),
                  (texts{"progress of dvm@1: 0", "progress of dvm@2: 0"}));
}

CAF_TEST(who waits until the root knows goes on when it does) {
  const auto wait = [this] {
    uut.when_root_knows(a, [this] { log.push_back("known"); });
  };
  wait();
  uut.add(a);
  wait();
  CAF_CHECK_EQUAL(heard(), (texts{"known", "known"}));
  change(a, 0);
  change(a, 1);
  wait();
  answer();
  CAF_CHECK_EQUAL(heard(),
                  (texts{"progress of dvm@1: 0", "progress of dvm@1: 1"}));
  answer();
  CAF_CHECK_EQUAL(heard(), (texts{"known"}));
}

CAF_TEST(nothing is told of a share that is not there) {
  change(a, 0, proc_state::terminated);
  uut.note_end(a);
  CAF_CHECK(!uut.end({{a, "", std::nullopt, 15}}));
  uut.add(a);
  CAF_CHECK(uut.end({{a, "", std::nullopt, 15}}));
  CAF_CHECK_EQUAL(heard(), (texts{"signal 15 to dvm@1"}));
  CAF_CHECK(uut.remove(a));
  CAF_CHECK(!uut.remove(a));
}

CAF_TEST(a share that is forgotten meanwhile is not told of) {
  uut.add(a);
  change(a, 0);
  change(a, 1);
  heard();
  uut.remove(a);
  answer();
  CAF_CHECK(heard().empty());
}

CAF_TEST(a fenced node kills what it runs and leaves when nothing runs) {
  uut.add(a);
  uut.add(b);
  uut.note_end(b);
  heard();
  uut.fence("out of contact");
  CAF_CHECK_EQUAL(heard(), (texts{"cut off", "signal 9 to dvm@1",
                                  "signal 9 to dvm@2", "discard dvm@2"}));
  uut.fence("again");
  CAF_CHECK_EQUAL(heard(), (texts{"cut off", "signal 9 to dvm@1"}));
  uut.note_end(a);
  CAF_CHECK_EQUAL(heard(), (texts{"discard dvm@1", "leave: out of contact"}));
  uut.removed();
  CAF_CHECK(heard().empty());
}

CAF_TEST(a fenced node that runs nothing leaves at once) {
  uut.fence("");
  CAF_CHECK_EQUAL(heard(), (texts{"cut off", "leave: the root is gone"}));
}

CAF_TEST(a fenced node waits until its shares are forgotten) {
  forgets_at_once = false;
  uut.add(a);
  uut.fence("x");
  uut.note_end(a);
  CAF_CHECK_EQUAL(heard(),
                  (texts{"cut off", "signal 9 to dvm@1", "discard dvm@1"}));
  uut.remove(a);
  CAF_CHECK(heard().empty());
  uut.removed();
  CAF_CHECK_EQUAL(heard(), (texts{"leave: x"}));
}

CAF_TEST_FIXTURE_SCOPE_END()
