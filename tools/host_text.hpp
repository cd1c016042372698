#pragma once

#include "config/defaults.hpp"
#include "messages/status.hpp"

#include <caf/error.hpp>
#include <caf/expected.hpp>

#include <string>
#include <string_view>
#include <vector>

// How texts that name nodes are read: where one is, line by line, and what a
// name with brackets stands for.

namespace troupe::tools {

inline constexpr size_t most_names = defaults::host_list_names;
inline constexpr size_t most_bytes = defaults::host_list_name_bytes;

/// A place in a text, for errors.
class text_place {
public:
  /// @param source  the name of a file, of an option or a variable.
  explicit text_place(std::string source) : source_(std::move(source)) {
    // nop
  }

  /// `hosts.txt, line 3, column 7: 'slot=4' is no word ...`
  caf::error error(std::string_view text, std::string_view what) const;

  void start_line(size_t line) {
    line_ = line;
    column_ = 1;
  }

  void drop(std::string_view& rest, size_t n) {
    rest.remove_prefix(n);
    column_ += n;
  }

  void skip_blanks(std::string_view& rest);

  /// Takes what comes before one of `ends`, or all.
  std::string_view take_until(std::string_view& rest, std::string_view ends);

  /// Takes what comes before the next comma that is not in brackets, and drops
  /// the comma.
  std::string_view take_item(std::string_view& rest);

private:
  std::string source_;

  /// 0: the text has only one.
  size_t line_ = 0;
  size_t column_ = 1;
};

/// Walks through the lines of a file that say something; without comments and
/// the blanks around.
class line_reader {
public:
  line_reader(std::string_view text, const std::string& file)
    : rest_(text), place_(file) {
    // nop
  }

  caf::error check_size() const;

  /// @returns whether there is another line.
  bool next();

  std::string_view line() const {
    return line_;
  }

  const text_place& place() const {
    return place_;
  }

private:
  std::string_view rest_;
  std::string_view line_;
  text_place place_;
  size_t number_ = 0;
};

/// What names with brackets, and commas between, stand for.
caf::expected<std::vector<std::string>> expand(std::string_view text,
                                               text_place place);

caf::error too_many(const text_place& place, std::string_view text);

} // namespace troupe::tools
