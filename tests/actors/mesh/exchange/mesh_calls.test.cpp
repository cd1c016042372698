#include "actors/mesh/exchange/mesh_calls.hpp"

#include "messages/attributes.hpp"
#include "messages/custom_monitor.hpp"
#include "tests/test.hpp"

#include <algorithm>
#include <deque>
#include <random>

using namespace troupe;

namespace {

using namespace std::chrono_literals;
using member = mesh_calls::member;
using maybe_reply = caf::expected<host_reply>;

locate_job reading(std::string text) {
  return {std::move(text)};
}

start_share doing(std::string text) {
  return {std::move(text)};
}

std::string text_of(const host_question& x) {
  if (const auto* what = std::get_if<start_share>(&x))
    return what->nspace;
  if (const auto* what = std::get_if<share_ended>(&x))
    return what->nspace;
  if (const auto* what = std::get_if<io_interest>(&x))
    return what->nspace;
  if (const auto* what = std::get_if<sample_elsewhere>(&x))
    return what->what.monitor.key;
  return std::get<locate_job>(x).nspace;
}

/// A host: what it sends, what it carries out, what it was answered.
struct host {
  mesh_calls::time now{0};
  std::vector<send_to_member> sent;
  std::vector<std::string> done;
  std::map<std::string, mesh_calls::answerer> open;
  std::vector<std::string> told;
  bool answers_at_once = true;
  mesh_calls subject;

  explicit host(member self, mesh_calls::limits bounds = {})
    : subject(self, effects(), bounds) {
    // nop
  }

  mesh_calls::effects effects() {
    auto out = mesh_calls::effects{};
    out.now = [this] { return now; };
    out.send = [this](send_to_member x) { sent.push_back(std::move(x)); };
    out.execute = [this](const member&, host_question& what,
                         const mesh_calls::answerer& reply) {
      done.push_back(text_of(what));
      if (answers_at_once)
        reply(ack{});
      else
        open[text_of(what)] = reply;
    };
    return out;
  }

  mesh_calls::completion completion(const std::string& name) {
    return [this, name](const maybe_reply& x) {
      told.push_back(name
                     + (x ? " ok" : " " + to_string(status_of(x.error()))));
    };
  }

  void call(uint32_t rank, const std::string& name,
            std::optional<mesh_calls::time> timeout = {}) {
    subject.call(rank, doing(name), completion(name), timeout);
  }

  /// Gives what was sent to the other.
  void pass_to(host& other, member self) {
    for (auto& x : std::exchange(sent, {}))
      other.subject.take({self.rank, self.incarnation, std::move(x.what)});
  }
};

using texts = std::vector<std::string>;

member_changed live(uint32_t rank, uint64_t incarnation) {
  return {1, rank, "n" + std::to_string(rank), incarnation, node_state::live};
}

member_changed lost(uint32_t rank, uint64_t incarnation) {
  return {2, rank, "n" + std::to_string(rank), incarnation, node_state::lost};
}

struct two_hosts {
  member a_id{0, 7};
  member b_id{1, 9};
  host a{a_id};
  host b{b_id};

  two_hosts() {
    a.subject.member_changed(live(1, 9));
    b.subject.member_changed(live(0, 7));
  }

  void pass_all() {
    while (!a.sent.empty() || !b.sent.empty()) {
      a.pass_to(b, a_id);
      b.pass_to(a, b_id);
    }
  }
};

} // namespace

CAF_TEST(CTL-1 CTL-2 a call is carried out and answered) {
  auto x = two_hosts{};
  x.a.call(1, "one");
  x.pass_all();
  CAF_CHECK_EQUAL(x.b.done, texts{"one"});
  CAF_CHECK_EQUAL(x.a.told, texts{"one ok"});
  CAF_CHECK_EQUAL(x.a.subject.open(), 0u);
}

CAF_TEST(a call to this node sends nothing) {
  auto x = two_hosts{};
  x.a.call(0, "here");
  CAF_CHECK_EQUAL(x.a.done, texts{"here"});
  CAF_CHECK_EQUAL(x.a.told, texts{"here ok"});
  CAF_CHECK(x.a.sent.empty());
}

