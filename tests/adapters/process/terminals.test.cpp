// Processes that have a terminal of their own, and other ways in which streams
// are laid: errors that go with output, a stream for diagnostics.

#include "adapters/loop/unique_fd.hpp"
#include "tests/adapters/process/world.hpp"

#include <fcntl.h>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

constexpr auto out = io_channels::stdout_;
constexpr auto err = io_channels::stderr_;
constexpr auto diag = io_channels::stddiag;

struct fixture : fixtures::world {
  static start_process on_terminal(const std::string& script,
                                   bool with_stdin = false) {
    auto x = shell(proc(0), script);
    x.with_pty = true;
    x.with_stdin = with_stdin;
    return x;
  }

  fixtures::answer_to<ack> type(const std::string& bytes) {
    return ask<ack>(launcher, write_stdin{proc(0), bytes});
  }

  void end_input() {
    caf::anon_send(launcher, close_stdin{proc(0)});
  }

  fixtures::history& wait_for_end() {
    CAF_REQUIRE(run_until([&] { return is_over(proc(0)); }));
    return heard[proc(0)];
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(terminal_tests, fixture)

// -- terminals ----------------------------------------------------------------

CAF_TEST(I16 a process with a terminal controls it and leads its session) {
  auto x = on_terminal("tty; for i in 0 1 2; do test -t $i && echo $i; done; "
                       "test $(ps -o sid= -p $$) = $$ && echo leads; "
                       "echo controls > /dev/tty; stty size",
                       true);
  x.pty_rows = 33;
  x.pty_columns = 111;
  const auto text = run_to_end(x).out();
  CAF_CHECK_EQUAL(text.compare(0, 9, "/dev/pts/"), 0);
  CAF_CHECK_EQUAL(text.substr(text.find("\r\n")),
                  "\r\n0\r\n1\r\n2\r\nleads\r\ncontrols\r\n33 111\r\n");
}

CAF_TEST(I16 errors go with output on a terminal) {
  auto& x = run_to_end(on_terminal("echo one; echo two >&2; echo three"));
  CAF_CHECK_EQUAL(x.out(), "one\ntwo\nthree\n");
  CAF_CHECK_EQUAL(x.ends[out], 1u);
  CAF_CHECK_EQUAL(x.ends.count(err), 0u);
}

CAF_TEST(IO-1 a terminal without a size passes on all bytes but its own) {
  std::string all;
  std::string script = "printf '";
  for (int i = 0; i < 256; ++i) {
    all += static_cast<char>(i);
    char escaped[8];
    std::snprintf(escaped, sizeof(escaped), "\\%03o", i);
    script += escaped;
  }
  CAF_CHECK_EQUAL(run_to_end(on_terminal(script + '\'')).out(), all);
}

CAF_TEST(without input a process with a terminal finds its end) {
  CAF_CHECK_EQUAL(run_to_end(on_terminal("cat; tty; echo end")).out(),
                  "not a tty\nend\n");
}

CAF_TEST(I6 197 the end of input is typed after all lines and after half of one) {
  for (const auto* text : {"", "one\ntwo\n", "one\ntwo"}) {
    heard.clear();
    run(on_terminal("exec cat", true));
    CAF_CHECK(type(text).value);
    end_input();
    auto& x = wait_for_end();
    CAF_CHECK_EQUAL(x.out(), text);
    CAF_CHECK_EQUAL(x.ended.front().exit_code, 0);
  }
}

CAF_TEST(I6 197 a terminal in raw mode gets its character for the end) {
  run(on_terminal("stty raw; echo ready; head -c 4 | od -An -c", true));
  CAF_REQUIRE(run_until([&] { return heard[proc(0)].out() == "ready\n"; }));
  CAF_CHECK(type("a\nb").value);
  end_input();
  CAF_CHECK_EQUAL(wait_for_end().ends[out], 1u);
  CAF_CHECK_EQUAL(heard[proc(0)].out().substr(6), "   a  \\n   b 004\n");
}

CAF_TEST(I18 196 much input through a terminal is neither lost nor repeated) {
  run(on_terminal("exec dd bs=512 status=none", true));
  std::string sent;
  for (int i = 0; i < 200; ++i) {
    const auto line = std::string(100 + i, static_cast<char>('a' + i % 26));
    sent += line + '\n';
  }
  for (size_t i = 0; i < sent.size(); i += 5000)
    CAF_REQUIRE(type(sent.substr(i, 5000)).value);
  end_input();
  wait_for_end();
  CAF_CHECK(heard[proc(0)].out() == sent);
}

CAF_TEST(IO-4 198 output to a terminal just before the end is complete) {
  for (const auto* last : {"exit 0", "kill -KILL $$"})
    for (const auto* size : {"1", "4096", "70000"})
      for (const auto* other : {"", "sleep 60 & "}) {
        const auto& x = run_to_end(on_terminal(other + std::string{"head -c "}
                                               + size + " /dev/zero; " + last));
        CAF_CHECK_EQUAL(heard[proc(0)].out().size(), std::stoul(size));
        CAF_CHECK_EQUAL(x.bytes_after_end, 0u);
      }
  CAF_CHECK(sweep().value);
}

CAF_TEST(I18 a slow reader holds up who writes to a terminal) {
  size_t seen = 0;
  on_output = [&](const process_output& x) {
    seen += x.bytes.size();
    return false;
  };
  run(on_terminal("exec head -c 3000000 /dev/zero"));
  CAF_REQUIRE(run_until([&] { return kept_bytes() > 100'000; }));
  run_for(100ms);
  CAF_CHECK(kept_bytes() <= 256 << 10);
  CAF_CHECK(heard[proc(0)].ended.empty());
  timer answers{sys.loop(), [&] {
                  release();
                  answers.start(200us);
                }};
  answers.start(200us);
  wait_for_end();
  CAF_CHECK_EQUAL(seen, 3'000'000u);
}

CAF_TEST(IO-4 198 who was left on a terminal is heard as long as the job lives) {
  run(on_terminal("trap '' HUP; (sleep 0.6; echo late; exec sleep 60) & "
                  "echo done"));
  CAF_CHECK_EQUAL(wait_for_end().out(), "done\n");
  CAF_REQUIRE(run_until([&] { return heard[proc(0)].out() != "done\n"; }));
  CAF_CHECK_EQUAL(heard[proc(0)].out(), "done\nlate\n");
  CAF_CHECK_EQUAL(heard[proc(0)].ends[out], 0u);
  CAF_CHECK(sweep().value);
  CAF_CHECK_EQUAL(heard[proc(0)].ends[out], 1u);
}

CAF_TEST(the terminals of 50 processes go away with them) {
  const auto count = [] {
    size_t result = 0;
    for (const auto& x : std::filesystem::directory_iterator{"/dev/pts"})
      result += x.path().filename() != "ptmx" ? 1 : 0;
    return result;
  };
  const auto before = count();
  for (uint32_t rank = 0; rank < 50; ++rank) {
    auto x = on_terminal("echo x");
    x.proc = proc(rank);
    run(x);
  }
  CAF_REQUIRE(run_until([&] {
    for (uint32_t rank = 0; rank < 50; ++rank)
      if (!is_over(proc(rank)) || heard[proc(rank)].out() != "x\n")
        return false;
    return true;
  }));
  CAF_CHECK(count() <= before);
}

// -- merged streams, diagnostics ----------------------------------------------

CAF_TEST(I16 merged errors stand between what was written before and after) {
  auto x = shell(proc(0), "for i in 1 2 3; do echo out; echo err >&2; done");
  x.merges_stderr = true;
  auto& h = run_to_end(x);
  CAF_CHECK_EQUAL(h.out(), "out\nerr\nout\nerr\nout\nerr\n");
  CAF_CHECK_EQUAL(h.ends[out], 1u);
  CAF_CHECK_EQUAL(h.ends.count(err), 0u);
}

CAF_TEST(I15 diagnostics have a stream of their own) {
  auto x = shell(proc(0), "echo one; echo two >&$TROUPE_STDDIAG_FD; echo three "
                          ">&2; ls /proc/self/fd | wc -w");
  x.with_stddiag = true;
  x.env.push_back("TROUPE_STDDIAG_FD=99");
  auto& h = run_to_end(x);
  // 0 to 3, and that of the folder.
  CAF_CHECK_EQUAL(h.out(), "one\n5\n");
  CAF_CHECK_EQUAL(h.err(), "three\n");
  CAF_CHECK_EQUAL(h.output[diag], "two\n");
  CAF_CHECK_EQUAL(h.ends[diag], 1u);
}

CAF_TEST(I15 without diagnostics nobody finds the number of an old stream) {
  auto x = shell(proc(0), "echo ${TROUPE_STDDIAG_FD-none}");
  x.env.push_back("TROUPE_STDDIAG_FD=99");
  CAF_CHECK_EQUAL(run_to_end(x).out(), "none\n");
}

CAF_TEST(I15 a terminal and diagnostics go together) {
  auto x = on_terminal("echo two >&$TROUPE_STDDIAG_FD; test -t 2 && echo one");
  x.with_stddiag = true;
  auto& h = run_to_end(x);
  CAF_CHECK_EQUAL(h.out(), "one\n");
  CAF_CHECK_EQUAL(h.output[diag], "two\n");
}

CAF_TEST_FIXTURE_SCOPE_END()

// -- with a PMI-1 server ------------------------------------------------------

namespace {

struct served_fixture : fixtures::world {
  served_fixture() : world(settings()) {
    // nop
  }

  static process_launcher_settings settings() {
    process_launcher_settings result;
    result.serve_pmi1 = [](const proc_id&, unique_fd fd) {
      CAF_CHECK_EQUAL(write(fd.get(), "hello\n", 6), 6);
    };
    return result;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(served_tests, served_fixture)

CAF_TEST(I15 diagnostics come after the socket of a PMI-1 server) {
  auto x = shell(proc(0), "read line <&3; echo $line; echo "
                          "$TROUPE_STDDIAG_FD; echo two >&4");
  x.with_pmi1 = true;
  x.with_stddiag = true;
  auto& h = run_to_end(x);
  CAF_CHECK_EQUAL(h.out(), "hello\n4\n");
  CAF_CHECK_EQUAL(h.output[diag], "two\n");
}

CAF_TEST_FIXTURE_SCOPE_END()
