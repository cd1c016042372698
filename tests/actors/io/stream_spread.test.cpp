// What of the streams of jobs goes to which node.

#include "actors/io/stream_spread.hpp"

#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "messages/status.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

using ranks = std::vector<uint32_t>;
using lines = std::vector<std::string>;

constexpr auto out = io_channels::stdout_;
constexpr auto err = io_channels::stderr_;
constexpr auto all = rank_wildcard;

std::string text(const io_interest& x) {
  auto result = x.nspace.empty() ? std::string{"*"} : x.nspace;
  for (const auto rank : x.ranks)
    result += rank == all ? " all" : " " + std::to_string(rank);
  return result;
}

/// A job of two ranks a node.
job_map map_of(const std::string& nspace, const ranks& nodes) {
  auto result = job_map{};
  result.nspace = nspace;
  auto rank = uint32_t{0};
  for (const auto node : nodes) {
    auto share = node_share{};
    share.node = node;
    share.procs.push_back({rank++, 0, {}});
    share.procs.push_back({rank++, 0, {}});
    result.shares.push_back(std::move(share));
  }
  return result;
}

prepare_share order_of(const std::string& nspace, const ranks& nodes,
                       uint32_t origin) {
  auto result = prepare_share{};
  result.map = map_of(nspace, nodes);
  result.parent = asks({"tool", 0});
  result.origin = origin;
  return result;
}

/// What has been done, in words, and who waits for the place of a job.
struct record {
  lines done;
  std::vector<std::function<void(const caf::error&)>> locating;
  std::map<uint32_t, io_list> lists;
  std::set<std::string> here;
  std::set<std::string> jobs;
  io_fetch fetched;
};

class effects final : public stream_spread::effects {
public:
  explicit effects(record& to) : to_(to) {
    // nop
  }

  void add(const std::string& what, uint32_t node, const std::string& text) {
    to_.done.push_back(what + " " + std::to_string(node) + ": " + text);
  }

  void tell(uint32_t node, io_interest what,
            stream_spread::completion<ack> done) override {
    add("tell", node, text(what));
    done(ack{});
  }

  void send(uint32_t node, io_fragment what,
            stream_spread::completion<ack> done) override {
    add("send", node, what.bytes);
    done(ack{});
  }

  void fetch(uint32_t node, io_fetch what,
             stream_spread::completion<io_fragment> done) override {
    add("fetch", node, to_string(what.stream.source));
    done(io_fragment{});
  }

  void list(uint32_t node, list_io,
            stream_spread::completion<io_list> done) override {
    const auto i = to_.lists.find(node);
    if (i != to_.lists.end())
      done(i->second);
    else
      done(make_error(status::timeout));
  }

  void locate(const std::string&,
              std::function<void(const caf::error&)> then) override {
    to_.locating.push_back(std::move(then));
  }

  ranks live() const override {
    return {0, 1, 2};
  }

  void begin_at_desk(io_job_begun what) override {
    add("begin", what.uid, what.nspace);
  }

  void tell_desk(uint32_t node, io_interest what,
                 stream_spread::completion<ack> done) override {
    add("desk", node, text(what));
    done(ack{});
  }

  void give_desk(uint32_t node, io_fragment what,
                 stream_spread::completion<ack> done) override {
    add("give", node, what.bytes);
    done(ack{});
  }

  void fetch_at_desk(io_fetch what,
                     stream_spread::completion<io_fragment> done) override {
    to_.fetched = what;
    done(io_fragment{});
  }

  void list_at_desk(list_io, stream_spread::completion<io_list> done) override {
    done(to_.lists[1]);
  }

  void lose_at_desk(io_node_lost what) override {
    add("lost", what.node, std::to_string(what.procs.size()) + " processes");
  }

  bool runs_here(const std::string& nspace) const override {
    return to_.here.count(nspace) > 0;
  }

  bool is_job(const std::string& nspace) const override {
    return to_.jobs.count(nspace) > 0;
  }

private:
  record& to_;
};

/// A node of three; `told` forgets what it returns.
struct world {
  record to;
  job_locations places;
  stream_spread uut;
  status last = status::error;

  explicit world(uint32_t rank = 1)
    : uut(rank, places, std::make_unique<effects>(to)) {
    // nop
  }

  template <class T = ack>
  stream_spread::completion<T> note() {
    return [this](const caf::expected<T>& x) {
      last = x ? status::success : status_of(x.error());
    };
  }

  lines told() {
    return std::exchange(to.done, {});
  }

  void begin(const prepare_share& order) {
    places.add(order.map);
    to.here.insert(order.map.nspace);
    uut.begin(order);
  }

  status want(io_interest what) {
    last = status::error;
    uut.want(what, note());
    return last;
  }

