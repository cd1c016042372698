#include "actors/io/output_formatter.hpp"

#include "actors/io/defaults.hpp"
#include "base/escape.hpp"
#include "base/json_schema.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace troupe {

namespace {

/// Where Unicode has a picture of each control character.
constexpr int control_pictures = 0x2400;

/// U+FFFE and U+FFFF. Source: XML 1.0, "Char".
bool is_no_xml_character(std::string_view x) {
  return x == "\xef\xbf\xbe" || x == "\xef\xbf\xbf";
}

/// The part of a namespace that names the job: behind the last `@`.
std::string_view job_of(std::string_view nspace) {
  const auto at = nspace.rfind('@');
  return at == std::string_view::npos ? nspace : nspace.substr(at + 1);
}

std::string number_or_unknown(uint32_t pid) {
  return pid == 0 ? "unknown" : std::to_string(pid);
}

std::string host_of(const output_place& place) {
  return place.host.empty() ? "unknown" : place.host;
}

std::string shown_time(const output_format& format, std::string_view iso) {
  return format.iso_time ? std::string{iso} : to_ctime(iso);
}

bool has_pmix_tag(const output_format& format) {
  return format.tag || format.tag_detailed || format.tag_fullname
         || format.rank;
}

std::string own_label(const output_format& format, const line_origin& from) {
  std::string result;
  if (!from.time.empty())
    result += std::string{from.time} + ' ';
  if (!format.label)
    return result;
  const auto& source = from.stream.source;
  if (source.nspace != from.first_nspace)
    result += escape_control_characters(source.nspace) + '/';
  return result + std::to_string(source.rank) + ": ";
}

/// The brackets before `<stdout>: `.
std::string brackets(const output_format& format, const line_origin& from) {
  const auto& source = from.stream.source;
  const auto rank = std::to_string(source.rank);
  const auto with = [&](std::string_view nspace) {
    return '[' + escape_control_characters(nspace) + ',' + rank + ']';
  };
  if (format.tag)
    return with(job_of(source.nspace));
  if (format.tag_detailed)
    return with(format.tag_fullname ? source.nspace : job_of(source.nspace))
           + '[' + escape_control_characters(host_of(from.place)) + ':'
           + number_or_unknown(from.place.pid) + ']';
  if (format.tag_fullname)
    return with(source.nspace);
  return '[' + rank + ']';
}

void add_attribute(std::string& result, std::string_view name,
                   std::string_view text) {
  result += ' ';
  result += name;
  result += "=\"";
  append_xml(result, text, true);
  result += '"';
}

bool ends_line(std::string_view text) {
  return !text.empty() && text.back() == '\n';
}

/// @param time Empty: not shown.
std::string json_source(const io_stream& x, const std::string& time) {
  auto result = R"("nspace":)" + to_json_string(x.source.nspace);
  result += R"(,"rank":)" + std::to_string(x.source.rank);
  result += R"(,"stream":")" + std::string{stream_name(x.channel)} + '"';
  if (!time.empty())
    result += R"(,"time":)" + to_json_string(time);
  return result;
}

} // namespace

std::string_view stream_name(io_channels channel) {
  switch (channel) {
    case io_channels::stderr_:
      return "stderr";
    case io_channels::stddiag:
      return "stddiag";
    default:
      return "stdout";
  }
}

size_t cut_position(std::string_view text, size_t size) {
  constexpr size_t longest_character = 4;
  const auto is_inside = [&](size_t i) {
    return (static_cast<uint8_t>(text[i]) & 0xc0) == 0x80;
  };
  for (size_t back = 0; back < longest_character && back < size; ++back)
    if (!is_inside(size - back))
      return size - back;
  return size;
}

