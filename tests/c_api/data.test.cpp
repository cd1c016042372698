// Packed data: the bytes that Debian's libpmix makes, every type there and
// back, and bytes that nobody made.

#include "adapters/c_values/c_types.hpp"
#include "adapters/c_values/convert.hpp"
#include "tests/adapters/wire/captures.hpp"
#include "tests/c_api/structures.hpp"
#include "tests/test.hpp"

#include <pmix.h>
#include <rapidcheck.h>

#include <fstream>
#include <sstream>

using namespace troupe;
using namespace troupe::c_api;
using namespace troupe::c_api::test;

namespace {

struct buffer {
  pmix_data_buffer_t x{};

  explicit buffer(std::string_view bytes = {}) {
    const auto payload =
      pmix_byte_object_t{const_cast<char*>(bytes.data()), bytes.size()};
    PMIx_Data_embed(&x, &payload);
  }

  buffer(const buffer&) = delete;

  buffer& operator=(const buffer&) = delete;

  ~buffer() {
    PMIx_Data_buffer_destruct(&x);
  }

  std::string bytes() const {
    return {x.base_ptr, x.bytes_used};
  }
};

/// Elements of one type that are freed.
class elements {
public:
  elements(pmix_data_type_t type, size_t n)
    : type_(type), size_(n), data_(create_array(type, n)) {
    // nop
  }

  elements(const elements&) = delete;

  elements& operator=(const elements&) = delete;

  ~elements() {
    free_array(type_, data_, size_);
  }

  void* data() const {
    return data_;
  }

  void* at(size_t i) const {
    return static_cast<char*>(data_) + i * c_type_of(type_).size;
  }

private:
  pmix_data_type_t type_;
  size_t size_;
  void* data_;
};

struct vector_line {
  std::string what;
  pmix_data_type_t type = PMIX_UNDEF;
  std::string bytes;
};

/// What Debian's 4.2.2 packed, one PACK of each type.
std::vector<vector_line> read_vectors() {
  auto result = std::vector<vector_line>{};
  auto file = std::ifstream{TROUPE_CAPTURES "/type-vectors.tsv"};
  for (auto line = std::string{}; std::getline(file, line);) {
    auto stream = std::istringstream{line};
    auto x = vector_line{};
    auto type = std::string{};
    auto hex = std::string{};
    if (line.empty() || line.front() == '#'
        || !std::getline(stream, x.what, '\t')
        || !std::getline(stream, type, '\t') || !std::getline(stream, hex, '\t')
        || hex == "-")
      continue;
    x.type = static_cast<pmix_data_type_t>(std::stoi(type));
    x.bytes = wire::test::from_hex(hex);
    result.push_back(x);
  }
  return result;
}

constexpr auto room = 8;

} // namespace

CAF_TEST(C2.4 what the library of Debian packed is read and packed the same) {
  auto count = 0;
  for (const auto& line : read_vectors()) {
    if (c_type_of(line.type).size == 0 || line.type == PMIX_REGEX)
      continue; // Without a form in C, and as pointers to texts: see below.
    CAF_MESSAGE(line.what);
    auto from = buffer{line.bytes};
    auto to = buffer{};
    auto n = int32_t{room};
    const auto xs = elements{line.type, room};
    CAF_REQUIRE_EQUAL(
      PMIx_Data_unpack(nullptr, &from.x, xs.data(), &n, line.type),
      PMIX_SUCCESS);
    CAF_REQUIRE_EQUAL(PMIx_Data_pack(nullptr, &to.x, xs.data(), n, line.type),
                      PMIX_SUCCESS);
    CAF_CHECK_EQUAL(wire::test::to_hex(to.bytes()),
                    wire::test::to_hex(line.bytes));
    CAF_CHECK(from.x.unpack_ptr == from.x.pack_ptr);
    ++count;
  }
  CAF_CHECK_GREATER(count, 55);
}

