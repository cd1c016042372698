// Before anything includes it.
#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1

#include "adapters/terminal/full_screen.hpp"

#include "messages/status.hpp"

#include <dlfcn.h>
#include <ncursesw/curses.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

namespace troupe {

namespace {

constexpr auto library_name = "libncursesw.so.6";

/// How long a lone Escape waits for what would make it another key.
constexpr int escape_delay_ms = 25;

/// The functions of ncursesw that are used here.
struct curses_functions {
  decltype(&::newterm) new_terminal = nullptr;
  decltype(&::endwin) end_window = nullptr;
  decltype(&::delscreen) delete_screen = nullptr;
  decltype(&::cbreak) no_lines = nullptr;
  decltype(&::noecho) no_echo = nullptr;
  decltype(&::nonl) no_newline = nullptr;
  decltype(&::keypad) keypad = nullptr;
  decltype(&::nodelay) no_delay = nullptr;
  decltype(&::set_escdelay) set_escape_delay = nullptr;
  decltype(&::curs_set) set_cursor = nullptr;
  decltype(&::has_colors) has_colors = nullptr;
  decltype(&::start_color) start_color = nullptr;
  decltype(&::use_default_colors) use_default_colors = nullptr;
  decltype(&::init_pair) make_pair = nullptr;
  decltype(&::getmaxx) columns = nullptr;
  decltype(&::getmaxy) rows = nullptr;
  decltype(&::werase) erase = nullptr;
  decltype(&::wmove) move = nullptr;
  decltype(&::wattrset) set_attributes = nullptr;
  decltype(&::waddnstr) add = nullptr;
  decltype(&::wnoutrefresh) prepare = nullptr;
  decltype(&::doupdate) show = nullptr;
  decltype(&::wgetch) read_key = nullptr;

  /// The window that is all of the screen; the library makes it anew.
  WINDOW** window = nullptr;
};

/// Looks symbols up.
class symbol_finder {
public:
  explicit symbol_finder(void* library) : library_(library) {
    // nop
  }

  template <class T>
  void find(T*& to, const char* name) {
    to = reinterpret_cast<T*>(::dlsym(library_, name));
    has_all_ = has_all_ && to != nullptr;
  }

  bool has_all() const {
    return has_all_;
  }

private:
  void* library_;
  bool has_all_ = true;
};

/// @returns whether all are there.
bool load(void* library, curses_functions& to) {
  auto all = symbol_finder{library};
  all.find(to.new_terminal, "newterm");
  all.find(to.end_window, "endwin");
  all.find(to.delete_screen, "delscreen");
  all.find(to.no_lines, "cbreak");
  all.find(to.no_echo, "noecho");
  all.find(to.no_newline, "nonl");
  all.find(to.keypad, "keypad");
  all.find(to.no_delay, "nodelay");
  all.find(to.set_escape_delay, "set_escdelay");
  all.find(to.set_cursor, "curs_set");
  all.find(to.has_colors, "has_colors");
  all.find(to.start_color, "start_color");
  all.find(to.use_default_colors, "use_default_colors");
  all.find(to.make_pair, "init_pair");
  all.find(to.columns, "getmaxx");
  all.find(to.rows, "getmaxy");
  all.find(to.erase, "werase");
  all.find(to.move, "wmove");
  all.find(to.set_attributes, "wattrset");
  all.find(to.add, "waddnstr");
  all.find(to.prepare, "wnoutrefresh");
  all.find(to.show, "doupdate");
  all.find(to.read_key, "wgetch");
  all.find(to.window, "stdscr");
  return all.has_all();
}

/// Numbers of pairs of colours.
constexpr short good_pair = 1;
constexpr short warning_pair = 2;
constexpr short bad_pair = 3;

key_press translated(int x) {
  switch (x) {
    case KEY_UP:
      return {terminal_key::up, '\0'};
    case KEY_DOWN:
      return {terminal_key::down, '\0'};
    case KEY_LEFT:
      return {terminal_key::left, '\0'};
    case KEY_RIGHT:
      return {terminal_key::right, '\0'};
    case KEY_PPAGE:
      return {terminal_key::page_up, '\0'};
    case KEY_NPAGE:
      return {terminal_key::page_down, '\0'};
    case KEY_HOME:
      return {terminal_key::home, '\0'};
    case KEY_END:
      return {terminal_key::end, '\0'};
    case KEY_ENTER:
    case '\r':
    case '\n':
      return {terminal_key::enter, '\0'};
    case KEY_BACKSPACE:
    case '\b':
    case 0x7f:
      return {terminal_key::backspace, '\0'};
    case 0x1b:
      return {terminal_key::escape, '\0'};
    case KEY_RESIZE:
      return {terminal_key::resize, '\0'};
    default:
      if (x >= ' ' && x <= '~')
        return {terminal_key::character, static_cast<char>(x)};
      return {};
  }
}

} // namespace

struct full_screen::state {
  curses_functions use;
  SCREEN* screen = nullptr;
  bool has_colours = false;

