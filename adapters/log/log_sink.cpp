#include "adapters/log/log_sink.hpp"

#include "adapters/log/fd_writer.hpp"
#include "adapters/loop/local_address.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "adapters/process/children.hpp"
#include "base/escape.hpp"
#include "messages/log.hpp"
#include "messages/status.hpp"

#include <caf/all.hpp>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace troupe {

// -- mail --------------------------------------------------------------------

namespace {

/// How something that was tried on another thread ended.
struct delivery_outcome {
  status code = status::error;
  std::string reason;
};

using clock = std::chrono::steady_clock;

/// The most recipients of a mail.
constexpr size_t max_recipients = 256;

/// Where lines of the header break if they can.
constexpr size_t max_header_width = 72;

/// Bytes of text in one word of base64.
constexpr size_t max_word_bytes = 42;

std::string to_base64(const std::string& bytes) {
  constexpr auto digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  auto result = std::string{};
  for (size_t i = 0; i < bytes.size(); i += 3) {
    auto group = uint32_t{0};
    for (size_t j = 0; j < 3; ++j)
      group = group << 8
              | (i + j < bytes.size() ? static_cast<uint8_t>(bytes[i + j]) : 0);
    for (size_t j = 0; j < 4; ++j)
      result +=
        i + j > bytes.size() ? '=' : digits[group >> (18 - 6 * j) & 0x3f];
  }
  return result;
}

bool is_one_line(const std::string& text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    const auto x = static_cast<uint8_t>(c);
    return x < 0x20 || x == 0x7f;
  });
}

/// The addresses of a comma-separated list, without blanks around them.
std::vector<std::string> split_addresses(const std::string& list) {
  auto result = std::vector<std::string>{};
  for (size_t begin = 0; begin <= list.size();) {
    const auto end = std::min(list.find(',', begin), list.size());
    const auto first = list.find_first_not_of(' ', begin);
    if (first < end) {
      const auto last = list.find_last_not_of(' ', end - 1);
      result.push_back(list.substr(first, last + 1 - first));
    }
    begin = end + 1;
  }
  return result;
}

/// One address a line where they are too many for one.
/// Source: RFC 5322, section 2.2.3.
std::string join_addresses(const std::vector<std::string>& xs) {
  auto result = xs.front();
  auto width = result.size();
  for (size_t i = 1; i < xs.size(); ++i) {
    const auto fits = width + xs[i].size() < max_header_width;
    result += fits ? ", " : ",\n ";
    width = fits ? width + 2 + xs[i].size() : xs[i].size();
    result += xs[i];
  }
  return result;
}

/// A text as a header field may have it: as it is if it is short and ASCII,
/// else in words of base64, which break no letter in two.
/// Source: RFC 2047, section 5.
std::string to_header_text(const std::string& text) {
  const auto is_plain =
    text.size() < max_header_width
    && std::all_of(text.begin(), text.end(),
                   [](char c) { return static_cast<uint8_t>(c) < 0x80; })
    && text.find("=?") == std::string::npos;
  if (is_plain)
    return text;
  auto result = std::string{};
  for (size_t begin = 0; begin < text.size();) {
    auto end = std::min(begin + max_word_bytes, text.size());
    while (end < text.size() && end > begin + 1
           && (static_cast<uint8_t>(text[end]) & 0xc0) == 0x80)
      --end;
    result += result.empty() ? "=?utf-8?B?" : "\n =?utf-8?B?";
    result += to_base64(text.substr(begin, end - begin)) + "?=";
    begin = end;
  }
  return result;
}

/// Waits until `fd` has one of `events`.
/// @returns whether it came in time.
bool wait_for(int fd, short events, clock::time_point deadline) {
  for (;;) {
    const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now());
    auto ready = pollfd{fd, events, 0};
    const auto n =
      poll(&ready, 1, static_cast<int>(std::max<int64_t>(0, left.count())));
    if (n >= 0 || errno != EINTR)
      return n > 0;
  }
}

/// Writes all of `text`, unless the reader goes away first.
/// @returns whether it could be done in time.
bool write_all(int fd, const std::string& text, clock::time_point deadline) {
  size_t written = 0;
  while (written < text.size()) {
    const auto n = write(fd, text.data() + written, text.size() - written);
    if (n >= 0)
      written += static_cast<size_t>(n);
    else if (errno == EAGAIN && !wait_for(fd, POLLOUT, deadline))
      return false;
    else if (errno != EAGAIN && errno != EINTR)
      return true; // Its exit status says what is wrong.
  }
  return true;
}

