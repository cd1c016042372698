#include "tools/json_output.hpp"

#include "config/json_schema.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace troupe {

namespace {

using nlohmann::json;

std::string dump(json x, int indent) {
  x["schema"] = json_schema;
  return x.dump(indent, ' ', false, json::error_handler_t::replace) + "\n";
}

} // namespace

std::string json_line(json x) {
  return dump(std::move(x), -1);
}

std::string json_document(json x) {
  return dump(std::move(x), 2);
}

std::string json_document(std::string_view name, json items) {
  auto result = json::object();
  result[std::string{name}] = std::move(items);
  return json_document(std::move(result));
}

} // namespace troupe
