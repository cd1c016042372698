// Standard streams of processes that somebody else has started.

#include "adapters/process/process_pipes.hpp"

#include "tests/adapters/process/world.hpp"

#include <fcntl.h>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

constexpr auto out = io_channels::stdout_;

const auto p0 = proc_id{"job", 0};

struct fixture : world {
  process_pipes uut{sys.actors(), sys.loop()};

  /// What has come, and what has not been answered.
  std::map<io_channels, std::string> got;
  std::vector<io_channels> ends;
  std::vector<caf::typed_response_promise<ack>> owed;
  bool is_slow = false;
  uint32_t pid = 0;
  output_receiver_actor receiver;

  fixture() {
    receiver = sys.actors().spawn([this](output_receiver_actor::pointer self)
                                    -> output_receiver_actor::behavior_type {
      return {[this, self](const process_output& x) {
        got[x.channel] += x.bytes;
        pid = x.pid;
        if (x.bytes.empty())
          ends.push_back(x.channel);
        auto promise = self->make_response_promise<ack>();
        if (is_slow)
          owed.push_back(promise);
        else
          promise.deliver(ack{});
        return promise;
      }};
    });
  }

  /// Two ends of a pipe; that of the process blocks.
  static std::pair<unique_fd, unique_fd> make_pipe() {
    int fds[2];
    CAF_REQUIRE(pipe2(fds, O_CLOEXEC) == 0);
    return {unique_fd{fds[0]}, unique_fd{fds[1]}};
  }

  static void unblock(const unique_fd& fd) {
    CAF_REQUIRE(fcntl(fd.get(), F_SETFL, O_NONBLOCK) == 0);
  }

  /// @returns the end of the process.
  unique_fd add_output() {
    auto [ours, theirs] = make_pipe();
    unblock(ours);
    auto ends = process_ends{};
    ends.proc = p0;
    ends.pid = 4711;
    ends.out = std::move(ours);
    uut.add(std::move(ends), receiver);
    return std::move(theirs);
  }

  static void write(const unique_fd& fd, const std::string& text) {
    CAF_REQUIRE(::write(fd.get(), text.data(), text.size())
                == static_cast<ssize_t>(text.size()));
  }

  void answer_all() {
    for (auto& x : std::exchange(owed, {}))
      x.deliver(ack{});
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(process_pipes_tests, fixture)

CAF_TEST(I5 I6 what a process writes is read to its end) {
  auto end = add_output();
  write(end, "first ");
  CAF_CHECK(run_until([&] { return got[out] == "first "; }));
  CAF_CHECK_EQUAL(pid, 4711u);
  write(end, "last");
  end.reset();
  CAF_CHECK(run_until([&] { return !ends.empty(); }));
  CAF_CHECK_EQUAL(got[out], "first last");
  CAF_CHECK(ends == std::vector<io_channels>{out});
}

CAF_TEST(I6 I9 input is written and ended) {
  auto [theirs, ours] = make_pipe();
  unblock(ours);
  auto x = process_ends{};
  x.proc = p0;
  x.in = std::move(ours);
  uut.add(std::move(x), receiver);
  CAF_CHECK(ask<ack>(uut.writer(), write_stdin{p0, "abc"}).value);
  sys.actors().spawn([this](caf::event_based_actor* self) {
    self->send(uut.writer(), close_stdin{p0});
  });
  char bytes[10];
  CAF_CHECK_EQUAL(read(theirs.get(), bytes, sizeof bytes), 3);
  unblock(theirs);
  CAF_CHECK(
    run_until([&] { return read(theirs.get(), bytes, sizeof bytes) == 0; }));
  CAF_CHECK(ask<ack>(uut.writer(), write_stdin{p0, "late"}).refusal
            == status::lost_connection);
  CAF_CHECK(ask<ack>(uut.writer(), write_stdin{{"job", 1}, "x"}).refusal
            == status::not_found);
}

CAF_TEST(I17 I18 the end of a job waits for what it has written) {
  is_slow = true;
  auto end = add_output();
  write(end, "last words");
  end.reset();
  const auto over = request<ack>(uut.writer(), io_job_over{"job"});
  CAF_CHECK(run_until([&] { return owed.size() == 2; }));
  CAF_CHECK(!over->has_come());
  answer_all();
  CAF_CHECK(run_until([&] { return over->has_come(); }));
  CAF_CHECK_EQUAL(got[out], "last words");
  CAF_CHECK(ask<ack>(uut.writer(), io_job_over{"other"}).value);
}

CAF_TEST(I17 whoever keeps a stream open is not waited for) {
  const auto end = add_output();
  write(end, "text");
  CAF_CHECK(ask<ack>(uut.writer(), io_job_over{"job"}).value);
  CAF_CHECK_EQUAL(got[out], "text");
  sys.actors().spawn([this](caf::event_based_actor* self) {
    self->send(uut.writer(), deregister_nspace{"job"});
  });
  // It is closed then.
  CAF_CHECK(run_until([&] { return ::write(end.get(), "x", 1) < 0; }));
}

CAF_TEST(I5 a process of the same name takes the place of the first) {
  const auto first = add_output();
  const auto second = add_output();
  write(second, "second");
  CAF_CHECK(run_until([&] { return got[out] == "second"; }));
  CAF_CHECK_LESS(::write(first.get(), "x", 1), 0);
}

CAF_TEST_FIXTURE_SCOPE_END()
