/* Credentials. */

#include "expect.h"

static void on_credential(pmix_status_t status, pmix_byte_object_t* credential,
                          pmix_info_t info[], size_t ninfo, void* cbdata) {
  (void)status;
  (void)credential;
  (void)info;
  (void)ninfo;
  *(int*)cbdata += 1;
}

static void on_validation(pmix_status_t status, pmix_info_t info[],
                          size_t ninfo, void* cbdata) {
  (void)status;
  (void)info;
  (void)ninfo;
  *(int*)cbdata += 1;
}

int main(void) {
  int calls = 0;
  char bytes[] = "not a credential";
  pmix_byte_object_t mine = PMIX_BYTE_OBJECT_STATIC_INIT;
  pmix_byte_object_t other;
  pmix_info_t* results = NULL;
  size_t nresults = 0;

  other.bytes = bytes;
  other.size = sizeof(bytes);
  EXPECT_NO_SERVER(PMIx_Get_credential(NULL, 0, &mine));
  EXPECT_NO_SERVER(PMIx_Get_credential(NULL, 0, NULL));
  EXPECT_NO_SERVER(PMIx_Get_credential_nb(NULL, 0, on_credential, &calls));
  EXPECT_NO_SERVER(
    PMIx_Validate_credential(&other, NULL, 0, &results, &nresults));
  EXPECT_NO_SERVER(
    PMIx_Validate_credential_nb(&other, NULL, 0, on_validation, &calls));

  EXPECT(calls == 0);
  EXPECT(mine.bytes == NULL && results == NULL);
  return outcome();
}
