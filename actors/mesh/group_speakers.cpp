#include "actors/mesh/group_speakers.hpp"

namespace troupe {

namespace {

/// Who speaks, according to an entry.
struct speakers {
  std::vector<proc_id> operator()(const group_calls& x) const {
    auto result = std::vector<proc_id>{};
    for (const auto& caller : x.callers)
      result.push_back(caller.proc);
    return result;
  }

  std::vector<proc_id> operator()(const group_data& x) const {
    auto result = std::vector<proc_id>{};
    for (const auto& of : x.procs)
      result.push_back(of.proc);
    return result;
  }

  std::vector<proc_id> operator()(const group_departure& x) const {
    return {x.proc};
  }

  std::vector<proc_id> operator()(const group_conflict& x) const {
    return {x.proc};
  }

  std::vector<proc_id> operator()(const group_notice& x) const {
    return {x.source};
  }

  std::vector<proc_id> operator()(const group_verdicts& x) const {
    auto result = std::vector<proc_id>{};
    for (const auto& verdict : x.verdicts)
      result.push_back(verdict.proc);
    return result;
  }

  template <class Other>
  std::vector<proc_id> operator()(const Other&) const {
    return {};
  }
};

} // namespace

std::vector<proc_id> speakers_of(const group_entry& what) {
  return std::visit(speakers{}, what.what);
}

} // namespace troupe
