#include "actors/io/output_formatter.hpp"

#include "adapters/log/escape.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>

namespace troupe {

namespace {

/// Source: RFC 4648, section 4.
std::string base64(std::string_view bytes) {
  constexpr auto alphabet = std::string_view{
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"};
  std::string result;
  result.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](size_t k) -> uint32_t {
      return i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0;
    };
    const auto bits = byte(0) << 16 | byte(1) << 8 | byte(2);
    result += alphabet[bits >> 18];
    result += alphabet[bits >> 12 & 63];
    result += i + 1 < bytes.size() ? alphabet[bits >> 6 & 63] : '=';
    result += i + 2 < bytes.size() ? alphabet[bits & 63] : '=';
  }
  return result;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto length = utf8_length(text);
    if (length == 0)
      return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string quote(std::string_view text) {
  using json = nlohmann::json;
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string_view name_of(io_channels channel) {
  switch (channel) {
    case io_channels::stderr_:
      return "stderr";
    case io_channels::stddiag:
      return "stddiag";
    default:
      return "stdout";
  }
}

/// Where to cut `text` so that at most `size` bytes are in front and no
/// character is cut in two.
size_t cut(std::string_view text, size_t size) {
  constexpr size_t longest_character = 4;
  const auto is_inside = [&](size_t i) {
    return (static_cast<uint8_t>(text[i]) & 0xc0) == 0x80;
  };
  for (size_t back = 0; back < longest_character && back < size; ++back)
    if (!is_inside(size - back))
      return size - back;
  return size;
}

bool ends_line(std::string_view text) {
  return !text.empty() && text.back() == '\n';
}

} // namespace

output_formatter::output_formatter(output_format format, clock now)
  : format_(format), now_(std::move(now)) {
  if (!now_)
    now_ = local_time;
}

std::string output_formatter::format(process_output&& x) {
  if (!format_.label && !format_.timestamp && !format_.json)
    return std::move(x.bytes);
  if (first_nspace_.empty())
    first_nspace_ = x.proc.nspace;
  std::string result;
  const auto source = stream{x.proc, x.channel};
  if (x.bytes.empty()) {
    if (const auto last = unfinished_.extract(source); !last.empty())
      add_line(result, source, last.mapped());
    return result;
  }
  auto pos = unfinished_.find(source);
  auto kept = pos != unfinished_.end() ? std::move(pos->second) : std::string{};
  auto rest = std::string_view{x.bytes};
  while (!rest.empty()) {
    // Only new bytes are searched: a long line costs what short ones do.
    const auto newline = rest.find('\n');
    auto part =
      rest.substr(0, newline == std::string_view::npos ? newline : newline + 1);
    rest.remove_prefix(part.size());
    while (kept.size() + part.size() - (ends_line(part) ? 1 : 0) > max_line) {
      const auto room = cut(part, max_line - kept.size());
      kept += part.substr(0, room);
      part.remove_prefix(room);
      add_line(result, source, kept);
      kept.clear();
    }
    if (!ends_line(part)) {
      kept += part;
    } else if (kept.empty()) {
      add_line(result, source, part);
    } else {
      kept += part;
      add_line(result, source, kept);
      kept.clear();
    }
  }
  if (kept.empty() && pos != unfinished_.end())
    unfinished_.erase(pos);
  else if (!kept.empty())
    unfinished_[source] = std::move(kept);
  return result;
}

void output_formatter::add_line(std::string& result, const stream& source,
                                std::string_view line) const {
  if (format_.json) {
    add_json(result, source, line);
    return;
  }
  if (format_.timestamp)
    result += now_() + ' ';
  if (format_.label)
    result += label_of(source.first);
  result += line;
  if (!ends_line(line))
    result += '\n';
}

void output_formatter::add_json(std::string& result, const stream& source,
                                std::string_view line) const {
  result += R"({"type":"output","nspace":)";
  result += quote(source.first.nspace);
  result += R"(,"rank":)";
  result += std::to_string(source.first.rank);
  result += R"(,"stream":")";
  result += name_of(source.second);
  result += '"';
  if (format_.timestamp) {
    result += R"(,"time":)";
    result += quote(now_());
  }
  if (is_utf8(line)) {
    result += R"(,"data":)";
    result += quote(line);
  } else {
    result += R"(,"data_base64":")";
    result += base64(line);
    result += '"';
  }
  result += "}\n";
}

std::string output_formatter::label_of(const proc_id& proc) const {
  auto result = std::to_string(proc.rank) + ": ";
  if (proc.nspace == first_nspace_)
    return result;
  return escape_control_characters(proc.nspace) + '/' + result;
}

bool output_formatter::on_stderr(io_channels channel) const noexcept {
  return !format_.json && channel != io_channels::stdout_;
}

std::string local_time() {
  using namespace std::chrono;
  const auto now = system_clock::now();
  const auto seconds = system_clock::to_time_t(now);
  const auto since = now.time_since_epoch();
  const auto ms = duration_cast<milliseconds>(since).count() % 1000;
  std::tm local{};
  localtime_r(&seconds, &local);
  char date[32];
  char zone[8];
  std::strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &local);
  std::strftime(zone, sizeof(zone), "%z", &local); // +0100
  char result[64];
  std::snprintf(result, sizeof(result), "%s.%03d%.3s:%.2s", date,
                static_cast<int>(ms), zone, zone + 3);
  return result;
}

} // namespace troupe
