#include "actors/mesh/remoting/known_interface.hpp"

#include "tests/test.hpp"

#include <caf/sec.hpp>

using namespace troupe;

namespace {

handle_interface of(std::vector<std::string> signatures) {
  return handle_interface{std::move(signatures)};
}

} // namespace

CAF_TEST(ACT-17 what is known of an interface adds up and is checked whole) {
  auto known = known_interface{};
  CAF_CHECK(!known.is_known());
  CAF_CHECK(!known.check(of({"(a)->(b)"})));
  known.add({});
  CAF_CHECK(!known.is_known());
  known.add(of({"(a)->(b)", "(c)->(void)"}).digests);
  CAF_CHECK(known.is_known());
  CAF_CHECK(!known.check(of({})));
  CAF_CHECK(!known.check(of({"(a)->(b)"})));
  CAF_CHECK(!known.check(of({"(c)->(void)", "(a)->(b)"})));
  const auto more = of({"(a)->(b)", "(d)->(void)"});
  const auto why = known.check(more);
  CAF_CHECK_EQUAL(why, caf::sec::unexpected_actor_messaging_interface);
  CAF_CHECK(to_string(why.context()).find("(d)->(void)") != std::string::npos);
  known.add(more.digests);
  CAF_CHECK_EQUAL(known.digests().size(), 3u);
  CAF_CHECK(!known.check(more));
}

CAF_TEST(ACT-17 too many signatures are as if nothing were known) {
  auto known = known_interface{};
  auto digests = std::vector<uint64_t>{};
  for (uint64_t i = 0; i < known_interface::most; ++i)
    digests.push_back(known_interface::most - i);
  known.add(digests);
  known.add(digests);
  CAF_CHECK_EQUAL(known.digests().size(), known_interface::most);
  CAF_CHECK(known.check(of({"(a)->(b)"})));
  known.add({uint64_t{1} << 40});
  CAF_CHECK(!known.is_known());
  CAF_CHECK(!known.check(of({"(a)->(b)"})));
  known.add(digests);
  CAF_CHECK(!known.is_known());
  // Whoever hears of them knows as little.
  auto other = known_interface{};
  other.add({1, 2});
  other.add(known.digests());
  CAF_CHECK(!other.is_known());
}

CAF_TEST(ACT-17 a digest is of all bytes of a signature) {
  CAF_CHECK_EQUAL(digest_of(""), 0xcbf29ce484222325u);
  CAF_CHECK_EQUAL(digest_of("a"), 0xaf63dc4c8601ec8cu);
  CAF_CHECK(digest_of("(a)->(b)") != digest_of("(b)->(a)"));
}
