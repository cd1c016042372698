// Input on its way to processes: in order, a piece at a time.

#include "actors/io/input_queue.hpp"

#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "messages/io_keys.hpp"
#include "messages/status.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

constexpr auto piece = defaults::io_fragment_bytes;

/// A server that answers when the test says so.
struct world {
  std::deque<std::pair<io_push_request, input_queue::callback>> sent;
  std::vector<std::pair<int, status>> done;
  std::shared_ptr<input_queue> uut = std::make_shared<input_queue>(
    [this](io_push_request x, input_queue::callback f) {
      sent.emplace_back(std::move(x), std::move(f));
    });

  void push(int number, uint32_t rank, std::optional<std::string> bytes,
            std::vector<info> infos = {}) {
    uut->push({{{"job", rank}}, std::move(infos), std::move(bytes)},
              [this, number](const caf::error& why) {
                done.emplace_back(number,
                                  why ? status_of(why) : status::success);
              });
  }

  /// Takes the oldest piece and answers it.
  io_push_request answer(status code = status::success) {
    CAF_REQUIRE(!sent.empty());
    auto [x, f] = std::move(sent.front());
    sent.pop_front();
    f(code == status::success ? caf::error{} : make_error(code));
    return std::move(x);
  }
};

} // namespace

CAF_TEST(I6 what is pushed goes in order and one piece at a time) {
  world x;
  auto big = std::string(2 * piece + 5, 'a');
  big[piece] = 'b';
  x.push(1, 0, big);
  x.push(2, 0, "small");
  x.push(3, 0, std::nullopt);
  auto got = std::string{};
  for (auto i = 0; i < 4; ++i) {
    CAF_REQUIRE_EQUAL(x.sent.size(), 1u);
    CAF_CHECK_EQUAL(x.done.size(), i < 3 ? 0u : 1u);
    const auto request = x.answer();
    CAF_REQUIRE(request.bytes);
    CAF_CHECK(request.bytes->size() <= piece);
    got += *request.bytes;
  }
  CAF_CHECK(got == big + "small");
  CAF_CHECK_EQUAL(x.done.size(), 2u);
  // The end comes after the last byte, once (edge case 197).
  CAF_CHECK(!x.answer().bytes);
  CAF_CHECK(x.sent.empty());
  CAF_REQUIRE_EQUAL(x.done.size(), 3u);
  for (auto i = 0; i < 3; ++i)
    CAF_CHECK(x.done[i] == (std::pair{i + 1, status::success}));
}

CAF_TEST(I6 what ends the input goes with the last piece only) {
  world x;
  x.push(1, 0, std::string(2 * piece + 5, 'a'),
         {{std::string{attr::iof_complete}, 0, value::boolean(true)},
          {std::string{io_offset_key}, 0, value::uint64(7)}});
  for (auto i = 0; i < 3; ++i) {
    const auto request = x.answer();
    CAF_CHECK_EQUAL(flag(request.directives, attr::iof_complete), i == 2);
    CAF_CHECK(find(request.directives, io_offset_key) != nullptr);
  }
  CAF_CHECK(x.sent.empty());
}

CAF_TEST(I6 who reads slowly holds up nobody else) {
  world x;
  x.push(1, 0, "slow");
  x.push(2, 0, "more");
  x.push(3, 1, "other");
  CAF_REQUIRE_EQUAL(x.sent.size(), 2u);
  CAF_CHECK(!x.uut->is_idle({{"job", 0}}));
  CAF_CHECK(x.uut->is_idle({{"job", 2}}));
  std::swap(x.sent[0], x.sent[1]);
  CAF_CHECK_EQUAL(*x.answer().bytes, "other");
  CAF_REQUIRE_EQUAL(x.done.size(), 1u);
  CAF_CHECK_EQUAL(x.done[0].first, 3);
}

CAF_TEST(I9 a refusal ends what was pushed and not what comes after it) {
  world x;
  x.push(1, 0, std::string(3 * piece, 'a'));
  x.push(2, 0, "b");
  x.answer();
  x.answer(status::lost_connection);
  CAF_REQUIRE_EQUAL(x.done.size(), 1u);
  CAF_CHECK(x.done[0] == (std::pair{1, status::lost_connection}));
  CAF_CHECK_EQUAL(*x.answer().bytes, "b");
  CAF_CHECK(x.done[1] == (std::pair{2, status::success}));
}

CAF_TEST(I18 a server that says stop gets nothing until it says go on) {
  // Edge case 202.
  world x;
  x.push(1, 0, std::string(2 * piece, 'a'));
  x.push(2, 1, "b");
  // What is answered like this has been taken.
  x.answer(taken_and_stopped);
  x.answer();
  CAF_CHECK(x.sent.empty());
  x.push(3, 1, "c");
  x.push(4, 2, "d");
  CAF_CHECK(x.sent.empty());
  x.uut->go_on();
  CAF_CHECK_EQUAL(x.sent.size(), 3u);
  CAF_CHECK_EQUAL(x.answer().bytes->size(), piece);
  x.uut->stop();
  x.answer();
  x.answer();
  x.push(5, 0, "e");
  CAF_CHECK(x.sent.empty());
  x.uut->go_on();
  CAF_CHECK_EQUAL(*x.answer().bytes, "e");
  CAF_CHECK_EQUAL(x.done.size(), 5u);
  for (const auto& y : x.done)
    CAF_CHECK(y.second == status::success);
}

CAF_TEST(I9 each piece says where it stands) {
  world x;
  x.push(1, 0, std::string(piece + 1, 'a'),
         {{std::string{io_offset_key}, 0, value::uint64(1000)}});
  const auto offset = [](const io_push_request& y) {
    return std::get<uint64_t>(y.directives.at(0).val.data);
  };
  CAF_CHECK_EQUAL(offset(x.answer()), 1000u);
  CAF_CHECK_EQUAL(offset(x.answer()), 1000u + piece);
}

CAF_TEST(I17 what waits is refused at the end) {
  world x;
  x.push(1, 0, "a");
  x.push(2, 0, "b");
  x.uut->close();
  CAF_REQUIRE_EQUAL(x.done.size(), 2u);
  CAF_CHECK(x.done[0].second == status::unreach);
  CAF_CHECK(x.done[1].second == status::unreach);
  // An answer that comes late changes nothing.
  x.answer();
  CAF_CHECK_EQUAL(x.done.size(), 2u);
  x.push(3, 0, "c");
  const auto late = std::move(x.sent.front().second);
  x.uut.reset();
  late({});
}