CAF_TEST(CTL-1 P-K1 a repeat is answered and not carried out) {
  auto x = two_hosts{};
  x.a.call(1, "one");
  auto again = x.a.sent;
  x.a.pass_to(x.b, x.a_id);
  x.b.sent.clear(); // The answer is lost.
  x.a.sent = std::move(again);
  x.pass_all();
  CAF_CHECK_EQUAL(x.b.done, texts{"one"});
  CAF_CHECK_EQUAL(x.a.told, texts{"one ok"});
}

CAF_TEST(CTL-1 a repeat does not hurry a call that is being carried out) {
  auto x = two_hosts{};
  x.b.answers_at_once = false;
  x.a.call(1, "one");
  x.pass_all();
  x.a.subject.routes_changed();
  x.pass_all();
  CAF_CHECK_EQUAL(x.b.done, texts{"one"});
  CAF_CHECK(x.a.told.empty());
  x.b.open.at("one")(ack{});
  x.b.open.at("one")(ack{}); // Only the first counts.
  x.pass_all();
  CAF_CHECK_EQUAL(x.a.told, texts{"one ok"});
}

CAF_TEST(O15 one that was lost holds up those of its class only) {
  auto x = two_hosts{};
  x.a.call(1, "first");
  x.a.sent.clear();
  x.a.call(1, "second");
  x.a.subject.call(1, io_interest{"other class", {}, {}},
                   x.a.completion("other class"));
  x.pass_all();
  CAF_CHECK_EQUAL(x.b.done, texts{"other class"});
  x.a.subject.routes_changed();
  x.pass_all();
  CAF_CHECK_EQUAL(x.b.done, (texts{"other class", "first", "second"}));
  CAF_CHECK_EQUAL(x.a.told.size(), 3u);
}

CAF_TEST(calls are sent again a few times after a change of routes) {
  auto x = two_hosts{};
  x.a.call(1, "one");
  CAF_CHECK(!x.a.subject.next_due());
  x.a.subject.routes_changed();
  auto times = std::vector<int64_t>{};
  while (const auto due = x.a.subject.next_due()) {
    x.a.now = *due;
    x.a.subject.tick();
    times.push_back(*due / 1s);
  }
  CAF_CHECK_EQUAL(times, (std::vector<int64_t>{1, 3, 7, 15}));
  CAF_CHECK_EQUAL(x.a.sent.size(), 6u);
}

CAF_TEST(CTL-2 P-M1 a node that is no member is answered by nobody) {
  auto x = two_hosts{};
  x.a.call(1, "one");
  x.a.subject.lose_all("this node is fenced");
  CAF_CHECK_EQUAL(x.a.told, texts{"one PMIX_ERR_UNREACH"});
  x.a.call(1, "two");
  CAF_CHECK_EQUAL(x.a.told,
                  (texts{"one PMIX_ERR_UNREACH", "two PMIX_ERR_UNREACH"}));
  x.a.call(0, "here");
  CAF_CHECK_EQUAL(x.a.told.back(), "here ok");
  // An answer that was on its way comes too late.
  x.pass_all();
  CAF_CHECK_EQUAL(x.a.told.size(), 3u);
}

CAF_TEST(CTL-2 P-C2 calls to a member that is lost fail) {
  auto x = two_hosts{};
  x.a.call(1, "one");
  x.a.call(1, "two", 5s);
  x.a.subject.member_changed(lost(1, 9));
  CAF_CHECK_EQUAL(x.a.told,
                  (texts{"one PMIX_ERR_UNREACH", "two PMIX_ERR_UNREACH"}));
  x.a.call(1, "three");
  CAF_CHECK_EQUAL(x.a.told.back(), "three PMIX_ERR_UNREACH");
  CAF_CHECK(!x.a.subject.is_live(1));
  // What still comes from it counts for nothing.
  x.a.subject.take({1, 9, host_call{1, 0, 0, {}, {}, doing("late")}});
  CAF_CHECK(x.a.done.empty());
}

