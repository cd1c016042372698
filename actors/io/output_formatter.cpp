#include "actors/io/output_formatter.hpp"

#include "actors/io/output_text.hpp"
#include "config/escape.hpp"
#include "config/json_schema.hpp"

namespace troupe {

namespace {

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
