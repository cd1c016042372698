// Input for several processes of a node: all or none, and one answer.

#include "actors/io/io_inputs.hpp"

#include "messages/status.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

using ranks = std::vector<uint32_t>;

/// What inputs have had done, and what was answered.
struct fixture {
  std::map<uint32_t, std::string> written;
  ranks closed;
  std::vector<io_input_taken> answers;
  io_inputs uut;

  fixture()
    : uut({[this](const proc_id& x, std::string bytes) {
             written[x.rank] += bytes;
           },
           [this](const proc_id& x) { closed.push_back(x.rank); }}) {
    // nop
  }

  caf::error give(ranks to, std::string bytes,
                  std::optional<uint64_t> offset = {}, bool is_end = false) {
    auto what = io_input{};
    what.nspace = "a";
    what.ranks = std::move(to);
    what.offset = offset;
    what.bytes = std::move(bytes);
    what.is_end = is_end;
    return uut.take(
      what, [this](io_input_taken x) { answers.push_back(std::move(x)); });
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(io_inputs_tests, fixture)

CAF_TEST(I9 a part is answered when the last of its processes has it) {
  CAF_CHECK(!give({1, 0, 1}, "abc"));
  CAF_CHECK_EQUAL(written[0], "abc");
  CAF_CHECK_EQUAL(written[1], "abc");
  uut.note_written({"a", 0}, 3);
  CAF_CHECK(answers.empty());
  uut.note_written({"a", 1}, 3);
  CAF_REQUIRE_EQUAL(answers.size(), 1u);
  CAF_CHECK_EQUAL(answers[0].readers, 2u);
  CAF_CHECK_EQUAL(answers[0].offset, 3u);
  CAF_CHECK(answers[0].closed.empty());
}

CAF_TEST(I9 a part that one process cannot take is given to none) {
  CAF_CHECK(!give({0}, "abc"));
  const auto why = give({0, 1}, "x", 3);
  CAF_CHECK(status_of(why) == status::bad_param);
  CAF_CHECK(reason_of(why).find("a:1") != std::string::npos);
  CAF_CHECK_EQUAL(written[0], "abc");
  CAF_CHECK(written[1].empty());
  CAF_CHECK(status_of(give({}, "x")) == status::bad_param);
  CAF_CHECK(status_of(give({rank_wildcard}, "x")) == status::bad_param);
  CAF_CHECK(answers.empty());
}

CAF_TEST(I9 who reads no more is named and holds nobody up) {
  CAF_CHECK(!give({0, 1}, "abc"));
  uut.note_failed({"a", 1}, make_error(status::lost_connection));
  uut.note_written({"a", 0}, 3);
  CAF_REQUIRE_EQUAL(answers.size(), 1u);
  CAF_CHECK_EQUAL(answers[0].readers, 1u);
  CAF_CHECK_EQUAL(answers[0].closed, (std::vector<proc_id>{{"a", 1}}));
}

CAF_TEST(I9 who was not there is given the beginning once more) {
  CAF_CHECK(!give({0}, "abc"));
  uut.note_failed({"a", 0}, make_error(status::not_found));
  CAF_REQUIRE_EQUAL(answers.size(), 1u);
  CAF_CHECK_EQUAL(answers[0].closed.size(), 1u);
  CAF_CHECK(!give({0}, "abc", 0));
  CAF_CHECK_EQUAL(written[0], "abcabc");
  uut.note_written({"a", 0}, 3);
  CAF_REQUIRE_EQUAL(answers.size(), 2u);
  CAF_CHECK_EQUAL(answers[1].readers, 1u);
}

CAF_TEST(I9 the end is told once and what repeats is not written) {
  CAF_CHECK(!give({0}, "abc", 0, true));
  CAF_CHECK(!give({0}, "abc", 0, true));
  CAF_CHECK_EQUAL(written[0], "abc");
  CAF_CHECK_EQUAL(closed, ranks{0});
  uut.note_written({"a", 0}, 3);
  CAF_CHECK_EQUAL(answers.size(), 2u);
}

CAF_TEST(I9 the end of a job answers whoever waits and lists nothing more) {
  CAF_CHECK(!give({0, 1}, "abc"));
  auto listed = io_list{};
  const auto all = std::vector<proc_id>{{"a", rank_wildcard}};
  uut.list(
    all, [](const std::string&) { return false; }, listed);
  CAF_CHECK(listed.streams.empty());
  uut.list(
    all, [](const std::string& x) { return x == "a"; }, listed);
  CAF_CHECK_EQUAL(listed.streams.size(), 2u);
  uut.forget("a");
  CAF_REQUIRE_EQUAL(answers.size(), 1u);
  CAF_CHECK_EQUAL(answers[0].readers, 0u);
  CAF_CHECK_EQUAL(answers[0].closed.size(), 2u);
  listed = {};
  uut.list(
    all, [](const std::string&) { return true; }, listed);
  CAF_CHECK(listed.streams.empty());
  uut.note_written({"a", 0}, 3); // Comes late.
  CAF_CHECK_EQUAL(answers.size(), 1u);
}

CAF_TEST_FIXTURE_SCOPE_END()
