# What docs/logs.md takes for granted: a DVM whose first job has had a fence over two nodes.

. "$TROUPE_SOURCE/tests/docs/pages/common.sh"

cat >fence.c <<'END'
#include <pmix.h>

int main(void) {
  pmix_proc_t me, all;
  if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
    return 1;
  PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
  return PMIx_Fence(&all, 1, NULL, 0) != PMIX_SUCCESS
         || PMIx_Finalize(NULL, 0) != PMIX_SUCCESS;
}
END
compiled fence.c fences
dvm dvm
troupe run --dvm -n 2 --map-by node ./fences
