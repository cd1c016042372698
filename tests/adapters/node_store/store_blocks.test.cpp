#include "adapters/node_store/store_blocks.hpp"

#include "tests/test.hpp"

#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

using namespace troupe;

namespace {

using views = uint8_t;

constexpr auto here = store_view::here;
constexpr auto elsewhere = store_view::elsewhere;
constexpr auto both = views{here | elsewhere};

/// An area with one chain.
struct fixture {
  explicit fixture(size_t size = size_t{1} << 20) : bytes(size, '\0') {
    // nop
  }

  bool post(const std::vector<store_entry>& entries) {
    return writer.append(last, entries);
  }

  store_area area() const {
    return {bytes.data(), bytes.size(), 0};
  }

  std::string find(std::string_view name, views seen_by = here) const {
    const auto x = find_entry(area(), last, name, seen_by);
    return x ? std::string{*x} : "(none)";
  }

  std::string list(uint64_t after = 0) const {
    auto result = std::string{};
    const auto is_whole =
      list_entries(area(), last, after, [&](const store_entry& x) {
        result += std::string{x.name} + "=" + std::string{x.value} + ":"
                  + std::to_string(x.views) + " ";
      });
    return is_whole ? result : "(damaged)";
  }

  size_t blocks() const {
    auto result = size_t{0};
    for (auto x = last.load(); x != 0; ++result)
      std::memcpy(&x, bytes.data() + x, sizeof(x));
    return result;
  }

  std::string bytes;
  std::atomic<uint64_t> last{0};
  uint64_t next = store_alignment;
  bool has_memory = true;
  block_writer writer{bytes.data(), bytes.size(), next,
                      [this](uint64_t, uint64_t) { return has_memory; }};
};

} // namespace

CAF_TEST(nothing is found in zeros) {
  const auto x = fixture{};
  CAF_CHECK_EQUAL(x.find("a"), "(none)");
  CAF_CHECK_EQUAL(x.list(), "");
  CAF_CHECK(end_of_chain(x.area(), 0) == store_alignment);
}

CAF_TEST(what was posted last counts) {
  fixture x;
  CAF_CHECK(x.post({{"a", "1", both}, {"b", "2", both}}));
  CAF_CHECK(x.post({{"a", "3", both}, {"", "", both}}));
  CAF_CHECK_EQUAL(x.find("a"), "3");
  CAF_CHECK_EQUAL(x.find("b"), "2");
  CAF_CHECK_EQUAL(x.find(""), "");
  CAF_CHECK_EQUAL(x.find("c"), "(none)");
  CAF_CHECK_EQUAL(x.list(), "b=2:3 a=3:3 =:3 ");
  CAF_CHECK(x.post({{"c", "4", both}, {"c", "5", both}}));
  CAF_CHECK_EQUAL(x.find("c"), "5");
}

CAF_TEST(each sees what is for it) {
  fixture x;
  CAF_CHECK(x.post({{"a", "all", both}}));
  CAF_CHECK(x.post({{"a", "far", elsewhere}}));
  CAF_CHECK_EQUAL(x.find("a", here), "all");
  CAF_CHECK_EQUAL(x.find("a", elsewhere), "far");
  CAF_CHECK_EQUAL(x.list(), "a=all:3 a=far:2 ");
  CAF_CHECK(x.post({{"a", "near", here}}));
  CAF_CHECK_EQUAL(x.find("a", here), "near");
  CAF_CHECK_EQUAL(x.find("a", elsewhere), "far");
  CAF_CHECK_EQUAL(x.list(), "a=far:2 a=near:1 ");
}

CAF_TEST(what has come since is listed by itself) {
  fixture x;
  CAF_CHECK(x.post({{"a", std::string(1000, 'x'), both}}));
  const auto seen = x.last.load();
  const auto end = *end_of_chain(x.area(), seen);
  CAF_CHECK_EQUAL(x.list(seen), "");
  CAF_CHECK(x.post({{"b", "1", both}}));
  CAF_CHECK_EQUAL(x.list(seen), "b=1:3 ");
  // From a copy of the part that is new.
  const auto part = store_area{x.bytes.data() + end, x.next - end, end};
  auto n = 0;
  CAF_CHECK(list_entries(part, x.last, seen, [&](const store_entry&) { ++n; }));
  CAF_CHECK_EQUAL(n, 1);
  CAF_CHECK(!list_entries(part, x.last, 0, [&](const store_entry&) { ++n; }));
  CAF_CHECK_EQUAL(n, 1);
}