  status take(uint32_t from, io_interest what) {
    last = status::error;
    uut.take(from, what, note());
    return last;
  }
};

io_interest interest(const std::string& nspace, ranks those,
                     io_channels channels = out) {
  return {nspace, std::move(those), channels, 0};
}

} // namespace

CAF_TEST(I16 the origin of a job is told of its streams with the job) {
  world x;
  x.begin(order_of("a", {0, 1}, 0));
  CAF_CHECK_EQUAL(x.told(), (lines{"begin 1000: a", "desk 0: a all"}));
  const auto* job = x.uut.find("a");
  CAF_REQUIRE(job != nullptr);
  CAF_CHECK(job->origin == 0u);
  CAF_CHECK(job->owner == our_uid);
  // Nobody here wants it; all nodes know.
  x.uut.want_nothing("a");
  CAF_CHECK(x.told().empty());
  CAF_CHECK(x.uut.end("a"));
  CAF_CHECK(!x.uut.end("a"));
}

CAF_TEST(I11 a watcher without interest tells so when nobody is left) {
  world x;
  auto order = order_of("a", {0, 2}, 0);
  order.watchers = {{1, out}};
  x.begin(order);
  CAF_CHECK_EQUAL(x.told(), lines{"begin 1000: a"});
  x.uut.want_nothing("a");
  CAF_CHECK_EQUAL(x.told(), (lines{"tell 0: a", "tell 2: a"}));
}

CAF_TEST(I11 the nodes of a job and the root hear once what is wanted) {
  world x;
  x.places.add(map_of("a", {1, 2}));
  CAF_CHECK_EQUAL(x.want(interest("a", {3})), status::success);
  CAF_CHECK_EQUAL(x.told(),
                  (lines{"begin 0: a", "tell 0: a 3", "tell 2: a 3"}));
  CAF_CHECK_EQUAL(x.want(interest("a", {3})), status::success);
  CAF_CHECK(x.told().empty());
  // The owner of the job is known later.
  x.uut.know("a", our_uid);
  x.uut.know("a", our_uid);
  CAF_CHECK_EQUAL(x.told(), lines{"begin 1000: a"});
  // What is wanted of all jobs is wanted of this one, too.
  CAF_CHECK_EQUAL(x.want(interest("", {all})), status::success);
  CAF_CHECK_EQUAL(x.told(),
                  (lines{"tell 0: * all", "tell 0: a all", "tell 2: a all"}));
}

CAF_TEST(I2 a job is located before its nodes are told) {
  world x;
  CAF_CHECK_EQUAL(x.want(interest("a", {})), status::success);
  CAF_CHECK_EQUAL(x.want(interest("a", {0})), status::error);
  CAF_REQUIRE_EQUAL(x.to.locating.size(), 1u);
  x.places.add(map_of("a", {2}));
  x.to.locating[0]({});
  CAF_CHECK_EQUAL(x.last, status::success);
  CAF_CHECK_EQUAL(x.told(),
                  (lines{"begin 0: a", "tell 0: a 0", "tell 2: a 0"}));
  x.want(interest("b", {0}));
  x.to.locating[1](make_error(status::not_found));
  CAF_CHECK_EQUAL(x.last, status::not_found);
}

CAF_TEST(I5 readers of all jobs and the desk are told to the root as one) {
  world x;
  x.uut.want_all(out, x.note());
  CAF_CHECK_EQUAL(x.told(), lines{"tell 0: * all"});
  x.uut.want_all(out, x.note());
  CAF_CHECK(x.told().empty());
  CAF_CHECK_EQUAL(x.want(interest("", {3}, err)), status::success);
  CAF_CHECK_EQUAL(x.told(), lines{"tell 0: * all"});
  x.uut.want_all(io_channels::none, x.note());
  CAF_CHECK_EQUAL(x.told(), lines{"tell 0: * 3"});
}

CAF_TEST(I5 nodes that watch all jobs or their parents watch new ones) {
  world x{0};
  x.to.jobs = {"a", "b"};
  x.places.add(map_of("a", {0, 1}));
  CAF_CHECK_EQUAL(x.take(1, interest("a", {all}, err)), status::success);
  CAF_CHECK_EQUAL(x.take(2, interest("", {all})), status::success);
  // A lost node watches nothing.
  CAF_CHECK_EQUAL(x.take(3, interest("", {all})), status::success);
  auto request = spawn_request{};
  const auto found = x.uut.watchers_of("b", "a", request);
  CAF_REQUIRE_EQUAL(found.size(), 2u);
  CAF_CHECK_EQUAL(found[0].node, 1u);
  CAF_CHECK(found[0].channels == err);
  CAF_CHECK_EQUAL(found[1].node, 2u);
  CAF_CHECK(found[1].channels == out);
  CAF_CHECK_EQUAL(x.uut.watchers_of("c", "b", request).size(), 2u);
  request.job_infos = {with(attr::iof_inherit, value::boolean(false))};
  CAF_CHECK_EQUAL(x.uut.watchers_of("d", "b", request).size(), 1u);
  x.uut.lose_node(2);
  request.job_infos.clear();
  CAF_CHECK_EQUAL(x.uut.watchers_of("e", "b", request).size(), 1u);
  x.uut.close("b");
  CAF_CHECK(x.uut.watchers_of("f", "b", request).empty());
}

