#pragma once

#include "adapters/terminal/terminal_text.hpp"
#include "messages/proc_id.hpp"
#include "tools/top_table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// What the user of `troupe top` sees, and what his keys mean: a table at a time,
/// where he is in it, and what he is asked. No terminal, no DVM, no clock.
class top_view {
public:
  struct settings {
    /// What stands above: the DVM, and how often it is asked.
    std::string title;
    top_kind kind = top_kind::ranks;
    top_scope scope;

    /// Of the first table; none: as the DVM has them.
    std::optional<size_t> column;
    bool is_reversed = false;
  };

  /// What a key asks of others.
  struct order {
    enum class verb : uint8_t { nothing, quit, signal };

    verb what = verb::nothing;

    /// Who gets which signal; the rank may be the wildcard. The user has confirmed
    /// it.
    proc_id target;
    int32_t signal = 0;
  };

  explicit top_view(settings x);

  /// The DVM has said something new.
  void take(dvm_picture x);

  /// Shows a line until a key is pressed.
  void tell(const std::string& line, bool is_bad);

  /// @param rows How many lines the terminal has.
  order press(const key_press& x, size_t rows);

  /// The whole screen: as many lines as there is room for, none wider than that.
  std::vector<text_line> lines(size_t rows, size_t columns);

  /// Whether the user wants to look at what he has.
  bool is_paused() const {
    return is_paused_;
  }

private:
  enum class mode : uint8_t {
    browsing,
    filtering,  ///< types a filter
    signalling, ///< types a signal
    confirming, ///< is asked whether to send it
    reading,    ///< reads the help
  };

  /// Of a kind of table.
  struct place {
    /// The row where the user is, by its identifier and, should that go, its place.
    std::string id;
    size_t index = 0;
    std::optional<size_t> column;
    bool is_reversed = false;
  };

  place& here() {
    return places_[static_cast<size_t>(kind_)];
  }

  const place& here() const {
    return places_[static_cast<size_t>(kind_)];
  }

  void arrange();
  void select(size_t index);
  void show(top_kind x);
  void sort_by(int step);
  void open();
  void widen();
  void begin_signal();
  void begin_confirmation();
  void type(const key_press& x);
  void browse(const key_press& x, size_t rows);
  order browse_character(char x);

  std::string sentence_of_sort() const;
  std::string name_of_target() const;
  text_line line_of_tables() const;
  text_line line_below() const;
  std::vector<size_t> widths() const;
  text_line titles(const std::vector<size_t>& widths) const;
  text_line row_line(size_t index, const std::vector<size_t>& widths,
                     size_t columns) const;

  settings settings_;
  dvm_picture picture_;
  top_kind kind_;
  top_scope scope_;
  std::array<place, 3> places_;
  std::vector<top_row> rows_;

  /// The first row that is on the screen.
  size_t first_ = 0;

  mode mode_ = mode::browsing;

  /// What the user types, and whom it concerns.
  std::string typed_;
  proc_id target_;
  size_t target_size_ = 0;
  int32_t signal_ = 0;

  std::string message_;
  bool message_is_bad_ = false;
  bool is_paused_ = false;
};

} // namespace troupe
