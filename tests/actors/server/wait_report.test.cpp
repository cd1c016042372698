// What nodes say of collective operations under way, put together.

#include "actors/server/wait_report.hpp"

#include "tests/test.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

using names = std::vector<std::string>;
using procs = std::vector<proc_id>;

/// Six processes, two to a node.
job_locations places() {
  auto map = job_map{};
  map.nspace = "job";
  for (uint32_t node = 0; node < 3; ++node) {
    auto& share = map.shares.emplace_back();
    share.node = node;
    share.hostname = "n" + std::to_string(node);
    for (const auto rank : {2 * node, 2 * node + 1}) {
      auto proc = placed_proc{};
      proc.rank = rank;
      share.procs.push_back(std::move(proc));
    }
  }
  auto result = job_locations{};
  result.add(map);
  return result;
}

wait_part fence(uint64_t joined, procs missing = {}, uint64_t generation = 3) {
  auto result = wait_part{};
  result.id = "fence:job#3";
  result.generation = generation;
  result.participants = {"job:*"};
  result.size = 6;
  result.joined = joined;
  result.missing = missing.size();
  result.named = std::move(missing);
  result.age = 1s;
  return result;
}

/// A line for each operation: what is known of it.
names lines(const wait_list& list) {
  auto result = names{};
  const auto infos = list.report(places());
  for (const auto& item : infos_of(infos.front().val)) {
    const auto x = infos_of(item.val);
    const auto amount = [&](const char* key) {
      return std::to_string(number<uint64_t>(x, key).value_or(99));
    };
    auto line = text(x, "kind").value_or("?") + " of "
                + text(x, "job").value_or("?") + ": " + amount("joined")
                + " of " + amount("size") + ", waits for";
    for (const auto& y : infos_of(*find(x, "missing"))) {
      const auto who = infos_of(y.val);
      line += " " + text(who, "proc").value_or("?") + "@"
              + text(who, "host").value_or("?");
    }
    result.push_back(line + " +" + amount("others") + " ?" + amount("unknown"));
  }
  return result;
}

} // namespace

CAF_TEST(PAGE-10 participants are few letters and are read again) {
  const auto some = procs{{"a", 0}, {"b", rank_wildcard}, {"a", 2}, {"a", 1}};
  CAF_CHECK((participants_of(some) == names{"a:0-2", "b:*"}));
  CAF_CHECK((read_participants({"a:0-1,5", "b:*"})
             == procs{{"a", 0}, {"a", 1}, {"a", 5}, {"b", rank_wildcard}}));
  // Names of ours hold colons nowhere else, those of others may.
  CAF_CHECK((read_participants({"x:y:7"}) == procs{{"x:y", 7}}));
}

CAF_TEST(PAGE-10 participants that take too much are not told) {
  auto many = procs{};
  for (uint32_t rank = 0; rank < 2000; rank += 2)
    many.push_back({"job", rank});
  CAF_CHECK(participants_of(many).empty());
  many.clear();
  for (size_t i = 0; i <= defaults::waits_jobs; ++i)
    many.push_back({"job" + std::to_string(i), 0});
  CAF_CHECK(participants_of(many).empty());
}

CAF_TEST(PAGE-10 what is no list of participants is none) {
  for (const auto* x :
       {"", "job", "job:", "job:x", "job:3-1", "job:1,,2", "job:-1",
        "job:0-4294967290", "job:99999999999", "job:0-65536"})
    CAF_CHECK(read_participants({x}).empty());
  CAF_CHECK(read_participants({"a:0-40000", "b:0-40000"}).empty());
  CAF_CHECK(read_participants({std::string(max_nspace_length + 1, 'x') + ":0"})
              .empty());
}

