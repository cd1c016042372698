// A program in C, which a sanitizer may have given C++ operators without the rest of a
// C++ library; and whose own errors are none of ours.

#include <dlfcn.h>
#include <pmix.h>
#include <stdio.h>

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t* source,
                     pmix_info_t* info, size_t ninfo, pmix_info_t* results,
                     size_t nresults, pmix_event_notification_cbfunc_fn_t done,
                     void* data) {
  (void)id, (void)status, (void)source, (void)info, (void)ninfo;
  (void)results, (void)nresults;
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

int main(void) {
  const char* const why = dlerror();
  pmix_status_t code = PMIX_EXTERNAL_ERR_BASE - 1;
  pmix_proc_t self;
  if (why != NULL) {
    printf("an error that is not ours: %s\n", why);
    return 1;
  }
  // A handler has CAF loaded, which frees what the library has made.
  if (PMIx_Init(&self, NULL, 0) != PMIX_SUCCESS
      || PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL)
           < 0
      || PMIx_Finalize(NULL, 0) != PMIX_SUCCESS)
    return 1;
  puts("done");
  return 0;
}
