// Lists of infos, argument vectors, environments, maps of nodes.

#include "adapters/c_values/convert.hpp"
#include "tests/test.hpp"

#include <pmix.h>
#include <pmix_server.h>
#include <rapidcheck.h>

#include <memory>

using namespace troupe;
using namespace troupe::c_api;

namespace {

struct freer {
  void operator()(char** x) const {
    PMIx_Argv_free(x);
  }

  void operator()(char* x) const {
    std::free(x);
  }
};

using strings = std::unique_ptr<char*, freer>;
using text = std::unique_ptr<char, freer>;

std::vector<std::string> split(const std::string& x, char at, bool with_empty) {
  return to_strings(
    strings{PMIx_Argv_split_inter(x.c_str(), at, with_empty)}.get());
}

std::vector<std::string> keys_of(void* list) {
  auto result = std::vector<std::string>{};
  auto* next = static_cast<void*>(nullptr);
  do {
    const auto* x = PMIx_Info_list_get_info(list, next, &next);
    if (x != nullptr)
      result.emplace_back(x->key);
  } while (next != nullptr);
  return result;
}

using names = std::vector<std::string>;

} // namespace

CAF_TEST(C2.7 a list of infos becomes an array in its order) {
  auto* list = PMIx_Info_list_start();
  CAF_REQUIRE(list != nullptr);
  CAF_CHECK(keys_of(list).empty());
  auto array = pmix_data_array_t{};
  CAF_CHECK_EQUAL(PMIx_Info_list_convert(list, &array), PMIX_ERR_EMPTY);
  const auto number = uint32_t{7};
  auto owned = pmix_info_t{};
  PMIx_Info_load(&owned, "inserted", "shared", PMIX_STRING);
  CAF_CHECK_EQUAL(PMIx_Info_list_add(list, "added", &number, PMIX_UINT32),
                  PMIX_SUCCESS);
  CAF_CHECK_EQUAL(PMIx_Info_list_prepend(list, "first", "x", PMIX_STRING),
                  PMIX_SUCCESS);
  CAF_CHECK_EQUAL(PMIx_Info_list_insert(list, &owned), PMIX_SUCCESS);
  CAF_CHECK_EQUAL(PMIx_Info_list_xfer(list, &owned), PMIX_SUCCESS);
  CAF_CHECK_EQUAL(PMIx_Info_list_add_value(list, "value", &owned.value),
                  PMIX_SUCCESS);
  CAF_CHECK_EQUAL(PMIx_Info_list_get_size(list), 5u);
  CAF_CHECK(keys_of(list)
            == names({"first", "added", "inserted", "inserted", "value"}));
  CAF_REQUIRE_EQUAL(PMIx_Info_list_convert(list, &array), PMIX_SUCCESS);
  PMIx_Info_list_release(list);
  const auto infos =
    to_infos(static_cast<const pmix_info_t*>(array.array), array.size);
  CAF_REQUIRE(infos);
  CAF_CHECK_EQUAL(array.type, PMIX_INFO);
  CAF_CHECK_EQUAL((*infos)[1].val.number<int>().value_or(0), 7);
  CAF_CHECK_EQUAL(*(*infos)[2].val.text(), "shared");
  PMIx_Data_array_destruct(&array);
  PMIx_Info_destruct(&owned);
}

CAF_TEST(C2.7 a key that is there is kept or replaced) {
  auto* list = PMIx_Info_list_start();
  const auto value_of = [&] {
    return std::string{
      PMIx_Info_list_get_info(list, nullptr, nullptr)->value.data.string};
  };
  const auto add = [&](const char* x, bool overwrite) {
    return PMIx_Info_list_add_unique(list, "key", x, PMIX_STRING, overwrite);
  };
  CAF_CHECK_EQUAL(add("one", false), PMIX_SUCCESS);
  CAF_CHECK_EQUAL(add("two", false), PMIX_SUCCESS);
  CAF_CHECK_EQUAL(value_of(), "one");
  CAF_CHECK_EQUAL(add("three", true), PMIX_SUCCESS);
  CAF_CHECK_EQUAL(value_of(), "three");
  auto x = pmix_info_t{};
  PMIx_Info_load(&x, "key", "four", PMIX_STRING);
  CAF_CHECK_EQUAL(PMIx_Info_list_xfer_unique(list, &x, true), PMIX_SUCCESS);
  CAF_CHECK_EQUAL(value_of(), "four");
  CAF_CHECK_EQUAL(PMIx_Info_list_add_value_unique(list, "key", &x.value, false),
                  PMIX_SUCCESS);
  CAF_CHECK_EQUAL(PMIx_Info_list_get_size(list), 1u);
  PMIx_Info_destruct(&x);
  PMIx_Info_list_release(list);
}