/// Starts `program` with `input` as its standard input.
pid_t start(const std::string& program, int input) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null",
                                   O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t all;
  sigfillset(&all);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  // -t: the recipients stand in the header; -oi: a dot alone ends nothing.
  std::string words[] = {program, "-t", "-oi"};
  char* argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  pid_t pid = -1;
  const auto error =
    posix_spawn(&pid, program.c_str(), &actions, &attributes, argv, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? pid : -1;
}

/// Reaps `pid`; kills it first if it does not end in time.
/// @returns whether it did, and its wait status.
std::pair<bool, int> await_end(pid_t pid, clock::time_point deadline) {
  const auto pidfd =
    unique_fd{static_cast<int>(syscall(SYS_pidfd_open, pid, 0))};
  const auto in_time = pidfd && wait_for(pidfd.get(), POLLIN, deadline);
  if (!in_time)
    kill(pid, SIGKILL);
  int result = 0;
  while (waitpid(pid, &result, 0) < 0 && errno == EINTR) {
    // Again.
  }
  return {in_time, result};
}

/// Writes a mail as sendmail reads it: header fields, an empty line, the text.
/// Recipients are a comma-separated list; a subject beyond ASCII is encoded.
/// @returns nothing if an address or the subject is not one line of text, or if
///          there is no address or more than 256: what follows a line break
///          would be a header field that somebody smuggled in. Source: RFC
///          5322, section 2.2.
std::optional<std::string> compose_mail(const mail_envelope& envelope,
                                        const std::string& text) {
  const auto recipients = split_addresses(envelope.to);
  if (recipients.empty() || recipients.size() > max_recipients
      || !is_one_line(envelope.to) || !is_one_line(envelope.from.value_or(""))
      || !is_one_line(envelope.subject.value_or("")))
    return std::nullopt;
  auto result = "To: " + join_addresses(recipients) + '\n';
  if (envelope.from)
    result += "From: " + *envelope.from + '\n';
  if (envelope.subject)
    result += "Subject: " + to_header_text(*envelope.subject) + '\n';
  result += "MIME-Version: 1.0\n"
            "Content-Type: text/plain; charset=utf-8\n"
            "Content-Transfer-Encoding: 8bit\n\n";
  result += text;
  if (result.back() != '\n')
    result += '\n';
  return result;
}

/// Hands `mail` to the program `sendmail -t` and waits for it.
delivery_outcome send_mail(const std::string& sendmail, const std::string& mail,
                           std::chrono::milliseconds limit) {
  const auto deadline = clock::now() + limit;
  if (access(sendmail.c_str(), X_OK) != 0)
    return {status::not_supported, "no mail on this node: " + sendmail + ": "
                                     + std::strerror(errno)
                                     + "; install a mail transfer agent"};
  int fds[2];
  if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0)
    return {status::sys_limits_pipes, std::strerror(errno)};
  auto input = unique_fd{fds[0]};
  auto output = unique_fd{fds[1]};
  fcntl(input.get(), F_SETFL, 0); // The program expects to wait for its input.
  const awaited_child child{[&] { return start(sendmail, input.get()); }};
  if (child.pid() < 0)
    return {status::not_supported, "cannot start " + sendmail};
  input.reset();
  const auto was_written = write_all(output.get(), mail, deadline);
  output.reset();
  if (!was_written)
    kill(child.pid(), SIGKILL);
  const auto [in_time, wait_status] = await_end(child.pid(), deadline);
  if (!was_written || !in_time)
    return {status::timeout, sendmail + " did not end in time and was killed"};
  if (wait_status != 0)
    return {status::error, sendmail + " refused the mail; see the mail log"};
  return {status::success, {}};
}

// -- syslog ------------------------------------------------------------------

constexpr uint8_t user_facility = 1;

/// What daemons take in one entry.
constexpr size_t max_text = 8192;

constexpr auto send_limit = timeval{1, 0};

/// @returns nothing, and the reason in `errno`, if nobody listens.
unique_fd connect_to(const std::string& path, int type) {
  const auto address = local_address(path);
  if (!address)
    return {};
  auto fd = unique_fd{socket(AF_UNIX, type | SOCK_CLOEXEC, 0)};
  if (!fd)
    return {};
  setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &send_limit,
             sizeof(send_limit));
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&*address),
              sizeof(*address))
      != 0)
    return {};
  return fd;
}

