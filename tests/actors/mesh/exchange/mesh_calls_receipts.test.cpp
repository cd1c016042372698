#include "actors/mesh/exchange/defaults.hpp"
#include "actors/mesh/exchange/mesh_calls.hpp"
#include "tests/test.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <random>

using namespace troupe;

namespace {

using member = mesh_calls::member;

constexpr auto delay = mesh_calls::time{defaults::receipt_delay};

/// A part of the collective `generation`, with so many bytes of data.
collective_part part(uint64_t generation, size_t bytes = 0) {
  auto result = collective_part{};
  result.id.generation = generation;
  if (bytes > 0)
    result.data.push_back({0, std::string(bytes, 'x')});
  return result;
}

/// A host, and which collectives it has heard of.
struct host {
  mesh_calls::time now{0};
  std::deque<send_to_member> sent;
  std::vector<uint64_t> done;
  mesh_calls subject;

  explicit host(member self) : subject(self, effects()) {
    // nop
  }

  mesh_calls::effects effects() {
    auto out = mesh_calls::effects{};
    out.now = [this] { return now; };
    out.send = [this](send_to_member x) { sent.push_back(std::move(x)); };
    out.execute = [this](const member&, host_question& what,
                         const mesh_calls::answerer& reply) {
      if (const auto* x = std::get_if<collective_part>(&what))
        done.push_back(x->id.generation);
      else if (const auto* x = std::get_if<submit_event>(&what))
        done.push_back(x->number);
      reply(ack{});
    };
    return out;
  }

  void elapse(mesh_calls::time how_long) {
    now += how_long;
    subject.tick();
  }
};

struct two_hosts {
  host a{{0, 7}};
  host b{{1, 9}};

  two_hosts() {
    a.subject.member_changed({1, 1, "n1", 9, node_state::live});
    b.subject.member_changed({1, 0, "n0", 7, node_state::live});
  }

  void give_a(send_to_member x) {
    a.subject.take({1, 9, std::move(x.what)});
  }

  void give_b(send_to_member x) {
    b.subject.take({0, 7, std::move(x.what)});
  }

  /// @returns how many messages.
  size_t pass_all() {
    auto result = size_t{0};
    while (!a.sent.empty() || !b.sent.empty()) {
      ++result;
      auto& from = a.sent.empty() ? b.sent : a.sent;
      auto x = std::move(from.front());
      from.pop_front();
      if (&from == &a.sent)
        give_b(std::move(x));
      else
        give_a(std::move(x));
    }
    return result;
  }
};

} // namespace

CAF_TEST(CTL-2 a collective costs two nodes one message each) {
  auto x = two_hosts{};
  auto messages = size_t{0};
  for (uint64_t i = 1; i <= 1000; ++i) {
    x.a.subject.tell(1, part(i));
    messages += x.pass_all();
    x.b.subject.tell(0, part(i));
    messages += x.pass_all();
    CAF_REQUIRE(x.a.subject.open() <= 1);
    CAF_REQUIRE(x.b.subject.open() <= 1);
    CAF_REQUIRE(x.a.subject.remembered() <= 1);
    CAF_REQUIRE(x.b.subject.remembered() <= 2);
  }
  CAF_CHECK_EQUAL(messages, 2000u);
  CAF_CHECK_EQUAL(x.a.done.size(), 1000u);
  CAF_CHECK_EQUAL(x.b.done.size(), 1000u);
}

CAF_TEST(CTL-2 what happens to groups costs a message and events two) {
  auto x = two_hosts{};
  const auto ask = [&](const std::string& nspace, uint64_t number) {
    auto what = submit_event{};
    what.nspace = nspace;
    what.number = number;
    x.a.subject.tell(1, std::move(what));
    return x.pass_all();
  };
  // Who has raised an event waits until it is stable.
  CAF_CHECK_EQUAL(ask("job", 1), 2u);
  const auto log = log_name({"grp", 7, 1});
  CAF_CHECK_EQUAL(ask(log, 2), 1u);
  CAF_CHECK_EQUAL(ask(log, 3), 1u);
  CAF_CHECK_EQUAL(x.a.subject.open(), 2u);
  x.b.elapse(delay);
  CAF_CHECK_EQUAL(x.pass_all(), 1u);
  CAF_CHECK_EQUAL(x.a.subject.open(), 0u);
  CAF_CHECK((x.b.done == std::vector<uint64_t>{1, 2, 3}));
}

CAF_TEST(CTL-2 what was carried out is said in time) {
  auto x = two_hosts{};
  x.a.subject.tell(1, part(1));
  CAF_CHECK_EQUAL(x.pass_all(), 1u);
  x.b.elapse(delay / 2);
  x.a.subject.tell(1, part(2));
  CAF_CHECK_EQUAL(x.pass_all(), 1u);
  CAF_CHECK_EQUAL(x.a.subject.open(), 2u);
  CAF_CHECK(x.b.subject.next_due() == delay);
  x.b.elapse(delay / 2);
  CAF_CHECK_EQUAL(x.pass_all(), 1u);
  CAF_CHECK_EQUAL(x.a.subject.open(), 0u);
  CAF_CHECK(!x.b.subject.next_due());
}

