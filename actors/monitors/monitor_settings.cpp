#include "actors/monitors/monitor_settings.hpp"

#include "config/defaults.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <utility>

namespace troupe {

namespace {

using fractional_seconds = std::chrono::duration<double>;

/// Every integer up to here is a double.
constexpr double largest_exact = 9007199254740992.0;

bool begins_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

/// Reads the number at the beginning of `text`.
/// @returns what follows it, or nothing if there is none.
std::optional<std::string_view> read_number(std::string_view text,
                                            double& result) {
  const auto* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, result);
  if (error != std::errc{} || !std::isfinite(result))
    return std::nullopt;
  return std::string_view{rest, static_cast<size_t>(end - rest)};
}

std::string shown(caf::timespan x) {
  auto text = std::to_string(std::chrono::duration<double>{x}.count());
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.')
    text.pop_back();
  return text;
}

} // namespace

std::optional<double> decimal(const value& x) {
  if (const auto* number = std::get_if<double>(&x.data))
    return std::isfinite(*number) ? std::optional<double>{*number}
                                  : std::nullopt;
  if (const auto number = x.number<int64_t>())
    return static_cast<double>(*number);
  if (const auto number = x.number<uint64_t>())
    return static_cast<double>(*number);
  const auto* text = x.text();
  if (text == nullptr)
    return std::nullopt;
  auto result = 0.0;
  const auto rest = read_number(*text, result);
  if (!rest || !rest->empty())
    return std::nullopt;
  return result;
}

std::optional<uint64_t> byte_count(const value& x) {
  if (const auto number = x.number<uint64_t>())
    return *number;
  const auto* text = x.text();
  if (text == nullptr)
    return std::nullopt;
  auto number = 0.0;
  const auto rest = read_number(*text, number);
  if (!rest || rest->size() > 1 || number < 0)
    return std::nullopt;
  constexpr auto units = std::string_view{"KMGT"};
  auto factor = 1.0;
  if (!rest->empty()) {
    const auto unit = units.find(rest->front());
    if (unit == std::string_view::npos)
      return std::nullopt;
    factor = std::pow(1024.0, static_cast<double>(unit + 1));
  }
  if (number * factor > largest_exact)
    return std::nullopt;
  return static_cast<uint64_t>(number * factor);
}

monitor_settings_reader::monitor_settings_reader(
  std::string kind, const std::vector<info>& settings)
  : kind_(std::move(kind)),
    settings_(settings), known_{monitor_kind_key, monitor_reaction_key} {
  // nop
}

const value* monitor_settings_reader::take(std::string_view key) {
  known_.push_back(key);
  return find(settings_, key);
}

void monitor_settings_reader::complain(std::string_view key,
                                       const std::string& remedy) {
  if (complaint_.empty())
    complaint_ = "monitor " + kind_ + ": " + std::string{key} + " " + remedy;
}

caf::timespan monitor_settings_reader::seconds(std::string_view key,
                                               caf::timespan otherwise,
                                               caf::timespan least,
                                               caf::timespan most) {
  const auto* x = take(key);
  if (x == nullptr)
    return otherwise;
  const auto number = decimal(*x);
  if (!number || *number < fractional_seconds{least}.count()
      || *number > fractional_seconds{most}.count()) {
    complain(key,
             "must be " + shown(least) + " to " + shown(most) + " seconds");
    return otherwise;
  }
  return std::chrono::duration_cast<caf::timespan>(fractional_seconds{*number});
}

caf::timespan monitor_settings_reader::interval(caf::timespan otherwise) {
  return seconds(monitor_interval_key, otherwise,
                 defaults::monitor_interval_min,
                 defaults::monitor_interval_max);
}

uint32_t monitor_settings_reader::count(std::string_view key,
                                        uint32_t otherwise) {
  const auto* x = take(key);
  if (x == nullptr)
    return otherwise;
  const auto number = decimal(*x);
  if (!number || *number < 0 || *number > UINT32_MAX
      || *number != std::floor(*number)) {
    complain(key, "must be a whole number from 0");
    return otherwise;
  }
  return static_cast<uint32_t>(*number);
}

uint32_t monitor_settings_reader::drops() {
  return count(monitor_drops_key, 0);
}

uint64_t monitor_settings_reader::bytes(std::string_view key, bool is_needed) {
  const auto* x = take(key);
  const auto number = x == nullptr ? std::nullopt : byte_count(*x);
  if (x == nullptr && !is_needed)
    return 0;
  if (number.value_or(0) == 0)
    complain(key, "must be a number of bytes, such as 512M");
  return number.value_or(0);
}

std::string monitor_settings_reader::text(std::string_view key,
                                          bool is_needed) {
  const auto* x = take(key);
  if (x == nullptr && !is_needed)
    return {};
  const auto* text = x == nullptr ? nullptr : x->text();
  if (text == nullptr || text->empty()
      || text->find('\0') != std::string::npos) {
    complain(key, "must be a text");
    return {};
  }
  return *text;
}

caf::error monitor_settings_reader::finish() const {
  if (!complaint_.empty())
    return make_error(status::bad_param, complaint_);
  for (const auto& x : settings_) {
    if (!begins_with(x.key, monitor_key_prefix)
        || std::find(known_.begin(), known_.end(), x.key) != known_.end())
      continue;
    auto wanted = std::string{};
    for (const auto& key : known_)
      wanted += (wanted.empty() ? "" : ", ") + std::string{key};
    return make_error(status::bad_param, "monitor " + kind_ + " has no setting "
                                           + x.key.substr(0, 64) + "; it has "
                                           + wanted);
  }
  return caf::none;
}

} // namespace troupe
