// Events that a host gives back to the server that they come from.

#include "adapters/c_host/host_module.hpp"
#include "messages/status.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

const info text{"text", 0, value::string("hello")};

info mark(value what) {
  return {std::string{origin_key}, 0, std::move(what)};
}

} // namespace

CAF_TEST(P-J2 E57 a server knows what went up from it and no other does) {
  auto infos = std::vector<info>{text};
  mark_origin(infos, "here");
  CAF_CHECK_EQUAL(infos.size(), 2u);
  auto elsewhere = infos;
  CAF_CHECK(take_origin(infos, "here"));
  CAF_CHECK(infos == std::vector<info>{text});
  CAF_CHECK(!take_origin(elsewhere, "there"));
  CAF_CHECK(elsewhere == std::vector<info>{text});
}

CAF_TEST(P-J2 an event that the host raises itself is nobodys echo) {
  auto infos = std::vector<info>{text};
  CAF_CHECK(!take_origin(infos, "here"));
  CAF_CHECK(!take_origin(infos, ""));
  CAF_CHECK(infos == std::vector<info>{text});
}

CAF_TEST(P-J2 a process cannot mark its events) {
  auto infos = std::vector<info>{mark(value::string("forged")), text,
                                 mark(value::uint32(7))};
  mark_origin(infos, "here");
  CAF_CHECK(infos == (std::vector<info>{text, mark(value::string("here"))}));
  CAF_CHECK(!take_origin(infos, "forged"));
}

CAF_TEST(P-J2 all marks go wherever they stand and whatever they are) {
  auto infos = std::vector<info>{mark(value::uint32(7)), text,
                                 mark(value::string("here"))};
  CAF_CHECK(take_origin(infos, "here"));
  CAF_CHECK(infos == std::vector<info>{text});
}
