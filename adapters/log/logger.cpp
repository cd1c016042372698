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

/// The text of a log line as a JSON string.
class quoted_text : public spdlog::custom_flag_formatter {
public:
  void format(const spdlog::details::log_msg& msg, const std::tm&,
              spdlog::memory_buf_t& dest) override {
    using json = nlohmann::json;
    const auto payload =
      std::string_view{msg.payload.data(), msg.payload.size()};
    const auto text =
      json(payload).dump(-1, ' ', false, json::error_handler_t::replace);
    dest.append(text.data(), text.data() + text.size());
  }

  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<quoted_text>();
  }
};

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
  /// What a pipe takes whole or not at all.
  static constexpr size_t max_line = PIPE_BUF;

  bool write_line(std::string_view line) const {
    auto ready = pollfd{fd_.get(), POLLOUT, 0};
    if (poll(&ready, 1, 0) <= 0)
      return false;
    if (line.size() <= max_line)
      return write(fd_.get(), line.data(), line.size()) > 0;
    const auto begin =
      std::string{line.substr(0, max_line - cut_mark.size())}.append(cut_mark);
    return write(fd_.get(), begin.data(), begin.size()) > 0;
  }

  static constexpr auto cut_mark = std::string_view{" [cut]\n"};

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

} // namespace

journal open_log(const logger_settings& settings) {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  if (settings.json)
    formatter->add_flag<quoted_text>('*').set_pattern(
      R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","type":"log",)"
      R"("schema":)" TROUPE_JSON_SCHEMA R"(,"level":"%l",)"
      R"("name":"%n","pid":%P,"message":%*})");
  else
    formatter->add_flag<escaped_text>('*').set_pattern("%n[%P] %l: %*");
  const auto sink = std::make_shared<patient_sink>(settings.fd);
  sink->set_formatter(std::move(formatter));
  const auto logger = std::make_shared<spdlog::logger>(
    escape_control_characters(settings.name), sink);
  logger->set_level(level_of(settings.level));
  return [logger](severity how, const std::string& text) {
    logger->log(level_of(how), spdlog::string_view_t{text});
  };
}

} // namespace troupe
