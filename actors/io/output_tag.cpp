#include "actors/io/output_tag.hpp"

#include "actors/io/output_text.hpp"
#include "config/escape.hpp"

namespace troupe {

namespace {

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

} // namespace

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

} // namespace troupe
