// Which nodes hear of what happens to one of them.

#include "actors/mesh/exchange/environment_spread.hpp"

#include "messages/event.hpp"
#include "tests/test.hpp"

#include <rapidcheck.h>

#include <deque>
#include <memory>

using namespace troupe;

namespace {

using list = std::vector<status>;

constexpr auto code_a = status::temperature_high;
constexpr auto code_b = status::link_down;

/// Nodes whose messages arrive when the test says so, those of two nodes in
/// their order.
class world {
public:
  explicit world(uint32_t size) {
    for (uint32_t rank = 0; rank < size; ++rank)
      nodes_.push_back(std::make_unique<node>());
    for (uint32_t rank = 0; rank < size; ++rank)
      nodes_[rank]->uut = make(rank);
    for (uint32_t rank = 1; rank < size; ++rank)
      join(rank);
    settle();
    told = passed = 0;
  }

  environment_spread& operator[](uint32_t rank) {
    return *nodes_[rank]->uut;
  }

  /// What a node's server has got: the node where it happened, and the number.
  std::vector<std::pair<uint64_t, uint64_t>> got(uint32_t rank) {
    return std::exchange(nodes_[rank]->got, {});
  }

  const environment_interest& watched(uint32_t rank) const {
    return nodes_[rank]->watched;
  }

  /// A number that grows tells events apart.
  void raise(uint32_t rank, status code) {
    (*this)[rank].raise(
      {code,
       {{"node", 0, value::uint64(rank)}, {"n", 0, value::uint64(++next_)}}});
  }

  void settle() {
    while (!way_.empty())
      step(0);
  }

  /// Lets a message arrive: the first of a pair of nodes.
  void step(size_t which) {
    auto i = way_.begin();
    std::advance(i, which % way_.size());
    auto x = std::move(i->second.front());
    i->second.pop_front();
    if (i->second.empty())
      way_.erase(i);
    x();
  }

  bool is_settled() const {
    return way_.empty();
  }

  void lose(uint32_t rank) {
    for (auto i = way_.begin(); i != way_.end();)
      i = i->first.first == rank || i->first.second == rank ? way_.erase(i)
                                                            : std::next(i);
    for (uint32_t other = 0; other < nodes_.size(); ++other)
      if (other != rank)
        nodes_[other]->uut->change_member(rank, false);
    nodes_[rank]->is_live = false;
  }

  /// Somebody new takes the place.
  void rejoin(uint32_t rank) {
    *nodes_[rank] = node{};
    nodes_[rank]->uut = make(rank);
    join(rank);
  }

  /// Messages between nodes.
  size_t told = 0;
  size_t passed = 0;

private:
  struct node {
    std::unique_ptr<environment_spread> uut;
    std::vector<std::pair<uint64_t, uint64_t>> got;
    environment_interest watched;
    bool is_live = true;
  };

  void join(uint32_t rank) {
    for (uint32_t other = 0; other < nodes_.size(); ++other)
      if (other != rank && nodes_[other]->is_live) {
        nodes_[other]->uut->change_member(rank, true);
        nodes_[rank]->uut->change_member(other, true);
      }
  }

  template <class T>
  void send(uint32_t from, uint32_t to, T what) {
    if (!nodes_[to]->is_live)
      return;
    way_[{from, to}].push_back([this, from, to, what = std::move(what)] {
      nodes_[to]->uut->take(from, what);
    });
  }

  std::unique_ptr<environment_spread> make(uint32_t rank) {
    auto out = environment_spread::effects{};
    out.tell = [this, rank](uint32_t to, environment_interest what) {
      ++told;
      send(rank, to, std::move(what));
    };
    out.pass = [this, rank](uint32_t to, environment_event what) {
      ++passed;
      send(rank, to, std::move(what));
    };
    out.deliver = [this, rank](const environment_event& what) {
      nodes_[rank]->got.emplace_back(
        number<uint64_t>(what.infos, "node").value_or(99),
        number<uint64_t>(what.infos, "n").value_or(0));
    };
    out.watch = [this, rank](environment_interest what) {
      nodes_[rank]->watched = std::move(what);
    };
    return std::make_unique<environment_spread>(rank, std::move(out));
  }

  std::vector<std::unique_ptr<node>> nodes_;
  std::map<std::pair<uint32_t, uint32_t>, std::deque<std::function<void()>>>
    way_;
  uint64_t next_ = 0;
};

} // namespace

CAF_TEST(E4 E48 an event goes once to the nodes that want it and to no other) {
  world uut{5};
  uut[1].add({code_a});
  uut[3].add({code_a, code_b});
  uut[4].add({code_b});
  uut.settle();
  for (uint32_t from = 0; from < 5; ++from) {
    uut.raise(from, code_a);
    uut.settle();
    for (uint32_t to = 0; to < 5; ++to)
      CAF_CHECK_EQUAL(uut.got(to).size(), to == 1 || to == 3 ? 1u : 0u);
  }
}

CAF_TEST(E4 E42 nobody looks before somebody wants and everybody then) {
  world uut{3};
  for (uint32_t rank = 0; rank < 3; ++rank)
    CAF_CHECK(uut.watched(rank) == environment_interest{});
  uut[2].add({code_a});
  uut.settle();
  for (uint32_t rank = 0; rank < 3; ++rank)
    CAF_CHECK(uut.watched(rank).codes == list{code_a});
  uut[0].add({code_b});
  uut[2].remove({code_a});
  uut.settle();
  for (uint32_t rank = 0; rank < 3; ++rank)
    CAF_CHECK(uut.watched(rank).codes == list{code_b});
  uut[0].remove({code_b});
  uut.settle();
  for (uint32_t rank = 0; rank < 3; ++rank)
    CAF_CHECK(uut.watched(rank) == environment_interest{});
}

