#include "adapters/node_store/brought_data.hpp"

#include "tests/test.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace troupe;

namespace {

struct fixture {
  explicit fixture(uint64_t size = uint64_t{64} << 10)
    : memory(size / sizeof(uint64_t)),
      server(bytes(), size, [this](uint64_t offset, uint64_t n) {
        reserved = std::max(reserved, offset + n);
        return reserved <= most_reserved;
      }) {
    // nop
  }

  char* bytes() {
    return reinterpret_cast<char*>(memory.data());
  }

  store_area area() {
    return {bytes(), memory.size() * sizeof(uint64_t), 0, false};
  }

  bool add(uint32_t rank, const std::string& name, const std::string& val) {
    return server.add(rank, shown[rank], {{name, val}});
  }

  std::string find(uint32_t rank, const std::string& name) {
    return find_brought(area(), shown[rank], name).value_or("nothing");
  }

  uint64_t reserved = 0;
  uint64_t most_reserved = UINT64_MAX;
  std::vector<uint64_t> memory;
  std::array<std::atomic<uint64_t>, 8> shown{};
  brought_data server;
};

} // namespace

CAF_TEST(what has come of a rank is found and what comes later replaces it) {
  fixture x;
  CAF_CHECK_EQUAL(x.find(1, "a"), "nothing");
  CAF_CHECK(x.server.add(1, x.shown[1], {{"a", "1"}, {"b", ""}, {"a", "2"}}));
  CAF_CHECK_EQUAL(x.find(1, "a"), "2");
  CAF_CHECK_EQUAL(x.find(1, "b"), "");
  CAF_CHECK_EQUAL(x.find(1, "c"), "nothing");
  CAF_CHECK_EQUAL(x.find(2, "a"), "nothing");
  CAF_CHECK(x.add(2, "a", "other"));
  CAF_CHECK(x.add(1, "a", "3"));
  CAF_CHECK_EQUAL(x.find(1, "a"), "3");
  CAF_CHECK_EQUAL(x.find(1, "b"), "");
  CAF_CHECK_EQUAL(x.find(2, "a"), "other");
  x.server.drop(1, x.shown[1]);
  CAF_CHECK_EQUAL(x.find(1, "a"), "nothing");
  CAF_CHECK_EQUAL(x.find(2, "a"), "other");
}

CAF_TEST(a name of no bytes is nobodys) {
  fixture x;
  CAF_CHECK(x.add(1, "", "1"));
  CAF_CHECK_EQUAL(x.find(1, ""), "nothing");
  // The older block is large enough to stay.
  CAF_CHECK(x.add(1, "large", std::string(5000, 'x')));
  CAF_CHECK(x.add(1, "a", "1"));
  CAF_CHECK_EQUAL(x.find(1, ""), "nothing");
  CAF_CHECK_EQUAL(x.find(1, "large").size(), 5000u);
}

CAF_TEST(what comes one by one is all there and costs little) {
  fixture x{uint64_t{1} << 20};
  auto last = uint64_t{0};
  auto changes = 0;
  for (auto i = 0; i < 3000; ++i) {
    CAF_REQUIRE(x.add(3, "key." + std::to_string(i), std::to_string(i)));
    changes += std::exchange(last, x.reserved) != x.reserved;
  }
  for (auto i = 0; i < 3000; ++i)
    CAF_CHECK_EQUAL(x.find(3, "key." + std::to_string(i)), std::to_string(i));
  // 40 bytes each, and as much again that has been replaced.
  CAF_CHECK(x.server.size_bytes() < 150000);
  CAF_CHECK(x.reserved < 500000);
  CAF_CHECK(changes < 200);
}

CAF_TEST(what is replaced is written over) {
  fixture x{uint64_t{64} << 10};
  for (auto i = 0; i < 10000; ++i) {
    const auto text = std::string(static_cast<size_t>(i % 1000), 'a' + i % 26);
    CAF_REQUIRE(x.add(i % 4, "k", text));
    CAF_REQUIRE_EQUAL(x.find(i % 4, "k"), text);
  }
  CAF_CHECK(x.server.size_bytes() < 5000);
}

