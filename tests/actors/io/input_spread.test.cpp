// Input on its way to the nodes of its processes.

// A word of the framework that is a name in the header, too.
#undef expect

#include "actors/io/input_spread.hpp"

#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "messages/io_keys.hpp"
#include "messages/status.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

using ranks = std::vector<uint32_t>;

constexpr auto all = rank_wildcard;
constexpr auto piece = defaults::io_window;

/// Two ranks on each of the nodes 0 and 1.
job_map map_of(const std::string& nspace) {
  auto result = job_map{};
  result.nspace = nspace;
  for (uint32_t node = 0; node < 2; ++node) {
    auto share = node_share{};
    share.node = node;
    share.procs = {{2 * node, 0, {}}, {2 * node + 1, 0, {}}};
    result.shares.push_back(std::move(share));
  }
  return result;
}

struct sent_part {
  uint32_t node;
  io_input part;
  input_taken_callback then;
};

struct world {
  job_locations places;
  std::deque<sent_part> sent;
  std::vector<std::function<void(const caf::error&)>> locating;
  std::vector<std::pair<status, io_input_taken>> done;
  input_spread uut;

  world() : uut(places, means()) {
    places.add(map_of("a"));
  }

  input_spread::effects means() {
    auto out = input_spread::effects{};
    out.send = [this](uint32_t node, io_input part, input_taken_callback then) {
      sent.push_back({node, std::move(part), std::move(then)});
    };
    out.locate = [this](const std::string&,
                        std::function<void(const caf::error&)> then) {
      locating.push_back(std::move(then));
    };
    return out;
  }

  void give(ranks to, std::string bytes, const std::string& nspace = "a",
            bool is_end = false) {
    uut.give({nspace, std::move(to), std::nullopt, std::move(bytes), is_end},
             [this](const caf::expected<io_input_taken>& x) {
               if (x)
                 done.emplace_back(status::success, *x);
               else
                 done.emplace_back(status_of(x.error()), io_input_taken{});
             });
  }

  /// The oldest part is taken, or refused.
  io_input answer(uint64_t offset, uint32_t readers,
                  status code = status::success) {
    CAF_REQUIRE(!sent.empty());
    auto x = std::move(sent.front());
    sent.pop_front();
    if (code == status::success)
      x.then(io_input_taken{offset, {}, readers});
    else
      x.then(make_error(code));
    return std::move(x.part);
  }
};

/// What a push of `bytes` to jobs is answered with.
status pushed(world& x, std::optional<std::string> bytes,
              std::vector<info> directives,
              std::vector<std::pair<uint32_t, status>> answers) {
  auto request = io_push_request{
    {{"a", 0}, {"a", 2}}, std::move(directives), std::move(bytes)};
  auto result = status::error;
  auto to = input_spread::targets{};
  to["a"] = input_spread::input_of(request, "a", all, 4);
  to["none"] = input_spread::input_of(request, "none", all, 4);
  x.uut.push(request, std::move(to), [&](const caf::error& why) {
    result = why ? status_of(why) : status::success;
  });
  for (const auto& [readers, code] : answers)
    x.answer(0, readers, code);
  return result;
}

} // namespace

CAF_TEST(I6 input for all goes to each node once) {
  world x;
  x.give({all}, "text");
  CAF_REQUIRE_EQUAL(x.sent.size(), 2u);
  CAF_CHECK_EQUAL(x.sent[0].part.ranks, ranks{all});
  CAF_CHECK_EQUAL(x.answer(9, 2).bytes, "text");
  CAF_CHECK(x.done.empty());
  x.answer(4, 1);
  CAF_REQUIRE_EQUAL(x.done.size(), 1u);
  CAF_CHECK_EQUAL(x.done[0].second.readers, 3u);
  CAF_CHECK_EQUAL(x.done[0].second.offset, 4u);
}

CAF_TEST(I6 a node gets input for its own processes) {
  world x;
  x.give({1, 2, 7}, "text");
  CAF_REQUIRE_EQUAL(x.sent.size(), 2u);
  CAF_CHECK_EQUAL(x.sent[0].node, 0u);
  CAF_CHECK_EQUAL(x.answer(4, 1).ranks, ranks{1});
  CAF_CHECK_EQUAL(x.sent[0].node, 1u);
  CAF_CHECK_EQUAL(x.answer(0, 0, status::unreach).ranks, ranks{2});
  CAF_REQUIRE_EQUAL(x.done.size(), 1u);
  CAF_CHECK_EQUAL(x.done[0].second.readers, 1u);
  CAF_REQUIRE_EQUAL(x.done[0].second.closed.size(), 1u);
  CAF_CHECK_EQUAL(x.done[0].second.closed[0], (proc_id{"a", 2}));
}

CAF_TEST(I6 a refusal counts when nobody has taken the input) {
  for (const auto readers : {0u, 1u}) {
    world x;
    x.give({0, 2}, "text");
    x.answer(0, readers);
    x.answer(0, 0, status::out_of_resource);
    CAF_REQUIRE_EQUAL(x.done.size(), 1u);
    CAF_CHECK_EQUAL(x.done[0].first,
                    readers > 0 ? status::success : status::out_of_resource);
  }
}

