#pragma once

#include <caf/error.hpp>
#include <caf/expected.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace troupe {

/// What a site may set. Source: config/settings.def.
enum class setting_id : uint8_t {
#define TROUPE_SETTING(id, name, type, standard, least, most, text) id,
#include "config/settings.def"
#undef TROUPE_SETTING
};

/// What the value of a setting is.
enum class setting_type : uint8_t {
  /// `true` or `false`.
  flag,
  number,
  /// With a unit or without: `4194304`, `4M`, `1G`.
  bytes,
  /// With its unit: `250ms`, `30s`, `5m`, `1h`.
  time,
};

/// A row of the table of settings.
struct setting_info {
  setting_id id;

  /// Section and key, with a dot.
  std::string_view name;
  setting_type type;

  /// Values: bytes, milliseconds, or 0 and 1. The default need not be within
  /// the bounds: then it means what `text` says.
  uint64_t standard;
  uint64_t least;
  uint64_t most;

  /// What it does, in a sentence without its end.
  std::string_view text;

  bool allows(uint64_t value) const noexcept {
    return value == standard || (value >= least && value <= most);
  }
};

/// All settings, in the order of their identifiers.
const std::vector<setting_info>& all_settings();

const setting_info& info_of(setting_id id);

/// @returns null for a name that is none.
const setting_info* find_setting(std::string_view name);

/// The variable of the environment that holds it: `TROUPE_EVENTS_HISTORY`.
std::string variable_of(const setting_info& x);

/// What it is counted in: `bytes`, `ms`, or nothing.
std::string_view unit_of(const setting_info& x);

/// A value as people write it: `true`, `512`, `4M`, `30s`.
std::string text_of(const setting_info& x, uint64_t value);

/// The values that it may have, as people write them: `true or false`,
/// `1 to 4096`, `0, or 1M to 32M`.
std::string bounds_of(const setting_info& x);

/// Reads a value as people write it.
/// @returns `bad_param` with the end of a sentence that begins with what was set:
///          `is "x", not a number ...; write ...`.
caf::expected<uint64_t> parse_setting(const setting_info& x,
                                      std::string_view text);

/// What has been set, and by whom; the last one counts. What nobody has set has
/// its default.
class site_settings {
public:
  /// @param origin Who sets it, for people: a file and its line, a variable.
  /// @returns `bad_param` in a sentence that begins with `origin`, for a value
  ///          out of bounds.
  caf::error set(setting_id id, uint64_t value, std::string origin);

  /// The same with a value as people write it.
  caf::error set(setting_id id, std::string_view text, std::string origin);

  /// Understands `name=value`.
  /// @param origin Such as `--set`.
  /// @returns `bad_param` in a sentence with the remedy.
  caf::error apply_word(std::string_view word, const std::string& origin);

  /// The same for several; stops at the first that is wrong.
  caf::error apply_words(const std::vector<std::string>& words,
                         const std::string& origin);

  /// Takes what the environment sets.
  /// @param variables `NAME=value`, a null behind the last, as `environ` is;
  ///                  null: there are none.
  /// @returns `bad_param` in a sentence with the remedy, also for a variable
  ///          that begins like those of a section and is none.
  caf::error apply_environment(const char* const* variables);

  /// Takes what `over` sets.
  void apply(const site_settings& over);

  bool has(setting_id id) const {
    return values_.count(id) > 0;
  }

  uint64_t get(setting_id id) const;

  /// Who has set it; `default` if nobody has.
  std::string origin_of(setting_id id) const;

  /// Gives a bound or a time the value that was set; leaves it alone if nobody
  /// has set it.
  template <class T>
  void give(setting_id id, T& to) const {
    if (!has(id))
      return;
    if constexpr (std::is_same_v<T, bool>)
      to = get(id) != 0;
    else if constexpr (std::is_arithmetic_v<T>)
      to = static_cast<T>(get(id));
    else
      to = std::chrono::milliseconds{get(id)};
  }

private:
  struct entry {
    uint64_t value;
    std::string origin;
  };

  std::map<setting_id, entry> values_;
};

} // namespace troupe
