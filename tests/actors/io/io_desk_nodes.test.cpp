// Streams of other nodes: each crosses once, and only where somebody listens.

#include "actors/io/io_desk.hpp"
#include "config/defaults.hpp"
#include "tests/fixtures/io_sinks.hpp"

#include <algorithm>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

using fixtures::sink_ledger;
using fixtures::sink_ledger_ptr;

constexpr auto out = io_channels::stdout_;
constexpr auto err = io_channels::stderr_;
constexpr auto both = static_cast<io_channels>(2 | 4);

const auto a0 = proc_id{"a", 0};
const auto a1 = proc_id{"a", 1};
const auto b0 = proc_id{"b", 0};
const auto all_of_a = proc_id{"a", rank_wildcard};

/// The way between desks, and what has gone over it.
struct net {
  std::map<uint32_t, io_desk_actor> desks;
  std::vector<io_interest> interests;
  size_t fragments = 0;
  size_t fetches = 0;

  /// Bytes that are on their way, and the most that were.
  size_t bytes = 0;
  size_t most_bytes = 0;

  /// Fragments are refused so often.
  size_t refused_fragments = 0;

  /// What is told of interests is refused so often.
  size_t refusals = 0;

  /// Whether what is fetched comes never, as from a node that is gone.
  bool is_silent = false;
  std::vector<caf::typed_response_promise<io_fragment>> unanswered;
};

using net_ptr = std::shared_ptr<net>;

io_mesh_actor::behavior_type mesh(io_mesh_actor::pointer self, const net_ptr& x,
                                  uint32_t here) {
  return {
    [=](io_interest& what) -> caf::result<ack> {
      x->interests.push_back(what);
      if (x->refusals > 0) {
        --x->refusals;
        return make_error(status::not_found);
      }
      auto promise = self->make_response_promise<ack>();
      auto left = std::make_shared<size_t>(x->desks.size() - 1);
      for (const auto& [node, desk] : x->desks)
        if (node != here)
          self->request(desk, caf::infinite, here, what).then([=](ack) mutable {
            if (--*left == 0)
              promise.deliver(ack{});
          });
      return promise;
    },
    [=](uint32_t node, io_fragment& what) -> caf::result<ack> {
      ++x->fragments;
      if (x->refused_fragments > 0) {
        --x->refused_fragments;
        return make_error(status::out_of_resource);
      }
      const auto size = what.bytes.size();
      x->bytes += size;
      x->most_bytes = std::max(x->most_bytes, x->bytes);
      auto promise = self->make_response_promise<ack>();
      self->request(x->desks.at(node), caf::infinite, here, std::move(what))
        .then(
          [=](ack y) mutable {
            x->bytes -= size;
            promise.deliver(y);
          },
          [=](caf::error& why) mutable {
            x->bytes -= size;
            promise.deliver(std::move(why));
          });
      return promise;
    },
    // The processes run on node 1.
    [=](const io_fetch& what) -> caf::result<io_fragment> {
      ++x->fetches;
      if (x->is_silent) {
        x->unanswered.push_back(self->make_response_promise<io_fragment>());
        return x->unanswered.back();
      }
      return self->delegate(x->desks.at(1), what);
    },
  };
}

io_subscription want(std::vector<proc_id> sources, io_channels channels = out) {
  auto result = io_subscription{};
  result.sources = std::move(sources);
  result.channels = channels;
  result.name = "tool";
  return result;
}

struct fixture : fixtures::deterministic {
  net_ptr between = std::make_shared<net>();
  std::vector<io_mesh_actor> meshes;
  std::vector<output_sink_actor> sinks;

  fixture() {
    for (uint32_t node = 0; node < 3; ++node) {
      auto options = io_desk_options{};
      options.node = node;
      between->desks.emplace(node, spawn_io_desk(sys, options));
      meshes.push_back(sys.spawn(mesh, between, node));
      caf::anon_send(between->desks.at(node), meshes.back());
    }
    consume_messages();
  }

