/* Helpers: infos and lists of them. */

#include "expect.h"

static void flags(void) {
  pmix_info_t* info = PMIx_Info_create(2);

  EXPECT(info != NULL && !PMIx_Info_is_end(&info[0]));
  EXPECT(PMIx_Info_is_end(&info[1]));
  PMIx_Info_set_end(&info[0]);
  EXPECT(PMIx_Info_is_end(&info[0]));
  PMIx_Info_required(info);
  EXPECT(PMIx_Info_is_required(info) && !PMIx_Info_is_optional(info));
  PMIx_Info_optional(info);
  EXPECT(PMIx_Info_is_optional(info));
  EXPECT(!PMIx_Info_was_processed(info));
  PMIx_Info_processed(info);
  EXPECT(PMIx_Info_was_processed(info));
  PMIx_Info_qualifier(info);
  EXPECT(PMIx_Info_is_qualifier(info));
  PMIx_Info_persistent(info);
  EXPECT(PMIx_Info_is_persistent(info));
  PMIx_Info_free(info, 2);
  EXPECT(PMIx_Info_create(0) == NULL);
}

static void loading(void) {
  char name[] = "red";
  bool no = false;
  pmix_info_t one, two;

  PMIx_Info_construct(&one);
  PMIx_Info_construct(&two);
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Info_load(&one, "flag", NULL, PMIX_BOOL));
  EXPECT(PMIx_Info_true(&one) == PMIX_BOOL_TRUE);
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Info_load(&one, "flag", &no, PMIX_BOOL));
  EXPECT(PMIx_Info_true(&one) == PMIX_BOOL_FALSE);
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Info_load(&one, "name", name, PMIX_STRING));
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Info_xfer(&two, &one));
  EXPECT_TEXT("name", two.key);
  EXPECT_TEXT("red", two.value.data.string);
  EXPECT(two.value.data.string != one.value.data.string);
  PMIx_Info_destruct(&one);
  PMIx_Info_destruct(&two);
}

static void lists(void) {
  uint32_t one = 1, two = 2;
  void* list = PMIx_Info_list_start();
  void* next = NULL;
  pmix_info_t info;
  pmix_info_t* step;
  pmix_info_t* infos;
  pmix_value_t value;
  pmix_data_array_t array = PMIX_DATA_ARRAY_STATIC_INIT;

  EXPECT_STATUS(PMIX_ERR_EMPTY, PMIx_Info_list_convert(list, &array));
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Info_list_add(list, "b", &one, PMIX_UINT32));
  EXPECT_STATUS(PMIX_SUCCESS,
                PMIx_Info_list_prepend(list, "a", &one, PMIX_UINT32));
  EXPECT_STATUS(PMIX_SUCCESS,
                PMIx_Info_list_add_unique(list, "b", &two, PMIX_UINT32, true));
  EXPECT(PMIx_Info_list_get_size(list) == 2);

  PMIx_Value_construct(&value);
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Value_load(&value, "red", PMIX_STRING));
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Info_list_add_value(list, "c", &value));
  EXPECT_STATUS(PMIX_SUCCESS,
                PMIx_Info_list_add_value_unique(list, "d", &value, false));
  PMIx_Value_destruct(&value);

  PMIx_Info_construct(&info);
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Info_load(&info, "e", "blue", PMIX_STRING));
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Info_list_xfer(list, &info));
  PMIx_Load_key(info.key, "f");
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Info_list_xfer_unique(list, &info, true));
  PMIx_Load_key(info.key, "g");
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Info_list_insert(list, &info));
  EXPECT(PMIx_Info_list_get_size(list) == 7);

  step = PMIx_Info_list_get_info(list, NULL, &next);
  EXPECT(step != NULL && PMIx_Check_key(step->key, "a"));
  step = PMIx_Info_list_get_info(list, next, &next);
  EXPECT(step != NULL && PMIx_Check_key(step->key, "b"));
  EXPECT(step != NULL && step->value.data.uint32 == 2);

  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Info_list_convert(list, &array));
  EXPECT(array.type == PMIX_INFO && array.size == 7);
  infos = (pmix_info_t*)array.array;
  EXPECT(infos != NULL && PMIx_Check_key(infos[6].key, "g"));
  EXPECT(infos != NULL && PMIx_Info_is_persistent(&infos[6]));
  PMIx_Data_array_destruct(&array);
  PMIx_Info_list_release(list);
  EXPECT_TEXT("blue", info.value.data.string);
  PMIx_Info_destruct(&info);
}

int main(void) {
  flags();
  loading();
  lists();
  return outcome();
}
