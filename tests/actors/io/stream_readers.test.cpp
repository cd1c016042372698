// Who reads which output stream.

#include "actors/io/stream_readers.hpp"

#include "actors/io/defaults.hpp"
#include "actors/io/io_options.hpp"
#include "messages/attributes.hpp"
#include "messages/io_keys.hpp"
#include "messages/status.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

using numbers = std::vector<uint64_t>;
using procs = std::vector<proc_id>;

constexpr auto out = io_channels::stdout_;
constexpr auto all = rank_wildcard;

/// Options of the sinks that have been made.
using made_sinks = std::vector<tool_output_options>;

requester user(uint32_t index, uint32_t uid = our_uid) {
  return asks({"tool", 0}, index, uid);
}

io_pull_request pull_of(procs sources, std::vector<info> directives = {}) {
  auto result = io_pull_request{};
  result.procs = std::move(sources);
  result.directives = std::move(directives);
  result.channels = out;
  return result;
}

struct world {
  stream_readers uut;
  made_sinks made;

  status read(const requester& who, const io_pull_request& request) {
    const auto x = uut.read(who, request);
    return x ? status::success : status_of(x.error());
  }

  uint64_t add(const requester& who, const io_pull_request& request) {
    auto what = uut.read(who, request);
    CAF_REQUIRE(what);
    return uut.add(who, request, std::move(*what), "reader",
                   [this](tool_output_options x) {
                     made.push_back(std::move(x));
                     return output_sink_actor{};
                   });
  }

  status remove(const requester& who, uint64_t number) {
    const auto x = uut.remove(who, number);
    return x ? status::success : status_of(x.error());
  }

  /// The readers that watch a job which begins.
  numbers begun(const std::string& nspace, uint32_t owner = our_uid,
                const std::string& parent = "") {
    auto result = numbers{};
    for (const auto& x : uut.job_begun(nspace, owner, parent).watches)
      result.push_back(x.number);
    return result;
  }
};

} // namespace

CAF_TEST(I6 what cannot be done is refused before it is taken) {
  world x;
  CAF_CHECK_EQUAL(x.read(user(1), pull_of({{"a", all}})), status::success);
  auto required = with("unheard.of");
  required.flags = info_required;
  CAF_CHECK_EQUAL(x.read(user(1), pull_of({{"a", all}}, {required})),
                  status::not_supported);
  auto none = pull_of({{"a", all}});
  none.channels = io_channels::none;
  CAF_CHECK_EQUAL(x.read(user(1), none), status::bad_param);
  CAF_CHECK_EQUAL(
    x.read(user(1),
           pull_of({{"a", all}}, {with(io_start_key, value::string("never"))})),
    status::bad_param);
}

CAF_TEST(I18 a requester has as many readers as the limit says) {
  world x;
  const auto request = pull_of({{"a", 0}});
  for (size_t i = 0; i < defaults::io_subscriptions_per_requester; ++i)
    x.add(user(1), request);
  CAF_CHECK_EQUAL(x.read(user(1), request), status::out_of_resource);
  CAF_CHECK_EQUAL(x.read(user(2), request), status::success);
  CAF_CHECK_EQUAL(x.remove(user(1), 1), status::success);
  CAF_CHECK_EQUAL(x.read(user(1), request), status::success);
}

CAF_TEST(I2 a reader is known by its number unless it has one) {
  world x;
  CAF_CHECK_EQUAL(x.add(user(1), pull_of({{"a", 0}})), 1u);
  auto request = pull_of({{"a", 0}}, {with(io_offsets_key)});
  request.handler = 7;
  CAF_CHECK_EQUAL(x.add(user(1), request), 2u);
  CAF_REQUIRE_EQUAL(x.made.size(), 2u);
  CAF_CHECK_EQUAL(x.made[0].handler, 1u);
  CAF_CHECK(!x.made[0].with_offsets);
  CAF_CHECK_EQUAL(x.made[1].handler, 7u);
  CAF_CHECK(x.made[1].with_offsets);
  CAF_CHECK_EQUAL(x.uut.find(2)->what.name, "reader");
}

CAF_TEST(I11 a reader is ended by its requester only) {
  world x;
  const auto number = x.add(user(1), pull_of({{"a", 0}}));
  CAF_CHECK_EQUAL(x.remove(user(2), number), status::no_permissions);
  CAF_CHECK_EQUAL(x.remove(user(1), number + 1), status::not_found);
  CAF_CHECK_EQUAL(x.remove(user(1), 0), status::not_found);
  const auto ended = x.uut.remove(user(1), number);
  CAF_REQUIRE(ended);
  CAF_CHECK(*ended);
  // It may have gone with its job: so it counts as ended.
  const auto again = x.uut.remove(user(1), number);
  CAF_REQUIRE(again);
  CAF_CHECK(!*again);
}