  const io_desk_actor& desk(uint32_t node) {
    return between->desks.at(node);
  }

  std::pair<sink_ledger_ptr, uint64_t> add(uint32_t node, io_subscription how,
                                           bool is_slow = false) {
    auto ledger = std::make_shared<sink_ledger>();
    ledger->is_slow = is_slow;
    sinks.push_back(sys.spawn(fixtures::fake_sink, ledger));
    const auto id =
      request<io_pull_result>(desk(node), std::move(how), sinks.back());
    return {ledger, id.subscription};
  }

  void remove(uint32_t node, uint64_t id) {
    request<ack>(desk(node), io_unsubscription{id});
  }

  /// A process of node 1 writes.
  std::shared_ptr<bool> write(const proc_id& proc, const std::string& bytes,
                              io_channels channel = out) {
    auto result = std::make_shared<bool>(false);
    sys.spawn([=, to = desk(1)](caf::event_based_actor* x) {
      x->request(to, caf::infinite, process_output{proc, channel, bytes, 0})
        .then([=](ack) { *result = true; },
              [](const caf::error&) {
                // It is not taken.
              });
    });
    consume_messages();
    return result;
  }

  std::vector<io_stream_status> list(uint32_t node) {
    return request<io_list>(desk(node), list_io{}).streams;
  }

