// Values: what makers make, what readers read, and what compares equal.

#include "messages/value.hpp"

#include "tests/test.hpp"

#include <limits>

using namespace troupe;

namespace {

constexpr auto last_type = static_cast<uint16_t>(data_type::alloc_inherit);

std::vector<data_type> all_types() {
  std::vector<data_type> result;
  for (uint16_t i = 0; i <= last_type; ++i)
    if (i != 29) // Never given.
      result.push_back(static_cast<data_type>(i));
  return result;
}

value text(std::string x) {
  return value::string(std::move(x));
}

} // namespace

// -- types -------------------------------------------------------------------

CAF_TEST(F2.1 every type of the wire has a name and a storage) {
  for (const auto type : all_types()) {
    CAF_CHECK(storage_of(type) != storage_class::unknown);
    CAF_CHECK(to_string(type) != std::to_string(static_cast<uint16_t>(type)));
  }
  CAF_CHECK_EQUAL(all_types().size(), 75u);
}

CAF_TEST(F2.1 types have the numbers of the Standard) {
  CAF_CHECK_EQUAL(static_cast<uint16_t>(data_type::string), 3u);
  CAF_CHECK_EQUAL(static_cast<uint16_t>(data_type::status), 20u);
  CAF_CHECK_EQUAL(static_cast<uint16_t>(data_type::proc), 22u);
  CAF_CHECK_EQUAL(static_cast<uint16_t>(data_type::info), 24u);
  CAF_CHECK_EQUAL(static_cast<uint16_t>(data_type::byte_object), 27u);
  CAF_CHECK_EQUAL(static_cast<uint16_t>(data_type::data_array), 39u);
  CAF_CHECK_EQUAL(static_cast<uint16_t>(data_type::proc_rank), 40u);
  CAF_CHECK_EQUAL(static_cast<uint16_t>(data_type::envar), 46u);
  CAF_CHECK_EQUAL(to_string(data_type::proc_rank), "PROC_RANK");
}

CAF_TEST(F2.1 integer types have a width and others have none) {
  for (const auto type : all_types()) {
    const auto storage = storage_of(type);
    const auto is_number = storage == storage_class::boolean
                           || storage == storage_class::signed_integer
                           || storage == storage_class::unsigned_integer
                           || storage == storage_class::floating_point;
    CAF_CHECK_EQUAL(width_of(type) > 0, is_number);
  }
  CAF_CHECK_EQUAL(width_of(data_type::uint16), 2u);
  CAF_CHECK_EQUAL(width_of(data_type::proc_rank), 4u);
  CAF_CHECK_EQUAL(width_of(data_type::size), 8u);
}

CAF_TEST(F2.1 a number that is no type is known as such) {
  for (const uint16_t number : {29, 76, 500, 65535}) {
    const auto type = static_cast<data_type>(number);
    CAF_CHECK(storage_of(type) == storage_class::unknown);
    CAF_CHECK_EQUAL(width_of(type), 0u);
    CAF_CHECK_EQUAL(to_string(type), std::to_string(number));
  }
}

// -- makers and readers ------------------------------------------------------

CAF_TEST(F2.1 makers give type and number) {
  CAF_CHECK(value::boolean(true).type == data_type::bool_);
  CAF_CHECK(value::uint16(7).type == data_type::uint16);
  CAF_CHECK(value::uint32(7).type == data_type::uint32);
  CAF_CHECK(value::uint64(7).type == data_type::uint64);
  CAF_CHECK(value::size(7).type == data_type::size);
  CAF_CHECK(value::integer(-7).type == data_type::int_);
  CAF_CHECK(value::pid(7).type == data_type::pid);
  CAF_CHECK(value::rank(7).type == data_type::proc_rank);
  CAF_CHECK(value::of_status(-7).type == data_type::status);
  CAF_CHECK(value::uint16(7).number<uint32_t>() == 7u);
  CAF_CHECK(value::integer(-7).number<int32_t>() == -7);
  CAF_CHECK(value::of_status(-24).number<int32_t>() == -24);
  CAF_CHECK(value::rank(rank_wildcard).number<uint32_t>() == rank_wildcard);
}

