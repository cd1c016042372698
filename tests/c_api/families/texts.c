/* Helpers: keys, namespaces, processes, lists of texts. */

#include "expect.h"

static void keys(void) {
  char longer[PMIX_MAX_KEYLEN + 100];
  pmix_key_t key;

  memset(longer, 'x', sizeof(longer));
  longer[sizeof(longer) - 1] = '\0';
  PMIx_Load_key(key, longer);
  EXPECT(strlen(key) == PMIX_MAX_KEYLEN);
  PMIx_Load_key(key, "pmix.rank");
  EXPECT(PMIx_Check_key(key, PMIX_RANK));
  EXPECT(!PMIx_Check_key(key, "pmix.ran"));
  EXPECT(PMIx_Check_reserved_key(key));
  EXPECT(!PMIx_Check_reserved_key("mine"));
  PMIx_Load_key(key, NULL);
  EXPECT_TEXT("", key);
}

static void processes(void) {
  pmix_nspace_t nspace, cluster, target;
  pmix_proc_t one, two;

  PMIx_Load_nspace(nspace, "job");
  EXPECT(PMIx_Check_nspace(nspace, "job"));
  EXPECT(!PMIx_Check_nspace(nspace, "jobs"));
  EXPECT(PMIx_Check_nspace(nspace, ""));
  EXPECT(!PMIx_Nspace_invalid(nspace));
  EXPECT(PMIx_Nspace_invalid("") && PMIx_Nspace_invalid(NULL));

  PMIx_Load_nspace(cluster, "cluster");
  PMIx_Multicluster_nspace_construct(target, cluster, nspace);
  EXPECT_TEXT("cluster:job", target);
  PMIx_Load_nspace(cluster, NULL);
  PMIx_Load_nspace(nspace, NULL);
  PMIx_Multicluster_nspace_parse(target, cluster, nspace);
  EXPECT_TEXT("cluster", cluster);
  EXPECT_TEXT("job", nspace);

  PMIx_Load_procid(&one, nspace, 1);
  PMIx_Xfer_procid(&two, &one);
  EXPECT(PMIx_Check_procid(&one, &two));
  two.rank = PMIX_RANK_WILDCARD;
  EXPECT(PMIx_Check_procid(&one, &two));
  two.rank = 2;
  EXPECT(!PMIx_Check_procid(&one, &two));
  EXPECT(PMIx_Check_rank(1, PMIX_RANK_WILDCARD) && !PMIx_Check_rank(1, 2));
  EXPECT(PMIx_Rank_valid(0) && !PMIx_Rank_valid(PMIX_RANK_INVALID));
  EXPECT(!PMIx_Procid_invalid(&one));
  one.rank = PMIX_RANK_INVALID;
  EXPECT(PMIx_Procid_invalid(&one));
}

static void lists(void) {
  char** list = NULL;
  char** copy;
  char* joined;

  EXPECT(PMIx_Argv_count(NULL) == 0);
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Argv_append_nosize(&list, "b"));
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Argv_append_nosize(&list, "c"));
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Argv_prepend_nosize(&list, "a"));
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Argv_append_unique_nosize(&list, "b"));
  EXPECT(PMIx_Argv_count(list) == 3);
  copy = PMIx_Argv_copy(list);
  joined = PMIx_Argv_join(copy, ',');
  EXPECT_TEXT("a,b,c", joined);
  free(joined);
  PMIx_Argv_free(copy);
  PMIx_Argv_free(list);
  PMIx_Argv_free(NULL);

  list = PMIx_Argv_split(",x,,y,", ',');
  EXPECT(PMIx_Argv_count(list) == 2);
  EXPECT_TEXT("y", list[1]);
  PMIx_Argv_free(list);
  list = PMIx_Argv_split_with_empty(",x,,y", ',');
  EXPECT(PMIx_Argv_count(list) == 4);
  EXPECT_TEXT("", list[0]);
  PMIx_Argv_free(list);
  list = PMIx_Argv_split_inter("x,,y", ',', true);
  EXPECT(PMIx_Argv_count(list) == 3);
  PMIx_Argv_free(list);
}

static void variables(void) {
  char** list = NULL;

  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Setenv("A", "1", true, &list));
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Setenv("B", "2", true, &list));
  EXPECT_STATUS(PMIX_SUCCESS, PMIx_Setenv("A", "3", true, &list));
  EXPECT_STATUS(PMIX_ERR_EXISTS, PMIx_Setenv("A", "4", false, &list));
  EXPECT(PMIx_Argv_count(list) == 2);
  EXPECT_TEXT("A=3", list[0]);
  PMIx_Argv_free(list);
  EXPECT_STATUS(PMIX_SUCCESS,
                PMIx_Setenv("TROUPE_FAMILY", "texts", true, &environ));
  EXPECT(getenv("TROUPE_FAMILY") != NULL);
  EXPECT_STATUS(PMIX_SUCCESS,
                PMIx_Setenv("TROUPE_FAMILY", NULL, true, &environ));
  EXPECT(getenv("TROUPE_FAMILY") == NULL);
  EXPECT_STATUS(PMIX_ERR_BAD_PARAM, PMIx_Setenv("A", "1", true, NULL));
}

int main(void) {
  keys();
  processes();
  lists();
  variables();
  return outcome();
}
