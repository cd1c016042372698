#include "adapters/log/logger.hpp"

#include "adapters/log/local_time.hpp"
#include "adapters/process/descriptors.hpp"
#include "base/escape.hpp"
#include "base/json_schema.hpp"

#include <fcntl.h>
#include <limits.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <string_view>
#include <utility>

namespace troupe {

namespace {

/// What a pipe takes whole or not at all.
constexpr size_t max_line = PIPE_BUF;

/// What stands before the subject in a line of JSON takes less.
constexpr size_t max_json_head = 256;

constexpr auto cut_mark = std::string_view{" [cut]"};

/// Text as a JSON string of plain ASCII: controls above 0x7e, which JSON lets
/// through, reach no terminal.
std::string json_text(std::string_view text) {
  using json = nlohmann::json;
  return json(text).dump(-1, ' ', true, json::error_handler_t::replace);
}

/// The same, cut so that it takes no more than so many bytes.
std::string json_text(std::string_view text, size_t most) {
  if (text.size() <= most)
    if (auto whole = json_text(text); whole.size() <= most)
      return whole;
  for (auto left = std::min(text.size(), most);; left -= left / 4 + 1)
    if (auto begin =
          json_text(std::string{text.substr(0, left)}.append(cut_mark));
        begin.size() <= most || left == 0)
      return begin;
}

/// Writes lines without ever waiting for a reader: what is not taken at once is
/// counted and dropped.
class patient_stream {
public:
  explicit patient_stream(int fd) {
    struct stat info {};
    if (fstat(fd, &info) == 0
        && (S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode)))
      fd_ = reopen(fd, O_WRONLY);
    if (!fd_)
      fd_.reset(fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  }

  /// @param line With its end.
  void put(std::string_view line) {
    const auto lock = std::lock_guard{mutex_};
    if (dropped_ > 0) {
      const auto notice =
        "(" + std::to_string(dropped_)
        + " lines of the log were dropped: nobody took them)\n";
      if (!write_line(notice)) {
        ++dropped_;
        return;
      }
      dropped_ = 0;
    }
    if (!write_line(line))
      ++dropped_;
  }

  /// Counts a line that could not be made.
  void drop() {
    const auto lock = std::lock_guard{mutex_};
    ++dropped_;
  }

private:
  bool write_line(std::string_view line) const {
    auto ready = pollfd{fd_.get(), POLLOUT, 0};
    if (poll(&ready, 1, 0) <= 0)
      return false;
    if (line.size() <= max_line)
      return write(fd_.get(), line.data(), line.size()) > 0;
    auto begin = std::string{line.substr(0, max_line - cut_mark.size() - 1)};
    begin.append(cut_mark) += '\n';
    return write(fd_.get(), begin.data(), begin.size()) > 0;
  }

  std::mutex mutex_;
  unique_fd fd_;
  size_t dropped_ = 0;
};

/// What a line says, as the rest of an object.
std::string json_of(const log_line& x) {
  auto result = R"("subject":")" + std::string{text_of(x.about)} + R"(",)";
  if (!x.trace.empty())
    result += R"("trace":)" + json_text(x.trace, max_line / 4) + ",";
  result += R"("message":)";
  return result + json_text(x.text, max_line - max_json_head - result.size());
}

/// Source: docs/json.md.
std::string json_line(const std::string& name, const log_line& x) {
  return R"({"time":")" + local_time(0)
         + R"(","type":"log","schema":)" TROUPE_JSON_SCHEMA R"(,"level":")"
         + std::string{text_of(x.how)} + R"(","name":)" + json_text(name)
         + R"(,"pid":)" + std::to_string(getpid()) + ',' + json_of(x) + "}\n";
}

/// Without anything that a terminal would obey.
std::string text_line(const std::string& name, const log_line& x) {
  const auto text = x.trace.empty() ? x.text : x.text + " (" + x.trace + ")";
  return name + '[' + std::to_string(getpid()) + "] "
         + std::string{text_of(x.how)} + ": " + escape_control_characters(text)
         + '\n';
}

log_output stream_output(const logger_settings& settings,
                         const std::string& name) {
  const auto make_line =
    settings.format == log_format::json ? json_line : text_line;
  const auto to = std::make_shared<patient_stream>(settings.fd);
  return [to, name, make_line](const log_line& x) {
    try {
      to->put(make_line(name, x));
    } catch (const std::bad_alloc&) {
      to->drop();
    }
  };
}

} // namespace

std::optional<log_format> read_log_format(std::string_view word) {
  if (word == "text")
    return log_format::text;
  if (word == "json")
    return log_format::json;
  if (word == "journald")
    return log_format::journald;
  return std::nullopt;
}

journal open_log(const logger_settings& settings) {
  const auto name = escape_control_characters(settings.name);
  const auto is_for_journal = settings.format == log_format::journald
                              || (settings.format == log_format::text
                                  && journal_socket::is_behind(settings.fd));
  auto result = subject_journal{};
  result.levels = std::make_shared<log_levels>(settings.level);
  if (is_for_journal) {
    const auto to = std::make_shared<journal_socket>(settings.journal, name);
    if (to->is_there()) {
      result.out = std::make_shared<const log_output>(
        [to](const log_line& x) { to->write(x); });
      return result;
    }
  }
  result.out =
    std::make_shared<const log_output>(stream_output(settings, name));
  if (settings.format == log_format::journald)
    result(severity::warning, "there is no journal at " + settings.journal
                                + ": the log goes to standard error");
  return result;
}

} // namespace troupe