std::string entry(const std::string& name, uint8_t priority,
                  const std::string& text) {
  const auto now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char date[32];
  std::strftime(date, sizeof(date), "%b %e %H:%M:%S", &local);
  return '<' + std::to_string(user_facility << 3 | (priority & 7)) + '>' + date
         + ' ' + escape_control_characters(name) + '['
         + std::to_string(getpid())
         + "]: " + escape_control_characters(text.substr(0, max_text));
}

/// Writes one entry to the system's log. Speaks to its socket directly, because
/// syslog(3) does not tell whether somebody took the entry. May wait a second.
/// @param socket   Where the daemon listens, usually `/dev/log`.
/// @param priority 0 to 7; the facility is that of user programs.
/// @returns `not_supported` if no daemon listens.
/// Source: RFC 3164, section 4.1, as local programs write it: without host.
delivery_outcome write_syslog(const std::string& socket,
                              const std::string& name, uint8_t priority,
                              const std::string& text) {
  auto line = entry(name, priority, text);
  auto fd = connect_to(socket, SOCK_DGRAM);
  if (!fd && errno == EPROTOTYPE) {
    fd = connect_to(socket, SOCK_STREAM);
    line += '\0'; // What ends an entry there.
  }
  if (!fd)
    return {status::not_supported, "no system log at " + socket + ": "
                                     + std::strerror(errno)
                                     + "; start a syslog daemon"};
  if (send(fd.get(), line.data(), line.size(), MSG_NOSIGNAL) < 0)
    return {status::error, "the system log does not take the entry: "
                             + std::string{std::strerror(errno)}};
  return {status::success, {}};
}

// -- the actor ---------------------------------------------------------------

using reply_promise = caf::typed_response_promise<ack>;

void write_text(fd_writer& writer, const std::string& text,
                reply_promise reply) {
  // A file gets the bytes; a terminal would obey them.
  auto shown =
    writer.is_terminal() ? escape_control_characters(text, true) : text;
  writer.write(std::move(shown), [reply]() mutable { reply.deliver(ack{}); });
}

/// Runs `work` on a thread of the pool and answers with its outcome.
void run_apart(thread_pool& pool, std::function<delivery_outcome()> work,
               reply_promise reply) {
  const auto outcome = std::make_shared<delivery_outcome>();
  const auto done = [outcome, reply]() mutable {
    if (outcome->code == status::success)
      reply.deliver(ack{});
    else
      reply.deliver(make_error(outcome->code, outcome->reason));
  };
  if (!pool.post([outcome, work = std::move(work)] { *outcome = work(); },
                 done))
    reply.deliver(make_error(status::resource_busy,
                             "too much work waits on this node; ask later"));
}

void send_mail_apart(thread_pool& pool, const log_sink_settings& settings,
                     const log_entry& x, reply_promise reply) {
  auto mail = compose_mail(x.envelope, x.text);
  if (!mail) {
    reply.deliver(
      make_error(status::bad_param,
                 "a mail needs an address, and no more than 256; "
                 "addresses and subject must be one line each; correct them"));
    return;
  }
  run_apart(
    pool,
    [sendmail = settings.sendmail, limit = settings.mail_limit,
     mail = std::move(*mail)] { return send_mail(sendmail, mail, limit); },
    std::move(reply));
}

} // namespace

log_sink_actor::behavior_type
log_sink(log_sink_actor::stateful_pointer<log_sink_state> self,
         thread_pool* pool, log_sink_settings settings) {
  self->state.settings = std::move(settings);
  return {
    [self, pool](const log_entry& x) {
      const auto& s = self->state.settings;
      auto reply = self->make_response_promise<ack>();
      switch (x.channel) {
        case log_channel::stdout_:
          write_text(*s.out, x.text, reply);
          break;
        case log_channel::stderr_:
          write_text(*s.err, x.text, reply);
          break;
        case log_channel::local_syslog:
        case log_channel::global_syslog:
          run_apart(
            *pool,
            [socket = s.syslog_socket, name = s.syslog_name,
             priority = x.priority, text = x.text] {
              return write_syslog(socket, name, priority, text);
            },
            reply);
          break;
        case log_channel::email:
          send_mail_apart(*pool, s, x, reply);
          break;
        default:
          reply.deliver(make_error(status::not_supported));
      }
      return reply;
    },
  };
}

} // namespace troupe
