// The primitives: every bound is kept here, so no decoder can forget one.

#include "adapters/wire/reader.hpp"

#include "adapters/wire/writer.hpp"
#include "tests/adapters/wire/captures.hpp"
#include "tests/test.hpp"

#include <rapidcheck.h>

using namespace troupe;
using namespace troupe::wire;
using namespace troupe::wire::test;

namespace {

dialect rules_of(packing_module x) {
  auto d = dialect{};
  d.module = x;
  return d;
}

const auto flex = rules_of(packing_module::v41);
const auto fixed = rules_of(packing_module::v3);

/// Reads an unsigned integer that must take all bytes.
std::optional<uint64_t> read_unsigned(const std::string& hex, unsigned width,
                                      const dialect& d = flex) {
  const auto bytes = from_hex(hex);
  auto r = reader{bytes, d, origin::client};
  const auto x = r.unsigned_integer(width);
  r.expect_end();
  return r.ok() ? std::optional<uint64_t>{x} : std::nullopt;
}

std::string write_unsigned(uint64_t x, unsigned width, const dialect& d) {
  auto out = std::string{};
  auto w = writer{out, d};
  w.unsigned_integer(x, width);
  return to_hex(w.finish() ? std::string{} : out);
}

template <class T>
bool survives() {
  return rc::check([] {
    // All magnitudes are equally likely.
    const auto x = static_cast<T>(*rc::gen::arbitrary<T>()
                                  >> *rc::gen::inRange(0, 8 * int{sizeof(T)}));
    for (const auto& d : {flex, fixed}) {
      auto out = std::string{};
      auto w = writer{out, d};
      if constexpr (std::is_signed_v<T>)
        w.signed_integer(x, sizeof(T));
      else
        w.unsigned_integer(x, sizeof(T));
      RC_ASSERT(w.ok());
      auto r = reader{out, d, origin::client};
      if constexpr (std::is_signed_v<T>)
        RC_ASSERT(r.signed_integer(sizeof(T)) == x);
      else
        RC_ASSERT(r.unsigned_integer(sizeof(T)) == x);
      r.expect_end();
      RC_ASSERT(r.ok());
    }
  });
}

} // namespace

CAF_TEST(F3 integers have the bytes of the protocol) {
  CAF_CHECK_EQUAL(write_unsigned(300, 4, flex), "ac02");
  CAF_CHECK_EQUAL(write_unsigned(300, 4, fixed), "0000012c");
  CAF_CHECK_EQUAL(write_unsigned(uint64_t{1} << 55, 8, flex),
                  "8080808080808040");
  CAF_CHECK_EQUAL(write_unsigned(uint64_t{1} << 56, 8, flex),
                  "808080808080808001");
  CAF_CHECK_EQUAL(write_unsigned(UINT64_MAX, 8, flex), "ffffffffffffffffff");
  auto out = std::string{};
  auto w = writer{out, flex};
  w.signed_integer(-25, 4);
  w.signed_integer(INT64_MAX, 8);
  CAF_CHECK_EQUAL(to_hex(out), "31feffffffffffffffff");
}

CAF_TEST(F3 integers of every width survive) {
  CAF_CHECK(survives<int8_t>());
  CAF_CHECK(survives<int16_t>());
  CAF_CHECK(survives<int32_t>());
  CAF_CHECK(survives<int64_t>());
  CAF_CHECK(survives<uint8_t>());
  CAF_CHECK(survives<uint16_t>());
  CAF_CHECK(survives<uint32_t>());
  CAF_CHECK(survives<uint64_t>());
}

CAF_TEST(X14 integers that do not fit their width are refused) {
  CAF_CHECK_EQUAL(read_unsigned("ffff03", 2), uint64_t{65535});
  CAF_CHECK(!read_unsigned("808004", 2));
  CAF_CHECK_EQUAL(read_unsigned("ffffffff0f", 4), uint64_t{UINT32_MAX});
  CAF_CHECK(!read_unsigned("8080808010", 4));
  CAF_CHECK_EQUAL(read_unsigned("ffffffffffffffffff", 8), UINT64_MAX);
  // Ten bytes, and more bytes than the value needs.
  CAF_CHECK(!read_unsigned("ffffffffffffffffff01", 8));
  CAF_CHECK(!read_unsigned("8000", 4));
  CAF_CHECK(!read_unsigned("808080808080808000", 8));
  for (auto width : {1u, 2u, 4u})
    CAF_CHECK_EQUAL(write_unsigned(uint64_t{1} << (8 * width), width, flex),
                    "");
}

CAF_TEST(X16 nothing is read past the end) {
  CAF_CHECK(!read_unsigned("", 1));
  CAF_CHECK(!read_unsigned("80", 2));
  CAF_CHECK(!read_unsigned("00", 2, fixed));
  CAF_CHECK(!read_unsigned("00000000000000", 8, fixed));
}

