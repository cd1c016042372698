#include "tools/node_starter.hpp"

#include "adapters/loop/fd_watch.hpp"
#include "adapters/loop/timer.hpp"
#include "adapters/process/child.hpp"
#include "adapters/process/children.hpp"
#include "base/escape.hpp"
#include "messages/process.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <optional>

namespace troupe {

namespace {

/// Bytes that are kept of what a remote shell says.
constexpr size_t most_output = 16384;

/// What our daemon puts before its errors.
constexpr auto daemon_mark = std::string_view{"trouped: "};

/// The last line that says something.
std::string last_line(std::string_view text) {
  while (!text.empty()
         && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
    text.remove_suffix(1);
  const auto begin = text.rfind('\n');
  return std::string{begin == std::string_view::npos ? text
                                                     : text.substr(begin + 1)};
}

std::string text_of_status(int x) {
  if (WIFSIGNALED(x))
    return "it was killed by signal " + std::to_string(WTERMSIG(x));
  return "it ended with status " + std::to_string(WEXITSTATUS(x));
}

} // namespace

/// A remote shell that runs.
struct node_starter::running {
  node_start what;
  std::optional<awaited_child> awaited;
  child process;
  size_t written = 0;
  std::string out;
  std::string err;
  std::unique_ptr<fd_watch> in_watch;
  std::unique_ptr<fd_watch> out_watch;
  std::unique_ptr<fd_watch> err_watch;
  std::unique_ptr<fd_watch> end_watch;
  std::unique_ptr<timer> limit;
  std::optional<int> status;
  bool is_reported = false;
  bool is_late = false;

  ~running() {
    in_watch.reset();
    out_watch.reset();
    err_watch.reset();
    end_watch.reset();
    if (!status && process.pid > 0) {
      ::kill(-process.pid, SIGKILL);
      while (::waitpid(process.pid, nullptr, 0) < 0 && errno == EINTR) {
        // Again.
      }
    }
  }

  void close_input() {
    in_watch.reset();
    process.in.reset();
    what.input.wipe();
  }

  void write_input() {
    const auto bytes = what.input.view().substr(written);
    if (bytes.empty()) {
      close_input();
      return;
    }
    const auto n = ::write(process.in.get(), bytes.data(), bytes.size());
    if (n > 0)
      written += static_cast<size_t>(n);
    else if (n < 0 && errno != EAGAIN && errno != EINTR)
      close_input(); // Its end tells why.
    if (written == what.input.size())
      close_input();
  }

  /// @returns whether the stream is at its end.
  static bool read_some(const unique_fd& fd, std::string& to) {
    char room[4096];
    const auto n = ::read(fd.get(), room, sizeof(room));
    if (n > 0) {
      to.append(room, static_cast<size_t>(n));
      if (to.size() > most_output)
        to.erase(0, to.size() - most_output);
      return false;
    }
    return n == 0 || (errno != EAGAIN && errno != EINTR);
  }

  void take_all(const unique_fd& fd, std::string& to) {
    // What it wrote before its end; its children may keep the pipe open.
    for (auto before = to.size() + 1; fd && before != to.size();) {
      before = to.size();
      if (read_some(fd, to))
        break;
    }
  }

