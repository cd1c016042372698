#include "adapters/process/own_children.hpp"

namespace troupe {

bool look_for_child(idtype_t type, id_t id, siginfo_t& info, int options) {
  info.si_pid = 0;
  return waitid(type, id, &info, WEXITED | WNOHANG | options) == 0;
}

bool has_children() {
  siginfo_t info;
  return look_for_child(P_ALL, 0, info, WNOWAIT);
}

bool has_children_in(pid_t group) {
  siginfo_t info;
  return look_for_child(P_PGID, static_cast<id_t>(group), info, WNOWAIT);
}

} // namespace troupe
