// Input for the processes of a node: exact, once, as fast as they read.

#include "actors/io/io_desk.hpp"
#include "config/defaults.hpp"
#include "tests/fixtures/deterministic.hpp"

#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <deque>

using namespace troupe;

namespace {

/// What a process has read, and how.
struct reader {
  std::string text;
  size_t ends = 0;
  bool is_slow = false;
  bool is_dead = false;
  std::deque<std::pair<std::string, caf::typed_response_promise<ack>>> waiting;

  /// Reads what has waited longest.
  void read() {
    if (waiting.empty())
      return;
    auto [bytes, promise] = std::move(waiting.front());
    waiting.pop_front();
    text += bytes;
    promise.deliver(ack{});
  }

  void die() {
    is_dead = true;
    for (auto& [bytes, promise] : std::exchange(waiting, {}))
      promise.deliver(make_error(status::lost_connection));
  }
};

using readers = std::map<uint32_t, reader>;

using launcher_actor =
  process_launcher_actor::extend<caf::reacts_to<uint32_t, bool>>;

launcher_actor::behavior_type launcher(launcher_actor::pointer self,
                                       std::shared_ptr<readers> all) {
  return {
    [](start_process&, process_owner_actor&, output_receiver_actor&)
      -> caf::result<process_started> { return status::not_supported; },
    [](const signal_process&) {
      // nop
    },
    [](const control_procs&) -> caf::result<procs_controlled> {
      return status::not_supported;
    },
    [](const find_process&) -> caf::result<local_process> {
      return status::not_found;
    },
    [](const sweep_job&) { return ack{}; },
    [=](write_stdin& what) -> caf::result<ack> {
      const auto i = all->find(what.proc.rank);
      if (i == all->end())
        return make_error(status::not_found);
      auto& x = i->second;
      if (x.is_dead)
        return make_error(status::lost_connection);
      if (!x.is_slow) {
        x.text += what.bytes;
        return ack{};
      }
      auto promise = self->make_response_promise<ack>();
      x.waiting.emplace_back(std::move(what.bytes), promise);
      return promise;
    },
    [=](const close_stdin& what) { ++(*all)[what.proc.rank].ends; },
    // A process reads, or dies.
    [=](uint32_t rank, bool reads) {
      auto& x = (*all)[rank];
      if (reads)
        x.read();
      else
        x.die();
    },
  };
}

struct fixture : fixtures::deterministic {
  std::shared_ptr<readers> all = std::make_shared<readers>();
  launcher_actor processes = sys.spawn(launcher, all);
  io_desk_actor uut;

  fixture() {
    auto options = io_desk_options{};
    options.launcher = processes;
    uut = spawn_io_desk(sys, options);
    for (const auto rank : {0U, 1U, 2U})
      all->emplace(rank, reader{});
  }

  reader& rank(uint32_t x) {
    return all->at(x);
  }

  void read(uint32_t rank) {
    caf::anon_send(processes, rank, true);
    consume_messages();
  }

  void die(uint32_t rank) {
    caf::anon_send(processes, rank, false);
    consume_messages();
  }

  /// What becomes of input; nothing while it has not been answered.
  using outcome = std::shared_ptr<std::optional<io_input_taken>>;

  outcome push(std::vector<uint32_t> ranks, std::optional<uint64_t> offset,
               const std::string& bytes, bool is_end = false) {
    auto result = std::make_shared<std::optional<io_input_taken>>();
    sys.spawn([=, to = uut](caf::event_based_actor* x) {
      x->request(to, caf::infinite, io_input{"a", ranks, offset, bytes, is_end})
        .then([=](io_input_taken& y) { *result = std::move(y); },
              [](const caf::error&) {
                // It is not answered.
              });
    });
    consume_messages();
    return result;
  }

  caf::error refused(std::vector<uint32_t> ranks,
                     std::optional<uint64_t> offset, const std::string& bytes) {
    return refusal<io_input_taken>(
      uut, io_input{"a", std::move(ranks), offset, bytes, false});
  }

