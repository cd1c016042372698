#pragma once

#include "messages/status.hpp"
#include "messages/value.hpp"

#include <caf/expected.hpp>

#include <pmix_common.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Between the structures of the C API and ours, both ways. What comes from a
// caller is copied and never kept; what goes to a caller is made with malloc,
// so that he may free it with PMIx_*_free or with the macros of any PMIx
// header.
//
//     to_*      from C: gives `bad_param` for a pointer that must not be null,
//               `unknown_data_type` for a type that has no form,
//               `out_of_resource` for values nested deeper than
//               `max_value_depth`, `nomem` without memory.
//     to_c      into C: fills an object that need not be constructed. On an
//               error it is left constructed, owning nothing.
//     to_c_*    into C: arrays that own themselves until released.

namespace troupe::c_api {

// -- outcomes ----------------------------------------------------------------

inline pmix_status_t to_c(status x) {
  return static_cast<pmix_status_t>(x);
}

/// PMIX_SUCCESS if there is no error.
inline pmix_status_t to_c(const caf::error& x) {
  return to_c(status_of(x));
}

// -- names -------------------------------------------------------------------

/// The text of a fixed array, also if its final zero is missing.
template <size_t N>
std::string_view text_of(const char (&x)[N]) {
  return {x, strnlen(x, N - 1)};
}

/// The text of a key or namespace that was passed as a pointer; empty for null.
std::string_view key_of(const char* x);
std::string_view nspace_of(const char* x);

/// Writes a text into a fixed array and fills the rest with zeros; what does
/// not fit is cut off.
void set_text(char* to, size_t capacity, std::string_view x);

template <size_t N>
void set_text(char (&to)[N], std::string_view x) {
  set_text(to, N, x);
}

// -- from C ------------------------------------------------------------------

proc_id to_proc(const pmix_proc_t& x);
caf::expected<value> to_value(const pmix_value_t& x);
caf::expected<info> to_info(const pmix_info_t& x);

/// Arrays: null is an empty array if `n` is 0, else `bad_param`. Infos lose
/// their mark for the end of an array.
caf::expected<std::vector<proc_id>> to_procs(const pmix_proc_t* xs, size_t n);
caf::expected<std::vector<info>> to_infos(const pmix_info_t* xs, size_t n);
caf::expected<std::vector<app>> to_apps(const pmix_app_t* xs, size_t n);
caf::expected<std::vector<query>> to_queries(const pmix_query_t* xs, size_t n);
caf::expected<std::vector<pdata>> to_pdatas(const pmix_pdata_t* xs, size_t n);

/// A list of strings that ends with a null pointer; null is an empty list.
std::vector<std::string> to_strings(const char* const* xs);

/// The bytes; empty for a null object.
std::string to_bytes(const pmix_byte_object_t* x);

// -- into C ------------------------------------------------------------------

void to_c(const proc_id& from, pmix_proc_t& to);
pmix_status_t to_c(const value& from, pmix_value_t& to);
pmix_status_t to_c(const info& from, pmix_info_t& to);
pmix_status_t to_c(const app& from, pmix_app_t& to);
pmix_status_t to_c(const query& from, pmix_query_t& to);
pmix_status_t to_c(const pdata& from, pmix_pdata_t& to);
pmix_status_t to_c(const device_distance& from, pmix_device_distance_t& to);

/// A value on the heap, for PMIx_Value_free; null if it cannot be made.
/// @param code Receives the reason.
pmix_value_t* to_c_value(const value& from, pmix_status_t& code);

/// Bytes in a byte object, for PMIx_Byte_object_destruct.
pmix_status_t to_c_bytes(std::string_view from, pmix_byte_object_t& to);

/// A text, for free(); null without memory.
char* to_c_text(std::string_view from);

/// A list of strings, for PMIx_Argv_free; null for an empty list, or without
/// memory.
char** to_c_strings(const std::vector<std::string>& from);

// -- arrays that own themselves ----------------------------------------------

/// Frees the `n` elements of an array and the array, as PMIx_*_free does.
void free_array(pmix_info_t* xs, size_t n);
void free_array(pmix_proc_t* xs, size_t n);
void free_array(pmix_app_t* xs, size_t n);
void free_array(pmix_query_t* xs, size_t n);
void free_array(pmix_pdata_t* xs, size_t n);
void free_array(pmix_value_t* xs, size_t n);
void free_array(pmix_device_distance_t* xs, size_t n);

/// An array of the C API. Null with size 0 if it is empty.
template <class T>
class c_array {
public:
  c_array() = default;

  /// Takes an array that was made with malloc.
  c_array(T* data, size_t size) : data_(data), size_(size) {
    // nop
  }

  c_array(c_array&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {
    // nop
  }

  c_array& operator=(c_array&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  ~c_array() {
    free_array(data_, size_);
  }

  T* data() const {
    return data_;
  }

  size_t size() const {
    return size_;
  }

  T& operator[](size_t i) const {
    return data_[i];
  }

  /// Gives the array away: the caller of the C API frees it.
  T* release() {
    size_ = 0;
    return std::exchange(data_, nullptr);
  }

private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

using c_infos = c_array<pmix_info_t>;
using c_procs = c_array<pmix_proc_t>;
using c_apps = c_array<pmix_app_t>;
using c_queries = c_array<pmix_query_t>;
using c_pdatas = c_array<pmix_pdata_t>;
using c_distances = c_array<pmix_device_distance_t>;

/// The last info carries the mark for the end of an array, as those of
/// PMIx_Info_create do.
caf::expected<c_infos> to_c_infos(const std::vector<info>& xs);
caf::expected<c_procs> to_c_procs(const std::vector<proc_id>& xs);
caf::expected<c_apps> to_c_apps(const std::vector<app>& xs);
caf::expected<c_queries> to_c_queries(const std::vector<query>& xs);
caf::expected<c_pdatas> to_c_pdatas(const std::vector<pdata>& xs);
caf::expected<c_distances>
to_c_distances(const std::vector<device_distance>& xs);

// -- any type ----------------------------------------------------------------

/// Reads one element of type `x`, as it stands in a data array or in the
/// argument of PMIx_Data_pack.
/// @param element Not null.
caf::expected<value::storage> to_storage(data_type x, const void* element);

/// Writes one element of type `x`; see `c_types.hpp` for its size.
pmix_status_t to_c(data_type x, const value::storage& from, void* element);

} // namespace troupe::c_api
