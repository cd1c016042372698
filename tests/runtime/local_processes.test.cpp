// The processes of a daemon that embeds the runtime: real ones, of the shell.

#include "runtime/local_processes.hpp"

#include "actors/mesh/partial_host.hpp"
#include "runtime/runtime.hpp"
#include "tests/test.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <map>
#include <mutex>
#include <sstream>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

/// What processes have written, as another thread hears it.
struct written {
  std::mutex mutex;
  std::condition_variable changed;
  std::string out;
  std::string err;

  /// Waits for so many lines of standard output.
  /// @returns all of it.
  std::string await(ptrdiff_t lines) {
    auto guard = std::unique_lock{mutex};
    const auto is_there = [&] {
      return std::count(out.begin(), out.end(), '\n') >= lines;
    };
    if (!changed.wait_for(guard, 60s, is_there))
      CAF_FAIL("no such output: " << out);
    return out;
  }
};

output_sink_actor::behavior_type note(output_sink_actor::pointer,
                                      const std::shared_ptr<written>& to) {
  return {[to](const io_fragment& x) {
    const auto guard = std::lock_guard{to->mutex};
    (x.stream.channel == io_channels::stdout_ ? to->out : to->err) += x.bytes;
    to->changed.notify_all();
    return ack{};
  }};
}

struct fixture {
  std::unique_ptr<runtime> rt;
  std::shared_ptr<written> said = std::make_shared<written>();

  fixture() {
    auto options = runtime_options{};
    options.tools = false;
    options.hostname = "node0";
    auto started = runtime::start(std::move(options), [](auto& sys) {
      return spawn_partial_host(sys, {});
    });
    if (!started)
      CAF_FAIL(reason_of(started.error()));
    rt = std::move(*started);
  }

  /// So many processes of a script.
  placed_share share(std::string script, size_t count = 1) const {
    auto job = placed_job{"job", {"sh", "-c", std::move(script)}};
    job.nodes.assign(count, 0);
    auto result = share_of(job, 0, rt->id());
    if (!result)
      CAF_FAIL(reason_of(result.error()));
    return std::move(*result);
  }

  output_sink_actor screen() const {
    return rt->actors().spawn(note, said);
  }

  void start(local_processes& uut, placed_share what) const {
    if (auto why = uut.start(std::move(what), screen()))
      CAF_FAIL(reason_of(why));
  }

  /// Waits for all.
  static std::map<uint32_t, process_ended> ends_of(local_processes& uut) {
    auto result = std::map<uint32_t, process_ended>{};
    while (!uut.empty()) {
      const auto end = uut.next_end(60s);
      if (!end)
        CAF_FAIL("a process does not end");
      result.emplace(end->proc.rank, *end);
    }
    return result;
  }
};

/// The numbers in a text.
std::vector<pid_t> numbers_in(const std::string& text) {
  auto in = std::istringstream{text};
  auto result = std::vector<pid_t>{};
  for (pid_t x = 0; in >> x;)
    result.push_back(x);
  return result;
}

/// Prints the process group and the number of the process.
constexpr auto tell_group =
  "read -r a b c d group rest </proc/$$/stat; echo $group $$; ";

} // namespace

CAF_TEST_FIXTURE_SCOPE(local_processes_tests, fixture)

CAF_TEST(C12.11 processes start where they belong and their ends are told) {
  local_processes uut{*rt};
  CAF_CHECK(uut.empty());
  start(uut, share("echo $TROUPE_RANK of $TROUPE_SIZE in $PMIX_NAMESPACE;"
                   "echo wrong >&2; exit $((TROUPE_RANK * 3))",
                   2));
  const auto ends = ends_of(uut);
  CAF_REQUIRE_EQUAL(ends.size(), 2u);
  CAF_CHECK_EQUAL(ends.at(0).exit_code, 0);
  CAF_CHECK_EQUAL(ends.at(1).exit_code, 3);
  CAF_CHECK_EQUAL(ends.at(1).signal, 0);
  uut.finish();
  // All that they wrote has come.
  const auto guard = std::lock_guard{said->mutex};
  CAF_CHECK(said->out.find("0 of 2 in job\n") != std::string::npos);
  CAF_CHECK(said->out.find("1 of 2 in job\n") != std::string::npos);
  CAF_CHECK_EQUAL(said->err, "wrong\nwrong\n");
  // The server knows it no more.
  CAF_CHECK(!rt->setup_fork({"job", 0}));
}

