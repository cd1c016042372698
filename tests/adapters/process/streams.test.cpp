// The standard streams of processes: every byte once, in order, with bounded
// memory, and an end that is neither early nor missing.

#include "adapters/process/output_pipe.hpp"
#include "adapters/process/usage.hpp"
#include "config/defaults.hpp"
#include "tests/adapters/process/world.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <map>
#include <vector>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

constexpr auto out = io_channels::stdout_;
constexpr auto err = io_channels::stderr_;

constexpr size_t window = 256 << 10;

using fixture = fixtures::world;

/// What `seq 1 last` writes.
fixtures::digest digest_of_seq(uint64_t last) {
  fixtures::digest result;
  std::string block;
  for (uint64_t i = 1; i <= last; ++i) {
    char text[24];
    const auto end = std::to_chars(text, text + sizeof(text), i).ptr;
    block.append(text, end);
    block += '\n';
    if (block.size() > (1 << 20) || i == last) {
      result.add(block);
      block.clear();
    }
  }
  return result;
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(stream_tests, fixture)

// -- output -------------------------------------------------------------------

CAF_TEST(the two output streams stay apart) {
  auto& x = run_to_end("echo one; echo two >&2; printf three");
  CAF_CHECK_EQUAL(x.out(), "one\nthree");
  CAF_CHECK_EQUAL(x.err(), "two\n");
}

CAF_TEST(I16 output has the number of its process) {
  auto pids = std::vector<uint32_t>{};
  on_output = [&](const process_output& x) {
    pids.push_back(x.pid);
    return true;
  };
  auto& x = run_to_end("echo $$");
  CAF_REQUIRE_EQUAL(pids.size(), 3u); // The line, and two ends.
  CAF_CHECK_EQUAL(x.out(), std::to_string(pids[0]) + "\n");
  CAF_CHECK_EQUAL(pids, std::vector<uint32_t>(3, x.pid));
}

CAF_TEST(IO-3 a stream ends once after its last byte) {
  auto& x = run_to_end("printf x; exec >&-; sleep 0.05; echo y >&2");
  CAF_CHECK_EQUAL(x.out(), "x");
  CAF_CHECK_EQUAL(x.err(), "y\n");
  CAF_CHECK_EQUAL(x.ends[out], 1u);
  CAF_CHECK_EQUAL(x.ends[err], 1u);
  CAF_CHECK_EQUAL(x.bytes_after_end, 0u);
}

CAF_TEST(a stream that is closed early ends before the process) {
  run(shell(proc(0), "exec >&-; sleep 60"));
  CAF_REQUIRE(run_until([&] { return heard[proc(0)].ends[out] == 1; }));
  CAF_CHECK(heard[proc(0)].ended.empty());
  CAF_CHECK_EQUAL(heard[proc(0)].ends[err], 0u);
}

CAF_TEST(I10 rank 0 is set up and taken down like every other) {
  const auto descriptors = [] {
    const auto folder = std::filesystem::directory_iterator{"/proc/self/fd"};
    return std::distance(begin(folder), end(folder));
  };
  const auto before = descriptors();
  std::map<uint32_t, fixtures::history> seen;
  for (const uint32_t rank : {0, 1}) {
    auto x = shell(proc(rank), "ls /proc/self/fd | wc -w; cat; echo end >&2");
    x.with_stdin = true;
    run(x);
    CAF_CHECK(ask<ack>(launcher, write_stdin{proc(rank), "line\n"}).value);
    caf::anon_send(launcher, close_stdin{proc(rank)});
    CAF_REQUIRE(run_until([&] { return is_over(proc(rank)); }));
    CAF_CHECK_EQUAL(descriptors(), before);
    seen[rank] = heard[proc(rank)];
  }
  CAF_CHECK_EQUAL(seen[0].out(), "4\nline\n");
  CAF_CHECK(seen[0].output == seen[1].output);
  CAF_CHECK(seen[0].ends == seen[1].ends);
  CAF_CHECK_EQUAL(seen[0].drained, seen[1].drained);
}

CAF_TEST(IO-1 bytes of all values arrive unchanged) {
  std::string all;
  std::string script = "printf '";
  for (int i = 0; i < 256; ++i) {
    all += static_cast<char>(i);
    char escaped[8];
    std::snprintf(escaped, sizeof(escaped), "\\%03o", i);
    script += escaped;
  }
  CAF_CHECK_EQUAL(run_to_end(script + '\'').out(), all);
}

CAF_TEST(IO-4 output written just before the end is complete) {
  for (const auto* last : {"exit 0", "kill -KILL $$"}) {
    const auto script = "head -c 65536 /dev/zero; " + std::string{last};
    CAF_CHECK_EQUAL(run_to_end(script).out().size(), 65536u);
  }
}

CAF_TEST(F6.17 IO-4 processes of printf without newline 64 at once 100 times) {
  constexpr uint32_t size = 64;
  for (int round = 0; round < 100; ++round) {
    heard.clear();
    auto x = shell(proc(0), "");
    x.program = round % 2 == 0 ? "/usr/bin/printf" : "/bin/true";
    x.argv = round % 2 == 0 ? std::vector<std::string>{"printf", "x"}
                            : std::vector<std::string>{"true"};
    for (uint32_t rank = 0; rank < size; ++rank) {
      x.proc.rank = rank;
      caf::anon_send(launcher, x, owner, sink);
    }
    size_t finished = 0;
    CAF_REQUIRE(run_until([&] {
      finished = 0;
      for (const auto& [who, h] : heard)
        finished += h.drained;
      return finished == size;
    }));
    for (auto& [who, h] : heard) {
      CAF_REQUIRE_EQUAL(h.out(), round % 2 == 0 ? "x" : "");
      CAF_REQUIRE_EQUAL(h.ended.size(), 1u);
      CAF_REQUIRE(h.ended[0] == (process_ended{who, 0, 0, false}));
      CAF_REQUIRE(h.ends[out] == 1 && h.ends[err] == 1);
    }
  }
}

CAF_TEST(X24 IO-2 a sink that has stopped holds up the writer) {
  fixtures::digest seen;
  on_output = [&](const process_output& x) {
    seen.add(x.bytes);
    return false;
  };
  run(shell(proc(0), "exec seq 1 200000"));
  CAF_REQUIRE(run_until([&] { return kept_bytes() > window / 2; }));
  run_for(100ms);
  CAF_CHECK(kept_bytes() <= window);
  CAF_CHECK(heard[proc(0)].ended.empty());
  // And it goes on, without a gap, when the sink does.
  on_output = [&](const process_output& x) {
    seen.add(x.bytes);
    return true;
  };
  release();
  CAF_REQUIRE(run_until([&] { return is_over(proc(0)); }));
  CAF_CHECK(seen == digest_of_seq(200000));
}

CAF_TEST(X24 IO-1 IO-2 300 MB through a slow sink in bounded memory) {
  constexpr uint64_t last = 36'000'000;
  fixtures::digest seen;
  size_t most_kept = 0;
  on_output = [&](const process_output& x) {
    seen.add(x.bytes);
    return x.bytes.empty();
  };
  timer answers{sys.loop(), [&] {
                  most_kept = std::max(most_kept, kept_bytes());
                  release();
                  answers.start(500us);
                }};
  answers.start(500us);
  const auto before = memory_of(0);
  run(shell(proc(0), "exec seq 1 " + std::to_string(last)));
  uint64_t most_memory = 0;
  CAF_REQUIRE(run_until(
    [&] {
      if (kept_fragments() == 0)
        most_memory = std::max(most_memory, memory_of(0));
      return is_over(proc(0));
    },
    50s));
  CAF_CHECK(seen.size() > 300'000'000);
  CAF_CHECK(seen == digest_of_seq(last));
  CAF_CHECK(most_kept <= window);
  if (!fixtures::is_sanitized)
    CAF_CHECK(most_memory < before + (8 << 20));
}

CAF_TEST(X24 small pieces do not cost more than large ones) {
  on_output = [](const process_output& x) { return x.channel == err; };
  // Each write is a fragment of its own as long as we read faster.
  run(shell(proc(0), "i=0; while [ $i -lt 2000 ]; do echo $i; i=$((i+1)); "
                     "done"));
  CAF_REQUIRE(run_until([&] { return !heard[proc(0)].ended.empty(); }));
  CAF_CHECK(kept_fragments() <= output_pipe::max_fragments);
  timer answers{sys.loop(), [&] {
                  release();
                  answers.start(1ms);
                }};
  answers.start(1ms);
  CAF_CHECK(run_until([&] { return is_over(proc(0)); }));
}

CAF_TEST(I18 who writes many small pieces has them gathered) {
  size_t pieces = 0;
  on_output = [&](const process_output& x) {
    pieces += x.bytes.empty() ? 0 : 1;
    return true;
  };
  // A write a line, as fast as it can.
  auto x = shell(proc(0), "");
  x.program = "/usr/bin/dd";
  x.argv = {"dd", "if=/dev/zero", "bs=64", "count=400000", "status=none"};
  auto& h = run_to_end(x);
  CAF_CHECK_EQUAL(h.out().size(), 25'600'000u);
  CAF_CHECK(pieces < 10'000);
}

CAF_TEST(I18 a line after a silence is read at once and the time is told) {
  const auto now = [] {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
  };
  std::vector<int64_t> late;
  on_output = [&](const process_output& x) {
    if (!x.bytes.empty()) {
      late.push_back(x.read_at - std::stoll(x.bytes));
      CAF_CHECK(x.read_at <= now());
    }
    return true;
  };
  run_to_end("for i in 1 2 3 4 5 6 7 8 9; do date +%s%N; sleep 0.01; done");
  CAF_REQUIRE_EQUAL(late.size(), 9u);
  std::sort(late.begin(), late.end());
  CAF_CHECK(late.front() > 0);
  CAF_CHECK(late[2] < 10'000'000);
}

CAF_TEST(a sink that ends does not hold up its processes) {
  auto x = shell(proc(0), "seq 1 200000; echo done >&2");
  caf::anon_send_exit(sink, caf::exit_reason::user_shutdown);
  run(x);
  CAF_CHECK(run_until([&] { return is_over(proc(0)); }));
}

CAF_TEST(nothing is drained while something is not answered) {
  on_output = [](const process_output&) { return false; };
  run(shell(proc(0), "echo x"));
  CAF_REQUIRE(run_until([&] {
    return heard[proc(0)].ends[out] == 1 && heard[proc(0)].ends[err] == 1;
  }));
  run_for(50ms);
  CAF_CHECK_EQUAL(heard[proc(0)].drained, 0u);
  release();
  CAF_CHECK(run_until([&] { return is_over(proc(0)); }));
}

// -- pipes that others hold open ----------------------------------------------

CAF_TEST(F6 a grandchild that holds the pipe delays the end by the grace) {
  const auto begin = clock::now();
  run(shell(proc(0), "sleep 60 & echo $!; exit 4"));
  CAF_REQUIRE(run_until([&] { return !heard[proc(0)].ended.empty(); }, 5s));
  CAF_CHECK_EQUAL(heard[proc(0)].ended[0].exit_code, 4);
  CAF_CHECK_EQUAL(heard[proc(0)].drained, 0u);
  CAF_REQUIRE(run_until([&] { return is_over(proc(0)); }, 5s));
  CAF_CHECK(clock::now() - begin >= 250ms);
  const auto grandchild = std::stoi(heard[proc(0)].out());
  CAF_CHECK(fixtures::exists(grandchild));
  CAF_CHECK(sweep().value);
  CAF_CHECK(!fixtures::exists(grandchild));
}

CAF_TEST(IO-4 what a grandchild still writes within the grace is kept) {
  auto& x = run_to_end("(sleep 0.1; printf a; sleep 0.1; printf b) & exit 0");
  CAF_CHECK_EQUAL(x.out(), "ab");
}

CAF_TEST(IO-4 198 what is left of a process is heard as long as its job lives) {
  run(shell(proc(0), "(sleep 0.6; echo late) & exit 0"));
  CAF_REQUIRE(run_until([&] { return is_over(proc(0)); }));
  CAF_CHECK_EQUAL(heard[proc(0)].out(), "");
  CAF_CHECK_EQUAL(heard[proc(0)].ends[out], 0u);
  CAF_REQUIRE(run_until([&] { return heard[proc(0)].ends[out] == 1; }));
  CAF_CHECK_EQUAL(heard[proc(0)].out(), "late\n");
  CAF_CHECK_EQUAL(heard[proc(0)].drained, 1u);
  CAF_CHECK(sweep().value);
}

CAF_TEST(IO-4 198 a sweep is answered when its output has been taken) {
  run(shell(proc(0), "(while :; do echo x; sleep 0.01; done) & exit 0"));
  CAF_REQUIRE(run_until([&] { return !heard[proc(0)].ended.empty(); }));
  on_output = [](const process_output&) { return false; };
  CAF_REQUIRE(run_until([&] { return kept_fragments() > 0; }));
  const auto swept = request<ack>(launcher, sweep_job{"job-1"});
  CAF_REQUIRE(run_until([&] { return heard[proc(0)].ends[out] == 1; }));
  run_for(20ms);
  CAF_CHECK(!swept->has_come());
  CAF_CHECK_EQUAL(heard[proc(0)].drained, 0u);
  release();
  CAF_REQUIRE(run_until([&] { return swept->has_come(); }));
  CAF_CHECK(swept->value);
  CAF_CHECK_EQUAL(heard[proc(0)].drained, 1u);
  CAF_CHECK_EQUAL(heard[proc(0)].bytes_after_end, 0u);
}

CAF_TEST(sweeping ends the streams at once) {
  const auto begin = clock::now();
  run(shell(proc(0), "sleep 60 & printf x"));
  CAF_REQUIRE(run_until([&] { return !heard[proc(0)].ended.empty(); }));
  CAF_CHECK(sweep().value);
  CAF_REQUIRE(run_until([&] { return is_over(proc(0)); }));
  CAF_CHECK(clock::now() - begin < 240ms);
  CAF_CHECK_EQUAL(heard[proc(0)].out(), "x");
}

CAF_TEST_FIXTURE_SCOPE_END()

namespace {

struct narrow_fixture : fixtures::world {
  narrow_fixture() : world(settings()) {
    // nop
  }

  static process_launcher_settings settings() {
    process_launcher_settings result;
    result.stream_window = 64 << 10;
    result.total_window = 96 << 10;
    return result;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(total_window_tests, narrow_fixture)

CAF_TEST(X24 LIM14 all streams together hold no more than the total window) {
  constexpr uint32_t size = 8;
  // Each has a little, whatever the others have.
  constexpr size_t most = (96 << 10) + size * defaults::io_window_least;
  fixtures::digest expected = digest_of_seq(100'000);
  std::map<proc_id, fixtures::digest> seen;
  on_output = [&](const process_output& x) {
    seen[x.proc].add(x.bytes);
    return false;
  };
  for (uint32_t rank = 0; rank < size; ++rank)
    run(shell(proc(rank), "exec seq 1 100000"));
  CAF_REQUIRE(run_until([&] { return seen.size() == size; }));
  run_for(50ms);
  CAF_CHECK(kept_bytes() >= size_t{90} << 10);
  CAF_CHECK(kept_bytes() <= most);
  size_t most_kept = 0;
  timer answers{sys.loop(), [&] {
                  most_kept = std::max(most_kept, kept_bytes());
                  release();
                  answers.start(200us);
                }};
  answers.start(200us);
  CAF_REQUIRE(run_until([&] {
    for (uint32_t rank = 0; rank < size; ++rank)
      if (!is_over(proc(rank)))
        return false;
    return true;
  }));
  CAF_CHECK(most_kept <= most);
  for (uint32_t rank = 0; rank < size; ++rank)
    CAF_CHECK(seen[proc(rank)] == expected);
}

CAF_TEST(X24 I18 a stream goes on while all others are blocked) {
  constexpr uint32_t size = 40;
  constexpr size_t bytes = 1'000'000;
  const auto healthy = proc(size);
  size_t got = 0;
  on_output = [&](const process_output& x) {
    if (!(x.proc == healthy))
      return false;
    got += x.bytes.size();
    return true;
  };
  for (uint32_t rank = 0; rank < size; ++rank)
    run(shell(proc(rank), "exec head -c 1000000 /dev/zero"));
  CAF_REQUIRE(run_until(
    [&] { return kept_bytes() >= (96 << 10) && kept_fragments() >= size; }));
  run(shell(healthy, "exec head -c 1000000 /dev/zero"));
  CAF_REQUIRE(run_until([&] { return is_over(healthy); }));
  CAF_CHECK_EQUAL(got, bytes);
  CAF_CHECK(kept_bytes() <= (96 << 10) + size * defaults::io_window_least);
  release();
  on_output = [](const process_output&) { return true; };
}

CAF_TEST_FIXTURE_SCOPE_END()

// -- input --------------------------------------------------------------------

CAF_TEST_FIXTURE_SCOPE(input_tests, fixture)

CAF_TEST(without input a process finds its end) {
  CAF_CHECK_EQUAL(run_to_end("cat; echo end").out(), "end\n");
}

CAF_TEST(20 MB of input arrive at a slow reader) {
  constexpr size_t piece = 64 << 10;
  constexpr size_t pieces = 320;
  // Reads 1 KiB at a time.
  auto x = shell(proc(0), "exec dd bs=1k status=none");
  x.with_stdin = true;
  fixtures::digest sent;
  fixtures::digest seen;
  on_output = [&](const process_output& y) {
    seen.add(y.bytes);
    return true;
  };
  run(x);
  for (size_t i = 0; i < pieces; ++i) {
    std::string bytes(piece, '\0');
    for (size_t k = 0; k < piece; ++k)
      bytes[k] = static_cast<char>(i * 31 + k * 7 + (k >> 8));
    sent.add(bytes);
    CAF_REQUIRE(ask<ack>(launcher, write_stdin{proc(0), bytes}).value);
  }
  caf::anon_send(launcher, close_stdin{proc(0)});
  CAF_REQUIRE(run_until([&] { return is_over(proc(0)); }));
  CAF_CHECK_EQUAL(seen.size(), piece * pieces);
  CAF_CHECK(seen == sent);
}

CAF_TEST(input that waits is bounded and is written in order) {
  auto x = shell(proc(0), "read line; echo \"$line\"; exec wc -c");
  x.with_stdin = true;
  run(x);
  const auto large = std::string(600 << 10, 'x');
  const auto first = request<ack>(launcher, write_stdin{proc(0), large});
  const auto second = request<ack>(launcher, write_stdin{proc(0), large});
  const auto refused = ask<ack>(launcher, write_stdin{proc(0), large});
  CAF_CHECK(refused.refusal == status::resource_busy);
  caf::anon_send(launcher, write_stdin{proc(0), "\ntail"});
  caf::anon_send(launcher, close_stdin{proc(0)});
  CAF_REQUIRE(run_until([&] { return is_over(proc(0)); }));
  CAF_CHECK(first->value && (second->value || second->refusal));
}

CAF_TEST(closing comes after what is still to be written) {
  auto x = shell(proc(0), "exec wc -c");
  x.with_stdin = true;
  run(x);
  const auto written =
    request<ack>(launcher, write_stdin{proc(0), std::string(500'000, 'x')});
  run_for(1ms);
  caf::anon_send(launcher, close_stdin{proc(0)});
  const auto late = ask<ack>(launcher, write_stdin{proc(0), "x"});
  CAF_CHECK(late.refusal == status::lost_connection);
  CAF_REQUIRE(run_until([&] { return is_over(proc(0)); }));
  CAF_CHECK(written->value);
  CAF_CHECK_EQUAL(heard[proc(0)].out(), "500000\n");
}

CAF_TEST(a reader that stops reading refuses the rest) {
  auto x = shell(proc(0), "exec <&-; echo closed; sleep 60");
  x.with_stdin = true;
  run(x);
  const auto waiting =
    request<ack>(launcher, write_stdin{proc(0), std::string(500'000, 'x')});
  CAF_REQUIRE(run_until([&] { return waiting->has_come(); }, 5s));
  CAF_CHECK(waiting->refusal == status::lost_connection);
  CAF_CHECK(ask<ack>(launcher, write_stdin{proc(0), "x"}).refusal
            == status::lost_connection);
}

CAF_TEST(a process that ends refuses what it has not read) {
  auto x = shell(proc(0), "read line; exit 0");
  x.with_stdin = true;
  run(x);
  const auto waiting =
    request<ack>(launcher, write_stdin{proc(0), std::string(500'000, 'x')});
  run_for(20ms);
  send(signal_process{proc(0), SIGKILL});
  CAF_REQUIRE(run_until([&] { return waiting->has_come(); }, 5s));
  CAF_CHECK(waiting->refusal == status::lost_connection);
  CAF_CHECK(ask<ack>(launcher, write_stdin{proc(9), "x"}).refusal
            == status::not_found);
  run(shell(proc(1), "sleep 60"));
  CAF_CHECK(ask<ack>(launcher, write_stdin{proc(1), "x"}).refusal
            == status::lost_connection);
}

CAF_TEST_FIXTURE_SCOPE_END()
