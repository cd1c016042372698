// Structures of the C API and our values, both ways: every type, and what is
// not as it should be.

#include "adapters/c_values/convert.hpp"

#include "adapters/c_values/c_types.hpp"
#include "tests/c_api/structures.hpp"
#include "tests/test.hpp"

#include <pmix.h>
#include <rapidcheck.h>

using namespace troupe;
using namespace troupe::c_api;
using namespace troupe::c_api::test;

namespace {

/// Checks a property of random values, for each type that has a form in C.
template <class F>
void for_all_types(F f) {
  for (const auto type : c_types()) {
    const auto ok = rc::check(to_string(type), [&] { f(random_value(type)); });
    if (!ok)
      CAF_MESSAGE(to_string(type));
    CAF_CHECK(ok);
  }
}

value value_of(const pmix_value_t& x) {
  auto result = to_value(x);
  RC_ASSERT(static_cast<bool>(result));
  return std::move(*result);
}

/// `depth` values inside of each other.
value nested(int depth) {
  auto x = value::boolean(true);
  for (auto i = 1; i < depth; ++i)
    x = value{data_type::value, box<value>{x}};
  return x;
}

} // namespace

CAF_TEST(C2.2 a value of any type survives its way through C) {
  for_all_types([](const value& x) {
    auto c = c_value{};
    RC_ASSERT(to_c(x, c.x) == PMIX_SUCCESS);
    RC_ASSERT(value_of(c.x) == through_c(x));
  });
}

CAF_TEST(C2.2 a copied value is equal and independent) {
  for_all_types([](const value& x) {
    auto from = c_value{};
    auto to = c_value{};
    RC_ASSERT(to_c(x, from.x) == PMIX_SUCCESS);
    RC_ASSERT(PMIx_Value_xfer(&to.x, &from.x) == PMIX_SUCCESS);
    RC_ASSERT(x.type == data_type::pointer
              || PMIx_Value_compare(&from.x, &to.x) == PMIX_EQUAL);
    PMIx_Value_destruct(&from.x);
    RC_ASSERT(value_of(to.x) == through_c(x));
  });
}

CAF_TEST(C2.2 what was unloaded can be loaded again) {
  for_all_types([](const value& x) {
    auto from = c_value{};
    auto to = c_value{};
    auto* data = static_cast<void*>(nullptr);
    auto size = size_t{0};
    if (x.type == data_type::pointer)
      return; // Unloads itself.
    RC_ASSERT(to_c(x, from.x) == PMIX_SUCCESS);
    const auto* element =
      c_type_of(from.x.type).by_pointer ? from.x.data.ptr : &from.x.data;
    const auto is_there = element != nullptr;
    RC_PRE(is_there);
    RC_ASSERT(PMIx_Value_unload(&from.x, &data, &size) == PMIX_SUCCESS);
    // Text and bytes come as they are, not in a structure.
    if (storage_of(x.type) == storage_class::structure
        || c_type_of(from.x.type).by_pointer)
      troupe::c_api::free_array(from.x.type, data, 1);
    else
      std::free(data);
    if (x.type == data_type::string || x.type == data_type::regex)
      return; // Loaded from a pointer to the text.
    RC_ASSERT(PMIx_Value_load(&to.x, element, from.x.type) == PMIX_SUCCESS);
    RC_ASSERT(value_of(to.x) == value_of(from.x));
  });
}

CAF_TEST(C2.2 the size of a value counts all it owns) {
  for_all_types([](const value& x) {
    auto c = c_value{};
    auto size = size_t{0};
    RC_ASSERT(to_c(x, c.x) == PMIX_SUCCESS);
    RC_ASSERT(PMIx_Value_get_size(&c.x, &size) == PMIX_SUCCESS);
    RC_ASSERT(size >= sizeof(pmix_value_t));
  });
}

