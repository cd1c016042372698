/* Helpers: values and arrays of them. */

#include "expect.h"

int main(void) {
  uint32_t number = 5;
  uint64_t wide = 0;
  int8_t narrow = 0;
  bool no = false;
  void* data = NULL;
  size_t size = 0;
  pmix_value_t one, two;
  pmix_value_t* values = PMIx_Value_create(3);
  pmix_data_array_t array;
  pmix_data_array_t* made;

  EXPECT(values != NULL && values[2].type == PMIX_UNDEF);
  PMIx_Value_free(values, 3);
  EXPECT(PMIx_Value_create(0) == NULL);

  PMIx_Value_construct(&one);
  PMIx_Value_construct(&two);
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Value_load(&one, &number, PMIX_UINT32));
  EXPECT(one.type == PMIX_UINT32 && one.data.uint32 == 5);
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Value_xfer(&two, &one));
  EXPECT(PMIx_Value_compare(&one, &two) == PMIX_EQUAL);
  two.data.uint32 = 6;
  EXPECT(PMIx_Value_compare(&one, &two) == PMIX_VALUE2_GREATER);
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Value_get_number(&two, &wide, PMIX_UINT64));
  EXPECT(wide == 6);
  two.data.uint32 = 1000;
  EXPECT_STATUS(PMIX_ERR_LOST_PRECISION,
                PMIx_Value_get_number(&two, &narrow, PMIX_INT8));
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Value_unload(&one, &data, &size));
  EXPECT(size == sizeof(number) && memcmp(data, &number, size) == 0);
  free(data);
  PMIx_Value_destruct(&one);
  PMIx_Value_destruct(&two);

  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Value_load(&one, NULL, PMIX_BOOL));
  EXPECT(PMIx_Value_true(&one) == PMIX_BOOL_TRUE);
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Value_load(&one, &no, PMIX_BOOL));
  EXPECT(PMIx_Value_true(&one) == PMIX_BOOL_FALSE);
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Value_load(&one, "red", PMIX_STRING));
  EXPECT(PMIx_Value_true(&one) == PMIX_NON_BOOL);
  PMIx_Value_destruct(&one);
  EXPECT(one.data.string == NULL);

  PMIx_Data_array_init(&array, PMIX_INFO);
  EXPECT(array.type == PMIX_INFO && array.size == 0 && array.array == NULL);
  PMIx_Data_array_construct(&array, 2, PMIX_PROC);
  EXPECT(array.type == PMIX_PROC && array.size == 2 && array.array != NULL);
  PMIx_Data_array_destruct(&array);
  EXPECT(array.array == NULL);
  made = PMIx_Data_array_create(4, PMIX_STRING);
  EXPECT(made != NULL && made->size == 4 && ((char**)made->array)[3] == NULL);
  PMIx_Data_array_free(made);
  return outcome();
}
