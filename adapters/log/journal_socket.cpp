#include "adapters/log/journal_socket.hpp"

#include "adapters/loop/local_address.hpp"
#include "base/escape.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <utility>

namespace troupe {

namespace {

/// Longer texts are cut.
constexpr size_t max_journal_text = 4096;
constexpr auto journal_cut_mark = " [cut]";

/// As syslog(3) counts.
int priority_of(severity x) {
  switch (x) {
    case severity::debug:
      return 7;
    case severity::info:
      return 6;
    case severity::warning:
      return 4;
    default:
      return 3;
  }
}

/// A field without line breaks in it, which end it.
void add_field(std::string& to, std::string_view key, std::string_view text) {
  to += key;
  to += '=';
  if (text.size() > max_journal_text)
    to += escape_control_characters(text.substr(0, max_journal_text))
          + journal_cut_mark;
  else
    to += escape_control_characters(text);
  to += '\n';
}

} // namespace

journal_socket::journal_socket(std::string path, std::string name)
  : path_(std::move(path)), name_(std::move(name)),
    fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  // nop
}

bool journal_socket::is_behind(int fd) {
  const auto* stream = std::getenv("JOURNAL_STREAM");
  struct stat info {};
  return stream != nullptr && ::fstat(fd, &info) == 0
         && std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino)
              == stream;
}

bool journal_socket::is_there() const {
  return fd_ && ::access(path_.c_str(), W_OK) == 0;
}

bool journal_socket::send(const std::string& datagram) const {
  const auto to = local_address(path_);
  return to
         && ::sendto(fd_.get(), datagram.data(), datagram.size(), MSG_NOSIGNAL,
                     reinterpret_cast<const sockaddr*>(&*to), sizeof(*to))
              >= 0;
}

void journal_socket::write(const log_line& x) {
  const auto make = [&](severity how, std::string_view text,
                        std::string_view trace) {
    auto result = std::string{};
    add_field(result, "MESSAGE", text);
    add_field(result, "PRIORITY", std::to_string(priority_of(how)));
    add_field(result, "SYSLOG_IDENTIFIER", name_);
    add_field(result, "SYSLOG_PID", std::to_string(::getpid()));
    add_field(result, "TROUPE_SUBJECT", text_of(x.about));
    if (!trace.empty())
      add_field(result, "TROUPE_TRACE", trace);
    return result;
  };
  const std::lock_guard lock{mutex_};
  if (dropped_ > 0
      && send(make(severity::warning,
                   "(" + std::to_string(dropped_)
                     + " lines of the log were dropped: the journal did not "
                       "take them)",
                   {})))
    dropped_ = 0;
  if (dropped_ > 0 || !send(make(x.how, x.text, x.trace)))
    ++dropped_;
}

} // namespace troupe