CAF_TEST(C2.4 values of every type are packed and unpacked) {
  for (const auto type : c_types()) {
    const auto c = static_cast<pmix_data_type_t>(type);
    if (type == data_type::regex || type == data_type::pointer)
      continue;
    const auto ok = rc::check(to_string(type), [&] {
      const auto x = random_value(type);
      auto from = elements{c, 2};
      RC_ASSERT(to_c(type, x.data, from.at(1)) == PMIX_SUCCESS);
      auto packed = buffer{};
      RC_ASSERT(PMIx_Data_pack(nullptr, &packed.x, from.data(), 2, c)
                == PMIX_SUCCESS);
      auto n = int32_t{room};
      auto to = elements{c, room};
      RC_ASSERT(PMIx_Data_unpack(nullptr, &packed.x, to.data(), &n, c)
                == PMIX_SUCCESS);
      RC_ASSERT(n == 2);
      const auto first = to_storage(type, from.at(1));
      const auto second = to_storage(type, to.at(1));
      RC_ASSERT(static_cast<bool>(first) && static_cast<bool>(second));
      // Some statistics do not travel, floating numbers lose digits.
      if (c != PMIX_PROC_STATS)
        RC_ASSERT(*first == *second);
    });
    CAF_CHECK(ok);
  }
}

CAF_TEST(C2.4 bytes that end early are refused wherever they end) {
  for (const auto& line : read_vectors()) {
    if (c_type_of(line.type).size == 0)
      continue;
    for (size_t size = 0; size < line.bytes.size(); ++size) {
      auto from = buffer{std::string_view{line.bytes}.substr(0, size)};
      auto n = int32_t{room};
      const auto xs = elements{line.type, room};
      const auto* before = from.x.unpack_ptr;
      CAF_REQUIRE(PMIx_Data_unpack(nullptr, &from.x, xs.data(), &n, line.type)
                  != PMIX_SUCCESS);
      CAF_CHECK_EQUAL(n, 0);
      CAF_CHECK(from.x.unpack_ptr == before);
    }
  }
}

