#include "tools/ctl_text.hpp"

#include "actors/control/control_directives.hpp"
#include "config/escape.hpp"
#include "messages/attributes.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace troupe {

namespace {

using nlohmann::json;

constexpr std::string_view own_prefix = "troupe.control.";

/// The name of a key in JSON.
std::string name_of(const std::string& key) {
  if (key == attr::event_text_message)
    return "reason";
  if (key == attr::job_ctrl_id)
    return "id";
  if (key == attr::nspace)
    return "nspace";
  if (key == attr::job_ctrl_checkpoint)
    return "checkpoint";
  if (key.rfind(own_prefix, 0) == 0)
    return key.substr(own_prefix.size());
  return key;
}

json shown(const value& x) {
  if (x.type == data_type::bool_)
    return x.truth();
  if (x.type == data_type::status)
    return to_string(static_cast<status>(x.number<int32_t>().value_or(0)));
  if (const auto* text = x.text())
    return *text;
  if (x.type == data_type::proc) {
    const auto procs = procs_of(x);
    return procs.empty() ? json{} : json(to_string(procs.front()));
  }
  if (const auto number = x.number<uint64_t>())
    return *number;
  if (const auto number = x.number<int64_t>())
    return *number;
  if (const auto* y = std::get_if<double>(&x.data))
    return *y;
  const auto* array = x.array();
  if (array == nullptr)
    return nullptr;
  if (const auto infos = infos_of(x); !infos.empty()) {
    auto result = json::object();
    for (const auto& y : infos)
      result[name_of(y.key)] = shown(y.val);
    return result;
  }
  auto result = json::array();
  for (const auto& y : array->elements)
    result.push_back(shown(y));
  return result;
}

size_t count_in(const control_answer& x, std::string_view key) {
  return number<size_t>(x.infos, key).value_or(0);
}

std::string processes(size_t n) {
  return std::to_string(n) + (n == 1 ? " process" : " processes");
}

/// Such as `not reached: job@1:3, job@1:5 and 7 more`.
void add_procs(std::string& line, const control_answer& x, std::string_view key,
               const char* title) {
  const auto* found = find(x.infos, key);
  if (found == nullptr)
    return;
  constexpr size_t max_shown = 8;
  const auto procs = procs_of(*found);
  line += std::string{line.empty() ? "" : "; "} + title;
  for (size_t i = 0; i < procs.size() && i < max_shown; ++i)
    line +=
      (i > 0 ? ", " : " ") + escape_control_characters(to_string(procs[i]));
  if (procs.size() > max_shown)
    line += " and " + std::to_string(procs.size() - max_shown) + " more";
}

constexpr auto columns = std::array<std::pair<const char*, const char*>, 6>{
  {{"ID", "id"},
   {"REQUESTOR", "requestor"},
   {"WHAT", "what"},
   {"STATE", "state"},
   {"STATUS", "status"},
   {"REASON", "reason"}}};

} // namespace

json to_json(const control_answer& x) {
  auto result = json::object();
  result["status"] = to_string(x.code);
  for (const auto& y : x.infos)
    result[name_of(y.key)] = shown(y.val);
  return result;
}

std::string to_text(const control_answer& x) {
  auto result = std::string{};
  const auto add = [&](const std::string& part) {
    result += (result.empty() ? "" : "; ") + part;
  };
  if (find(x.infos, control_key::reached) != nullptr)
    add("reached " + processes(count_in(x, control_key::reached)));
  if (find(x.infos, control_key::cancelled) != nullptr) {
    const auto n = count_in(x, control_key::cancelled);
    add("cancelled " + std::to_string(n) + (n == 1 ? " request" : " requests"));
  }
  if (const auto nspace = text(x.infos, attr::nspace))
    add("started " + escape_control_characters(*nspace));
  return result;
}

std::string complaint_of(const control_answer& x) {
  auto result = text(x.infos, attr::event_text_message).value_or("");
  if (x.code == status::lost_connection)
    result = "the DVM was lost before it answered: it may have done it or not";
  else if (result.empty())
    result = "refused: " + to_string(x.code);
  result = escape_control_characters(result);
  add_procs(result, x, control_key::absent, "not running:");
  add_procs(result, x, control_key::missing, "not done to:");
  return result;
}

int exit_status_of(const control_answer& x) {
  switch (x.code) {
    case status::success:
    case status::operation_succeeded:
      return 0;
    case status::partial_success:
      return 3;
    case status::timeout:
      return 124;
    default:
      return 1;
  }
}

json read_requests(const value& x) {
  auto result = json::array();
  for (const auto& item : infos_of(x))
    if (auto request = shown(item.val); request.is_object())
      result.push_back(std::move(request));
  return result;
}

std::string requests_to_text(const json& x) {
  using row = std::array<std::string, columns.size()>;
  auto rows = std::vector<row>(1);
  for (size_t i = 0; i < columns.size(); ++i)
    rows.front()[i] = columns[i].first;
  for (const auto& item : x) {
    auto& next = rows.emplace_back();
    for (size_t i = 0; i < columns.size(); ++i) {
      const auto found = item.find(columns[i].second);
      next[i] = found == item.end() ? "-"
                : found->is_string()
                  ? escape_control_characters(found->get<std::string>())
                  : found->dump();
    }
  }
  auto widths = std::array<size_t, columns.size()>{};
  for (const auto& y : rows)
    for (size_t i = 0; i < y.size(); ++i)
      widths[i] = std::max(widths[i], y[i].size());
  auto result = std::string{};
  for (const auto& y : rows) {
    auto line = std::string{};
    for (size_t i = 0; i < y.size(); ++i)
      line += y[i] + std::string(widths[i] + 2 - y[i].size(), ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + '\n';
  }
  return result;
}

} // namespace troupe
