#include "tools/stream_table.hpp"

#include "messages/attributes.hpp"
#include "messages/io_keys.hpp"
#include "tools/report.hpp"

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

} // namespace troupe
