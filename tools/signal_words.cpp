#include "tools/signal_words.hpp"

#include "messages/status.hpp"
#include "tools/ctl_words.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>

namespace troupe {

namespace {

constexpr auto option = "--forward-signals ";

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

} // namespace troupe