CAF_TEST(chains stay short and cost n log n) {
  fixture x;
  auto written = size_t{0};
  for (auto i = 0; i < 2000; ++i) {
    const auto name = "key-" + std::to_string(i);
    CAF_REQUIRE(x.post({{name, "value", both}}));
    CAF_REQUIRE(x.blocks() <= 12);
    written += 40;
  }
  CAF_CHECK(x.next < 12 * written);
  for (auto i = 0; i < 2000; ++i)
    CAF_REQUIRE_EQUAL(x.find("key-" + std::to_string(i)), "value");
  // Ever smaller ones.
  fixture y;
  for (auto i = 400; i > 0; --i)
    CAF_REQUIRE(y.post({{"key-" + std::to_string(i),
                         std::string(static_cast<size_t>(i), 'x'), both}}));
  CAF_CHECK(y.blocks() <= 12);
}

CAF_TEST(what has no room changes nothing) {
  auto x = fixture{1024};
  CAF_CHECK(x.post({{"a", "1", both}}));
  const auto before = x.bytes;
  const auto next = x.next;
  CAF_CHECK(!x.post({{"a", std::string(1024, 'x'), both}}));
  CAF_CHECK(!x.post({{std::string(store_name_limit + 1, 'n'), "1", both}}));
  x.has_memory = false;
  CAF_CHECK(!x.post({{"b", "1", both}}));
  CAF_CHECK(before == x.bytes);
  CAF_CHECK_EQUAL(next, x.next);
  x.has_memory = true;
  auto posted = 0;
  while (x.post({{"b", std::to_string(posted), both}}))
    ++posted;
  CAF_CHECK(posted > 3);
  CAF_CHECK_EQUAL(x.find("a"), "1");
  CAF_CHECK_EQUAL(x.find("b"), std::to_string(posted - 1));
}

CAF_TEST(a later writer goes on where the chain ends) {
  fixture x;
  CAF_CHECK(x.post({{"a", "1", both}}));
  const auto end = end_of_chain(x.area(), x.last);
  CAF_REQUIRE(end);
  CAF_CHECK_EQUAL(*end, x.next);
  // The first one was killed while it wrote.
  std::memset(x.bytes.data() + *end, 'x', 200);
  auto next = *end;
  auto other = block_writer{x.bytes.data(), x.bytes.size(), next,
                            [](uint64_t, uint64_t) { return true; }};
  CAF_CHECK(other.append(x.last, {{"b", "2", both}}));
  CAF_CHECK_EQUAL(x.list(), "a=1:3 b=2:3 ");
}

CAF_TEST(random histories read as a map does) {
  for (auto seed = 0u; seed < 50; ++seed) {
    auto random = std::mt19937{seed};
    fixture x;
    auto near = std::map<std::string, std::string>{};
    auto far = near;
    for (auto i = 0; i < 60; ++i) {
      auto texts = std::vector<std::string>{};
      auto entries = std::vector<store_entry>{};
      const auto n = random() % 6;
      texts.reserve(2 * n);
      for (size_t j = 0; j < n; ++j) {
        const auto name = texts.emplace_back(std::to_string(random() % 12));
        const auto& val =
          texts.emplace_back(random() % 90, static_cast<char>('a' + i % 26));
        const auto seen_by = static_cast<views>(random() % 3 + 1);
        entries.push_back({texts[texts.size() - 2], val, seen_by});
        if ((seen_by & here) != 0)
          near[name] = val;
        if ((seen_by & elsewhere) != 0)
          far[name] = val;
      }
      CAF_REQUIRE(x.post(entries));
    }
    for (const auto& [name, val] : near)
      CAF_CHECK_EQUAL(x.find(name, here), val);
    for (const auto& [name, val] : far)
      CAF_CHECK_EQUAL(x.find(name, elsewhere), val);
    auto listed_near = std::map<std::string, std::string>{};
    auto listed_far = listed_near;
    CAF_CHECK(list_entries(x.area(), x.last, 0, [&](const store_entry& y) {
      if ((y.views & here) != 0)
        listed_near[std::string{y.name}] = std::string{y.value};
      if ((y.views & elsewhere) != 0)
        listed_far[std::string{y.name}] = std::string{y.value};
    }));
    CAF_CHECK(listed_near == near);
    CAF_CHECK(listed_far == far);
  }
}

CAF_TEST(damage at any byte is survived) {
  fixture x{4096};
  CAF_CHECK(x.post({{"a", std::string(300, 'x'), both}}));
  CAF_CHECK(x.post({{"b", "2", both}, {"c", "3", elsewhere}}));
  const auto good = x.bytes;
  auto random = std::mt19937{1};
  for (size_t i = 0; i < x.next; ++i)
    for (auto j = 0; j < 8; ++j) {
      x.bytes = good;
      x.bytes[i] = static_cast<char>(random());
      x.find("a");
      x.find("c", elsewhere);
      x.list();
      end_of_chain(x.area(), x.last);
      // It writes within its area, or not at all.
      auto next = x.next;
      auto last = x.last.load();
      auto other = block_writer{x.bytes.data(), x.bytes.size(), next,
                                [](uint64_t, uint64_t) { return true; }};
      other.append(x.last, {{"d", "4", both}});
      x.last = last;
    }
}
