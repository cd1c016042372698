// What tools show of a mesh.

#include "actors/mesh/host/mesh_report.hpp"

#include "tests/test.hpp"

using namespace troupe;

namespace {

const value* find(const value& object, std::string_view key) {
  const auto* array = object.array();
  CAF_REQUIRE(array != nullptr);
  for (const auto& x : array->elements)
    if (const auto* y = std::get_if<box<info>>(&x.data); y && (*y)->key == key)
      return &(*y)->val;
  return nullptr;
}

const value& at(const value& object, std::string_view key) {
  const auto* result = find(object, key);
  if (result == nullptr)
    CAF_FAIL("no " << key);
  return *result;
}

} // namespace

CAF_TEST(a report has a line for each lane of each peer) {
  auto lane = lane_status{};
  lane.lane = 7;
  lane.network = "eth1";
  lane.is_usable = true;
  lane.round_trip = std::chrono::microseconds{120};
  lane.relay = 3;
  auto peer = peer_status{};
  peer.rank = 2;
  peer.name = "n2";
  peer.is_connected = true;
  peer.lanes = {lane, lane};
  peer.sent = 11;
  peer.failovers = 5;
  auto status = mesh_status{};
  status.name = "n1";
  status.parent = 0;
  status.duty = mesh_duty::active;
  status.addresses = {{"eth0", "10.0.0.1", 4711}};
  status.peers = {peer};
  status.gauges = {{"mesh.to.n2", 12, 64, "bytes"}, {"a", 1, 0, "things"}};
  const auto report = net_report(status);
  const auto& gauge = at(at(report, "gauges"), "item");
  CAF_CHECK_EQUAL(*at(gauge, "name").text(), "mesh.to.n2");
  CAF_CHECK_EQUAL(at(gauge, "value").number<uint32_t>(), 12u);
  CAF_CHECK_EQUAL(at(gauge, "bound").number<uint32_t>(), 64u);
  CAF_CHECK_EQUAL(*at(report, "name").text(), "n1");
  CAF_CHECK_EQUAL(*at(report, "duty").text(), "active");
  CAF_CHECK_EQUAL(at(report, "parent").number<uint32_t>(), 0u);
  const auto& address = at(at(report, "addresses"), "item");
  CAF_CHECK_EQUAL(at(address, "port").number<uint32_t>(), 4711u);
  const auto& shown = at(at(report, "peers"), "item");
  CAF_CHECK_EQUAL(at(shown, "sent").number<uint32_t>(), 11u);
  CAF_CHECK_EQUAL(at(shown, "failovers").number<uint32_t>(), 5u);
  CAF_CHECK(find(shown, "trouble") == nullptr);
  const auto* lanes = at(shown, "lanes").array();
  CAF_REQUIRE_EQUAL(lanes->elements.size(), 2u);
  const auto& first = at(at(shown, "lanes"), "item");
  CAF_CHECK_EQUAL(at(first, "round_trip_ns").number<uint64_t>(), 120'000u);
  CAF_CHECK_EQUAL(at(first, "relay").number<uint32_t>(), 3u);
  CAF_CHECK(at(first, "usable").truth());
}

CAF_TEST(O5 lanes and addresses have a kind unless they lead through others) {
  auto lanes = std::vector<lane_status>(3);
  lanes[0].local = "10.0.0.1";
  lanes[1].local = "@troupe-lane.0.1";
  auto peer = peer_status{};
  peer.lanes = lanes;
  auto status = mesh_status{};
  status.addresses = {{"unix", "@troupe-lane.0.1", 0}};
  status.peers = {peer};
  const auto report = net_report(status);
  CAF_CHECK_EQUAL(*at(at(at(report, "addresses"), "item"), "kind").text(),
                  "unix");
  const auto* shown = at(at(at(report, "peers"), "item"), "lanes").array();
  CAF_REQUIRE(shown != nullptr);
  auto kinds = std::string{};
  for (const auto& x : shown->elements) {
    const auto* kind = find(std::get<box<info>>(x.data)->val, "kind");
    kinds += kind != nullptr ? *kind->text() + " " : "- ";
  }
  CAF_CHECK_EQUAL(kinds, "tcp unix - ");
}

CAF_TEST(the root has no parent and a peer without lanes says why) {
  auto peer = peer_status{};
  peer.trouble = "10.0.0.2: Connection refused";
  auto status = mesh_status{};
  status.peers = {peer};
  const auto report = net_report(status);
  CAF_CHECK(find(report, "parent") == nullptr);
  CAF_CHECK_EQUAL(*at(at(at(report, "peers"), "item"), "trouble").text(),
                  peer.trouble);
}
