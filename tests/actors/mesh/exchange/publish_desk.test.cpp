// What of published data stays on its node, and what the root keeps.

#include "actors/mesh/exchange/publish_desk.hpp"

#include "messages/attributes.hpp"
#include "messages/status.hpp"
#include "tests/test.hpp"

#include <optional>
#include <variant>
#include <vector>

using namespace troupe;

namespace {

std::vector<info> on_node() {
  return {
    {std::string{attr::range}, 0,
     value{data_type::data_range, static_cast<uint64_t>(data_range::local)}}};
}

/// The host of a root, which asks itself.
struct fixture {
  job_locations places;
  std::vector<rooted_request> asked;
  requester who;
  host_calls calls;
  dvm_publishing uut;

  fixture()
    : calls({0, 1}, effects(), places, [](auto, const auto&) {}),
      uut(calls, [](auto, const auto&) {}) {
    who.proc = {"job", 0};
  }

  mesh_calls::effects effects() {
    auto out = mesh_calls::effects{};
    out.now = [] { return mesh_calls::time{0}; };
    out.send = [](const send_to_member&) {};
    out.execute = [this](const mesh_calls::member&, host_question& what,
                         const mesh_calls::answerer& reply) {
      auto& request = std::get<ask_root>(what);
      asked.push_back(request.what);
      if (auto* x = std::get_if<publish_request>(&request.what))
        to_member<ack>(reply)(uut.publish_for_all(request.who, *x));
      else if (auto* x = std::get_if<lookup_request>(&request.what))
        uut.look_up_for_all(request.who, *x, to_member<lookup_result>(reply));
      else if (auto* x = std::get_if<unpublish_request>(&request.what))
        to_member<ack>(reply)(uut.unpublish_for_all(request.who, *x));
    };
    return out;
  }

  status publish(const std::string& key, std::vector<info> infos) {
    auto request = publish_request{};
    request.infos = std::move(infos);
    request.infos.push_back({key, 0, value::uint32(1)});
    auto result = status::error;
    uut.publish(who, request, [&](const caf::expected<ack>& x) {
      result = x ? status::success : status_of(x.error());
    });
    return result;
  }

  /// The keys that are found, in order; none: refused.
  std::optional<std::vector<std::string>>
  look_up(std::vector<std::string> keys, std::vector<info> directives = {}) {
    auto request = lookup_request{};
    request.keys = std::move(keys);
    request.directives = std::move(directives);
    auto result = std::optional<std::vector<std::string>>{};
    uut.look_up(who, request, [&](const caf::expected<lookup_result>& x) {
      if (!x)
        return;
      result.emplace();
      for (const auto& y : x->found)
        result->push_back(y.key);
    });
    return result;
  }
};

using keys = std::vector<std::string>;

} // namespace

CAF_TEST(data for the node does not leave it) {
  fixture x;
  CAF_CHECK(x.publish("a", on_node()) == status::success);
  CAF_CHECK(x.asked.empty());
  CAF_CHECK(x.publish("b", {}) == status::success);
  CAF_CHECK_EQUAL(x.asked.size(), 1u);
}

CAF_TEST(a lookup finds what is here and asks the root for the rest) {
  fixture x;
  x.publish("a", on_node());
  x.publish("b", {});
  x.asked.clear();
  CAF_CHECK(x.look_up({"a"}) == keys{"a"});
  CAF_CHECK(x.asked.empty());
  CAF_CHECK(x.look_up({"a", "b"}) == (keys{"a", "b"}));
  CAF_REQUIRE_EQUAL(x.asked.size(), 1u);
  CAF_CHECK(std::get<lookup_request>(x.asked.front()).keys == keys{"b"});
  CAF_CHECK(x.look_up({"a", "nothing"}) == keys{"a"});
  CAF_CHECK(!x.look_up({"nothing"}));
  x.asked.clear();
  CAF_CHECK(!x.look_up({"b"}, on_node()));
  CAF_CHECK(x.asked.empty());
}
