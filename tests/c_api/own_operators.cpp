// A program with operators of its own for its memory, which know what is theirs: the
// library frees by them what it got of them, and nothing else. As a plugin it has no
// main.

#include <pmix.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string>

namespace {

constexpr auto mark = uint64_t{0x5452'4F55'5045'3137};
constexpr size_t head = 16;
std::atomic<long> taken{0};

void expect(bool x, const char* what) {
  if (x)
    return;
  std::fprintf(stderr, "own_operators: %s\n", what);
  std::_Exit(1);
}

std::mutex lock;
std::condition_variable changed;
bool has_come = false;

void on_event(size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t*, size_t,
              pmix_info_t*, size_t, pmix_event_notification_cbfunc_fn_t done,
              void* data) {
  {
    const auto guard = std::lock_guard{lock};
    has_come = true;
  }
  changed.notify_all();
  if (done != nullptr)
    done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, data);
}

} // namespace

void* operator new(size_t size) {
  auto* x = static_cast<unsigned char*>(std::malloc(size + head));
  if (x == nullptr)
    throw std::bad_alloc{};
  *reinterpret_cast<uint64_t*>(x) = mark;
  ++taken;
  return x + head;
}

void operator delete(void* x) noexcept {
  if (x == nullptr)
    return;
  auto* start = static_cast<unsigned char*>(x) - head;
  expect(*reinterpret_cast<uint64_t*>(start) == mark,
         "memory of others was given back here");
  *reinterpret_cast<uint64_t*>(start) = 0;
  --taken;
  std::free(start);
}

void operator delete(void* x, size_t) noexcept {
  operator delete(x);
}

extern "C" int run() {
  auto self = pmix_proc_t{};
  expect(PMIx_Init(&self, nullptr, 0) == PMIX_SUCCESS, "PMIx_Init");
  const auto before = taken.load();
  expect(before > 0, "the library has not asked us for memory");
  auto code = pmix_status_t{PMIX_EXTERNAL_ERR_BASE - 1};
  expect(PMIx_Register_event_handler(&code, 1, nullptr, 0, on_event, nullptr,
                                     nullptr)
           >= 0,
         "PMIx_Register_event_handler");
  pmix_value_t value;
  PMIX_VALUE_CONSTRUCT(&value);
  value.type = PMIX_STRING;
  auto text = std::string(5000, 'x');
  value.data.string = text.data();
  expect(PMIx_Put(PMIX_GLOBAL, "text", &value) == PMIX_SUCCESS, "PMIx_Put");
  expect(PMIx_Commit() == PMIX_SUCCESS, "PMIx_Commit");
  pmix_info_t collect;
  PMIX_INFO_CONSTRUCT(&collect);
  const auto yes = true;
  PMIX_INFO_LOAD(&collect, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
  expect(PMIx_Fence(nullptr, 0, &collect, 1) == PMIX_SUCCESS, "PMIx_Fence");
  auto other = self;
  other.rank = self.rank == 0 ? 1 : 0;
  pmix_value_t* got = nullptr;
  expect(PMIx_Get(&other, "text", nullptr, 0, &got) == PMIX_SUCCESS
           && got->data.string == text,
         "PMIx_Get");
  PMIX_VALUE_RELEASE(got);
  pmix_info_t own;
  PMIX_INFO_CONSTRUCT(&own);
  PMIX_INFO_LOAD(&own, PMIX_EVENT_CUSTOM_RANGE, &self, PMIX_PROC);
  expect(
    PMIx_Notify_event(code, &self, PMIX_RANGE_CUSTOM, &own, 1, nullptr, nullptr)
      >= 0,
    "PMIx_Notify_event");
  {
    auto guard = std::unique_lock{lock};
    expect(
      changed.wait_for(guard, std::chrono::minutes{1}, [] { return has_come; }),
      "no event has come");
  }
  expect(PMIx_Finalize(nullptr, 0) == PMIX_SUCCESS, "PMIx_Finalize");
  std::puts("done");
  return 0;
}

#ifndef PLUGIN
int main() {
  return run();
}
#endif