CAF_TEST(C2.7 what is no list or no info is refused) {
  auto array = pmix_data_array_t{};
  auto* list = PMIx_Info_list_start();
  CAF_CHECK_EQUAL(PMIx_Info_list_add(nullptr, "k", nullptr, PMIX_BOOL),
                  PMIX_ERR_BAD_PARAM);
  CAF_CHECK_EQUAL(PMIx_Info_list_add(list, nullptr, nullptr, PMIX_BOOL),
                  PMIX_ERR_BAD_PARAM);
  CAF_CHECK_EQUAL(PMIx_Info_list_add(list, "k", &array, 999),
                  PMIX_ERR_UNKNOWN_DATA_TYPE);
  CAF_CHECK_EQUAL(PMIx_Info_list_insert(list, nullptr), PMIX_ERR_BAD_PARAM);
  CAF_CHECK_EQUAL(PMIx_Info_list_xfer(list, nullptr), PMIX_ERR_BAD_PARAM);
  CAF_CHECK_EQUAL(PMIx_Info_list_xfer_unique(list, nullptr, true),
                  PMIX_ERR_BAD_PARAM);
  CAF_CHECK_EQUAL(PMIx_Info_list_add_value(list, "k", nullptr),
                  PMIX_ERR_BAD_PARAM);
  CAF_CHECK_EQUAL(PMIx_Info_list_convert(nullptr, &array), PMIX_ERR_BAD_PARAM);
  CAF_CHECK_EQUAL(PMIx_Info_list_convert(list, nullptr), PMIX_ERR_BAD_PARAM);
  CAF_CHECK_EQUAL(PMIx_Info_list_get_size(list), 0u);
  CAF_CHECK(PMIx_Info_list_get_info(nullptr, nullptr, nullptr) == nullptr);
  PMIx_Info_list_release(list);
  PMIx_Info_list_release(nullptr);
}

CAF_TEST(C2.7 texts are split and joined) {
  CAF_CHECK(split("a,b,,c", ',', false) == names({"a", "b", "c"}));
  CAF_CHECK(split("a,b,,c", ',', true) == names({"a", "b", "", "c"}));
  CAF_CHECK(split("", ',', true).empty());
  CAF_CHECK(PMIx_Argv_split(nullptr, ',') == nullptr);
  CAF_CHECK_EQUAL(std::string{text{PMIx_Argv_join(nullptr, ',')}.get()}, "");
  const auto ok = rc::check("joined is split", [] {
    auto xs = *rc::gen::container<names>(rc::gen::nonEmpty(
      rc::gen::container<std::string>(rc::gen::inRange('a', 'z'))));
    const auto list = strings{to_c_strings(xs)};
    const auto joined = text{PMIx_Argv_join(list.get(), ' ')};
    RC_ASSERT(split(joined.get(), ' ', false) == xs);
    RC_ASSERT(PMIx_Argv_count(list.get()) == static_cast<int>(xs.size()));
    const auto copy = strings{PMIx_Argv_copy(list.get())};
    RC_ASSERT(to_strings(copy.get()) == xs);
  });
  CAF_CHECK(ok);
}

