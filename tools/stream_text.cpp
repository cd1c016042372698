#include "tools/stream_text.hpp"

#include "config/escape.hpp"
#include "tools/report.hpp"

#include <fmt/format.h>

namespace troupe {

namespace {

/// Such as `node 2: block, 1048576 (7 missed)`.
std::string text_of(const sink_row& x) {
  auto result = escape_control_characters(x.name) + ": "
                + escape_control_characters(x.policy) + ", "
                + std::to_string(x.taken);
  if (x.missed > 0)
    result += " (" + std::to_string(x.missed) + " missed)";
  return result;
}

} // namespace

std::string streams_text(const std::vector<stream_row>& rows) {
  auto cells = std::vector<std::vector<std::string>>{
    {"JOB", "RANK", "STREAM", "BEGIN", "END", "STATE", "SINKS"}};
  for (const auto& x : rows) {
    auto& line = cells.emplace_back();
    line = {escape_control_characters(x.source.nspace),
            std::to_string(x.source.rank),
            escape_control_characters(x.stream),
            std::to_string(x.begin),
            std::to_string(x.end),
            x.is_over ? "over" : "open",
            x.sinks.empty() ? "-" : text_of(x.sinks.front())};
    for (size_t i = 1; i < x.sinks.size(); ++i)
      cells.push_back({"", "", "", "", "", "", text_of(x.sinks[i])});
  }
  return align(cells);
}

std::string offsets_text(const std::vector<stream_row>& rows) {
  auto result = std::string{};
  for (const auto& x : rows)
    result += fmt::format("{}:{} {} {} {} {}\n",
                          escape_control_characters(x.source.nspace),
                          x.source.rank, escape_control_characters(x.stream),
                          x.begin, x.end, x.is_over ? "over" : "open");
  return result;
}

} // namespace troupe
