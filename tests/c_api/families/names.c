/* Names of things. */

#include "expect.h"

static void expect_printed(char* text, int line) {
  expect_true(text != NULL && text[0] != '\0', "something is printed", line);
  free(text);
}
#define EXPECT_PRINTED(call) expect_printed((call), __LINE__)

int main(void) {
  pmix_proc_t proc;
  pmix_info_t info;
  pmix_app_t app;
  pmix_resource_unit_t unit = PMIX_RESOURCE_UNIT_STATIC_INIT;

  EXPECT_TEXT("PMIX_SUCCESS", PMIx_Error_string(PMIX_SUCCESS));
  EXPECT_STATUS(PMIX_ERR_TIMEOUT, PMIx_Error_code("PMIX_ERR_TIMEOUT"));
  EXPECT(PMIx_Error_string(123456)[0] != '\0');
  EXPECT_TEXT("pmix.rank", PMIx_Get_attribute_string("PMIX_RANK"));
  EXPECT_TEXT("PMIX_RANK", PMIx_Get_attribute_name("pmix.rank"));
  EXPECT_TEXT("unknown", PMIx_Get_attribute_string("unknown"));
  EXPECT_TEXT("unknown", PMIx_Get_attribute_name("unknown"));

  /* Every number has some name, also those that mean nothing. */
  for (int x = 0; x < 256; ++x) {
    EXPECT(PMIx_Proc_state_string((pmix_proc_state_t)x)[0] != '\0');
    EXPECT(PMIx_Job_state_string((pmix_job_state_t)x)[0] != '\0');
    EXPECT(PMIx_Scope_string((pmix_scope_t)x)[0] != '\0');
    EXPECT(PMIx_Persistence_string((pmix_persistence_t)x)[0] != '\0');
    EXPECT(PMIx_Data_range_string((pmix_data_range_t)x)[0] != '\0');
    EXPECT(PMIx_Data_type_string((pmix_data_type_t)x)[0] != '\0');
    EXPECT(PMIx_Alloc_directive_string((pmix_alloc_directive_t)x)[0] != '\0');
    EXPECT(PMIx_Alloc_inheritance_string((pmix_alloc_inheritance_t)x)[0]
           != '\0');
    EXPECT(PMIx_Resource_block_directive_string(
             (pmix_resource_block_directive_t)x)[0]
           != '\0');
    EXPECT(PMIx_IOF_channel_string((pmix_iof_channel_t)x)[0] != '\0');
    EXPECT(PMIx_Link_state_string((pmix_link_state_t)x)[0] != '\0');
    EXPECT(PMIx_Device_type_string((pmix_device_type_t)x)[0] != '\0');
    EXPECT(PMIx_Value_comparison_string((pmix_value_cmp_t)x)[0] != '\0');
    EXPECT(PMIx_Group_operation_string((pmix_group_operation_t)x)[0] != '\0');
  }

  PMIx_Proc_load(&proc, "job", 3);
  PMIx_Info_construct(&info);
  EXPECT_STATUS(PMIX_SUCCESS,
                PMIx_Info_load(&info, "colour", "red", PMIX_STRING));
  PMIx_App_construct(&app);
  EXPECT_PRINTED(PMIx_Info_directives_string(PMIX_INFO_REQD));
  EXPECT_PRINTED(PMIx_Info_string(&info));
  EXPECT_PRINTED(PMIx_Value_string(&info.value));
  EXPECT_PRINTED(PMIx_App_string(&app));
  EXPECT_PRINTED(PMIx_Proc_string(&proc));
  EXPECT_PRINTED(PMIx_Resource_unit_string(&unit));
  PMIx_App_destruct(&app);
  PMIx_Info_destruct(&info);
  return outcome();
}