  ~fixture() override {
    end(uut);
    end(processes);
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(io_desk_input_tests, fixture)

CAF_TEST(I6 I9 I10 input goes to those that are named and to no other(196)) {
  const auto one = push({1}, 0, "one");
  CAF_REQUIRE(one->has_value());
  CAF_CHECK_EQUAL((*one)->offset, 3u);
  CAF_CHECK_EQUAL((*one)->readers, 1u);
  push({2, 0}, 0, "two");
  CAF_CHECK_EQUAL(rank(0).text, "two");
  CAF_CHECK_EQUAL(rank(1).text, "one");
  CAF_CHECK_EQUAL(rank(2).text, "two");
  // Without an offset each goes on where it is.
  push({0, 1, 2}, {}, "!");
  CAF_CHECK_EQUAL(rank(1).text, "one!");
  CAF_CHECK_EQUAL(rank(2).text, "two!");
}

CAF_TEST(I9 a new source continues at the acknowledged byte(195)) {
  rank(0).is_slow = true;
  const auto first = push({0}, 0, "hello ");
  CAF_CHECK(!first->has_value());
  // The source is gone before that has been written: the next one asks where
  // it stands, and repeats what it is not sure of.
  const auto again = push({0}, 0, "hello world");
  read(0);
  CAF_REQUIRE(first->has_value());
  CAF_CHECK_EQUAL((*first)->offset, 6u);
  CAF_CHECK(!again->has_value());
  read(0);
  CAF_REQUIRE(again->has_value());
  CAF_CHECK_EQUAL((*again)->offset, 11u);
  CAF_CHECK_EQUAL(rank(0).text, "hello world");
  // The position can be asked for.
  const auto asked = push({0}, {}, "");
  CAF_REQUIRE(asked->has_value());
  CAF_CHECK_EQUAL((*asked)->offset, 11u);
  const auto found = request<io_list>(uut, list_io{{{"a", 0}}, {}}).streams;
  CAF_REQUIRE_EQUAL(found.size(), 1u);
  CAF_CHECK(found[0].stream.channel == io_channels::stdin_);
  CAF_CHECK_EQUAL(found[0].end, 11u);
  CAF_CHECK(!found[0].is_over);
}

CAF_TEST(I18 the slowest of those that read holds up the source(196)) {
  rank(1).is_slow = true;
  const auto answer = push({0, 1, 2}, 0, "x");
  CAF_CHECK_EQUAL(rank(0).text, "x");
  CAF_CHECK(!answer->has_value());
  read(1);
  CAF_REQUIRE(answer->has_value());
  CAF_CHECK_EQUAL((*answer)->readers, 3u);
}

CAF_TEST(I9 I18 a process that dies holds nobody up(196)) {
  rank(1).is_slow = true;
  const auto answer = push({0, 1}, 0, "abc");
  CAF_CHECK(!answer->has_value());
  die(1);
  CAF_REQUIRE(answer->has_value());
  CAF_CHECK_EQUAL((*answer)->readers, 1u);
  CAF_CHECK_EQUAL((*answer)->offset, 3u);
  CAF_CHECK_EQUAL((*answer)->closed, (std::vector<proc_id>{{"a", 1}}));
  const auto next = push({0, 1}, 3, "def");
  CAF_REQUIRE(next->has_value());
  CAF_CHECK_EQUAL((*next)->offset, 6u);
  CAF_CHECK_EQUAL((*next)->closed.size(), 1u);
  CAF_CHECK_EQUAL(rank(0).text, "abcdef");
  // Nobody reads any more: the source may stop.
  const auto alone = push({1}, {}, "x");
  CAF_REQUIRE(alone->has_value());
  CAF_CHECK_EQUAL((*alone)->readers, 0u);
}

CAF_TEST(I9 I10 the end comes once and after all data(197)) {
  rank(0).is_slow = true;
  const auto data = push({0, 1}, 0, "abc");
  const auto last = push({0, 1}, 3, "", true);
  CAF_CHECK_EQUAL(rank(1).text, "abc");
  CAF_CHECK_EQUAL(rank(1).ends, 1u);
  CAF_CHECK(!last->has_value());
  read(0);
  CAF_REQUIRE(last->has_value());
  CAF_CHECK_EQUAL((*last)->readers, 2u);
  CAF_CHECK((*last)->closed.empty());
  push({0, 1}, 3, "", true);
  CAF_CHECK_EQUAL(rank(0).ends, 1u);
  CAF_CHECK_EQUAL(rank(1).ends, 1u);
  const auto more = push({0, 1}, 3, "more");
  CAF_REQUIRE(more->has_value());
  CAF_CHECK_EQUAL((*more)->readers, 0u);
  CAF_CHECK_EQUAL(rank(1).text, "abc");
}

CAF_TEST(I9 I18 a process that has ended before it read holds nobody up(196)) {
  // Rank 7 has ended, and is not known any more.
  const auto first = push({0, 7}, 0, "abc");
  CAF_REQUIRE(first->has_value());
  CAF_CHECK_EQUAL((*first)->readers, 1u);
  const auto next = push({0, 7}, 3, "def");
  CAF_REQUIRE(next->has_value());
  CAF_CHECK_EQUAL((*next)->readers, 1u);
  CAF_CHECK_EQUAL((*next)->closed, (std::vector<proc_id>{{"a", 7}}));
  CAF_CHECK_EQUAL(rank(0).text, "abcdef");
}

CAF_TEST(I9 input with a gap reaches nobody) {
  push({0}, 0, "abc");
  const auto why = refused({0, 1}, 3, "def");
  CAF_CHECK(status_of(why) == status::bad_param);
  CAF_CHECK(reason_of(why).find("a:1") != std::string::npos);
  CAF_CHECK_EQUAL(rank(0).text, "abc");
}

CAF_TEST(LIM14 I18 input that waits for a process is bounded) {
  rank(0).is_slow = true;
  const auto first = push({0}, {}, std::string(defaults::io_input_window, 'x'));
  CAF_CHECK(!first->has_value());
  const auto why = refused({0, 1}, {}, "y");
  CAF_CHECK(status_of(why) == status::out_of_resource);
  CAF_CHECK_EQUAL(rank(1).text, "");
  read(0);
  CAF_CHECK(first->has_value());
  CAF_CHECK_EQUAL(push({1}, {}, "y")->has_value(), true);
}

CAF_TEST(I7 I9 input for a process that is not there is answered) {
  const auto none = push({7}, 0, "x");
  CAF_REQUIRE(none->has_value());
  CAF_CHECK_EQUAL((*none)->readers, 0u);
  CAF_CHECK_EQUAL((*none)->closed, (std::vector<proc_id>{{"a", 7}}));
  // It may come yet.
  all->emplace(7, reader{});
  const auto now = push({7}, 0, "x");
  CAF_REQUIRE(now->has_value());
  CAF_CHECK_EQUAL((*now)->readers, 1u);
  CAF_CHECK_EQUAL(rank(7).text, "x");
  CAF_CHECK(status_of(refused({}, 0, "x")) == status::bad_param);
  CAF_CHECK(status_of(refused({rank_wildcard}, 0, "x")) == status::bad_param);
}

CAF_TEST(I17 the end of a job ends its input) {
  rank(0).is_slow = true;
  const auto answer = push({0}, 0, "x");
  CAF_CHECK(!answer->has_value());
  request<ack>(uut, io_job_over{"a"});
  CAF_REQUIRE(answer->has_value());
  CAF_CHECK_EQUAL((*answer)->readers, 0u);
  CAF_CHECK(request<io_list>(uut, list_io{}).streams.empty());
  read(0);
}

CAF_TEST_FIXTURE_SCOPE_END()