  WINDOW* window() const {
    return *use.window;
  }

  int attributes_of(text_style x) const {
    const auto pair = [this](short n, attr_t otherwise) {
      return static_cast<int>(has_colours ? NCURSES_BITS(n, 0) & A_COLOR
                                          : otherwise);
    };
    switch (x) {
      case text_style::title:
        return static_cast<int>(A_BOLD);
      case text_style::head:
      case text_style::selected:
        return static_cast<int>(A_REVERSE);
      case text_style::good:
        return pair(good_pair, A_NORMAL);
      case text_style::warning:
        return pair(warning_pair, A_NORMAL);
      case text_style::bad:
        return pair(bad_pair, A_BOLD);
      case text_style::faint:
        return static_cast<int>(A_DIM);
      default:
        return static_cast<int>(A_NORMAL);
    }
  }

  void begin();
};

void full_screen::state::begin() {
  use.no_lines();
  use.no_echo();
  use.no_newline();
  use.keypad(window(), true);
  use.no_delay(window(), true);
  use.set_escape_delay(escape_delay_ms);
  use.set_cursor(0);
  if (!use.has_colors() || use.start_color() == ERR)
    return;
  // The terminal's own background.
  const auto back =
    static_cast<short>(use.use_default_colors() == ERR ? COLOR_BLACK : -1);
  use.make_pair(good_pair, COLOR_GREEN, back);
  use.make_pair(warning_pair, COLOR_YELLOW, back);
  use.make_pair(bad_pair, COLOR_RED, back);
  has_colours = true;
}

full_screen::full_screen(std::unique_ptr<state> x) : state_(std::move(x)) {
  // nop
}

caf::expected<std::unique_ptr<full_screen>> full_screen::open() {
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0)
    return make_error(status::not_supported,
                      "standard input and output are no terminal; print once, "
                      "with --once or --json");
  // It stays: the library has no way to forget a terminal.
  auto* const library = ::dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
  auto x = std::make_unique<state>();
  if (library == nullptr || !load(library, x->use)) {
    const auto* why = ::dlerror();
    return make_error(status::not_found,
                      std::string{"cannot load ncursesw: "}
                        + (why != nullptr ? why : library_name)
                        + "; install libncursesw6, or print once, with --once");
  }
  // For text that is not ASCII.
  std::setlocale(LC_CTYPE, "");
  x->screen = x->use.new_terminal(nullptr, stdout, stdin);
  if (x->screen == nullptr) {
    const auto* kind = std::getenv("TERM");
    return make_error(
      status::not_supported,
      std::string{"the kind of this terminal is not known (TERM="}
        + (kind != nullptr ? kind : "")
        + "); set TERM, for example to xterm, or print once, "
          "with --once");
  }
  x->begin();
  return std::unique_ptr<full_screen>{new full_screen{std::move(x)}};
}

full_screen::~full_screen() {
  state_->use.end_window();
  state_->use.delete_screen(state_->screen);
}

size_t full_screen::rows() const {
  return static_cast<size_t>(std::max(state_->use.rows(state_->window()), 0));
}

size_t full_screen::columns() const {
  return static_cast<size_t>(
    std::max(state_->use.columns(state_->window()), 0));
}

void full_screen::draw(const std::vector<text_line>& lines) {
  const auto& use = state_->use;
  auto* window = state_->window();
  use.erase(window);
  const auto n = std::min(lines.size(), rows());
  for (size_t i = 0; i < n; ++i) {
    use.move(window, static_cast<int>(i), 0);
    for (const auto& piece : lines[i]) {
      use.set_attributes(window, state_->attributes_of(piece.style));
      use.add(window, piece.text.c_str(), -1);
    }
  }
  use.set_attributes(window, static_cast<int>(A_NORMAL));
  use.prepare(window);
  use.show();
}

key_press full_screen::wait(std::chrono::milliseconds limit, int wakes) {
  auto watched = std::array<pollfd, 2>{pollfd{STDIN_FILENO, POLLIN, 0},
                                       pollfd{wakes, POLLIN, 0}};
  // Keys that the library has already, and a signal of another size.
  auto found = state_->use.read_key(state_->window());
  if (found == ERR
      && ::poll(watched.data(), watched.size(), static_cast<int>(limit.count()))
           != 0)
    found = state_->use.read_key(state_->window());
  if (found != ERR)
    return translated(found);
  const auto is_gone =
    (watched[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
  return is_gone ? key_press{terminal_key::gone} : key_press{};
}

} // namespace troupe