CAF_TEST(C2.2 lists of infos and of processes survive) {
  const auto infos = std::vector<info>{
    {"pmix.timeout", info_required, value::integer(5)},
    {"text", 0, value::string("hello")},
    {"procs", 0, value::procs({{"job", 0}, {"job", rank_wildcard}})},
  };
  auto c = to_c_infos(infos);
  CAF_REQUIRE(c);
  CAF_REQUIRE_EQUAL(c->size(), 3u);
  CAF_CHECK(!PMIx_Info_is_end(&(*c)[1]));
  CAF_CHECK(PMIx_Info_is_end(&(*c)[2]));
  const auto back = to_infos(c->data(), c->size());
  CAF_REQUIRE(back);
  CAF_CHECK(*back == infos);
  const auto procs = std::vector<proc_id>{{"a", 1}, {"", rank_undef}};
  auto list = to_c_procs(procs);
  CAF_REQUIRE(list);
  CAF_CHECK(*to_procs(list->data(), list->size()) == procs);
  auto* released = c->release();
  CAF_CHECK_EQUAL(c->size(), 0u);
  PMIx_Info_free(released, 3);
}

CAF_TEST(C2.2 an empty list is null and null is an empty list) {
  const auto none = to_c_infos({});
  CAF_REQUIRE(none);
  CAF_CHECK(none->data() == nullptr);
  CAF_CHECK(to_infos(nullptr, 0)->empty());
  CAF_CHECK(to_strings(nullptr).empty());
  CAF_CHECK(to_c_strings({}) == nullptr);
  const auto missing = to_infos(nullptr, 3);
  CAF_REQUIRE(!missing);
  CAF_CHECK(to_c(missing.error()) == PMIX_ERR_BAD_PARAM);
}

CAF_TEST(C2.2 names without their final zero are not read past their end) {
  auto proc = pmix_proc_t{};
  std::memset(proc.nspace, 'n', sizeof(proc.nspace));
  proc.rank = 0xffffffff;
  CAF_CHECK_EQUAL(to_proc(proc).nspace.size(), size_t{PMIX_MAX_NSLEN});
  auto x = pmix_info_t{};
  std::memset(x.key, 'k', sizeof(x.key));
  x.flags = 0xffffffff;
  CAF_CHECK_EQUAL(to_info(x)->key.size(), size_t{PMIX_MAX_KEYLEN});
  auto copy = pmix_proc_t{};
  to_c(proc_id{std::string(1000, 'n'), 3}, copy);
  CAF_CHECK_EQUAL(text_of(copy.nspace).size(), size_t{PMIX_MAX_NSLEN});
}

CAF_TEST(C2.2 a type that nobody knows is refused) {
  for (auto type : {26, 28, 29, 44, 76, 500, 65535}) {
    auto x = pmix_value_t{};
    x.type = static_cast<pmix_data_type_t>(type);
    x.data.uint64 = 0x4141414141414141;
    const auto y = to_value(x);
    CAF_REQUIRE(!y);
    CAF_CHECK(to_c(y.error()) == PMIX_ERR_UNKNOWN_DATA_TYPE);
    auto copy = pmix_value_t{};
    CAF_CHECK(PMIx_Value_xfer(&copy, &x) == PMIX_ERR_UNKNOWN_DATA_TYPE);
    CAF_CHECK(PMIx_Value_load(&copy, &x, x.type) == PMIX_ERR_UNKNOWN_DATA_TYPE);
    PMIx_Value_destruct(&x);
    PMIx_Value_destruct(&copy);
  }
}

CAF_TEST(C2.2 null inside of structures is refused or empty) {
  auto x = pmix_value_t{};
  x.type = PMIX_PROC;
  CAF_CHECK(to_c(to_value(x).error()) == PMIX_ERR_BAD_PARAM);
  x.type = PMIX_BYTE_OBJECT;
  x.data.bo = {nullptr, 7};
  CAF_CHECK(to_c(to_value(x).error()) == PMIX_ERR_BAD_PARAM);
  auto array = pmix_data_array_t{PMIX_UINT32, 5, nullptr};
  x.type = PMIX_DATA_ARRAY;
  x.data.darray = &array;
  CAF_CHECK(to_c(to_value(x).error()) == PMIX_ERR_BAD_PARAM);
  array = {999, 5, &array};
  CAF_CHECK(to_c(to_value(x).error()) == PMIX_ERR_UNKNOWN_DATA_TYPE);
  x.data.darray = nullptr;
  CAF_CHECK(std::holds_alternative<std::monostate>(to_value(x)->data));
  x.type = PMIX_STRING;
  CAF_CHECK(std::holds_alternative<std::monostate>(to_value(x)->data));
}

