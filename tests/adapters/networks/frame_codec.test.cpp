#include "adapters/networks/frame_codec.hpp"

#include "config/defaults.hpp"
#include "messages/status.hpp"
#include "tests/adapters/networks/frames.hpp"
#include "tests/test.hpp"

#include <algorithm>
#include <random>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

/// Reads everything there is.
/// @returns whether nothing was wrong.
bool read_all(frame_reader& from, std::string_view bytes,
              std::vector<lane_frame>& out) {
  from.push(bytes);
  for (;;) {
    auto x = from.next();
    if (!x)
      return false;
    if (!*x)
      return true;
    out.push_back(std::move(**x));
  }
}

std::string reason_for(std::string_view bytes, size_t limit = 1 << 20) {
  frame_reader uut{limit};
  uut.push(bytes);
  const auto x = uut.next();
  return x ? std::string{} : reason_of(x.error());
}

} // namespace

CAF_TEST(LINK-1 X43 every frame comes out as it went in) {
  for (const auto& x : some_frames()) {
    const auto bytes = encoded(x);
    frame_reader uut;
    std::vector<lane_frame> out;
    CAF_REQUIRE(read_all(uut, bytes, out));
    CAF_REQUIRE_EQUAL(out.size(), 1U);
    CAF_CHECK(is_same(x, out.front()));
    CAF_CHECK_EQUAL(uut.held(), 0U);
  }
}

CAF_TEST(X39 frames come out whole wherever the bytes are split) {
  std::string bytes;
  const auto frames = some_frames();
  for (const auto& x : frames)
    encode_frame(x, bytes);
  for (size_t i = 0; i <= bytes.size(); ++i) {
    frame_reader uut;
    std::vector<lane_frame> out;
    CAF_REQUIRE(read_all(uut, std::string_view{bytes}.substr(0, i), out));
    CAF_REQUIRE(read_all(uut, std::string_view{bytes}.substr(i), out));
    CAF_REQUIRE_EQUAL(out.size(), frames.size());
    CAF_CHECK(
      std::equal(frames.begin(), frames.end(), out.begin(),
                 [](const auto& x, const auto& y) { return is_same(x, y); }));
  }
  for (const size_t piece : {1, 2, 7, 11, 13}) {
    frame_reader uut;
    std::vector<lane_frame> out;
    for (size_t i = 0; i < bytes.size(); i += piece)
      CAF_REQUIRE(read_all(uut, std::string_view{bytes}.substr(i, piece), out));
    CAF_CHECK_EQUAL(out.size(), frames.size());
    CAF_CHECK_EQUAL(uut.held(), 0U);
  }
}

CAF_TEST(X39 no single bit can change without being noticed) {
  for (const auto& x : some_frames()) {
    const auto good = encoded(x);
    for (size_t i = 0; i < good.size() * 8; ++i) {
      auto bytes = good;
      bytes[i / 8] = static_cast<char>(bytes[i / 8] ^ (1 << i % 8));
      frame_reader uut;
      std::vector<lane_frame> out;
      CAF_CHECK(!read_all(uut, bytes, out));
      CAF_CHECK(out.empty());
      // It stays broken: nothing after it is believed.
      CAF_CHECK(!read_all(uut, good, out));
      CAF_CHECK(out.empty());
    }
  }
}

CAF_TEST(X39 a frame that was cut is never given out) {
  for (const auto& x : some_frames()) {
    const auto good = encoded(x);
    for (size_t i = 0; i < good.size(); ++i) {
      frame_reader uut;
      std::vector<lane_frame> out;
      CAF_CHECK(read_all(uut, std::string_view{good}.substr(0, i), out));
      CAF_CHECK(out.empty());
    }
  }
}