CAF_TEST(LINK-4 P-M1 a later incarnation begins anew) {
  auto x = two_hosts{};
  x.a.call(1, "one");
  x.a.sent.clear();
  x.a.subject.member_changed(lost(1, 9));
  x.a.subject.member_changed(live(1, 12));
  x.a.call(1, "two");
  CAF_REQUIRE_EQUAL(x.a.sent.size(), 1u);
  CAF_CHECK_EQUAL(x.a.sent.back().incarnation, 12u);
  CAF_CHECK_EQUAL(std::get<host_call>(x.a.sent.back().what).number, 1u);
  // An answer of the former one is for a call of the former one.
  x.a.subject.take({1, 9, host_answer{1, ack{}}});
  CAF_CHECK_EQUAL(x.a.told, texts{"one PMIX_ERR_UNREACH"});
  x.a.subject.take({1, 12, host_answer{1, ack{}}});
  CAF_CHECK_EQUAL(x.a.told.back(), "two ok");
}

CAF_TEST(P-K1 after a time-out an answer comes too late) {
  auto x = two_hosts{};
  x.b.answers_at_once = false;
  x.a.call(1, "slow", 2s);
  x.a.call(1, "next");
  x.pass_all();
  x.a.now = 2s;
  CAF_CHECK(x.a.subject.next_due() == mesh_calls::time{2s});
  x.a.subject.tick();
  CAF_CHECK_EQUAL(x.a.told, texts{"slow PMIX_ERR_TIMEOUT"});
  x.b.open.at("slow")(ack{});
  x.b.open.at("next")(ack{});
  x.pass_all();
  CAF_CHECK_EQUAL(x.a.told, (texts{"slow PMIX_ERR_TIMEOUT", "next ok"}));
  CAF_CHECK(!x.a.subject.next_due());
}

CAF_TEST(CTL-2 who forgets to answer says so) {
  auto x = two_hosts{};
  x.b.answers_at_once = false;
  x.a.call(1, "one");
  x.pass_all();
  x.b.open.clear();
  x.pass_all();
  CAF_CHECK_EQUAL(x.a.told, texts{"one PMIX_ERR_UNREACH"});
}

CAF_TEST(a refusal arrives as an error) {
  auto x = two_hosts{};
  x.b.answers_at_once = false;
  x.a.call(1, "one");
  x.pass_all();
  x.b.open.at("one")(refusal(make_error(status::no_permissions, "why")));
  x.pass_all();
  CAF_CHECK_EQUAL(x.a.told, texts{"one PMIX_ERR_NO_PERMISSIONS"});
}

CAF_TEST(LOAD-2 what is remembered is forgotten when the caller has it) {
  auto x = two_hosts{};
  x.b.answers_at_once = false;
  x.a.call(1, "waits");
  x.pass_all();
  x.b.answers_at_once = true;
  for (auto i = 0; i < 1000; ++i) {
    x.a.call(1, std::to_string(i));
    x.pass_all();
  }
  // The one under way, and the last answer: nobody has said that it arrived.
  CAF_CHECK_EQUAL(x.b.subject.remembered(), 2u);
}

CAF_TEST(LOAD-2 calls without an answer are bounded) {
  auto a = host{{0, 7}, {3, 3}};
  a.subject.member_changed(live(1, 9));
  for (const auto* name : {"1", "2", "3", "4"})
    a.call(1, name);
  CAF_CHECK_EQUAL(a.told, texts{"4 PMIX_ERR_OUT_OF_RESOURCE"});
  CAF_CHECK_EQUAL(a.sent.size(), 3u);
}

CAF_TEST(P-K1 LOAD-2 an answer that had to go is reported as unknown) {
  auto b = host{{1, 9}, {8, 2}};
  for (uint64_t i = 1; i <= 4; ++i)
    b.subject.take({0, 7, host_call{i, i - 1, 0, {}, {}, doing("x")}});
  CAF_CHECK_EQUAL(b.done.size(), 4u);
  b.sent.clear();
  b.subject.take({0, 7, host_call{1, 0, 0, {}, {}, doing("x")}});
  CAF_CHECK_EQUAL(b.done.size(), 4u);
  CAF_REQUIRE_EQUAL(b.sent.size(), 1u);
  const auto& reply = std::get<host_answer>(b.sent.front().what).what;
  CAF_CHECK(std::get<mesh_failure>(reply).code == status::unreach);
}