CAF_TEST(F2.1 a number is read only if it fits) {
  const auto big = value::uint64(std::numeric_limits<uint64_t>::max());
  CAF_CHECK(big.number<uint64_t>() == std::numeric_limits<uint64_t>::max());
  CAF_CHECK(!big.number<int64_t>());
  CAF_CHECK(!big.number<uint32_t>());
  CAF_CHECK(!value::uint32(256).number<uint8_t>());
  CAF_CHECK(value::uint32(255).number<uint8_t>() == uint8_t{255});
  CAF_CHECK(!value::uint32(0x80000000).number<int32_t>());
  CAF_CHECK(!value::integer(-1).number<uint32_t>());
  CAF_CHECK(!value::integer(-1).number<uint64_t>());
  CAF_CHECK(value::integer(-1).number<int8_t>() == int8_t{-1});
  CAF_CHECK(!value::integer(-129).number<int8_t>());
  CAF_CHECK(value::integer(127).number<uint8_t>() == uint8_t{127});
}

CAF_TEST(F2.1 a boolean reads as 0 or 1 and a text as no number) {
  CAF_CHECK(value::boolean(true).number<uint32_t>() == 1u);
  CAF_CHECK(value::boolean(false).number<int64_t>() == 0);
  CAF_CHECK(!text("7").number<uint32_t>());
  CAF_CHECK(!value{}.number<uint32_t>());
  CAF_CHECK(!(value{data_type::double_, 7.0}.number<uint32_t>()));
}

CAF_TEST(F2.1 text is read from string types only) {
  CAF_REQUIRE(text("abc").text() != nullptr);
  CAF_CHECK_EQUAL(*text("abc").text(), "abc");
  const auto nspace = value{data_type::proc_nspace, std::string{"job"}};
  CAF_REQUIRE(nspace.text() != nullptr);
  CAF_CHECK_EQUAL(*nspace.text(), "job");
  CAF_CHECK(value::bytes("abc").text() == nullptr);
  CAF_CHECK(value::uint32(1).text() == nullptr);
  // A null string.
  CAF_CHECK((value{data_type::string, std::monostate{}}.text() == nullptr));
}

CAF_TEST(F2.1 bytes may hold any byte) {
  const auto raw = std::string("a\0b\xff", 4);
  const auto x = value::bytes(raw);
  CAF_CHECK(x.type == data_type::byte_object);
  CAF_CHECK(std::get<std::string>(x.data) == raw);
}

CAF_TEST(F2.1 processes and arrays are read from their types only) {
  const auto proc = value::of_proc({"job", 3});
  CAF_REQUIRE(proc.proc() != nullptr);
  CAF_CHECK(*proc.proc() == (proc_id{"job", 3}));
  CAF_CHECK(proc.array() == nullptr);
  CAF_CHECK(text("job").proc() == nullptr);
  const auto array =
    value::array(data_type::uint32, {value::uint32(1), value::uint32(2)});
  CAF_REQUIRE(array.array() != nullptr);
  CAF_CHECK(array.array()->element_type == data_type::uint32);
  CAF_CHECK_EQUAL(array.array()->elements.size(), 2u);
  CAF_CHECK(array.proc() == nullptr);
  // A null array.
  CAF_CHECK(
    (value{data_type::data_array, std::monostate{}}.array() == nullptr));
}

CAF_TEST(F2.1 what means yes is true) {
  CAF_CHECK(value{}.truth()); // The presence of the attribute.
  CAF_CHECK(value::boolean(true).truth());
  CAF_CHECK(!value::boolean(false).truth());
  CAF_CHECK(value::uint32(2).truth());
  CAF_CHECK(!value::uint32(0).truth());
  CAF_CHECK(value::integer(-1).truth());
  CAF_CHECK(value::uint64(std::numeric_limits<uint64_t>::max()).truth());
  for (const auto* yes : {"true", "True", "yes", "Y", "1", "10"})
    CAF_CHECK(text(yes).truth());
  for (const auto* no : {"false", "no", "0", "", " true"})
    CAF_CHECK(!text(no).truth());
  CAF_CHECK(!value::of_proc({"job", 0}).truth());
}

// -- lists of infos ----------------------------------------------------------

