// The launcher's standard input, whatever it is, reaches its targets.

#include "adapters/process/stdin_source.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "tests/adapters/process/world.hpp"

#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>

#include <memory>
#include <set>
#include <thread>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

/// A chain of bytes that shows loss, repetition and disorder.
std::string pattern(size_t size) {
  std::string result(size, '\0');
  for (size_t i = 0; i < size; ++i)
    result[i] = static_cast<char>(i * 7 + (i >> 8) * 31 + (i >> 16));
  return result;
}

/// Stands for the hosts and desks on the way: what they are given goes to the
/// launcher, and is answered when all who read have got it.
struct forwarder_state {
  process_launcher_actor launcher;
  std::vector<io_input> taken;
  std::map<uint32_t, uint64_t> offsets;
  std::set<uint32_t> closed;

  /// Refuses so many with `resource_busy`.
  int busy = 0;
};

using forwarder = input_target_actor::stateful_pointer<forwarder_state>;

/// The answer to one input, once each of its ranks has answered.
struct input_answer {
  io_input what;
  caf::typed_response_promise<io_input_taken> reply;
  size_t missing = 0;
};

void settle(forwarder self, input_answer& x) {
  if (x.missing > 0)
    return;
  auto& st = self->state;
  auto result = io_input_taken{UINT64_MAX, {}, 0};
  for (const auto rank : x.what.ranks)
    if (st.closed.count(rank) > 0) {
      result.closed.push_back({x.what.nspace, rank});
    } else {
      ++result.readers;
      result.offset = std::min(result.offset, st.offsets[rank]);
      if (x.what.is_end)
        self->send(st.launcher, close_stdin{{x.what.nspace, rank}});
    }
  x.reply.deliver(result);
}

void take(forwarder self, const std::shared_ptr<input_answer>& x) {
  auto& st = self->state;
  for (const auto rank : x->what.ranks) {
    const auto given = st.offsets[rank];
    const auto offset = x->what.offset.value_or(given);
    auto bytes = x->what.bytes;
    bytes.erase(0, std::min<uint64_t>(given - offset, bytes.size()));
    if (bytes.empty() || st.closed.count(rank) > 0)
      continue;
    ++x->missing;
    st.offsets[rank] += bytes.size();
    self
      ->request(st.launcher, caf::infinite,
                write_stdin{{x->what.nspace, rank}, std::move(bytes)})
      .then(
        [self, x](const ack&) {
          --x->missing;
          settle(self, *x);
        },
        [self, x, rank](const caf::error&) {
          --x->missing;
          self->state.closed.insert(rank);
          settle(self, *x);
        });
  }
  settle(self, *x);
}

input_target_actor::behavior_type
run_forwarder(forwarder self, const process_launcher_actor& launcher,
              forwarder_state** state) {
  self->state.launcher = launcher;
  *state = &self->state;
  return {[self](const io_input& what) -> caf::result<io_input_taken> {
    if (self->state.busy > 0) {
      --self->state.busy;
      return make_error(status::resource_busy, "too much waits");
    }
    self->state.taken.push_back(what);
    auto x = std::make_shared<input_answer>();
    x->what = what;
    x->reply = self->make_response_promise<io_input_taken>();
    auto reply = x->reply;
    take(self, x);
    return reply;
  }};
}

struct fixture : fixtures::world {
  fixtures::scratch_folder folder;
  forwarder_state* passed = nullptr;
  input_target_actor target;
  caf::actor source;
  std::thread writer;

  fixture() {
    target = sys.actors().spawn(run_forwarder, launcher, &passed);
  }

  ~fixture() {
    source = nullptr;
    caf::anon_send_exit(target, caf::exit_reason::user_shutdown);
    target = nullptr;
    if (writer.joinable())
      writer.join();
  }

  void run_reader(uint32_t rank, const std::string& script) {
    auto x = shell(proc(rank), script);
    x.with_stdin = true;
    run(x);
  }

