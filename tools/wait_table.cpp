#include "tools/wait_table.hpp"

#include "base/escape.hpp"
#include "tools/report.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe {

namespace {

using nlohmann::json;

/// Processes of a group that are named.
constexpr size_t most_named = 8;

constexpr uint64_t second_ms = 1000;

std::string text_of(const json& x, std::string_view key) {
  const auto i = x.find(key);
  return i != x.end() && i->is_string() ? i->get<std::string>() : std::string{};
}

uint64_t amount_of(const json& x, std::string_view key) {
  const auto i = x.find(key);
  return i != x.end() && i->is_number_unsigned() ? i->get<uint64_t>() : 0;
}

std::set<std::string> texts_of(const json& x, std::string_view key) {
  auto result = std::set<std::string>{};
  const auto i = x.find(key);
  if (i != x.end() && i->is_array())
    for (const auto& y : *i)
      if (y.is_string())
        result.insert(y.get<std::string>());
  return result;
}

/// What the members of a group do; empty: they wait for nobody.
std::string call_of(const json& group) {
  const auto phase = text_of(group, "phase");
  if (phase == "constructing")
    return "group construct";
  if (phase == "inviting")
    return "group invitation";
  return phase == "destructing" ? "group destruct" : std::string{};
}

/// Null: it waits for nobody.
json row_of_group(const json& group) {
  const auto call = call_of(group);
  const auto missing = texts_of(group, "missing");
  if (call.empty() || missing.empty())
    return nullptr;
  auto all = texts_of(group, "members");
  all.insert(missing.begin(), missing.end());
  auto named = json::array();
  for (const auto& x : missing)
    if (named.size() < most_named) {
      auto name = json::object();
      name["proc"] = x;
      named.push_back(std::move(name));
    }
  const auto& first = *missing.begin();
  const auto others = missing.size() - named.size();
  return {{"kind", call},
          {"group", text_of(group, "id")},
          {"job", first.substr(0, first.rfind(':'))},
          {"size", all.size()},
          {"joined", all.size() - missing.size()},
          {"missing", std::move(named)},
          {"others", others},
          {"unknown", 0u}};
}

std::string names_of(const json& row) {
  auto result = std::string{};
  const auto add = [&](const std::string& x) {
    result += (result.empty() ? "" : ", ") + x;
  };
  if (const auto i = row.find("missing"); i != row.end() && i->is_array())
    for (const auto& x : *i)
      if (x.is_object()) {
        const auto host = text_of(x, "host");
        add(text_of(x, "proc") + (host.empty() ? "" : " on " + host));
      }
  if (const auto others = amount_of(row, "others"); others > 0)
    add(std::to_string(others) + " more");
  if (const auto unknown = amount_of(row, "unknown"); unknown > 0)
    add(std::to_string(unknown) + " of nodes that do not answer");
  return result.empty() ? "its end" : result;
}

std::string seconds_of(const json& row) {
  if (!row.contains("age_ms"))
    return "-";
  const auto i = row.find("at_least");
  const auto is_at_least = i != row.end() && i->is_boolean() && i->get<bool>();
  return std::to_string(amount_of(row, "age_ms") / second_ms)
         + (is_at_least ? "+" : "");
}

} // namespace

json wait_rows(const json& operations, const json& groups) {
  auto result = json::array();
  if (operations.is_array())
    for (const auto& x : operations)
      if (x.is_object())
        result.push_back(x);
  if (groups.is_array())
    for (const auto& x : groups)
      if (x.is_object())
        if (auto row = row_of_group(x); !row.is_null())
          result.push_back(std::move(row));
  return result;
}

std::string wait_text(const json& rows) {
  auto table = std::vector<std::vector<std::string>>{
    {"JOB", "CALL", "CALLED", "SECONDS", "ID", "WAITS FOR"}};
  for (const auto& x : rows) {
    const auto group = text_of(x, "group");
    const auto id = text_of(x, "id");
    auto& row = table.emplace_back();
    row = {text_of(x, "job"),
           text_of(x, "kind") + (group.empty() ? "" : " " + group),
           std::to_string(amount_of(x, "joined")) + " of "
             + std::to_string(amount_of(x, "size")),
           seconds_of(x),
           id.empty() ? "-" : id,
           names_of(x)};
    for (auto& y : row)
      y = escape_control_characters(y);
  }
  return align(table);
}

} // namespace troupe