CAF_TEST(I5 I17 each job of a reader is watched once and as it was asked for) {
  world x;
  const auto number = x.add(user(1), pull_of({{"a", 2}, {"a", 3}, {"b", all}}));
  const auto a = x.uut.begin(number, "a");
  CAF_REQUIRE(a);
  CAF_CHECK_EQUAL(a->what.sources, (procs{{"a", 2}, {"a", 3}}));
  CAF_CHECK(!x.uut.begin(number, "a"));
  CAF_CHECK(!x.uut.begin(number, "c"));
  CAF_CHECK(!x.uut.begin(number + 1, "a"));
  const auto b = x.uut.begin(number, "b");
  CAF_REQUIRE(b);
  CAF_CHECK_EQUAL(b->what.sources, (procs{{"b", all}}));
  CAF_CHECK(x.uut.note(number, "a", 17));
  CAF_CHECK(!x.uut.note(number, "c", 18));
  CAF_CHECK_EQUAL(x.uut.job_over("a"), numbers{17});
  CAF_CHECK(!x.uut.note(number, "a", 19));
  CAF_CHECK(x.uut.find(number) != nullptr);
  // What has not been noted goes with its job all the same.
  CAF_CHECK_EQUAL(x.uut.job_over("b"), numbers{});
  CAF_CHECK(x.uut.find(number) == nullptr);
}

CAF_TEST(I17 one subscription for several jobs ends with the last of them) {
  world x;
  const auto number = x.add(user(1), pull_of({{"a", 2}, {"b", all}}));
  const auto sources = procs{{"a", 2}, {"b", all}};
  const auto watch = x.uut.begin(number, sources);
  CAF_CHECK_EQUAL(watch.what.sources, sources);
  x.uut.job_over("b");
  CAF_CHECK(x.uut.find(number) != nullptr);
  x.uut.job_over("a");
  CAF_CHECK(x.uut.find(number) == nullptr);
}

CAF_TEST(I5 a reader of all jobs gets those to come of its own user) {
  world x;
  const auto ours = x.add(user(1), pull_of({}));
  const auto root = x.add(user(2, 0), pull_of({{"", 3}}));
  const auto other = x.add(user(3, our_uid + 1), pull_of({}));
  x.add(user(1), pull_of({{"a", all}}));
  CAF_CHECK(x.uut.standing_channels() == out);
  CAF_CHECK_EQUAL(x.begun("new"), (numbers{ours, root}));
  CAF_CHECK_EQUAL(x.begun("other", our_uid + 1), (numbers{root, other}));
  // They are there already.
  const auto again = x.uut.job_begun("new", our_uid, "");
  CAF_CHECK(again.is_wanted);
  CAF_CHECK(again.watches.empty());
  CAF_CHECK(!x.uut.job_begun("none", our_uid + 2, "x").watches.empty());
  x.uut.job_over("new");
  CAF_CHECK(x.uut.find(ours) != nullptr);
  for (const auto number : {ours, root, other})
    x.uut.remove(number);
  CAF_CHECK(x.uut.standing_channels() == io_channels::none);
}

CAF_TEST(I5 who reads all of a job reads the jobs that it spawns) {
  world x;
  const auto whole = x.add(
    user(1), pull_of({{"a", all}}, {with(io_offset_key, value::uint64(9))}));
  const auto part = x.add(user(1), pull_of({{"a", 1}}));
  x.uut.begin(whole, "a");
  x.uut.begin(part, "a");
  const auto heirs = x.uut.job_begun("child", our_uid, "a");
  CAF_REQUIRE_EQUAL(heirs.watches.size(), 1u);
  const auto& what = heirs.watches.front();
  CAF_CHECK_EQUAL(what.number, whole);
  CAF_CHECK_EQUAL(what.what.sources, (procs{{"child", all}}));
  // From its beginning.
  CAF_CHECK(what.what.start == io_start::tail);
  CAF_CHECK_EQUAL(what.what.offset, 0u);
  CAF_CHECK_EQUAL(x.begun("grandchild", our_uid, "child"), numbers{whole});
  CAF_CHECK(!x.uut.job_begun("stranger", our_uid, "").is_wanted);
}

CAF_TEST(I17 readers go with their requester) {
  world x;
  x.add(user(1), pull_of({{"a", 0}}));
  const auto kept = x.add(user(2), pull_of({{"a", 0}}));
  x.add(user(1), pull_of({{"b", 0}}));
  CAF_CHECK_EQUAL(x.uut.remove_all_of(user(1)).size(), 2u);
  CAF_CHECK(x.uut.remove_all_of(user(1)).empty());
  CAF_CHECK(x.uut.find(kept) != nullptr);
}
