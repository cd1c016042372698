// Numbers and structures as text.

#include "adapters/c_values/c_types.hpp"
#include "adapters/c_values/convert.hpp"
#include "messages/attributes.hpp"
#include "tests/c_api/structures.hpp"
#include "tests/test.hpp"

#include <pmix.h>
#include <rapidcheck.h>

#include <climits>

using namespace troupe;
using namespace troupe::c_api;
using namespace troupe::c_api::test;

namespace {

/// Takes a text that a printer made.
std::string take(char* x) {
  CAF_REQUIRE(x != nullptr);
  auto result = std::string{x};
  std::free(x);
  return result;
}

} // namespace

CAF_TEST(C2.3 every number has a text) {
  for (auto i = 0; i < 256; ++i) {
    const auto x = static_cast<uint8_t>(i);
    for (const auto* text :
         {PMIx_Proc_state_string(x), PMIx_Job_state_string(x),
          PMIx_Scope_string(x), PMIx_Persistence_string(x),
          PMIx_Data_range_string(x), PMIx_Alloc_directive_string(x),
          PMIx_Alloc_inheritance_string(x),
          PMIx_Resource_block_directive_string(x), PMIx_Link_state_string(x)})
      CAF_CHECK(text != nullptr && *text != '\0');
  }
  for (auto i = 0; i < 65536; ++i) {
    CAF_REQUIRE(*PMIx_Data_type_string(static_cast<uint16_t>(i)) != '\0');
    CAF_REQUIRE(*PMIx_IOF_channel_string(static_cast<uint16_t>(i)) != '\0');
  }
  for (auto i = 0; i < 64; ++i)
    CAF_CHECK(*PMIx_Device_type_string(uint64_t{1} << i) != '\0');
  CAF_CHECK_EQUAL(std::string{PMIx_Proc_state_string(5)}, "PROC EXECUTING");
  CAF_CHECK_EQUAL(std::string{PMIx_IOF_channel_string(6)}, "STDOUT STDERR ");
  CAF_CHECK_EQUAL(std::string{PMIx_Data_type_string(22)}, "PMIX_PROC");
  CAF_CHECK_EQUAL(take(PMIx_Info_directives_string(7)),
                  "REQUIRED:PROCESSED:END");
}

CAF_TEST(C2.3 the name of a status leads back to it) {
  for (auto i = -400; i < 10; ++i) {
    const auto* name = PMIx_Error_string(i);
    if (std::string_view{name} == "ERROR STRING NOT FOUND")
      continue;
    CAF_CHECK_EQUAL(std::string{PMIx_Error_string(PMIx_Error_code(name))},
                    std::string{name});
  }
  CAF_CHECK_EQUAL(std::string{PMIx_Error_string(0)}, "PMIX_SUCCESS");
  CAF_CHECK_EQUAL(PMIx_Error_code("pmix_err_timeout"), PMIX_ERR_TIMEOUT);
  CAF_CHECK_EQUAL(PMIx_Error_code("PMIX_ERR_MADE_UP"), INT_MIN);
  CAF_CHECK_EQUAL(PMIx_Error_code(nullptr), INT_MIN);
}

CAF_TEST(C2.3 attributes have a name and a key) {
  auto count = size_t{0};
  const auto* all = all_attributes(count);
  for (size_t i = 0; i < count; ++i) {
    CAF_CHECK_EQUAL(
      std::string{PMIx_Get_attribute_string(all[i].c_name.data())},
      std::string{all[i].key});
    // A few keys have two names.
    const auto* name = PMIx_Get_attribute_name(all[i].key.data());
    CAF_CHECK_EQUAL(std::string{PMIx_Get_attribute_string(name)},
                    std::string{all[i].key});
  }
  CAF_CHECK_EQUAL(std::string{PMIx_Get_attribute_name("mine")}, "mine");
  CAF_CHECK(PMIx_Get_attribute_name(nullptr) == nullptr);
}

