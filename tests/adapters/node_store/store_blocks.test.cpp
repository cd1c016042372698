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
  /// @param front So much of its beginning lies apart.
  explicit fixture(size_t size = size_t{1} << 20, size_t front = 0)
    : bytes(size - front, '\0'), first(front, '\0') {
    // nop
  }

  bool post(const std::vector<store_entry>& entries) {
    return writer.append(entries);
  }

  store_area area() const {
    return {bytes.data(), bytes.size() + first.size(), 0, true, first.data(),
            first.size()};
  }

  std::string find(std::string_view name, views seen_by = here) const {
    const auto x = find_entry(area(), chain.last, name, seen_by);
    return x ? std::string{*x} : "(none)";
  }

  std::string list(uint64_t after = 0) const {
    auto result = std::string{};
    const auto is_whole =
      list_entries(area(), chain.last, after, [&](const store_entry& x) {
        result += std::string{x.name} + "=" + std::string{x.value} + ":"
                  + std::to_string(x.views) + " ";
      });
    return is_whole ? result : "(damaged)";
  }

  size_t blocks() const {
    auto result = size_t{0};
    for (auto x = chain.last.load(); x != 0; ++result)
      x = place_of_block(area(), x)->previous;
    return result;
  }

  std::string bytes;
  std::string first;
  store_chain chain{};
  bool has_memory = true;
  block_writer writer{
    {bytes.data(), bytes.size() + first.size(), first.data(), first.size()},
    chain,
    [this](uint64_t, uint64_t) { return has_memory; }};
};

} // namespace

