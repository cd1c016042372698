// Which names tools get, and which of them an event is for.

#include "actors/mesh/exchange/connected_tools.hpp"

#include "messages/status.hpp"
#include "tests/test.hpp"

#include <vector>

using namespace troupe;

namespace {

requester connection(uint32_t index, peer_role role, proc_id claimed = {}) {
  auto result = requester{};
  result.index = index;
  result.role = role;
  result.proc = std::move(claimed);
  return result;
}

constexpr auto nameless = peer_role::tool_needs_identity;

} // namespace

CAF_TEST(a tool without a name gets the next one that is free) {
  auto uut = connected_tools{"dvm", 0};
  CAF_CHECK(uut.identify(connection(1, nameless)) == proc_id{"dvm-tool1", 0});
  const auto own = proc_id{"dvm-tool2", 0};
  CAF_CHECK(uut.identify(connection(2, peer_role::tool_with_identity, own))
            == own);
  CAF_CHECK(uut.identify(connection(3, nameless)) == proc_id{"dvm-tool3", 0});
  auto elsewhere = connected_tools{"dvm", 2};
  CAF_CHECK(elsewhere.identify(connection(1, nameless))
            == proc_id{"dvm-tool2.1", 0});
}

CAF_TEST(names of jobs and schedulers are refused) {
  auto uut = connected_tools{"dvm", 0};
  for (const auto& x :
       {connection(1, peer_role::tool_with_identity, {"dvm@1", 0}),
        connection(1, nameless, {"dvm@99", 0}),
        connection(1, peer_role::scheduler, {"scheduler", 0})}) {
    const auto name = uut.identify(x);
    CAF_CHECK(!name && status_of(name.error()) == status::no_permissions);
  }
  CAF_CHECK(uut.all().empty());
}

CAF_TEST(an event is for the tools that it names and that are no job) {
  auto uut = connected_tools{"dvm", 0};
  const auto a = proc_id{"a", 0};
  const auto b = proc_id{"b", 0};
  uut.identify(connection(1, peer_role::tool_with_identity, a));
  uut.identify(connection(2, peer_role::tool_with_identity, a));
  uut.identify(connection(3, peer_role::tool_with_identity, b));
  auto places = job_locations{};
  using by_nspace = std::map<std::string, std::vector<proc_id>>;
  CAF_CHECK(uut.among({}, places) == (by_nspace{{"a", {a}}, {"b", {b}}}));
  CAF_CHECK(uut.among({{"a", rank_wildcard}}, places)
            == (by_nspace{{"a", {a}}}));
  CAF_CHECK(uut.named({"b", rank_wildcard}) == std::vector<proc_id>{b});
  CAF_CHECK(uut.has({b}, places));
  uut.forget(3);
  CAF_CHECK(!uut.has({b}, places));
  auto map = job_map{};
  map.nspace = "a";
  places.add(map);
  CAF_CHECK(uut.among({}, places).empty());
}
