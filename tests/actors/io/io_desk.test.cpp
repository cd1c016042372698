// Who gets which stream on one node, and what becomes of streams when jobs end.

#include "actors/io/io_desk.hpp"

#include "actors/io/defaults.hpp"
#include "config/defaults.hpp"
#include "tests/fixtures/io_sinks.hpp"

#include <set>

using namespace troupe;

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

io_subscription want(std::vector<proc_id> sources, io_channels channels = out) {
  auto result = io_subscription{};
  result.sources = std::move(sources);
  result.channels = channels;
  result.name = "tool";
  return result;
}

struct fixture : fixtures::deterministic {
  io_desk_actor uut;
  std::vector<output_sink_actor> sinks;
  sink_ledger_ptr files = std::make_shared<sink_ledger>();
  std::vector<std::string> opened;
  size_t answers = 0;

  fixture() {
    start();
  }

  void start(io_desk_options options = {}) {
    options.open_files = [this](const io_job_begun& what) {
      opened.push_back(what.nspace);
      return make(files);
    };
    uut = spawn_io_desk(sys, options);
  }

  output_sink_actor make(const sink_ledger_ptr& x) {
    sinks.push_back(sys.spawn(fixtures::fake_sink, x));
    return sinks.back();
  }

  /// A sink with a subscription, by its number.
  std::pair<sink_ledger_ptr, uint64_t> add(io_subscription how) {
    auto ledger = std::make_shared<sink_ledger>();
    const auto id = request<io_pull_result>(uut, std::move(how), make(ledger));
    return {ledger, id.subscription};
  }

  /// Writes, and @returns whether that has been taken: later on, too.
  std::shared_ptr<bool> write(const proc_id& proc, const std::string& bytes,
                              io_channels channel = out) {
    auto result = std::make_shared<bool>(false);
    sys.spawn([=, to = uut](caf::event_based_actor* x) {
      x->request(to, caf::infinite, process_output{proc, channel, bytes, 0})
        .then([=](ack) { *result = true; },
              [](const caf::error&) {
                // It is not taken.
              });
    });
    consume_messages();
    return result;
  }

  /// Tells that a job is over, and @returns whether that has been done.
  std::shared_ptr<bool> over(const std::string& nspace) {
    auto result = std::make_shared<bool>(false);
    sys.spawn([=, to = uut](caf::event_based_actor* x) {
      x->request(to, caf::infinite, io_job_over{nspace}).then([=](ack) {
        *result = true;
      });
    });
    consume_messages();
    return result;
  }

  std::vector<io_stream_status> list(std::vector<proc_id> sources = {},
                                     std::optional<uint32_t> uid = {}) {
    return request<io_list>(uut, list_io{std::move(sources), uid}).streams;
  }

  /// The gauges of the desk, by their names.
  std::map<std::string, uint64_t> counts() {
    auto result = std::map<std::string, uint64_t>{};
    for (const auto& x : request<gauge_list>(uut, get_gauges{}).gauges)
      result[x.name] = x.value;
    return result;
  }