CAF_TEST(C2.4 an empty buffer and too little room have their statuses) {
  auto x = buffer{};
  uint32_t numbers[] = {1, 2, 3};
  auto n = int32_t{3};
  CAF_CHECK_EQUAL(PMIx_Data_unpack(nullptr, &x.x, numbers, &n, PMIX_UINT32),
                  PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
  CAF_CHECK_EQUAL(PMIx_Data_pack(nullptr, &x.x, numbers, 3, PMIX_UINT32),
                  PMIX_SUCCESS);
  n = 2;
  uint32_t back[] = {0, 0};
  CAF_CHECK_EQUAL(PMIx_Data_unpack(nullptr, &x.x, back, &n, PMIX_UINT32),
                  PMIX_ERR_UNPACK_INADEQUATE_SPACE);
  CAF_CHECK_EQUAL(n, 2);
  CAF_CHECK_EQUAL(back[1], 2u);
  n = 0;
  CAF_CHECK_EQUAL(PMIx_Data_unpack(nullptr, &x.x, back, &n, PMIX_UINT32),
                  PMIX_ERR_UNPACK_INADEQUATE_SPACE);
}

CAF_TEST(C2.4 a regular expression of any form travels whole) {
  const auto blob = std::string{"blob:\0component=zlib:\0size=3:\0a\0b", 33};
  for (const auto& text :
       {std::string{"pmix[n[2:1-3]]"}, std::string{"raw:a,b"}, blob}) {
    auto* p = const_cast<char*>(text.c_str());
    auto x = buffer{};
    CAF_CHECK_EQUAL(PMIx_Data_pack(nullptr, &x.x, &p, 1, PMIX_REGEX),
                    PMIX_SUCCESS);
    auto* back = static_cast<char*>(nullptr);
    auto n = int32_t{1};
    CAF_REQUIRE_EQUAL(PMIx_Data_unpack(nullptr, &x.x, &back, &n, PMIX_REGEX),
                      PMIX_SUCCESS);
    CAF_CHECK(std::memcmp(back, text.data(), text.size()) == 0);
    std::free(back);
    auto loaded = c_value{};
    CAF_CHECK_EQUAL(PMIx_Value_load(&loaded.x, p, PMIX_REGEX), PMIX_SUCCESS);
    CAF_CHECK_GREATER(loaded.x.data.bo.size, text.size() - 1);
  }
}

CAF_TEST(C2.4 a payload moves between buffers) {
  auto one = buffer{};
  auto two = buffer{};
  const char* texts[] = {"red", "green"};
  PMIx_Data_pack(nullptr, &one.x, texts, 1, PMIX_STRING);
  PMIx_Data_pack(nullptr, &one.x, texts + 1, 1, PMIX_STRING);
  auto* text = static_cast<char*>(nullptr);
  auto n = int32_t{1};
  PMIx_Data_unpack(nullptr, &one.x, &text, &n, PMIX_STRING);
  std::free(text);
  CAF_CHECK_EQUAL(PMIx_Data_copy_payload(&two.x, &one.x), PMIX_SUCCESS);
  auto payload = pmix_byte_object_t{};
  CAF_CHECK_EQUAL(PMIx_Data_unload(&one.x, &payload), PMIX_SUCCESS);
  CAF_CHECK(one.x.base_ptr == nullptr);
  CAF_CHECK_EQUAL(std::string(payload.bytes, payload.size), two.bytes());
  CAF_CHECK_EQUAL(PMIx_Data_load(&one.x, &payload), PMIX_SUCCESS);
  n = 1;
  CAF_CHECK_EQUAL(PMIx_Data_unpack(nullptr, &one.x, &text, &n, PMIX_STRING),
                  PMIX_SUCCESS);
  CAF_CHECK_EQUAL(std::string{text}, "green");
  std::free(text);
}

// -- compression -------------------------------------------------------------

CAF_TEST(C2.5 blocks are compressed if that is worth it) {
  const auto ok = rc::check("there and back", [] {
    const auto unit = *rc::gen::arbitrary<std::string>();
    const auto times = *rc::gen::inRange<size_t>(0, 2000);
    auto text = std::string{};
    for (size_t i = 0; i < times; ++i)
      text += unit;
    uint8_t* small = nullptr;
    uint8_t* large = nullptr;
    auto small_size = size_t{0};
    auto large_size = size_t{0};
    const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
    if (!PMIx_Data_compress(bytes, text.size(), &small, &small_size)) {
      RC_ASSERT(small == nullptr);
      return;
    }
    RC_ASSERT(small_size < text.size());
    RC_ASSERT(PMIx_Data_decompress(small, small_size, &large, &large_size));
    RC_ASSERT(text == std::string(reinterpret_cast<char*>(large), large_size));
    // The first bytes are the length.
    small[0] ^= 1;
    uint8_t* none = nullptr;
    auto none_size = size_t{0};
    RC_ASSERT(!PMIx_Data_decompress(small, small_size, &none, &none_size));
    RC_ASSERT(none == nullptr);
    std::free(small);
    std::free(large);
  });
  CAF_CHECK(ok);
}

CAF_TEST(C2.5 a length that zlib cannot reach is refused without memory for it) {
  const uint8_t bomb[] = {0xff, 0xff, 0xff, 0xff, 0x78, 0x9c, 0x03, 0x00};
  uint8_t* out = nullptr;
  auto size = size_t{0};
  for (size_t n = 0; n <= sizeof(bomb); ++n)
    CAF_CHECK(!PMIx_Data_decompress(bomb, n, &out, &size));
  const auto zeros = std::string(size_t{8} << 20, '\0');
  uint8_t* small = nullptr;
  auto small_size = size_t{0};
  CAF_REQUIRE(PMIx_Data_compress(reinterpret_cast<const uint8_t*>(zeros.data()),
                                 zeros.size(), &small, &small_size));
  CAF_CHECK(PMIx_Data_decompress(small, small_size, &out, &size));
  CAF_CHECK_EQUAL(size, zeros.size());
  std::free(small);
  std::free(out);
}
