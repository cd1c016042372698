// What the sinks do with real pipes, files, sockets and terminals.

#include "adapters/log/fd_writer.hpp"
#include "adapters/log/local_time.hpp"
#include "adapters/log/log_sink.hpp"
#include "adapters/log/output_sink.hpp"
#include "adapters/loop/fd_watch.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "adapters/process/descriptors.hpp"
#include "tests/adapters/process/world.hpp"

#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

using namespace troupe;
using fixtures::answer_to;
using namespace std::chrono_literals;

namespace {

/// A pipe whose other end the test reads when it likes.
struct pipe_pair {
  unique_fd reader;
  unique_fd writer;

  pipe_pair() {
    int fds[2];
    CAF_REQUIRE_EQUAL(pipe2(fds, O_CLOEXEC), 0);
    reader.reset(fds[0]);
    writer.reset(fds[1]);
  }

  size_t waiting() const {
    int result = 0;
    ioctl(reader.get(), FIONREAD, &result);
    return static_cast<size_t>(result);
  }

  std::string take(size_t most = 1 << 20) const {
    std::string result(std::min(most, waiting()), '\0');
    const auto n = read(reader.get(), result.data(), result.size());
    result.resize(n > 0 ? static_cast<size_t>(n) : 0);
    return result;
  }
};

struct fixture : fixtures::world {
  fixtures::scratch_folder folder;
  std::vector<std::string> failures;

  std::shared_ptr<fd_writer> writer_to(int fd) {
    return std::make_shared<fd_writer>(
      sys.loop(), fd, [this](const std::string& x) { failures.push_back(x); });
  }

  output_sink_actor spawn_sink(std::shared_ptr<fd_writer> to_out,
                               std::shared_ptr<fd_writer> to_err,
                               output_format format = {},
                               bool is_shared = true) {
    return sys.actors().spawn(
      output_sink,
      output_sink_settings{
        format, std::move(to_out), std::move(to_err), {}, is_shared});
  }

  /// Makes fragments of what a process writes.
  output_receiver_actor receiver_for(const output_sink_actor& to) {
    using offsets = std::map<std::pair<proc_id, io_channels>, uint64_t>;
    return sys.actors().spawn([to](output_receiver_actor::pointer self)
                                -> output_receiver_actor::behavior_type {
      return {[to, self,
               seen = std::make_shared<offsets>()](process_output& x) {
        auto& offset = (*seen)[{x.proc, x.channel}];
        io_fragment y{
          {x.proc, x.channel}, offset, std::move(x.bytes), 0, false, x.read_at};
        y.is_end = y.bytes.empty();
        offset += y.bytes.size();
        return self->delegate(to, std::move(y));
      }};
    });
  }

