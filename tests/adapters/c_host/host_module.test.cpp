// The copy of a host's function table: never a byte more than the host has.

#include "adapters/c_host/host_module.hpp"

#include "tests/test.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

using namespace troupe;

namespace {

/// Bytes at the end of a page, with an unreadable one behind it.
class edge {
public:
  explicit edge(size_t size) : page_(static_cast<size_t>(::getpagesize())) {
    base_ =
      static_cast<char*>(::mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    CAF_REQUIRE(base_ != MAP_FAILED);
    CAF_REQUIRE(::mprotect(base_ + page_, page_, PROT_NONE) == 0);
    begin_ = base_ + page_ - size;
    for (size_t i = 0; i < size / sizeof(uintptr_t); ++i) {
      const auto entry = static_cast<uintptr_t>(0x1000 + i);
      std::memcpy(begin_ + i * sizeof entry, &entry, sizeof entry);
    }
  }

  ~edge() {
    ::munmap(base_, 2 * page_);
  }

  const void* begin() const {
    return begin_;
  }

private:
  size_t page_;
  char* base_;
  char* begin_;
};

/// The entry that a pointer came from.
template <class F>
uintptr_t entry_of(F f) {
  return f == nullptr ? 0 : reinterpret_cast<uintptr_t>(f) - 0x1000 + 1;
}

} // namespace

CAF_TEST(C4.1 a module of release 4 at the end of the memory is read) {
  const auto memory = edge{module_size_4};
  const auto x = copy_module(memory.begin(), module_size_4);
  CAF_CHECK_EQUAL(entry_of(x.client_connected), 1u);
  CAF_CHECK_EQUAL(entry_of(x.fence_nb), 4u);
  CAF_CHECK_EQUAL(entry_of(x.client_connected2), 28u);
  CAF_CHECK(x.tool_connected2 == nullptr);
  CAF_CHECK(x.session_control == nullptr);
  CAF_CHECK(x.resource_block == nullptr);
}

CAF_TEST(C4.1 a module of release 5 has session control in its 29th place) {
  const auto memory = edge{module_size_5};
  const auto x = copy_module(memory.begin(), module_size_5);
  CAF_CHECK_EQUAL(entry_of(x.client_connected2), 28u);
  CAF_CHECK_EQUAL(entry_of(x.session_control), 29u);
  CAF_CHECK(x.tool_connected2 == nullptr);
  CAF_CHECK(x.log2 == nullptr);
}

CAF_TEST(C4.1 a module of release 6 is read whole) {
  const auto memory = edge{sizeof(pmix_server_module_t)};
  const auto x = copy_module(memory.begin(), sizeof(pmix_server_module_t));
  CAF_CHECK_EQUAL(sizeof(pmix_server_module_t), 256u);
  CAF_CHECK_EQUAL(entry_of(x.tool_connected2), 29u);
  CAF_CHECK_EQUAL(entry_of(x.session_control), 31u);
  CAF_CHECK_EQUAL(entry_of(x.resource_block), 32u);
}

CAF_TEST(C4.1 of a module longer than ours nothing unknown is taken) {
  const auto memory = edge{512};
  const auto x = copy_module(memory.begin(), 512);
  CAF_CHECK_EQUAL(entry_of(x.resource_block), 32u);
}

CAF_TEST(C4.1 no module is a host that offers nothing) {
  const auto x = copy_module(nullptr, module_size_4);
  CAF_CHECK(x.client_connected == nullptr);
  CAF_CHECK(x.fence_nb == nullptr);
}

CAF_TEST(C4.6 objects of clients are kept by process) {
  auto uut = server_objects{};
  int one = 1;
  int two = 2;
  uut.set({"a", 0}, &one);
  uut.set({"a", 1}, &two);
  uut.set({"b", 0}, &two);
  CAF_CHECK_EQUAL(uut.get({"a", 0}), &one);
  CAF_CHECK_EQUAL(uut.get({"a", 2}), nullptr);
  uut.forget(proc_id{"a", 0});
  CAF_CHECK_EQUAL(uut.get({"a", 0}), nullptr);
  uut.forget(std::string{"a"});
  CAF_CHECK_EQUAL(uut.get({"a", 1}), nullptr);
  CAF_CHECK_EQUAL(uut.get({"b", 0}), &two);
}
