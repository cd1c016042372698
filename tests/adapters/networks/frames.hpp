#pragma once

// Frames to send, and whether two are the same.

#include "adapters/networks/frame_codec.hpp"
#include "messages/mesh_payload.hpp"

#include <string>
#include <vector>

namespace troupe::fixtures {
inline namespace lane_frames {

inline peer_payload payload_of(std::string bytes) {
  return make_payload(std::make_shared<const std::string>(std::move(bytes)));
}

inline bool is_same(const acknowledgement& x, const acknowledgement& y) {
  auto result = x.classes == y.classes;
  for (size_t i = 0; i < traffic_classes; ++i)
    if (x.speaks_of(i))
      result = result && x.next[i] == y.next[i] && x.limit[i] == y.limit[i];
  return result;
}

inline bool is_same(const hello_frame& x, const hello_frame& y) {
  return x.sender == y.sender && x.receiver == y.receiver
         && is_same(x.received, y.received) && x.lane == y.lane;
}

inline bool is_same(const data_frame& x, const data_frame& y) {
  return x.session == y.session && x.of == y.of && x.number == y.number
         && is_same(x.received, y.received) && x.payload.size == y.payload.size
         && bytes_of(x.payload) == bytes_of(y.payload);
}

inline bool is_same(const ack_frame& x, const ack_frame& y) {
  return x.session == y.session && is_same(x.received, y.received);
}

inline bool is_same(const probe_frame& x, const probe_frame& y) {
  return x.session == y.session && x.number == y.number
         && x.is_answer == y.is_answer && is_same(x.received, y.received);
}

inline bool is_same(const gone_frame& x, const gone_frame& y) {
  return x.session == y.session && x.lane == y.lane
         && is_same(x.received, y.received);
}

inline bool is_same(const lane_frame& x, const lane_frame& y) {
  return x.index() == y.index()
         && std::visit(
           [&](const auto& l) {
             return is_same(l, std::get<std::decay_t<decltype(l)>>(y));
           },
           x);
}

inline acknowledgement some_acknowledgement(uint8_t classes) {
  acknowledgement result;
  result.classes = classes;
  for (size_t i = 0; i < traffic_classes; ++i)
    if (result.speaks_of(i)) {
      result.next[i] = 0x0102030405060708 + i;
      result.limit[i] = ~uint64_t{0} - i;
    }
  return result;
}

inline lane_frame some_data(uint64_t number, std::string bytes) {
  data_frame result;
  result.session = 0xA1A2A3A4A5A6A7A8;
  result.of = traffic_class::io;
  result.number = number;
  result.received = some_acknowledgement(0x21);
  result.payload = payload_of(std::move(bytes));
  return result;
}

/// One of each kind and shape.
inline std::vector<lane_frame> some_frames() {
  hello_frame hello;
  hello.sender = {{7, 0x1122334455667788}, 9, {1, 2, 3, 0xFF}};
  hello.receiver = {{8, 1}, 2, {4}};
  hello.received = some_acknowledgement(all_classes);
  hello.lane = 0x1020304050607080;
  std::vector<lane_frame> result{hello, hello_frame{}};
  result.push_back(some_data(1, "payload"));
  result.push_back(some_data(2, std::string(5, '\0')));
  result.push_back(some_data(3, ""));
  result.push_back(ack_frame{5, some_acknowledgement(4)});
  result.push_back(ack_frame{});
  result.push_back(probe_frame{6, 77, true, some_acknowledgement(0)});
  result.push_back(probe_frame{6, 78, false, some_acknowledgement(32)});
  result.push_back(gone_frame{6, 12, some_acknowledgement(all_classes)});
  return result;
}

inline std::string encoded(const lane_frame& x,
                           frame_check check = frame_check::sum) {
  std::string result;
  encode_frame(x, result, SIZE_MAX, check);
  return result;
}

} // namespace lane_frames
} // namespace troupe::fixtures
