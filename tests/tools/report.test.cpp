// What `troupe nodes`, `jobs`, `ps` and `net` show.

#include "tools/report.hpp"

#include "actors/mesh/host/mesh_report.hpp"
#include "base/report_values.hpp"
#include "tests/test.hpp"

#include <nlohmann/json.hpp>

using namespace troupe;

namespace {

using nlohmann::json;

info with(std::string key, value x) {
  return {std::move(key), 0, std::move(x)};
}

value node(uint32_t rank, std::string name, uint32_t slots) {
  return value::infos({with("rank", value::uint32(rank)),
                       with("name", value::string(std::move(name))),
                       with("state", value::string("live")),
                       with("slots", value::uint32(slots)),
                       with("procs", value::uint32(0))});
}

} // namespace

CAF_TEST(answers become JSON without loss) {
  const auto got = to_json(report_list({node(0, "n0", 4), node(1, "n1", 16)}));
  const auto expected = json::parse(R"([
    {"rank": 0, "name": "n0", "state": "live", "slots": 4, "procs": 0},
    {"rank": 1, "name": "n1", "state": "live", "slots": 16, "procs": 0}])");
  CAF_CHECK_EQUAL(got, expected);
  CAF_CHECK_EQUAL(to_json(report_list({})), json::array());
  CAF_CHECK_EQUAL(to_json(value::boolean(true)), json(true));
  CAF_CHECK_EQUAL(to_json(value::integer(-3)), json(-3));
  CAF_CHECK_EQUAL(to_json(value{}), json(nullptr));
}

CAF_TEST(columns are aligned and what is missing is a dash) {
  const auto text = to_text(
    report_kind::nodes,
    to_json(report_list({node(0, "a-long-name", 4), node(12, "n1", 16)})));
  CAF_CHECK_EQUAL(text, "RANK  NAME         STATE  SLOTS  PROCS  LANES\n"
                        "   0  a-long-name  live       4      0  -\n"
                        "  12  n1           live      16      0  -\n");
}

CAF_TEST(nothing is a line of titles) {
  CAF_CHECK_EQUAL(to_text(report_kind::jobs, json::array()),
                  "JOB  STATE  NODES  PROCS  COMMAND\n");
  CAF_CHECK_EQUAL(to_text(report_kind::jobs, json("x")),
                  "JOB  STATE  NODES  PROCS  COMMAND\n");
}

CAF_TEST(X31 what a name holds does not reach the terminal) {
  const auto text =
    to_text(report_kind::nodes, to_json(report_list({node(0, "\x1b[1mn", 4)})));
  CAF_CHECK(text.find('\x1b') == std::string::npos);
}

CAF_TEST(a peer has a line for each of its lanes and one for its trouble) {
  auto lane = lane_status{};
  lane.network = "eth0";
  lane.local = "10.0.0.1:1";
  lane.remote = "10.0.0.2:2";
  lane.is_usable = true;
  lane.round_trip = std::chrono::microseconds{120};
  auto other = lane;
  other.relay = 4;
  auto near = peer_status{};
  near.rank = 1;
  near.name = "n1";
  auto along = lane;
  along.network = "relay"; // Along the tree, whoever that is.
  near.lanes = {lane, other, along};
  near.sent = 5;
  auto far = peer_status{};
  far.rank = 2;
  far.name = "n2";
  far.trouble = "refused";
  auto status = mesh_status{};
  status.name = "n0";
  status.duty = mesh_duty::active;
  status.epoch = 3;
  status.addresses = {{"eth0", "10.0.0.1", 77}, {"unix", "@a-name", 0}};
  status.peers = {near, far};
  const auto text = to_text(
    report_kind::networks,
    to_json(report_list({net_report(status), silent_report(3, "mute")})));
  CAF_CHECK_EQUAL(text,
                  "node 0 (n0), active, epoch 3\n"
                  "listens on eth0 10.0.0.1 port 77\n"
                  "listens on unix @a-name\n"
                  "RANK  NAME  NETWORK         KIND  LOCAL       REMOTE      "
                  "USABLE  ROUND TRIP  SENT  "
                  "RESENT  DELIVERED  WAITING\n"
                  "   1  n1    eth0            tcp   10.0.0.1:1  10.0.0.2:2  "
                  "yes     0.120 ms       5  "
                  "     0          0        0\n"
                  "   1  n1    through 4       tcp   10.0.0.1:1  10.0.0.2:2  "
                  "yes     0.120 ms       5  "
                  "     0          0        0\n"
                  "   1  n1    through others  tcp   10.0.0.1:1  10.0.0.2:2  "
                  "yes     0.120 ms       5  "
                  "     0          0        0\n"
                  "   2  n2    -               -     -           -           "
                  "no      -              0  "
                  "     0          0        0\n"
                  "n2: refused\n"
                  "\n"
                  "node 3: mute\n");
}
