#include "base/log_levels.hpp"

#include "base/escape.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace troupe {

namespace {

constexpr auto subjects = std::array<std::string_view, log_subject_count>{
  "daemon", "server", "connections", "collectives", "events", "groups",
  "jobs",   "io",     "monitors",    "networks",    "nodes",
};

constexpr auto severities =
  std::array<std::string_view, 4>{"debug", "info", "warning", "error"};

/// The place of a word in a list.
template <class Words>
std::optional<size_t> place_of(const Words& words, std::string_view word) {
  const auto i = std::find(words.begin(), words.end(), word);
  return i != words.end()
           ? std::optional{static_cast<size_t>(i - words.begin())}
           : std::nullopt;
}

template <class Words>
std::string list_of(const Words& words) {
  auto result = std::string{};
  for (const auto x : words)
    result += (result.empty() ? "" : ", ") + std::string{x};
  return result;
}

std::string in_quotes(std::string_view text) {
  constexpr size_t most = 64;
  return "\"" + escape_control_characters(text.substr(0, most)) + "\"";
}

} // namespace

std::string_view text_of(log_subject x) {
  return subjects[static_cast<size_t>(x)];
}

std::string_view text_of(severity x) {
  return severities[static_cast<size_t>(x)];
}

log_levels::log_levels(severity all) {
  for (auto& x : levels_)
    x.store(static_cast<uint8_t>(all), std::memory_order_relaxed);
}

caf::error log_levels::set(std::string_view words) {
  auto result = std::array<uint8_t, log_subject_count>{};
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = levels_[i].load(std::memory_order_relaxed);
  for (size_t begin = 0; begin <= words.size();) {
    const auto end = std::min(words.find(',', begin), words.size());
    const auto word = words.substr(begin, end - begin);
    begin = end + 1;
    const auto middle = word.find('=');
    const auto name = middle == std::string_view::npos ? std::string_view{}
                                                       : word.substr(0, middle);
    const auto level = place_of(severities, middle == std::string_view::npos
                                              ? word
                                              : word.substr(middle + 1));
    const auto subject = place_of(subjects, name);
    if (middle != std::string_view::npos && !subject)
      return make_error(status::bad_param, in_quotes(name)
                                             + " is no subject of the log; "
                                               "there are "
                                             + list_of(subjects));
    if (!level)
      return make_error(status::bad_param,
                        in_quotes(word)
                          + " sets no level; write SUBJECT=LEVEL or LEVEL, "
                            "which is one of "
                          + list_of(severities));
    if (subject)
      result[*subject] = static_cast<uint8_t>(*level);
    else
      result.fill(static_cast<uint8_t>(*level));
  }
  for (size_t i = 0; i < result.size(); ++i)
    levels_[i].store(result[i], std::memory_order_relaxed);
  return {};
}

void subject_journal::operator()(severity how, const std::string& text) const {
  static const auto none = std::string{};
  if (levels->wants(about, how) && (!admits || admits(how)))
    (*out)({how, about, text, none});
}

journal about(const journal& log, log_subject what) {
  const auto* known = log.target<subject_journal>();
  if (known == nullptr)
    return log;
  auto result = *known;
  result.about = what;
  return result;
}

journal only_if(const journal& log, std::function<bool(severity)> admits) {
  if (const auto* known = log.target<subject_journal>()) {
    auto result = *known;
    result.admits = std::move(admits);
    return result;
  }
  return
    [log, admits = std::move(admits)](severity how, const std::string& text) {
      if (log && admits(how))
        log(how, text);
    };
}

std::shared_ptr<log_levels> log_levels_of(const journal& log) {
  const auto* known = log.target<subject_journal>();
  return known != nullptr ? known->levels : nullptr;
}

} // namespace troupe
