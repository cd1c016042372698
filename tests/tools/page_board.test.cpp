// What watchers of the page hear.

#include "tools/page_board.hpp"

#include "tests/test.hpp"

#include <nlohmann/json.hpp>

using namespace troupe;

namespace {

using nlohmann::json;
using std::chrono::milliseconds;

void name(page_board& board, const std::string& x) {
  board.update([&](page_state& y) { y.take_dvm({{"name", x}}); });
}

/// The kind of what comes at once, and what it says.
std::pair<std::string, json> next(page_board::watcher& x) {
  const auto got = x.next(milliseconds{0}).value_or("");
  constexpr auto event = std::string_view{"event: "};
  const auto end = got.find('\n');
  CAF_REQUIRE_EQUAL(got.substr(0, event.size()), event);
  const auto data = got.find("data: ") + 6;
  return {got.substr(event.size(), end - event.size()),
          json::parse(got.substr(data, got.find('\n', data) - data))};
}

std::string name_in(const json& x) {
  return x.at("dvm").at("dvm").at("name");
}

} // namespace

CAF_TEST(PAGE-1 a watcher gets all there is and then what changes) {
  page_board board;
  name(board, "one");
  const auto watcher = board.watch();
  CAF_REQUIRE(watcher != nullptr);
  auto got = next(*watcher);
  CAF_CHECK_EQUAL(got.first, "whole");
  CAF_CHECK_EQUAL(name_in(got.second), "one");
  CAF_CHECK_EQUAL(next(*watcher).first, "idle");
  name(board, "two");
  got = next(*watcher);
  CAF_CHECK_EQUAL(got.first, "change");
  CAF_CHECK_EQUAL(name_in(got.second), "two");
  name(board, "two");
  got = next(*watcher);
  CAF_CHECK_EQUAL(got.first, "idle");
  CAF_CHECK(got.second.at("silent_ms").is_number());
}

CAF_TEST(PAGE-1 changes that a watcher has missed come in a row) {
  page_board board;
  const auto watcher = board.watch();
  next(*watcher);
  name(board, "one");
  name(board, "two");
  const auto got = watcher->next(milliseconds{0}).value_or("");
  const auto one = got.find("one");
  CAF_CHECK_NOT_EQUAL(one, std::string::npos);
  CAF_CHECK_NOT_EQUAL(got.find("two", one), std::string::npos);
  CAF_CHECK_EQUAL(next(*watcher).first, "idle");
}

CAF_TEST(PAGE-5 a watcher that lags gets all anew and nothing is kept for it) {
  page_board board;
  const auto watcher = board.watch();
  next(*watcher);
  for (size_t i = 0; i <= defaults::page_changes; ++i)
    name(board, std::to_string(i));
  const auto got = next(*watcher);
  CAF_CHECK_EQUAL(got.first, "whole");
  CAF_CHECK_EQUAL(name_in(got.second), std::to_string(defaults::page_changes));
  CAF_CHECK_EQUAL(next(*watcher).first, "idle");
}

CAF_TEST(PAGE-5 changes of more than so many bytes are not kept) {
  page_board board;
  const auto watcher = board.watch();
  next(*watcher);
  name(board, "small");
  name(board, std::string(defaults::page_change_bytes, 'x'));
  name(board, "last");
  const auto got = next(*watcher);
  CAF_CHECK_EQUAL(got.first, "whole");
  CAF_CHECK_EQUAL(name_in(got.second), "last");
  name(board, "next");
  CAF_CHECK_EQUAL(next(*watcher).first, "change");
}

CAF_TEST(PAGE-9 it tells how often the DVM has answered and for how many) {
  page_board board;
  const auto watcher = board.watch();
  board.note_answer();
  board.note_answer();
  const auto told = json::parse(board.whole()).at("page").at("page");
  CAF_CHECK_EQUAL(told.dump(), R"({"answers":2,"browsers":1})");
  // It is no news for those who watch.
  CAF_CHECK(!next(*watcher).second.contains("page"));
  CAF_CHECK_EQUAL(next(*watcher).first, "idle");
}

CAF_TEST(PAGE-5 a place is free again when its watcher is gone) {
  page_board board;
  auto begun = 0;
  board.on_watcher([&] { ++begun; });
  auto all = std::vector<std::unique_ptr<page_board::watcher>>{};
  for (size_t i = 0; i < defaults::page_watchers; ++i)
    all.push_back(board.watch());
  CAF_CHECK(board.watch() == nullptr);
  CAF_CHECK_EQUAL(begun, static_cast<int>(defaults::page_watchers));
  board.whole();
  board.whole();
  CAF_CHECK_EQUAL(begun, static_cast<int>(defaults::page_watchers) + 1);
  all.front().reset();
  CAF_CHECK_EQUAL(board.watchers(), defaults::page_watchers - 1);
  CAF_CHECK(board.watch() != nullptr);
}

CAF_TEST(PAGE-5 the end of the board ends its watchers) {
  page_board board;
  const auto watcher = board.watch();
  board.close();
  CAF_CHECK(!watcher->next(std::chrono::hours{1}).has_value());
  CAF_CHECK(board.watch() == nullptr);
}
