#include "actors/mesh/sessions/message_queue.hpp"

#include "tests/test.hpp"

using namespace troupe;

namespace {

message_limits small() {
  auto x = message_limits{};
  x.queue_bytes = 1000;
  x.message_bytes = 800;
  x.piece_bytes = 100;
  x.slack_bytes = 10;
  return x;
}

peer_message message(std::string bytes, uint64_t incarnation = 0,
                     traffic_class of = traffic_class::io) {
  auto x = peer_message{};
  x.of = of;
  x.incarnation = incarnation;
  x.bytes = std::make_shared<const std::string>(std::move(bytes));
  return x;
}

/// Takes what a queue gives, up to a number of payloads.
struct sink {
  std::vector<peer_payload> taken;
  size_t room = SIZE_MAX;

  message_queue::taker taker() {
    return [this](const peer_payload& x) {
      if (taken.size() >= room)
        return false;
      taken.push_back(x);
      return true;
    };
  }
};

/// What comes out of a message after its way in pieces.
std::vector<std::string> assembled(const sink& x) {
  auto assembly = message_assembly{small()};
  auto result = std::vector<std::string>{};
  for (const auto& y : x.taken) {
    auto out = std::shared_ptr<const std::string>{};
    CAF_CHECK(assembly.add(traffic_class::io, y, out));
    if (out)
      result.push_back(*out);
  }
  return result;
}

peer_payload part(uint64_t total, uint64_t offset, std::string bytes) {
  return make_payload(std::make_shared<const std::string>(
    to_payload(message_part{total, offset, std::move(bytes)})));
}

} // namespace

CAF_TEST(LIM22 long messages go in pieces and come out whole) {
  auto queue = message_queue{small()};
  const auto texts =
    std::vector<std::string>{"a", std::string(110, 'b'), std::string(111, 'c'),
                             std::string(400, 'd'), "e"};
  for (const auto& text : texts)
    CAF_CHECK(queue.push(message(text)));
  auto out = sink{};
  CAF_CHECK_EQUAL(queue.flush(traffic_class::io, 1, out.taker()), 0u);
  CAF_CHECK_EQUAL(out.taken.size(), 1u + 1 + 2 + 4 + 1);
  CAF_CHECK(assembled(out) == texts);
  CAF_CHECK_EQUAL(queue.bytes(), 0u);
}

CAF_TEST(a message goes on where it was held up) {
  auto queue = message_queue{small()};
  queue.push(message(std::string(450, 'x')));
  queue.push(message("y"));
  auto out = sink{};
  for (out.room = 1; out.taken.size() < 6; ++out.room)
    queue.flush(traffic_class::io, 1, out.taker());
  CAF_CHECK(
    (assembled(out) == std::vector<std::string>{std::string(450, 'x'), "y"}));
}

CAF_TEST(LOAD-2 a queue is bounded) {
  auto queue = message_queue{small()};
  CAF_CHECK(!queue.push(message(std::string(801, 'x'))));
  CAF_CHECK(queue.push(message(std::string(800, 'x'))));
  CAF_CHECK(queue.push(message(std::string(200, 'x'))));
  CAF_CHECK(!queue.push(message("x")));
  // Another class is not kept out.
  CAF_CHECK(queue.push(message("x", 0, traffic_class::control)));
  CAF_CHECK_EQUAL(queue.bytes(), 1001u);
}

CAF_TEST(LOAD-2 ACT-10 gateways bound their own and no more) {
  auto queue = message_queue{small()};
  for (auto i = 0; i < 3; ++i)
    CAF_CHECK(
      queue.push(message(std::string(800, 'x'), 0, traffic_class::actors)));
  // Passed on for others.
  auto frame = message("frame", 0, traffic_class::actors);
  frame.may_drop = true;
  CAF_CHECK(!queue.push(frame));
}

CAF_TEST(LINK-4 what is for another incarnation is dropped) {
  auto queue = message_queue{small()};
  queue.push(message("old", 1));
  queue.push(message("new", 2));
  queue.push(message("any"));
  auto out = sink{};
  CAF_CHECK_EQUAL(queue.flush(traffic_class::io, 2, out.taker()), 1u);
  CAF_CHECK((assembled(out) == std::vector<std::string>{"new", "any"}));
}

CAF_TEST(what may be dropped does not wait) {
  auto queue = message_queue{small()};
  auto frame = message("frame");
  frame.may_drop = true;
  queue.push(frame);
  queue.push(frame);
  auto out = sink{};
  out.room = 1;
  CAF_CHECK_EQUAL(queue.flush(traffic_class::io, 1, out.taker()), 1u);
  CAF_CHECK(queue.is_empty(traffic_class::io));
}

CAF_TEST(LINK-3 what may be dropped is not dropped half sent) {
  auto queue = message_queue{small()};
  const auto text = std::string(150, 'x');
  auto frame = message(text);
  frame.may_drop = true;
  queue.push(frame);
  queue.push(message("y"));
  auto out = sink{};
  out.room = 1;
  CAF_CHECK_EQUAL(queue.flush(traffic_class::io, 1, out.taker()), 0u);
  out.room = SIZE_MAX;
  CAF_CHECK_EQUAL(queue.flush(traffic_class::io, 1, out.taker()), 0u);
  CAF_CHECK((assembled(out) == std::vector<std::string>{text, "y"}));
}

CAF_TEST(LINK-3 the rest of a message does not go into another session) {
  auto queue = message_queue{small()};
  queue.push(message(std::string(300, 'x')));
  queue.push(message("y"));
  auto out = sink{};
  out.room = 1;
  queue.flush(traffic_class::io, 1, out.taker());
  CAF_CHECK_EQUAL(queue.cut(), 1u);
  auto next = sink{};
  queue.flush(traffic_class::io, 1, next.taker());
  CAF_CHECK((assembled(next) == std::vector<std::string>{"y"}));
}

CAF_TEST(X44 pieces that do not fit together are refused) {
  const auto refuses = [](std::vector<peer_payload> parts) {
    auto assembly = message_assembly{small()};
    auto out = std::shared_ptr<const std::string>{};
    for (size_t i = 0; i + 1 < parts.size(); ++i)
      CAF_CHECK(assembly.add(traffic_class::io, parts[i], out));
    return !assembly.add(traffic_class::io, parts.back(), out) && !out;
  };
  const auto text = std::string(50, 'x');
  CAF_CHECK(refuses({part(801, 0, text)}));
  CAF_CHECK(refuses({part(100, 0, "")}));
  CAF_CHECK(refuses({part(100, 1, text)}));
  CAF_CHECK(refuses({part(40, 0, text)}));
  CAF_CHECK(refuses({part(UINT64_MAX, UINT64_MAX - 1, text)}));
  CAF_CHECK(refuses({part(100, 0, text), part(100, 40, text)}));
  CAF_CHECK(refuses({part(100, 0, text), part(120, 50, text)}));
  CAF_CHECK(refuses({part(100, 0, text), part(100, 50, text + "x")}));
  // Something whole between pieces, and pieces within pieces.
  CAF_CHECK(refuses({part(100, 0, text),
                     make_payload(std::make_shared<const std::string>("\0"))}));
  const auto inner = to_payload(message_part{1, 0, "x"});
  CAF_CHECK(refuses({part(inner.size(), 0, inner)}));
  CAF_CHECK(refuses({make_payload(std::make_shared<const std::string>(
    to_payload(message_part{1, 0, "x"}) + "y"))}));
}