CAF_TEST(C12.11 a process leads a group unless it is to be in ours) {
  {
    local_processes uut{*rt};
    start(uut, share(tell_group));
    ends_of(uut);
    const auto leader = numbers_in(said->await(1));
    uut.finish();
    CAF_REQUIRE_EQUAL(leader.size(), 2u);
    CAF_CHECK_EQUAL(leader[0], leader[1]);
  }
  auto how = local_processes::options{};
  how.lead_groups = false;
  local_processes uut{*rt, how};
  start(uut, share(tell_group));
  ends_of(uut);
  const auto both = numbers_in(said->await(2));
  uut.finish();
  CAF_REQUIRE_EQUAL(both.size(), 4u);
  CAF_CHECK_EQUAL(both[2], ::getpgrp());
}

CAF_TEST(C12.11 who waits for an end waits no longer than it says) {
  local_processes uut{*rt};
  CAF_CHECK(!uut.next_end(60s)); // None runs.
  start(uut, share("read line"));
  CAF_CHECK(!uut.next_end(0ms));
  auto look = pollfd{uut.descriptor(), POLLIN, 0};
  CAF_CHECK_EQUAL(::poll(&look, 1, 0), 0);
  uut.signal(SIGTERM);
  CAF_CHECK_EQUAL(::poll(&look, 1, 60000), 1);
  const auto end = uut.next_end(0ms);
  CAF_REQUIRE(end);
  CAF_CHECK_EQUAL(end->signal, SIGTERM);
  CAF_CHECK(uut.empty());
}

CAF_TEST(C12.11 a process that cannot be started takes the others with it) {
  local_processes uut{*rt};
  auto what = share("read line", 2);
  what.processes.back().program = "/there/is/none";
  const auto why = uut.start(std::move(what), screen());
  CAF_CHECK_EQUAL(status_of(why), status::job_exe_not_found);
  CAF_CHECK(reason_of(why).find("/there/is/none") != std::string::npos);
  const auto ends = ends_of(uut);
  CAF_REQUIRE_EQUAL(ends.size(), 1u);
  CAF_CHECK_EQUAL(ends.at(0).signal, SIGKILL);
}

CAF_TEST(C12.11 what still runs is killed when it is given up) {
  auto pid = pid_t{0};
  {
    local_processes uut{*rt};
    start(uut, share("echo $$; read line"));
    pid = numbers_in(said->await(1)).at(0);
    CAF_CHECK_EQUAL(::kill(pid, 0), 0);
  }
  const auto error = ::kill(pid, 0) == 0 ? 0 : errno;
  CAF_CHECK_EQUAL(error, ESRCH);
}

CAF_TEST(C12.11 a name in use is refused and stays that of the first) {
  local_processes uut{*rt};
  start(uut, share("read line"));
  {
    local_processes other{*rt};
    CAF_CHECK_EQUAL(status_of(other.start(share("true"))), status::exists);
  }
  CAF_CHECK(rt->setup_fork({"job", 0}));
  // Nor are they those of a second job.
  CAF_CHECK_EQUAL(status_of(uut.start(share("true"))), status::exists);
}

CAF_TEST(C12.11 an end that somebody else has reaped is told as well) {
  local_processes uut{*rt};
  start(uut, share("echo $$; read line"));
  const auto pid = numbers_in(said->await(1)).at(0);
  uut.signal(SIGKILL);
  CAF_REQUIRE_EQUAL(::waitpid(pid, nullptr, 0), pid);
  const auto ends = ends_of(uut);
  CAF_REQUIRE_EQUAL(ends.size(), 1u);
  CAF_CHECK_EQUAL(ends.at(0).exit_code, -1);
}

CAF_TEST_FIXTURE_SCOPE_END()
