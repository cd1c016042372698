#include "tools/screen_window.hpp"

#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/local_address.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

namespace troupe {

namespace {

using namespace std::chrono_literals;

/// How long the program of a window may take to connect.
constexpr auto connect_time = 30s;

/// The shell starts the command with the program behind it.
pid_t spawn_command(const std::string& command,
                    const std::vector<std::string>& program) {
  const auto line = command + " \"$@\"";
  auto args = std::vector<std::string>{"sh", "-c", line, "troupe"};
  args.insert(args.end(), program.begin(), program.end());
  auto argv = std::vector<char*>{};
  for (auto& x : args)
    argv.push_back(x.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if (posix_spawn_file_actions_init(&actions) != 0)
    return -1;
  if (posix_spawnattr_init(&attributes) != 0) {
    posix_spawn_file_actions_destroy(&actions);
    return -1;
  }
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                   O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK
                                          | POSIX_SPAWN_SETSIGDEF
                                          | POSIX_SPAWN_SETPGROUP);
  auto result = pid_t{-1};
  if (posix_spawn(&result, "/bin/sh", &actions, &attributes, argv.data(),
                  environ)
      != 0)
    result = -1;
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return result;
}

unique_fd listen_at(const std::string& path) {
  const auto address = local_address(path);
  if (!address)
    return {};
  auto fd =
    unique_fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (fd
      && (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&*address),
                 sizeof(*address))
            != 0
          || ::listen(fd.get(), 1) != 0))
    fd.reset();
  return fd;
}

bool is_ours(int fd) {
  auto peer = ucred{};
  auto size = socklen_t{sizeof(peer)};
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0
         && peer.uid == ::geteuid();
}

} // namespace

screen_window::screen_window(event_loop& loop, callbacks handlers)
  : loop_(loop), handlers_(std::move(handlers)) {
  // nop
}

screen_window::~screen_window() {
  if (!path_.empty())
    ::unlink(path_.c_str());
}

bool screen_window::start(const std::string& path, const std::string& command,
                          bool is_raw) {
  listener_ = listen_at(path);
  if (!listener_)
    return false;
  path_ = path;
  auto program = std::vector<std::string>{"/proc/self/exe", "window"};
  auto name = std::string(4096, '\0');
  if (const auto n = ::readlink("/proc/self/exe", name.data(), name.size());
      n > 0)
    program.front() = name.substr(0, static_cast<size_t>(n));
  if (is_raw)
    program.emplace_back("--raw");
  program.push_back(path);
  child_.emplace([&] { return spawn_command(command, program); });
  if (child_->pid() <= 0)
    return false;
  pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, child_->pid(), 0)));
  return static_cast<bool>(pidfd_);
}

void screen_window::open(const std::string& path, const std::string& command,
                         bool is_raw) {
  if (!start(path, command, is_raw)) {
    fail(std::strerror(errno));
    return;
  }
  accepts_ = std::make_unique<fd_watch>(loop_, listener_.get(),
                                        [this] { accept_program(); });
  accepts_->enable_read();
  ends_ = std::make_unique<fd_watch>(loop_, pidfd_.get(),
                                     [this] { on_command_end(); });
  ends_->enable_read();
  patience_ = std::make_unique<timer>(
    loop_, [this] { fail("nothing has come of its command within 30 s"); });
  patience_->start(connect_time);
}

/// A command may hand its window to somebody else and end.
void screen_window::on_command_end() {
  auto how = 0;
  ::waitpid(child_->pid(), &how, WNOHANG);
  ends_.reset();
  child_.reset();
  if (connection_ || has_failed_)
    return;
  if (WIFSIGNALED(how))
    fail("its command was killed by signal " + std::to_string(WTERMSIG(how)));
  else if (WEXITSTATUS(how) != 0)
    fail("its command ended with status " + std::to_string(WEXITSTATUS(how)));
}

void screen_window::accept_program() {
  auto fd =
    unique_fd{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
  if (!fd || !is_ours(fd.get()))
    return;
  connection_ = std::move(fd);
  patience_.reset();
  // It is called from the watch of the listener.
  accepts_->disable_read();
  out_ = std::make_unique<fd_writer>(
    loop_, connection_.get(),
    [this](const std::string&) { handlers_.on_closed(); });
  for (auto& x : std::exchange(waiting_, {}))
    write(std::move(x));
  handlers_.on_connected(connection_.get());
}

void screen_window::fail(const std::string& why) {
  has_failed_ = true;
  if (accepts_)
    accepts_->disable_read();
  handlers_.on_failed(why, std::exchange(waiting_, {}));
}

void screen_window::take(waiting x) {
  if (out_)
    write(std::move(x));
  else
    waiting_.push_back(std::move(x));
}

void screen_window::write(waiting x) {
  if (x.what.is_end)
    ended_.insert(x.what.stream.channel);
  // With both of them nothing comes any more; of diagnostics nobody knows.
  const auto is_over = ended_.count(io_channels::stdout_) > 0
                       && ended_.count(io_channels::stderr_) > 0;
  out_->write(std::move(x.what.bytes), [reply = std::move(x.reply), is_over,
                                        fd = connection_.get()]() mutable {
    if (is_over)
      ::shutdown(fd, SHUT_WR);
    reply.deliver(ack{});
  });
}

} // namespace troupe