CAF_TEST(nothing is found in zeros) {
  const auto x = fixture{};
  CAF_CHECK_EQUAL(x.find("a"), "(none)");
  CAF_CHECK_EQUAL(x.list(), "");
  CAF_CHECK(!place_of_block(x.area(), 0));
  CAF_CHECK(!place_of_block(x.area(), 8));
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

CAF_TEST(names are told apart in blocks of any size) {
  for (size_t count = 1; count <= 10; ++count) {
    fixture x;
    auto names = std::vector<std::string>{};
    for (size_t i = 0; i < count; ++i)
      names.push_back("key-" + std::to_string(i));
    auto entries = std::vector<store_entry>{};
    for (const auto& name : names)
      entries.push_back({name, name, both});
    CAF_CHECK(x.post(entries));
    for (const auto& name : names)
      CAF_CHECK_EQUAL(x.find(name), name);
    CAF_CHECK_EQUAL(x.find("key-" + std::to_string(count)), "(none)");
    CAF_CHECK_EQUAL(x.find("key"), "(none)");
    CAF_CHECK_EQUAL(x.find(""), "(none)");
  }
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
  const auto seen = x.chain.last.load();
  const auto end = place_of_block(x.area(), seen)->end;
  CAF_CHECK_EQUAL(x.list(seen), "");
  CAF_CHECK(x.post({{"b", "1", both}}));
  CAF_CHECK_EQUAL(x.list(seen), "b=1:3 ");
  // From a copy of the part that is new.
  const auto part =
    store_area{x.bytes.data() + end, x.chain.writing - end, end, false};
  auto n = 0;
  CAF_CHECK(
    list_entries(part, x.chain.last, seen, [&](const store_entry&) { ++n; }));
  CAF_CHECK_EQUAL(n, 1);
  CAF_CHECK(
    !list_entries(part, x.chain.last, 0, [&](const store_entry&) { ++n; }));
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
  CAF_CHECK(x.chain.writing < 12 * written);
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
  const auto next = x.chain.writing.load();
  CAF_CHECK(!x.post({{"a", std::string(256, 'x'), both}}));
  CAF_CHECK(!x.post({{std::string(store_name_limit + 1, 'n'), "1", both}}));
  x.has_memory = false;
  CAF_CHECK(!x.post({{"b", "1", both}}));
  CAF_CHECK(before == x.bytes);
  CAF_CHECK_EQUAL(next, x.chain.writing.load());
  x.has_memory = true;
  auto posted = 0;
  while (x.post({{"b" + std::to_string(posted), "1", both}}))
    ++posted;
  CAF_CHECK(posted > 2);
  CAF_CHECK_EQUAL(x.find("a"), "1");
  CAF_CHECK_EQUAL(x.find("b0"), "1");
}

CAF_TEST(what is replaced makes room for ever) {
  const std::pair<size_t, size_t> sizes[] = {
    {1024, 0}, {1536, 0}, {4096, 0}, {1536, 128}, {4096, 256}, {4096, 1024}};
  for (const auto& [size, front] : sizes) {
    auto x = fixture{size, front};
    CAF_REQUIRE(x.post({{"other", std::string(40, 'o'), both}}));
    for (auto i = 0; i < 3000; ++i) {
      const auto text =
        std::string(static_cast<size_t>(i % 50), static_cast<char>(i % 256));
      CAF_REQUIRE(x.post({{"k", text, both}}));
      CAF_REQUIRE(x.find("k") == text);
      CAF_REQUIRE(x.find("other") == std::string(40, 'o'));
      CAF_REQUIRE(x.blocks() <= 12);
    }
    CAF_CHECK(x.chain.writing > 20 * size);
  }
}

CAF_TEST(a reader sees whether it was overtaken) {
  auto x = fixture{1024};
  CAF_CHECK(x.post({{"k", "1", both}}));
  auto lowest = uint64_t{0};
  const auto last = x.chain.last.load();
  CAF_CHECK(find_entry(x.area(), last, "k", here, &lowest));
  CAF_CHECK_EQUAL(lowest, last);
  for (auto i = 0; i < 100; ++i) {
    const auto is_whole = x.chain.writing <= lowest + 1024;
    const auto found = find_entry(x.area(), last, "k");
    CAF_CHECK(!is_whole || found == "1");
    CAF_CHECK(x.post({{"k", std::to_string(i), both}}));
  }
  CAF_CHECK(x.chain.writing > lowest + 1024);
}

CAF_TEST(no block goes over the end of a front) {
  constexpr auto front = size_t{256};
  auto x = fixture{8192, front};
  CAF_CHECK(x.post({{"a", std::string(20, 'a'), both}}));
  CAF_CHECK(x.chain.last < front);
  CAF_CHECK(x.bytes == std::string(8192 - front, '\0'));
  // Has room where the rest begins, and nowhere before that.
  CAF_CHECK(x.post({{"b", std::string(front, 'b'), both}}));
  CAF_CHECK_EQUAL(x.chain.last.load(), front);
  CAF_CHECK_EQUAL(x.find("a"), std::string(20, 'a'));
  CAF_CHECK_EQUAL(x.find("b"), std::string(front, 'b'));
  CAF_CHECK_EQUAL(x.list(), "a=" + std::string(20, 'a')
                              + ":3 b=" + std::string(front, 'b') + ":3 ");
  // One of a size that no front has goes past it in the next turn as well.
  while (x.chain.last < 8192) {
    CAF_REQUIRE(x.post({{"b", std::string(front + 1, 'c'), both}}));
    CAF_REQUIRE(x.chain.last % 8192 >= front);
    CAF_REQUIRE(x.find("a") == std::string(20, 'a'));
  }
  CAF_CHECK_EQUAL(x.find("b"), std::string(front + 1, 'c'));
  // A front that others have spoilt is read to its end at most.
  auto y = fixture{8192, front};
  CAF_CHECK(y.post({{"a", "1", both}}));
  const auto size = uint32_t{front};
  std::memcpy(y.first.data() + y.chain.last + 8, &size, sizeof(size));
  CAF_CHECK_EQUAL(y.find("a"), "(none)");
  CAF_CHECK_EQUAL(y.list(), "(damaged)");
}

CAF_TEST(who comes to the end of all numbers posts nothing) {
  fixture x;
  CAF_CHECK(x.post({{"a", "1", both}}));
  x.chain.writing = UINT64_MAX - 7;
  x.chain.last = UINT64_MAX - 7 - 48;
  std::memcpy(x.bytes.data() + x.chain.last % x.bytes.size(),
              x.bytes.data() + 8, 48);
  CAF_CHECK(!x.post({{"a", "2", both}}));
}

CAF_TEST(a later writer goes on where the other one was) {
  fixture x;
  CAF_CHECK(x.post({{"a", "1", both}}));
  // The first one was killed while it wrote.
  const auto end = x.chain.writing.load();
  x.chain.writing = end + 200;
  std::memset(x.bytes.data() + end, 'x', 200);
  auto other = block_writer{{x.bytes.data(), x.bytes.size()},
                            x.chain,
                            [](uint64_t, uint64_t) { return true; }};
  CAF_CHECK(other.append({{"b", "2", both}}));
  CAF_CHECK_EQUAL(x.list(), "a=1:3 b=2:3 ");
}

CAF_TEST(random histories read as a map does) {
  for (auto seed = 0u; seed < 50; ++seed) {
    auto random = std::mt19937{seed};
    auto x = fixture{size_t{1} << 20, seed % 2 == 0 ? size_t{0} : size_t{1024}};
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
    CAF_CHECK(
      list_entries(x.area(), x.chain.last, 0, [&](const store_entry& y) {
        if ((y.views & here) != 0)
          listed_near[std::string{y.name}] = std::string{y.value};
        if ((y.views & elsewhere) != 0)
          listed_far[std::string{y.name}] = std::string{y.value};
      }));
    CAF_CHECK(listed_near == near);
    CAF_CHECK(listed_far == far);
  }
}

CAF_TEST(X51 damage at any byte is survived) {
  fixture x{8192};
  CAF_CHECK(x.post({{"a", std::string(300, 'x'), both}}));
  CAF_CHECK(x.post({{"b", "2", both}, {"c", "3", elsewhere}}));
  const auto good = x.bytes;
  auto random = std::mt19937{1};
  const auto last = x.chain.last.load();
  const auto end = x.chain.writing.load();
  for (size_t i = 0; i < end; ++i)
    for (auto j = 0; j < 8; ++j) {
      x.bytes = good;
      x.bytes[i] = static_cast<char>(random());
      x.find("a");
      x.find("c", elsewhere);
      x.list();
      // It writes within its area, or not at all.
      x.post({{"d", "4", both}});
      x.chain.last = last;
      x.chain.writing = end;
    }
}
