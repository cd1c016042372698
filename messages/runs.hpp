#pragma once

#include "messages/proc_id.hpp"

#include <caf/error.hpp>

#include <type_traits>
#include <vector>

// How nodes write lists of processes to each other that are long and regular: in
// runs, and back. Inside a message such a list is a plain vector, and for CAF it
// is one, too.

namespace troupe {

class codec_reader;
class codec_writer;
struct node_share;

/// Processes: those of a namespace with ranks in a row together.
struct proc_runs {
  std::vector<proc_id>& procs;
};

caf::error inspect(codec_writer& f, proc_runs& x);
caf::error inspect(codec_reader& f, proc_runs& x);

/// The processes of a job node by node: nodes in a row together whose names
/// count alike, and whose ranks follow each other in the same way.
struct share_runs {
  std::vector<node_share>& shares;
};

caf::error inspect(codec_writer& f, share_runs& x);
caf::error inspect(codec_reader& f, share_runs& x);

template <class Inspector>
constexpr bool writes_runs =
  std::is_same_v<Inspector,
                 codec_reader> || std::is_same_v<Inspector, codec_writer>;

/// What an `inspect` shows of such a list.
template <class Inspector>
decltype(auto) in_runs(std::vector<proc_id>& xs) {
  if constexpr (writes_runs<Inspector>)
    return proc_runs{xs};
  else
    return (xs);
}

template <class Inspector>
decltype(auto) in_runs(std::vector<node_share>& xs) {
  if constexpr (writes_runs<Inspector>)
    return share_runs{xs};
  else
    return (xs);
}

} // namespace troupe
