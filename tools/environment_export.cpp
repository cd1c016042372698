#include "tools/environment_export.hpp"

#include "messages/status.hpp"
#include "tools/remote_shell.hpp"

#include <caf/error.hpp>

#include <algorithm>
#include <initializer_list>

namespace troupe {

namespace {

bool begins_with(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}

bool begins_with_any(std::string_view text,
                     std::initializer_list<std::string_view> begins) {
  return std::any_of(begins.begin(), begins.end(),
                     [&](auto begin) { return begins_with(text, begin); });
}

std::string_view trimmed(std::string_view text) {
  constexpr auto blanks = std::string_view{" \t\r"};
  const auto begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// Reads `-x A=b --mca name value` of a file.
caf::error read_options(const std::vector<std::string>& words,
                        const std::string& place, const environment& launcher,
                        variable_list& result) {
  for (size_t i = 0; i < words.size(); ++i) {
    const auto left = words.size() - i - 1;
    if (words[i] == "-x" && left >= 1) {
      auto found = exported_by(words[++i], launcher);
      if (!found)
        return make_error(status::bad_param,
                          place + ": " + reason_of(found.error()));
      result.insert(result.end(), found->begin(), found->end());
    } else if ((words[i] == "--mca" || words[i] == "-mca") && left >= 2) {
      result.push_back("OMPI_MCA_" + words[i + 1] + "=" + words[i + 2]);
      i += 2;
    } else {
      return make_error(status::bad_param,
                        place + ": " + words[i]
                          + " is not understood; write NAME = VALUE, --mca "
                            "NAME VALUE or -x NAME=VALUE");
    }
  }
  return caf::none;
}

} // namespace

caf::expected<variable_list> exported_by(const std::string& word,
                                         const environment& launcher) {
  if (word.find('=') != std::string::npos && word.front() != '=')
    return variable_list{word};
  if (!word.empty() && word.back() == '*') {
    const auto begin = std::string_view{word}.substr(0, word.size() - 1);
    auto result = variable_list{};
    for (const auto& [name, value] : launcher)
      if (begins_with(name, begin))
        result.push_back(name + "=" + value);
    if (result.empty())
      return make_error(status::bad_param,
                        word
                          + ": there is no variable whose name begins so; set "
                            "one, or leave it out");
    return result;
  }
  const auto i = launcher.find(word);
  if (i == launcher.end())
    return make_error(status::bad_param,
                      word + ": there is no such variable; set it, or write "
                        + word + "=VALUE");
  return variable_list{word + "=" + i->second};
}

caf::expected<export_choice> read_export(std::string_view list,
                                         const environment& launcher) {
  auto result = export_choice{};
  result.has_all = false;
  auto is_none = false;
  for (;;) {
    const auto end = std::min(list.find(','), list.size());
    const auto word = std::string{list.substr(0, end)};
    if (word == "ALL") {
      result.has_all = true;
    } else if (word == "NONE" || word == "NIL") {
      is_none = true;
    } else if (word.empty()) {
      return make_error(status::bad_param,
                        "a name is empty; write ALL, NONE or A,B=c");
    } else {
      auto found = exported_by(word, launcher);
      if (!found)
        return std::move(found.error());
      result.variables.insert(result.variables.end(), found->begin(),
                              found->end());
    }
    if (end == list.size())
      break;
    list.remove_prefix(end + 1);
  }
  if (is_none && (result.has_all || !result.variables.empty()))
    return make_error(status::bad_param, "NONE stands alone; leave it out, or "
                                         "the rest");
  return result;
}

caf::expected<variable_list> read_tune_file(std::string_view text,
                                            const std::string& file,
                                            const environment& launcher) {
  auto result = variable_list{};
  for (auto number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto whole = text.substr(0, end);
    const auto line = trimmed(whole.substr(0, whole.find('#')));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty())
      continue;
    const auto place = file + ":" + std::to_string(number);
    if (line.front() == '-') {
      auto words = split_words(line, place);
      if (!words)
        return std::move(words.error());
      if (auto why = read_options(*words, place, launcher, result))
        return why;
      continue;
    }
    const auto sign = line.find('=');
    const auto name = trimmed(line.substr(0, sign));
    if (sign == std::string_view::npos || name.empty())
      return make_error(status::bad_param,
                        place + ": \"" + std::string{line}
                          + "\" is no setting; write NAME = VALUE");
    result.push_back("OMPI_MCA_" + std::string{name} + "="
                     + std::string{trimmed(line.substr(sign + 1))});
  }
  return result;
}

variable_list all_of(const environment& launcher) {
  auto result = variable_list{};
  for (const auto& [name, value] : launcher) {
    const auto is_mark =
      begins_with_any(name, {"PMIX_", "PMI_", "OMPI_COMM_WORLD_", "TROUPE_"})
      && !begins_with(name, "PMIX_MCA_");
    if (!is_mark)
      result.push_back(name + "=" + value);
  }
  return result;
}

std::vector<std::string> settings_of_mpirun(const variable_list& variables) {
  constexpr auto begin = std::string_view{"OMPI_MCA_"};
  auto result = std::vector<std::string>{};
  for (const auto& x : variables) {
    const auto name = std::string_view{x}.substr(0, x.find('='));
    if (begins_with(name, begin)
        && begins_with_any(name.substr(begin.size()),
                           {"orte_", "plm_", "rmaps_", "ras_", "odls_", "oob_",
                            "routed_", "grpcomm_", "rtc_", "state_", "schizo_",
                            "prte_", "hwloc_base_binding_policy"}))
      result.emplace_back(name.substr(begin.size()));
  }
  return result;
}

} // namespace troupe
