// Lists of processes and of nodes with their processes, as nodes write them.

#include "messages/runs.hpp"

#include "messages/bounded_codec.hpp"
#include "messages/mesh.hpp"
#include "messages/value_inspect.hpp"
#include "tests/test.hpp"

#include <random>

using namespace troupe;

namespace {

/// A job of so many processes on each of so many nodes.
job_map regular(uint32_t nodes, uint32_t each, bool is_cyclic) {
  auto result = job_map{"job@1", 1, {}, {}};
  for (uint32_t node = 0; node < nodes; ++node) {
    auto share = node_share{node, "node" + std::to_string(node), {}};
    for (uint32_t i = 0; i < each; ++i)
      share.procs.push_back(
        {is_cyclic ? i * nodes + node : node * each + i, 0, {}});
    result.shares.push_back(std::move(share));
  }
  return result;
}

/// Nodes whose names, numbers and processes are nearly regular.
job_map drawn(uint32_t seed) {
  auto random = std::mt19937{seed};
  const auto draw = [&](uint32_t n) {
    return static_cast<uint32_t>(random() % n);
  };
  auto result = job_map{"job@1", 1, {}, {}};
  auto node = draw(12);
  auto rank = draw(4);
  const auto stride = draw(3);
  const auto padding = std::string(draw(3), '0');
  const auto domain = draw(2) == 0 ? ".cluster" : "";
  for (auto n = draw(8); n > 0; --n, node += draw(6) == 0 ? 2 : 1) {
    const auto number = std::to_string(draw(10) == 0 ? draw(20) : node);
    auto share = node_share{node, "n" + padding + number + domain, {}};
    for (auto i = draw(8) == 0 ? draw(4) : 2; i > 0; --i, rank += stride) {
      share.procs.push_back({rank, draw(10) == 0 ? 1u : 0u, {}});
      if (draw(12) == 0)
        share.procs.back().cpus = {draw(3), draw(3)};
    }
    result.shares.push_back(std::move(share));
  }
  return result;
}

template <class T>
bool survives(const T& x) {
  const auto y = decode<T>(encode(x));
  return y && *y == x;
}

/// Whether damage is either noticed or another way to write something.
template <class T>
bool has_one_way(const T& x, uint32_t seed) {
  auto random = std::mt19937{seed};
  auto bytes = encode(x);
  for (int i = 0; i < 4; ++i) {
    auto damaged = bytes;
    damaged[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
    const auto y = decode<T>(damaged);
    if (y && encode(*y) != damaged)
      return false;
  }
  return true;
}

} // namespace

CAF_TEST(the map of a regular job is a few bytes whatever its size) {
  for (const auto is_cyclic : {false, true}) {
    const auto large = regular(1000, 100, is_cyclic);
    CAF_CHECK_LESS_OR_EQUAL(encode(large).size(), 48u);
    CAF_CHECK(survives(large));
  }
  CAF_CHECK_LESS_OR_EQUAL(encode(regular(100000, 1, false)).size(), 48u);
}

CAF_TEST(maps of jobs survive the way) {
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    const auto x = drawn(seed);
    CAF_CHECK(survives(x));
    CAF_CHECK(has_one_way(x, seed));
  }
  auto x = regular(3, 2, false);
  // A name with a number that is too large to count, and without any.
  x.shares[0].hostname = "n99999999999999999999";
  x.shares[1].hostname = "";
  x.shares[2].hostname = "node";
  CAF_CHECK(survives(x));
  // From nine to ten, and with as many digits.
  x.shares[0].hostname = "n9";
  x.shares[1].hostname = "n10";
  x.shares[2].hostname = "n011";
  CAF_CHECK(survives(x));
}

CAF_TEST(lists of processes survive the way) {
  auto random = std::mt19937{3};
  for (uint32_t seed = 0; seed < 500; ++seed) {
    auto x = group_entry{};
    auto calls = group_calls{};
    auto rank = uint32_t{0};
    for (auto n = random() % 12; n > 0; --n) {
      rank += random() % 5 == 0 ? 3 : 1;
      x.participants.push_back({random() % 9 == 0 ? "other" : "job",
                                random() % 12 == 0 ? rank_wildcard : rank});
      calls.procs.push_back({"job", rank_valid_max - 2 + rank % 6});
    }
    x.what = std::move(calls);
    CAF_CHECK(survives(x));
    CAF_CHECK(has_one_way(x, seed));
  }
}

CAF_TEST(X44 runs of more than there is room for are refused) {
  // As `proc_runs` and `share_runs` would be written.
  auto bytes = std::string{};
  auto out = codec_writer{bytes};
  out.write(group_key{});
  out.put_number(1);
  out.put_text("job");
  out.put_number(0);
  out.put_number(rank_valid_max);
  CAF_CHECK(!decode<group_entry>(bytes));
  const auto map_of = [](uint64_t nodes, uint64_t ranks,
                         std::vector<uint32_t> cpus = {}) {
    auto result = std::string{};
    auto to = codec_writer{result};
    to.put_text("job");
    to.put_number(1);
    to.put_number(1); // one run of nodes
    to.put_number(0);
    to.put_number(nodes);
    to.put_text("n");
    to.put_number(0);
    to.put_number(1);
    to.put_text("");
    to.put_number(1); // step
    to.put_number(1); // one row
    to.put_number(0);
    to.put_number(ranks > 1 ? 1 : 0);
    to.put_number(ranks);
    to.put_number(0);
    to.write(cpus);
    to.put_number(0); // nobody is lost
    return result;
  };
  CAF_CHECK(decode<job_map>(map_of(2, 1)).engaged());
  CAF_CHECK(!decode<job_map>(map_of(UINT32_MAX, 1)));
  CAF_CHECK(!decode<job_map>(map_of(2, UINT32_MAX)));
  CAF_CHECK(!decode<job_map>(map_of(UINT32_MAX, UINT32_MAX)));
  CAF_CHECK(!decode<job_map>(map_of(UINT32_MAX, 0)));
  CAF_CHECK(!decode<job_map>(map_of(0, 1)));
  // One whose processors are known stands alone.
  CAF_CHECK(decode<job_map>(map_of(2, 1, {0})).engaged());
  CAF_CHECK(!decode<job_map>(map_of(2, 2, {0})));
}

CAF_TEST(X44 ranks that are not in a row are refused as if they were) {
  auto bytes = std::string{};
  auto out = codec_writer{bytes};
  out.write(group_key{});
  out.put_number(1);
  out.put_text("job");
  out.put_number(rank_valid_max);
  out.put_number(1000000);
  CAF_CHECK(!decode<group_entry>(bytes));
}
