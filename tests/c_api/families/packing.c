/* Packing, copying, printing, compressing. */

#include "expect.h"

int main(void) {
  uint32_t numbers[] = {1, 2, 3};
  uint32_t back[3] = {0, 0, 0};
  uint32_t* copy = NULL;
  void* copied = NULL;
  int32_t count = 3;
  char* text = NULL;
  size_t size = 0;
  uint8_t zeros[100000];
  uint8_t* small = NULL;
  uint8_t* large = NULL;
  size_t nsmall = 0, nlarge = 0;
  pmix_status_t status;
  pmix_info_t info;
  pmix_byte_object_t bytes = PMIX_BYTE_OBJECT_STATIC_INIT;
  pmix_data_buffer_t one, two;

  PMIx_Data_buffer_construct(&one);
  PMIx_Data_buffer_construct(&two);
  EXPECT_STATUS(PMIX_SUCCESS,
                PMIx_Data_pack(NULL, &one, numbers, 3, PMIX_UINT32));
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Data_copy_payload(&two, &one));
  EXPECT_STATUS(PMIX_SUCCESS,
                PMIx_Data_unpack(NULL, &two, back, &count, PMIX_UINT32));
  EXPECT(count == 3 && memcmp(numbers, back, sizeof(numbers)) == 0);
  count = 1;
  EXPECT_STATUS(PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER,
                PMIx_Data_unpack(NULL, &two, back, &count, PMIX_UINT32));

  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Data_unload(&one, &bytes));
  EXPECT(bytes.bytes != NULL && bytes.size > 0 && one.base_ptr == NULL);
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Data_embed(&one, &bytes));
  PMIx_Data_buffer_destruct(&one);
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Data_load(&one, &bytes));
  EXPECT(bytes.bytes == NULL && bytes.size == 0);
  count = 3;
  back[2] = 0;
  EXPECT_STATUS(PMIX_SUCCESS,
                PMIx_Data_unpack(NULL, &one, back, &count, PMIX_UINT32));
  EXPECT(back[2] == 3);
  PMIx_Data_buffer_destruct(&one);
  PMIx_Data_buffer_destruct(&two);

  EXPECT_STATUS(PMIX_SUCCESS,
                PMIx_Data_copy(&copied, &numbers[1], PMIX_UINT32));
  copy = (uint32_t*)copied;
  EXPECT(copy != NULL && *copy == 2);
  free(copied);
  EXPECT_STATUS(PMIX_SUCCESS,
                PMIx_Data_print(&text, NULL, &numbers[1], PMIX_UINT32));
  EXPECT(text != NULL && strchr(text, '2') != NULL);
  free(text);

  PMIx_Info_construct(&info);
  EXPECT_STATUS(PMIX_SUCCESS,
                PMIx_Info_load(&info, "number", numbers, PMIX_UINT32));
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Value_get_size(&info.value, &size));
  EXPECT(size >= 4);
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Info_get_size(&info, &size));
  EXPECT(size >= 4);
  PMIx_Info_destruct(&info);

  memset(zeros, 0, sizeof(zeros));
  EXPECT(PMIx_Data_compress(zeros, sizeof(zeros), &small, &nsmall));
  EXPECT(nsmall > 0 && nsmall < sizeof(zeros));
  EXPECT(PMIx_Data_decompress(small, nsmall, &large, &nlarge));
  EXPECT(nlarge == sizeof(zeros) && memcmp(large, zeros, nlarge) == 0);
  free(small);
  free(large);

  /* What is no buffer, no type, no data. */
  EXPECT(PMIx_Data_pack(NULL, NULL, numbers, 1, PMIX_UINT32) != PMIX_SUCCESS);
  EXPECT(PMIx_Data_pack(NULL, &one, numbers, 1, 499) != PMIX_SUCCESS);
  status = PMIx_Data_unpack(NULL, NULL, back, &count, PMIX_UINT32);
  EXPECT(status != PMIX_SUCCESS);
  EXPECT(!PMIx_Data_decompress(NULL, 0, &large, &nlarge));
  PMIx_Data_buffer_destruct(&one);
  return outcome();
}