CAF_TEST(C2.7 argument vectors grow at both ends) {
  char** list = nullptr;
  CAF_CHECK_EQUAL(PMIx_Argv_append_nosize(&list, "b"), PMIX_SUCCESS);
  CAF_CHECK_EQUAL(PMIx_Argv_prepend_nosize(&list, "a"), PMIX_SUCCESS);
  CAF_CHECK_EQUAL(PMIx_Argv_append_unique_nosize(&list, "a"), PMIX_SUCCESS);
  CAF_CHECK_EQUAL(PMIx_Argv_append_unique_nosize(&list, "c"), PMIX_SUCCESS);
  CAF_CHECK(to_strings(list) == names({"a", "b", "c"}));
  CAF_CHECK_EQUAL(PMIx_Argv_append_nosize(&list, nullptr), PMIX_ERR_BAD_PARAM);
  CAF_CHECK_EQUAL(PMIx_Argv_append_nosize(nullptr, "x"), PMIX_ERR_BAD_PARAM);
  PMIx_Argv_free(list);
  PMIx_Argv_free(nullptr);
  CAF_CHECK_EQUAL(PMIx_Argv_count(nullptr), 0);
  CAF_CHECK(PMIx_Argv_copy(nullptr) == nullptr);
}

CAF_TEST(C2.7 variables are set in an environment and in the own one) {
  char** env = nullptr;
  CAF_CHECK_EQUAL(PMIx_Setenv("A", "1", true, &env), PMIX_SUCCESS);
  CAF_CHECK_EQUAL(PMIx_Setenv("AB", "2", true, &env), PMIX_SUCCESS);
  CAF_CHECK_EQUAL(PMIx_Setenv("A", "3", false, &env), PMIX_ERR_EXISTS);
  CAF_CHECK_EQUAL(PMIx_Setenv("A", "4", true, &env), PMIX_SUCCESS);
  CAF_CHECK_EQUAL(PMIx_Setenv("B", nullptr, true, &env), PMIX_SUCCESS);
  CAF_CHECK(to_strings(env) == names({"A=4", "AB=2", "B="}));
  PMIx_Argv_free(env);
  CAF_CHECK_EQUAL(PMIx_Setenv(nullptr, "1", true, &env), PMIX_ERR_BAD_PARAM);
  CAF_CHECK_EQUAL(PMIx_Setenv("A", "1", true, nullptr), PMIX_ERR_BAD_PARAM);
  CAF_CHECK_EQUAL(PMIx_Setenv("A=B", "1", true, &env), PMIX_ERR_BAD_PARAM);
  auto** own = environ;
  CAF_CHECK_EQUAL(PMIx_Setenv("TROUPE_TEST_VARIABLE", "5", true, &own),
                  PMIX_SUCCESS);
  CAF_CHECK_EQUAL(std::string{std::getenv("TROUPE_TEST_VARIABLE")}, "5");
  own = environ;
  PMIx_Setenv("TROUPE_TEST_VARIABLE", nullptr, true, &own);
  CAF_CHECK(std::getenv("TROUPE_TEST_VARIABLE") == nullptr);
}

CAF_TEST(C2.7 lists of nodes and of ranks are written compactly) {
  const auto generate = [](auto function, const char* input) {
    auto* result = static_cast<char*>(nullptr);
    CAF_REQUIRE_EQUAL(function(input, &result), PMIX_SUCCESS);
    return std::string{text{result}.get()};
  };
  CAF_CHECK_EQUAL(generate(PMIx_generate_regex, "n01,n02,n03,n07,login"),
                  "pmix[n[2:1-3,7],login]");
  CAF_CHECK_EQUAL(generate(PMIx_generate_ppn, "0,1,2,3;4,5,6,7;8"),
                  "pmix[0-3;4-7;8]");
  CAF_CHECK_EQUAL(generate(PMIx_generate_regex, "a[b"), "raw:a[b");
  CAF_CHECK_EQUAL(generate(PMIx_generate_ppn, "x;y"), "raw:x;y");
  auto* none = static_cast<char*>(nullptr);
  CAF_CHECK_EQUAL(PMIx_generate_regex(nullptr, &none), PMIX_ERR_BAD_PARAM);
  CAF_CHECK_EQUAL(PMIx_generate_ppn("0", nullptr), PMIX_ERR_BAD_PARAM);
  auto regex = pmix_regex2_t{};
  CAF_CHECK_EQUAL(PMIx_generate_regex2("a,b", nullptr, 0, &regex),
                  PMIX_SUCCESS);
  CAF_CHECK_EQUAL(PMIx_parse_regex2(&regex, nullptr, 0, &none), PMIX_SUCCESS);
  CAF_CHECK_EQUAL(std::string{text{none}.get()}, "a,b");
  PMIx_Regex2_destruct(&regex);
}