CAF_TEST(E4 what nobody else wants costs no message) {
  world uut{4};
  uut[2].add({code_a});
  uut.settle();
  uut.passed = 0;
  uut.raise(2, code_a);
  uut.raise(1, code_b);
  CAF_CHECK_EQUAL(uut.passed, 0u);
  CAF_CHECK_EQUAL(uut.got(2).size(), 1u);
}

CAF_TEST(E4 a code that all nodes want costs two messages a node) {
  constexpr uint32_t size = 64;
  world uut{size};
  for (uint32_t rank = 0; rank < size; ++rank)
    uut[rank].add({code_a});
  uut.settle();
  CAF_CHECK(uut.told <= 2 * size);
  uut.passed = 0;
  uut.raise(7, code_a);
  uut.settle();
  // To the root, and from it to all others.
  CAF_CHECK_EQUAL(uut.passed, size_t{size} - 1);
}

CAF_TEST(E6 who wants all codes gets all until it takes that back) {
  world uut{3};
  uut[1].add({});
  uut[1].add({code_b});
  uut.settle();
  CAF_CHECK(uut.watched(2).all);
  uut.raise(2, code_a);
  uut.settle();
  CAF_CHECK_EQUAL(uut.got(1).size(), 1u);
  uut[1].remove({default_events});
  uut.settle();
  uut.raise(2, code_a);
  uut.raise(2, code_b);
  uut.settle();
  CAF_CHECK_EQUAL(uut.got(1).size(), 1u);
  CAF_CHECK(!uut.watched(2).all);
}

CAF_TEST(E4 a node that is lost wants nothing and its successor says anew) {
  world uut{4};
  uut[2].add({code_a});
  uut[3].add({code_b});
  uut.settle();
  uut.lose(2);
  uut.settle();
  CAF_CHECK(uut.watched(1).codes == list{code_b});
  uut.rejoin(2);
  uut.settle();
  CAF_CHECK(uut.watched(2).codes == list{code_b});
  uut[2].add({code_a});
  uut.settle();
  uut.raise(1, code_a);
  uut.raise(2, code_b);
  uut.settle();
  CAF_CHECK_EQUAL(uut.got(2).size(), 1u);
  CAF_CHECK_EQUAL(uut.got(3).size(), 1u);
}

CAF_TEST(P-E1 events of a node keep their order whatever happens meanwhile) {
  CAF_CHECK(rc::check([](const std::vector<uint16_t>& steps) {
    constexpr uint32_t size = 4;
    world uut{size};
    auto last = std::map<std::pair<uint32_t, uint64_t>, uint64_t>{};
    const auto look = [&] {
      for (uint32_t to = 0; to < size; ++to)
        for (const auto& [from, n] : uut.got(to)) {
          auto& before = last[{to, from}];
          RC_ASSERT(n > before);
          before = n;
        }
    };
    for (const auto x : steps) {
      const auto rank = x / 16 % size;
      const auto code = x / 64 % 2 == 0 ? code_a : code_b;
      switch (x % 8) {
        case 0:
          uut[rank].add({code});
          break;
        case 1:
          uut[rank].remove({code});
          break;
        case 2:
          if (rank > 0) {
            uut.lose(rank);
            uut.rejoin(rank);
          }
          break;
        case 3:
        case 4:
          uut.raise(rank, code);
          break;
        default:
          if (!uut.is_settled())
            uut.step(x / 8);
      }
      look();
    }
    uut.settle();
    look();
    // In the end all who want a code get it, and nobody else.
    for (uint32_t rank = 0; rank < size; ++rank) {
      uut[rank].remove({code_a});
      if (rank % 2 == 0)
        uut[rank].add({code_a});
    }
    uut.settle();
    look();
    uut.raise(1, code_a);
    uut.settle();
    for (uint32_t rank = 0; rank < size; ++rank)
      RC_ASSERT(uut.got(rank).size() == (rank % 2 == 0 ? 1u : 0u));
  }));
}

CAF_TEST(the event of a member says what has become of it) {
  struct row {
    node_state state;
    bool is_live;
    status code;
  };
  for (const auto& x :
       {row{node_state::live, true, status::node_up},
        row{node_state::left, false, status::event_node_offline},
        row{node_state::lost, false, status::event_node_down}}) {
    auto what = member_changed{};
    what.rank = 3;
    what.state = x.state;
    const auto event = event_of_member(what, x.is_live, "n3", 7, {});
    CAF_CHECK(event.code == x.code);
    CAF_CHECK_EQUAL(event.infos.size(), 3u);
    CAF_CHECK_EQUAL(
      event_of_member(what, x.is_live, "n3", std::nullopt, {}).infos.size(),
      2u);
  }
}

CAF_TEST(jobs that have heard of the loss of a node do not hear twice) {
  auto what = member_changed{};
  what.state = node_state::lost;
  const auto event = event_of_member(what, false, "n0", std::nullopt, {"a"});
  const auto for_others = event_for_server(event, {"a", "b"});
  CAF_REQUIRE(for_others);
  CAF_CHECK(for_others->targets
            == (std::vector<proc_id>{{"b", rank_wildcard}}));
  CAF_CHECK_EQUAL(for_others->what.infos.size(), 2u);
  CAF_CHECK(!event_for_server(event, {"a"}));
  // An event that nobody has heard of is for all who have registered.
  const auto for_all =
    event_for_server(event_of_member(what, false, "n0", std::nullopt, {}), {});
  CAF_REQUIRE(for_all);
  CAF_CHECK(for_all->targets.empty());
}
