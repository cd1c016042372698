#pragma once

#include <pmix_common.h>

// What each structure of the C API owns, once: `each_owned(x, f)` shows every
// owned pointer of `x` to `f`, which frees it or copies it (see c_types.cpp).
// Source: PMIx Standard v5, "Data Structures and Types".

namespace troupe::c_api {

template <class F>
void each_owned(pmix_byte_object_t& x, F& f) {
  f.bytes(x.bytes, x.size);
}

template <class F>
void each_owned(pmix_proc_info_t& x, F& f) {
  f.text(x.hostname);
  f.text(x.executable_name);
}

template <class F>
void each_owned(pmix_envar_t& x, F& f) {
  f.text(x.envar);
  f.text(x.value);
}

template <class F>
void each_owned(pmix_coord_t& x, F& f) {
  f.plain(x.coord, x.dims);
}

template <class F>
void each_owned(pmix_geometry_t& x, F& f) {
  f.text(x.uuid);
  f.text(x.osname);
  f.list(x.coordinates, x.ncoords);
}

template <class F>
void each_owned(pmix_device_t& x, F& f) {
  f.text(x.uuid);
  f.text(x.osname);
}

template <class F>
void each_owned(pmix_device_distance_t& x, F& f) {
  f.text(x.uuid);
  f.text(x.osname);
}

template <class F>
void each_owned(pmix_endpoint_t& x, F& f) {
  f.text(x.uuid);
  f.text(x.osname);
  f.bytes(x.endpt.bytes, x.endpt.size);
}

template <class F>
void each_owned(pmix_node_pid_t& x, F& f) {
  f.text(x.hostname);
}

template <class F>
void each_owned(pmix_regex2_t& x, F& f) {
  f.text(x.type);
  f.plain(x.bytes, x.len);
}

template <class F>
void each_owned(pmix_regattr_t& x, F& f) {
  f.text(x.name);
  f.strings(x.description);
}

template <class F>
void each_owned(pmix_value_t& x, F& f) {
  f.any(x);
}

template <class F>
void each_owned(pmix_info_t& x, F& f) {
  // A persistent info shares the value of another one.
  if ((x.flags & PMIX_INFO_PERSISTENT) == 0)
    f.any(x.value);
}

template <class F>
void each_owned(pmix_pdata_t& x, F& f) {
  f.any(x.value);
}

template <class F>
void each_owned(pmix_app_t& x, F& f) {
  f.text(x.cmd);
  f.strings(x.argv);
  f.strings(x.env);
  f.text(x.cwd);
  f.list(x.info, x.ninfo);
}

template <class F>
void each_owned(pmix_query_t& x, F& f) {
  f.strings(x.keys);
  f.list(x.qualifiers, x.nqual);
}

template <class F>
void each_owned(pmix_data_array_t& x, F& f) {
  f.array(x);
}

template <class F>
void each_owned(pmix_data_buffer_t& x, F& f) {
  f.buffer(x);
}

template <class F>
void each_owned(pmix_cpuset_t& x, F& f) {
  f.cpuset(x);
}

template <class F>
void each_owned(pmix_topology_t& x, F& f) {
  f.topology(x);
}

template <class F>
void each_owned(pmix_proc_stats_t& x, F& f) {
  f.text(x.node);
  f.text(x.cmd);
}

template <class F>
void each_owned(pmix_disk_stats_t& x, F& f) {
  f.text(x.disk);
}

template <class F>
void each_owned(pmix_net_stats_t& x, F& f) {
  f.text(x.net_interface);
}

template <class F>
void each_owned(pmix_node_stats_t& x, F& f) {
  f.text(x.node);
  f.list(x.diskstats, x.ndiskstats);
  f.list(x.netstats, x.nnetstats);
}

} // namespace troupe::c_api
