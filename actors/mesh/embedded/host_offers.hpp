#pragma once

namespace troupe {

/// What a resource manager's host does itself.
struct host_offers {
  bool fence = false;
  bool direct_modex = false;
  bool publish = false;
  bool connect = false;
  bool events = false;
  bool group = false;
};

} // namespace troupe