  void forward(int fd, std::vector<uint32_t> ranks, bool repeats = false) {
    stdin_source_settings settings;
    settings.fd = fd;
    settings.nspace = "job-1";
    settings.ranks = std::move(ranks);
    settings.repeats = repeats;
    source = sys.actors().spawn(stdin_source, &sys.loop(), &sys.pool(), target,
                                settings);
  }

  /// Writes to `fd` as fast as it takes it, then closes it.
  void feed(int fd, std::string bytes) {
    writer = std::thread{[fd, bytes = std::move(bytes)] {
      for (size_t done = 0; done < bytes.size();) {
        const auto n = write(fd, bytes.data() + done, bytes.size() - done);
        if (n <= 0)
          break;
        done += static_cast<size_t>(n);
      }
      close(fd);
    }};
  }

  bool has_ended(const caf::actor& x) {
    return ask<int>(x, 0).refusal.has_value();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(stdin_source_tests, fixture)

CAF_TEST(F6.18 I6 196 20 MB from a pipe reach a slow and a fast reader) {
  const auto bytes = pattern(20 << 20);
  int fds[2];
  CAF_REQUIRE_EQUAL(pipe(fds), 0);
  run_reader(0, "exec dd bs=1k status=none");
  run_reader(1, "exec cat");
  feed(fds[1], bytes);
  forward(fds[0], {0, 1});
  CAF_REQUIRE(run_until([&] { return is_over(proc(0)) && is_over(proc(1)); }));
  CAF_CHECK(heard[proc(0)].out() == bytes);
  CAF_CHECK(heard[proc(1)].out() == bytes);
  CAF_CHECK_EQUAL(fcntl(fds[0], F_GETFL) & O_NONBLOCK, 0);
  close(fds[0]);
}

CAF_TEST(I18 nothing is read ahead of a target that does not read) {
  const auto bytes = pattern(1 << 20);
  int fds[2];
  CAF_REQUIRE_EQUAL(pipe(fds), 0);
  run_reader(0, "sleep 60");
  feed(fds[1], bytes);
  forward(fds[0], {0});
  run_for(200ms);
  // One window on its way, one pipe full on either side.
  int left = 0;
  ioctl(fds[0], FIONREAD, &left);
  CAF_CHECK(left > 0);
  send(signal_process{proc(0), SIGKILL});
  CAF_CHECK(run_until([&] { return is_over(proc(0)); }));
  close(fds[0]);
  signal(SIGPIPE, SIG_IGN);
}

CAF_TEST(I6 196 a target that is gone is dropped and the others go on) {
  const auto bytes = pattern(3 << 20);
  int fds[2];
  CAF_REQUIRE_EQUAL(pipe(fds), 0);
  run_reader(0, "read line; exit 0");
  run_reader(1, "exec cat");
  feed(fds[1], bytes);
  forward(fds[0], {0, 1, 99});
  CAF_REQUIRE(run_until([&] { return is_over(proc(1)); }));
  CAF_CHECK(heard[proc(1)].out() == bytes);
  CAF_CHECK(has_ended(source));
  close(fds[0]);
}

CAF_TEST(the source ends when no target is left) {
  int fds[2];
  CAF_REQUIRE_EQUAL(pipe(fds), 0);
  run_reader(0, "exit 0");
  CAF_REQUIRE(run_until([&] { return is_over(proc(0)); }));
  forward(fds[0], {0});
  CAF_CHECK_EQUAL(write(fds[1], "x", 1), 1);
  CAF_CHECK(run_until([&] { return has_ended(source); }));
  forward(fds[0], {});
  CAF_CHECK(has_ended(source));
}

CAF_TEST(a regular file is read from where it stands) {
  const auto bytes = pattern(1 << 20);
  const auto fd =
    unique_fd{open(folder.file("input", bytes).c_str(), O_RDONLY)};
  lseek(fd.get(), 1000, SEEK_SET);
  run_reader(0, "exec cat");
  forward(fd.get(), {0});
  CAF_REQUIRE(run_until([&] { return is_over(proc(0)); }));
  CAF_CHECK(heard[proc(0)].out() == bytes.substr(1000));
}

CAF_TEST(devices and closed descriptors are at their end) {
  const auto null = unique_fd{open("/dev/null", O_RDONLY)};
  for (const auto fd : {null.get(), 987, -1}) {
    heard.clear();
    run_reader(0, "cat; echo end");
    forward(fd, {0});
    CAF_REQUIRE(run_until([&] { return is_over(proc(0)); }));
    CAF_CHECK_EQUAL(heard[proc(0)].out(), "end\n");
    CAF_CHECK(has_ended(source));
  }
}

CAF_TEST(a socket is read without making it non blocking) {
  const auto bytes = pattern(1 << 20);
  int fds[2];
  CAF_REQUIRE_EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
  run_reader(0, "exec cat");
  feed(fds[1], bytes);
  forward(fds[0], {0});
  CAF_REQUIRE(run_until([&] { return is_over(proc(0)); }));
  CAF_CHECK(heard[proc(0)].out() == bytes);
  CAF_CHECK_EQUAL(fcntl(fds[0], F_GETFL) & O_NONBLOCK, 0);
  close(fds[0]);
}

CAF_TEST(I9 195 a new source continues where the last one was acknowledged) {
  const auto bytes = pattern(300'000);
  int fds[2];
  CAF_REQUIRE_EQUAL(pipe(fds), 0);
  run_reader(0, "exec cat");
  run_reader(1, "exec cat");
  forward(fds[0], {0, 1});
  CAF_REQUIRE_EQUAL(write(fds[1], "first\n", 6), 6);
  CAF_REQUIRE(run_until([&] { return heard[proc(1)].out().size() == 6; }));
  caf::anon_send_exit(source, caf::exit_reason::kill);
  const auto fd =
    unique_fd{open(folder.file("input", bytes).c_str(), O_RDONLY)};
  forward(fd.get(), {0, 1});
  CAF_REQUIRE(run_until([&] { return is_over(proc(0)) && is_over(proc(1)); }));
  CAF_CHECK(heard[proc(0)].out() == "first\n" + bytes);
  CAF_CHECK(heard[proc(1)].out() == "first\n" + bytes);
  close(fds[0]);
  close(fds[1]);
}

CAF_TEST(I9 195 a source that repeats leaves out what was acknowledged) {
  const auto bytes = pattern(3 << 20);
  const auto path = folder.file("input", bytes);
  run_reader(0, "dd bs=1k count=1500 iflag=fullblock status=none; sleep 0.1; "
                "exec cat");
  const auto first = unique_fd{open(path.c_str(), O_RDONLY)};
  forward(first.get(), {0});
  // Dies with data in flight.
  CAF_REQUIRE(run_until([&] { return passed->offsets[0] > (1 << 20); }));
  caf::anon_send_exit(source, caf::exit_reason::kill);
  const auto second = unique_fd{open(path.c_str(), O_RDONLY)};
  forward(second.get(), {0}, true);
  CAF_REQUIRE(run_until([&] { return is_over(proc(0)); }));
  CAF_CHECK(heard[proc(0)].out() == bytes);
}

CAF_TEST(I6 197 the end comes once and after all bytes) {
  const auto bytes = pattern(200'000);
  const auto fd =
    unique_fd{open(folder.file("input", bytes).c_str(), O_RDONLY)};
  run_reader(0, "exec cat");
  forward(fd.get(), {0});
  CAF_REQUIRE(run_until([&] { return is_over(proc(0)); }));
  CAF_CHECK(has_ended(source));
  CAF_CHECK(heard[proc(0)].out() == bytes);
  uint64_t next = 0;
  size_t ends = 0;
  for (const auto& x : passed->taken) {
    CAF_CHECK_EQUAL(ends, 0u);
    CAF_CHECK_EQUAL(x.offset.value_or(next), next);
    next += x.bytes.size();
    ends += x.is_end ? 1 : 0;
  }
  CAF_CHECK_EQUAL(next, bytes.size());
  CAF_CHECK_EQUAL(ends, 1u);
}

CAF_TEST(I18 196 a stopped reader holds up the others until it goes on) {
  const auto bytes = pattern(2 << 20);
  const auto fd =
    unique_fd{open(folder.file("input", bytes).c_str(), O_RDONLY)};
  run_reader(0, "kill -STOP $$; exec cat");
  run_reader(1, "exec cat");
  forward(fd.get(), {0, 1});
  run_for(100ms);
  // What fits into its pipe, and one more message.
  CAF_CHECK(passed->offsets[1] <= 192 << 10);
  CAF_CHECK_EQUAL(heard[proc(0)].out(), "");
  send(signal_process{proc(0), SIGCONT});
  CAF_REQUIRE(run_until([&] { return is_over(proc(0)) && is_over(proc(1)); }));
  CAF_CHECK(heard[proc(0)].out() == bytes);
  CAF_CHECK(heard[proc(1)].out() == bytes);
}

CAF_TEST(I18 input that is refused for a while is sent again) {
  const auto bytes = pattern(400'000);
  const auto fd =
    unique_fd{open(folder.file("input", bytes).c_str(), O_RDONLY)};
  run_reader(0, "exec cat");
  forward(fd.get(), {0});
  CAF_REQUIRE(run_until([&] { return passed->taken.size() > 2; }));
  passed->busy = 3;
  CAF_REQUIRE(run_until([&] { return is_over(proc(0)); }));
  CAF_CHECK_EQUAL(passed->busy, 0);
  CAF_CHECK(heard[proc(0)].out() == bytes);
}

CAF_TEST(a source that is told to end leaves the input alone) {
  int fds[2];
  CAF_REQUIRE_EQUAL(pipe(fds), 0);
  run_reader(0, "exec cat");
  forward(fds[0], {0});
  run_for(5ms);
  caf::anon_send_exit(source, caf::exit_reason::user_shutdown);
  run_for(5ms);
  CAF_CHECK_EQUAL(write(fds[1], "x", 1), 1);
  run_for(20ms);
  int left = 0;
  ioctl(fds[0], FIONREAD, &left);
  CAF_CHECK_EQUAL(left, 1);
}

CAF_TEST_FIXTURE_SCOPE_END()

namespace {

/// What happens in a session whose terminal is `terminal`: a background process
/// forwards the terminal and is later put into the foreground.
/// @returns the exit code of the session: 0 if all went well.
int run_session(int terminal) {
  setsid();
  ioctl(terminal, TIOCSCTTY, 0);
  const auto child = fork();
  if (child == 0) {
    setpgid(0, 0); // Not the foreground group.
    fixture world;
    world.run_reader(0, "cat");
    world.forward(terminal, {0});
    const auto ok =
      world.run_until([&] { return world.is_over(world.proc(0)); }, 10s)
      && world.heard[world.proc(0)].out() == "typed\n";
    std::_Exit(ok ? 0 : 1);
  }
  setpgid(child, child);
  signal(SIGTTOU, SIG_IGN);
  // Input is there while the child is in the background: it must neither read
  // it nor be stopped.
  int wait_status = 0;
  const auto deadline = std::chrono::steady_clock::now() + 300ms;
  while (std::chrono::steady_clock::now() < deadline)
    if (waitpid(child, &wait_status, WUNTRACED | WNOHANG) != 0)
      return 2;
  int left = 0;
  ioctl(terminal, FIONREAD, &left);
  if (left != 6)
    return 3;
  tcsetpgrp(terminal, child);
  if (waitpid(child, &wait_status, WUNTRACED) != child)
    return 4;
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 5;
}

} // namespace

CAF_TEST(F6 a terminal is not read in the background and does not stop us) {
  int master = -1;
  int terminal = -1;
  CAF_REQUIRE_EQUAL(openpty(&master, &terminal, nullptr, nullptr, nullptr), 0);
  CAF_CHECK_EQUAL(write(master, "typed\n\x04", 7), 7); // Then the end, Ctrl-D.
  const auto session = fork();
  if (session == 0)
    std::_Exit(run_session(terminal));
  int wait_status = -1;
  waitpid(session, &wait_status, 0);
  CAF_CHECK_EQUAL(WEXITSTATUS(wait_status), 0);
}
