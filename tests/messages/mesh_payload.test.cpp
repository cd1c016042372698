#include "messages/mesh_payload.hpp"

#include "messages/actors.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace std::string_literals;

namespace {

peer_payload payload_of(const std::string& bytes) {
  return make_payload(std::make_shared<const std::string>(bytes));
}

template <class T>
bool survives(const T& x) {
  const auto bytes = to_payload(x);
  const auto y = read_payload(bytes);
  if (!y)
    return false;
  const auto* z = std::get_if<T>(&*y);
  return z != nullptr && to_payload(*z) == bytes;
}

relayed_frame relayed(lane_frame x) {
  return {3, 4, via_tree, 2, std::move(x)};
}

} // namespace

CAF_TEST(what nodes say to each other survives the way) {
  auto row =
    node_row{3, "n3", 77, node_state::live, 9, {{"eth0", "10.0.0.3", 99}}};
  CAF_CHECK(survives(node_message{node_welcome{3, 9, {row, row}, {}}}));
  CAF_CHECK(survives(node_message{node_departure{}}));
  CAF_CHECK(survives(node_message{
    node_join{"n3", 77, true, std::chrono::nanoseconds{5}, row.addresses}}));
  auto question = prepare_share{};
  question.map = {"job", 3, {{1, "n1", {{0, 0, {1, 2}}, {1, 0, {}}}}}};
  CAF_CHECK(survives(host_message{host_call{1, 0, 0, {}, {}, question}}));
  CAF_CHECK(
    survives(host_message{host_call{2, 0, 1, {}, {}, collective_part{}}}));
  CAF_CHECK(survives(
    host_message{host_answer{2, mesh_failure{status::unreach, "gone"}}}));
  CAF_CHECK(survives(message_part{1000, 10, "bytes"}));
}

CAF_TEST(frames survive the way through another node) {
  auto received = acknowledgement{};
  received.classes = all_classes;
  received.next = {1, 2, 3, 4, 5, 6};
  received.limit = {9, 8, 7, 6, 5, 4};
  auto token = session_token{};
  token.fill(200);
  CAF_CHECK(survives(
    relayed(hello_frame{{{3, 7}, 1, token}, {{4, 0}, 0, {}}, received, 9})));
  CAF_CHECK(survives(relayed(ack_frame{12, received})));
  CAF_CHECK(survives(relayed(probe_frame{12, 5, true, received})));
  CAF_CHECK(survives(relayed(gone_frame{12, 5, received})));
  const auto data = data_frame{12, traffic_class::io, 3, received,
                               payload_of(std::string(1000, 'x'))};
  CAF_CHECK(survives(relayed(data)));
  const auto back = read_payload(to_payload(relayed(data)));
  const auto& frame =
    std::get<data_frame>(std::get<relayed_frame>(*back).frame);
  CAF_CHECK_EQUAL(bytes_of(frame.payload), std::string(1000, 'x'));
}

CAF_TEST(X43 what is not on the list is not built) {
  CAF_CHECK(!read_payload(""));
  CAF_CHECK(!read_payload("\x04"s));
  CAF_CHECK(!read_payload("\xff\xff\xff"s));
  // A node message of a kind that does not exist.
  CAF_CHECK(!read_payload("\0\x0c"s));
  CAF_CHECK(read_payload("\0\x0b"s).engaged());
}

CAF_TEST(X16 X44 payloads cut anywhere are refused) {
  auto row =
    node_row{3, "n3", 77, node_state::live, 9, {{"eth0", "10.0.0.3", 99}}};
  const auto bytes = to_payload(node_message{node_update{1, 2, {row}}});
  for (size_t i = 0; i < bytes.size(); ++i)
    CAF_CHECK(!read_payload(std::string_view{bytes}.substr(0, i)));
}

CAF_TEST(a part is known by its first byte) {
  CAF_CHECK(is_part(to_payload(message_part{1, 0, "x"})));
  CAF_CHECK(!is_part(to_payload(node_message{node_departure{}})));
  CAF_CHECK(!is_part(""));
}

CAF_TEST(O1 streams and questions are overtaken and nothing else) {
  const auto of = [](traffic_class x) { return data_frame{12, x, 3, {}, {}}; };
  CAF_CHECK(may_be_overtaken(of(traffic_class::io)));
  CAF_CHECK(may_be_overtaken(of(traffic_class::environment)));
  CAF_CHECK(!may_be_overtaken(of(traffic_class::membership)));
  CAF_CHECK(!may_be_overtaken(of(traffic_class::control)));
  CAF_CHECK(!may_be_overtaken(of(traffic_class::collectives)));
  CAF_CHECK(!may_be_overtaken(of(traffic_class::job_events)));
  CAF_CHECK(may_be_overtaken(probe_frame{12, 5, false, {}}));
  CAF_CHECK(!may_be_overtaken(probe_frame{12, 5, true, {}}));
  CAF_CHECK(!may_be_overtaken(hello_frame{}));
  CAF_CHECK(!may_be_overtaken(ack_frame{12, {}}));
  CAF_CHECK(!may_be_overtaken(gone_frame{12, 5, {}}));
}

CAF_TEST(O1 ACT-15 on relays actors wait for collectives and streams for both) {
  using of = traffic_class;
  const auto data = [](of x) { return data_frame{12, x, 3, {}, {}}; };
  const auto rows = std::vector<std::pair<lane_frame, of>>{
    {data(of::membership), of::collectives},
    {data(of::control), of::collectives},
    {data(of::collectives), of::collectives},
    {data(of::job_events), of::collectives},
    {data(of::actors), of::actors},
    {data(of::io), of::io},
    {data(of::environment), of::io},
    {probe_frame{12, 5, false, {}}, of::io},
    {probe_frame{12, 5, true, {}}, of::collectives},
    {hello_frame{}, of::collectives},
    {ack_frame{12, {}}, of::collectives},
    {gone_frame{12, 5, {}}, of::collectives},
  };
  for (const auto& [frame, expected] : rows)
    CAF_CHECK(class_on_relays(frame) == expected);
}

CAF_TEST(a payload that is all of a text gives it away as it is) {
  const auto text = std::make_shared<const std::string>(100, 'x');
  auto whole = make_payload(text);
  CAF_CHECK(text_of(whole).get() == text.get());
  whole.text = nullptr;
  const auto copy = text_of(whole);
  CAF_CHECK(copy.get() != text.get());
  CAF_CHECK_EQUAL(*copy, *text);
}