CAF_TEST(LOAD-2 what the sender keeps is bounded in number and bytes) {
  auto x = two_hosts{};
  for (uint64_t i = 1; i < defaults::receipts; ++i)
    x.a.subject.tell(1, part(i));
  CAF_CHECK_EQUAL(x.pass_all(), defaults::receipts - 1);
  x.a.subject.tell(1, part(defaults::receipts));
  CAF_CHECK_EQUAL(x.pass_all(), 2u);
  CAF_CHECK_EQUAL(x.a.subject.open(), 0u);
  x.a.subject.tell(1, part(1000, defaults::receipt_bytes / 2));
  CAF_CHECK_EQUAL(x.pass_all(), 1u);
  x.a.subject.tell(1, part(1001, defaults::receipt_bytes / 2));
  CAF_CHECK_EQUAL(x.pass_all(), 2u);
  CAF_CHECK_EQUAL(x.a.subject.open(), 0u);
}

CAF_TEST(CTL-1 P-K1 a receipt that was lost is given again) {
  auto x = two_hosts{};
  x.a.subject.tell(1, part(1));
  x.pass_all();
  x.b.elapse(delay);
  CAF_CHECK_EQUAL(x.b.sent.size(), 1u);
  x.b.sent.clear();
  x.a.subject.routes_changed();
  x.pass_all();
  CAF_CHECK_EQUAL(x.a.subject.open(), 0u);
  CAF_CHECK_EQUAL(x.b.done.size(), 1u);
}

CAF_TEST(X44 a receipt for what was not asked changes nothing) {
  auto x = two_hosts{};
  x.a.subject.tell(1, part(1));
  x.a.sent.clear();
  x.a.subject.take({1, 9, host_answer{0, ack{}, {0, 2, UINT64_MAX}}});
  x.a.subject.take({1, 8, host_answer{0, ack{}, {1}}});
  CAF_CHECK_EQUAL(x.a.subject.open(), 1u);
  x.a.subject.take({1, 9, host_answer{0, ack{}, {1, 1}}});
  CAF_CHECK_EQUAL(x.a.subject.open(), 0u);
}

CAF_TEST(CTL-1 CTL-2 O15 seeds lose receipts and calls) {
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    auto random = std::mt19937{seed};
    const auto draw = [&](size_t n) { return random() % n; };
    auto x = two_hosts{};
    auto way = std::vector<std::pair<bool, send_to_member>>{};
    auto asked = std::array<uint64_t, 2>{};
    const auto collect = [&](size_t most) {
      for (auto* from : {&x.a, &x.b})
        for (auto& y : std::exchange(from->sent, {}))
          for (auto n = most == 1 ? 1 : draw(most); n > 0; --n)
            way.emplace_back(from == &x.a, y);
    };
    const auto deliver = [&] {
      const auto i = draw(way.size());
      auto [is_from_a, y] = std::move(way[i]);
      way.erase(way.begin() + static_cast<ptrdiff_t>(i));
      is_from_a ? x.give_b(std::move(y)) : x.give_a(std::move(y));
    };
    for (auto step = 0; step < 300; ++step) {
      switch (draw(6)) {
        case 0:
          x.a.subject.tell(1, part(++asked[0]));
          break;
        case 1:
          x.b.subject.tell(0, part(++asked[1]));
          break;
        case 2:
          if (draw(4) == 0)
            (draw(2) == 0 ? x.a : x.b).subject.routes_changed();
          break;
        case 3:
          (draw(2) == 0 ? x.a : x.b).elapse(delay * draw(30) / 10);
          break;
        default:
          if (!way.empty())
            deliver();
      }
      collect(3);
    }
    // No more faults: all is carried out, and both know it.
    x.a.subject.routes_changed();
    x.b.subject.routes_changed();
    collect(1);
    for (auto i = 0; i < 2; ++i) {
      while (!way.empty()) {
        deliver();
        collect(1);
      }
      x.a.elapse(delay);
      x.b.elapse(delay);
      collect(1);
    }
    while (!way.empty())
      deliver();
    CAF_REQUIRE_EQUAL(x.b.done.size(), asked[0]);
    CAF_REQUIRE_EQUAL(x.a.done.size(), asked[1]);
    for (const auto& done : {x.a.done, x.b.done})
      CAF_REQUIRE(std::adjacent_find(done.begin(), done.end(),
                                     std::greater_equal<uint64_t>{})
                  == done.end());
    CAF_REQUIRE_EQUAL(x.a.subject.open(), 0u);
    CAF_REQUIRE_EQUAL(x.b.subject.open(), 0u);
  }
}
