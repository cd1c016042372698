#include "tools/screen.hpp"

#include "adapters/log/fd_writer.hpp"
#include "adapters/loop/event_loop.hpp"
#include "adapters/loop/fd_watch.hpp"
#include "adapters/loop/local_address.hpp"
#include "adapters/loop/thread_pool.hpp"
#include "adapters/loop/timer.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "adapters/process/children.hpp"
#include "messages/actors.hpp"
#include "messages/io_stream.hpp"
#include "tools/window_command.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

// -- the window of one process -----------------------------------------------

namespace {

using namespace std::chrono_literals;

/// How long the program of a window may take to connect.
constexpr auto connect_time = 30s;

/// The window of one process: waits for its program to connect, then writes to
/// it. For the thread of the loop only.
class screen_window {
public:
  /// What has been waiting for the window, and who waits for its answer.
  struct waiting {
    io_fragment what;
    caf::typed_response_promise<ack> reply;
  };

  struct callbacks {
    /// The program is there: input comes from this descriptor.
    std::function<void(int fd)> on_connected;

    /// There will be no window: why, and what waits for it.
    std::function<void(const std::string& why, std::deque<waiting>)> on_failed;

    /// The user has closed it.
    std::function<void()> on_closed;
  };

  screen_window(event_loop& loop, callbacks handlers);

  ~screen_window();

  screen_window(const screen_window&) = delete;

  screen_window& operator=(const screen_window&) = delete;

  /// Starts the command, and waits for its program at `path`.
  void open(const std::string& path, const std::string& command, bool is_raw);

  void take(waiting x);

  bool has_failed() const noexcept {
    return has_failed_;
  }

private:
  void accept_program();
  void on_command_end();
  void fail(const std::string& why);
  void write(waiting x);
  bool start(const std::string& path, const std::string& command, bool is_raw);

  event_loop& loop_;
  callbacks handlers_;
  std::string path_;
  unique_fd listener_;
  unique_fd connection_;
  unique_fd pidfd_;
  std::optional<awaited_child> child_;
  std::unique_ptr<fd_watch> accepts_;
  std::unique_ptr<fd_watch> ends_;
  std::unique_ptr<timer> patience_;
  std::unique_ptr<fd_writer> out_;
  std::deque<waiting> waiting_;
  std::set<io_channels> ended_;
  bool has_failed_ = false;
};

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
    fail("its command was killed by signal " + std::to_string(WTERMSIG(how))
         + "; run it by itself");
  else if (WEXITSTATUS(how) != 0)
    fail("its command ended with status " + std::to_string(WEXITSTATUS(how))
         + "; run it by itself");
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

} // namespace

// -- all windows of a job ----------------------------------------------------

struct screen::state {
  state(loop_system& sys, settings x) : system(sys), options(std::move(x)) {
    // nop
  }

  void open(uint32_t rank);
  void take(screen_window::waiting x);
  void show_elsewhere(screen_window::waiting x) const;
  void on_failed(uint32_t rank, const std::string& why,
                 std::deque<screen_window::waiting> left) const;

  loop_system& system;
  settings options;
  std::string directory;
  std::string nspace;
  input_target_actor input;
  output_sink_actor sink;

  /// By rank, once the job has a name.
  std::vector<std::unique_ptr<screen_window>> windows;
  std::vector<caf::actor> sources;

  /// What came before.
  std::deque<screen_window::waiting> early;
};

namespace {

struct sink_state {
  static inline const char* name = "screen";
};

} // namespace

/// Nobody of ours is in an actor here.
void screen::state::show_elsewhere(screen_window::waiting x) const {
  system.actors().spawn(
    [to = options.fallback, x = std::move(x)](caf::event_based_actor* self) {
      auto reply = x.reply;
      self->request(to, caf::infinite, x.what)
        .then(
          [reply](ack) mutable { reply.deliver(ack{}); },
          [reply](caf::error& why) mutable { reply.deliver(std::move(why)); });
    });
}

void screen::state::take(screen_window::waiting x) {
  if (windows.empty()) {
    early.push_back(std::move(x));
    return;
  }
  const auto& source = x.what.stream.source;
  if (source.nspace != nspace || source.rank >= windows.size()
      || windows[source.rank]->has_failed())
    show_elsewhere(std::move(x));
  else
    windows[source.rank]->take(std::move(x));
}

