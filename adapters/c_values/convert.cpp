#include "adapters/c_values/convert.hpp"

#include "adapters/c_values/structures.hpp"

#include <exception>

namespace troupe::c_api {

namespace {

/// Runs `f` on a new reader; memory that is not there is an error as well.
template <class T, class F>
caf::expected<T> read(F f) {
  try {
    auto r = c_reader{};
    auto result = T{};
    f(r, result);
    if (r.ok())
      return result;
    return r.failure();
  } catch (const std::exception&) {
    return make_error(status::nomem, "there is no memory");
  }
}

template <class To, class From>
caf::expected<To> read_one(const From& from) {
  return read<To>([&](c_reader& r, To& to) { r.read(from, to); });
}

template <class To, class From>
caf::expected<std::vector<To>> read_list(const From* from, size_t n) {
  return read<std::vector<To>>(
    [&](c_reader& r, std::vector<To>& to) { r.list(from, n, to); });
}

/// Writes one object; on an error it owns nothing.
template <class From, class To>
pmix_status_t write_one(const From& from, To& to) {
  std::memset(&to, 0, sizeof(to));
  auto w = c_writer{};
  w.write(from, to);
  if (!w.ok())
    release(&to);
  return to_c(w.code());
}

template <class To, class From>
caf::expected<c_array<To>> write_list(const std::vector<From>& from) {
  auto w = c_writer{};
  auto* data = static_cast<To*>(nullptr);
  auto n = size_t{0};
  w.list(from, data, n);
  auto result = c_array<To>{data, n};
  if (!w.ok())
    return w.failure();
  return result;
}

} // namespace

// -- names -------------------------------------------------------------------

std::string_view key_of(const char* x) {
  return x == nullptr ? std::string_view{}
                      : std::string_view{x, strnlen(x, PMIX_MAX_KEYLEN)};
}

std::string_view nspace_of(const char* x) {
  return x == nullptr ? std::string_view{}
                      : std::string_view{x, strnlen(x, PMIX_MAX_NSLEN)};
}

void set_text(char* to, size_t capacity, std::string_view x) {
  const auto n = std::min(x.size(), capacity - 1);
  if (n > 0)
    std::memcpy(to, x.data(), n);
  std::memset(to + n, 0, capacity - n);
}

// -- from C ------------------------------------------------------------------

proc_id to_proc(const pmix_proc_t& x) {
  return {std::string{text_of(x.nspace)}, x.rank};
}

caf::expected<value> to_value(const pmix_value_t& x) {
  return read_one<value>(x);
}

caf::expected<info> to_info(const pmix_info_t& x) {
  return read_one<info>(x);
}

caf::expected<std::vector<proc_id>> to_procs(const pmix_proc_t* xs, size_t n) {
  return read_list<proc_id>(xs, n);
}

caf::expected<std::vector<info>> to_infos(const pmix_info_t* xs, size_t n) {
  auto result = read_list<info>(xs, n);
  if (result)
    for (auto& x : *result)
      x.flags &= ~info_array_end;
  return result;
}

caf::expected<std::vector<app>> to_apps(const pmix_app_t* xs, size_t n) {
  return read_list<app>(xs, n);
}

caf::expected<std::vector<query>> to_queries(const pmix_query_t* xs, size_t n) {
  return read_list<query>(xs, n);
}

caf::expected<std::vector<pdata>> to_pdatas(const pmix_pdata_t* xs, size_t n) {
  return read_list<pdata>(xs, n);
}

std::vector<std::string> to_strings(const char* const* xs) {
  auto result = std::vector<std::string>{};
  if (xs != nullptr)
    for (; *xs != nullptr; ++xs)
      result.emplace_back(*xs);
  return result;
}

std::string to_bytes(const pmix_byte_object_t* x) {
  if (x == nullptr || x->bytes == nullptr || x->size == 0)
    return {};
  return {x->bytes, x->size};
}

// -- into C ------------------------------------------------------------------

void to_c(const proc_id& from, pmix_proc_t& to) {
  set_text(to.nspace, from.nspace);
  to.rank = from.rank;
}

pmix_status_t to_c(const value& from, pmix_value_t& to) {
  return write_one(from, to);
}

pmix_status_t to_c(const info& from, pmix_info_t& to) {
  return write_one(from, to);
}

pmix_status_t to_c(const app& from, pmix_app_t& to) {
  return write_one(from, to);
}

pmix_status_t to_c(const query& from, pmix_query_t& to) {
  return write_one(from, to);
}

pmix_status_t to_c(const pdata& from, pmix_pdata_t& to) {
  return write_one(from, to);
}

pmix_status_t to_c(const device_distance& from, pmix_device_distance_t& to) {
  return write_one(from, to);
}

pmix_value_t* to_c_value(const value& from, pmix_status_t& code) {
  // Zeroed when it is written. Calloc would pass by the cache of the thread.
  auto* result = static_cast<pmix_value_t*>(std::malloc(sizeof(pmix_value_t)));
  code = result == nullptr ? PMIX_ERR_NOMEM : to_c(from, *result);
  if (code == PMIX_SUCCESS)
    return result;
  std::free(result);
  return nullptr;
}

pmix_status_t to_c_bytes(std::string_view from, pmix_byte_object_t& to) {
  to = {};
  auto w = c_writer{};
  w.bytes(from, to.bytes, to.size);
  return to_c(w.code());
}

char* to_c_text(std::string_view from) {
  return duplicate(from);
}

char** to_c_strings(const std::vector<std::string>& from) {
  auto w = c_writer{};
  auto** result = static_cast<char**>(nullptr);
  w.strings(from, result);
  if (w.ok() || result == nullptr)
    return result;
  for (auto** x = result; *x != nullptr; ++x)
    std::free(*x);
  std::free(result);
  return nullptr;
}

// -- arrays that own themselves ----------------------------------------------

void free_array(pmix_info_t* xs, size_t n) {
  free_array(PMIX_INFO, xs, n);
}

void free_array(pmix_proc_t* xs, size_t n) {
  free_array(PMIX_PROC, xs, n);
}

void free_array(pmix_app_t* xs, size_t n) {
  free_array(PMIX_APP, xs, n);
}

void free_array(pmix_query_t* xs, size_t n) {
  free_array(PMIX_QUERY, xs, n);
}

void free_array(pmix_pdata_t* xs, size_t n) {
  free_array(PMIX_PDATA, xs, n);
}

void free_array(pmix_value_t* xs, size_t n) {
  free_array(PMIX_VALUE, xs, n);
}

void free_array(pmix_device_distance_t* xs, size_t n) {
  free_array(PMIX_DEVICE_DIST, xs, n);
}

caf::expected<c_infos> to_c_infos(const std::vector<info>& xs) {
  auto result = write_list<pmix_info_t>(xs);
  if (result && result->size() > 0)
    (*result)[result->size() - 1].flags |= info_array_end;
  return result;
}

caf::expected<c_procs> to_c_procs(const std::vector<proc_id>& xs) {
  return write_list<pmix_proc_t>(xs);
}

caf::expected<c_apps> to_c_apps(const std::vector<app>& xs) {
  return write_list<pmix_app_t>(xs);
}

caf::expected<c_queries> to_c_queries(const std::vector<query>& xs) {
  return write_list<pmix_query_t>(xs);
}

caf::expected<c_pdatas> to_c_pdatas(const std::vector<pdata>& xs) {
  return write_list<pmix_pdata_t>(xs);
}

caf::expected<c_distances>
to_c_distances(const std::vector<device_distance>& xs) {
  return write_list<pmix_device_distance_t>(xs);
}

// -- any type ----------------------------------------------------------------

caf::expected<value::storage> to_storage(data_type x, const void* element) {
  return read<value::storage>(
    [&](c_reader& r, value::storage& to) { to = r.element(x, element); });
}

pmix_status_t to_c(data_type x, const value::storage& from, void* element) {
  const auto& type = c_type_of(x);
  if (type.size == 0)
    return PMIX_ERR_UNKNOWN_DATA_TYPE;
  std::memset(element, 0, type.size);
  auto w = c_writer{};
  w.element(x, from, element);
  if (!w.ok() && type.release != nullptr)
    type.release(element);
  return to_c(w.code());
}

} // namespace troupe::c_api
