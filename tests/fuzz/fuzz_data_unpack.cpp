// What PMIx_Data_unpack makes of any bytes. The first byte chooses the type,
// the second how many values there is room for.

#include "adapters/c_values/c_types.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <pmix.h>

using namespace troupe;
using namespace troupe::wire::fuzz;

namespace {

/// A processor set of a few bytes has a bit for each processor.
constexpr size_t memory_factor = 4096;

struct elements {
  pmix_data_type_t type;
  int32_t size;
  void* data;

  elements(pmix_data_type_t type, int32_t size)
    : type(type), size(size),
      data(type == PMIX_REGEX
             ? std::calloc(static_cast<size_t>(size), sizeof(char*))
             : c_api::create_array(type, static_cast<size_t>(size))) {
    // nop
  }

  elements(const elements&) = delete;

  elements& operator=(const elements&) = delete;

  ~elements() {
    // The texts of a REGEX are pointers here.
    c_api::free_array(type == PMIX_REGEX ? pmix_data_type_t{PMIX_STRING} : type,
                      data, static_cast<size_t>(size));
  }
};

struct buffer {
  pmix_data_buffer_t x{};

  buffer() = default;

  explicit buffer(std::string_view bytes) {
    const auto payload =
      pmix_byte_object_t{const_cast<char*>(bytes.data()), bytes.size()};
    PMIx_Data_embed(&x, &payload);
  }

  buffer(const buffer&) = delete;

  buffer& operator=(const buffer&) = delete;

  ~buffer() {
    PMIx_Data_buffer_destruct(&x);
  }

  std::string bytes() const {
    return {x.base_ptr, x.bytes_used};
  }
};

/// Unpacks all there is room for.
/// @returns how many values there are; 0 on an error.
int32_t unpack(buffer& from, elements& to) {
  auto n = to.size;
  const auto code = PMIx_Data_unpack(nullptr, &from.x, to.data, &n, to.type);
  require(n >= 0 && n <= to.size, "a number of values is there");
  if (code == PMIX_SUCCESS || code == PMIX_ERR_UNPACK_INADEQUATE_SPACE)
    return n;
  require(n == 0, "after an error there is nothing");
  require(from.x.unpack_ptr == from.x.base_ptr,
          "after an error nothing was read");
  return 0;
}

} // namespace

TROUPE_FUZZ(input) {
  const auto type = static_cast<pmix_data_type_t>(take_byte(input) % 80);
  const auto room = take_byte(input) % 16 + 1;
  if (c_api::c_type_of(type).size == 0)
    return;
  auto from = buffer{input};
  auto xs = elements{type, room};
  const auto n = [&] {
    const auto watch = memory_watch{input.size(), memory_factor};
    return unpack(from, xs);
  }();
  if (n == 0)
    return;
  auto packed = buffer{};
  require(PMIx_Data_pack(nullptr, &packed.x, xs.data, n, type) == PMIX_SUCCESS,
          "what was unpacked can be packed");
  const auto bytes = packed.bytes();
  auto ys = elements{type, room};
  require(unpack(packed, ys) == n, "what was packed can be unpacked");
  auto again = buffer{};
  require(PMIx_Data_pack(nullptr, &again.x, ys.data, n, type) == PMIX_SUCCESS,
          "what was unpacked twice can be packed");
  require(again.bytes() == bytes, "packing is stable");
  auto* text = static_cast<char*>(nullptr);
  if (type != PMIX_STRING && type != PMIX_REGEX)
    require(PMIx_Data_print(&text, nullptr, xs.data, type) == PMIX_SUCCESS,
            "what was unpacked can be printed");
  std::free(text);
}
