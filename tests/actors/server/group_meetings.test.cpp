#include "actors/server/group_meetings.hpp"

#include "base/make_info.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/shared_cells.hpp"
#include "tests/test.hpp"

#include <memory>
#include <optional>
#include <string>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

using kind = group_call::kind;

/// A job of two processes on this node.
struct fixture {
  fixture() {
    auto& entry = known.add(
      "job", {}, {"job", {make_info(attr::job_size, value::uint32(2))}});
    for (uint32_t rank = 0; rank < 2; ++rank) {
      entry.procs[rank].connections = 1;
      entry.procs[rank].posts_by = rank + 1;
    }
    shared->start(2);
    entry.memory = std::make_shared<memory_of_cells>(shared);
    uut.open("job");
    CAF_REQUIRE(shared->is_open_for_groups());
  }

  /// Both do it; or one of them, which writes whatever the other one would.
  void meet(kind what, const std::string& id) {
    const auto made = what == kind::destruct
                        ? std::optional{shared->terms.opening.load()}
                        : std::nullopt;
    auto mine = group_cell::place_in_round{};
    for (uint32_t place = 0; place < 2; ++place)
      shared->groups().arrive(place, {what, id, false}, made, mine);
    CAF_REQUIRE(shared->groups().look(mine.mine)
                == group_cell::outcome::complete);
  }

  void make(const std::string& id) {
    meet(kind::construct, id);
  }

  void end(const std::string& id) {
    meet(kind::destruct, id);
  }

  std::string catch_up() {
    done.clear();
    uut.catch_up();
    return done;
  }

  /// Whether they are let meet no more.
  bool is_barred() {
    uut.open("job");
    return !shared->is_open_for_groups();
  }

  std::shared_ptr<shared_cells> shared = std::make_shared<shared_cells>();
  std::string done;
  uint64_t last_number = 0;
  registry known{{}, std::make_shared<registrations>(), {}};
  group_meetings uut{known,
                     {[this](const std::string& nspace, const shared_group& x) {
                        CAF_CHECK_EQUAL(nspace, "job");
                        done += (x.has_ended ? "-" : "+") + x.id + " ";
                      },
                      [this] { return ++last_number; },
                      [](const std::string&) { return size_t{1000}; }}};
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(group_meetings_tests, fixture)

CAF_TEST(G13 what has been made and ended since the last look has never been) {
  make("a");
  make("b");
  end("a");
  CAF_CHECK_EQUAL(catch_up(), "+b ");
  make("a");
  end("b");
  make("b");
  CAF_CHECK_EQUAL(catch_up(), "-b +a +b ");
  CAF_CHECK_EQUAL(catch_up(), "");
  CAF_CHECK(!is_barred());
}

CAF_TEST(G13 who forges many groups of one name has made none and meets no more) {
  for (uint32_t i = 0; i < group_log_size; ++i)
    make("a");
  CAF_CHECK_EQUAL(catch_up(), "");
  CAF_CHECK(!shared->is_open_for_groups());
  CAF_CHECK(is_barred());
  CAF_CHECK_EQUAL(catch_up(), "");
}

CAF_TEST(G13 who forges a group that there is has made none and meets no more) {
  make("a");
  CAF_CHECK_EQUAL(catch_up(), "+a ");
  make("b");
  make("a");
  CAF_CHECK_EQUAL(catch_up(), "");
  CAF_CHECK(is_barred());
}

CAF_TEST(G13 who forges the end of groups that there are not meets no more) {
  make("a");
  end("a");
  for (uint32_t i = 2; i < group_log_size; ++i)
    end("a");
  CAF_CHECK_EQUAL(catch_up(), "");
  CAF_CHECK(is_barred());
}

CAF_TEST(G13 what was forged is not done when the server closes the cell) {
  make("a");
  make("a");
  uut.close("job");
  CAF_CHECK_EQUAL(done, "");
  CAF_CHECK(is_barred());
}

CAF_TEST(G13 a group that has ended by messages may be made again) {
  make("a");
  CAF_CHECK_EQUAL(catch_up(), "+a ");
  uut.note_end("job", "a");
  make("a");
  CAF_CHECK_EQUAL(catch_up(), "+a ");
  // Those of before the cell was closed end by messages.
  uut.close("job");
  uut.open("job");
  make("a");
  CAF_CHECK_EQUAL(catch_up(), "+a ");
  CAF_CHECK(!is_barred());
}

CAF_TEST_FIXTURE_SCOPE_END()
