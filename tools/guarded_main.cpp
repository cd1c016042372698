#include "tools/guarded_main.hpp"

#include "adapters/loop/memory_reserve.hpp"
#include "adapters/process/descriptors.hpp"
#include "messages/status.hpp"
#include "tools/printing.hpp"

#include <malloc.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <system_error>

namespace troupe {

namespace {

/// What a command of ours needs for its own loop and one connection.
constexpr auto least_descriptors = rlim_t{32};

/// Address space that a server needs, with the stacks of its threads; libraries
/// of others do not look whether they get memory.
constexpr auto least_memory = rlim_t{128} << 20;

/// What is kept for when there is no more: CAF, and what ends a request, allocate
/// where a failure ends the process.
constexpr size_t kept_memory = size_t{4} << 20;

/// Bytes of what goes back to the system as soon as it is freed: more than a
/// piece of a stream, less than a large message.
constexpr int large_block = 1 << 20;

/// 128 and the signal, as if it had ended the program.
constexpr auto nobody_reads = 128 + SIGPIPE;

const char* program_name = "troupe";

/// By write(2): streams may be what failed.
void say(const std::string& what) noexcept {
  try {
    const auto line = notice(program_name, what);
    static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
  } catch (const std::bad_alloc&) {
    // The constant says as much.
    constexpr char text[] = "troupe: out of memory\n";
    static_cast<void>(!::write(STDERR_FILENO, text, sizeof(text) - 1));
  }
}

/// What an exception means, with the remedy.
std::string explain(const std::exception& x) {
  if (dynamic_cast<const std::bad_alloc*>(&x) != nullptr)
    return "out of memory; free some, or raise the limit of this process "
           "(ulimit -v)";
  const auto what = std::string{x.what()};
  const auto* failure = dynamic_cast<const std::system_error*>(&x);
  if (failure == nullptr)
    return what;
  const auto error = failure->code().value();
  if (error == EAGAIN || error == ENOMEM)
    return "cannot start a thread: " + what
           + "; raise the limits of processes (ulimit -u) and memory (ulimit "
             "-v)";
  if (error == EMFILE || error == ENFILE)
    return what + "; raise the limit of open files (ulimit -n)";
  if (error == ENOSPC || error == EDQUOT || error == EFBIG)
    return what + "; make room, or raise the limit of files (ulimit -f)";
  return what;
}

std::string explain_current() {
  try {
    std::rethrow_exception(std::current_exception());
  } catch (const std::exception& x) {
    return explain(x);
  } catch (...) {
    return "an unknown exception; please report it";
  }
}

/// For exceptions that nobody can catch: in other threads, in destructors.
[[noreturn]] void end_at_once() noexcept {
  if (std::current_exception() != nullptr)
    say(explain_current());
  else
    say("it had to end, for a mistake of its own; please report it");
  std::_Exit(cannot_work);
}

/// Which limit is too low for anything; empty: none.
std::string want_of_limits() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0
      && files.rlim_cur < least_descriptors)
    return "the limit of open files (ulimit -n) is "
           + std::to_string(files.rlim_cur) + ", and "
           + std::to_string(least_descriptors)
           + " are needed at least; raise its hard value (ulimit -Hn)";
  rlimit memory{};
  if (getrlimit(RLIMIT_AS, &memory) == 0 && memory.rlim_cur < least_memory)
    return "the limit of memory (ulimit -v) is "
           + std::to_string(memory.rlim_cur >> 10) + " KiB, and "
           + std::to_string(least_memory >> 10)
           + " are needed at least; raise it";
  return {};
}

bool has_reader(int fd) {
  auto watched = pollfd{fd, POLLOUT, 0};
  return ::poll(&watched, 1, 0) < 1 || (watched.revents & POLLERR) == 0;
}

/// Sees that what was printed has gone out.
int checked(int status) {
  std::cout.flush();
  if (std::cout || status != 0)
    return status;
  if (!has_reader(STDOUT_FILENO))
    return nobody_reads;
  say("cannot write standard output; make room where it goes, or raise the "
      "limit of files (ulimit -f)");
  return cannot_write;
}

} // namespace

int failure_status(const caf::error& why) {
  return status_of(why) == status::bad_param ? 1 : cannot_work;
}

int guarded_main(const char* program, const std::function<int()>& body) {
  // Or the first large message that is freed has all later ones kept for reuse.
  ::mallopt(M_MMAP_THRESHOLD, large_block);
  // One thread does nearly everything; others need no memory of their own.
  ::mallopt(M_ARENA_MAX, 1);
  keep_memory_reserve(kept_memory);
  // Before anything else gets a descriptor.
  occupy_standard_descriptors();
  ignore_broken_pipes();
  ::signal(SIGXFSZ, SIG_IGN);
  program_name = program;
  std::set_terminate(end_at_once);
  raise_descriptor_limit();
  try {
    if (const auto why = want_of_limits(); !why.empty()) {
      say(why);
      return cannot_work;
    }
    return checked(body());
  } catch (...) {
    say(explain_current());
    return cannot_work;
  }
}

} // namespace troupe
