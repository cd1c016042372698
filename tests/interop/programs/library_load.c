/* Loads libraries at run time: usage: library_load local|global ROUNDS FILE...;
 * each is used side by side with the others. Not linked with libpmix. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX 4

struct loaded {
  void* handle;
  pmix_status_t (*init)(pmix_proc_t*, pmix_info_t*, size_t);
  pmix_status_t (*finalize)(const pmix_info_t*, size_t);
  pmix_status_t (*put)(pmix_scope_t, const char*, pmix_value_t*);
  pmix_status_t (*commit)(void);
  pmix_status_t (*fence)(const pmix_proc_t*, size_t, const pmix_info_t*,
                         size_t);
  pmix_status_t (*get)(const pmix_proc_t*, const char*, const pmix_info_t*,
                       size_t, pmix_value_t**);
  const char* (*version)(void);
};

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%d: not so: %s\n", __LINE__, #condition);               \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

static void* find(struct loaded* x, const char* name) {
  void* result = dlsym(x->handle, name);
  CHECK(result != NULL);
  return result;
}

static void load(struct loaded* x, const char* path, int flags) {
  x->handle = dlopen(path, flags);
  if (x->handle == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  *(void**)&x->init = find(x, "PMIx_Init");
  *(void**)&x->finalize = find(x, "PMIx_Finalize");
  *(void**)&x->put = find(x, "PMIx_Put");
  *(void**)&x->commit = find(x, "PMIx_Commit");
  *(void**)&x->fence = find(x, "PMIx_Fence");
  *(void**)&x->get = find(x, "PMIx_Get");
  *(void**)&x->version = find(x, "PMIx_Get_version");
}

static void use(struct loaded* x, const pmix_proc_t* me) {
  pmix_proc_t all = *me;
  all.rank = PMIX_RANK_WILDCARD;
  pmix_value_t* found = NULL;
  CHECK(x->get(&all, PMIX_JOB_SIZE, NULL, 0, &found) == PMIX_SUCCESS);
  CHECK(found->type == PMIX_UINT32 && found->data.uint32 == 1);
  free(found);
  pmix_value_t text;
  text.type = PMIX_STRING;
  text.data.string = "text";
  CHECK(x->put(PMIX_GLOBAL, "key", &text) == PMIX_SUCCESS);
  CHECK(x->commit() == PMIX_SUCCESS);
  CHECK(x->fence(NULL, 0, NULL, 0) == PMIX_SUCCESS);
  CHECK(x->get(me, "key", NULL, 0, &found) == PMIX_SUCCESS);
  CHECK(strcmp(found->data.string, "text") == 0);
  free(found->data.string);
  free(found);
}

int main(int argc, char** argv) {
  CHECK(argc > 3 && argc - 3 <= MAX);
  const int flags =
    RTLD_NOW | (strcmp(argv[1], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL);
  const int rounds = atoi(argv[2]);
  const int n = argc - 3;
  for (int round = 0; round < rounds; ++round) {
    struct loaded libraries[MAX];
    pmix_proc_t me[MAX];
    for (int i = 0; i < n; ++i)
      load(&libraries[i], argv[i + 3], flags);
    for (int i = 0; i < n; ++i)
      CHECK(libraries[i].init(&me[i], NULL, 0) == PMIX_SUCCESS);
    for (int i = 0; i < n; ++i)
      use(&libraries[i], &me[i]);
    for (int i = n - 1; i >= 0; --i)
      use(&libraries[i], &me[i]);
    for (int i = 0; i < n; ++i)
      CHECK(libraries[i].finalize(NULL, 0) == PMIX_SUCCESS);
    if (round == 0)
      for (int i = 0; i < n; ++i)
        printf("%s\n", libraries[i].version());
    for (int i = 0; i < n; ++i)
      dlclose(libraries[i].handle);
  }
  return 0;
}