CAF_TEST(of a rank for which there is no room nothing is shown) {
  fixture x{uint64_t{16} << 10};
  CAF_CHECK(x.add(1, "a", "old"));
  CAF_CHECK(x.add(2, "b", "2"));
  CAF_CHECK(!x.add(1, "a", std::string(20000, 'x')));
  CAF_CHECK_EQUAL(x.find(1, "a"), "nothing");
  CAF_CHECK_EQUAL(x.find(2, "b"), "2");
  CAF_CHECK(x.add(3, "c", std::string(10000, 'x')));
  CAF_CHECK(!x.add(1, "a", std::string(10000, 'x')));
  x.server.drop(3, x.shown[3]);
  CAF_CHECK(x.add(1, "a", std::string(10000, 'x')));
  CAF_CHECK_EQUAL(x.find(1, "a").size(), 10000u);
  CAF_CHECK(!x.add(4, std::string(store_name_limit + 1, 'n'), "1"));
  // Nor is there if the machine has none.
  x.most_reserved = x.reserved;
  CAF_CHECK(!x.add(2, "c", std::string(3000, 'x')));
  CAF_CHECK_EQUAL(x.find(2, "b"), "nothing");
}

CAF_TEST(whatever comes is found as it came last) {
  fixture x{uint64_t{256} << 10};
  auto draw = std::mt19937{7};
  auto model = std::array<std::map<std::string, std::string>, 8>{};
  for (auto i = 0; i < 20000; ++i) {
    const auto rank = draw() % 8;
    if (draw() % 500 == 0) {
      x.server.drop(rank, x.shown[rank]);
      model[rank].clear();
    }
    auto names = std::vector<std::string>(1 + draw() % 5);
    auto entries = std::vector<store_entry>{};
    const auto text =
      std::string(draw() % (draw() % 20 == 0 ? 2000 : 50), 'a' + i % 26);
    for (auto& name : names) {
      name = std::to_string(draw() % 40);
      entries.push_back({name, text});
    }
    const auto fits = x.server.add(rank, x.shown[rank], entries);
    if (!fits)
      model[rank].clear();
    else
      for (const auto& name : names)
        model[rank][name] = text;
    const auto name = std::to_string(draw() % 40);
    for (uint32_t of = 0; of < 8; ++of) {
      const auto j = model[of].find(name);
      CAF_REQUIRE_EQUAL(x.find(of, name),
                        j != model[of].end() ? j->second : "nothing");
    }
  }
}

CAF_TEST(X50 a board of a server that has gone mad is read to an end) {
  fixture x;
  CAF_CHECK(x.add(1, "large", std::string(5000, 'x')));
  const auto large = x.shown[1].load() & UINT32_MAX;
  CAF_CHECK(x.add(1, "small", "1"));
  // A block that is its own predecessor.
  const auto small = (x.shown[1].load() & UINT32_MAX) * store_alignment;
  const auto link = find_entry(x.area(), small, "");
  CAF_REQUIRE(link && link->size() == sizeof(small));
  std::memcpy(x.bytes() + (link->data() - x.bytes()), &small, sizeof(small));
  CAF_CHECK_EQUAL(x.find(1, "large"), "nothing");
  CAF_CHECK_EQUAL(x.find(1, "small"), "1");
  // Words that lead out of the area, and into the midst of a block.
  for (const auto word : {uint64_t{UINT32_MAX}, UINT64_MAX, x.memory.size(),
                          large + 1, uint64_t{x.memory.size() - 1}}) {
    x.shown[1] = word;
    CAF_CHECK_EQUAL(x.find(1, "large"), "nothing");
  }
  const auto nowhere = store_area{x.bytes(), 0, 0, false};
  CAF_CHECK(!find_brought(nowhere, x.shown[1], "large"));
}
