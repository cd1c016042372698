#pragma once

#include "actors/jobs/job_options.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// An attribute that says where processes go, taken apart: the value
/// `core:PE=2,OVERSUBSCRIBE` has the name `core` and the words `pe=2` and
/// `oversubscribe`.
class mapping_directive {
public:
  mapping_directive(std::string_view attribute, std::string text);

  /// In lower case.
  const std::string& name() const {
    return name_;
  }

  /// What follows the name; in lower case but for files.
  const std::vector<std::string>& words() const {
    return words_;
  }

  /// Takes the first of the words; empty if there is none.
  std::string take_word();

  /// An error that says the attribute and its value, and `why`.
  caf::error wrong(status code, const std::string& why) const;

  /// The name is none of the policies that are known.
  caf::error unknown_policy(const char* known) const;

  caf::error unknown_modifier(const std::string& word, const char* known) const;

private:
  std::string_view attribute_;
  std::string text_;
  std::string name_;
  std::vector<std::string> words_;
};

/// An object of a node by its name, as all launchers of the field have it.
std::optional<resource_kind> object_named(const std::string& name);

std::string lower_case(std::string text);

bool starts_with(const std::string& text, std::string_view start);

} // namespace troupe