CAF_TEST(I6 a job is located before it gets input) {
  world x;
  x.give({0}, "text", "b");
  x.give({0}, "text", "c");
  CAF_REQUIRE_EQUAL(x.locating.size(), 2u);
  x.places.add(map_of("b"));
  x.locating[0]({});
  CAF_CHECK_EQUAL(x.answer(4, 1).nspace, "b");
  x.locating[1](make_error(status::not_found));
  CAF_REQUIRE_EQUAL(x.done.size(), 2u);
  CAF_CHECK_EQUAL(x.done[1].first, status::not_found);
}

CAF_TEST(I6 a large input goes in pieces of which two are on their way) {
  world x;
  x.give({0}, std::string(3 * piece, 'a') + "b", "a", true);
  x.give({0}, "c");
  x.give({1}, "another");
  // What others get does not wait.
  CAF_REQUIRE_EQUAL(x.sent.size(), 3u);
  CAF_CHECK_EQUAL(x.sent[2].part.bytes, "another");
  std::swap(x.sent[0], x.sent[2]);
  std::swap(x.sent[1], x.sent[2]);
  x.answer(7, 1);
  auto got = std::string{};
  auto ends = std::vector<bool>{};
  while (!x.sent.empty()) {
    CAF_CHECK(x.sent.size() <= 2u);
    const auto part = x.answer(0, 1);
    CAF_CHECK(part.bytes.size() <= piece);
    got += part.bytes;
    ends.push_back(part.is_end);
  }
  CAF_CHECK(got == std::string(3 * piece, 'a') + "bc");
  CAF_CHECK(ends == (std::vector<bool>{false, false, false, true, false}));
  CAF_CHECK_EQUAL(x.done.size(), 3u);
}

CAF_TEST(I9 each piece says where it stands if the whole does) {
  world x;
  x.uut.give({"a", {0}, 5, std::string(piece + 1, 'a'), false},
             [](const auto&) {
               // Nobody waits for it.
             });
  CAF_CHECK(x.answer(0, 1).offset == 5u);
  CAF_CHECK(x.answer(0, 1).offset == 5u + piece);
}

CAF_TEST(I6 a node keeps the input of its own processes) {
  world x;
  const auto kept = [&](ranks of) {
    auto what = io_input{"a", std::move(of), std::nullopt, "", false};
    const auto why = keep_input_of(x.places, 1, what);
    CAF_CHECK_EQUAL(static_cast<bool>(why), what.ranks.empty());
    return what.ranks;
  };
  CAF_CHECK_EQUAL(kept({all}), (ranks{2, 3}));
  CAF_CHECK_EQUAL(kept({0, 3}), ranks{3});
  CAF_CHECK_EQUAL(kept({0, 7}), ranks{});
}

CAF_TEST(I6 those that read are the ones that the job names) {
  const auto of = [](std::vector<proc_id> targets, uint32_t reading) {
    return input_spread::input_of({std::move(targets), {}, "x"}, "a", reading,
                                  4)
      .ranks;
  };
  CAF_CHECK_EQUAL(of({{"a", 1}, {"b", 2}}, all), ranks{1});
  CAF_CHECK_EQUAL(of({{"a", 9}}, all), ranks{});
  CAF_CHECK_EQUAL(of({{"a", all}}, all), ranks{all});
  CAF_CHECK_EQUAL(of({{"a", all}}, 3), ranks{3});
  CAF_CHECK_EQUAL(of({{"a", 1}}, 3), ranks{});
  CAF_CHECK_EQUAL(of({{"a", 3}}, 3), ranks{3});
  CAF_CHECK_EQUAL(of({{"a", all}}, rank_undef), ranks{});
}

CAF_TEST(F5.10 a push is answered when all jobs have answered) {
  const auto end = std::vector<info>{with(attr::iof_push_stdin)};
  world x;
  const auto taken = std::pair{1u, status::success};
  const auto unread = std::pair{0u, status::success};
  const auto gone = std::pair{0u, status::unreach};
  CAF_CHECK_EQUAL(pushed(x, "text", {}, {taken}), status::error);
  x.sent.clear();
  CAF_CHECK_EQUAL(pushed(x, "text", {}, {taken, gone}), status::success);
  CAF_CHECK_EQUAL(pushed(x, "text", {}, {unread, gone}), status::iof_complete);
  CAF_CHECK_EQUAL(pushed(x, {}, end, {taken, taken}), status::iof_complete);
  CAF_CHECK_EQUAL(pushed(x, {}, {}, {taken, taken}), status::success);
  CAF_CHECK_EQUAL(
    pushed(x, "text", {}, {unread, std::pair{0u, status::out_of_resource}}),
    status::out_of_resource);
}

CAF_TEST(F5.10 a push names its targets) {
  CAF_CHECK_EQUAL(status_of(check_push({{}, {}, "x"})), status::bad_param);
  CAF_CHECK(!check_push({{{"a", 0}}, {}, "x"}));
}