  ~fixture() override {
    for (const auto& [node, x] : between->desks)
      end(x);
    between->desks.clear();
    for (const auto& x : meshes)
      end(x);
    for (const auto& x : sinks)
      end(x);
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(io_desk_nodes_tests, fixture)

CAF_TEST(I4 I13 a stream crosses to a node once however many want it) {
  write(a0, "before ");
  const auto [one, id1] = add(0, want({a0}));
  const auto [two, id2] = add(0, want({all_of_a}));
  const auto before = between->fragments;
  write(a0, "after");
  CAF_CHECK_EQUAL(between->fragments, before + 1);
  CAF_CHECK_EQUAL(one->text(a0), "before after");
  CAF_CHECK_EQUAL(two->text(a0), "before after");
  // What nobody wants stays where it is.
  write(b0, "b");
  write(a0, "e", err);
  CAF_CHECK_EQUAL(between->fragments, before + 1);
}

CAF_TEST(I2 I13 the mesh is told what is wanted when that changes) {
  const auto [one, id1] = add(0, want({a0}));
  CAF_REQUIRE_EQUAL(between->interests.size(), 1u);
  CAF_CHECK_EQUAL(between->interests[0].ranks, std::vector<uint32_t>{0});
  const auto [two, id2] = add(0, want({a0}));
  CAF_CHECK_EQUAL(between->interests.size(), 1u);
  const auto [three, id3] = add(0, want({all_of_a}, err));
  CAF_REQUIRE_EQUAL(between->interests.size(), 2u);
  CAF_CHECK_EQUAL(between->interests[1].ranks,
                  std::vector<uint32_t>{rank_wildcard});
  CAF_CHECK(between->interests[1].channels == both);
  remove(0, id2);
  CAF_CHECK_EQUAL(between->interests.size(), 2u);
  remove(0, id3);
  CAF_CHECK_EQUAL(between->interests.size(), 3u);
  remove(0, id1);
  CAF_REQUIRE_EQUAL(between->interests.size(), 4u);
  CAF_CHECK(between->interests[3].ranks.empty());
  write(a0, "x");
  CAF_CHECK_EQUAL(between->fragments, 0u);
}

CAF_TEST(I11 I12 I17 the end of a job costs no message for a subscription(204)) {
  add(0, want({a0}));
  add(2, want({all_of_a}));
  write(a0, "x");
  write(a0, "");
  const auto told = between->interests.size();
  const auto fragments = between->fragments;
  for (const auto node : {1U, 0U, 2U})
    request<ack>(desk(node), io_job_over{"a"});
  CAF_CHECK_EQUAL(between->interests.size(), told);
  CAF_CHECK_EQUAL(between->fragments, fragments);
  for (const auto node : {0U, 1U, 2U})
    CAF_CHECK(list(node).empty());
}

CAF_TEST(I2 subscriptions for jobs that come later and for all jobs hold) {
  const auto [later, id1] = add(0, want({all_of_a}));
  const auto [all, id2] = add(2, want({{"", rank_wildcard}}));
  request<ack>(desk(1), io_job_begun{"a", {}, 0, 1});
  write(a0, "a");
  write(b0, "b");
  CAF_CHECK_EQUAL(later->text(a0), "a");
  CAF_CHECK_EQUAL(later->fragments.size(), 1u);
  CAF_CHECK_EQUAL(all->text(a0) + all->text(b0), "ab");
}

CAF_TEST(I18 a slow sink of another node holds up the process) {
  const auto [slow, id] = add(0, want({a0}));
  slow->is_slow = true;
  const auto first = write(a0, "one");
  CAF_CHECK(!*first);
  slow->answer();
  consume_messages();
  CAF_CHECK(*first);
}

CAF_TEST(I8 who comes to a copy later gets older bytes without a seam) {
  const auto [first, id1] = add(0, want({a0}));
  write(a0, "one ");
  write(a0, "two ");
  const auto [late, id2] = add(0, want({a0}));
  auto how = want({a0});
  how.start = io_start::offset;
  how.offset = 2;
  const auto [resumed, id3] = add(0, how);
  write(a0, "three");
  CAF_CHECK_EQUAL(late->text(a0), "one two three");
  CAF_CHECK_EQUAL(resumed->text(a0), "e two three");
}

CAF_TEST(I8 a copy that nobody wants goes and comes again as it was(194)) {
  const auto [first, id1] = add(0, want({a0}));
  write(a0, "one ");
  CAF_CHECK_EQUAL(list(0).size(), 1u);
  remove(0, id1);
  CAF_CHECK(list(0).empty());
  CAF_CHECK(*write(a0, "two "));
  CAF_CHECK_EQUAL(first->text(a0), "one ");
  const auto [second, id2] = add(0, want({a0}));
  write(a0, "three");
  CAF_CHECK_EQUAL(second->text(a0), "one two three");
}

CAF_TEST(I8 IO-5 what comes late of a stream that is wanted anew cuts nothing) {
  const auto [sink, id] = add(0, want({a0}));
  auto late = io_fragment{};
  late.stream = {a0, out};
  late.offset = 4;
  late.bytes = "two ";
  request<ack>(desk(0), 1U, late);
  CAF_CHECK(list(0).empty());
  write(a0, "one two three");
  CAF_CHECK_EQUAL(sink->text(a0), "one two three");
  CAF_CHECK_EQUAL(sink->fragments.front().missed, 0u);
}

CAF_TEST(I8 who wants a stream live gets nothing that was there before) {
  write(a0, "old ");
  auto how = want({a0});
  how.start = io_start::live;
  const auto [live, id1] = add(0, how);
  const auto [tail, id2] = add(0, want({a0}));
  write(a0, "new");
  CAF_CHECK_EQUAL(live->text(a0), "new");
  CAF_CHECK_EQUAL(tail->text(a0), "old new");
  CAF_CHECK_EQUAL(between->fetches, 1u);
}

CAF_TEST(I8 who wants a stream live gets nothing old that is still to come) {
  const auto old = std::string(2 * defaults::io_window, 'x');
  write(a0, old);
  const auto [slow, id1] = add(0, want({a0}), true);
  auto how = want({a0});
  how.start = io_start::live;
  const auto [live, id2] = add(0, how);
  write(a0, "new");
  while (!slow->owed.empty()) {
    slow->answer();
    consume_messages();
  }
  CAF_CHECK_EQUAL(live->text(a0), "new");
  CAF_CHECK_EQUAL(slow->text(a0), old + "new");
}

CAF_TEST(I4 a node that is lost wants nothing and its streams end) {
  const auto [slow, id1] = add(0, want({a0}));
  slow->is_slow = true;
  const auto first = write(a0, "one");
  CAF_CHECK(!*first);
  caf::anon_send(desk(1), io_node_lost{0, {}});
  consume_messages();
  CAF_CHECK(*first);
  const auto before = between->fragments;
  CAF_CHECK(*write(a0, "two"));
  CAF_CHECK_EQUAL(between->fragments, before);
  // On the other side the copy ends where it is.
  slow->answer();
  slow->is_slow = false;
  consume_messages();
  caf::anon_send(desk(0), io_node_lost{1, {a0}});
  consume_messages();
  CAF_CHECK_EQUAL(slow->ends(a0), 1u);
  CAF_CHECK_EQUAL(slow->text(a0), "one");
}

CAF_TEST(I8 IO-1 a node is lost before it says where its stream ends) {
  write(a0, "all of it");
  between->is_silent = true;
  auto how = want({a0});
  how.start = io_start::live;
  const auto [live, id1] = add(0, how);
  const auto [tail, id2] = add(0, want({a0}));
  CAF_CHECK_EQUAL(tail->ends(a0), 0u);
  caf::anon_send(desk(0), io_node_lost{1, {a0}});
  consume_messages();
  CAF_CHECK_EQUAL(tail->text(a0), "all of it");
  CAF_CHECK_EQUAL(tail->ends(a0), 1u);
  CAF_CHECK_EQUAL(live->ends(a0), 1u);
}

CAF_TEST(I2 what the mesh refuses is told again after a while) {
  between->refusals = 2;
  const auto [sink, id] = add(0, want({a0}));
  CAF_CHECK_EQUAL(between->interests.size(), 1u);
  elapse(defaults::io_interest_retry);
  CAF_CHECK_EQUAL(between->interests.size(), 2u);
  elapse(defaults::io_interest_retry);
  CAF_CHECK_EQUAL(between->interests.size(), 2u);
  elapse(defaults::io_interest_retry);
  CAF_CHECK_EQUAL(between->interests.size(), 3u);
  write(a0, "x");
  CAF_CHECK_EQUAL(sink->text(a0), "x");
  // It holds now.
  elapse(2min);
  CAF_CHECK_EQUAL(between->interests.size(), 3u);
}

CAF_TEST(I4 bytes that come from elsewhere and nobody wants are dropped) {
  auto stray = io_fragment{};
  stray.stream = {a0, out};
  stray.bytes = "x";
  request<ack>(desk(0), 1U, stray);
  CAF_CHECK(list(0).empty());
  // Nor do others write into a stream of ours.
  write(a1, "mine");
  const auto [sink, id] = add(1, want({a1}));
  stray.stream = {a1, out};
  stray.offset = 4;
  request<ack>(desk(1), 0U, stray);
  CAF_CHECK_EQUAL(sink->text(a1), "mine");
}

CAF_TEST(I18 IO-1 a node that refuses a part of a stream is given it again) {
  const auto [sink, id] = add(0, want({a0}));
  write(a0, "one ");
  between->refused_fragments = 1;
  CAF_CHECK(*write(a0, "two "));
  CAF_CHECK_EQUAL(sink->text(a0), "one two ");
  // Each time later, and the process does not wait for it.
  between->refused_fragments = 4;
  CAF_CHECK(*write(a0, "three "));
  CAF_CHECK_EQUAL(between->refused_fragments, 2u);
  CAF_CHECK(*write(a0, "four "));
  elapse(defaults::io_interest_retry);
  CAF_CHECK_EQUAL(between->refused_fragments, 1u);
  elapse(2 * defaults::io_interest_retry);
  CAF_CHECK_EQUAL(between->refused_fragments, 0u);
  CAF_CHECK_EQUAL(sink->text(a0), "one two ");
  elapse(4 * defaults::io_interest_retry);
  CAF_CHECK_EQUAL(sink->text(a0), "one two three four ");
  write(a0, "five");
  write(a0, "");
  CAF_CHECK_EQUAL(sink->text(a0), "one two three four five");
  CAF_CHECK_EQUAL(sink->ends(a0), 1u);
}

CAF_TEST(I18 a node that refused and wants nothing any more gets nothing) {
  const auto [sink, id] = add(0, want({a0}));
  between->refused_fragments = 2;
  write(a0, "one ");
  CAF_CHECK_EQUAL(between->refused_fragments, 0u);
  remove(0, id);
  const auto before = between->fragments;
  elapse(2 * defaults::io_interest_retry);
  write(a0, "two ");
  CAF_CHECK_EQUAL(between->fragments, before);
  // Who comes later gets all that is kept.
  const auto [late, id2] = add(0, want({a0}));
  CAF_CHECK_EQUAL(late->text(a0), "one two ");
}

CAF_TEST(I18 LIM14 a node sends no more at once than was said) {
  constexpr uint32_t procs = 40;
  constexpr size_t window = size_t{64} << 10;
  const auto [slow, id] = add(0, want({all_of_a}));
  slow->is_slow = true;
  request<ack>(desk(1), 0U, io_interest{"a", {rank_wildcard}, out, window});
  const auto bytes = std::string(size_t{32} << 10, 'x');
  std::vector<std::shared_ptr<bool>> taken;
  for (uint32_t rank = 0; rank < procs; ++rank)
    taken.push_back(write({"a", rank}, bytes));
  CAF_CHECK(between->bytes > window / 2);
  const auto answered = [&] {
    return static_cast<uint32_t>(
      std::count_if(taken.begin(), taken.end(), [](auto& x) { return *x; }));
  };
  CAF_CHECK_EQUAL(answered(), 0u);
  for (auto i = 0; i < 1000 && answered() < procs; ++i) {
    slow->answer();
    consume_messages();
  }
  CAF_CHECK_EQUAL(answered(), procs);
  CAF_CHECK(between->most_bytes <= window + procs * defaults::io_window_least);
  for (uint32_t rank = 0; rank < procs; ++rank)
    CAF_CHECK(slow->text({"a", rank}) == bytes);
}

CAF_TEST(I18 LIM14 of several jobs a node sends what the smallest window says) {
  const auto [slow, id] = add(0, want({{"", rank_wildcard}}));
  slow->is_slow = true;
  const auto all = std::vector<uint32_t>{rank_wildcard};
  request<ack>(desk(1), 0U, io_interest{"a", all, out, 64 << 10});
  request<ack>(desk(1), 0U, io_interest{"b", all, out, 16 << 10});
  write(a0, std::string(size_t{64} << 10, 'x'));
  CAF_CHECK_EQUAL(between->bytes, size_t{8} << 10);
  // With the job goes what it says; nothing is too little to go on.
  request<ack>(desk(1), io_job_over{"b"});
  write(a1, std::string(size_t{64} << 10, 'x'));
  CAF_CHECK_EQUAL(between->bytes, size_t{8 + 28} << 10);
  request<ack>(desk(1), 0U, io_interest{"a", all, out, 1});
  write({"a", 2}, std::string(size_t{64} << 10, 'x'));
  CAF_CHECK_EQUAL(between->bytes, size_t{8 + 28 + 4} << 10);
}

CAF_TEST(I18 LIM14 a stream with a healthy reader goes on among 300 blocked) {
  const auto [slow, id1] = add(0, want({all_of_a}));
  slow->is_slow = true;
  const auto [healthy, id2] = add(0, want({b0}));
  for (const auto* nspace : {"a", "b"})
    request<ack>(desk(1), 0U,
                 io_interest{nspace, {rank_wildcard}, out, 256 << 10});
  const auto bytes = std::string(size_t{16} << 10, 'x');
  for (uint32_t rank = 0; rank < 300; ++rank)
    CAF_CHECK(!*write({"a", rank}, bytes));
  for (auto i = 0; i < 100; ++i)
    CAF_CHECK(*write(b0, bytes));
  CAF_CHECK_EQUAL(healthy->text(b0).size(), 100 * bytes.size());
}

CAF_TEST_FIXTURE_SCOPE_END()