bool is_utf8(std::string_view text) {
  constexpr uint64_t high_bits = 0x8080808080808080;
  while (!text.empty()) {
    // Mostly it is ASCII.
    uint64_t eight = 0;
    if (text.size() >= sizeof(eight)) {
      std::memcpy(&eight, text.data(), sizeof(eight));
      if ((eight & high_bits) == 0) {
        text.remove_prefix(sizeof(eight));
        continue;
      }
    }
    const auto length = utf8_length(text);
    if (length == 0)
      return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string to_base64(std::string_view bytes) {
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

std::string to_json_string(std::string_view text) {
  using json = nlohmann::json;
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

void append_json(std::string& result, std::string_view text) {
  result += '"';
  size_t shown = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<uint8_t>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\')
      continue;
    result += text.substr(shown, i - shown);
    shown = i + 1;
    char number[8];
    switch (c) {
      case '"':
      case '\\':
        result += '\\';
        result += text[i];
        break;
      case '\n':
        result += "\\n";
        break;
      case '\t':
        result += "\\t";
        break;
      case '\r':
        result += "\\r";
        break;
      case '\b':
        result += "\\b";
        break;
      case '\f':
        result += "\\f";
        break;
      default:
        std::snprintf(number, sizeof(number), "\\u%04x", c);
        result += number;
    }
  }
  result += text.substr(shown);
  result += '"';
}

void append_xml(std::string& result, std::string_view text, bool in_attribute) {
  size_t shown = 0;
  const auto replace = [&](size_t at, size_t length, const char* entity) {
    result += text.substr(shown, at - shown);
    result += entity;
    shown = at + length;
  };
  char number[8];
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<uint8_t>(text[i]);
    if (c == '&') {
      replace(i, 1, "&amp;");
    } else if (c == '<') {
      replace(i, 1, "&lt;");
    } else if (c == '>') {
      replace(i, 1, "&gt;");
    } else if (c == '"' && in_attribute) {
      replace(i, 1, "&quot;");
    } else if (const auto length = c < 0x80 ? 0 : utf8_length(text.substr(i));
               length > 0 && !is_no_xml_character(text.substr(i, length))) {
      i += length - 1;
    } else if (c < 0x20 && c != '\t' && c != '\n' && c != '\r') {
      std::snprintf(number, sizeof(number), "&#%d;", control_pictures + c);
      replace(i, 1, number);
    } else if (c < 0x20 || c >= 0x7f) {
      std::snprintf(number, sizeof(number), "&#%03d;", c);
      replace(i, 1, number);
    }
  }
  result += text.substr(shown);
}

std::string to_ctime(std::string_view iso) {
  constexpr std::array<const char*, 7> days{"Sun", "Mon", "Tue", "Wed",
                                            "Thu", "Fri", "Sat"};
  constexpr std::array<const char*, 12> months{"Jan", "Feb", "Mar", "Apr",
                                               "May", "Jun", "Jul", "Aug",
                                               "Sep", "Oct", "Nov", "Dec"};
  std::string text{iso};
  unsigned year = 0;
  unsigned month = 0;
  unsigned day = 0;
  char time[9] = {};
  if (std::sscanf(text.c_str(), "%4u-%2u-%2uT%8[0-9:]", &year, &month, &day,
                  time)
        != 4
      || month < 1 || month > 12 || day < 1 || day > 31)
    return text;
  // Zeller's congruence: January and February belong to the year before.
  const auto y = month < 3 ? year - 1 : year;
  const auto m = month < 3 ? month + 12 : month;
  const auto weekday =
    (day + 13 * (m + 1) / 5 + y + y / 4 - y / 100 + y / 400 + 6) % 7;
  char result[64];
  std::snprintf(result, sizeof(result), "%s %s %2u %s %u", days[weekday],
                months[month - 1], day, time, year);
  return result;
}

bool is_formatted(const output_format& format) noexcept {
  return format.label || format.timestamp || format.json || format.tag
         || format.tag_detailed || format.tag_fullname || format.rank
         || format.xml;
}

std::string line_prefix(const output_format& format, const line_origin& from) {
  const auto is_tagged = has_pmix_tag(format);
  if (!is_tagged && (format.label || format.iso_time))
    return own_label(format, from);
  const auto stream =
    '<' + std::string{stream_name(from.stream.channel)} + ">: ";
  std::string result;
  if (!from.time.empty()) {
    result += '[' + shown_time(format, from.time) + ']';
    if (!format.tag && !format.rank)
      result += stream;
  }
  if (is_tagged)
    result += brackets(format, from) + stream;
  return result;
}

std::string element_begin(const output_format& format,
                          const line_origin& from) {
  const auto& source = from.stream.source;
  auto result = '<' + std::string{stream_name(from.stream.channel)};
  if (format.tag) {
    const auto job = job_of(source.nspace);
    add_attribute(result,
                  job.size() == source.nspace.size() ? "nspace" : "jobid", job);
  } else if (format.tag_fullname || format.tag_detailed) {
    add_attribute(result, "nspace", source.nspace);
  }
  add_attribute(result, "rank", std::to_string(source.rank));
  if (format.tag_detailed && !format.tag && !format.tag_fullname) {
    add_attribute(result, "hostname", host_of(from.place));
    add_attribute(result, "pid", number_or_unknown(from.place.pid));
  }
  if (!from.time.empty())
    add_attribute(result, "timestamp", shown_time(format, from.time));
  return result + '>';
}

output_formatter::output_formatter(output_format format, clock show_time,
                                   hosts host_of)
  : format_(format), show_time_(std::move(show_time)),
    host_of_(std::move(host_of)), is_formatted_(is_formatted(format)) {
  // nop
}

std::string output_formatter::format(io_fragment&& x) {
  if (!is_formatted_)
    return std::move(x.bytes);
  if (first_nspace_.empty())
    first_nspace_ = x.stream.source.nspace;
  const auto source = stream{x.stream.source, x.stream.channel};
  const auto pos = begun_.find(source);
  auto kept = begun{};
  if (pos != begun_.end()) {
    kept = std::move(pos->second);
    held_ -= kept.line.size();
  }
  std::string result;
  if (x.missed > 0)
    add_gap(result, x, kept);
  result += add_lines(x, kept);
  if (x.is_end && !kept.line.empty())
    add_line(result, make_frame(x, kept.read_at), kept.line);
  if (x.is_end)
    known_hosts_.erase(source);
  const auto is_done = x.is_end || (kept.line.empty() && !kept.is_within_line);
  if (is_done) {
    if (pos != begun_.end())
      begun_.erase(pos);
    return result;
  }
  held_ += kept.line.size();
  if (pos != begun_.end())
    pos->second = std::move(kept);
  else
    begun_.emplace(source, std::move(kept));
  return result;
}

output_place output_formatter::place_of(const io_fragment& x) {
  if (!format_.tag_detailed)
    return {};
  auto& host = known_hosts_[{x.stream.source, x.stream.channel}];
  if (host.empty() && host_of_)
    host = host_of_(x.stream.source);
  return {host, x.pid};
}

output_formatter::frame output_formatter::make_frame(const io_fragment& x,
                                                     int64_t read_at) {
  frame result{x, {}, {}};
  if (format_.timestamp)
    result.time = show_time_ ? show_time_(read_at) : "unknown";
  if (format_.json) {
    result.before = json_source(x.stream, result.time);
    return result;
  }
  const auto place = place_of(x);
  const line_origin from{x.stream, place, result.time, first_nspace_};
  result.before =
    format_.xml ? element_begin(format_, from) : line_prefix(format_, from);
  return result;
}

std::string output_formatter::add_lines(const io_fragment& x, begun& kept) {
  std::string result;
  if (x.bytes.empty())
    return result;
  const auto now = make_frame(x, x.read_at);
  if (format_.raw && !format_.json && !format_.xml) {
    kept.is_within_line = !ends_line(x.bytes);
    return now.before + x.bytes;
  }
  // The first line may have begun earlier.
  const auto earlier = kept.line.empty() ? now : make_frame(x, kept.read_at);
  const auto* how = &earlier;
  const auto show = [&](std::string_view line) {
    add_line(result, *how, line);
    how = &now;
    kept.line.clear();
  };
  if (kept.line.empty())
    kept.read_at = x.read_at;
  result.reserve(x.bytes.size() + kept.line.size() + now.before.size());
  auto rest = std::string_view{x.bytes};
  while (!rest.empty()) {
    // Only new bytes are searched: a long line costs what short ones do.
    const auto newline = rest.find('\n');
    auto part =
      rest.substr(0, newline == std::string_view::npos ? newline : newline + 1);
    rest.remove_prefix(part.size());
    while (kept.line.size() + part.size() - (ends_line(part) ? 1 : 0)
           > max_line) {
      const auto room = cut_position(part, max_line - kept.line.size());
      kept.line += part.substr(0, room);
      part.remove_prefix(room);
      show(kept.line);
      kept.read_at = x.read_at;
    }
    if (ends_line(part) && kept.line.empty()) {
      show(part);
    } else {
      kept.line += part;
      if (ends_line(part))
        show(kept.line);
    }
    if (kept.line.empty())
      kept.read_at = x.read_at;
  }
  const auto is_too_much =
    held_ + kept.line.size() > defaults::io_unfinished_lines;
  if (!kept.line.empty() && (format_.raw || is_too_much))
    show(kept.line);
  return result;
}

void output_formatter::add_gap(std::string& result, const io_fragment& x,
                               begun& kept) {
  if (!kept.line.empty())
    add_line(result, make_frame(x, kept.read_at), kept.line);
  else if (kept.is_within_line)
    result += '\n';
  kept = begun{};
  const auto how = make_frame(x, x.read_at);
  if (format_.json) {
    result += R"({"type":"gap","schema":)" TROUPE_JSON_SCHEMA "," + how.before;
    result += R"(,"bytes":)" + std::to_string(x.missed) + "}\n";
  } else if (format_.xml) {
    result += R"(<gap stream=")";
    result += stream_name(x.stream.channel);
    result += R"(" nspace=")";
    append_xml(result, x.stream.source.nspace, true);
    result += R"(" rank=")" + std::to_string(x.stream.source.rank);
    result += R"(" bytes=")" + std::to_string(x.missed) + "\"/>\n";
  } else {
    result += how.before + missing_line(x.missed);
  }
}

void output_formatter::add_line(std::string& result, const frame& how,
                                std::string_view line) const {
  if (format_.json) {
    add_json(result, how, line);
    return;
  }
  result += how.before;
  if (format_.xml) {
    append_xml(result, line);
    result += "</";
    result += stream_name(how.from.stream.channel);
    result += ">\n";
    return;
  }
  result += line;
  if (!ends_line(line))
    result += '\n';
}

void output_formatter::add_json(std::string& result, const frame& how,
                                std::string_view line) {
  result += R"({"type":"output","schema":)" TROUPE_JSON_SCHEMA ",";
  result += how.before;
  if (is_utf8(line)) {
    result += R"(,"data":)";
    append_json(result, line);
  } else {
    result += R"(,"data_base64":")";
    result += to_base64(line);
    result += '"';
  }
  result += "}\n";
}

bool output_formatter::on_stderr(io_channels channel) const noexcept {
  return !format_.json && !format_.xml && channel != io_channels::stdout_;
}

std::string missing_line(uint64_t missed) {
  return "[troupe: " + std::to_string(missed)
         + (missed == 1 ? " byte is missing here]\n"
                        : " bytes are missing here]\n");
}

std::string missing_notice(const io_stream& stream, uint64_t missed) {
  return "troupe: " + std::to_string(missed)
         + (missed == 1 ? " byte of " : " bytes of ")
         + std::string{stream_name(stream.channel)} + " of "
         + escape_control_characters(to_string(stream.source))
         + (missed == 1 ? " is missing here\n" : " are missing here\n");
}

} // namespace troupe
