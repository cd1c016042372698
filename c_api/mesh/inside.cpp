// What libpmix.so.2 with the mesh inside has more than the plain one.

#include "c_api/mesh_hook.hpp"
#include "runtime/job_networks.hpp"

namespace troupe::c_api {

namespace {

const auto is_set = (make_mesh = mesh_around) != nullptr;

} // namespace

} // namespace troupe::c_api
