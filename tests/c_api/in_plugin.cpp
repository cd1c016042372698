// A plugin in C++, without operators of its own.

#include <pmix.h>

#include <cstdio>
#include <memory>
#include <string>

namespace {

void on_event(size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t*, size_t,
              pmix_info_t*, size_t, pmix_event_notification_cbfunc_fn_t done,
              void* data) {
  if (done != nullptr)
    done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, data);
}

} // namespace

extern "C" int run() {
  auto self = pmix_proc_t{};
  auto code = pmix_status_t{PMIX_EXTERNAL_ERR_BASE - 1};
  const auto text = std::make_unique<std::string>(5000, 'x');
  // A handler has CAF loaded, which frees what the library has made.
  if (text->size() != 5000 || PMIx_Init(&self, nullptr, 0) != PMIX_SUCCESS
      || PMIx_Register_event_handler(&code, 1, nullptr, 0, on_event, nullptr,
                                     nullptr)
           < 0
      || PMIx_Finalize(nullptr, 0) != PMIX_SUCCESS)
    return 1;
  std::puts("done");
  return 0;
}
