// Who wants which streams.

#include "actors/io/io_patterns.hpp"

#include "tests/test.hpp"

using namespace troupe;

namespace {

using ids = std::vector<uint64_t>;
using ranks = std::vector<uint32_t>;

constexpr auto out = io_channels::stdout_;
constexpr auto err = io_channels::stderr_;
constexpr auto both = static_cast<io_channels>(2 | 4);

io_stream stream(const std::string& nspace, uint32_t rank,
                 io_channels channel = out) {
  return {{nspace, rank}, channel};
}

} // namespace

CAF_TEST(I2 I5 I6 patterns name processes and jobs and ranks and all(203)) {
  auto uut = io_patterns{};
  uut.add(1, {{"a", 3}}, out);
  uut.add(2, {{"a", rank_wildcard}}, err);
  uut.add(3, {{"", 3}}, both);
  uut.add(4, {{"", rank_wildcard}}, out);
  CAF_CHECK_EQUAL(uut.of(stream("a", 3)), (ids{1, 3, 4}));
  CAF_CHECK_EQUAL(uut.of(stream("a", 3, err)), (ids{2, 3}));
  CAF_CHECK_EQUAL(uut.of(stream("a", 4)), ids{4});
  CAF_CHECK_EQUAL(uut.of(stream("a", 4, err)), ids{2});
  CAF_CHECK_EQUAL(uut.of(stream("b", 3, err)), ids{3});
  CAF_CHECK(uut.of(stream("b", 4, err)).empty());
  CAF_CHECK(!uut.wants(stream("b", 4, err)));
  CAF_CHECK(uut.wants(stream("b", 4)));
}

CAF_TEST(I2 who names a stream several times is found once) {
  auto uut = io_patterns{};
  uut.add(1, {{"a", 3}, {"a", rank_wildcard}, {"a", 3}, {"", 3}}, both);
  CAF_CHECK_EQUAL(uut.of(stream("a", 3)), ids{1});
  uut.remove(1);
  CAF_CHECK(!uut.wants(stream("a", 3)));
  CAF_CHECK(uut.nspaces().empty());
}

CAF_TEST(I13 what is wanted of a job is one set of ranks and channels) {
  auto uut = io_patterns{};
  CAF_CHECK(uut.wanted("a").ranks.empty());
  uut.add(1, {{"a", 3}, {"b", 1}}, out);
  uut.add(2, {{"a", 1}}, err);
  uut.add(3, {{"a", 3}}, out);
  CAF_CHECK_EQUAL(uut.wanted("a").ranks, (ranks{1, 3}));
  CAF_CHECK(uut.wanted("a").channels == both);
  uut.add(4, {{"a", rank_wildcard}}, out);
  CAF_CHECK_EQUAL(uut.wanted("a").ranks, ranks{rank_wildcard});
  uut.remove(4);
  uut.remove(2);
  CAF_CHECK_EQUAL(uut.wanted("a").ranks, ranks{3});
  CAF_CHECK(uut.wanted("a").channels == out);
  uut.remove(1);
  CAF_CHECK_EQUAL(uut.wanted("a").ranks, ranks{3});
  CAF_CHECK(uut.wanted("b").ranks.empty());
  uut.remove(3);
  CAF_CHECK(uut.wanted("a").ranks.empty());
}

CAF_TEST(I17 the end of a job takes what is for it alone(204)) {
  auto uut = io_patterns{};
  uut.add(1, {{"a", 3}}, out);
  uut.add(2, {{"a", rank_wildcard}, {"b", 0}}, out);
  uut.add(3, {{"", rank_wildcard}}, out);
  CAF_CHECK_EQUAL(uut.forget("a"), ids{1});
  CAF_CHECK_EQUAL(uut.of(stream("a", 3)), ids{3});
  CAF_CHECK_EQUAL(uut.of(stream("b", 0)), (ids{2, 3}));
  CAF_CHECK_EQUAL(uut.size(), 2u);
  CAF_CHECK(uut.forget("a").empty());
  uut.remove(2);
  CAF_CHECK_EQUAL(uut.of(stream("b", 0)), ids{3});
}