CAF_TEST(C2.2 values nested too deeply are refused both ways) {
  auto x = pmix_value_t{};
  CAF_CHECK(to_c(nested(max_value_depth), x) == PMIX_SUCCESS);
  CAF_CHECK(*to_value(x) == nested(max_value_depth));
  auto outer = pmix_value_t{};
  outer.type = PMIX_VALUE;
  outer.data.ptr = &x;
  CAF_CHECK(to_c(to_value(outer).error()) == PMIX_ERR_OUT_OF_RESOURCE);
  PMIx_Value_destruct(&x);
  CAF_CHECK(to_c(nested(max_value_depth + 1), x) == PMIX_ERR_OUT_OF_RESOURCE);
  CAF_CHECK_EQUAL(x.type, PMIX_UNDEF);
}

CAF_TEST(C2.2 a value that is not kept as its type says is refused) {
  auto x = pmix_value_t{};
  const value bad[] = {
    {data_type::uint32, std::string{"5"}},
    {data_type::string, uint64_t{5}},
    {data_type::proc, std::string{"job"}},
    {data_type::envar, std::monostate{}},
    value::array(data_type::uint32, {value::string("x")}),
    {data_type::proc_cpuset, std::string{"all of them"}},
    {data_type::topology, std::string{"<nothing>"}},
  };
  for (const auto& y : bad) {
    CAF_MESSAGE(to_string(y.type));
    CAF_CHECK(to_c(y, x) == PMIX_ERR_BAD_PARAM);
    CAF_CHECK_EQUAL(x.type, PMIX_UNDEF);
  }
}

CAF_TEST(C2.2 a shared info does not free its value) {
  auto first = pmix_info_t{};
  auto second = pmix_info_t{};
  CAF_CHECK(PMIx_Info_load(&first, "key", "text", PMIX_STRING) == PMIX_SUCCESS);
  auto* text = first.value.data.string;
  PMIx_Info_persistent(&first);
  CAF_CHECK(PMIx_Info_xfer(&second, &first) == PMIX_SUCCESS);
  CAF_CHECK(second.value.data.string == text);
  PMIx_Info_destruct(&first);
  CAF_CHECK_EQUAL(std::string{text}, "text");
  std::free(text);
}

CAF_TEST(C2.2 numbers are converted if they fit) {
  auto x = pmix_value_t{};
  auto target = uint64_t{0};
  const auto get = [&](pmix_data_type_t type) {
    target = 0;
    return PMIx_Value_get_number(&x, &target, type);
  };
  const auto minus = int32_t{-3};
  PMIx_Value_load(&x, &minus, PMIX_INT32);
  CAF_CHECK(get(PMIX_INT64) == PMIX_SUCCESS);
  CAF_CHECK_EQUAL(static_cast<int64_t>(target), -3);
  CAF_CHECK(get(PMIX_UINT64) == PMIX_ERR_CHANGE_SIGN);
  const auto large = uint64_t{1} << 40;
  PMIx_Value_load(&x, &large, PMIX_UINT64);
  CAF_CHECK(get(PMIX_UINT32) == PMIX_ERR_LOST_PRECISION);
  CAF_CHECK(get(PMIX_SIZE) == PMIX_SUCCESS);
  CAF_CHECK_EQUAL(target, large);
  const auto real = 2.5;
  PMIx_Value_load(&x, &real, PMIX_DOUBLE);
  CAF_CHECK(get(PMIX_INT) == PMIX_ERR_LOST_PRECISION);
  CAF_CHECK(get(PMIX_DOUBLE) == PMIX_SUCCESS);
  PMIx_Value_load(&x, "5", PMIX_STRING);
  CAF_CHECK(get(PMIX_INT) == PMIX_ERR_BAD_PARAM);
  PMIx_Value_destruct(&x);
}
