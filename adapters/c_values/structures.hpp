#pragma once

#include "adapters/c_values/c_types.hpp"
#include "messages/status.hpp"
#include "messages/value.hpp"

#include <pmix_common.h>

#include <string>
#include <vector>

namespace troupe::c_api {

/// The first error of a conversion.
class first_error {
public:
  bool ok() const {
    return code_ == status::success;
  }

  status code() const {
    return code_;
  }

  /// None if all is well.
  caf::error failure() const;

  void fail(status code, const char* what);

private:
  status code_ = status::success;
  const char* what_ = "";
};

/// Reads structures of the C API. The first error stays; what is read after it
/// is empty. Throws `std::bad_alloc`.
class c_reader : public first_error {
public:
  /// One element of type `x`.
  value::storage element(data_type x, const void* p);

  void read(const pmix_value_t& from, value& to);
  void read(const pmix_data_array_t& from, data_array& to);

  /// A structure, field by field.
  template <class From, class To>
  void read(const From& from, To& to);

  /// An array; null is fine if `n` is 0.
  template <class From, class To>
  void list(const From* from, size_t n, std::vector<To>& to) {
    if (from == nullptr && n > 0)
      fail(status::bad_param, "an array is null");
    if (!ok())
      return;
    to.resize(n);
    for (size_t i = 0; i < n && ok(); ++i)
      read(from[i], to[i]);
  }

private:
  friend class field_reader;

  value::storage text(data_type x, const void* p);
  value::storage bytes(data_type x, const void* p);
  value::storage structure(data_type x, const void* p);
  std::string blob(const void* p, size_t n);

  int depth_ = 0;
};

extern template void c_reader::read(const pmix_proc_t&, proc_id&);
extern template void c_reader::read(const pmix_info_t&, info&);
extern template void c_reader::read(const pmix_app_t&, app&);
extern template void c_reader::read(const pmix_query_t&, query&);
extern template void c_reader::read(const pmix_pdata_t&, pdata&);

/// Fills zeroed structures of the C API with memory of malloc. The first error
/// stays; what was filled so far may be released.
class c_writer : public first_error {
public:
  /// One element of type `x`.
  void element(data_type x, const value::storage& from, void* p);

  void write(const value& from, pmix_value_t& to);
  void write(const data_array& from, pmix_data_array_t& to);

  /// A structure, field by field.
  template <class From, class To>
  void write(const From& from, To& to);

  void text(std::string_view from, char*& to);
  void bytes(std::string_view from, char*& to, size_t& size);

  /// A list that ends with a null pointer; null for an empty one.
  void strings(const std::vector<std::string>& from, char**& to);

  template <class From, class To>
  void list(const std::vector<From>& from, To*& to, size_t& n) {
    to = checked<To>(from.size());
    if (!ok())
      return;
    n = from.size();
    for (size_t i = 0; i < n && ok(); ++i)
      write(from[i], to[i]);
  }

  /// `allocate`, with an error if there is no memory.
  template <class T>
  T* checked(size_t n) {
    auto* result = ok() ? allocate<T>(n) : nullptr;
    if (result == nullptr && n > 0)
      fail(status::nomem, "there is no memory");
    return result;
  }

private:
  void put_text(data_type x, const value::storage& from, void* p);
  void put_bytes(data_type x, const std::string& from, void* p);
  void structure(data_type x, const value::storage& from, void* p);

  int depth_ = 0;
};

extern template void c_writer::write(const proc_id&, pmix_proc_t&);
extern template void c_writer::write(const info&, pmix_info_t&);
extern template void c_writer::write(const app&, pmix_app_t&);
extern template void c_writer::write(const query&, pmix_query_t&);
extern template void c_writer::write(const pdata&, pmix_pdata_t&);
extern template void c_writer::write(const device_distance&,
                                     pmix_device_distance_t&);

} // namespace troupe::c_api
