#pragma once

#include "actors/io/output_formatter.hpp"
#include "adapters/log/output_file_set.hpp"
#include "config/journal.hpp"
#include "messages/actors.hpp"

#include <caf/fwd.hpp>

#include <functional>
#include <memory>

namespace troupe {

class thread_pool;

struct output_files_settings {
  /// Does what blocks. Threads of their own: a disk that hangs keeps one for
  /// each job that writes to it. Once they are gone, nothing is written.
  std::weak_ptr<thread_pool> pool = {};

  journal log = {};

  /// The hosts of processes, for `output_format::tag_detailed`.
  output_formatter::hosts host_of = {};

  /// `::write`, or what a test puts in its place; called on a thread.
  output_file_set::write_function write = {};

  /// Called when something could not be written, before whoever wrote it hears
  /// of it; not only the first time.
  std::function<void()> on_unwritten = {};
};

/// Makes the OUTPUT SINK that writes the streams of a job to files, see
/// `file_of`, in the format of the job. A fragment is answered when it has been
/// written, or left out because that is not possible: the job goes on, one
/// warning names the file and the remedy, the last says how much is missing.
/// A slow disk holds up the processes whose files it has, and nobody else.
/// For the thread of the loop.
output_sink_actor spawn_output_files(caf::actor_system& sys,
                                     const io_job_begun& job,
                                     output_files_settings settings);

/// What an I/O DESK makes its files with.
std::function<output_sink_actor(const io_job_begun&)>
output_file_maker(caf::actor_system& sys, output_files_settings settings);

} // namespace troupe
