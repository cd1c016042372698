#include "adapters/log/logger.hpp"

#include "adapters/process/descriptors.hpp"
#include "base/escape.hpp"
#include "base/json_schema.hpp"

#include <fcntl.h>
#include <limits.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

namespace troupe {

namespace {

/// The text of a log line without anything that a terminal would obey.
class escaped_text : public spdlog::custom_flag_formatter {
public:
  void format(const spdlog::details::log_msg& msg, const std::tm&,
              spdlog::memory_buf_t& dest) override {
    const auto text = escape_control_characters(
      std::string_view{msg.payload.data(), msg.payload.size()});
    dest.append(text.data(), text.data() + text.size());
  }

  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<escaped_text>();
  }
};

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
class patient_sink : public spdlog::sinks::base_sink<std::mutex> {
public:
  explicit patient_sink(int fd) {
    struct stat info {};
    if (fstat(fd, &info) == 0
        && (S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode)))
      fd_ = reopen(fd, O_WRONLY);
    if (!fd_)
      fd_.reset(fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  }

protected:
  void sink_it_(const spdlog::details::log_msg& msg) override {
    spdlog::memory_buf_t line;
    formatter_->format(msg, line);
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
    if (!write_line({line.data(), line.size()}))
      ++dropped_;
  }

  void flush_() override {
    // Nothing is kept.
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

  unique_fd fd_;
  size_t dropped_ = 0;
};

spdlog::level::level_enum level_of(severity x) {
  switch (x) {
    case severity::debug:
      return spdlog::level::debug;
    case severity::info:
      return spdlog::level::info;
    case severity::warning:
      return spdlog::level::warn;
    default:
      return spdlog::level::err;
  }
}

/// What a line says, as the rest of an object.
std::string json_of(const log_line& x) {
  auto result = R"("subject":")" + std::string{text_of(x.about)} + R"(",)";
  if (!x.trace.empty())
    result += R"("trace":)" + json_text(x.trace, max_line / 4) + ",";
  result += R"("message":)";
  return result + json_text(x.text, max_line - max_json_head - result.size());
}

log_output json_output(const std::shared_ptr<spdlog::logger>& to) {
  return [to](const log_line& x) {
    const auto text = json_of(x);
    to->log(level_of(x.how), spdlog::string_view_t{text});
  };
}

log_output text_output(const std::shared_ptr<spdlog::logger>& to) {
  return [to](const log_line& x) {
    const auto text = x.trace.empty() ? x.text : x.text + " (" + x.trace + ")";
    to->log(level_of(x.how), spdlog::string_view_t{text});
  };
}

log_output stream_output(const logger_settings& settings,
                         const std::string& name) {
  const auto is_json = settings.format == log_format::json;
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  if (is_json)
    formatter->set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","type":"log",)"
                           R"("schema":)" TROUPE_JSON_SCHEMA R"(,"level":"%l",)"
                           R"("name":"%n","pid":%P,%v})");
  else
    formatter->add_flag<escaped_text>('*').set_pattern("%n[%P] %l: %*");
  const auto sink = std::make_shared<patient_sink>(settings.fd);
  sink->set_formatter(std::move(formatter));
  const auto logger = std::make_shared<spdlog::logger>(name, sink);
  // Levels are a matter of subjects.
  logger->set_level(spdlog::level::trace);
  return is_json ? json_output(logger) : text_output(logger);
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