CAF_TEST(LIM22 X43 a frame beyond its limit is refused by its header alone) {
  const auto big = encoded(some_data(1, std::string(5000, 'x')));
  CAF_CHECK_EQUAL(reason_for(big, big.size()), "");
  CAF_CHECK_EQUAL(reason_for(big.substr(0, frame_header_size), big.size() - 1),
                  "not a frame: " + std::to_string(big.size())
                    + " bytes, limit " + std::to_string(big.size() - 1)
                    + " (L22)");
  // The largest message of a session fits.
  const auto largest =
    encoded(some_data(1, std::string(defaults::lane_frame - 4096, 'x')));
  CAF_CHECK_EQUAL(reason_for(largest), "");
  CAF_CHECK(
    reason_for(encoded(some_data(1, std::string(defaults::lane_frame, 'x'))))
      .find("limit 1048576")
    != std::string::npos);
}

CAF_TEST(X43 fields that are out of range or missing or too many are refused) {
  const auto content = [](const lane_frame& x) {
    return encoded(x).substr(frame_header_size);
  };
  const auto refuses = [](uint8_t kind, const std::string& bytes) {
    const auto x = decode_frame_content(kind, bytes);
    return !x && status_of(x.error()) == status::bad_param;
  };
  for (const auto& x : some_frames()) {
    const auto kind = static_cast<uint8_t>(x.index());
    const auto good = content(x);
    CAF_CHECK(!refuses(kind, good));
    if (kind != 1)
      CAF_CHECK(refuses(kind, good + '\0'));
    const auto fields = kind == 1 ? size_t{17 + 1 + 32} : good.size();
    for (size_t i = 0; i < fields; ++i)
      CAF_CHECK(refuses(kind, good.substr(0, i)));
  }
  // Kinds that do not exist.
  for (int kind = 5; kind < 256; ++kind)
    CAF_CHECK(refuses(static_cast<uint8_t>(kind), ""));
  // A class that does not exist; an acknowledgement that speaks of one; an
  // answer that is neither yes nor no.
  auto data = content(some_data(1, "x"));
  data[8] = traffic_classes;
  CAF_CHECK(refuses(1, data));
  auto ack = content(ack_frame{});
  ack[8] = static_cast<char>(all_classes + 1);
  CAF_CHECK(refuses(2, ack));
  auto probe = content(probe_frame{});
  probe[16] = 2;
  CAF_CHECK(refuses(3, probe));
}

