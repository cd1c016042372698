/* Helpers: processes, applications, queries, bytes, buffers. */

#include "expect.h"

static void proc(void) {
  pmix_proc_t one;
  pmix_proc_t* many;

  memset(&one, 0xff, sizeof(one));
  PMIx_Proc_construct(&one);
  PMIx_Proc_destruct(&one);
  many = PMIx_Proc_create(2);
  EXPECT(many != NULL);
  PMIx_Proc_free(many, 2);
  PMIx_Proc_free(NULL, 0);
}

static void proc_info(void) {
  pmix_proc_info_t one;
  pmix_proc_info_t* many;

  memset(&one, 0xff, sizeof(one));
  PMIx_Proc_info_construct(&one);
  PMIx_Proc_info_destruct(&one);
  many = PMIx_Proc_info_create(2);
  EXPECT(many != NULL);
  PMIx_Proc_info_free(many, 2);
  PMIx_Proc_info_free(NULL, 0);
}

static void pdata(void) {
  pmix_pdata_t one;
  pmix_pdata_t* many;

  memset(&one, 0xff, sizeof(one));
  PMIx_Pdata_construct(&one);
  PMIx_Pdata_destruct(&one);
  many = PMIx_Pdata_create(2);
  EXPECT(many != NULL);
  PMIx_Pdata_free(many, 2);
  PMIx_Pdata_free(NULL, 0);
}

static void app(void) {
  pmix_app_t one;
  pmix_app_t* many;

  memset(&one, 0xff, sizeof(one));
  PMIx_App_construct(&one);
  PMIx_App_destruct(&one);
  many = PMIx_App_create(2);
  EXPECT(many != NULL);
  PMIx_App_free(many, 2);
  PMIx_App_free(NULL, 0);
}

static void query(void) {
  pmix_query_t one;
  pmix_query_t* many;

  memset(&one, 0xff, sizeof(one));
  PMIx_Query_construct(&one);
  PMIx_Query_destruct(&one);
  many = PMIx_Query_create(2);
  EXPECT(many != NULL);
  PMIx_Query_free(many, 2);
  PMIx_Query_free(NULL, 0);
}

static void regattr(void) {
  pmix_regattr_t one;
  pmix_regattr_t* many;

  memset(&one, 0xff, sizeof(one));
  PMIx_Regattr_construct(&one);
  PMIx_Regattr_destruct(&one);
  many = PMIx_Regattr_create(2);
  EXPECT(many != NULL);
  PMIx_Regattr_free(many, 2);
  PMIx_Regattr_free(NULL, 0);
}

static void byte_object(void) {
  pmix_byte_object_t one;
  pmix_byte_object_t* many;

  memset(&one, 0xff, sizeof(one));
  PMIx_Byte_object_construct(&one);
  PMIx_Byte_object_destruct(&one);
  many = PMIx_Byte_object_create(2);
  EXPECT(many != NULL);
  PMIx_Byte_object_free(many, 2);
  PMIx_Byte_object_free(NULL, 0);
}

static void envar(void) {
  pmix_envar_t one;
  pmix_envar_t* many;

  memset(&one, 0xff, sizeof(one));
  PMIx_Envar_construct(&one);
  PMIx_Envar_destruct(&one);
  many = PMIx_Envar_create(2);
  EXPECT(many != NULL);
  PMIx_Envar_free(many, 2);
  PMIx_Envar_free(NULL, 0);
}

static void regex2(void) {
  pmix_regex2_t one;
  pmix_regex2_t* many;

  memset(&one, 0xff, sizeof(one));
  PMIx_Regex2_construct(&one);
  PMIx_Regex2_destruct(&one);
  many = PMIx_Regex2_create(2);
  EXPECT(many != NULL);
  PMIx_Regex2_free(many, 2);
  PMIx_Regex2_free(NULL, 0);
}

static void loaded(void) {
  char bytes[] = "bytes";
  char variable[] = "PATH";
  char path[] = "/bin";
  char* text = (char*)malloc(4);
  char* taken = NULL;
  size_t size = 0;
  pmix_proc_t proc;
  pmix_pdata_t data, other;
  pmix_app_t* app = PMIx_App_create(1);
  pmix_query_t* query = PMIx_Query_create(1);
  pmix_regattr_t attribute, again;
  pmix_envar_t envar;
  pmix_byte_object_t object;
  pmix_data_buffer_t buffer;
  pmix_data_buffer_t* made = PMIx_Data_buffer_create();

  PMIx_Proc_load(&proc, "job", 3);
  EXPECT(proc.rank == 3 && strcmp(proc.nspace, "job") == 0);

  PMIx_Pdata_construct(&data);
  PMIx_Pdata_construct(&other);
  PMIx_Pdata_load(&data, &proc, "key", "red", PMIX_STRING);
  PMIx_Pdata_xfer(&other, &data);
  EXPECT(other.proc.rank == 3 && PMIx_Check_key(other.key, "key"));
  EXPECT_TEXT("red", other.value.data.string);
  PMIx_Pdata_destruct(&data);
  PMIx_Pdata_destruct(&other);

  PMIx_App_info_create(app, 2);
  EXPECT(app->info != NULL && app->ninfo == 2);
  PMIx_App_release(app);
  PMIx_Query_qualifiers_create(query, 2);
  EXPECT(query->qualifiers != NULL && query->nqual == 2);
  PMIx_Query_release(query);

  PMIx_Regattr_construct(&attribute);
  PMIx_Regattr_construct(&again);
  PMIx_Regattr_load(&attribute, "PMIX_RANK", PMIX_RANK, PMIX_PROC_RANK, "who");
  PMIx_Regattr_xfer(&again, &attribute);
  EXPECT_TEXT("PMIX_RANK", again.name);
  EXPECT_TEXT("pmix.rank", again.string);
  EXPECT_TEXT("who", again.description[0]);
  PMIx_Regattr_destruct(&attribute);
  PMIx_Regattr_destruct(&again);

  PMIx_Envar_construct(&envar);
  PMIx_Envar_load(&envar, variable, path, ':');
  EXPECT(envar.envar != variable && strcmp(envar.value, path) == 0);
  PMIx_Envar_destruct(&envar);

  memcpy(text, "abc", 4);
  PMIx_Byte_object_construct(&object);
  PMIx_Byte_object_load(&object, text, 4);
  EXPECT(object.bytes == text && object.size == 4);
  PMIx_Byte_object_destruct(&object);

  text = (char*)malloc(sizeof(bytes));
  memcpy(text, bytes, sizeof(bytes));
  PMIx_Data_buffer_construct(&buffer);
  PMIx_Data_buffer_load(&buffer, text, sizeof(bytes));
  EXPECT(buffer.base_ptr != NULL && buffer.bytes_used == sizeof(bytes));
  PMIx_Data_buffer_unload(&buffer, &taken, &size);
  EXPECT(size == sizeof(bytes) && memcmp(taken, bytes, size) == 0);
  EXPECT(buffer.base_ptr == NULL);
  free(taken);
  PMIx_Data_buffer_destruct(&buffer);
  EXPECT(made != NULL);
  PMIx_Data_buffer_release(made);
}

int main(void) {
  proc();
  proc_info();
  pdata();
  app();
  query();
  regattr();
  byte_object();
  envar();
  regex2();
  loaded();
  return outcome();
}