  std::string failure() const {
    const auto said =
      escape_control_characters(last_line(err.empty() ? out : err));
    const auto& host = what.host;
    if (said.compare(0, daemon_mark.size(), daemon_mark) == 0)
      return host + ": " + said.substr(daemon_mark.size());
    const auto cannot = "cannot start a daemon on " + host + ": ";
    if (is_late)
      return cannot + "no answer within the time-out"
             + (said.empty() ? "" : " (" + said + ")")
             + "; check the node and its network, or raise --join-timeout";
    const auto code = status && WIFEXITED(*status) ? WEXITSTATUS(*status) : -1;
    if (code == 127 || code == 126)
      return cannot + (said.empty() ? "the program is not there" : said)
             + "; install Troupe there, or say where it is by --launch-agent";
    return cannot
           + (said.empty() && status
                ? what.command.front() + ": " + text_of_status(*status)
                : said)
           + "; check that `" + what.command.front() + " ... " + host
           + " true` works without a question";
  }
};

node_starter::node_starter(event_loop& loop, settings x)
  : loop_(loop), settings_(std::move(x)) {
  // nop
}

node_starter::~node_starter() = default;

void node_starter::start(std::vector<node_start> nodes) {
  for (auto& x : nodes)
    waiting_.push_back(std::move(x));
  start_more();
}

void node_starter::give_up() {
  waiting_.clear();
  for (auto& x : running_)
    if (!x->is_reported && !x->status)
      ::kill(-x->process.pid, SIGKILL);
}

void node_starter::start_more() {
  while (!waiting_.empty() && joining_ < settings_.at_a_time) {
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    start_one(std::move(next));
  }
}

void node_starter::start_one(node_start x) {
  auto request = start_process{};
  request.program = x.command.front();
  request.argv = x.command;
  for (auto** y = environ; *y != nullptr; ++y)
    request.env.emplace_back(*y);
  request.env.emplace_back(daemon_variable);
  request.with_stdin = true;
  auto entry = std::make_unique<running>();
  auto failure = std::optional<launch_failure>{};
  entry->awaited.emplace([&] {
    auto result = spawn_child(request);
    if (auto* why = std::get_if<launch_failure>(&result)) {
      failure = std::move(*why);
      return pid_t{-1};
    }
    entry->process = std::move(std::get<child>(result));
    return entry->process.pid;
  });
  if (failure) {
    settings_.on_outcome(
      {x.rank, x.host, std::nullopt,
       "cannot start a daemon on " + x.host + ": " + failure->reason});
    return;
  }
  entry->what = std::move(x);
  auto* self = entry.get();
  auto& streams = self->process;
  self->in_watch = std::make_unique<fd_watch>(
    loop_, streams.in.get(), [] {}, [self] { self->write_input(); });
  self->in_watch->enable_write();
  self->out_watch =
    std::make_unique<fd_watch>(loop_, streams.out.get(), [this, self] {
      if (running::read_some(self->process.out, self->out))
        self->out_watch->disable_read();
      if (settings_.stays && !self->is_reported && find_join_answer(self->out))
        finish(*self);
    });
  self->out_watch->enable_read();
  self->err_watch =
    std::make_unique<fd_watch>(loop_, streams.err.get(), [self] {
      if (running::read_some(self->process.err, self->err))
        self->err_watch->disable_read();
    });
  self->err_watch->enable_read();
  self->end_watch =
    std::make_unique<fd_watch>(loop_, streams.pidfd.get(), [this, self] {
      auto result = 0;
      if (::waitpid(self->process.pid, &result, WNOHANG) != self->process.pid)
        return;
      self->status = result;
      self->take_all(self->process.out, self->out);
      self->take_all(self->process.err, self->err);
      finish(*self);
    });
  self->end_watch->enable_read();
  self->limit = std::make_unique<timer>(loop_, [self] {
    self->is_late = true;
    ::kill(-self->process.pid, SIGKILL);
  });
  self->limit->start(settings_.patience);
  ++joining_;
  running_.push_back(std::move(entry));
}

void node_starter::finish(running& x) {
  const auto rank = x.what.rank;
  if (!x.is_reported) {
    x.is_reported = true;
    x.limit->cancel();
    --joining_;
    auto outcome = node_outcome{rank, x.what.host, {}, {}};
    const auto is_well = !x.status || *x.status == 0;
    if (auto answer = find_join_answer(x.out); answer && is_well)
      outcome.joined = answer;
    else
      outcome.failure = x.failure();
    const auto still_runs = !x.status;
    if (!still_runs)
      running_.erase(
        std::find_if(running_.begin(), running_.end(),
                     [&](const auto& y) { return y.get() == &x; }));
    start_more();
    settings_.on_outcome(outcome);
    return;
  }
  running_.erase(std::find_if(running_.begin(), running_.end(),
                              [&](const auto& y) { return y.get() == &x; }));
  if (settings_.on_end)
    settings_.on_end(rank);
}

} // namespace troupe