  /// Runs the loop and reads `from` until all of `size` bytes have come.
  std::string read_all(const pipe_pair& from, size_t size) {
    std::string result;
    run_until([&] {
      result += from.take();
      return result.size() >= size;
    });
    return result;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(fd_writer_tests, fixture)

CAF_TEST(a pipe that is full blocks neither the loop nor the shell) {
  ignore_broken_pipes();
  pipe_pair to;
  auto uut = writer_to(to.writer.get());
  const auto bytes = std::string(1 << 20, 'x');
  auto written = false;
  uut->write(bytes, [&] { written = true; });
  run_for(10ms);
  CAF_CHECK(!written);
  CAF_CHECK(uut->held_bytes() > 0);
  CAF_CHECK_EQUAL(fcntl(to.writer.get(), F_GETFL) & O_NONBLOCK, 0);
  CAF_CHECK_EQUAL(read_all(to, bytes.size()).size(), bytes.size());
  CAF_CHECK(run_until([&] { return written; }));
  CAF_CHECK_EQUAL(uut->held_bytes(), 0u);
}

CAF_TEST(bytes leave in the order given and each is answered once) {
  pipe_pair to;
  auto uut = writer_to(to.writer.get());
  std::string expected;
  std::vector<int> answered;
  for (int i = 0; i < 300; ++i) {
    const auto bytes = std::string(static_cast<size_t>(i * 13), 'a' + i % 26);
    expected += bytes;
    uut->write(bytes, [&answered, i] { answered.push_back(i); });
  }
  CAF_CHECK(read_all(to, expected.size()) == expected);
  CAF_REQUIRE(run_until([&] { return answered.size() == 300; }));
  CAF_CHECK(std::is_sorted(answered.begin(), answered.end()));
}

CAF_TEST(OPS-T5 whoever keeps a line is called before bytes and may write) {
  pipe_pair to;
  auto uut = writer_to(to.writer.get());
  auto calls = 0;
  uut->before_writing([&] {
    ++calls;
    uut->write("<");
  });
  uut->write("a");
  uut->write("");
  uut->write("b");
  CAF_CHECK_EQUAL(read_all(to, 4), "<a<b");
  CAF_CHECK_EQUAL(calls, 2);
  uut->before_writing({});
  uut->write("c");
  CAF_CHECK_EQUAL(read_all(to, 1), "c");
}

CAF_TEST(a reader that is gone is reported once and the rest discarded) {
  ignore_broken_pipes();
  pipe_pair to;
  auto uut = writer_to(to.writer.get());
  int answered = 0;
  uut->write(std::string(1 << 20, 'x'), [&] { ++answered; });
  uut->write("x", [&] { ++answered; });
  run_for(5ms);
  CAF_CHECK_EQUAL(answered, 0);
  to.reader.reset();
  CAF_REQUIRE(run_until([&] { return answered == 2; }, 5s));
  uut->write("x", [&] { ++answered; });
  CAF_CHECK_EQUAL(answered, 3);
  CAF_CHECK(uut->has_failed());
  CAF_CHECK_EQUAL(failures.size(), 1u);
}

CAF_TEST(a reader that is gone from the beginning is reported) {
  ignore_broken_pipes();
  pipe_pair to;
  to.reader.reset();
  auto uut = writer_to(to.writer.get());
  auto answered = false;
  uut->write("x", [&] { answered = true; });
  CAF_CHECK(run_until([&] { return answered; }, 5s));
  CAF_CHECK_EQUAL(failures, std::vector<std::string>{"Broken pipe"});
  auto closed = writer_to(987);
  closed->write("x");
  CAF_CHECK_EQUAL(failures.size(), 2u);
}

CAF_TEST(a full disk is reported) {
  const auto full = unique_fd{open("/dev/full", O_WRONLY)};
  auto uut = writer_to(full.get());
  uut->write("x");
  CAF_CHECK(run_until([&] { return failures.size() == 1; }, 5s));
  CAF_CHECK_EQUAL(failures[0], "No space left on device");
}

CAF_TEST(files and devices take bytes at once and where the file stands) {
  const auto path = folder.file("out", "");
  const auto fd = unique_fd{open(path.c_str(), O_WRONLY | O_APPEND)};
  auto uut = writer_to(fd.get());
  auto written = false;
  uut->write("first ", [&] { written = true; });
  CAF_CHECK(written);
  CAF_CHECK_EQUAL(::write(fd.get(), "shell ", 6), 6);
  uut->write("second\n");
  std::ifstream in{path};
  std::string line;
  std::getline(in, line);
  CAF_CHECK_EQUAL(line, "first shell second");
  const auto null = unique_fd{open("/dev/null", O_WRONLY)};
  written = false;
  writer_to(null.get())->write("x", [&] { written = true; });
  CAF_CHECK(written);
}

CAF_TEST(a socket is written without making it non blocking) {
  int fds[2];
  CAF_REQUIRE_EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
  const auto ours = unique_fd{fds[0]};
  const auto theirs = unique_fd{fds[1]};
  auto uut = writer_to(ours.get());
  auto written = false;
  constexpr size_t size = 4 << 20;
  uut->write(std::string(size, 'x'), [&] { written = true; });
  run_for(5ms);
  CAF_CHECK(!written);
  CAF_CHECK_EQUAL(fcntl(ours.get(), F_GETFL) & O_NONBLOCK, 0);
  size_t seen = 0;
  std::string buffer(1 << 16, '\0');
  CAF_CHECK(run_until([&] {
    const auto n =
      recv(theirs.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    seen += n > 0 ? static_cast<size_t>(n) : 0;
    return seen == size;
  }));
  CAF_CHECK(run_until([&] { return written; }));
}

CAF_TEST(a writer may be destroyed by what it calls) {
  pipe_pair to;
  auto uut = writer_to(to.writer.get());
  uut->write("x", [&] { uut = nullptr; });
  CAF_CHECK(uut == nullptr);
  CAF_CHECK_EQUAL(to.take(), "x");
}

CAF_TEST_FIXTURE_SCOPE_END()

CAF_TEST_FIXTURE_SCOPE(output_sink_tests, fixture)

CAF_TEST(X24 output is answered when it has been written) {
  pipe_pair to;
  const auto uut =
    spawn_sink(writer_to(to.writer.get()), writer_to(to.writer.get()));
  const auto bytes = std::string(200 << 10, 'x');
  const auto answer =
    request<ack>(uut, io_fragment{{proc(0), io_channels::stdout_}, 0, bytes});
  run_for(10ms);
  CAF_CHECK(!answer->has_come());
  CAF_CHECK(read_all(to, bytes.size()) == bytes);
  CAF_CHECK(run_until([&] { return answer->has_come(); }));
}

CAF_TEST(the begin of a line does not hold up its process) {
  pipe_pair to;
  const auto uut = spawn_sink(writer_to(to.writer.get()),
                              writer_to(to.writer.get()), {true, false, false});
  const io_stream stream{proc(0), io_channels::stdout_};
  for (uint64_t i = 0; i < 1000; ++i)
    CAF_REQUIRE(ask<ack>(uut, io_fragment{stream, i, "x"}).value);
  CAF_CHECK_EQUAL(to.waiting(), 0u);
  CAF_CHECK(ask<ack>(uut, io_fragment{stream, 1000, "", 0, true}).value);
  CAF_CHECK_EQUAL(to.take(), "0: " + std::string(1000, 'x') + '\n');
}

CAF_TEST(I18 what is missing of plain output is told on standard error) {
  pipe_pair to_out;
  pipe_pair to_err;
  const auto uut =
    spawn_sink(writer_to(to_out.writer.get()), writer_to(to_err.writer.get()));
  const io_stream stream{proc(0), io_channels::stdout_};
  CAF_CHECK(ask<ack>(uut, io_fragment{stream, 4711, "later", 4711}).value);
  CAF_CHECK_EQUAL(to_out.take(), "later");
  CAF_CHECK_EQUAL(to_err.take(),
                  "troupe: 4711 bytes of stdout of job-1:0 are missing here\n");
}

CAF_TEST(I16 output is kept until there is enough or it has waited) {
  pipe_pair to;
  output_format format;
  format.buffer_size = 10;
  format.buffer_time = 1;
  const auto uut = spawn_sink(writer_to(to.writer.get()),
                              writer_to(to.writer.get()), format, false);
  const io_stream stream{proc(0), io_channels::stdout_};
  CAF_CHECK(ask<ack>(uut, io_fragment{stream, 0, "12345"}).value);
  CAF_CHECK_EQUAL(to.waiting(), 0u);
  CAF_CHECK(ask<ack>(uut, io_fragment{stream, 5, "67890"}).value);
  CAF_CHECK_EQUAL(to.take(), "1234567890");
  CAF_CHECK(ask<ack>(uut, io_fragment{stream, 10, "x"}).value);
  CAF_CHECK_EQUAL(to.waiting(), 0u);
  CAF_CHECK(run_until([&] { return to.waiting() == 1; }, 5s));
  CAF_CHECK(ask<ack>(uut, io_fragment{stream, 11, "last"}).value);
  CAF_CHECK(ask<ack>(uut, io_fragment{stream, 15, "", 0, true}).value);
  CAF_CHECK_EQUAL(to.take(), "xlast");
}

CAF_TEST(MND-TORN the begin of a line waits for its rest and a while at most) {
  pipe_pair to;
  const auto writer = writer_to(to.writer.get());
  const auto uut = spawn_sink(writer, writer);
  const io_stream stream{proc(0), io_channels::stdout_};
  CAF_CHECK(ask<ack>(uut, io_fragment{stream, 0, "one\nna"}).value);
  CAF_CHECK_EQUAL(to.take(), "one\n");
  CAF_CHECK(ask<ack>(uut, io_fragment{stream, 6, "me? "}).value);
  CAF_CHECK(run_until([&] { return to.waiting() == 6; }, 5s));
  CAF_CHECK_EQUAL(to.take(), "name? ");
}

CAF_TEST(the local time has a date and a zone) {
  const auto text = local_time();
  CAF_CHECK_EQUAL(text.size(),
                  std::string{"2025-11-20T16:43:59.123+01:00"}.size());
  CAF_CHECK_EQUAL(text[10], 'T');
  CAF_CHECK_EQUAL(text[text.size() - 3], ':');
  const auto at = local_time(1'700'000'000'042'000'000);
  CAF_CHECK_EQUAL(at.substr(0, 8), "2023-11-");
  CAF_CHECK_EQUAL(at.substr(17, 6), "20.042");
}

CAF_TEST(F5 F6 output of real processes comes through byte for byte) {
  pipe_pair to_out;
  pipe_pair to_err;
  sink = receiver_for(
    spawn_sink(writer_to(to_out.writer.get()), writer_to(to_err.writer.get())));
  run(shell(proc(0), "seq 1 100000; printf end; echo error >&2"));
  std::string seen;
  CAF_REQUIRE(run_until([&] {
    seen += to_out.take(10'000);
    return is_over(proc(0)) && to_out.waiting() == 0;
  }));
  std::string expected;
  for (int i = 1; i <= 100'000; ++i)
    expected += std::to_string(i) + '\n';
  CAF_CHECK(seen == expected + "end");
  CAF_CHECK_EQUAL(to_err.take(), "error\n");
}

CAF_TEST(processes end although nobody takes their output any more) {
  pipe_pair to;
  sink = receiver_for(
    spawn_sink(writer_to(to.writer.get()), writer_to(to.writer.get())));
  to.reader.reset();
  run(shell(proc(0), "seq 1 200000"));
  CAF_CHECK(run_until([&] { return is_over(proc(0)); }));
  CAF_CHECK_EQUAL(heard[proc(0)].ended[0].exit_code, 0);
}

CAF_TEST_FIXTURE_SCOPE_END()

// -- log entries --------------------------------------------------------------

namespace {

struct log_fixture : fixture {
  pipe_pair to_out;
  pipe_pair to_err;
  log_sink_settings settings;

  log_fixture() {
    settings.out = writer_to(to_out.writer.get());
    settings.err = writer_to(to_err.writer.get());
    settings.sendmail = folder / "sendmail";
    settings.syslog_socket = folder / "log";
  }

  answer_to<ack> write(const log_entry& x) {
    const auto uut = sys.actors().spawn(log_sink, &sys.pool(), settings);
    return ask<ack>(uut, x);
  }

  /// A mail program that keeps what it is given.
  void install_sendmail(const std::string& last = "exit 0") {
    folder.file("sendmail",
                "#!/bin/sh\ncd " + folder.path()
                  + "\necho \"$@\" > arguments\ncat > mail\n" + last + '\n',
                true);
  }

  std::string content(const std::string& name) {
    std::ifstream in{folder / name};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
};

log_entry mail_to(std::string to, std::string text) {
  log_entry result;
  result.channel = log_channel::email;
  result.text = std::move(text);
  result.envelope.to = std::move(to);
  return result;
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(log_sink_tests, log_fixture)

CAF_TEST(F4.32 text goes to the stream that it is for) {
  CAF_CHECK(write({log_channel::stdout_, "one\n", 6, {}}).value);
  CAF_CHECK(write({log_channel::stderr_, "two \x1b[31m", 6, {}}).value);
  CAF_CHECK_EQUAL(to_out.take(), "one\n");
  CAF_CHECK_EQUAL(to_err.take(), "two \x1b[31m"); // No terminal: as it is.
}

CAF_TEST(X31 a terminal is not shown control characters) {
  int master = -1;
  int terminal = -1;
  CAF_REQUIRE_EQUAL(openpty(&master, &terminal, nullptr, nullptr, nullptr), 0);
  settings.out = writer_to(terminal);
  CAF_CHECK(write({log_channel::stdout_, "a\x1b]0;b\x07\tc\n", 6, {}}).value);
  char buffer[100];
  const auto n = read(master, buffer, sizeof(buffer));
  CAF_CHECK_EQUAL(std::string(buffer, static_cast<size_t>(n)),
                  "a\\x1b]0;b\\x07\tc\r\n");
  close(master);
  close(terminal);
}

CAF_TEST(F4.33 X31 an entry for syslog is one line) {
  const log_entry entry{log_channel::local_syslog, "two\nlines", 3, {}};
  CAF_CHECK(write(entry).refusal == status::not_supported);
  const auto daemon = unique_fd{socket(AF_UNIX, SOCK_DGRAM, 0)};
  auto address = sockaddr_un{};
  address.sun_family = AF_UNIX;
  settings.syslog_socket.copy(address.sun_path, sizeof(address.sun_path) - 1);
  CAF_REQUIRE_EQUAL(
    bind(daemon.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)),
    0);
  CAF_CHECK(write(entry).value);
  char buffer[500];
  const auto n = recv(daemon.get(), buffer, sizeof(buffer), MSG_DONTWAIT);
  CAF_REQUIRE(n > 0);
  const auto text = std::string(buffer, static_cast<size_t>(n));
  CAF_CHECK_EQUAL(text.substr(0, 4), "<11>"); // User programs, priority 3.
  CAF_CHECK(text.find(" troupe[" + std::to_string(getpid()) + "]: two\\nlines")
            != std::string::npos);
}

CAF_TEST(F4.34 a mail is handed to sendmail) {
  install_sendmail();
  auto entry = mail_to("admin@example.org, root", "text\n.\nmore");
  entry.envelope.from = "troupe@example.org";
  entry.envelope.subject = "news";
  CAF_CHECK(write(entry).value);
  CAF_CHECK_EQUAL(content("arguments"), "-t -oi\n");
  CAF_CHECK_EQUAL(content("mail"), "To: admin@example.org, root\n"
                                   "From: troupe@example.org\n"
                                   "Subject: news\n"
                                   "MIME-Version: 1.0\n"
                                   "Content-Type: text/plain; charset=utf-8\n"
                                   "Content-Transfer-Encoding: 8bit\n\n"
                                   "text\n.\nmore\n");
}

CAF_TEST(F4.34 J33 a mail goes to all addresses of its list) {
  install_sendmail();
  auto list = std::string{" first@example.org ,, second@example.org"};
  for (int i = 0; i < 8; ++i)
    list += ",somebody." + std::to_string(i) + "@example.org";
  CAF_CHECK(write(mail_to(list, "x")).value);
  auto lines = std::istringstream{content("mail")};
  auto line = std::string{};
  std::getline(lines, line);
  CAF_CHECK_EQUAL(
    line.rfind("To: first@example.org, second@example.org, somebody.0@", 0),
    0u);
  const auto addresses_in = [](const std::string& x) {
    return static_cast<size_t>(std::count(x.begin(), x.end(), '@'));
  };
  auto seen = addresses_in(line);
  while (std::getline(lines, line) && line.front() == ' ') {
    CAF_CHECK(line.size() <= 78);
    seen += addresses_in(line);
  }
  CAF_CHECK_EQUAL(seen, 10u);
  auto crowd = std::string{"a@b"};
  for (int i = 0; i < 256; ++i)
    crowd += ",a@b";
  CAF_CHECK(write(mail_to(crowd, "x")).refusal == status::bad_param);
}

CAF_TEST(F4.34 J33 a subject beyond ASCII is encoded and long ones are folded) {
  install_sendmail();
  auto entry = mail_to("a@b", "x");
  entry.envelope.subject = "h\xc3\xa9llo";
  CAF_CHECK(write(entry).value);
  CAF_CHECK(content("mail").find("Subject: =?utf-8?B?aMOpbGxv?=\n")
            != std::string::npos);
  entry.envelope.subject = std::string(100, 'x');
  CAF_CHECK(write(entry).value);
  auto lines = std::istringstream{content("mail")};
  for (auto line = std::string{}; std::getline(lines, line);)
    CAF_CHECK(line.size() <= 78);
}

CAF_TEST(F4 header fields cannot be smuggled into a mail) {
  install_sendmail();
  for (const auto* evil : {"a@b\nBcc: c@d", "a@b\r\nBcc: c@d", "a@b\x01"}) {
    CAF_CHECK(write(mail_to(evil, "x")).refusal == status::bad_param);
    auto entry = mail_to("a@b", "x");
    entry.envelope.subject = evil;
    CAF_CHECK(write(entry).refusal == status::bad_param);
    entry.envelope.subject.reset();
    entry.envelope.from = evil;
    CAF_CHECK(write(entry).refusal == status::bad_param);
  }
  CAF_CHECK(write(mail_to("", "x")).refusal == status::bad_param);
  CAF_CHECK(write(mail_to(" , ", "x")).refusal == status::bad_param);
  CAF_CHECK_EQUAL(content("mail"), "");
}

CAF_TEST(F4 a node without mail says so) {
  CAF_CHECK(write(mail_to("a@b", "x")).refusal == status::not_supported);
}

CAF_TEST(F4 a mail program that fails or hangs is reported) {
  install_sendmail("exit 75");
  CAF_CHECK(write(mail_to("a@b", "x")).refusal == status::error);
  install_sendmail("exec sleep 60");
  settings.mail_limit = 1s;
  CAF_CHECK(write(mail_to("a@b", "x")).refusal == status::timeout);
  folder.file("sendmail", "#!/bin/sh\nexec <&-; exec sleep 60\n", true);
  CAF_CHECK(write(mail_to("a@b", std::string(1 << 20, 'x'))).refusal
            == status::timeout);
}

CAF_TEST(the launcher does not take the end of the mail program away) {
  install_sendmail("exit 3");
  for (int i = 0; i < 20; ++i) {
    const auto mail = request<ack>(
      sys.actors().spawn(log_sink, &sys.pool(), settings), mail_to("a@b", "x"));
    run_to_end("(true &) ; true &");
    CAF_REQUIRE(run_until([&] { return mail->has_come(); }));
    CAF_CHECK(mail->refusal == status::error);
  }
}

CAF_TEST_FIXTURE_SCOPE_END()