CAF_TEST(X36 X43 what is no frame is refused with its first header) {
  for (const auto* x : {"GET / HTTP/1.1\r\n", "SSH-2.0-OpenSSH_9.2\r\n",
                        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"})
    CAF_CHECK(!reason_for(x).empty());
  CAF_CHECK(!reason_for(std::string(64, '\0')).empty());
}

CAF_TEST(X43 random bytes are held to what has come in) {
  std::mt19937_64 random{4711};
  for (auto round = 0; round < 2000; ++round) {
    std::string bytes(random() % 200, '\0');
    for (auto& c : bytes)
      c = static_cast<char>(random());
    // Half of them with a header that is right.
    if (round % 2 == 0 && bytes.size() >= 40) {
      const auto head = encoded(some_data(1, std::string(100'000, 'x')));
      bytes.replace(0, frame_header_size, head, 0, frame_header_size);
    }
    frame_reader uut;
    std::vector<lane_frame> out;
    read_all(uut, bytes, out);
    CAF_CHECK(out.empty());
    CAF_CHECK(uut.held() <= bytes.size());
  }
}

CAF_TEST(X43 frames without checksums come out whole and cut ones never) {
  auto frames = some_frames();
  frames.push_back(some_data(4, std::string(100'000, 'z')));
  std::string bytes;
  for (const auto& x : frames) {
    const auto one = encoded(x, frame_check::bare);
    // It is another protocol: neither takes the other's.
    frame_reader strict;
    std::vector<lane_frame> out;
    CAF_CHECK(!read_all(strict, one, out));
    frame_reader lax{defaults::lane_frame, frame_check::bare};
    CAF_CHECK(!read_all(lax, encoded(x), out));
    CAF_CHECK(out.empty());
    bytes += one;
  }
  for (const size_t piece : {1, 11, 1000, 16384, 200'000}) {
    frame_reader uut{defaults::lane_frame, frame_check::bare};
    std::vector<lane_frame> out;
    for (size_t i = 0; i < bytes.size(); i += piece)
      CAF_REQUIRE(read_all(uut, std::string_view{bytes}.substr(i, piece), out));
    CAF_CHECK_EQUAL(uut.held(), 0U);
    CAF_REQUIRE_EQUAL(out.size(), frames.size());
    CAF_CHECK(
      std::equal(frames.begin(), frames.end(), out.begin(),
                 [](const auto& x, const auto& y) { return is_same(x, y); }));
  }
  // A header is looked at as before.
  for (size_t i = 0; i < frame_header_size * 8; ++i) {
    auto changed = bytes;
    changed[i / 8] = static_cast<char>(changed[i / 8] ^ (1 << i % 8));
    frame_reader uut{defaults::lane_frame, frame_check::bare};
    std::vector<lane_frame> out;
    CAF_CHECK(!read_all(uut, changed, out));
    CAF_CHECK(out.empty());
  }
}

CAF_TEST(O3 the rest of a payload may be put where it stays) {
  auto frames = some_frames();
  frames.push_back(some_data(4, std::string(100'000, 'z')));
  frames.push_back(some_data(5, "behind"));
  std::string bytes;
  for (const auto& x : frames)
    encode_frame(x, bytes);
  for (const size_t piece : {1, 11, 1000, 16384, 200'000}) {
    frame_reader uut;
    std::vector<lane_frame> out;
    auto is_used = false;
    for (auto rest = std::string_view{bytes}; !rest.empty();) {
      const auto room = uut.payload_room();
      auto next = rest.substr(0, piece);
      if (room.size > 0) {
        is_used = true;
        next = next.substr(0, room.size);
        std::copy(next.begin(), next.end(), room.data);
        uut.filled(next.size());
      } else {
        uut.push(next);
      }
      rest.remove_prefix(next.size());
      for (;;) {
        auto x = uut.next();
        CAF_REQUIRE(x);
        if (!*x)
          break;
        out.push_back(std::move(**x));
      }
    }
    CAF_CHECK_EQUAL(is_used, piece < bytes.size());
    CAF_CHECK_EQUAL(uut.held(), 0U);
    CAF_REQUIRE_EQUAL(out.size(), frames.size());
    CAF_CHECK(
      std::equal(frames.begin(), frames.end(), out.begin(),
                 [](const auto& x, const auto& y) { return is_same(x, y); }));
  }
}

CAF_TEST(O3 a payload goes up as the text that it came in) {
  const auto bytes = encoded(some_data(1, std::string(100'000, 'y')));
  for (const size_t piece : {16384, 200'000}) {
    frame_reader uut;
    std::vector<lane_frame> out;
    for (size_t i = 0; i < bytes.size(); i += piece)
      CAF_REQUIRE(read_all(uut, std::string_view{bytes}.substr(i, piece), out));
    CAF_REQUIRE_EQUAL(out.size(), 1u);
    const auto& payload = std::get<data_frame>(out.front()).payload;
    CAF_CHECK(text_of(payload)->data() == payload.data.get());
  }
}

CAF_TEST(O3 the rest of a large payload need not be copied) {
  const auto whole = some_data(1, std::string(100'000, 'y'));
  std::string begin;
  const auto part = encode_frame(whole, begin, 1000);
  const auto payload = bytes_of(std::get<data_frame>(whole).payload);
  CAF_CHECK_EQUAL(begin.size(), 1000u);
  CAF_CHECK_EQUAL(begin + std::string{payload.substr(part)}, encoded(whole));
  // Where there is no room at all, it has none of it.
  CAF_CHECK_EQUAL(encode_frame(whole, begin, 1000), 0u);
}
