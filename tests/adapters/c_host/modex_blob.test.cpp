// What servers exchange through their hosts.

#include "adapters/c_host/modex_blob.hpp"

#include "messages/status.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

std::vector<proc_data> sample(const std::string& nspace) {
  return {{{nspace, 0},
           {{"k", value::string("v")},
            {"n", value::uint32(7)},
            {"b", value::bytes(std::string{"\0x\xff", 3})}}},
          {{nspace, 5}, {}}};
}

} // namespace

CAF_TEST(C4.8 posted data survives the way through a host) {
  const auto blob = to_modex_blob(sample("job"));
  CAF_REQUIRE(blob);
  const auto back = from_modex_blob(*blob);
  CAF_REQUIRE(back);
  CAF_CHECK(*back == sample("job"));
}

CAF_TEST(C4.8 a host joins the pieces of nodes by appending them) {
  const auto all = *to_modex_blob(sample("a")) + *to_modex_blob(sample("b"));
  const auto back = from_modex_blob(all);
  CAF_REQUIRE(back);
  CAF_CHECK_EQUAL(back->size(), 4u);
  CAF_CHECK_EQUAL(back->at(2).proc.nspace, "b");
}

CAF_TEST(C4.8 no data makes no bytes and no bytes are no data) {
  CAF_CHECK(to_modex_blob({})->empty());
  CAF_CHECK(from_modex_blob("")->empty());
}

CAF_TEST(C4.8 every truncation is refused and none is read past its end) {
  const auto blob = *to_modex_blob(sample("job"));
  for (size_t n = 1; n < blob.size(); ++n) {
    const auto copy = std::string{blob, 0, n};
    CAF_CHECK(!from_modex_blob(copy));
  }
}

CAF_TEST(C4.8 bytes of another library are refused) {
  for (const auto* bytes :
       {"x", "TRP1", "TRP1\xff\xff\xff\xff", "TRP2\0\0\0\0"}) {
    const auto back = from_modex_blob(bytes);
    CAF_REQUIRE(!back);
    CAF_CHECK_EQUAL(status_of(back.error()), status::unpack_failure);
  }
}

CAF_TEST(C4.8 any changed byte gives data or an error) {
  const auto blob = *to_modex_blob(sample("job"));
  for (size_t i = 0; i < blob.size(); ++i)
    for (const auto bits : {0x01, 0x80, 0xff}) {
      auto copy = blob;
      copy[i] = static_cast<char>(copy[i] ^ bits);
      const auto back = from_modex_blob(copy);
      CAF_CHECK(back || status_of(back.error()) != status::success);
    }
}
