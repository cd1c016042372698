#pragma once

#include "adapters/c_values/memory.hpp"
#include "messages/status.hpp"
#include "messages/value.hpp"

#include <pmix_common.h>

#include <optional>
#include <string>
#include <vector>

namespace troupe::c_api {

/// Fills zeroed structures of the C API with memory of malloc. The first error
/// stays; what was filled so far may be released.
class c_writer {
public:
  bool ok() const {
    return code_ == status::success;
  }

  void fail(status code, const char* what);

  status code() const {
    return code_;
  }

  /// The first error; none if all is well.
  caf::error failure() const;

  /// One element of type `x`.
  void element(data_type x, const value::storage& from, void* p);

  void write(const value& from, pmix_value_t& to);
  void write(const info& from, pmix_info_t& to);
  void write(const app& from, pmix_app_t& to);
  void write(const query& from, pmix_query_t& to);
  void write(const pdata& from, pmix_pdata_t& to);
  void write(const proc_id& from, pmix_proc_t& to);
  void write(const data_array& from, pmix_data_array_t& to);
  void write(const proc_info& from, pmix_proc_info_t& to);
  void write(const envar& from, pmix_envar_t& to);
  void write(const coord& from, pmix_coord_t& to);
  void write(const regattr& from, pmix_regattr_t& to);
  void write(const geometry& from, pmix_geometry_t& to);
  void write(const device& from, pmix_device_t& to);
  void write(const device_distance& from, pmix_device_distance_t& to);
  void write(const endpoint& from, pmix_endpoint_t& to);
  void write(const resource_unit& from, pmix_resource_unit_t& to);
  void write(const node_pid& from, pmix_node_pid_t& to);
  void write(const proc_stats& from, pmix_proc_stats_t& to);
  void write(const disk_stats& from, pmix_disk_stats_t& to);
  void write(const net_stats& from, pmix_net_stats_t& to);
  void write(const node_stats& from, pmix_node_stats_t& to);

  void text(std::string_view from, char*& to);
  void maybe_text(const std::optional<std::string>& from, char*& to);
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

  template <class From, class To>
  void unbox(const value::storage& from, void* p);

  int depth_ = 0;
  status code_ = status::success;
  const char* what_ = "";
};

} // namespace troupe::c_api
