#include "adapters/wire/node_map.hpp"

#include "adapters/wire/compression.hpp"
#include "messages/status.hpp"
#include "tests/test.hpp"

#include <rapidcheck.h>

using namespace troupe;
using namespace troupe::wire;

namespace {

using names = std::vector<std::string>;

std::string format(const names& nodes, map_form form) {
  const auto x = format_node_map(nodes, form);
  return x ? *x : std::string{"?"};
}

std::string blob(const std::string& list) {
  const auto compressed = deflate_text(list);
  return std::string{"blob:\0component=zlib:\0size=", 27}
         + std::to_string(compressed.size()) + std::string{":\0", 2}
         + compressed;
}

constexpr map_form forms[] = {map_form::ranges, map_form::raw, map_form::blob};

} // namespace

// The examples are what real 4.2.2 and 5.0.10 libraries wrote.
CAF_TEST(F3 node maps of real libraries) {
  const auto nodes = names{"n01", "n02", "n03", "n07", "login", "gpu1x"};
  const auto ranges = std::string{"pmix[n[2:1-3,7],login,gpu[1:1]x]"};
  CAF_CHECK_EQUAL(format(nodes, map_form::ranges), ranges);
  CAF_CHECK(parse_node_map(ranges) == nodes);
  CAF_CHECK(parse_node_map(ranges + '\0') == nodes);
  CAF_CHECK(parse_node_map("raw:n01,n02") == (names{"n01", "n02"}));
  CAF_CHECK(parse_node_map("n01,n02") == (names{"n01", "n02"}));
  CAF_CHECK(parse_node_map(blob("n01,n02")) == (names{"n01", "n02"}));
  CAF_CHECK_EQUAL(format(nodes, map_form::raw),
                  "raw:n01,n02,n03,n07,login,gpu1x");
}

CAF_TEST(F3 process maps of real libraries) {
  const auto ranks = proc_map{{0, 1, 2, 3}, {4, 5, 6, 7}, {8}};
  CAF_CHECK_EQUAL(format_proc_map(ranks, map_form::ranges), "pmix[0-3;4-7;8]");
  CAF_CHECK_EQUAL(format_proc_map(ranks, map_form::raw), "raw:0-3;4-7;8");
  CAF_CHECK(parse_proc_map("pmix[0-3;4-7;8]") == ranks);
  CAF_CHECK(parse_proc_map("raw:0-3;4-7;8") == ranks);
  CAF_CHECK(parse_proc_map("0,1,2,3;4,5,6,7;8") == ranks);
  CAF_CHECK(parse_proc_map(blob("0-3;4-7;8")) == ranks);
  CAF_CHECK(parse_proc_map("raw:0-1,5;3") == (proc_map{{0, 1, 5}, {3}}));
}

CAF_TEST(F3 the order of names and their zeros are kept) {
  for (const auto& nodes :
       {names{"a28n01", "a99n02", "a28n02"}, names{"n9", "n10", "n11"},
        names{"n2", "n1", "n3"}, names{"n1", "n1", "n01"},
        names{"1", "2", "03"}, names{"my-node-1", "my-node-2", "a.b.c"},
        names{"n1234567890123", "n1234567890124"}, names{"x"}, names{}})
    for (auto form : forms)
      CAF_CHECK(parse_node_map(format(nodes, form)) == nodes);
}

CAF_TEST(F3 random maps survive) {
  CAF_CHECK(rc::check("nodes", [] {
    const auto letters = rc::gen::elementOf(std::string{"ab0129-."});
    const auto name =
      rc::gen::nonEmpty(rc::gen::container<std::string>(letters));
    const auto nodes = *rc::gen::container<names>(name);
    for (auto form : forms)
      RC_ASSERT(parse_node_map(format(nodes, form)) == nodes);
  }));
  CAF_CHECK(rc::check("ranks", [] {
    const auto rank = rc::gen::inRange<uint32_t>(0, 20);
    const auto node =
      rc::gen::nonEmpty(rc::gen::container<std::vector<uint32_t>>(rank));
    const auto ranks = *rc::gen::container<proc_map>(node);
    for (auto form : forms)
      RC_ASSERT(parse_proc_map(format_proc_map(ranks, form)) == ranks);
  }));
}

CAF_TEST(X48 X49 maps that stand for too much are stopped) {
  CAF_CHECK(!parse_proc_map("pmix[0-999999999]"));
  CAF_CHECK(!parse_proc_map("pmix[0-4294967294]"));
  CAF_CHECK(!parse_proc_map("raw:0-99999999999999999999"));
  CAF_CHECK(!parse_node_map("pmix[n[9:0-999999999]]"));
  CAF_CHECK(!parse_node_map("pmix[n[18:0-999999999999999999]]"));
  const auto x = parse_node_map("pmix[n[7:0-1048576]]");
  CAF_REQUIRE(!x);
  CAF_CHECK(status_of(x.error()) == status::out_of_resource);
  CAF_CHECK_EQUAL(parse_node_map("pmix[n[7:1-1048576]]")->size(),
                  max_map_entries);
  // Long names times many numbers.
  CAF_CHECK(
    !parse_node_map("pmix[" + std::string(1000, 'n') + "[6:0-999999]]"));
  // A blob that expands too far.
  CAF_CHECK(!parse_proc_map(blob(std::string(10000000, '1'))));
}

CAF_TEST(X48 X49 damaged maps are refused) {
  for (const auto* text : {"pmix[",         "pmix[n[",        "pmix[n[1",
                           "pmix[n[1:",     "pmix[n[1:1",     "pmix[n[1:1]",
                           "pmix[n[1:]]",   "pmix[n[:1]]",    "pmix[n[x:1]]",
                           "pmix[n[1:x]]",  "pmix[n[1:2-1]]", "pmix[n[1:1-]]",
                           "pmix[n[1:1]]]", "pmix[n[[1:1]]]", "pmix[n]1:1[]",
                           "pmix[n[99:1]]", "pmix[,]",        "pmix[a,,b]",
                           "raw:a,,b",      "raw:,",          "blob:"})
    CAF_CHECK(!parse_node_map(text) || *parse_node_map(text) == names{text});
  for (const auto* text : {"pmix[0-]", "pmix[-1]", "raw:a", "raw:1-0",
                           "raw:4294967295", "raw:0--1", "1;x"})
    CAF_CHECK(!parse_proc_map(text));
  CAF_CHECK(!parse_node_map(std::string{"a\0b", 3}));
  CAF_CHECK(!parse_node_map("pmix[" + std::string(100000, '[')));
  const auto whole = blob("n01,n02");
  for (size_t n = 28; n < whole.size(); ++n)
    CAF_CHECK(!parse_node_map(whole.substr(0, n)));
  CAF_CHECK(!parse_node_map(whole + "xx"));
}

CAF_TEST(F3 names that no form can hold are refused) {
  for (auto form : forms)
    for (const auto* name : {"", "a,b", "a;b", "a[1]", "a:b"})
      CAF_CHECK(!format_node_map({name}, form));
}
