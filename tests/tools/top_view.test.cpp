// What the user of `troupe top` sees, and what his keys do.

#include "tools/top_view.hpp"

#include "tests/test.hpp"
#include "tools/printing.hpp"

#include <csignal>

using namespace troupe;

namespace {

using nlohmann::json;
using verb = top_view::order::verb;

constexpr size_t rows = 24;
constexpr size_t columns = 80;

json process(const char* nspace, uint32_t rank, uint32_t node,
             const char* state) {
  return {{"nspace", nspace},  {"rank", rank},
          {"node", node},      {"host", "n" + std::to_string(node)},
          {"pid", 100 + rank}, {"cpus", ""},
          {"state", state},    {"exit", 0},
          {"cmd", "app"}};
}

dvm_picture sample(uint32_t procs = 3) {
  auto result = dvm_picture{};
  for (uint32_t i = 0; i < 2; ++i)
    result.nodes.push_back({{"rank", i},
                            {"name", "n" + std::to_string(i)},
                            {"state", "live"},
                            {"slots", 4},
                            {"procs", procs}});
  result.jobs.push_back({{"nspace", "d@1"},
                         {"state", "running"},
                         {"nodes", 2},
                         {"procs", procs},
                         {"cmd", "app"}});
  for (uint32_t i = 0; i < procs; ++i)
    result.processes.push_back(process("d@1", i, i % 2, "running"));
  result.processes.push_back(process("d@2", 0, 1, "ended"));
  return result;
}

struct fixture {
  fixture() {
    auto x = top_view::settings{};
    x.title = "troupe top";
    view = std::make_unique<top_view>(std::move(x));
    view->take(sample());
  }

  top_view::order press(terminal_key x) {
    return view->press({x, '\0'}, rows);
  }

  /// The outcome of the last of these.
  top_view::order type(const std::string& text) {
    auto result = top_view::order{};
    for (const auto c : text)
      result = view->press({terminal_key::character, c}, rows);
    return result;
  }

  static std::string text_of(const text_line& x) {
    auto result = std::string{};
    for (const auto& piece : x)
      result += piece.text;
    result.erase(result.find_last_not_of(' ') + 1);
    return result;
  }

  std::string shown(size_t height = rows, size_t width = columns) const {
    auto result = std::string{};
    for (const auto& x : view->lines(height, width))
      result += text_of(x) + "\n";
    return result;
  }

  bool shows(const std::string& part) const {
    return shown().find(part) != std::string::npos;
  }

  /// The row where the user is.
  std::string selected() const {
    auto result = std::string{};
    const auto all = view->lines(rows, columns);
    for (size_t i = 4; i < all.size(); ++i)
      if (!all[i].empty() && all[i].front().style == text_style::selected)
        result += text_of(all[i]);
    return result;
  }

  /// The line above the keys.
  std::string below() const {
    return text_of(view->lines(rows, columns).at(rows - 2));
  }

