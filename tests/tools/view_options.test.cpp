// The command lines of `troupe attach` and `troupe io`.

#include "tests/test.hpp"
#include "tools/io.hpp"

using namespace troupe;

namespace {

view_order attach(std::vector<std::string> args) {
  auto x = parse_attach(std::move(args));
  auto* order = std::get_if<view_order>(&x);
  if (order == nullptr)
    CAF_FAIL("not what was asked for");
  return std::move(*order);
}

template <class T>
T io(std::vector<std::string> args) {
  auto x = parse_io(std::move(args));
  auto* order = std::get_if<T>(&x);
  if (order == nullptr)
    CAF_FAIL("not what was asked for");
  return std::move(*order);
}

int refused(std::vector<std::string> args) {
  auto x = parse_attach(std::move(args));
  const auto* result = std::get_if<int>(&x);
  return result != nullptr ? *result : -1;
}

constexpr auto both = static_cast<io_channels>(6);

} // namespace

CAF_TEST(I2 one attaches to a process or a job) {
  const auto one = attach({"dvm@1:3"});
  CAF_CHECK(one.sources == std::vector<proc_id>({{"dvm@1", 3}}));
  CAF_CHECK(one.channels == both);
  CAF_CHECK(!one.is_live && !one.offset && !one.takes_input);
  CAF_CHECK(one.output.policy == io_policy::block);
  const auto all = attach({"dvm@1", "--dvm", "d"});
  CAF_CHECK(all.sources == std::vector<proc_id>({{"dvm@1", rank_wildcard}}));
  CAF_CHECK_EQUAL(all.dvm, "d");
}

CAF_TEST(I8 a viewer begins at an offset or live or with what is kept) {
  CAF_CHECK(attach({"j:0", "--offset", "1M"}).offset == uint64_t{1} << 20);
  CAF_CHECK(attach({"j:0", "--offset", "0"}).offset == uint64_t{0});
  CAF_CHECK(attach({"j:0", "--live"}).is_live);
  CAF_CHECK_EQUAL(refused({"j:0", "--live", "--offset", "0"}), 2);
  CAF_CHECK_EQUAL(refused({"j:0", "--offset", "much"}), 2);
}

CAF_TEST(I6 input goes to one process that is named) {
  const auto x = attach({"-i", "j:0", "--keep-open", "--resume-input"});
  CAF_CHECK(x.takes_input && x.keeps_open && x.repeats_input && !x.is_raw);
  CAF_CHECK_EQUAL(refused({"-i", "j"}), 2);
  CAF_CHECK_EQUAL(refused({"j:0", "--keep-open"}), 2);
}

CAF_TEST(I18 a viewer says what is dropped and how much waits for it) {
  const auto x =
    attach({"j:0", "--output", "tag,drop-oldest", "--window", "64K"});
  CAF_CHECK(x.output.policy == io_policy::drop_oldest);
  CAF_CHECK(x.output.format.tag);
  CAF_CHECK_EQUAL(x.window, 65536u);
}

CAF_TEST(I2 one chooses the streams) {
  CAF_CHECK(attach({"j:0", "--stream", "stderr"}).channels
            == io_channels::stderr_);
  CAF_CHECK(attach({"j:0", "--output", "diag"}).channels
            == static_cast<io_channels>(14));
  CAF_CHECK_EQUAL(refused({"j:0", "--stream", "stdin"}), 2);
}

CAF_TEST(I2 wrong command lines are refused) {
  CAF_CHECK_EQUAL(refused({}), 2);
  CAF_CHECK_EQUAL(refused({"j:first"}), 2);
  CAF_CHECK_EQUAL(refused({"j:0", "--output", "dir=out"}), 2);
  const auto nothing = parse_io({});
  CAF_CHECK_EQUAL(std::get<int>(nothing), 2);
  const auto unknown = parse_io({"show"});
  CAF_CHECK_EQUAL(std::get<int>(unknown), 2);
}

CAF_TEST(I2 streams of several jobs or all can be listed and followed) {
  const auto all = io<view_order>({"follow"});
  CAF_CHECK(all.sources.empty());
  CAF_CHECK(all.output.format.label);
  const auto some = io<view_order>({"follow", "a:1", "b", "--output", "tag"});
  CAF_CHECK(some.sources
            == std::vector<proc_id>({{"a", 1}, {"b", rank_wildcard}}));
  CAF_CHECK(!some.output.format.label);
  const auto list = io<list_order>({"offsets", "a:1", "--json"});
  CAF_CHECK((list.whose == proc_id{"a", 1}));
  CAF_CHECK(list.json);
  CAF_CHECK(io<list_order>({"list"}).whose.nspace.empty());
}