CAF_TEST(X41 only the root is told what is wanted of all jobs) {
  world x;
  CAF_CHECK_EQUAL(x.take(2, interest("", {all})), status::bad_param);
}

CAF_TEST(X41 a node that names more ranks than there are wants all) {
  world x;
  x.begin(order_of("a", {1}, 1));
  x.told();
  CAF_CHECK_EQUAL(x.take(2, interest("a", {0, 1, 2, 3})), status::success);
  CAF_CHECK_EQUAL(x.told(), lines{"desk 2: a all"});
  CAF_CHECK_EQUAL(x.take(2, interest("a", {})), status::success);
  CAF_CHECK_EQUAL(x.told(), lines{"desk 2: a"});
}

CAF_TEST(I2 what a node says before the job begins is newer) {
  world x;
  const auto order = order_of("a", {1, 2}, 0);
  x.places.add(order.map);
  CAF_CHECK_EQUAL(x.take(0, interest("a", {1})), status::success);
  CAF_CHECK(x.told().empty());
  x.begin(order);
  CAF_CHECK_EQUAL(x.told(), (lines{"begin 1000: a", "desk 0: a 1"}));
}

CAF_TEST(X41 output comes on a channel of output) {
  world x;
  for (const auto channel : {out, err, io_channels::stddiag}) {
    auto what = io_fragment{};
    what.stream = {{"a", 0}, channel};
    what.bytes = "x";
    x.uut.take(2, what, x.note());
    CAF_CHECK_EQUAL(x.told(), lines{"give 2: x"});
  }
  auto what = io_fragment{};
  what.stream = {{"a", 0}, static_cast<io_channels>(6)};
  x.uut.take(2, what, x.note());
  CAF_CHECK_EQUAL(x.last, status::bad_param);
  CAF_CHECK(x.told().empty());
}

CAF_TEST(I8 the node of a process has what is left of its streams) {
  world x;
  auto what = io_fetch{{{"a", 0}, out}, 0, size_t{1} << 30};
  x.uut.fetch(what, x.note<io_fragment>());
  CAF_CHECK_EQUAL(x.last, status::not_found);
  x.begin(order_of("a", {1, 2}, 0));
  x.told();
  what.stream.source = {"a", 3};
  auto copy = what;
  x.uut.fetch(copy, x.note<io_fragment>());
  CAF_CHECK_EQUAL(x.told(), lines{"fetch 2: " + to_string(proc_id{"a", 3})});
  x.uut.take(what, x.note<io_fragment>());
  CAF_CHECK_EQUAL(x.last, status::not_found);
  what.stream.source = {"a", 0};
  x.uut.take(what, x.note<io_fragment>());
  CAF_CHECK_EQUAL(x.last, status::success);
  CAF_CHECK_EQUAL(x.to.fetched.size, defaults::io_fragment_bytes);
}

CAF_TEST(I18 a lost node wants nothing and its streams end) {
  world x;
  x.begin(order_of("a", {1, 2}, 2));
  x.told();
  x.uut.lose_node(2);
  CAF_CHECK_EQUAL(x.told(), lines{"lost 2: 2 processes"});
}

CAF_TEST(I5 each stream is listed once with all of its sinks) {
  world x;
  x.places.add(map_of("a", {1, 2}));
  const auto known = [](uint64_t end, const std::string& sink) {
    auto one = io_stream_status{};
    one.stream = {{"a", 0}, out};
    one.end = end;
    one.sinks.push_back({sink, io_policy::block, 0, 0});
    return io_list{{one}};
  };
  x.to.lists = {{0, known(3, "root")}, {1, known(9, "own")}};
  auto found = io_list{};
  x.uut.list_all({}, [&](caf::expected<io_list> y) { found = std::move(*y); });
  CAF_REQUIRE_EQUAL(found.streams.size(), 1u);
  CAF_CHECK_EQUAL(found.streams[0].end, 9u);
  CAF_CHECK_EQUAL(found.streams[0].sinks.size(), 2u);
}