  std::unique_ptr<top_view> view;
};

bool begins(const std::string& x, const std::string& begin) {
  return x.compare(0, begin.size(), begin) == 0;
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(top_view_tests, fixture)

CAF_TEST(OPS-T1 the screen has the counts and the table and the keys) {
  const auto all = view->lines(rows, columns);
  CAF_CHECK_EQUAL(all.size(), rows);
  CAF_CHECK_EQUAL(text_of(all[0]), "troupe top");
  CAF_CHECK_EQUAL(text_of(all[1]),
                  "2 nodes, 1 job, 4 processes: 1 ended, 3 running");
  CAF_CHECK(begins(text_of(all[3]), "JOB  RANK  NODE"));
  CAF_CHECK(begins(selected(), "d@1     0  n0"));
  CAF_CHECK(begins(text_of(all[23]), "q quit"));
}

CAF_TEST(OPS-T4 no line is longer than the terminal and none is left out) {
  for (const auto width : {1u, 7u, 20u, 80u, 300u})
    for (const auto height :
         {0u, 1u, 2u, 3u, 4u, 5u, 9u, 10u, 11u, 24u, 200u}) {
      const auto all = view->lines(height, width);
      CAF_CHECK_EQUAL(all.size(), height);
      for (const auto& line : all) {
        auto n = size_t{0};
        for (const auto& piece : line)
          n += width_of(piece.text);
        CAF_CHECK(n <= width);
      }
    }
}

CAF_TEST(OPS-T4 the row where the user is stays on the screen) {
  view->take(sample(500));
  for (auto i = 0; i < 100; ++i)
    press(terminal_key::down);
  CAF_CHECK(begins(selected(), "d@1   100"));
  CAF_CHECK(shown(8).find(" 100  n0") != std::string::npos);
  press(terminal_key::page_down);
  CAF_CHECK(begins(selected(), "d@1   118"));
  press(terminal_key::end);
  CAF_CHECK(begins(selected(), "d@2"));
  press(terminal_key::home);
  press(terminal_key::up);
  CAF_CHECK(begins(selected(), "d@1     0"));
  view->take(sample(1));
  CAF_CHECK(begins(selected(), "d@1     0"));
}

CAF_TEST(OPS-T2 the user stays at his row when others come before it) {
  press(terminal_key::down);
  press(terminal_key::down);
  CAF_CHECK(begins(selected(), "d@1     2"));
  auto more = sample();
  more.processes.insert(more.processes.begin(),
                        process("d@0", 7, 0, "running"));
  view->take(more);
  CAF_CHECK(begins(selected(), "d@1     2"));
}

CAF_TEST(OPS-T2 columns and their order are chosen by keys) {
  CAF_CHECK(shows("as the DVM has them"));
  type(">");
  CAF_CHECK(shows("by JOB"));
  type(">");
  CAF_CHECK(shows("by RANK"));
  type("r");
  CAF_CHECK(shows("by RANK, largest first"));
  CAF_CHECK(begins(text_of(view->lines(rows, columns)[4]), "d@1     2"));
  type("<");
  CAF_CHECK(shows("by JOB"));
  type("<");
  CAF_CHECK(shows("by COMMAND"));
  press(terminal_key::left);
  CAF_CHECK(shows("by MEM, largest first"));
}

CAF_TEST(OPS-T2 a filter is typed and put right and taken back) {
  type("/endx");
  CAF_CHECK_EQUAL(below(), "filter: endx_");
  press(terminal_key::backspace);
  press(terminal_key::enter);
  CAF_CHECK(begins(selected(), "d@2"));
  CAF_CHECK(!shows("d@1"));
  press(terminal_key::escape);
  CAF_CHECK(shows("d@1"));
  type("/q");
  press(terminal_key::escape);
  CAF_CHECK(shows("d@1"));
}

CAF_TEST(OPS-T2 a job or a node opens into its ranks and closes again) {
  type("2");
  CAF_CHECK(begins(selected(), "d@1  running"));
  press(terminal_key::enter);
  CAF_CHECK(shows("of job d@1"));
  CAF_CHECK(!shows("d@2"));
  press(terminal_key::escape);
  CAF_CHECK(begins(selected(), "d@1  running"));
  type("3");
  press(terminal_key::down);
  press(terminal_key::enter);
  CAF_CHECK(shows("on node 1"));
  CAF_CHECK(!shows("n0"));
  press(terminal_key::enter);
  CAF_CHECK(begins(below(), "d@1:1 on n1: process 101, not bound"));
}

CAF_TEST(OPS-T3 a signal goes out after its name and a confirmation) {
  press(terminal_key::down);
  CAF_CHECK(type("k").what == verb::nothing);
  CAF_CHECK(begins(below(), "signal to d@1:1"));
  type("USR1");
  CAF_CHECK(press(terminal_key::enter).what == verb::nothing);
  CAF_CHECK_EQUAL(below(), "send USR1 to d@1:1? y or n");
  const auto got = type("y");
  CAF_REQUIRE(got.what == verb::signal);
  CAF_CHECK_EQUAL(got.target, proc_id({"d@1", 1}));
  CAF_CHECK_EQUAL(got.signal, SIGUSR1);
}

CAF_TEST(OPS-T3 without a confirmation nothing goes out) {
  type("k");
  press(terminal_key::enter);
  CAF_CHECK_EQUAL(below(), "send TERM to d@1:0? y or n");
  CAF_CHECK(press(terminal_key::enter).what == verb::nothing);
  CAF_CHECK_EQUAL(below(), "nothing was sent");
  type("k");
  press(terminal_key::enter);
  CAF_CHECK(type("n").what == verb::nothing);
  CAF_CHECK(type("y").what == verb::nothing);
  type("k");
  press(terminal_key::escape);
  CAF_CHECK(type("y").what == verb::nothing);
}

CAF_TEST(OPS-T3 whom the user was asked about is who gets the signal) {
  type("k9");
  press(terminal_key::enter);
  auto other = sample();
  other.processes.erase(other.processes.begin());
  view->take(other);
  CAF_CHECK_EQUAL(below(), "send KILL to d@1:0? y or n");
  CAF_CHECK_EQUAL(type("y").target, proc_id({"d@1", 0}));
}

CAF_TEST(OPS-T3 a job gets a signal with all its processes) {
  type("2k");
  press(terminal_key::enter);
  CAF_CHECK_EQUAL(below(), "send TERM to all 3 processes of d@1? y or n");
  CAF_CHECK_EQUAL(type("y").target, proc_id({"d@1", rank_wildcard}));
}

CAF_TEST(OPS-T3 what cannot get a signal is told) {
  type("knosuch");
  press(terminal_key::enter);
  CAF_CHECK(begins(below(), "there is no signal \"nosuch\""));
  press(terminal_key::end);
  type("k");
  CAF_CHECK_EQUAL(below(), "d@2:0 does not run");
  type("3k");
  CAF_CHECK(begins(below(), "signals go to ranks and jobs"));
}

CAF_TEST(OPS-T1 help and quitting and standing still) {
  type("?");
  CAF_CHECK(shows("send a signal to a rank"));
  CAF_CHECK(type("q").what == verb::nothing);
  CAF_CHECK(!shows("send a signal to a rank"));
  type(" ");
  CAF_CHECK(view->is_paused());
  CAF_CHECK(shows("standing still"));
  type(" ");
  CAF_CHECK(!view->is_paused());
  CAF_CHECK(type("q").what == verb::quit);
}

CAF_TEST(OPS-T1 a DVM without jobs has none) {
  view->take({});
  CAF_CHECK(shows("none"));
  CAF_CHECK_EQUAL(selected(), "");
  press(terminal_key::enter);
  press(terminal_key::down);
  CAF_CHECK(type("k").what == verb::nothing);
  CAF_CHECK(shows("none"));
}

CAF_TEST(OPS-T1 a server of others may say anything) {
  auto odd = dvm_picture{};
  odd.processes = json::parse(
    R"([{"nspace": 7, "rank": "x", "host": [1], "pid": {}, "cpus": 3}, 7])");
  odd.jobs = odd.nodes = odd.processes;
  view->take(std::move(odd));
  press(terminal_key::enter);
  CAF_CHECK(begins(below(), "7:x on [1]: process {}, bound to 3"));
  CAF_CHECK(type("k").what == verb::nothing);
  type("2");
  press(terminal_key::enter);
  type("3");
  press(terminal_key::enter);
  CAF_CHECK(type("k").what == verb::nothing);
}

CAF_TEST(OPS-T1 X31 what is told cannot reach the terminal) {
  view->tell("\x1b[2Jx", true);
  CAF_CHECK(shown().find('\x1b') == std::string::npos);
}

CAF_TEST_FIXTURE_SCOPE_END()
