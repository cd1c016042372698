#include "tools/top_view.hpp"

#include "base/escape.hpp"
#include "messages/status.hpp"
#include "tools/printing.hpp"
#include "tools/signals.hpp"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

namespace troupe {

namespace {

/// Characters of a filter or of a signal's name.
constexpr size_t most_typed = 64;

/// Lines above and below the table, if there is room for them.
constexpr size_t room_for_all = 10;
constexpr size_t room_for_some = 4;
constexpr size_t lines_above = 4;
constexpr size_t lines_below = 2;

constexpr const char* help_lines[] = {
  "1 2 3        ranks, jobs, nodes",
  "Up Down PageUp PageDown Home End",
  "             go through the table",
  "Enter        the ranks of a job or node; all that is known of a rank",
  "Esc          back: all ranks, no filter",
  "< >          sort by the column to the left or right (Left, Right, too)",
  "r            turn the order round",
  "/            show rows with a text in them; empty: all",
  "k            send a signal to a rank, or to all of a job; it asks first",
  "Space        stand still, or go on",
  "q            quit",
};

constexpr auto keys_line =
  "q quit  1 2 3 table  Enter open  < > r sort  / filter  k signal  ? help";

std::string name_of_signal(int32_t x) {
  const auto* name = ::sigabbrev_np(x);
  return name != nullptr ? name : std::to_string(x);
}

std::optional<uint32_t> read_rank(std::string_view text) {
  auto result = uint32_t{0};
  const auto* end = text.data() + text.size();
  const auto [at, failure] = std::from_chars(text.data(), end, result);
  if (text.empty() || failure != std::errc{} || at != end)
    return std::nullopt;
  return result;
}

/// `NAMESPACE:RANK`, which the identifiers of ranks are.
std::optional<proc_id> read_process(const std::string& id) {
  const auto colon = id.rfind(':');
  if (colon == std::string::npos)
    return std::nullopt;
  const auto rank = read_rank(std::string_view{id}.substr(colon + 1));
  if (!rank)
    return std::nullopt;
  return proc_id{id.substr(0, colon), *rank};
}

text_style style_of(std::string_view state) {
  if (state == "running" || state == "live")
    return text_style::good;
  if (state == "starting" || state == "ending" || state == "expected")
    return text_style::warning;
  if (state == "failed" || state == "lost")
    return text_style::bad;
  return text_style::faint;
}

std::string padded(const std::string& text, size_t width, bool is_right) {
  const auto own = width_of(text);
  const auto blanks = std::string(width > own ? width - own : 0, ' ');
  return is_right ? blanks + text : text + blanks;
}

text_line line_of(std::string text, text_style style = text_style::plain) {
  auto result = text_line{};
  result.push_back({std::move(text), style});
  return result;
}

/// Cuts a line where the screen ends.
text_line clipped(text_line x, size_t columns) {
  auto result = text_line{};
  for (auto& piece : x) {
    if (columns == 0)
      break;
    piece.text = fitted(piece.text, columns);
    columns -= std::min(columns, width_of(piece.text));
    if (!piece.text.empty())
      result.push_back(std::move(piece));
  }
  return result;
}

} // namespace

top_view::top_view(settings x)
  : settings_(std::move(x)), kind_(settings_.kind), scope_(settings_.scope) {
  here().column = settings_.column;
  here().is_reversed = settings_.is_reversed;
}

// -- what is shown -----------------------------------------------------------

void top_view::take(dvm_picture x) {
  picture_ = std::move(x);
  arrange();
}

void top_view::tell(const std::string& line, bool is_bad) {
  message_ = escape_control_characters(line);
  message_is_bad_ = is_bad;
}

/// Makes the rows anew, with the user where he was.
void top_view::arrange() {
  rows_ = rows_of(kind_, picture_, scope_);
  auto& x = here();
  if (x.column)
    sort_rows(rows_, *x.column, x.is_reversed);
  const auto same = std::find_if(
    rows_.begin(), rows_.end(), [&](const top_row& y) { return y.id == x.id; });
  if (same != rows_.end())
    x.index = static_cast<size_t>(same - rows_.begin());
  select(x.index);
}

void top_view::select(size_t index) {
  auto& x = here();
  x.index = rows_.empty() ? 0 : std::min(index, rows_.size() - 1);
  if (!rows_.empty())
    x.id = rows_[x.index].id;
}

std::string top_view::sentence_of_sort() const {
  const auto& x = here();
  if (!x.column)
    return "as the DVM has them";
  const auto& column = columns_of(kind_)[*x.column];
  return std::string{"by "} + column.title
         + (x.is_reversed ? ", largest first" : "");
}

text_line top_view::line_of_tables() const {
  auto result = text_line{};
  auto number = 1;
  for (const auto x : {top_kind::ranks, top_kind::jobs, top_kind::nodes}) {
    result.push_back(
      {" " + std::to_string(number++) + " " + std::string{text_of(x)} + " ",
       x == kind_ ? text_style::selected : text_style::plain});
    result.push_back({" ", text_style::plain});
  }
  auto rest = sentence_of_sort();
  if (scope_.nspace && kind_ == top_kind::ranks)
    rest += "; of job " + *scope_.nspace;
  if (scope_.node && kind_ == top_kind::ranks)
    rest += "; on node " + std::to_string(*scope_.node);
  if (!scope_.filter.empty())
    rest += "; with \"" + scope_.filter + "\"";
  if (is_paused_)
    rest += "; standing still";
  result.push_back({" " + escape_control_characters(rest), text_style::plain});
  return result;
}

std::string top_view::name_of_target() const {
  const auto who = escape_control_characters(target_.nspace);
  if (target_.rank != rank_wildcard)
    return who + ":" + std::to_string(target_.rank);
  return "all " + std::to_string(target_size_) + " processes of " + who;
}

/// What is asked of the user, or told.
text_line top_view::line_below() const {
  switch (mode_) {
    case mode::filtering:
      return line_of("filter: " + typed_ + "_", text_style::title);
    case mode::signalling:
      return line_of("signal to " + name_of_target()
                       + " (Enter: TERM): " + typed_ + "_",
                     text_style::title);
    case mode::confirming:
      return line_of("send " + name_of_signal(signal_) + " to "
                       + name_of_target() + "? y or n",
                     text_style::title);
    default:
      return line_of(message_,
                     message_is_bad_ ? text_style::bad : text_style::plain);
  }
}

std::vector<size_t> top_view::widths() const {
  const auto& columns = columns_of(kind_);
  auto result = std::vector<size_t>{};
  for (size_t i = 0; i < columns.size(); ++i) {
    auto width = std::strlen(columns[i].title);
    for (const auto& x : rows_)
      width = std::max(width, width_of(x.cells[i].text));
    result.push_back(width);
  }
  return result;
}

text_line top_view::titles(const std::vector<size_t>& widths) const {
  const auto& columns = columns_of(kind_);
  auto text = std::string{};
  for (size_t i = 0; i < columns.size(); ++i)
    text += (i > 0 ? "  " : "")
            + padded(columns[i].title, widths[i], columns[i].is_numeric);
  return line_of(std::move(text), text_style::head);
}

text_line top_view::row_line(size_t index, const std::vector<size_t>& widths,
                             size_t columns) const {
  const auto& row = rows_[index];
  const auto& all = columns_of(kind_);
  auto result = text_line{};
  const auto is_selected = index == here().index;
  for (size_t i = 0; i < all.size(); ++i) {
    const auto style = is_selected                ? text_style::selected
                       : i == state_column(kind_) ? style_of(row.cells[i].text)
                                                  : text_style::plain;
    result.push_back(
      {padded(row.cells[i].text, widths[i], all[i].is_numeric), style});
    if (i + 1 < all.size())
      result.push_back(
        {"  ", is_selected ? text_style::selected : text_style::plain});
  }
  if (is_selected)
    result.push_back({std::string(columns, ' '), text_style::selected});
  return result;
}

std::vector<text_line> top_view::lines(size_t rows, size_t columns) {
  auto above = std::vector<text_line>{};
  auto below = std::vector<text_line>{};
  const auto all_widths = widths();
  if (rows >= room_for_all) {
    above.push_back(line_of(settings_.title, text_style::title));
    above.push_back(line_of(summary_of(picture_)));
    above.push_back(line_of_tables());
  }
  if (rows >= room_for_some) {
    above.push_back(titles(all_widths));
    below.push_back(line_below());
  }
  if (rows >= room_for_all)
    below.push_back(line_of(keys_line, text_style::faint));
  const auto room = rows - std::min(rows, above.size() + below.size());
  const auto at = here().index;
  if (at < first_)
    first_ = at;
  if (room > 0 && at >= first_ + room)
    first_ = at - room + 1;
  auto result = std::move(above);
  for (size_t i = 0; i < room; ++i) {
    auto& next = result.emplace_back();
    if (mode_ == mode::reading) {
      if (i < std::size(help_lines))
        next = line_of(help_lines[i]);
    } else if (first_ + i < rows_.size()) {
      next = row_line(first_ + i, all_widths, columns);
    } else if (i == 0 && rows_.empty()) {
      next = line_of("none", text_style::faint);
    }
  }
  result.insert(result.end(), below.begin(), below.end());
  // Where there is room for one line, it is what the user is asked.
  if (rows < room_for_some && mode_ != mode::browsing && !result.empty())
    result.back() = line_below();
  for (auto& x : result)
    x = clipped(std::move(x), columns);
  return result;
}

// -- keys --------------------------------------------------------------------

void top_view::show(top_kind x) {
  kind_ = x;
  first_ = 0;
  arrange();
}

void top_view::sort_by(int step) {
  auto& x = here();
  const auto n = columns_of(kind_).size();
  if (!x.column)
    x.column = step > 0 ? 0 : n - 1;
  else
    x.column = (*x.column + (step > 0 ? 1 : n - 1)) % n;
  x.is_reversed = columns_of(kind_)[*x.column].begins_with_largest;
  arrange();
}

void top_view::open() {
  if (rows_.empty())
    return;
  const auto& row = rows_[here().index];
  const auto id = row.id;
  if (kind_ == top_kind::ranks) {
    for (const auto& x : picture_.processes)
      if (x.is_object() && id_of(x) == id) {
        const auto cpus = text_at(x, "cpus");
        tell(id + " on " + text_at(x, "host") + ": process " + text_at(x, "pid")
               + ", " + (cpus.empty() ? "not bound" : "bound to " + cpus)
               + ", exit status " + text_at(x, "exit") + ", "
               + text_at(x, "cmd"),
             false);
      }
    return;
  }
  scope_.nspace.reset();
  scope_.node.reset();
  if (kind_ == top_kind::jobs)
    scope_.nspace = id;
  else
    scope_.node = read_rank(id);
  scope_.filter.clear();
  show(top_kind::ranks);
}

void top_view::widen() {
  if (scope_.nspace || scope_.node) {
    const auto before = scope_.nspace ? top_kind::jobs : top_kind::nodes;
    scope_.nspace.reset();
    scope_.node.reset();
    show(kind_ == top_kind::ranks ? before : kind_);
    return;
  }
  scope_.filter.clear();
  arrange();
}

void top_view::begin_signal() {
  if (rows_.empty())
    return;
  const auto& row = rows_[here().index];
  if (kind_ == top_kind::nodes) {
    tell("signals go to ranks and jobs; Enter shows the ranks of this node",
         true);
    return;
  }
  if (kind_ == top_kind::jobs) {
    target_ = {row.id, rank_wildcard};
    target_size_ = static_cast<size_t>(row.cells[3].number.value_or(0));
  } else {
    const auto proc = read_process(row.id);
    if (!proc || row.cells[state_column(kind_)].text != "running") {
      tell(row.id + " does not run", true);
      return;
    }
    target_ = *proc;
    target_size_ = 1;
  }
  typed_.clear();
  mode_ = mode::signalling;
}

void top_view::begin_confirmation() {
  const auto number = read_signal(typed_.empty() ? "TERM" : typed_);
  if (!number) {
    tell(reason_of(number.error()), true);
    mode_ = mode::browsing;
    return;
  }
  signal_ = *number;
  mode_ = mode::confirming;
}

/// A key while a filter or a signal is typed.
void top_view::type(const key_press& x) {
  switch (x.what) {
    case terminal_key::character:
      if (typed_.size() < most_typed)
        typed_ += x.character;
      break;
    case terminal_key::backspace:
      if (!typed_.empty())
        typed_.pop_back();
      break;
    case terminal_key::escape:
      mode_ = mode::browsing;
      break;
    case terminal_key::enter:
      if (mode_ == mode::signalling) {
        begin_confirmation();
      } else {
        scope_.filter = typed_;
        mode_ = mode::browsing;
        first_ = 0;
        arrange();
      }
      break;
    default:
      break;
  }
}

top_view::order top_view::browse_character(char x) {
  switch (x) {
    case 'q':
      return {order::verb::quit, {}, 0};
    case '1':
      show(top_kind::ranks);
      break;
    case '2':
      show(top_kind::jobs);
      break;
    case '3':
      show(top_kind::nodes);
      break;
    case '<':
      sort_by(-1);
      break;
    case '>':
      sort_by(1);
      break;
    case 'r':
      here().is_reversed = !here().is_reversed;
      arrange();
      break;
    case '/':
      typed_ = scope_.filter;
      mode_ = mode::filtering;
      break;
    case 'k':
      begin_signal();
      break;
    case ' ':
      is_paused_ = !is_paused_;
      break;
    case '?':
    case 'h':
      mode_ = mode::reading;
      break;
    default:
      break;
  }
  return {};
}

void top_view::browse(const key_press& x, size_t rows) {
  const auto at = here().index;
  const auto page =
    rows > lines_above + lines_below ? rows - lines_above - lines_below : 1;
  switch (x.what) {
    case terminal_key::up:
      select(at > 0 ? at - 1 : 0);
      break;
    case terminal_key::down:
      select(at + 1);
      break;
    case terminal_key::page_up:
      select(at > page ? at - page : 0);
      break;
    case terminal_key::page_down:
      select(at + page);
      break;
    case terminal_key::home:
      select(0);
      break;
    case terminal_key::end:
      select(rows_.size());
      break;
    case terminal_key::left:
      sort_by(-1);
      break;
    case terminal_key::right:
      sort_by(1);
      break;
    case terminal_key::enter:
      open();
      break;
    case terminal_key::escape:
    case terminal_key::backspace:
      widen();
      break;
    default:
      break;
  }
}

top_view::order top_view::press(const key_press& x, size_t rows) {
  if (x.what == terminal_key::none || x.what == terminal_key::resize)
    return {};
  switch (mode_) {
    case mode::filtering:
    case mode::signalling:
      type(x);
      return {};
    case mode::reading:
      mode_ = mode::browsing;
      return {};
    case mode::confirming:
      mode_ = mode::browsing;
      if (x.what == terminal_key::character
          && (x.character == 'y' || x.character == 'Y'))
        return {order::verb::signal, target_, signal_};
      tell("nothing was sent", false);
      return {};
    default:
      tell({}, false);
      if (x.what == terminal_key::character)
        return browse_character(x.character);
      browse(x, rows);
      return {};
  }
}

} // namespace troupe
