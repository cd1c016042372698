#include "actors/monitors/monitor_kinds.hpp"

#include "config/defaults.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

constexpr size_t longest_name = 64;

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= longest_name
         && std::all_of(text.begin(), text.end(), [](char c) {
              return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
                     || (c >= '0' && c <= '9') || c == '_' || c == '-'
                     || c == '.';
            });
}

} // namespace

caf::error monitor_kinds::add(const std::string& name, maker make) {
  if (!is_name(name) || !make)
    return make_error(status::bad_param,
                      "a kind of monitor is named by at most "
                        + std::to_string(longest_name)
                        + " letters, digits, \"_\", \"-\" and \".\"");
  if (makers_.size() >= defaults::monitor_kinds)
    return make_error(status::out_of_resource,
                      "the node knows " + std::to_string(makers_.size())
                        + " kinds of monitors already");
  if (!makers_.emplace(name, std::move(make)).second)
    return make_error(status::exists, "there is a kind of monitor " + name
                                        + " already: name it otherwise");
  return caf::none;
}

caf::expected<monitor_actor>
monitor_kinds::make(const std::string& name) const {
  const auto i = makers_.find(name);
  if (i != makers_.end())
    return i->second();
  auto known = std::string{};
  for (const auto& x : names())
    known += (known.empty() ? "" : ", ") + x;
  return make_error(
    status::not_supported,
    "there is no kind of monitor \"" + name.substr(0, longest_name)
      + "\" on this node; there are: " + (known.empty() ? "none" : known));
}

std::vector<std::string> monitor_kinds::names() const {
  auto result = std::vector<std::string>{};
  for (const auto& [name, make] : makers_)
    result.push_back(name);
  return result;
}

} // namespace troupe
