#include "tools/event_text.hpp"

#include "base/escape.hpp"
#include "messages/attributes.hpp"
#include "tools/report.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>
#include <utility>

namespace troupe {

namespace {

using nlohmann::json;

template <class T>
std::optional<T> read_number(std::string_view text) {
  auto result = T{};
  const auto* end = text.data() + text.size();
  const auto [at, failure] = std::from_chars(text.data(), end, result);
  if (failure != std::errc{} || at != end)
    return std::nullopt;
  return result;
}

bool is_number(std::string_view text) {
  const auto digits = text.substr(!text.empty() && text.front() == '-' ? 1 : 0);
  return !digits.empty()
         && std::all_of(digits.begin(), digits.end(),
                        [](unsigned char c) { return std::isdigit(c) != 0; });
}

caf::error bad(std::string why) {
  return make_error(status::bad_param, std::move(why));
}

std::string in_quotes(const std::string& text) {
  return "\"" + escape_control_characters(text) + "\"";
}

constexpr std::pair<data_range, const char*> ranges[] = {
  {data_range::undef, "undefined"}, {data_range::rm, "rm"},
  {data_range::local, "local"},     {data_range::nspace, "namespace"},
  {data_range::session, "session"}, {data_range::global, "global"},
  {data_range::custom, "custom"},   {data_range::proc_local, "proc-local"},
  {data_range::invalid, "invalid"}};

bool is_result_of_handler(status x) {
  return x >= status::action_complete && x <= status::no_action_taken;
}

} // namespace

caf::expected<status> read_event_code(const std::string& text) {
  if (is_number(text)) {
    const auto number = read_number<int32_t>(text);
    if (!number || *number >= 0 || *number == INT32_MIN)
      return bad(in_quotes(text)
                 + " is no code of an event; give one from -2147483647 to -1, "
                   "or a name such as PMIX_ERR_PROC_ABORTED");
    return static_cast<status>(*number);
  }
  auto name = text;
  for (auto& c : name)
    c = c == '-'
          ? '_'
          : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  for (const auto* prefix : {"", "PMIX_", "PMIX_EVENT_", "PMIX_ERR_"})
    if (const auto code = status_named(prefix + name);
        code && *code != status::success)
      return *code;
  return bad("there is no event " + in_quotes(text)
             + "; give a number or a name such as PMIX_ERR_PROC_ABORTED");
}

caf::expected<data_range> read_event_range(const std::string& text) {
  for (const auto x : {data_range::local, data_range::nspace,
                       data_range::session, data_range::global, data_range::rm})
    if (text == to_string(x))
      return x;
  return bad("there is no range " + in_quotes(text)
             + "; it is local, namespace, session, global or rm");
}

std::string to_string(data_range x) {
  for (const auto& [range, name] : ranges)
    if (range == x)
      return name;
  return std::to_string(static_cast<int>(x));
}

caf::expected<proc_id> read_proc(const std::string& text) {
  const auto colon = text.rfind(':');
  auto result = proc_id{text.substr(0, colon), rank_wildcard};
  if (result.nspace.empty() || result.nspace.size() > max_nspace_length)
    return bad(in_quotes(text) + " names no process; write NAMESPACE:RANK");
  if (colon == std::string::npos || text.substr(colon + 1) == "*")
    return result;
  const auto rank =
    read_number<uint32_t>(std::string_view{text}.substr(colon + 1));
  if (!rank || *rank > rank_valid_max)
    return bad(in_quotes(text)
               + " names no process: its rank is a number, or * "
                 "for all; write NAMESPACE:0");
  result.rank = *rank;
  return result;
}

caf::expected<info> read_event_info(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return bad(in_quotes(text)
               + " is no information; write KEY=TEXT or "
                 "KEY:TYPE=VALUE");
  auto key = text.substr(0, equals);
  auto type = std::string{"string"};
  const auto content = text.substr(equals + 1);
  if (const auto colon = key.rfind(':'); colon != std::string::npos) {
    type = key.substr(colon + 1);
    key.resize(colon);
  }
  if (key.empty() || key.size() > max_key_length)
    return bad("a key has 1 to " + std::to_string(max_key_length)
               + " bytes, unlike that of " + in_quotes(text)
               + "; choose another");
  const auto wrong = [&] {
    return bad(
      in_quotes(content) + " is no " + type + " (in " + in_quotes(text)
      + "); write a value of that type, or leave out the type for a text");
  };
  if (type == "string")
    return info{key, 0, value::string(content)};
  if (type == "bool") {
    if (content != "true" && content != "false")
      return wrong();
    return info{key, 0, value::boolean(content == "true")};
  }
  if (type == "int") {
    if (const auto x = read_number<int32_t>(content))
      return info{key, 0, value::integer(*x)};
    return wrong();
  }
  if (type == "uint32") {
    if (const auto x = read_number<uint32_t>(content))
      return info{key, 0, value::uint32(*x)};
    return wrong();
  }
  if (type == "uint64") {
    if (const auto x = read_number<uint64_t>(content))
      return info{key, 0, value::uint64(*x)};
    return wrong();
  }
  if (type == "status") {
    if (const auto x = read_number<int32_t>(content))
      return info{key, 0, value::of_status(*x)};
    if (const auto x = status_named(content))
      return info{key, 0, value::of_status(static_cast<int32_t>(*x))};
    return wrong();
  }
  return bad("there is no type " + in_quotes(type)
             + "; it is string, bool, int, uint32, uint64 or status");
}

std::vector<proc_id> affected_by(const event& x) {
  auto result = std::vector<proc_id>{};
  for (const auto key : {attr::event_affected_proc, attr::event_affected_procs})
    if (const auto* found = find(x.infos, key))
      for (auto& proc : procs_of(*found))
        result.push_back(std::move(proc));
  return result;
}

std::vector<status> named_event_codes() {
  auto result = std::set<status>{};
#define TROUPE_STATUS(name, number, c_name) result.insert(status::name);
#include "messages/status.def"
#undef TROUPE_STATUS
  result.erase(status::success);
  for (auto i = result.begin(); i != result.end();)
    i = is_result_of_handler(*i) ? result.erase(i) : std::next(i);
  return {result.begin(), result.end()};
}

// -- what servers keep -------------------------------------------------------

std::vector<numbered_event> read_retained(const value& answer) {
  auto result = std::vector<numbered_event>{};
  for (const auto& entry : infos_of(answer)) {
    auto& x = result.emplace_back();
    x.nspace = entry.key;
    // Ours come first, then those of the event.
    auto has_number = false;
    auto has_code = false;
    auto has_source = false;
    auto has_range = false;
    for (auto& y : infos_of(entry.val)) {
      if (y.key == "troupe.event.number" && !std::exchange(has_number, true))
        x.number = y.val.number<uint64_t>().value_or(0);
      else if (y.key == "troupe.event.code" && !std::exchange(has_code, true))
        x.what.code = static_cast<status>(y.val.number<int32_t>().value_or(0));
      else if (y.key == attr::procid && y.val.proc() != nullptr
               && !std::exchange(has_source, true))
        x.what.source = *y.val.proc();
      else if (y.key == "troupe.event.range" && !std::exchange(has_range, true))
        x.what.range =
          static_cast<data_range>(y.val.number<uint8_t>().value_or(0));
      else
        x.what.infos.push_back(std::move(y));
    }
  }
  return result;
}

// -- how events are shown ----------------------------------------------------

namespace {

json proc_json(const proc_id& x) {
  auto result = json{{"nspace", x.nspace}, {"rank", x.rank}};
  if (x.rank == rank_wildcard)
    result["rank"] = "*";
  else if (x.rank == rank_undef)
    result["rank"] = nullptr;
  return result;
}

bool is_of_manager(const proc_id& x) {
  return x.nspace.empty();
}

/// A value of an info, processes among them.
json info_json(const value& x) {
  if (const auto* proc = x.proc())
    return to_string(*proc);
  if (auto procs = procs_of(x); !procs.empty()) {
    auto result = json::array();
    for (const auto& proc : procs)
      result.push_back(to_string(proc));
    return result;
  }
  return to_json(x);
}

bool is_shown_elsewhere(const std::string& key) {
  return key == attr::event_affected_proc || key == attr::event_affected_procs;
}

} // namespace

json to_json(const numbered_event& x) {
  const auto& what = x.what;
  auto result = json{{"type", "event"},
                     {"code", static_cast<int32_t>(what.code)},
                     {"name", to_string(what.code)},
                     {"source", nullptr},
                     {"range", to_string(what.range)},
                     {"affected", json::array()},
                     {"infos", json::object()}};
  if (!is_of_manager(what.source))
    result["source"] = proc_json(what.source);
  for (const auto& proc : affected_by(what))
    result["affected"].push_back(proc_json(proc));
  for (const auto& y : what.infos)
    if (!is_shown_elsewhere(y.key))
      result["infos"][y.key] = info_json(y.val);
  if (x.number != 0)
    result["number"] = x.number;
  if (!x.nspace.empty())
    result["nspace"] = x.nspace;
  return result;
}

std::string to_text(const numbered_event& x) {
  const auto& what = x.what;
  auto result = std::string{};
  if (x.number != 0)
    result += x.nspace + " " + std::to_string(x.number) + " ";
  const auto name = to_string(what.code);
  const auto number = std::to_string(static_cast<int32_t>(what.code));
  result += name;
  if (name != number)
    result += " (" + number + ")";
  result += " from "
            + (is_of_manager(what.source) ? std::string{"the resource manager"}
                                          : to_string(what.source));
  if (what.range != data_range::undef)
    result += " to " + to_string(what.range);
  auto separator = ", about ";
  for (const auto& proc : affected_by(what))
    result += std::exchange(separator, " ") + to_string(proc);
  for (const auto& y : what.infos) {
    if (is_shown_elsewhere(y.key))
      continue;
    const auto shown = info_json(y.val);
    result +=
      " " + y.key + "="
      + (shown.is_string()
           ? shown.get<std::string>()
           : shown.dump(-1, ' ', false, json::error_handler_t::replace));
  }
  return escape_control_characters(result);
}

} // namespace troupe
