#include "actors/jobs/mapping_directive.hpp"

#include "messages/status.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace troupe {

namespace {

constexpr std::array<std::pair<resource_kind, std::string_view>, 10> kind_names{
  {
    {resource_kind::none, "none"},
    {resource_kind::slot, "slot"},
    {resource_kind::hwthread, "hwthread"},
    {resource_kind::core, "core"},
    {resource_kind::l1, "l1cache"},
    {resource_kind::l2, "l2cache"},
    {resource_kind::l3, "l3cache"},
    {resource_kind::numa, "numa"},
    {resource_kind::package, "package"},
    {resource_kind::node, "node"},
  }};

} // namespace

mapping_directive::mapping_directive(std::string_view attribute,
                                     std::string text)
  : attribute_(attribute), text_(std::move(text)) {
  auto end = std::min(text_.find(':'), text_.size());
  name_ = lower_case(text_.substr(0, end));
  while (end < text_.size()) {
    const auto begin = end + 1;
    // The name of a file may have any character.
    if (lower_case(text_.substr(begin, 5)) == "file=") {
      words_.push_back("file=" + text_.substr(begin + 5));
      return;
    }
    end = std::min(text_.find_first_of(":,", begin), text_.size());
    if (end > begin)
      words_.push_back(lower_case(text_.substr(begin, end - begin)));
  }
}

std::string mapping_directive::take_word() {
  if (words_.empty())
    return {};
  auto result = std::move(words_.front());
  words_.erase(words_.begin());
  return result;
}

caf::error mapping_directive::wrong(status code, const std::string& why) const {
  return make_error(code,
                    std::string{attribute_} + " is \"" + text_ + "\": " + why);
}

caf::error mapping_directive::unknown_policy(const char* known) const {
  return wrong(status::not_supported,
               "\"" + name_ + "\" is no policy; known are " + known);
}

caf::error mapping_directive::unknown_modifier(const std::string& word,
                                               const char* known) const {
  return wrong(status::not_supported,
               "\"" + word + "\" is no modifier; known are " + known);
}

std::optional<resource_kind> object_named(const std::string& name) {
  // Other words of the field for the same things.
  if (name == "socket")
    return resource_kind::package;
  if (name == "cpu")
    return resource_kind::hwthread;
  for (const auto& [kind, text] : kind_names)
    if (text == name)
      return kind;
  return std::nullopt;
}

std::string lower_case(std::string text) {
  for (auto& c : text)
    c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return text;
}

bool starts_with(const std::string& text, std::string_view start) {
  return text.compare(0, start.size(), start) == 0;
}

std::string to_string(resource_kind kind) {
  for (const auto& [x, text] : kind_names)
    if (x == kind)
      return std::string{text};
  return "slot";
}

} // namespace troupe