void screen::state::on_failed(uint32_t rank, const std::string& why,
                              std::deque<screen_window::waiting> left) const {
  options.warn("no window for rank " + std::to_string(rank) + ": " + why
               + "; its output is shown here, see the command of --screen");
  for (auto& x : left)
    show_elsewhere(std::move(x));
}

void screen::state::open(uint32_t rank) {
  auto handlers = screen_window::callbacks{};
  handlers.on_connected = [this, rank](int fd) {
    auto from = stdin_source_settings{};
    from.fd = fd;
    from.nspace = nspace;
    from.ranks = {rank};
    sources.push_back(system.actors().spawn(stdin_source, &system.loop(),
                                            &system.pool(), input, from));
  };
  handlers.on_failed = [this, rank](const std::string& why, auto left) {
    on_failed(rank, why, std::move(left));
  };
  handlers.on_closed = [this, rank] {
    options.warn("the window of rank " + std::to_string(rank)
                 + " was closed: what the process writes is lost; leave "
                   "windows open until the job is over");
  };
  windows.push_back(
    std::make_unique<screen_window>(system.loop(), std::move(handlers)));
  windows.back()->open(directory + "/" + std::to_string(rank),
                       window_command(options.command, rank, nspace),
                       options.is_raw);
}

screen::screen(std::shared_ptr<state> x) : state_(std::move(x)) {
  // nop
}

caf::expected<std::unique_ptr<screen>> screen::make(loop_system& sys,
                                                    settings x) {
  if (x.size > most)
    return make_error(status::bad_param,
                      "--screen opens one window per process, "
                        + std::to_string(x.size) + " are too many; the most "
                        + "are " + std::to_string(most)
                        + "; start fewer, or leave out --screen");
  auto result = std::unique_ptr<screen>{
    new screen{std::make_shared<state>(sys, std::move(x))}};
  auto& st = *result->state_;
  const auto* base = std::getenv("TMPDIR");
  st.directory = std::string{base != nullptr && *base == '/' ? base : "/tmp"}
                 + "/troupe.window.XXXXXX";
  // Each window has a socket there, named by its rank.
  constexpr auto room = sizeof(sockaddr_un::sun_path) - 1;
  if (st.directory.size() + 1 + std::to_string(most).size() > room)
    return make_error(status::error,
                      "TMPDIR is " + std::string{base} + ": its "
                        + std::to_string(std::strlen(base))
                        + " characters leave no room for the name of a socket "
                          "there, of which --screen needs one per window; set "
                          "TMPDIR to a shorter one");
  if (::mkdtemp(st.directory.data()) == nullptr)
    return make_error(status::error, "cannot make a directory "
                                       + std::exchange(st.directory, {}) + ": "
                                       + std::strerror(errno)
                                       + "; set TMPDIR to one of yours");
  st.sink =
    sys.actors().spawn([weak = std::weak_ptr<state>{result->state_}](
                         output_sink_actor::stateful_pointer<sink_state> self)
                         -> output_sink_actor::behavior_type {
      return {[self, weak](io_fragment& x) -> caf::result<ack> {
        const auto to = weak.lock();
        if (!to)
          return ack{};
        auto reply = self->make_response_promise<ack>();
        to->take({std::move(x), reply});
        return reply;
      }};
    });
  return result;
}

screen::~screen() {
  auto& st = *state_;
  for (const auto& x : st.sources)
    caf::anon_send_exit(x, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(st.sink, caf::exit_reason::user_shutdown);
  st.windows.clear();
  if (!st.directory.empty())
    ::rmdir(st.directory.c_str());
}

const output_sink_actor& screen::sink() const {
  return state_->sink;
}

void screen::open(const std::string& nspace, const input_target_actor& input) {
  auto& st = *state_;
  st.nspace = nspace;
  st.input = input;
  for (uint32_t rank = 0; rank < st.options.size; ++rank)
    st.open(rank);
  for (auto& x : std::exchange(st.early, {}))
    st.take(std::move(x));
}

} // namespace troupe
