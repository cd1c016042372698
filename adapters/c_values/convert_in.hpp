#pragma once

#include "messages/status.hpp"
#include "messages/value.hpp"

#include <pmix_common.h>

#include <optional>
#include <string>
#include <vector>

namespace troupe::c_api {

/// Reads structures of the C API. The first error stays; what is read after it
/// is empty. Throws `std::bad_alloc`.
class c_reader {
public:
  bool ok() const {
    return code_ == status::success;
  }

  void fail(status code, const char* what);

  /// The first error; none if all is well.
  caf::error failure() const;

  /// One element of type `x`.
  value::storage element(data_type x, const void* p);

  void read(const pmix_value_t& from, value& to);
  void read(const pmix_info_t& from, info& to);
  void read(const pmix_app_t& from, app& to);
  void read(const pmix_query_t& from, query& to);
  void read(const pmix_pdata_t& from, pdata& to);
  void read(const pmix_proc_t& from, proc_id& to);
  void read(const pmix_data_array_t& from, data_array& to);
  void read(const pmix_proc_info_t& from, proc_info& to);
  void read(const pmix_envar_t& from, envar& to);
  void read(const pmix_coord_t& from, coord& to);
  void read(const pmix_regattr_t& from, regattr& to);
  void read(const pmix_geometry_t& from, geometry& to);
  void read(const pmix_device_t& from, device& to);
  void read(const pmix_device_distance_t& from, device_distance& to);
  void read(const pmix_endpoint_t& from, endpoint& to);
  void read(const pmix_resource_unit_t& from, resource_unit& to);
  void read(const pmix_node_pid_t& from, node_pid& to);
  void read(const pmix_proc_stats_t& from, proc_stats& to);
  void read(const pmix_disk_stats_t& from, disk_stats& to);
  void read(const pmix_net_stats_t& from, net_stats& to);
  void read(const pmix_node_stats_t& from, node_stats& to);

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
  value::storage text(data_type x, const void* p);
  value::storage bytes(data_type x, const void* p);
  value::storage structure(data_type x, const void* p);
  std::string blob(const void* p, size_t n);

  int depth_ = 0;
  status code_ = status::success;
  const char* what_ = "";
};

} // namespace troupe::c_api