CAF_TEST(C2.3 a value of any type is printed with its type) {
  for (const auto type : c_types()) {
    const auto ok = rc::check(to_string(type), [&] {
      const auto x = random_value(type);
      auto c = c_value{};
      RC_ASSERT(to_c(x, c.x) == PMIX_SUCCESS);
      auto* text = PMIx_Value_string(&c.x);
      RC_ASSERT(text != nullptr);
      const auto name = PMIx_Data_type_string(c.x.type);
      const auto found = std::string{text}.find(name) != std::string::npos;
      std::free(text);
      RC_ASSERT(found);
      // A null pointer has no element.
      if (c_type_of(type).by_pointer && c.x.data.ptr == nullptr)
        return;
      auto* element = c_type_of(type).by_pointer ? c.x.data.ptr
                      : type == data_type::string || type == data_type::regex
                        ? static_cast<void*>(const_cast<char*>("text"))
                        : static_cast<void*>(&c.x.data);
      RC_ASSERT(
        PMIx_Data_print(&text, const_cast<char*>("> "), element, c.x.type)
        == PMIX_SUCCESS);
      RC_ASSERT(std::string{text}.substr(0, 2) == "> ");
      std::free(text);
    });
    CAF_CHECK(ok);
  }
}

CAF_TEST(MND-A8 what cannot be printed is named) {
  for (const auto type : {PMIX_VALUE, PMIX_PROC, PMIX_QUERY, 70, 65535}) {
    auto x = pmix_info_t{};
    PMIx_Load_key(x.key, "mine");
    x.value.type = static_cast<pmix_data_type_t>(type); // Without an element.
    const auto number = '(' + std::to_string(type) + ')';
    const auto of_value = take(PMIx_Value_string(&x.value));
    CAF_CHECK(of_value.find(number) != std::string::npos);
    CAF_CHECK(of_value.find("UNPRINTABLE") != std::string::npos);
    const auto of_info = take(PMIx_Info_string(&x));
    CAF_CHECK(of_info.find("KEY: mine") != std::string::npos);
    CAF_CHECK(of_info.find(number) != std::string::npos);
    auto program = pmix_app_t{};
    program.info = &x;
    program.ninfo = 1;
    CAF_CHECK(take(PMIx_App_string(&program)).find(number)
              != std::string::npos);
  }
}

CAF_TEST(C2.3 structures are printed with what they hold) {
  auto proc = pmix_proc_t{};
  PMIx_Load_procid(&proc, "job", 3);
  CAF_CHECK_EQUAL(take(PMIx_Proc_string(&proc)), "job:3");
  proc.rank = PMIX_RANK_WILDCARD;
  CAF_CHECK_EQUAL(take(PMIx_Proc_string(&proc)), "job:PMIX_RANK_WILDCARD");
  auto x = pmix_info_t{};
  const auto seconds = 5;
  PMIx_Info_load(&x, PMIX_TIMEOUT, &seconds, PMIX_INT);
  const auto text = take(PMIx_Info_string(&x));
  CAF_CHECK(text.find("PMIX_TIMEOUT") != std::string::npos);
  CAF_CHECK(text.find("Value: 5") != std::string::npos);
  auto program = pmix_app_t{};
  program.info = &x;
  program.ninfo = 1;
  CAF_CHECK(take(PMIx_App_string(&program)).find("CMD: NULL")
            != std::string::npos);
  CAF_CHECK(PMIx_App_string(nullptr) == nullptr);
  CAF_CHECK(PMIx_Value_string(nullptr) == nullptr);
  CAF_CHECK(PMIx_Info_string(nullptr) == nullptr);
  CAF_CHECK(PMIx_Proc_string(nullptr) == nullptr);
  PMIx_Info_destruct(&x);
}

CAF_TEST(C2.3 the version begins as Open MPI wants it) {
  CAF_CHECK(PMIx_Get_version()[0] >= '3');
}