  ~fixture() override {
    end(uut);
    for (const auto& x : sinks)
      end(x);
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(io_desk_tests, fixture)

CAF_TEST(I2 I5 who asks by process or job or rank gets that alone(201 203)) {
  const auto [one, id1] = add(want({a1}));
  const auto [job, id2] = add(want({all_of_a}, both));
  const auto [rank, id3] = add(want({{"", 0}}));
  const auto [all, id4] = add(want({{"", rank_wildcard}}, err));
  write(a0, "a0");
  write(a1, "a1");
  write(b0, "b0");
  write(a0, "e0", err);
  CAF_CHECK_EQUAL(one->text(a1), "a1");
  CAF_CHECK_EQUAL(one->fragments.size(), 1u);
  CAF_CHECK_EQUAL(job->text(a0) + job->text(a1) + job->text(a0, err), "a0a1e0");
  CAF_CHECK_EQUAL(job->fragments.size(), 3u);
  CAF_CHECK_EQUAL(rank->text(a0) + rank->text(b0), "a0b0");
  CAF_CHECK_EQUAL(rank->fragments.size(), 2u);
  CAF_CHECK_EQUAL(all->text(a0, err), "e0");
  CAF_CHECK_EQUAL(all->fragments.size(), 1u);
}

CAF_TEST(I3 I14 I15 a rank that writes nothing costs nothing(205)) {
  request<ack>(uut, io_job_begun{"a", {}, 0, 2});
  const auto running = sys.registry().running();
  CAF_CHECK(*write(a0, ""));
  CAF_CHECK_EQUAL(sys.registry().running(), running);
  CAF_CHECK(list().empty());
  write(a0, "x");
  CAF_CHECK_EQUAL(list().size(), 1u);
}

CAF_TEST(LOAD-2 what processes write is counted) {
  const auto [reader, id] = add(want({a0}));
  write(a0, "1234");
  write(a0, "5678");
  write(a1, "9");
  const auto found = counts();
  CAF_CHECK_EQUAL(found.at("streams.open"), 2u);
  CAF_CHECK_EQUAL(found.at("streams.readers"), 1u);
  CAF_CHECK_EQUAL(found.at("streams.written"), 9u);
  CAF_CHECK_EQUAL(found.at("streams.missed"), 0u);
}

CAF_TEST(I8 who comes later gets what is kept and then the rest(194)) {
  {
    const auto [first, id] = add(want({a0}));
    write(a0, "one ");
    request<ack>(uut, io_unsubscription{id});
    CAF_CHECK(*write(a0, "two "));
    CAF_CHECK_EQUAL(first->text(a0), "one ");
  }
  const auto [tail, id1] = add(want({a0}));
  auto how = want({a0});
  how.start = io_start::offset;
  how.offset = 4;
  const auto [resumed, id2] = add(how);
  how.start = io_start::live;
  const auto [live, id3] = add(how);
  write(a0, "three");
  CAF_CHECK_EQUAL(tail->text(a0), "one two three");
  CAF_CHECK_EQUAL(resumed->text(a0), "two three");
  CAF_CHECK_EQUAL(live->text(a0), "three");
}

CAF_TEST(I18 a sink that blocks holds up the writer and one that ends does not) {
  const auto [slow, id1] = add(want({a0}));
  slow->is_slow = true;
  const auto [fast, id2] = add(want({a0}));
  const auto first = write(a0, "one");
  CAF_CHECK(!*first);
  CAF_CHECK_EQUAL(fast->text(a0), "one");
  slow->answer();
  consume_messages();
  CAF_CHECK(*first);
  const auto second = write(a0, "two");
  CAF_CHECK(!*second);
  end(sinks.front());
  CAF_CHECK(*second);
  // With its sink a subscription is gone.
  CAF_CHECK(status_of(refusal<ack>(uut, io_unsubscription{id1}))
            == status::not_found);
  request<ack>(uut, io_unsubscription{id2});
}

CAF_TEST(I3 I17 output of jobs that were never announced is delivered) {
  const auto [late, id] = add(want({{"unknown", rank_wildcard}}));
  CAF_CHECK(*write({"unknown", 7}, "x"));
  CAF_CHECK_EQUAL(late->text({"unknown", 7}), "x");
  const auto bad = refusal<ack>(uut, process_output{{"", 0}, out, "x", 0});
  CAF_CHECK(status_of(bad) == status::bad_param);
  CAF_CHECK(status_of(refusal<ack>(
              uut, process_output{a0, io_channels::stdin_, "x", 0}))
            == status::bad_param);
}

CAF_TEST(X28 a user is shown the streams of the own jobs only) {
  request<ack>(uut, io_job_begun{"a", {}, 7, 2});
  request<ack>(uut, io_job_begun{"b", {}, 8, 1});
  const auto [slow, id] = add(want({all_of_a}));
  slow->is_slow = true;
  write(a0, "a0");
  write(a1, "a1");
  write(b0, "b0");
  write({"c", 0}, "of a job that nobody has told of");
  const auto shown = [&](std::optional<uint32_t> uid) {
    auto result = std::set<std::string>{};
    for (const auto& x : list({}, uid))
      result.insert(to_string(x.stream.source));
    return result;
  };
  using names = std::set<std::string>;
  CAF_CHECK_EQUAL(shown(7), (names{"a:0", "a:1"}));
  CAF_CHECK_EQUAL(shown(8), (names{"b:0"}));
  CAF_CHECK_EQUAL(shown(9), names{});
  CAF_CHECK_EQUAL(shown({}), (names{"a:0", "a:1", "b:0", "c:0"}));
  CAF_CHECK(list({a0}, 8).empty());
  // Also once the job is over, and somebody has not got everything.
  const auto is_over = over("a");
  CAF_CHECK(!*is_over);
  CAF_CHECK_EQUAL(shown(7), (names{"a:0", "a:1"}));
  CAF_CHECK_EQUAL(shown(8), (names{"b:0"}));
  slow->is_slow = false;
  slow->answer();
  consume_messages();
  CAF_CHECK(*is_over);
}

CAF_TEST(I11 I12 I17 a job that is over takes its subscriptions with it(204)) {
  const auto [job, id1] = add(want({all_of_a}));
  const auto [more, id2] = add(want({all_of_a, b0}));
  job->is_slow = true;
  write(a0, "last words");
  write(a0, "");
  const auto is_over = over("a");
  // Not before its sinks have everything.
  CAF_CHECK(!*is_over);
  CAF_CHECK_EQUAL(list().size(), 1u);
  job->is_slow = false;
  job->answer();
  consume_messages();
  CAF_CHECK(*is_over);
  CAF_CHECK_EQUAL(job->text(a0), "last words");
  CAF_CHECK_EQUAL(job->ends(a0), 1u);
  CAF_CHECK(list().empty());
  CAF_CHECK(status_of(refusal<ack>(uut, io_unsubscription{id1}))
            == status::not_found);
  // What was for other jobs, too, stays; output that comes late is dropped.
  CAF_CHECK(*write(a1, "late"));
  CAF_CHECK(list().empty());
  write(b0, "b");
  CAF_CHECK_EQUAL(more->text(b0), "b");
  request<ack>(uut, io_unsubscription{id2});
}

CAF_TEST(P-I1 I17 who asks again for the end of a job waits for it as well) {
  const auto [mine, id1] = add(want({all_of_a}));
  const auto [other, id2] = add(want({all_of_a}));
  mine->is_slow = true;
  other->is_slow = true;
  write(a0, "last words");
  const auto first = over("a");
  const auto second = over("a");
  CAF_CHECK(!*first && !*second);
  // Who is not waited for any more.
  CAF_CHECK(status_of(refusal<ack>(uut, io_unsubscription{id2}))
            == status::not_found);
  CAF_CHECK(!*first && !*second);
  mine->is_slow = false;
  mine->answer();
  consume_messages();
  CAF_CHECK(*first && *second);
  CAF_CHECK_EQUAL(mine->ends(a0), 1u);
  CAF_CHECK(other->is_slow && !other->owed.empty());
}

CAF_TEST(LIM14 streams of jobs that nobody has announced are bounded) {
  auto i = size_t{0};
  while (*write({"j" + std::to_string(i), 0}, "x") && i < 10000)
    ++i;
  CAF_CHECK_EQUAL(i, defaults::io_unannounced_streams);
  const auto late = process_output{{"late", 0}, out, "x", 0};
  CAF_CHECK(status_of(refusal<ack>(uut, late)) == status::out_of_resource);
  // Those that are there go on, and those that are announced.
  CAF_CHECK(*write({"j7", 0}, "y"));
  request<ack>(uut, io_job_begun{"late", {}, 0, 1});
  CAF_CHECK(*write({"late", 0}, "x"));
  CAF_CHECK(*over("j7"));
  CAF_CHECK(*write({"j8", 1}, "x"));
}

CAF_TEST(I17 a name that is used again begins anew) {
  write(a0, "old");
  CAF_CHECK(*over("a"));
  request<ack>(uut, io_job_begun{"a", {}, 0, 1});
  write(a0, "new");
  const auto [sink, id] = add(want({a0}));
  CAF_CHECK_EQUAL(sink->text(a0), "new");
}

CAF_TEST(I16 the description of a job says what is kept and what is written) {
  auto begun = io_job_begun{};
  begun.nspace = "a";
  begun.wiring.file = "out";
  begun.wiring.tail = 5;
  request<ack>(uut, begun);
  CAF_CHECK_EQUAL(opened, std::vector<std::string>{"a"});
  write(a0, "0123456789");
  write(a0, "e", err);
  CAF_CHECK_EQUAL(files->text(a0), "0123456789");
  CAF_CHECK_EQUAL(files->text(a0, err), "e");
  const auto [sink, id] = add(want({a0}));
  CAF_CHECK_EQUAL(sink->text(a0), "56789");
  CAF_REQUIRE(!sink->fragments.empty());
  CAF_CHECK_EQUAL(sink->fragments[0].missed, 5u);
  // Another job writes no files.
  request<ack>(uut, io_job_begun{"b", {}, 0, 1});
  write(b0, "x");
  CAF_CHECK_EQUAL(files->text(b0), "");
  CAF_CHECK(*over("a"));
}

CAF_TEST(LIM14 the tails of a node are bounded together) {
  const auto chunk = std::string(defaults::io_tail, 'x');
  const auto streams = defaults::io_tails_total / defaults::io_tail + 8;
  for (uint32_t rank = 0; rank < streams; ++rank)
    write({"a", rank}, chunk);
  write(b0, "short");
  auto held = uint64_t{0};
  for (const auto& x : list())
    held += x.end - x.begin;
  CAF_CHECK_LESS_OR_EQUAL(held, defaults::io_tails_total);
  CAF_CHECK_GREATER(held, defaults::io_tails_total / 2);
  const auto short_one = list({b0});
  CAF_REQUIRE_EQUAL(short_one.size(), 1u);
  CAF_CHECK_EQUAL(short_one[0].begin, 0u);
}

CAF_TEST(LIM14 a site may set how much of its streams a node keeps) {
  constexpr auto kept = size_t{4} << 20;
  auto options = io_desk_options{};
  options.kept = kept;
  end(uut);
  start(std::move(options));
  const auto chunk = std::string(defaults::io_tail, 'x');
  for (uint32_t rank = 0; rank < 8; ++rank)
    write({"a", rank}, chunk);
  auto held = uint64_t{0};
  for (const auto& x : list())
    held += x.end - x.begin;
  // They are cut again when an eighth has come since they were the last time.
  CAF_CHECK_LESS_OR_EQUAL(held, kept + kept / 8);
  CAF_CHECK_GREATER(held, kept / 2);
}

CAF_TEST(LIM14 a site may set how much of its streams waits) {
  constexpr auto waiting = size_t{1} << 20;
  auto options = io_desk_options{};
  options.waiting = waiting;
  end(uut);
  start(std::move(options));
  const auto [slow, id] = add(want({all_of_a}));
  slow->is_slow = true;
  const auto bytes = std::string(size_t{64} << 10, 'x');
  for (uint32_t rank = 0; rank < 30; ++rank)
    write({"a", rank}, bytes);
  auto given = size_t{0};
  for (const auto& x : slow->fragments)
    given += x.bytes.size();
  CAF_CHECK_GREATER(given, waiting / 8);
  CAF_CHECK_LESS_OR_EQUAL(given, waiting / 4 + 30 * defaults::io_window_least);
}

CAF_TEST(LIM15 subscriptions of a requester are bounded and say so) {
  auto sink = make(files);
  for (size_t i = 0; i < defaults::io_subscriptions_per_requester; ++i)
    request<io_pull_result>(uut, want({a0}), sink);
  const auto why = refusal<io_pull_result>(uut, want({a0}), sink);
  CAF_CHECK(status_of(why) == status::out_of_resource);
  CAF_CHECK(reason_of(why).find("tool has 1024 subscriptions")
            != std::string::npos);
  // Others are not held up by it, and room that is given back counts.
  auto other = want({a0});
  other.name = "other";
  request<io_pull_result>(uut, other, sink);
  end(sink);
  add(want({a0}));
}

CAF_TEST(I2 a subscription that says too little is refused) {
  auto sink = make(files);
  const auto code = [&](io_subscription how) {
    return status_of(refusal<io_pull_result>(uut, std::move(how), sink));
  };
  CAF_CHECK(code(want({})) == status::bad_param);
  CAF_CHECK(code(want({a0}, io_channels::stdin_)) == status::bad_param);
  CAF_CHECK(code(want({{"a", rank_undef}})) == status::bad_param);
}

CAF_TEST(I18 LIM14 IO-1 sinks that drop hold no more than a node keeps) {
  constexpr uint32_t procs = 200;
  constexpr size_t piece = size_t{64} << 10;
  constexpr size_t pieces = 6;
  auto how = want({all_of_a});
  how.policy = io_policy::drop_oldest;
  how.window = 8 * piece;
  const auto [slow, id] = add(how);
  slow->is_slow = true;
  const auto bytes = std::string(piece, 'x');
  const auto held = [&] {
    auto result = uint64_t{0};
    for (const auto& x : list())
      result += x.end - x.begin;
    return result;
  };
  for (size_t i = 0; i < pieces; ++i) {
    for (uint32_t rank = 0; rank < procs; ++rank)
      CAF_CHECK(*write({"a", rank}, bytes));
    CAF_CHECK(held() <= defaults::io_tails_total + piece);
  }
  CAF_CHECK(held() > defaults::io_tails_total / 2);
  const auto is_over = over("a");
  while (!*is_over) {
    slow->answer();
    consume_messages();
  }
  auto told = std::map<proc_id, size_t>{};
  for (const auto& x : slow->fragments)
    told[x.stream.source] += x.missed + x.bytes.size();
  CAF_CHECK_EQUAL(told.size(), procs);
  for (const auto& [proc, n] : told)
    CAF_CHECK_EQUAL(n, piece * pieces);
  // What it has missed is counted.
  auto missed = uint64_t{0};
  for (const auto& x : slow->fragments)
    missed += x.missed;
  CAF_CHECK(missed > 0);
  CAF_CHECK_EQUAL(counts().at("streams.missed"), missed);
}

CAF_TEST(I18 a sink that drops may ask for more than a window) {
  constexpr size_t piece = size_t{64} << 10;
  auto how = want({a0});
  how.policy = io_policy::drop_newest;
  how.window = 12 * piece;
  const auto [slow, id] = add(how);
  slow->is_slow = true;
  const auto bytes = std::string(piece, 'x');
  for (size_t i = 0; i < 13; ++i)
    CAF_CHECK(*write(a0, bytes));
  write(a0, "");
  while (slow->ends(a0) == 0) {
    slow->answer();
    consume_messages();
  }
  for (const auto& x : slow->fragments)
    CAF_CHECK_EQUAL(x.missed, 0u);
  CAF_CHECK_EQUAL(slow->text(a0).size(), 13 * piece);
}

CAF_TEST(I18 LIM14 a stream with a healthy reader goes on among 300 blocked) {
  const auto [slow, id1] = add(want({all_of_a}));
  slow->is_slow = true;
  const auto [healthy, id2] = add(want({b0}));
  const auto bytes = std::string(size_t{64} << 10, 'x');
  for (uint32_t rank = 0; rank < 300; ++rank)
    CAF_CHECK(!*write({"a", rank}, bytes));
  // What the sink has not answered is a part of what waits.
  auto given = size_t{0};
  for (const auto& x : slow->fragments)
    given += x.bytes.size();
  CAF_CHECK(given
            <= defaults::io_window_total / 4 + 300 * defaults::io_window_least);
  for (auto i = 0; i < 100; ++i)
    CAF_CHECK(*write(b0, bytes));
  CAF_CHECK_EQUAL(healthy->text(b0).size(), 100 * bytes.size());
}

CAF_TEST_FIXTURE_SCOPE_END()