CAF_TEST(questions that change nothing are answered anew) {
  auto b = host{{1, 9}};
  for (auto i = 0; i < 2; ++i)
    b.subject.take({0, 7, host_call{1, 0, 0, {}, {}, reading("x")}});
  CAF_CHECK_EQUAL(b.done.size(), 2u);
  CAF_CHECK_EQUAL(b.subject.remembered(), 0u);
}

CAF_TEST(CTL-1 M11 a monitor on another node begins and ends once) {
  auto b = host{{1, 9}};
  uint64_t number = 0;
  for (const auto key : {monitor_kind_key, attr::monitor_cancel}) {
    auto what = sample_elsewhere{};
    what.what.monitor.key = std::string{key};
    ++number;
    for (auto i = 0; i < 2; ++i)
      b.subject.take({0, 7, host_call{number, number - 1, 0, {}, {}, what}});
  }
  CAF_CHECK(b.done
            == (texts{std::string{monitor_kind_key},
                      std::string{attr::monitor_cancel}}));
}

CAF_TEST(X44 numbers that make no sense are ignored) {
  auto b = host{{1, 9}};
  b.subject.take({0, 7, host_call{0, 0, 0, {}, {}, doing("zero")}});
  b.subject.take({0, 7, host_call{1, 1, 0, {}, {}, doing("after itself")}});
  b.subject.take({0, 7, host_call{1, 0, 1, {}, {}, doing("settled")}});
  b.subject.take({0, 7, host_answer{1, ack{}}});
  CAF_CHECK(b.done.empty());
  CAF_CHECK(b.sent.empty());
}

CAF_TEST(CTL-1 CTL-2 O15 seeds lose and repeat and reorder everything) {
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    auto random = std::mt19937{seed};
    const auto draw = [&](size_t n) { return random() % n; };
    auto x = two_hosts{};
    x.b.answers_at_once = false;
    auto way = std::vector<std::pair<bool, send_to_member>>{};
    auto asked = texts{};
    const auto collect = [&](bool may_lose) {
      for (auto* from : {&x.a, &x.b})
        for (auto& y : std::exchange(from->sent, {})) {
          const auto copies = may_lose ? draw(3) : 1;
          for (size_t i = 0; i < copies; ++i)
            way.emplace_back(from == &x.a, y);
        }
    };
    const auto deliver = [&] {
      const auto i = draw(way.size());
      auto [is_from_a, y] = std::move(way[i]);
      way.erase(way.begin() + static_cast<ptrdiff_t>(i));
      if (is_from_a)
        x.b.subject.take({0, 7, std::move(y.what)});
      else
        x.a.subject.take({1, 9, std::move(y.what)});
    };
    const auto answer_one = [&] {
      if (x.b.open.empty())
        return;
      auto i = x.b.open.begin();
      std::advance(i, static_cast<ptrdiff_t>(draw(x.b.open.size())));
      i->second(ack{});
      x.b.open.erase(i);
    };
    for (auto step = 0; step < 200; ++step) {
      switch (draw(5)) {
        case 0: {
          const auto name = std::to_string(asked.size());
          asked.push_back(name);
          if (draw(2) == 0)
            x.a.call(1, "c" + name);
          else
            x.a.subject.call(1, io_interest{"i" + name, {}, {}},
                             x.a.completion("i" + name));
          break;
        }
        case 1:
          if (draw(4) == 0)
            x.a.subject.routes_changed();
          break;
        case 2:
          answer_one();
          break;
        default:
          if (!way.empty())
            deliver();
      }
      collect(true);
    }
    // No more faults: everything is answered.
    x.a.subject.routes_changed();
    collect(false);
    while (!way.empty() || !x.b.open.empty()) {
      if (!way.empty())
        deliver();
      answer_one();
      collect(false);
    }
    CAF_REQUIRE_EQUAL(x.a.told.size(), asked.size());
    CAF_REQUIRE_EQUAL(x.b.done.size(), asked.size());
    for (const auto of : {'c', 'i'}) {
      auto last = -1;
      for (const auto& name : x.b.done)
        if (name[0] == of) {
          const auto number = std::stoi(name.substr(1));
          CAF_REQUIRE(number > last);
          last = number;
        }
    }
    CAF_REQUIRE_EQUAL(x.a.subject.open(), 0u);
  }
}