CAF_TEST(PAGE-10 what a node says is read as it was written) {
  auto x = fence(1, {{"job", 1}});
  x.kind = collective_kind::connect;
  x.is_at_least = true;
  const auto got = read_wait_parts(wait_parts_report({x}));
  CAF_REQUIRE_EQUAL(got.size(), 1u);
  CAF_CHECK(got[0].id == x.id && got[0].kind == x.kind
            && got[0].generation == x.generation
            && got[0].participants == x.participants && got[0].size == x.size
            && got[0].joined == x.joined && got[0].missing == x.missing
            && got[0].named == x.named && got[0].age == x.age
            && got[0].is_at_least);
  CAF_CHECK(read_wait_parts(value::string("x")).empty());
  CAF_CHECK(read_wait_parts(value::infos({{"item", 0, value{}}})).empty());
}

CAF_TEST(PAGE-10 a node tells of the oldest if there are many) {
  auto parts = std::vector<wait_part>{};
  for (size_t i = 0; i < defaults::waits_told + 5; ++i) {
    parts.push_back(fence(1));
    parts.back().age = std::chrono::milliseconds{i};
  }
  const auto got = read_wait_parts(wait_parts_report(std::move(parts)));
  CAF_REQUIRE_EQUAL(got.size(), defaults::waits_told);
  CAF_CHECK(got.front().age
            == std::chrono::milliseconds{defaults::waits_told + 4});
  CAF_CHECK(got.back().age == 5ms);
}

CAF_TEST(PAGE-10 nodes are put together and who has not come is named) {
  auto list = wait_list{};
  list.add(0, {fence(2)});
  list.add(1, {fence(1, {{"job", 3}})});
  list.add(2, {fence(1, {{"job", 4}})});
  CAF_CHECK((lines(list)
             == names{"fence of job: 4 of 6, waits for job:3@n1 job:4@n2 "
                      "+0 ?0"}));
  CAF_CHECK((list.jobs() == procs{{"job", 0}}));
}

CAF_TEST(PAGE-10 a node that does not know an operation has not called it) {
  auto list = wait_list{};
  list.add(0, {fence(2)});
  list.add(1, {});
  list.add(2, {fence(2)});
  CAF_CHECK((lines(list)
             == names{"fence of job: 4 of 6, waits for job:2@n1 job:3@n1 "
                      "+0 ?0"}));
}

CAF_TEST(PAGE-10 nothing is said of nodes that do not answer) {
  auto list = wait_list{};
  list.add(0, {fence(1, {{"job", 1}})});
  list.add(1, {});
  CAF_CHECK((lines(list)
             == names{"fence of job: 1 of 6, waits for job:1@n0 job:2@n1 "
                      "job:3@n1 +0 ?2"}));
}

CAF_TEST(PAGE-10 rounds that overlap and those of one node stay apart) {
  auto list = wait_list{};
  list.add(0, {fence(2), fence(1, {{"job", 1}}, 4), fence(1, {}, 0)});
  list.add(1, {fence(2), fence(1, {}, 0)});
  list.add(2, {fence(2)});
  CAF_CHECK_EQUAL(lines(list).size(), 4u);
}

CAF_TEST(PAGE-10 of many that are missing some are named) {
  auto x = fence(1);
  x.size = 100;
  x.missing = 50;
  for (uint32_t rank = 1; rank <= defaults::waits_missing; ++rank)
    x.named.push_back({"job", rank});
  auto list = wait_list{};
  list.add(0, {x});
  list.add(1, {fence(1)});
  list.add(2, {fence(1)});
  const auto found = lines(list);
  CAF_REQUIRE_EQUAL(found.size(), 1u);
  CAF_CHECK(found[0].find(" +42 ?0") != std::string::npos);
}

CAF_TEST(PAGE-10 how many more there are is told) {
  auto list = wait_list{};
  for (uint32_t node = 0; node < 2; ++node) {
    auto parts = std::vector<wait_part>{};
    for (size_t i = 0; i < defaults::waits_told; ++i) {
      parts.push_back(fence(1, {}, 0));
      parts.back().id = "fence:job#" + std::to_string(i);
    }
    list.add(node, std::move(parts));
  }
  const auto infos = list.report(places());
  CAF_CHECK_EQUAL(lines(list).size(), defaults::waits_told);
  CAF_CHECK(number<uint64_t>(infos, waits_left_out_key)
            == std::optional<uint64_t>{defaults::waits_told});
}