CAF_TEST(F2.1 directives are found by their key) {
  const auto infos = std::vector<info>{{"a", 0, value::integer(7)},
                                       {"b", 0, value::boolean(false)},
                                       {"c", 0, text("x")},
                                       {"a", 0, value::integer(8)},
                                       {"d", 0, {}}};
  CAF_REQUIRE(find(infos, "a") != nullptr);
  CAF_CHECK(*find(infos, "a") == value::integer(7)); // The first.
  CAF_CHECK(find(infos, "e") == nullptr);
  CAF_CHECK(find(infos, "") == nullptr);
  CAF_CHECK(flag(infos, "a"));
  CAF_CHECK(!flag(infos, "b"));
  CAF_CHECK(flag(infos, "d"));
  CAF_CHECK(!flag(infos, "e"));
  CAF_CHECK(troupe::text(infos, "c") == "x");
  CAF_CHECK(!troupe::text(infos, "a"));
  CAF_CHECK(!troupe::text(infos, "e"));
  CAF_CHECK(number<int32_t>(infos, "a") == 7);
  CAF_CHECK(!number<int32_t>(infos, "c"));
  CAF_CHECK(!number<int32_t>(infos, "e"));
}

CAF_TEST(F2.1 arrays of infos and processes unfold) {
  const auto infos =
    std::vector<info>{{"a", 1, value::integer(7)}, {"b", 0, text("x")}};
  CAF_CHECK(infos_of(value::infos(infos)) == infos);
  CAF_CHECK(value::infos({}).array() != nullptr);
  CAF_CHECK(infos_of(text("x")).empty());
  CAF_CHECK(infos_of(value::procs({{"job", 1}})).empty());
  const auto procs = std::vector<proc_id>{{"job", 1}, {"other", 2}};
  CAF_CHECK(procs_of(value::procs(procs)) == procs);
  CAF_CHECK(procs_of(value::of_proc({"job", 1}))
            == (std::vector<proc_id>{{"job", 1}}));
  CAF_CHECK(procs_of(text("job")).empty());
  CAF_CHECK(procs_of(value::infos(infos)).empty());
}

// -- copies and comparison ---------------------------------------------------

CAF_TEST(F2.1 nested values copy deeply and compare by content) {
  auto inner = std::vector<info>{{"a", 0, value::integer(7)}};
  const auto x = value::infos({{"outer", 0, value::infos(inner)}});
  auto y = x;
  CAF_CHECK(x == y);
  auto& array = *std::get<box<data_array>>(y.data);
  auto& outer = *std::get<box<info>>(array.elements[0].data);
  std::get<box<info>>(
    std::get<box<data_array>>(outer.val.data)->elements[0].data)
    ->val = value::integer(8);
  CAF_CHECK(x != y);
  CAF_CHECK(*find(infos_of(*find(infos_of(x), "outer")), "a")
            == value::integer(7));
  CAF_CHECK(*find(infos_of(*find(infos_of(y), "outer")), "a")
            == value::integer(8));
  y = x;
  CAF_CHECK(x == y);
  const auto z = std::move(y);
  CAF_CHECK(x == z);
}

CAF_TEST(F2.1 equal numbers of different types differ) {
  CAF_CHECK(value::uint32(1) != value::uint64(1));
  CAF_CHECK(value::uint32(1) != value::integer(1));
  CAF_CHECK(value::boolean(true) != value::uint32(1));
  CAF_CHECK(value::bytes("a") != text("a"));
  CAF_CHECK(value{} == value{});
}

// -- processes ---------------------------------------------------------------

CAF_TEST(F2.1 a wildcard stands for a whole namespace and only for it) {
  CAF_CHECK(matches({"job", rank_wildcard}, {"job", 3}));
  CAF_CHECK(matches({"job", 3}, {"job", 3}));
  CAF_CHECK(!matches({"job", 2}, {"job", 3}));
  CAF_CHECK(!matches({"other", rank_wildcard}, {"job", 3}));
  CAF_CHECK(!matches({"job", rank_undef}, {"job", 3}));
  CAF_CHECK_EQUAL(to_string(proc_id{"job", 3}), "job:3");
  CAF_CHECK_EQUAL(to_string(proc_id{"job", rank_wildcard}), "job:*");
  CAF_CHECK_EQUAL(to_string(proc_id{"job", rank_undef}), "job:?");
}
