#include "tools/stream_table.hpp"

#include "base/escape.hpp"
#include "messages/attributes.hpp"
#include "messages/io_keys.hpp"
#include "tools/report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace troupe {

namespace {

using nlohmann::json;

uint64_t number_of(const json& x, const char* key) {
  const auto i = x.find(key);
  return i != x.end() && i->is_number_unsigned() ? i->get<uint64_t>() : 0;
}

std::string text_of(const json& x, const char* key) {
  const auto i = x.find(key);
  return i != x.end() && i->is_string() ? i->get<std::string>() : std::string{};
}

} // namespace

query_request stream_question(const proc_id& whose) {
  auto result = query_request{};
  auto& query = result.queries.emplace_back();
  query.keys = {std::string{io_streams_key}};
  if (!whose.nspace.empty())
    query.qualifiers.push_back(
      {std::string{attr::nspace}, 0, value::string(whose.nspace)});
  if (whose.rank <= rank_valid_max)
    query.qualifiers.push_back(
      {std::string{attr::rank}, 0, value::rank(whose.rank)});
  return result;
}

std::vector<stream_row> stream_rows(const wire::reply_body& answer) {
  const auto* result = std::get_if<info_result>(&answer);
  const auto* list =
    result != nullptr ? find(result->infos, io_streams_key) : nullptr;
  return list != nullptr ? stream_rows(to_json(*list))
                         : std::vector<stream_row>{};
}

std::vector<stream_row> stream_rows(const json& list) {
  auto result = std::vector<stream_row>{};
  if (!list.is_array())
    return result;
  for (const auto& x : list) {
    if (!x.is_object())
      continue;
    auto& row = result.emplace_back();
    row.source = {text_of(x, "nspace"),
                  static_cast<uint32_t>(number_of(x, "rank"))};
    row.stream = text_of(x, "stream");
    row.begin = number_of(x, "begin");
    row.end = number_of(x, "end");
    row.is_over = x.value("over", json{}) == json(true);
    const auto sinks = x.find("sinks");
    if (sinks == x.end() || !sinks->is_array())
      continue;
    for (const auto& y : *sinks)
      if (y.is_object())
        row.sinks.push_back({text_of(y, "name"), text_of(y, "policy"),
                             number_of(y, "taken"), number_of(y, "missed")});
  }
  return result;
}

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