CAF_TEST(X16 the first error stays and ends everything) {
  const auto bytes = from_hex("0203");
  auto r = reader{bytes, flex, origin::client};
  r.byte();
  r.fail("the first");
  r.fail("the second");
  CAF_CHECK_EQUAL(reason_of(r.failure()), "the first (at byte 1)");
  CAF_CHECK_EQUAL(r.left(), 0u);
  CAF_CHECK_EQUAL(r.byte(), 0);
  CAF_CHECK_EQUAL(r.unsigned_integer(8), 0u);
  CAF_CHECK(!r.string());
  CAF_CHECK(r.blob().empty());
  CAF_CHECK(r.up_to_zero().empty());
  CAF_CHECK_EQUAL(r.pack(data_type::info), 0u);
  CAF_CHECK_EQUAL(r.count(data_type::byte), 0u);
}

CAF_TEST(X14 LIM4 F3.16 a count needs bytes for the smallest elements) {
  const auto bytes = std::string(40, '\x01');
  for (const auto& d : {flex, fixed}) {
    auto r = reader{bytes, d, origin::client};
    const auto most = 40 / min_size_of(data_type::info, family_of(d.module));
    CAF_CHECK_EQUAL(r.admit(most, data_type::info), most);
    CAF_CHECK(r.ok());
    CAF_CHECK_EQUAL(r.admit(most + 1, data_type::info), 0u);
    CAF_CHECK(!r.ok());
  }
  auto r = reader{bytes, flex, origin::client};
  CAF_CHECK_EQUAL(r.admit(uint64_t{1} << 40, data_type::bool_), 0u);
  CAF_CHECK(!r.ok());
}

CAF_TEST(MND-A4 L4 LIM4 what a client may send of each type) {
  const auto bytes = std::string(16 * max_elements_from_client, '\0');
  const std::pair<data_type, size_t> rows[] = {
    {data_type::proc, max_procs_from_client},
    {data_type::info, max_infos_from_client},
    {data_type::kval, max_entries_from_client},
    {data_type::string, max_strings_from_client},
    {data_type::status, max_codes_from_client},
    {data_type::query, max_queries_from_client},
    {data_type::app, max_apps_from_client},
    {data_type::byte, max_others_from_client},
  };
  for (const auto& [type, most] : rows) {
    auto r = reader{bytes, flex, origin::client};
    CAF_CHECK_EQUAL(r.admit(most, type), most);
    CAF_CHECK(r.ok());
    // However the elements are spread over lists.
    CAF_CHECK_EQUAL(r.admit(1, type), 0u);
    CAF_CHECK(status_of(r.failure()) == status::out_of_resource);
    auto servers = reader{bytes, flex, origin::server};
    CAF_CHECK_EQUAL(servers.admit(most + 1, type), most + 1);
  }
}

CAF_TEST(MND-A4 a list that is too long is named with its count) {
  const auto bytes = std::string(max_elements_from_client, '\0');
  auto r = reader{bytes, flex, origin::client};
  r.admit(2000, data_type::status);
  CAF_CHECK_EQUAL(reason_of(r.failure()),
                  "a message has 2000 event codes, the limit is 1024 (at byte "
                  "0)");
}

CAF_TEST(X14 a part is read within its bounds) {
  const auto bytes = from_hex("010203");
  {
    auto r = reader{bytes, flex, origin::client};
    r.within(2, false, [&] {
      CAF_CHECK_EQUAL(r.left(), 2u);
      r.bytes(2);
    });
    CAF_CHECK(r.ok());
    CAF_CHECK_EQUAL(r.byte(), 3);
  }
  {
    auto r = reader{bytes, flex, origin::client};
    r.within(2, false, [&] { r.bytes(3); });
    CAF_CHECK(!r.ok());
  }
  {
    auto r = reader{bytes, flex, origin::client};
    r.within(2, false, [&] { r.byte(); });
    CAF_CHECK_EQUAL(reason_of(r.failure()),
                    "bytes are left over in a byte object (at byte 1)");
  }
  auto r = reader{bytes, flex, origin::client};
  r.within(4, false, [] { CAF_FAIL("a part past the end"); });
  CAF_CHECK(!r.ok());
}

CAF_TEST(F3 a writer takes back what it wrote before an error) {
  auto out = std::string{"before"};
  auto w = writer{out, flex};
  w.string(std::string_view{"text"});
  w.string(std::string_view{"a\0b", 3});
  w.string(std::string_view{"more"});
  const auto err = w.finish();
  CAF_REQUIRE(err);
  CAF_CHECK_EQUAL(reason_of(err), "a string has a zero byte inside");
  CAF_CHECK_EQUAL(out, "before");
}

CAF_TEST(F3 a writer may leave entries out) {
  auto out = std::string{};
  auto w = writer{out, flex, unreadable::left_out};
  CAF_CHECK(w.entry([&] { w.byte(1); }));
  CAF_CHECK(!w.entry([&] {
    w.byte(2);
    w.fail("no");
  }));
  CAF_CHECK(w.entry([&] { w.byte(3); }));
  CAF_CHECK(!w.finish());
  CAF_CHECK_EQUAL(to_hex(out), "0103");
}

CAF_TEST(F3 a length is put in front of what it counts) {
  auto out = std::string{"x"};
  auto w = writer{out, flex};
  w.preceded([&] { w.bytes("hello"); }, [&](size_t n) { w.size(n); });
  CAF_CHECK_EQUAL(out, "x\x05hello");
}
