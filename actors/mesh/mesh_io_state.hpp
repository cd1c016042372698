#pragma once

// What a MESH HOST keeps of the streams of jobs: who wants them on which node.

#include "messages/actors.hpp"

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace troupe::mesh_internals {

/// Where the output of a job goes that has this node as its origin.
struct outlet {
  /// Takes it; none: nobody.
  output_sink_actor sink;

  /// What the desk calls it.
  std::optional<uint64_t> subscription;

  /// The sink, a gate, as long as it holds the output back until the tool has
  /// the name of its job: it shows it as it was asked to for that job.
  output_sink_actor holder;

  /// A tool of this node that started the job.
  std::optional<requester> tool;

  /// Whether the tool wants to hear of the end.
  bool notify = false;

  /// Whether the job ends when the tool vanishes.
  bool is_bound = false;

  /// Whether the tool stays for the jobs that this one starts: it hears of
  /// their ends, too.
  bool has_family = false;
};

/// The streams of a job that this node runs, or wants something of.
struct job_streams {
  /// The user whose job it is; none: not known here.
  std::optional<uint32_t> owner;

  /// The node where it was asked for, from which its input comes.
  std::optional<uint32_t> origin;
  uint32_t stdin_target = rank_undef;

  /// What other nodes want of the processes here.
  std::map<uint32_t, io_interest> wanted;

  /// What the desk wants of processes elsewhere, and what their nodes have been
  /// told.
  io_interest ours;
  io_interest told;
};

/// Output that a process or tool of this node has asked for.
struct io_pull {
  requester who;
  io_subscription what;
  output_sink_actor sink;

  /// Whether it is for all jobs that the requester may watch.
  bool is_standing = false;

  /// Jobs of which it gets all processes: it gets those of their children, too.
  std::set<std::string> whole;

  /// What the desk calls it, by job.
  std::map<std::string, std::optional<uint64_t>> at_desk;
};

/// Input that is on its way to some processes of a job, and what waits until
/// they have taken enough of it.
struct input_line {
  std::deque<std::function<void()>> waiting;
  size_t bytes = 0;
};

/// What both want; none of the two keeps the other out.
io_interest united(const io_interest& x, const io_interest& y);

/// Whether they want the same.
bool same(const io_interest& x, const io_interest& y);

/// Whether nothing is wanted.
bool is_empty(const io_interest& x);

} // namespace troupe::mesh_internals
