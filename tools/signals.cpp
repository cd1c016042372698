#include "tools/signals.hpp"

#include "adapters/loop/event_loop.hpp"
#include "base/all_of.hpp"
#include "base/escape.hpp"
#include "messages/attributes.hpp"
#include "messages/status.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

namespace troupe {

// -- their names -------------------------------------------------------------

namespace {

constexpr auto option = "--forward-signals ";

std::optional<uint32_t> read_number(std::string_view text) {
  auto result = uint32_t{0};
  const auto* end = text.data() + text.size();
  const auto [at, failure] = std::from_chars(text.data(), end, result);
  if (text.empty() || failure != std::errc{} || at != end)
    return std::nullopt;
  return result;
}

std::string name_of(int number) {
  const auto* name = sigabbrev_np(number);
  return name != nullptr ? name : std::to_string(number);
}

/// Why a signal is never passed on; nothing if it may be.
const char* refusal_of(int number) {
  switch (number) {
    case 0:
      return "is no signal";
    case SIGKILL:
    case SIGSTOP:
      return "cannot be caught; use troupe ctl kill or troupe ctl pause";
    case SIGINT:
    case SIGTERM:
      return "ends the job, as it always does; leave it out";
    case SIGCHLD:
    case SIGPIPE:
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGTRAP:
    case SIGSYS:
    case SIGTTIN:
    case SIGTTOU:
      return "tells the launcher of its own doings; use troupe ctl signal";
    default:
      // Those between are the threads library's own.
      return number > 31 && number < SIGRTMIN
               ? "belongs to the system's libraries; choose another"
               : nullptr;
  }
}

} // namespace

caf::expected<int32_t> read_signal(const std::string& text) {
  const auto refused = make_error(
    status::bad_param, "there is no signal \"" + escape_control_characters(text)
                         + "\"; give a name such as USR1 or a number from 0 to "
                         + std::to_string(SIGRTMAX));
  if (const auto number = read_number(text)) {
    if (*number > static_cast<uint32_t>(SIGRTMAX))
      return refused;
    return static_cast<int32_t>(*number);
  }
  auto name = text;
  for (auto& c : name)
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (name.rfind("SIG", 0) == 0)
    name.erase(0, 3);
  for (int number = 1; number < SIGRTMIN; ++number)
    if (const auto* known = sigabbrev_np(number);
        known != nullptr && name == known)
      return number;
  if (name.rfind("RTMIN", 0) == 0) {
    const auto rest = name.substr(5);
    const auto offset = rest.empty()          ? std::optional<uint32_t>{0}
                        : rest.front() == '+' ? read_number(rest.substr(1))
                                              : std::nullopt;
    if (offset && *offset <= static_cast<uint32_t>(SIGRTMAX - SIGRTMIN))
      return SIGRTMIN + static_cast<int32_t>(*offset);
  }
  return refused;
}

const std::set<int>& usual_signals() {
  static const auto result = std::set<int>{SIGTSTP, SIGUSR1, SIGUSR2, SIGABRT,
                                           SIGALRM, SIGCONT, SIGWINCH};
  return result;
}

caf::expected<std::set<int>> read_forwarded_signals(const std::string& text) {
  if (text == "none")
    return std::set<int>{};
  auto result = usual_signals();
  if (text == "all") {
    for (int number = 1; number <= SIGRTMAX; ++number)
      if (refusal_of(number) == nullptr)
        result.insert(number);
    return result;
  }
  for (size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(',', begin), text.size());
    const auto word = text.substr(begin, end - begin);
    if (word == "all" || word == "none")
      return make_error(status::bad_param, option + text + ": " + word
                                             + " stands alone; leave out the "
                                               "others");
    const auto number = read_signal(word);
    if (!number)
      return make_error(status::bad_param,
                        option + text + ": " + reason_of(number.error()));
    if (const auto* why = refusal_of(*number))
      return make_error(status::bad_param,
                        option + text + ": " + name_of(*number) + " " + why);
    result.insert(*number);
    begin = end + 1;
  }
  return result;
}

// -- how they are passed on --------------------------------------------------

namespace {

constexpr int user_signals[] = {SIGUSR1, SIGUSR2, SIGALRM};

constexpr auto pause_time = std::chrono::seconds{2};

} // namespace

void outlive_user_signals() {
  for (const auto number : user_signals)
    std::signal(number, SIG_IGN);
}

void on_interrupt(event_loop& loop, const std::function<void(int)>& f) {
  for (const auto number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
    loop.on_signal(number, [f, number] { f(number); });
}

void user_interrupts::listen(event_loop& loop) {
  on_interrupt(loop, [this](int number) {
    if (++count_ > 2)
      leave_(number);
    else
      end_(number);
  });
}

signal_forwarder::signal_forwarder(event_loop& loop, settings x)
  : loop_(loop), settings_(std::move(x)), patience_(loop, [this] { stop(); }) {
  for (const auto number : settings_.signals)
    listen(number);
}

signal_forwarder::~signal_forwarder() {
  for (const auto number : settings_.signals)
    loop_.forget_signal(number);
}

void signal_forwarder::listen(int number) {
  loop_.on_signal(number, [this, number] { on_signal(number); });
}

void signal_forwarder::on_signal(int number) {
  if (number == SIGTSTP) {
    pause();
    return;
  }
  if (number == SIGCONT) {
    is_pausing_ = false;
    is_paused_ = false;
    patience_.cancel();
    if (settings_.on_continue)
      settings_.on_continue();
  }
  ask(attr::job_ctrl_signal, value::integer(number), [] {});
}

/// To all jobs in one request each, since a request for who is gone is refused.
void signal_forwarder::ask(std::string_view directive, value x, callback done) {
  const auto all =
    all_of<callback>{std::move(done), [](callback& then) { then(); }};
  for (const auto& nspace : settings_.jobs()) {
    all.add();
    auto request = job_control_request{};
    request.targets = {{nspace, rank_wildcard}};
    request.directives = {{std::string{directive}, 0, x}};
    settings_.ask(std::move(request), [all] { all.done(); });
  }
  all.done();
}

void signal_forwarder::pause() {
  if (is_pausing_)
    return;
  if (is_paused_ && settings_.stays) {
    on_signal(SIGCONT);
    return;
  }
  is_pausing_ = true;
  patience_.start(pause_time);
  ask(attr::job_ctrl_pause, value::boolean(true), [this] {
    if (is_pausing_)
      stop();
  });
}

/// Stops this process as if nobody had caught the signal; in an orphaned
/// process group that does nothing, and SIGCONT is awaited all the same.
/// Source: POSIX, "General Terminal Interface", Orphaned Process Group.
void signal_forwarder::stop() {
  is_pausing_ = false;
  is_paused_ = true;
  patience_.cancel();
  if (settings_.stays) {
    settings_.stays("the job is stopped; kill -CONT " + std::to_string(getpid())
                    + ", or Ctrl-Z once more, lets it go on");
    return;
  }
  if (settings_.on_stop)
    settings_.on_stop();
  loop_.forget_signal(SIGTSTP);
  raise(SIGTSTP);
  listen(SIGTSTP);
}

} // namespace troupe
